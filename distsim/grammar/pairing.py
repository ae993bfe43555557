"""Paraphrase rules of paired translation rules, as text with features."""

from collections.abc import Iterator
from itertools import chain
from math import factorial
from typing import NamedTuple

import numpy as np

from distsim.base.errors import ParameterError
from distsim.grammar.kernels import pivot as kernel
from distsim.grammar.numbering import first_rows, numbers_of, order_by, texts_of
from distsim.grammar.paired_rules import PairedRules
from distsim.grammar.pivot_options import PivotOptions
from distsim.grammar.translations import (
    E_GIVEN_F,
    E_GIVEN_F_LHS,
    E_GIVEN_LHS,
    F_GIVEN_E,
    F_GIVEN_E_LHS,
    LEX_E_GIVEN_F,
    LEX_F_GIVEN_E,
    LHS_GIVEN_E,
    LHS_GIVEN_F,
    RARITY,
    Translations,
    name_in_bitext,
)
from distsim.kernels.compiled import frozen

F_GIVEN_LHS = "p(f|LHS)"
_LEAST = 1e-300
_IDENTITY, _LOG_COUNT, _PIVOTS = "Identity", "LogCount", "PivotCount"
_BITEXTS = "Bitexts"
# The features that the sides of a rule tell, as kernels.pivot.type_features writes them.
TYPES = (
    "Abstract", "Adjacent", "CharCountDiff", "CharLogCR", "ContainsX", "GlueRule", "Lexical",
    "Monotonic", "PhrasePenalty", "SourceTerminalsButNoTarget", "SourceWords",
    "TargetTerminalsButNoSource", "TargetWords", "UnalignedSource", "UnalignedTarget",
    "WordCountDiff", "WordLenDiff", "WordLogCR",
)  # fmt: skip
_DECIMAL = ("CharLogCR", "WordLenDiff", "WordLogCR")
_WHOLE = (_BITEXTS, _IDENTITY, _PIVOTS, *(name for name in TYPES if name not in _DECIMAL))
_SWAPPED = {LEX_E_GIVEN_F: LEX_F_GIVEN_E, LEX_F_GIVEN_E: LEX_E_GIVEN_F}  # as PPDB's releases
_NO_BITS = frozen(np.empty(0, np.uint64))


class ParaphraseLines(NamedTuple):
    """Lines of paraphrase rules of some source sides, and counts for the report.

    Attributes:
        text: the lines.
        links, links_pruned: pairs over a common foreign side, and those too weak for it.
        identities: rules with equal sides.
        pruned: rules dropped after the sums.
        written: rules in the lines.
        gappy: of these, rules with both gaps and words.
    """

    text: bytes | memoryview
    links: int
    links_pruned: int
    identities: int
    pruned: int
    written: int
    gappy: int


