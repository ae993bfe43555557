"""The phrase pairs that a rule consists of."""

from distsim.corpus.lines import LineBlock
from distsim.grammar.alignment import RuleAligner
from distsim.grammar.block import parse_block
from distsim.grammar.decomposition import decompose_block, span_text
from distsim.grammar.formats.rules import RULES
from distsim.grammar.kernels.rules import FINE
from distsim.grammar.packs.grammar_index import PackedRule


def parts_of(rule: PackedRule) -> list[tuple[str, str]]:
    """Return the phrase pairs of a rule that no link leaves.

    A rule without links between words gets those that `score` gives without a learned model:
    gaps by index, like words, words between linked neighbours.

    >>> parts_of(PackedRule("NN", "the boy", "the lad", {}, [], "S", "phrasal", 0.0))
    [('the', 'the'), ('the boy', 'the lad'), ('boy', 'lad')]
    """
    links = " ".join(f"{i}-{j}" for i, j in rule.links)
    line = f"[X] ||| {rule.source} ||| {rule.target} ||| ||| {links}"
    block = parse_block(LineBlock(line.encode(errors="replace"), 1), RULES)
    if block.status[0] != FINE:
        return []
    alignment = RuleAligner().align(block)
    _, spans = decompose_block(block, (alignment.link_stops, alignment.links))
    return [(span_text(block, span[:2]), span_text(block, span[2:])) for span in spans.tolist()]
