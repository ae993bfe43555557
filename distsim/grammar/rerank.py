"""Rules in order of a weighted sum of their features, the best first within each source side."""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

import numpy as np

from distsim.base.arguments import OnError, check_types, in_range
from distsim.base.errors import ParameterError, counted
from distsim.base.parallel import Progress, no_progress
from distsim.corpus.lines import read_line_blocks
from distsim.corpus.vocabulary import HashNumbering
from distsim.grammar.arrays import Spool, order_of_texts
from distsim.grammar.block import RuleBlock, parse_block, read_features
from distsim.grammar.fields import (
    InvalidLines,
    is_feature_name,
    require_utf8,
    with_line_end,
)
from distsim.grammar.formats import find_format
from distsim.grammar.kernels.packs import FOUND, NO_NUMBER, gather_lines
from distsim.grammar.kernels.phrase_pairs import hash_symbols
from distsim.grammar.kernels.rules import NAMED
from distsim.grammar.pair_features import LearnedWeights, PairFeatures, is_feature
from distsim.grammar.score_writer import lines_of_values, lines_with_features
from distsim.kernels.compiled import frozen
from distsim.storage import scratch_folder
from distsim.storage.files import open_output

# Thesis equation 6.1: what the releases of PPDB are sorted by; lower is better.
PPDB_COST = {
    "p(e|f)": 1.0,
    "p(f|e)": 1.0,
    "p(e|f,LHS)": 1.0,
    "p(f|e,LHS)": 1.0,
    "RarityPenalty": 100.0,
    "p(LHS|e)": 0.3,
    "p(LHS|f)": 0.3,
}


@dataclass(frozen=True)
class Ranking:
    """Order of rules: the weights of their features, and how many rules are retained.

    Arguments:
        weights: feature, by name or by position from 0, to its weight in the sum.
        ascending: the least sum is best: a cost.
        top: keep at most this many of each left-hand side and source; 0: all.
        missing: the value of features that are missing or NA; an invalid line where None.
        learned: learned weights, whose sum is added; of a rule's features and those that `computed`
            makes of its sides.
        computed: makes features of sides; those of the text alone where None.
        write: write the sum as a feature of this name, as a bare value where features are.

    Raises:
        ParameterError: a weight or limit is not valid.

    >>> Ranking({"p(e|f)": 1.0}, top=10).ascending
    False
    """

    weights: Mapping[str, float]
    _: KW_ONLY
    ascending: bool = False
    top: int = 0
    missing: float | None = None
    write: str | None = None
    learned: LearnedWeights | None = None
    computed: PairFeatures | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if not self.weights and self.learned is None:
            raise ParameterError("nothing to rank by: give the weight of at least one feature")
        if self.write is not None and not is_feature_name(self.write):
            raise ParameterError(
                f"`write` {self.write!r}: is no name of a feature: give one without blanks, "
                "control characters, equals signs or |||, in UTF-8"
            )
        for name, weight in self.weights.items():
            require_utf8(name)
            if not math.isfinite(weight):
                raise ParameterError(f"`weights` {name!r}: {weight} is no weight: give a number")
        if self.missing is not None and not math.isfinite(self.missing):
            raise ParameterError(f"`missing` {self.missing}: give a number")
        in_range(self.top, "`top`", 0)

    @property
    def computed_names(self) -> list[str]:
        """The features of learned weights that are made of a rule's sides.

        Raises:
            ParameterError: one wants a table that was not given.
        """
        if self.learned is None:
            return []
        names = [name for name in self.learned.names if is_feature(name)]
        (self.computed or PairFeatures()).matrix([], names=names)
        return names


