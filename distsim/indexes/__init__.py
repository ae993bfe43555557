"""Corpus indexes: vocabulary and suffix arrays on disk, and searches in them."""

if __name__ != "distsim.indexes":
    raise ImportError(
        f"import this package as distsim.indexes, not as {__name__}: "
        "a module loaded under two names has two of every class"
    )

from distsim.public_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