class Pairing:
    """Pairs the rules of some source sides at a time and writes the paraphrases; thread-safe.

    Arguments:
        translations: the rules as read.
        rules: as paired_rules returns them.
        options: of pivoting.
    """

    def __init__(
        self, translations: Translations, rules: PairedRules, options: PivotOptions
    ) -> None:
        self._options = options
        self._rules = rules
        rows = rules.rows
        starts, stops, n_symbols, n_gaps, link_starts, link_stops = (
            frozen(array[rows])
            for array in (
                translations.starts, translations.stops, translations.n_symbols,
                translations.n_gaps, translations.link_starts, translations.link_stops,
            )
        )  # fmt: skip
        self._sides = kernel.TargetSides(
            frozen(translations.text), starts, stops, n_symbols, n_gaps,
            frozen(translations.links), link_starts, link_stops,
        )  # fmt: skip
        self._columns = {name: frozen(values) for name, values in rules.columns.items()}
        bitexts = translations.bitexts
        self._has_bitexts = bitexts is not None
        self._bitexts = _NO_BITS if bitexts is None else frozen(bitexts[rows])
        numbers = rules.numbers
        orders = translations.orders[rows]
        self._n_orders = factorial(int(n_gaps.max(initial=0)))
        has_free = E_GIVEN_F in self._columns and F_GIVEN_E in self._columns
        over_all = has_free and numbers.n_labels > 1
        has_lex = LEX_E_GIVEN_F in self._columns and LEX_F_GIVEN_E in self._columns
        self._summed = self._with_bitexts(E_GIVEN_F_LHS, F_GIVEN_E_LHS)
        self._summed += self._with_bitexts(E_GIVEN_F, F_GIVEN_E) * (has_free and not over_all)
        self._summed += [(LEX_E_GIVEN_F, LEX_F_GIVEN_E)] * has_lex
        group = numbers_of(numbers.label, numbers.source)
        self._groups = self._grouped(
            group, numbers.target, orders, n_gaps, self._side_by_side(self._summed), rows
        )
        self._by_source = order_by(numbers.label, numbers.target)  # groups ascend already
        self._pairs_of = np.diff(self._groups.bounds)[self._by_source, 0]
        self.n_pairs = int(self._pairs_of.sum())
        if options.identities == "drop":
            self.n_pairs -= rows.size
        self._free: tuple[kernel.Groups, np.ndarray] | None = None
        if over_all:
            first = first_rows(numbers_of(numbers.pair))  # sorted by foreign side
            free = self._grouped(
                numbers.source[first], numbers.target[first], orders[first], n_gaps[first],
                self._side_by_side(self._with_bitexts(E_GIVEN_F, F_GIVEN_E))[first], rows[first],
            )  # fmt: skip
            self._free = free, order_by(free.targets)
        self.names = self._written_names(has_free, has_lex)
        self._is_ppdb = options.names == "ppdb"
        if self._is_ppdb:  # columns are in the order of the names that are written
            self.names = [_SWAPPED.get(name, name) if has_lex else name for name in self.names]
            written = [_SWAPPED.get(name, name) for name in self.names]
        else:
            written = self.names
        self._written = written
        self._names = texts_of([f" {name}=".encode() for name in written])
        self._whole = frozen(np.array([name in _WHOLE for name in self.names]))
        labels = [translations.labels[n] for n in rules.label_order.tolist()]
        self._labels = texts_of(labels)
        self._is_x = frozen(np.array([label.strip(b"[]") == b"X" for label in labels], bool))

    def _with_bitexts(self, towards: str, back: str) -> list[tuple[str, str]]:
        """Return the names of two columns, then those of the same in each bitext, if there are."""
        pairs = [(towards, back)]
        while name_in_bitext(towards, len(pairs) - 1) in self._columns:
            number = len(pairs) - 1
            pairs.append((name_in_bitext(towards, number), name_in_bitext(back, number)))
        return pairs

    def _side_by_side(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """Return columns as kernels.pivot.sum_links has them; a rarity of 1 where there is none."""
        n = self._rules.rows.size
        out = np.empty((n, 2 * len(pairs) + 1))
        for number, name in enumerate(chain(*pairs)):
            out[:, number] = self._columns[name]
        out[:, -1] = self._columns.get(RARITY, 1.0)
        return out

    @staticmethod
    def _grouped(group: np.ndarray, *arrays: np.ndarray) -> kernel.Groups:
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        stops = np.append(starts[1:], group.size)[: starts.size]
        bounds = np.repeat(np.stack([starts, stops], axis=1), stops - starts, axis=0)
        return kernel.Groups(*(frozen(array) for array in (bounds, *arrays)))

    def _written_names(self, has_free: bool, has_lex: bool) -> list[str]:
        """Return the names of the features, in PPDB's order, which is that of ASCII."""
        has = self._columns.__contains__
        is_ppdb = self._options.names == "ppdb"
        names = [E_GIVEN_F_LHS, F_GIVEN_E_LHS, _LOG_COUNT, *(TYPES if is_ppdb else [_PIVOTS])]
        names += [_IDENTITY] * (self._options.identities == "mark" or is_ppdb)
        names += [_BITEXTS] * (self._has_bitexts and not is_ppdb)
        names += [E_GIVEN_F, F_GIVEN_E] * has_free + [RARITY] * has(RARITY)
        names += [LHS_GIVEN_E, LHS_GIVEN_F] * has(LHS_GIVEN_E)
        names += [E_GIVEN_LHS, F_GIVEN_LHS] * has(E_GIVEN_LHS)
        names += [LEX_E_GIVEN_F, LEX_F_GIVEN_E] * has_lex
        return sorted(names)

    def choices(self) -> list[str]:
        """Return which of two definitions was taken, a line for each feature that has two."""
        told = []
        if E_GIVEN_F in self.names and self._rules.numbers.n_labels > 1:
            told.append(f"{E_GIVEN_F}, {F_GIVEN_E}: summed over all foreign sides")
        if RARITY in self.names:
            told.append(f"{RARITY}: the least of the links")
        return told

    def chunks(self, most: int) -> Iterator[np.ndarray]:
        """Yield rules by source side, about `most` pairs, one side's together.

        Arguments:
            most: number of pairs of a chunk, approximately.
        """
        by_source, numbers = self._by_source, self._rules.numbers
        label, target = numbers.label[by_source], numbers.target[by_source]
        new = np.flatnonzero((np.diff(label) != 0) | (np.diff(target) != 0)) + 1
        ends = np.append(new, by_source.size)
        total = np.concatenate([[0], np.cumsum(self._pairs_of)])
        begin = 0
        while begin < by_source.size:
            enough = np.searchsorted(total[ends], total[begin] + most)
            end = int(ends[min(enough, ends.size - 1)])
            yield by_source[begin:end]
            begin = end

    def write(self, sources: np.ndarray) -> ParaphraseLines:
        """Return the paraphrases whose source sides are those of some rules.

        sources: int64, numbers of rules.
        """
        options, groups, numbers = self._options, self._groups, self._rules.numbers
        label, target = numbers.label[sources], numbers.target[sources]
        runs = np.zeros(sources.size, np.int64)
        runs[1:] = np.cumsum((np.diff(label) != 0) | (np.diff(target) != 0))
        links, links_pruned = self._pairs(
            groups, sources, runs, options.min_link, options.identities == "mark"
        )
        if not links.sizes.size:
            return ParaphraseLines(b"", 0, links_pruned, 0, 0, 0, 0)
        found = self._sums(groups, links, self._bitexts)
        stops, by_line, best = found.stops, found.by_line, found.best
        begins = stops - links.sizes
        ones, twos = by_line[begins].T
        values = self._values(links, found, ones, twos, runs, sources)
        n_links, n_sums = len(by_line), stops.size
        lines = kernel.PivotLines(
            frozen(ones), frozen(twos), frozen(numbers.label[ones]),
            frozen(np.empty((0, ones.size))), frozen(stops), frozen(by_line), frozen(best),
        )  # fmt: skip
        if self._is_ppdb:
            of_sides = kernel.type_features(self._sides, groups.orders, lines, self._is_x)
            values |= dict(zip(TYPES, of_sides, strict=True))
        lines = lines._replace(values=self._costs(values, ones.size))
        least = np.minimum(values[E_GIVEN_F_LHS], values[F_GIVEN_E_LHS])
        lines = _some_lines(lines, (least >= options.min_sum) & self._within_bounds(lines.values))
        ones, twos = lines.firsts, lines.seconds
        text = kernel.render_rules(
            self._sides, groups.orders, lines, self._labels, self._names, self._whole
        )
        n_gaps, n_symbols = groups.n_gaps[ones], self._sides.n_symbols
        longest = np.maximum(n_symbols[ones], n_symbols[twos])
        return ParaphraseLines(
            text.data, n_links, links_pruned, int(np.count_nonzero(ones == twos)),
            n_sums - ones.size, ones.size, int(np.count_nonzero((n_gaps > 0) & (longest > n_gaps))),
        )  # fmt: skip

    def _within_bounds(self, written: np.ndarray) -> np.ndarray:
        """Return which lines have all features within the bounds of the options, bool[n].

        written: float64[features, n], as in the lines.
        """
        fits = np.ones(written.shape[1], bool)
        for name, bound in self._options.at_least.items():
            fits &= written[self._row_of(name)] >= bound
        for name, bound in self._options.at_most.items():
            fits &= written[self._row_of(name)] <= bound
        return fits

    def _row_of(self, name: str) -> int:
        if name not in self._written:
            raise ParameterError(
                f"`at_least` or `at_most` {name!r}: choose of {', '.join(self._written)}"
            )
        return self._written.index(name)

    def _pairs(
        self, groups: kernel.Groups, sources: np.ndarray, runs: np.ndarray, least: float,
        identities: bool,
    ) -> tuple[kernel.RulePairs, int]:  # fmt: skip
        """Return the links that rules begin, and the number of those that are too weak.

        Arguments:
            sources, runs: int64, rules and the run of each. least: the weakest link.
            identities: whether rules are paired with themselves.
        """
        n_pairs = int(np.diff(groups.bounds[sources]).sum())
        links, pruned = kernel.pair_up(
            frozen(sources), frozen(runs), groups, self._rules.n_targets, self._n_orders, least,
            identities, n_pairs,
        )  # fmt: skip
        return kernel.RulePairs(*map(frozen, links)), pruned

    def _sums(
        self, groups: kernel.Groups, links: kernel.RulePairs, bitexts: np.ndarray
    ) -> kernel.Sums:
        """Return the sums of paraphrases over their links.

        Arguments:
            bitexts: uint64[rules], a bit for each bitext in which a rule occurs, or empty.
        """
        return kernel.Sums(*kernel.sum_links(links, groups, bitexts))

    def _values(
        self, links: kernel.RulePairs, found: kernel.Sums, ones: np.ndarray, twos: np.ndarray,
        runs: np.ndarray, sources: np.ndarray,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Return the features of paraphrases of two rules each; probabilities as such.

        Arguments:
            ones, twos: int64[lines], the rules of each line's first link.
            runs: int64, the run of each line.
            sources: int64, the rules that begin pairs.
        """
        columns = self._columns
        values = {_PIVOTS: links.sizes.astype(np.float64), RARITY: found.rare}
        values[_BITEXTS] = found.agreeing
        values[_LOG_COUNT] = np.log(values[_PIVOTS])
        values[_IDENTITY] = (ones == twos).astype(np.float64)
        for number, name in enumerate(chain(*self._summed)):
            values[name] = found.sums[:, number]
        for name in (E_GIVEN_F_LHS, F_GIVEN_E_LHS, E_GIVEN_F, F_GIVEN_E):
            in_bitexts = [x for one, x in values.items() if one.startswith(f"{name} in ")]
            if in_bitexts:
                values[name] = np.mean(in_bitexts, axis=0)
        if self._free is not None:
            values[E_GIVEN_F], values[F_GIVEN_E] = self._label_free(links.keys, runs, sources)
        for of_e, of_f in ((LHS_GIVEN_E, LHS_GIVEN_F), (E_GIVEN_LHS, F_GIVEN_LHS)):
            if of_e in self.names:
                values[of_e], values[of_f] = columns[of_e][twos], columns[of_e][ones]
        return {name: values[name] for name in self.names if name in values}

    def _label_free(
        self, keys: np.ndarray, runs: np.ndarray, sources: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return p(e2|e1) and p(e1|e2) over all foreign sides, for the keys of paraphrases.

        Arguments:
            keys: int64, of the paraphrases.
            runs: int64, the run of each rule.
            sources: int64, the rules that begin pairs.
        """
        assert self._free is not None
        groups, by_target = self._free
        per_run = self._rules.n_targets * self._n_orders
        first_of_run = np.flatnonzero(np.diff(runs, prepend=-1))
        sides, side_of_run = np.unique(
            self._rules.numbers.target[sources[first_of_run]], return_inverse=True
        )
        in_order = groups.targets[by_target]
        begins = np.searchsorted(in_order, sides)
        lengths = np.searchsorted(in_order, sides, side="right") - begins
        side = np.repeat(np.arange(sides.size), lengths)
        within = np.arange(side.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        links, _ = self._pairs(groups, by_target[begins[side] + within], side, 0.0, True)
        wanted = np.searchsorted(
            links.keys, side_of_run[keys // per_run] * per_run + keys % per_run
        )
        sums = self._sums(groups, links, _NO_BITS).sums[wanted]
        if sums.shape[1] > 2:  # of each bitext, after those of all
            return sums[:, 2::2].mean(axis=1), sums[:, 3::2].mean(axis=1)
        return sums[:, 0], sums[:, 1]

    def _costs(self, values: dict[str, np.ndarray], n: int) -> np.ndarray:
        """Return the features as they are written, float64[features, lines].

        Arguments:
            values: float64[n] by name of the feature, probabilities as such.
        """
        out = np.empty((len(self.names), n))
        for row, name in zip(out, self.names, strict=True):
            if name.startswith(("p(", "Lex(")):
                np.clip(values[name], _LEAST, 1.0, out=row)
                np.log(row, out=row)
                np.negative(row, out=row)
            else:
                row[:] = values[name]
        return frozen(out)


def _some_lines(lines: kernel.PivotLines, keep: np.ndarray) -> kernel.PivotLines:
    """Return some of the lines; keep: bool[n]."""
    if keep.all():
        return lines
    sizes = np.diff(lines.stops, prepend=0)
    of_kept = np.repeat(keep, sizes)
    before = np.append(0, np.cumsum(of_kept))
    return kernel.PivotLines(
        frozen(lines.firsts[keep]), frozen(lines.seconds[keep]), frozen(lines.labels[keep]),
        frozen(lines.values[:, keep]), frozen(before[lines.stops][keep]),
        frozen(lines.pairs[of_kept]), frozen(before[lines.best][keep]),
    )  # fmt: skip
