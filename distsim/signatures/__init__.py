"""Weighted features -> projections -> bit signatures in a table."""
