"""One adapter per kernel framework; each imports its framework lazily."""
