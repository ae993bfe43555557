"""Compiled loops of the grammar folder: typed arrays in, typed arrays out."""
