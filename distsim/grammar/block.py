"""Parsed rules of a block of lines: symbols, gaps, links and features as arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import PhrasePairs, plain_count
from distsim.base.errors import ParameterError, counted
from distsim.corpus.lines import LineBlock, is_utf8, split_lines
from distsim.grammar.arrays import texts_of
from distsim.grammar.fields import BLANKS, tokens
from distsim.grammar.formats.grammar_format import GrammarFormat
from distsim.grammar.formats.rules import RULES
from distsim.grammar.kernels import packs as pack_kernel
from distsim.grammar.kernels import phrase_pairs as pair_kernel
from distsim.grammar.kernels import rules as kernel
from distsim.kernels.compiled import frozen

TERMINAL = kernel.TERMINAL


@dataclass(frozen=True)
class RuleBlock:
    """The parsed rules of a block of lines: n rules, s symbols, m links.

    text: the lines' bytes. first_line: number of the first, from 1.
    line_starts: int64[n + 1], where each line begins.
    status: uint8[n], 0 where the line is a rule; details: int64[n, 2], values for
    the message of `fault`.
    labels: int64[n, 2], where each left-hand side starts and stops.
    features: int64[n, 2], where each line's field of features starts and its last one stops.
    feature_kinds: uint8[n], kernel.NAMED | kernel.BARE: what features the line has.
    counts: int64[n, 2], where each line's field of counts starts and stops.
    token_stops: int64[n, 2], symbols up to the end of each source and each target side.
    starts, stops: int64[s], the bytes of each symbol. gaps: int64[s], its index or TERMINAL.
    link_stops: int64[n], links up to the end of each rule.
    links: int64[m, 2], symbol of the source side and of the target side, each from 0.
    grammar_format: of the lines.
    written: the lines as they are in the file, where the format writes rules in another way; all
    else is of `text`, which has them as rules.
    """

    text: bytes
    first_line: int
    line_starts: np.ndarray
    status: np.ndarray
    details: np.ndarray
    labels: np.ndarray
    features: np.ndarray
    feature_kinds: np.ndarray
    counts: np.ndarray
    token_stops: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    gaps: np.ndarray
    link_stops: np.ndarray
    links: np.ndarray
    grammar_format: GrammarFormat
    written: list[bytes] | None = None

    def __len__(self) -> int:
        return self.status.size

    @property
    def begins(self) -> np.ndarray:
        """The first symbol of each rule, int64[n]."""
        return np.concatenate([[0], self.token_stops[:-1, 1]])

    def line(self, number: int) -> bytes:
        """Return the bytes of a line.

        Arguments:
            number: its row in the block, from 0.
        """
        return self.text[self.line_starts[number] : self.line_starts[number + 1]]

    def line_with_features(self, number: int, features: bytes) -> bytes:
        """Return a line as its format writes it, with other features.

        Arguments:
            number: its row in the block, from 0; of a rule.
        """
        if self.written is not None:
            return self.grammar_format.with_features(self.written[number], features.strip(BLANKS))
        start, stop = self.features[number].tolist()
        begin, end = self.line_starts[number : number + 2].tolist()
        return self.text[begin:start] + features + self.text[stop:end]

    def feature_text(self, number: int) -> bytes:
        """Return the bytes of a line's features, as written.

        Arguments:
            number: its row in the block, from 0.
        """
        start, stop = self.features[number].tolist()
        return self.text[start:stop]

    def symbol(self, number: int) -> bytes:
        """Return the bytes of a symbol.

        Arguments:
            number: of the symbol in the block.
        """
        return self.text[self.starts[number] : self.stops[number]]

    def sides(self, number: int) -> tuple[range, range]:
        """Return the ranges of symbols of a rule's source and target side.

        Arguments:
            number: of the rule in the block.
        """
        begin = int(self.token_stops[number - 1, 1]) if number else 0
        middle, end = self.token_stops[number].tolist()
        return range(begin, middle), range(middle, end)

    def side_texts(self, number: int) -> tuple[str, str]:
        """Return a rule's source and target side, symbols separated by spaces.

        Arguments:
            number: of the rule in the block.
        """
        source, target = (b" ".join(map(self.symbol, side)) for side in self.sides(number))
        return source.decode(), target.decode()

    def links_of(self, number: int) -> list[tuple[int, int]]:
        """Return a rule's links as (source symbol, target symbol), each from 0.

        Arguments:
            number: of the rule in the block.
        """
        begin = int(self.link_stops[number - 1]) if number else 0
        return [(i, j) for i, j in self.links[begin : self.link_stops[number]].tolist()]

    def faults(self) -> list[tuple[int, str]]:
        """Return the line number in the file, and the fault, of each line that is not a rule."""
        bad = np.flatnonzero(self.status).tolist()
        return [(self.first_line + number, self.fault(number)) for number in bad]

    def fault(self, number: int) -> str:
        """Return what is wrong with a line in a few words, "" if it is a rule.

        Arguments:
            number: its row in the block, from 0.
        """
        status = int(self.status[number])
        first, second = self.details[number].tolist()
        separator = self.grammar_format.separator
        if status == kernel.FEW_FIELDS and first == 1:
            line = self.line(number) if self.written is None else self.written[number]
            if not line.strip():
                return "an empty line"
            if separator.encode() in line:
                return f"{separator} without blanks around it, which separate fields"
        if status == kernel.LINK_OUTSIDE:
            return f"alignment link {first}-{second} points outside the rule"
        if status == kernel.BAD_LINK:
            token = tokens(self.line(number)[first - self.line_starts[number] :])[0].decode()
            return f"alignment link {token!r}: wanted two numbers, as 0-1"
        if status == kernel.BAD_LABEL:
            return "the left-hand side is no label in square brackets, as [NP]"
        return {
            kernel.FINE: "",
            kernel.FEW_FIELDS: f"{counted(first, 'field')} separated by {separator}, too few",
            kernel.EMPTY_SIDE: "an empty phrase",
            kernel.BAD_GAP: f"gap {first} does not occur once on each side",
            kernel.NOT_UTF8: "not UTF-8",
        }[status]


def parse_block(block: LineBlock, grammar_format: GrammarFormat) -> RuleBlock:
    """Return the parsed rules of a block of lines; an invalid line has a status and no symbols.

    Arguments:
        block: whole lines. grammar_format: where the parts of a rule are.
    """
    text = block.text
    bad: list[int] = []
    if not is_utf8(text):
        lines = split_lines(text)
        bad = [number for number, line in enumerate(lines) if not is_utf8(line)]
        for number in bad:  # the kernel sees an empty line of the same length there
            lines[number] = b" " * (len(lines[number]) - 1) + lines[number][-1:]
        lines[-1] = lines[-1] if is_utf8(lines[-1]) else b" " * len(lines[-1])
        text = b"".join(lines)
    written = None
    if grammar_format.in_other_form:
        written = split_lines(block.text)
        text = grammar_format.as_rules(text)
    data = frozen(np.frombuffer(text, np.uint8))
    arrays = kernel.parse_rules(data, frozen(np.array(grammar_format.layout, np.int64)))
    if written is not None and len(arrays[1]) != len(written):
        raise ValueError(f"{grammar_format.name}: as_rule does not return a line for each line")
    arrays[1][bad] = kernel.NOT_UTF8
    rules = block.text if written is None else text
    return RuleBlock(
        rules, block.first_line, *arrays, grammar_format=grammar_format, written=written
    )  # type: ignore[misc]


def single_rule(source: str, target: str, links: Iterable[tuple[int, int]]) -> RuleBlock:
    """Return a block of one rule.

    Arguments:
        source, target: the sides, symbols separated by blanks, gaps as `[NP,1]`.
        links: (source symbol, target symbol), both from 0, gaps counted.

    Raises:
        ParameterError: a link points outside, or a gap does not occur once on each side.
    """
    joined = " ".join(f"{i}-{j}" for i, j in links)
    line = f"[X] ||| {source} ||| {target} ||| ||| {joined}"
    block = parse_block(LineBlock(line.encode(), 1), RULES)
    if block.status[0] != kernel.FINE:
        raise ParameterError(f"{source!r}, {target!r}: {block.fault(0)}: mend the rule")
    return block


class FeatureColumns(NamedTuple):
    """The values of some features of each line of a block.

    names: of the features; a whole number is a position among the bare values, from 0.
    values: float64[n, len(names)], NaN without a number. states: uint8 of the same shape, FOUND or
    why not (`kernels/packs.py`). places: int64[n, len(names), 2], where each value is written.
    """

    names: list[str]
    values: np.ndarray
    states: np.ndarray
    places: np.ndarray

    def written(self, block: RuleBlock, row: int, column: int) -> str:
        """Return a value as it is written, "" without one.

        Arguments:
            block: of the lines. row: of a line. column: of the feature.
        """
        start, stop = self.places[row, column].tolist()
        return block.text[start:stop].decode(errors="replace")

    def fault(self, block: RuleBlock, row: int, column: int) -> str:
        """Return what is wrong with a value that is no number, in a few words.

        Arguments:
            block: of the lines. row: of a line. column: of the feature.
        """
        reasons = {pack_kernel.ABSENT: "is not there", pack_kernel.NOT_AVAILABLE: "is NA"}
        reason = reasons.get(int(self.states[row, column]))
        reason = reason or f"is {self.written(block, row, column)!r}"
        return f"feature {self.names[column]} {reason}, wanted a number"


def read_features(
    block: RuleBlock, names: Sequence[str], fields: np.ndarray | None = None
) -> FeatureColumns:
    """Return the values of some features of each line, and whether they are numbers.

    Arguments:
        names: of features; a whole number is a position among the bare values, from 0.
        fields: int64[n, 2], where each line's field starts and stops; that of features where None.
    """
    positions = [plain_count(name) for name in names]
    arrays = pack_kernel.read_columns(
        frozen(np.frombuffer(block.text, np.uint8)),
        frozen(block.features if fields is None else fields),
        *texts_of([name.encode() for name in names]),
        frozen(np.array([-1 if place is None else place for place in positions], np.int64)),
    )  # fmt: skip
    return FeatureColumns(list(names), *arrays)


class FeatureNames(NamedTuple):
    """What features some lines have.

    named: the names that are not among the known ones, in the order met. most_bare, fewest_bare:
    bare values of a line.
    """

    named: list[str]
    most_bare: int
    fewest_bare: int


def feature_names(
    block: RuleBlock, rows: np.ndarray, known: Sequence[str] = (), max_names: int = 1000
) -> FeatureNames:
    """Return what features some lines of a block have.

    Arguments:
        block: of lines. rows: of some of them. known: names to leave out. max_names: names at most.
    """
    places, most_bare, fewest_bare = pack_kernel.new_names(
        frozen(np.frombuffer(block.text, np.uint8)), frozen(block.features[rows]),
        *texts_of([name.encode() for name in known]), max_names,
    )  # fmt: skip
    named = [block.text[start:stop].decode() for start, stop in places.tolist()]
    return FeatureNames(named, most_bare, fewest_bare)


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
    stops_and_spans: tuple[np.ndarray, np.ndarray] = pair_kernel.decompose(
        frozen(block.token_stops), frozen(block.gaps), frozen(stops), frozen(links), longest,
        pairs == "reference",
    )  # fmt: skip
    return stops_and_spans


def span_text(block: RuleBlock, span: Sequence[int]) -> str:
    """Return the symbols of a span, as written.

    Arguments:
        span: (first symbol of the block, number of symbols).
    """
    first, length = span
    return b" ".join(block.symbol(k) for k in range(first, first + length)).decode()
