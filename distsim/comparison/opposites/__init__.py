"""Finds whether two words or phrases are opposites (Marton 2013, 2.3 and 6.2)."""
