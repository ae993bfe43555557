"""Phrase occurrences -> weighted context features."""
