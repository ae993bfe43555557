"""Compiled loops over typed arrays, and nothing else; each has a slow twin in tests/naive."""
