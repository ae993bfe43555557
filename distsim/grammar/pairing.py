"""Paraphrase rules of paired translation rules, as text with features."""

from collections.abc import Iterator
from itertools import chain
from math import factorial
from typing import NamedTuple

import numpy as np

from distsim.grammar.kernels import pivot as kernel
from distsim.grammar.numbering import first_rows, numbers_of, order_by
from distsim.grammar.paired_rules import PairedRules
from distsim.grammar.pivot_options import PivotOptions
from distsim.grammar.texts import texts_of
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
)
from distsim.kernels.compiled import frozen

F_GIVEN_LHS = "p(f|LHS)"
_LEAST = 1e-300
_IDENTITY, _LOG_COUNT, _PIVOTS = "Identity", "LogCount", "PivotCount"
_BITEXTS = "Bitexts"
_WHOLE = (_BITEXTS, _IDENTITY, _PIVOTS)
_NO_BITS = frozen(np.empty(0, np.uint64))


class Made(NamedTuple):
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
        self._sides = kernel.Sides(
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
        self._summed = [(E_GIVEN_F_LHS, F_GIVEN_E_LHS)]
        self._summed += [(E_GIVEN_F, F_GIVEN_E)] * (has_free and not over_all)
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
                self._side_by_side([(E_GIVEN_F, F_GIVEN_E)])[first], rows[first],
            )  # fmt: skip
            self._free = free, order_by(free.targets)
        self.names = self._written_names(has_free, has_lex)
        self._names = texts_of([f" {name}=".encode() for name in self.names])
        self._whole = frozen(np.array([name in _WHOLE for name in self.names]))
        self._labels = texts_of([translations.labels[n] for n in rules.label_order.tolist()])

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
        names = [E_GIVEN_F_LHS, F_GIVEN_E_LHS, _LOG_COUNT, _PIVOTS]
        names += [_IDENTITY] * (self._options.identities == "mark")
        names += [_BITEXTS] * self._has_bitexts
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

    def write(self, sources: np.ndarray) -> Made:
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
            return Made(b"", 0, links_pruned, 0, 0, 0, 0)
        found = self._sums(groups, links, self._bitexts)
        stops, by_line, best = found.stops, found.by_line, found.best
        begins = stops - links.sizes
        ones, twos = by_line[begins].T
        values = self._values(links, found, ones, twos, runs, sources)
        n_links, n_sums = len(by_line), stops.size
        least = np.minimum(values[E_GIVEN_F_LHS], values[F_GIVEN_E_LHS])
        fine = least >= options.min_sum
        if not fine.all():
            in_fine = np.repeat(fine, links.sizes)
            before = np.append(0, np.cumsum(in_fine))
            by_line = by_line[in_fine]
            stops, best = before[stops][fine], before[best][fine]
            ones, twos = ones[fine], twos[fine]
            values = {name: of_sums[fine] for name, of_sums in values.items()}
        lines = kernel.Lines(
            *map(frozen, (ones, twos, numbers.label[ones], self._costs(values, ones.size), stops,
                          by_line, best))
        )  # fmt: skip
        text = kernel.render_rules(
            self._sides, groups.orders, lines, self._labels, self._names, self._whole
        )
        n_gaps, n_symbols = groups.n_gaps[ones], self._sides.n_symbols
        longest = np.maximum(n_symbols[ones], n_symbols[twos])
        return Made(
            text.data, n_links, links_pruned, int(np.count_nonzero(ones == twos)),
            n_sums - ones.size, ones.size, int(np.count_nonzero((n_gaps > 0) & (longest > n_gaps))),
        )  # fmt: skip

    def _pairs(
        self, groups: kernel.Groups, sources: np.ndarray, runs: np.ndarray, least: float,
        identities: bool,
    ) -> tuple[kernel.Links, int]:  # fmt: skip
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
        return kernel.Links(*map(frozen, links)), pruned

    def _sums(self, groups: kernel.Groups, links: kernel.Links, bitexts: np.ndarray) -> kernel.Sums:
        """Return the sums of paraphrases over their links.

        Arguments:
            bitexts: uint64[rules], a bit for each bitext in which a rule occurs, or empty.
        """
        return kernel.Sums(*kernel.sum_links(links, groups, bitexts))

    def _values(
        self, links: kernel.Links, found: kernel.Sums, ones: np.ndarray, twos: np.ndarray,
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
        if self._free is not None:
            values[E_GIVEN_F], values[F_GIVEN_E] = self._label_free(links.keys, runs, sources)
        for of_e, of_f in ((LHS_GIVEN_E, LHS_GIVEN_F), (E_GIVEN_LHS, F_GIVEN_LHS)):
            if of_e in self.names:
                values[of_e], values[of_f] = columns[of_e][twos], columns[of_e][ones]
        return {name: values[name] for name in self.names}

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
        towards, back = self._sums(groups, links, _NO_BITS).sums[wanted].T
        return towards, back

    def _costs(self, values: dict[str, np.ndarray], n: int) -> np.ndarray:
        """Return the features as they are written, float64[features, lines].

        Arguments:
            values: float64[n] by name of the feature, probabilities as such.
            n: lines.
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
