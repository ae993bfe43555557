"""Sentences rewritten with a packed paraphrase grammar and a language model."""

from distsim.paraphrase.rewriting.rewriter import Rewriter, Rewriting
from distsim.paraphrase.rewriting.rewriting_options import RewriteOptions, Weights

__all__ = ["RewriteOptions", "Rewriter", "Rewriting", "Weights"]
