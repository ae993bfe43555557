"""Sources of phrases with counted contexts: a file for each kind."""
