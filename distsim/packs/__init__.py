"""A paraphrase grammar -> packs of several sizes, and an index of it that opens at once."""

from distsim.packs.grammar_index import GrammarIndex, PackedRule
from distsim.packs.pack import PackOptions, PackReport, pack_grammar
from distsim.packs.sizes import SIZES, TYPES

__all__ = [
    "SIZES",
    "TYPES",
    "GrammarIndex",
    "PackOptions",
    "PackReport",
    "PackedRule",
    "pack_grammar",
]
