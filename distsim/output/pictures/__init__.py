"""What a table or an index answers -> pictures of it: for files, notebooks and the page."""
