"""Paraphrases of phrases from an index, larger phrase tables, rewritten sentences."""

from distsim.public_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
