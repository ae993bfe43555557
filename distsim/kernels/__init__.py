"""Compiled loops over typed arrays; each has a reference implementation in tests/naive."""
