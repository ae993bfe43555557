"""Two words or phrases and an index -> whether they are opposites (Marton 2013, 2.3 and 6.2)."""
