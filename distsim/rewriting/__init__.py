"""A sentence and a packed paraphrase grammar -> the sentence said otherwise, best first."""

from distsim.rewriting.options import RewriteOptions
from distsim.rewriting.rewriter import Rewriter, Rewriting
from distsim.rewriting.weights import Weights

__all__ = ["RewriteOptions", "Rewriter", "Rewriting", "Weights"]
