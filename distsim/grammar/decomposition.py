"""Phrase pairs of rules: contiguous spans that are consistent with the word alignment."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from distsim.base.choices import PhrasePairs
from distsim.grammar.block import RuleBlock, single_rule
from distsim.grammar.kernels import phrase_pairs as kernel
from distsim.kernels.compiled import frozen

LONGEST_SPAN = 4


class SpanPair(NamedTuple):
    """A phrase pair of a rule.

    source, target: both phrases. source_span, target_span: (start, stop) in symbols of the side,
    from 0.
    """

    source: str
    target: str
    source_span: tuple[int, int]
    target_span: tuple[int, int]


def decompose(
    source: str,
    target: str,
    links: Iterable[tuple[int, int]],
    *,
    longest: int = LONGEST_SPAN,
    pairs: PhrasePairs = "thesis",
) -> list[SpanPair]:
    """Return the phrase pairs of a rule, in order of the source span's start, then length.

    All pairs of contiguous terminal spans of 1 to `longest` symbols that the links hold
    together: at least one link inside, none from inside to outside, no symbol without a
    link at an edge of either span; gaps are walls. A rule without gaps and with at most
    `longest` symbols a side has its whole pair too, last, if the links do not give it.
    Thesis 5.3.2 and figure 5.3.

    Arguments:
        source, target: the sides, symbols separated by blanks; gaps as `[NP,1]`.
        links: (source symbol, target symbol), both from 0, gaps counted.
        longest: the most symbols of a phrase.
        pairs: `reference`: those of the authors' implementation: a source phrase begins with a
            linked symbol and may end with symbols without a link, and the whole pair is not added.

    Raises:
        ParameterError: a link points outside, or a gap does not occur once on each side.

    >>> sides = "the [JJ,1] city of [NP,2]", "the [JJ,1] town of [NP,2]"
    >>> [pair[:2] for pair in decompose(*sides, [(i, i) for i in range(5)])]
    [('the', 'the'), ('city', 'town'), ('city of', 'town of'), ('of', 'of')]
    """
    block = single_rule(source, target, links)
    _, spans = decompose_block(block, longest=longest, pairs=pairs)
    middle = int(block.token_stops[0, 0])

    def text(first: int, length: int) -> str:
        return " ".join(block.symbol(k).decode() for k in range(first, first + length))

    return [
        SpanPair(text(i, m), text(j, n), (i, i + m), (j - middle, j + n - middle))
        for i, m, j, n in spans.tolist()
    ]


def decompose_block(
    block: RuleBlock,
    alignment: tuple[np.ndarray, np.ndarray] | None = None,
    longest: int = LONGEST_SPAN,
    pairs: PhrasePairs = "thesis",
) -> tuple[np.ndarray, np.ndarray]:
    """Return the phrase pairs of all rules of a block.

    Arguments:
        block: the parsed rules. longest: the most symbols of a phrase.
        alignment: (link_stops, links) instead of the block's own, shapes as there.
        pairs: which phrase pairs, as in `decompose`.

    Returns pair_stops: int64[n], pairs up to the end of each rule; spans: int64[p, 4], first symbol
    in the block and length, of the source span and of the target span.
    """
    stops, links = alignment or (block.link_stops, block.links)
    found: tuple[np.ndarray, np.ndarray] = kernel.decompose(
        frozen(block.token_stops), frozen(block.gaps), frozen(stops), frozen(links), longest,
        pairs == "reference",
    )  # fmt: skip
    return found


def span_text(block: RuleBlock, span: Sequence[int]) -> str:
    """Return the symbols of a span, as written.

    Arguments:
        span: (first symbol of the block, number of symbols).
    """
    first, length = span
    return b" ".join(block.symbol(k) for k in range(first, first + length)).decode()
