"""Translation rules as arrays: sides in one form, and the columns that pivoting needs."""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from distsim.base.arguments import ProbabilityScale
from distsim.base.parallel import Progress
from distsim.corpus.lines import read_line_blocks
from distsim.corpus.vocabulary import HashNumbering
from distsim.grammar.arrays import Spool
from distsim.grammar.block import RuleBlock, feature_names, parse_block, read_features
from distsim.grammar.fields import InvalidLines
from distsim.grammar.formats import HEAD_LINES, find_format
from distsim.grammar.formats.grammar_format import GrammarFormat
from distsim.grammar.kernels import packs as columns_kernel
from distsim.grammar.kernels import pivot as kernel
from distsim.grammar.kernels.phrase_pairs import hash_symbols
from distsim.kernels.compiled import frozen
from distsim.storage import scratch_folder

SCALES: tuple[str, ...] = get_args(ProbabilityScale)

E_GIVEN_F_LHS, F_GIVEN_E_LHS = "p(e|f,LHS)", "p(f|e,LHS)"
E_GIVEN_F, F_GIVEN_E = "p(e|f)", "p(f|e)"
LHS_GIVEN_E, LHS_GIVEN_F, E_GIVEN_LHS = "p(LHS|e)", "p(LHS|f)", "p(e|LHS)"
LEX_E_GIVEN_F, LEX_F_GIVEN_E = "Lex(e|f)", "Lex(f|e)"
RARITY = "RarityPenalty"
# What a translation rule may say of itself, by the names of PPDB: f foreign, e English.
COLUMNS = (
    E_GIVEN_F_LHS, F_GIVEN_E_LHS, E_GIVEN_F, F_GIVEN_E, LHS_GIVEN_E, LHS_GIVEN_F, E_GIVEN_LHS,
    LEX_E_GIVEN_F, LEX_F_GIVEN_E, RARITY,
)  # fmt: skip


def name_in_bitext(name: str, number: int) -> str:
    """Return the name of a column that has a probability in one bitext alone, numbered from 0.

    >>> name_in_bitext("p(e|f)", 0)
    'p(e|f) in 0'
    """
    return f"{name} in {number}"


_COUNTS = "counts"  # where the rarity penalty is exp(1 - c), c the third of the counts
_MOST_RARITY = 1e12  # what can be written with five decimals
_SLACK = 1e-6  # so much above 1 a probability may be, by rounding
_FITS_NOT = {
    kernel.TOO_MANY_GAPS: f"more than {kernel.MOST_GAPS} gaps, too many to pivot",
    kernel.LOOKS_LIKE_GAP: "a word looks like a gap and would be one in a rule",
}


@dataclass(frozen=True)
class Translations:
    """The n rules of a translation grammar in the order read; gaps are numbered along each side.

    labels: the distinct labels. label: int64[n], which one. sources, targets: uint64[n], hashes
    of the sides' texts. orders: uint32[n] and n_gaps: int64[n], as kernels/pivot.py has them.
    text, starts, stops: where the text of each target side is; n_symbols: int64[n], of it.
    links, link_starts, link_stops: links between words, (source symbol, target symbol).
    columns: float64[n] by name: probabilities as such, the rarity penalty as written.
    column_names: what the columns are called in the grammar.
    bitexts: uint64[n], a bit for each bitext that a rule is in; None where there is one.
    kind: what the probabilities within labels are known to be; found from their sums where None.
    """

    labels: list[bytes]
    label: np.ndarray
    sources: np.ndarray
    targets: np.ndarray
    orders: np.ndarray
    n_gaps: np.ndarray
    text: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    n_symbols: np.ndarray
    links: np.ndarray
    link_starts: np.ndarray
    link_stops: np.ndarray
    columns: dict[str, np.ndarray]
    column_names: dict[str, str]
    bitexts: np.ndarray | None = None
    kind: Literal["joint", "conditional"] | None = None


