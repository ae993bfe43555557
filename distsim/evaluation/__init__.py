"""Files of human judgements and a way to measure similarity -> how well the two agree."""

from distsim.public_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
