"""The map of a phrase and its neighbours, for the server's pages."""
