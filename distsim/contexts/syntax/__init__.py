"""Syntactic features of phrases in annotated sentences (thesis 5.2.2); a file for each family."""
