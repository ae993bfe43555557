"""Feature hashes -> projection vectors: a file for each kind of projection."""
