"""Signs a corpus on many machines: the table that one machine would make, byte for byte."""

from distsim.public_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
