"""Annotated sentences -> syntactic features of phrases (thesis 5.2.2); a file for each family."""
