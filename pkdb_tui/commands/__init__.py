"""The command language: one registry that console, keys, palette, plain mode and help are made from."""
