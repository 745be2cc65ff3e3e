"""Programs of this project's own that do physics with kernels and check it."""
