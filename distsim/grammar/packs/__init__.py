"""A paraphrase grammar -> packs of several sizes, and an index of it that opens at once."""

from distsim.grammar.packs.grammar_index import GrammarIndex, PackedRule
from distsim.grammar.packs.pack import PackOptions, PackReport, pack_grammar
from distsim.grammar.packs.sizes import SIZES, TYPES

__all__ = [
    "SIZES",
    "TYPES",
    "GrammarIndex",
    "PackOptions",
    "PackReport",
    "PackedRule",
    "pack_grammar",
]
