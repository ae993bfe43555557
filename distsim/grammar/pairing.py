"""Paraphrase rules of paired translation rules, as text with features."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from math import factorial
from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import Columns as Kind
from distsim.base.arguments import (
    FeatureNaming,
    Identities,
    ParaphrasedSide,
    PivotEstimate,
    ProbabilityScale,
    check_types,
    in_range,
    one_of,
)
from distsim.base.errors import ParameterError, counted
from distsim.grammar.arrays import first_rows, numbers_of, order_by, order_of_texts, texts_of
from distsim.grammar.column_meaning import KINDS, Numbered, settle
from distsim.grammar.fields import InvalidLines, require_utf8
from distsim.grammar.kernels import pivot as kernel
from distsim.grammar.translations import (
    COLUMNS,
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
    SCALES,
    Translations,
    name_in_bitext,
)
from distsim.kernels.compiled import frozen


@dataclass(frozen=True, kw_only=True)
class PivotOptions:
    """Options of pivoting.

    Arguments:
        features: what the grammar calls the columns in distsim.grammar.translations.COLUMNS: a
            feature's name, or its position from 0. Columns that are not named here are found by
            these names, or where the format fixes them; p(e|f,LHS) and p(f|e,LHS) by those of
            p(e|f) and p(f|e) too. Without one of the two it is uniform.
        columns: `joint` or `conditional`: what p(e|f,LHS) and p(f|e,LHS) are in the grammar. Joint
            ones are renormalised within the label. Told by their sums where None.
        scale: how probabilities are written: `probability`, `negative-log` or `log`, the latter
            also with base 10 (`negative-log10` as in cdec, `log10`). The format's where None.
        identities: rules with equal sides are marked (`Identity=1`) or dropped.
        min_link: links, pairs of rules over one foreign side, with p(e2|f) p(f|e1) or the
            reverse below it are dropped before they are summed (thesis 6.4.1.1.1).
        min_translation: translation rules with p(e|f,LHS) or p(f|e,LHS) below it are left out
            before they are paired (thesis 4.2.4 has 1e-4).
        at_least, at_most: bounds of features of paraphrases, as they are written (thesis
            6.4.1.1.1): `at_most.p(e|f)=6.9` leaves out what is less probable than .001.
        min_sum: paraphrases with p(e2|e1,LHS) or p(e1|e2,LHS) below it are dropped.
        names: `ppdb` writes the lines of PPDB 1.0: all its features, Lex(e|f) and Lex(f|e) with
            each other's names, without PivotCount; `plain` leaves out what the sides tell.
        estimate: `pivot`, or `counts` for virtual counts (Madnani et al. 2007; thesis 3.2.3.3):
            p(e2|e1) = c(e1,e2) / sum over e of c(e1,e), c(e1,e2) = sum over f of c(e1,f) c(e2,f),
            equations 3.9 to 3.11. `mean`: p(e2|e1) of each bitext by itself, averaged over
            bitexts (Callison-Burch 2008, equation 7). Counts are in what `extract --numeric`
            writes.
        side: the side that is paraphrased, `english` or `other`; the latter pivots over English,
            with the labels of the English trees (thesis 6.5), and needs `extract --numeric` too.
        max_translations: keep this many most probable e of each label and f; 0: all.

    The rarity penalty of several links is the least (thesis 6.4.1.1.2). p(e2|e1) sums over all
    foreign sides, whatever their labels.

    >>> PivotOptions(min_link=0.001).identities is not None
    True
    """

    features: Mapping[str, str] = field(default_factory=dict)
    columns: Kind | None = None
    scale: ProbabilityScale | None = None
    identities: Identities = "drop"
    min_link: float = 0.0
    min_sum: float = 0.0
    min_translation: float = 0.0
    at_least: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, float] = field(default_factory=dict)
    max_translations: int = 0
    names: FeatureNaming = "plain"
    estimate: PivotEstimate = "pivot"
    side: ParaphrasedSide = "english"

    def __post_init__(self) -> None:
        check_types(self)
        for name, column in self.features.items():
            one_of(name, COLUMNS, "`features`")
            require_utf8(column)
        for argument, value, choices in (
            ("columns", self.columns, KINDS),
            ("scale", self.scale, SCALES),
            ("identities", self.identities, get_args(Identities)),
            ("names", self.names, get_args(FeatureNaming)),
            ("estimate", self.estimate, get_args(PivotEstimate)),
            ("side", self.side, get_args(ParaphrasedSide)),
        ):
            if value is not None:
                one_of(value, choices, f"`{argument}`")
        for name in (*self.at_least, *self.at_most):
            require_utf8(name)
        for argument in ("min_link", "min_sum", "min_translation"):
            in_range(getattr(self, argument), f"`{argument}`", 0, 1)
        in_range(self.max_translations, "`max_translations`", 0)


@dataclass
class PivotReport:
    """Report of pivoting: rules read, links, paraphrases pruned and written.

    Arguments:
        faulty: the lines that are no rules.
        read: translation rules.
        repeated: rules with label and sides of another one: the most probable of each stays.
        rules_pruned, links_pruned: dropped before the sums.
        links: pairs over a common foreign side.
        identities: rules with equal sides.
        pruned: paraphrases dropped after the sums.
        written: paraphrases written.
        gappy: written with both gaps and words.
        features: the names written.
        notes: what the columns were found to be.

    >>> from distsim import pivot_grammar
    >>> rules = "[NN] ||| rede ||| address |||\\n[NN] ||| rede ||| speech |||\\n"
    >>> _ = (folder / "de").write_text(rules)
    >>> report = pivot_grammar(folder / "de", folder / "en")
    >>> report.read, report.links, report.written
    (2, 2, 2)
    """

    faulty: InvalidLines
    read: int = 0
    repeated: int = 0
    rules_pruned: int = 0
    links_pruned: int = 0
    links: int = 0
    identities: int = 0
    pruned: int = 0
    written: int = 0
    gappy: int = 0
    features: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the report, a few lines of text."""
        report = [
            f"{counted(self.read, 'translation rule')} read, {self.repeated:,} repeated "
            "(the most probable "
            f"of each stays), {self.rules_pruned:,} pruned before pairing"
        ]
        self.faulty.add_to(report, are_left_out=True)
        return [
            *report,
            *self.notes,
            f"{counted(self.links, 'pair')} over a common foreign side, "
            f"{self.links_pruned:,} more pruned; "
            f"{counted(self.identities, 'identity', 'identities')}, "
            f"{counted(self.pruned, 'paraphrase')} pruned",
            f"{counted(self.written, 'paraphrase rule')} written, {self.gappy:,} with both "
            "gaps and words, "
            f"features {' '.join(self.features)}",
        ]