@dataclass
class RerankReport:
    """Report of reranking.

    Attributes:
        faulty: the lines that are no rules.
        was_grouped: rules of one source side stood together, so that they were not sorted first.
        read, groups: rules, and source sides under a label.
        written: rules.
        replaced: rules in which the feature that is written stood already.
        notes: sentences for the user.

    >>> _ = (folder / "two").write_text("[X] ||| a ||| b ||| p=2\\n[X] ||| a ||| c ||| p=1\\n")
    >>> report = rerank_grammar(folder / "two", folder / "best", Ranking({"p": 1.0}, top=1))
    >>> report.read, report.groups, report.written
    (2, 1, 1)
    """

    faulty: InvalidLines
    was_grouped: bool = True
    read: int = 0
    groups: int = 0
    written: int = 0
    replaced: int = 0
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the report, a few lines of text."""
        lines = [
            f"{counted(self.read, 'rule')} of {counted(self.groups, 'source side')} read, "
            f"{self.written:,} written"
        ]
        self.faulty.add_to(lines)
        if self.replaced:
            lines.append(
                f"{counted(self.replaced, 'rule')} had such a feature already: "
                "replaced in its place"
            )
        return lines


def rerank_grammar(
    grammar: str | Path,
    path: str | Path,
    ranking: Ranking,
    *,
    on_error: OnError = "stop",
    grammar_format: str | None = None,
    progress: Progress = no_progress,
) -> RerankReport:
    """Write a grammar's rules best first within each left-hand side and source; return the report.

    Rules of equal sum keep their order, groups too. Where the rules of a group are not together
    in the input, groups are sorted by label and source; the report says so in `was_grouped`. A
    faulty line that is kept is written after the group in which it occurs. The text is copied to
    a temporary file; about 40 bytes a rule are in memory.

    Arguments:
        grammar: plain or packed; `-` for standard input.
        path: gz where the name ends so; `-` for standard output. Written whole or not at all.
        ranking: the order. on_error: invalid lines `stop` the work, or are kept as they are
            (`keep`), or left out (`drop`).
        progress: called with (name of the step, done, total) from time to time.
        grammar_format: a name in distsim.grammar.formats.FORMATS; found from the first lines
            where None.

    Raises:
        InputError: the grammar cannot be read, or a line is invalid (or lacks a feature that
            `ranking` needs) and on_error is `stop`.
        ParameterError: there is no such format.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rules, best = Path(folder, "rules"), Path(folder, "best")
    ...     _ = rules.write_text("[X] ||| a ||| b ||| s=1\\n[X] ||| a ||| c ||| s=2\\n")
    ...     report = rerank_grammar(rules, best, Ranking({"s": 1}, top=1))
    ...     best.read_text(), report.read
    ('[X] ||| a ||| c ||| s=2\\n', 2)
    """
    report = RerankReport(InvalidLines(grammar, on_error))
    known = None
    with scratch_folder() as folder:
        rules = _SpooledGroups(Spool(folder), ranking, report)
        for lines in read_line_blocks(grammar):
            known = known or find_format(grammar_format, lines.text)
            rules.add(parse_block(lines, known))
            progress("ranking", report.read, None)
        report.faulty.require_lines(report.read + report.faulty.kept + report.faulty.dropped)
        order = rules.order()
        with open_output(path) as out:
            rules.spool.write_lines(out, order, None)
    return report


class _SpooledGroups:
    """The lines of a grammar in a spool, with the group and the sum of each."""

    def __init__(self, spool: Spool, ranking: Ranking, report: RerankReport) -> None:
        self.spool = spool
        self._ranking, self._report = ranking, report
        self._computed = ranking.computed_names
        learned = () if ranking.learned is None else ranking.learned.names
        self._learned = [name for name in learned if name not in self._computed]
        self._groups = HashNumbering()

    def add(self, block: RuleBlock) -> None:
        """Append the lines of a block, invalid ones where they are kept."""
        values, faults = self._sums(block)
        faulty = self._report.faulty
        dropped = [n for n in sorted(faults) if not faulty.keeps(block.first_line + n, faults[n])]
        stays, is_fault = np.ones(len(block), bool), np.zeros(len(block), bool)
        stays[dropped] = False
        is_fault[list(faults)] = True
        self._report.read += len(block) - len(faults)
        lines = self._written(block, values, is_fault)
        bounds = np.cumsum([0, *map(len, lines)])
        self.spool.append_lines(b"".join(lines), bounds, stays)
        self.spool.append("group", self._numbered(block)[stays])
        self.spool.append("value", values[stays])
        self.spool.append("is_fault", is_fault[stays])

    def _sums(self, block: RuleBlock) -> tuple[np.ndarray, dict[int, str]]:
        """Return the weighted sum of each rule, float64[n], and what is wrong with which lines."""
        ranking, weights = self._ranking, self._ranking.weights
        names = [*weights, *self._learned]
        features = read_features(block, names)
        values, bad = features.values, features.states == NO_NUMBER
        if ranking.missing is None:
            bad[:, : len(weights)] = features.states[:, : len(weights)] != FOUND
        faults = {n: block.fault(n) for n in np.flatnonzero(block.status).tolist()}
        for n in np.flatnonzero(bad.any(axis=1) & (block.status == 0)).tolist():
            faults[n] = features.fault(block, n, int(bad[n].argmax()))
        total = np.zeros(len(block))
        with np.errstate(over="ignore", invalid="ignore"):
            for weight, column in zip(weights.values(), values.T, strict=False):
                total += weight * np.where(np.isnan(column), ranking.missing or 0.0, column)
            if ranking.learned is not None:
                matrix = values[:, len(weights) :]
                if not weights and not self._computed:
                    absent = np.isnan(matrix).all(axis=1) & (block.status == 0)
                    for n in np.flatnonzero(absent).tolist():
                        faults.setdefault(n, f"has none of {', '.join(self._learned)} to rank by")
                if self._computed:
                    sides = [block.side_texts(n) for n in range(len(block))]
                    maker = ranking.computed or PairFeatures()
                    matrix = np.hstack([matrix, maker.matrix(sides, names=self._computed)])
                total += ranking.learned.values([*self._learned, *self._computed], matrix)
        for n in np.flatnonzero(~np.isfinite(total)).tolist():
            faults.setdefault(n, "the weighted sum of its features is too large for a number")
        return total, faults

    def _written(self, block: RuleBlock, values: np.ndarray, is_fault: np.ndarray) -> list[bytes]:
        """Return the lines of a block as they are written, with their sums where that is asked.

        Arguments:
            values: float64[n], the rules' sums.
            is_fault: bool[n], lines that are no rules.
        """
        name = self._ranking.write
        added = [b""] * len(block)
        if name is not None:
            is_bare = (block.feature_kinds != 0) & (block.feature_kinds & NAMED == 0)
            named = b" " + name.encode() + b"="
            numbers = lines_of_values(values[:, None], ~is_fault, [""])
            added = [
                b"" if fault else (b" " if bare else named) + number
                for number, bare, fault in zip(
                    numbers, is_bare.tolist(), is_fault.tolist(), strict=True
                )
            ]
        written = lines_with_features(block, added, () if name is None else (name,))
        self._report.replaced += written.replaced
        return [with_line_end(line) for line in written.lines]

    def _numbered(self, block: RuleBlock) -> np.ndarray:
        """Return the group of each line, int64[n], -1 where it is no rule.

        A group is what is equal from the line's start to the end of its source side. What groups
        are sorted by, where they are not together, is appended to the spool.
        """
        fine = np.flatnonzero(block.status == 0)
        begins = block.begins[fine]
        middles = block.token_stops[fine, 0]
        starts, stops = block.line_starts[:-1][fine], block.labels[fine, 1]
        stops = np.maximum(stops, starts)
        has_source = middles > begins
        stops[has_source] = block.stops[middles[has_source] - 1]
        data = frozen(np.frombuffer(block.text, np.uint8))
        numbers, new = self._groups.number(hash_symbols(data, frozen(starts), frozen(stops)))
        sort_key = block.grammar_format.sort_key
        if block.written is None or sort_key is None:
            keys, sizes = gather_lines(data, starts, stops, frozen(new)), (stops - starts)[new]
        else:
            texts = [sort_key(block.written[row]) for row in fine[new].tolist()]
            keys, sizes = np.frombuffer(b"".join(texts), np.uint8), np.array([*map(len, texts)])
        self.spool.append("keys", keys)
        self.spool.append("key_size", sizes.astype(np.int64))
        groups = np.full(len(block), -1, np.int64)
        groups[fine] = numbers
        return groups

    def order(self) -> np.ndarray:
        """Return the numbers of the lines to write, in order, int64; completes the report.

        Groups in the order read where each is together, else in the order of their bytes; faulty
        lines behind the rules of their group.
        """
        ranking, report = self._ranking, self._report
        group, is_fault = self.spool.column("group", np.int64), self.spool.column("is_fault", bool)
        of_rules = group[group >= 0]
        report.groups = len(self._groups)
        report.was_grouped = int(np.count_nonzero(np.diff(of_rules))) < max(1, report.groups)
        if report.was_grouped:  # a line that is no rule belongs to the rule before it
            last_rule = np.maximum.accumulate(np.where(group >= 0, np.arange(group.size), -1))
            group = np.where(last_rule >= 0, group[last_rule], -1) if group.size else group
        else:
            sizes = self.spool.column("key_size", np.int64)
            stops = np.cumsum(sizes)
            keys = self.spool.column("keys", np.uint8)
            rank = np.argsort(order_of_texts(keys, stops - sizes, stops))
            group = np.where(group >= 0, rank[group], -1)
        cost = self.spool.column("value", np.float64) * (1.0 if ranking.ascending else -1.0)
        order = np.lexsort((np.where(is_fault, np.inf, cost), group))
        stays = np.ones(order.size, bool)
        if ranking.top:
            of_group = group[order]
            stays = np.arange(order.size) - np.searchsorted(of_group, of_group) < ranking.top
        faults = is_fault[order]
        report.written = int(np.count_nonzero(stays & ~faults))
        wanted: np.ndarray = order[stays | faults]
        return wanted
