"""SCFG rules and phrase tables: formats, alignment, decomposition, scoring, pivoting."""