@dataclass(frozen=True)
class PairedRules:
    """The distinct rules that are paired, sorted by label and foreign side.

    Attributes:
        rows: int64[n], which translation each is.
        numbers: of label, sides; target sides and labels in the order of their bytes.
        columns: float64[n] by the names of their probabilities.
        label_order: int64, labels in the order of their bytes.
        n_targets: distinct target sides.
    """

    rows: np.ndarray
    numbers: Numbered
    columns: dict[str, np.ndarray]
    label_order: np.ndarray
    n_targets: int


def paired_rules(
    translations: Translations, options: PivotOptions, report: PivotReport
) -> PairedRules:
    """Return the distinct rules with their probabilities, pruned.

    Arguments:
        report: counts of rules are added to it.
    """
    label_order = np.array(
        sorted(range(len(translations.labels)), key=translations.labels.__getitem__), np.int64
    )
    rank = np.argsort(label_order)
    label = rank[translations.label]
    sources = numbers_of(translations.sources)
    targets, n_targets = _in_byte_order(translations)
    order = order_by(label, sources, targets, translations.orders)
    keys = np.stack([label, sources, targets, translations.orders.astype(np.int64)])[:, order]
    is_new = np.ones(order.size, bool)
    is_new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    columns = {name: values[order] for name, values in translations.columns.items()}
    ones = np.ones(order.size)
    forward = columns.get(E_GIVEN_F_LHS, columns.get(E_GIVEN_F, ones))
    backward = columns.get(F_GIVEN_E_LHS, columns.get(F_GIVEN_E, ones))
    kept = kernel.best_of_repeated(is_new, frozen(forward), frozen(backward))
    report.repeated = order.size - int(np.count_nonzero(kept))
    if report.repeated:
        order, keys = order[kept], keys[:, kept]
        columns = {name: values[kept] for name, values in columns.items()}
    label, source, target, gap_order = keys
    numbers = Numbered(
        label, source, target, numbers_of(target, gap_order),
        numbers_of(source, target, gap_order), max(1, label_order.size),
    )  # fmt: skip
    translation = settle(
        numbers, columns, translations.column_names, options.columns or translations.kind
    )
    report.notes += translation.notes
    columns[E_GIVEN_F_LHS], columns[F_GIVEN_E_LHS] = translation.forward, translation.backward
    for name, values in (
        (E_GIVEN_F, translation.free_forward), (F_GIVEN_E, translation.free_backward),
        (LHS_GIVEN_E, translation.lhs_given_e),
    ):  # fmt: skip
        columns.pop(name, None)
        if values is not None:
            columns[name] = values
    keep = np.minimum(translation.forward, translation.backward) >= options.min_translation
    if options.max_translations:
        keep[keep] = _most_probable(numbers, translation.forward, keep, options.max_translations)
    report.rules_pruned = order.size - int(np.count_nonzero(keep))
    numbers = Numbered(
        label[keep], source[keep], target[keep], numbers.written[keep], numbers.pair[keep],
        numbers.n_labels,
    )  # fmt: skip
    columns = {name: values[keep] for name, values in columns.items()}
    return PairedRules(order[keep], numbers, columns, label_order, n_targets)


