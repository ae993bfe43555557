"""Translation rules of bitexts, with counts, margins and features, as text or as numbers."""