@contextmanager
def read_translations(
    grammar: str | Path,
    columns: Mapping[str, str],
    scale: ProbabilityScale | None,
    grammar_format: str | None,
    faulty: InvalidLines,
    progress: Progress,
) -> Iterator[Translations]:
    """Yield the rules of a grammar, with texts and links in temporary files.

    Arguments:
        columns: a name in COLUMNS to a feature of the grammar, by name or position from 0. The
            others are found where the first rules have features of these names, or where the
            format fixes what bare values mean.
        scale: how the grammar writes probabilities; the format's where None.
        grammar_format: the name of its format; found by its first lines where None.
        faulty: what is done with invalid lines, and their number.
        progress: called with (stage, done, total).

    Raises:
        InputError: a line is invalid, or lacks a column, and `faulty` says stop.
    """
    blocks = read_line_blocks(grammar)
    first = next(blocks, None)
    if first is None:
        faulty.require_lines(0)
    known = find_format(grammar_format, first.text if first else b"")
    with scratch_folder() as folder:
        reader: _GrammarTextReader | None = None
        n_lines = 0
        for lines in chain([] if first is None else [first], blocks):
            block = parse_block(lines, known)
            if reader is None:
                names = _column_names(block, columns, known)
                reader = _GrammarTextReader(folder, names, scale or known.scale, known)  # type: ignore[arg-type]
            reader.add(block, faulty)
            n_lines += len(block)
            progress("reading", n_lines, None)
        reader = reader or _GrammarTextReader(folder, dict(columns), "negative-log", known)
        yield reader.translations()


def _column_names(
    block: RuleBlock, listed_names: Mapping[str, str], grammar_format: GrammarFormat
) -> dict[str, str]:
    """Return the name in the grammar of each column, by the first block; given: chosen names."""
    rules = np.flatnonzero(block.status == 0)[:HEAD_LINES]
    names = dict(listed_names)
    shortest = feature_names(block, rules).fewest_bare
    with_features = _rules_with(block, (name for name in COLUMNS if name not in names))
    for name in COLUMNS:
        if name in with_features:
            names[name] = name
        elif name not in names and grammar_format.columns.get(name, shortest) < shortest:
            names[name] = str(grammar_format.columns[name])
    counted = block.counts[block.status == 0]
    if RARITY not in names and counted.size and (counted[:, 1] > counted[:, 0]).all():
        names[RARITY] = _COUNTS
    return names


def _rules_with(block: RuleBlock, names: Iterable[str]) -> dict[str, list[int]]:
    """Return the rows of the rules that have each of some features, by the name of the feature."""
    wanted = [name for name in names if f"{name}=".encode() in block.text]  # a word may look so
    states = read_features(block, wanted).states
    has = (states != columns_kernel.ABSENT) & (block.status == 0)[:, None]
    rules = {name: np.flatnonzero(has[:, k]).tolist() for k, name in enumerate(wanted)}
    return {name: rows for name, rows in rules.items() if rows}