def _in_byte_order(translations: Translations) -> tuple[np.ndarray, int]:
    """Return the rank of each rule's target side by bytes, int64[n], and the number of sides."""
    number = numbers_of(translations.targets)
    first = first_rows(number)
    order = order_of_texts(translations.text, translations.starts[first], translations.stops[first])
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return rank[number], order.size


def _most_probable(
    rules: Numbered, forward: np.ndarray, keep: np.ndarray, max_translations: int
) -> np.ndarray:
    """Return which rules in keep are of the `max_translations` most probable of their group, bool.

    Arguments:
        forward: float64[n], the probability of each rule.
        keep: bool[n].
    """
    group = numbers_of(rules.label[keep], rules.source[keep])
    among = np.ones(group.size, bool)
    many = np.flatnonzero(np.bincount(group)[group] > max_translations)
    kept = np.flatnonzero(keep)[many]
    order = np.lexsort((rules.pair[kept], rules.target[kept], -forward[kept], group[many]))
    of_group = group[many][order]
    among[many[order]] = (
        np.arange(order.size) - np.searchsorted(of_group, of_group) < max_translations
    )
    return among


F_GIVEN_LHS = "p(f|LHS)"
_SMALLEST_PROBABILITY = 1e-300
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
        choices = []
        if E_GIVEN_F in self.names and self._rules.numbers.n_labels > 1:
            choices.append(f"{E_GIVEN_F}, {F_GIVEN_E}: summed over all foreign sides")
        if RARITY in self.names:
            choices.append(f"{RARITY}: the least of the links")
        return choices

    def chunks(self, max_links: int) -> Iterator[np.ndarray]:
        """Yield rules by source side, about `max_links` pairs, one side's together.

        Arguments:
            max_links: number of pairs of a chunk, approximately.
        """
        by_source, numbers = self._by_source, self._rules.numbers
        label, target = numbers.label[by_source], numbers.target[by_source]
        firsts = np.flatnonzero((np.diff(label) != 0) | (np.diff(target) != 0)) + 1
        ends = np.append(firsts, by_source.size)
        total = np.concatenate([[0], np.cumsum(self._pairs_of)])
        begin = 0
        while begin < by_source.size:
            enough = np.searchsorted(total[ends], total[begin] + max_links)
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
        sums = self._sums(groups, links, self._bitexts)
        stops, by_line, best = sums.stops, sums.by_line, sums.best
        begins = stops - links.sizes
        first_rules, second_rules = by_line[begins].T
        values = self._values(links, sums, first_rules, second_rules, runs, sources)
        n_links, n_sums = len(by_line), stops.size
        lines = kernel.PivotLines(
            frozen(first_rules), frozen(second_rules), frozen(numbers.label[first_rules]),
            frozen(np.empty((0, first_rules.size))), frozen(stops), frozen(by_line), frozen(best),
        )  # fmt: skip
        if self._is_ppdb:
            of_sides = kernel.type_features(self._sides, groups.orders, lines, self._is_x)
            values |= dict(zip(TYPES, of_sides, strict=True))
        lines = lines._replace(values=self._costs(values, first_rules.size))
        least = np.minimum(values[E_GIVEN_F_LHS], values[F_GIVEN_E_LHS])
        lines = _some_lines(lines, (least >= options.min_sum) & self._within_bounds(lines.values))
        first_rules, second_rules = lines.firsts, lines.seconds
        text = kernel.render_rules(
            self._sides, groups.orders, lines, self._labels, self._names, self._whole
        )
        n_gaps, n_symbols = groups.n_gaps[first_rules], self._sides.n_symbols
        longest = np.maximum(n_symbols[first_rules], n_symbols[second_rules])
        return ParaphraseLines(
            text.data, n_links, links_pruned, int(np.count_nonzero(first_rules == second_rules)),
            n_sums - first_rules.size, first_rules.size,
            int(np.count_nonzero((n_gaps > 0) & (longest > n_gaps))),
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
        self, links: kernel.RulePairs, sums: kernel.Sums, first_rules: np.ndarray,
        second_rules: np.ndarray, runs: np.ndarray, sources: np.ndarray,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Return the features of paraphrases of two rules each; probabilities as such.

        Arguments:
            first_rules, second_rules: int64[lines], the rules of each line's first link.
            runs: int64, the run of each line.
            sources: int64, the rules that begin pairs.
        """
        columns = self._columns
        values = {_PIVOTS: links.sizes.astype(np.float64), RARITY: sums.rare}
        values[_BITEXTS] = sums.agreeing
        values[_LOG_COUNT] = np.log(values[_PIVOTS])
        values[_IDENTITY] = (first_rules == second_rules).astype(np.float64)
        for number, name in enumerate(chain(*self._summed)):
            values[name] = sums.sums[:, number]
        for name in (E_GIVEN_F_LHS, F_GIVEN_E_LHS, E_GIVEN_F, F_GIVEN_E):
            in_bitexts = [x for column, x in values.items() if column.startswith(f"{name} in ")]
            if in_bitexts:
                values[name] = np.mean(in_bitexts, axis=0)
        if self._free is not None:
            values[E_GIVEN_F], values[F_GIVEN_E] = self._label_free(links.keys, runs, sources)
        for of_e, of_f in ((LHS_GIVEN_E, LHS_GIVEN_F), (E_GIVEN_LHS, F_GIVEN_LHS)):
            if of_e in self.names:
                values[of_e], values[of_f] = columns[of_e][second_rules], columns[of_e][first_rules]
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
                np.clip(values[name], _SMALLEST_PROBABILITY, 1.0, out=row)
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
