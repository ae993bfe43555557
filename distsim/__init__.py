"""Distributional similarity for phrases, from plain text alone.

    from distsim import CorpusIndex, SignatureTable, similarity, neighbours
    from distsim.grammar import PivotOptions

Public names are loaded when they are first used, so that importing distsim costs nothing; the
table of them is `distsim/public_names.py`.
"""

from distsim.public_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