class _GrammarTextReader:
    """Reader of a grammar by blocks; texts and links go to files."""

    def __init__(
        self,
        folder: Path,
        names: dict[str, str],
        scale: ProbabilityScale,
        grammar_format: GrammarFormat,
    ) -> None:
        self._names = names
        self._scale = scale
        self._format = grammar_format
        self._spool = Spool(folder)
        self._n_bytes = self._n_links = 0
        self._numbering = HashNumbering()
        self._labels: list[bytes] = []
        self._arrays: list[tuple[np.ndarray, ...]] = []
        self._values: list[np.ndarray] = []

    def add(self, block: RuleBlock, faulty: InvalidLines) -> None:
        """Add the rules of a block."""
        data = frozen(np.frombuffer(block.text, np.uint8))
        values, faults = self._numbers(block)
        status, sources, targets, orders, text, offsets = kernel.canonical_sides(
            data, frozen(block.token_stops), frozen(block.starts), frozen(block.stops),
            frozen(block.gaps), self._format.layout.gaps,
        )  # fmt: skip
        for number in np.flatnonzero(block.status).tolist():
            faults[number] = block.fault(number)
        for number in np.flatnonzero(status).tolist():
            faults.setdefault(number, _FITS_NOT[int(status[number])])
        unknown = (name for name in COLUMNS if name not in self._names)
        for name, rules in _rules_with(block, unknown).items():
            for number in rules:
                faults.setdefault(number, f"feature {name} is there, which the first rules lack")
        for number in sorted(faults):
            faulty.keeps(block.first_line + number, faults[number])
        fine = np.ones(len(block), bool)
        fine[list(faults)] = False
        begins = block.begins
        middles, ends = block.token_stops.T
        gaps = np.concatenate([[0], np.cumsum(block.gaps >= 0)])
        links, link_starts, link_stops = _word_links(block)
        arrays = (
            self._label_numbers(block, data), sources, targets, orders,
            gaps[middles] - gaps[begins], ends - middles,
            offsets[:-1] + self._n_bytes, offsets[1:] + self._n_bytes,
            link_starts + self._n_links, link_stops + self._n_links,
        )  # fmt: skip
        self._arrays.append(tuple(array[fine] for array in arrays))
        self._values.append(values[fine])
        self._spool.append("text", text)
        self._spool.append("links", links.astype(np.int32))
        self._n_bytes += text.size
        self._n_links += len(links)

    def _numbers(self, block: RuleBlock) -> tuple[np.ndarray, dict[int, str]]:
        """Return the columns of a block, float64[n, c], and the faults of lines by their rows."""
        features = read_features(block, list(self._names.values()))
        values, states = features.values, features.states
        if self._names.get(RARITY) == _COUNTS:
            counts = read_features(block, ["2"], block.counts)
            at = list(self._names).index(RARITY)
            values[:, at], states[:, at] = np.exp(1.0 - counts.values[:, 0]), counts.states[:, 0]
            features.places[:, at] = counts.places[:, 0]
        bad = states != columns_kernel.FOUND
        for k, name in enumerate(self._names):
            if name == RARITY:
                bad[:, k] |= ~((values[:, k] >= 0.0) & (values[:, k] <= _MOST_RARITY))
                continue
            values[:, k] = _probabilities(values[:, k], self._scale)
            bad[:, k] |= ~((values[:, k] >= 0.0) & (values[:, k] <= 1.0 + _SLACK))
        np.minimum(values, 1.0, out=values, where=values <= 1.0 + _SLACK)
        faults: dict[int, str] = {}
        rows, columns = np.nonzero(bad & (block.status == 0)[:, None])
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            if states[row, column] != columns_kernel.FOUND:
                faults.setdefault(row, features.fault(block, row, column))
                continue
            value = repr(features.written(block, row, column))
            reason = f"is no probability on the scale {self._scale!r}: it is {value}"
            if list(self._names)[column] == RARITY:
                reason = f"is {value}, wanted 0 to {_MOST_RARITY:g}"
            faults.setdefault(row, f"feature {features.names[column]} {reason}")
        return values, faults

    def _label_numbers(self, block: RuleBlock, data: np.ndarray) -> np.ndarray:
        """Return the number of each rule's label, numbering new ones.

        Arguments:
            data: uint8, the block's text.
        """
        if self._format.layout.label < 0:
            self._labels = [self._format.label]
            return np.zeros(len(block), np.int64)
        starts, stops = block.labels.T
        hashes = hash_symbols(data, frozen(starts), frozen(stops))
        numbers = np.full(len(block), -1, np.int64)
        fine = np.flatnonzero(block.status == 0)
        label_numbers, new = self._numbering.number(hashes[fine])
        numbers[fine] = label_numbers
        for number in fine[new].tolist():
            self._labels.append(block.text[starts[number] : stops[number]])
        return numbers

    def translations(self) -> Translations:
        """Return the rules of all blocks."""
        none = tuple(np.empty(0, np.int64) for _ in range(10))
        (
            label, sources, targets, orders, n_gaps, n_symbols, starts, stops, link_starts,
            link_stops,
        ) = map(np.concatenate, zip(*(self._arrays or [none]), strict=True))  # fmt: skip
        values = np.concatenate(self._values or [np.empty((0, len(self._names)))])
        return Translations(
            labels=self._labels, label=label,
            sources=sources.astype(np.uint64), targets=targets.astype(np.uint64),
            orders=orders.astype(np.uint32), n_gaps=n_gaps,
            text=self._spool.column("text", np.uint8), starts=starts, stops=stops,
            n_symbols=n_symbols,
            links=self._spool.column("links", np.int32).reshape(-1, 2),
            link_starts=link_starts, link_stops=link_stops,
            columns={name: values[:, k] for k, name in enumerate(self._names)},
            column_names=self._names,
        )  # fmt: skip


def _word_links(block: RuleBlock) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the links between words, int64[m, 2], and where those of each rule start and stop."""
    n_links = np.diff(block.link_stops, prepend=0)
    owners = np.repeat(np.arange(len(block)), n_links)
    begins = block.begins
    between = (
        (block.gaps[begins[owners] + block.links[:, 0]] < 0)
        & (block.gaps[block.token_stops[owners, 0] + block.links[:, 1]] < 0)
        if owners.size
        else np.zeros(0, bool)
    )
    stops = np.cumsum(np.bincount(owners[between], minlength=len(block)))
    return block.links[between], np.concatenate([[0], stops[:-1]]), stops


def _probabilities(values: np.ndarray, scale: ProbabilityScale) -> np.ndarray:
    """Return the probabilities of numbers on a scale.

    Arguments:
        values: float64.
        scale: `probability`, `log`, `negative-log` or one of them to base 10.
    """
    if scale == "probability":
        return values
    natural = values * (math.log(10.0) if scale.endswith("10") else 1.0)
    return np.exp(np.minimum(-natural if scale.startswith("negative") else natural, 700.0))
