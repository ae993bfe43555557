"""Pictures of tables and indexes: for files, notebooks and the server's pages."""
