"""A phrase, an index -> paraphrases on the fly; paraphrases, a phrase table -> a larger one."""

from distsim.public_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
