"""Shared by all folders: errors, checks of arguments, result lists, parallel execution."""

from distsim.public_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__)
