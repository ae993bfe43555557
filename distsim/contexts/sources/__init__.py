"""Where phrases with counted contexts come from: a file for each kind of source."""
