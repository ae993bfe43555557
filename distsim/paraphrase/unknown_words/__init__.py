"""Translations of words that a phrase table lacks, from monolingual text of both languages."""
