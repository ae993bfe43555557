"""Finds substitutes of single words by what `sign` stored beside a table."""
