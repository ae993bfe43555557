"""Finds substitutes of a word or phrase in its sentence."""
