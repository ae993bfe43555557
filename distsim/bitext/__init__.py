"""Bitexts: artifacts of sentence pairs with word links, trees and tags."""

from distsim.public_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
