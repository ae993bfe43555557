"""Projections: vectors of features by hash, a file for each kind of projection."""
