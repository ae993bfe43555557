"""Paired rules -> paraphrase rules as text, for some source sides at a time, with features."""

from collections.abc import Iterator
from math import factorial
from typing import NamedTuple

import numpy as np

from distsim.grammar.paired_rules import PairedRules, numbers_of, order_by
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
)
from distsim.kernels import pivot as kernel
from distsim.kernels.compiled import frozen

F_GIVEN_LHS = "p(f|LHS)"
_LEAST = 1e-300
_IDENTITY, _LOG_COUNT, _PIVOTS = "Identity", "LogCount", "PivotCount"
_BITEXTS = "Bitexts"
_WHOLE = (_BITEXTS, _IDENTITY, _PIVOTS)


class Made(NamedTuple):
    """The lines of some source sides, with what was counted on the way."""

    text: bytes
    links: int
    links_pruned: int
    identities: int
    pruned: int
    written: int
    gappy: int


class _Groups(NamedTuple):
    """Rules sorted by group, and what pairing needs of them."""

    starts: np.ndarray
    stops: np.ndarray
    targets: np.ndarray
    orders: np.ndarray
    n_gaps: np.ndarray
    forward: np.ndarray
    backward: np.ndarray


class Pairing:
    """Pairs the rules of some source sides at a time and writes the paraphrases; thread-safe."""

    def __init__(
        self, translations: Translations, rules: PairedRules, options: PivotOptions
    ) -> None:
        self._options = options
        self._rules = rules
        self._has_gaps = translations.has_gaps
        self._text = translations.text
        self._links = translations.links
        rows = rules.rows
        self._starts, self._stops, self._link_starts, self._link_stops, self._n_symbols = (
            frozen(array[rows])
            for array in (
                translations.starts, translations.stops, translations.link_starts,
                translations.link_stops, translations.n_symbols,
            )
        )  # fmt: skip
        self._read_order = frozen(rows)
        self._columns = {name: frozen(values) for name, values in rules.columns.items()}
        self._bitexts = None if translations.bitexts is None else frozen(translations.bitexts[rows])
        numbers = rules.numbers
        orders, n_gaps = translations.orders[rows], translations.n_gaps[rows]
        self._n_orders = factorial(int(n_gaps.max(initial=0)))
        group = numbers_of(numbers.label, numbers.source)
        self._groups = self._grouped(
            group, numbers.target, orders, n_gaps, self._columns[E_GIVEN_F_LHS],
            self._columns[F_GIVEN_E_LHS],
        )  # fmt: skip
        self._by_source = order_by(numbers.label, numbers.target, group)
        self._pairs_of = (self._groups.stops - self._groups.starts)[self._by_source]
        self.n_pairs = int(self._pairs_of.sum())
        if options.identities == "drop":
            self.n_pairs -= rows.size
        has_free = E_GIVEN_F in self._columns and F_GIVEN_E in self._columns
        self._free: tuple[_Groups, np.ndarray] | None = None
        if has_free and options.label_free == "all" and numbers.n_labels > 1:
            first = np.unique(numbers.pair, return_index=True)[1]  # sorted by foreign side
            free = self._grouped(
                numbers.source[first], numbers.target[first], orders[first], n_gaps[first],
                self._columns[E_GIVEN_F][first], self._columns[F_GIVEN_E][first],
            )  # fmt: skip
            self._free = free, np.argsort(free.targets, kind="stable")
        self.names = self._written_names(has_free)
        texts = [f" {name}=".encode() for name in self.names]
        self._name_text = frozen(np.frombuffer(b"".join(texts), np.uint8))
        self._name_offsets = frozen(np.cumsum([0, *map(len, texts)]))
        self._whole = frozen(np.array([name in _WHOLE for name in self.names]))
        labels = [translations.labels[number] for number in rules.label_order.tolist()]
        self._label_text = frozen(np.frombuffer(b"".join(labels), np.uint8))
        self._label_offsets = frozen(np.cumsum([0, *map(len, labels)]))

    @staticmethod
    def _grouped(group: np.ndarray, *arrays: np.ndarray) -> _Groups:
        starts = np.searchsorted(group, group)
        stops = np.searchsorted(group, group, side="right")
        return _Groups(*(frozen(array) for array in (starts, stops, *arrays)))

    def _written_names(self, has_free: bool) -> list[str]:
        """Return the names of the features, in PPDB's order, which is that of ASCII."""
        has = self._columns.__contains__
        names = [E_GIVEN_F_LHS, F_GIVEN_E_LHS, _LOG_COUNT, _PIVOTS]
        names += [_IDENTITY] * (self._options.identities == "mark")
        names += [_BITEXTS] * (self._bitexts is not None)
        names += [E_GIVEN_F, F_GIVEN_E] * has_free + [RARITY] * has(RARITY)
        names += [LHS_GIVEN_E, LHS_GIVEN_F] * has(LHS_GIVEN_E)
        names += [E_GIVEN_LHS, F_GIVEN_LHS] * has(E_GIVEN_LHS)
        if has(LEX_E_GIVEN_F) and has(LEX_F_GIVEN_E):
            names += [LEX_E_GIVEN_F, LEX_F_GIVEN_E]
        return sorted(names)

    def choices(self) -> list[str]:
        """Return which of two definitions was taken, a line for each feature that has two."""
        told = []
        if E_GIVEN_F in self.names and self._rules.numbers.n_labels > 1:
            over = (
                "all foreign sides" if self._free else "the foreign sides shared under this label"
            )
            told.append(f"{E_GIVEN_F}, {F_GIVEN_E}: summed over {over}")
        if RARITY in self.names:
            added = self._options.rarity_rule == "added"
            told.append(f"{RARITY}: {'of the counts added' if added else 'the least'} of the links")
        return told

    def chunks(self, most: int) -> Iterator[np.ndarray]:
        """Yield rules by source side, about `most` pairs, one side's together."""
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
        """Return the paraphrases whose source sides are those of some rules."""
        options, groups, numbers = self._options, self._groups, self._rules.numbers
        label, target = numbers.label[sources], numbers.target[sources]
        runs = np.zeros(sources.size, np.int64)
        runs[1:] = np.cumsum((np.diff(label) != 0) | (np.diff(target) != 0))
        keys, firsts, seconds, links_pruned = self._pairs(
            groups, sources, runs, options.min_link, options.identities == "mark"
        )
        stops, keys = _runs(keys)
        if not stops.size:
            return Made(b"", 0, links_pruned, 0, 0, 0, 0)
        values = self._values(stops, firsts, seconds, keys, runs, sources)
        begins = np.concatenate([[0], stops[:-1]])
        ones, twos = firsts[begins], seconds[begins]
        least = np.minimum(values[E_GIVEN_F_LHS], values[F_GIVEN_E_LHS])
        fine = least >= options.min_sum
        best = kernel.best_pairs(
            frozen(stops), frozen(firsts), frozen(seconds), groups.forward, groups.backward,
            self._read_order,
        )  # fmt: skip
        n_links, n_sums = firsts.size, fine.size
        if not fine.all():
            in_fine = np.repeat(fine, stops - begins)
            before = np.concatenate([[0], np.cumsum(in_fine)])
            firsts, seconds = firsts[in_fine], seconds[in_fine]
            stops, best = before[stops][fine], before[best][fine]
        identity = (ones == twos)[fine]
        ones, twos = ones[fine], twos[fine]
        text = kernel.render_rules(
            self._text, self._starts, self._stops, frozen(ones), frozen(twos),
            kernel.relative_orders(frozen(ones), frozen(twos), groups.orders, groups.n_gaps),
            self._label_text, self._label_offsets, frozen(numbers.label[ones]),
            self._name_text, self._name_offsets, self._costs(values, fine), self._whole,
            frozen(stops), frozen(firsts), frozen(seconds), frozen(best), self._link_starts,
            self._link_stops, self._links, self._has_gaps,
        )  # fmt: skip
        longest = np.maximum(self._n_symbols[ones], self._n_symbols[twos])
        gappy = (groups.n_gaps[ones] > 0) & (longest > groups.n_gaps[ones])
        return Made(
            text.tobytes(), n_links, links_pruned, int(np.count_nonzero(identity)),
            n_sums - ones.size, ones.size, int(np.count_nonzero(gappy)),
        )  # fmt: skip

    def _pairs(
        self, groups: _Groups, sources: np.ndarray, runs: np.ndarray, least: float,
        identities: bool,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:  # fmt: skip
        """Return what kernels.pivot.pair_up does, in the order of the keys."""
        n_pairs = int((groups.stops[sources] - groups.starts[sources]).sum())
        keys, firsts, seconds, pruned = kernel.pair_up(
            frozen(sources), frozen(runs), groups.starts, groups.stops, groups.targets,
            self._rules.n_targets, groups.orders, groups.n_gaps, self._n_orders, groups.forward,
            groups.backward, least, identities, n_pairs,
        )  # fmt: skip
        order = kernel.order_of_runs(frozen(keys), self._rules.n_targets * self._n_orders)
        return keys[order], firsts[order], seconds[order], pruned

    def _values(
        self, stops: np.ndarray, firsts: np.ndarray, seconds: np.ndarray, keys: np.ndarray,
        runs: np.ndarray, sources: np.ndarray,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Return the features of paraphrases, one for each run of pairs; probabilities as such."""
        columns = self._columns
        pairs = frozen(stops), frozen(firsts), frozen(seconds)

        def summed(forward: str, backward: str) -> tuple[np.ndarray, np.ndarray]:
            sums: tuple[np.ndarray, np.ndarray] = kernel.sum_products(
                *pairs, columns[backward], columns[forward]
            )
            return sums

        values = {}
        values[E_GIVEN_F_LHS], values[F_GIVEN_E_LHS] = summed(E_GIVEN_F_LHS, F_GIVEN_E_LHS)
        n_pivots = np.diff(stops, prepend=0)
        values[_PIVOTS] = n_pivots.astype(np.float64)
        values[_LOG_COUNT] = np.log(values[_PIVOTS])
        begins = stops - n_pivots
        ones, twos = firsts[begins], seconds[begins]
        values[_IDENTITY] = (ones == twos).astype(np.float64)
        if E_GIVEN_F in self.names:
            values[E_GIVEN_F], values[F_GIVEN_E] = (
                summed(E_GIVEN_F, F_GIVEN_E)
                if self._free is None
                else self._label_free(keys, runs, sources)
            )
        if LEX_E_GIVEN_F in self.names:
            values[LEX_E_GIVEN_F], values[LEX_F_GIVEN_E] = summed(LEX_E_GIVEN_F, LEX_F_GIVEN_E)
        if RARITY in self.names:
            values[RARITY] = kernel.rarities(
                *pairs, columns[RARITY], self._options.rarity_rule == "added"
            )
        if self._bitexts is not None:
            values[_BITEXTS] = kernel.agreeing_bitexts(*pairs, self._bitexts)
        for of_e, of_f in ((LHS_GIVEN_E, LHS_GIVEN_F), (E_GIVEN_LHS, F_GIVEN_LHS)):
            if of_e in self.names:
                values[of_e], values[of_f] = columns[of_e][twos], columns[of_e][ones]
        return values

    def _label_free(
        self, keys: np.ndarray, runs: np.ndarray, sources: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return p(e2|e1) and p(e1|e2) over all foreign sides, for the keys of paraphrases."""
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
        found, firsts, seconds, _ = self._pairs(
            groups, by_target[begins[side] + within], side, 0.0, True
        )
        stops, found = _runs(found)
        pairs = frozen(stops), frozen(firsts), frozen(seconds)
        wanted = np.searchsorted(found, side_of_run[keys // per_run] * per_run + keys % per_run)
        towards, back = kernel.sum_products(*pairs, groups.backward, groups.forward)
        return towards[wanted], back[wanted]

    def _costs(self, values: dict[str, np.ndarray], fine: np.ndarray) -> np.ndarray:
        """Return the features as they are written, float64[features, lines]."""
        out = np.empty((len(self.names), int(np.count_nonzero(fine))))
        for row, name in zip(out, self.names, strict=True):
            np.compress(fine, values[name], out=row)
            if name.startswith(("p(", "Lex(")):
                np.clip(row, _LEAST, 1.0, out=row)
                np.log(row, out=row)
                np.negative(row, out=row)
        return frozen(out)


def _runs(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (where each run of equal keys stops, its key), for sorted keys."""
    stops = np.append(np.flatnonzero(np.diff(keys)) + 1, keys.size)[: keys.size]
    return stops, keys[stops - 1]
