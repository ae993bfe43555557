"""Signatures: weighted features are projected and cut to bits in a table."""

from distsim.public_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
