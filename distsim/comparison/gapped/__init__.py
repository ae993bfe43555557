"""Similarity of phrases with gaps, such as `take _ into account` or the side of a rule."""
