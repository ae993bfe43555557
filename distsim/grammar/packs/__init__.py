"""Packs of a paraphrase grammar: text by size and type, Parquet, and an index on disk."""
