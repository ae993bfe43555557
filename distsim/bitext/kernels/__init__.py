"""Compiled loops of this folder: typed arrays in, typed arrays out; no errors, no objects."""
