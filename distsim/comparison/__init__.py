"""Phrases compared: similarity measures, nearest neighbours, patterns with gaps, opposites."""
