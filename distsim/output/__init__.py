"""Artifacts written for other tools, checked for damage, and drawn."""
