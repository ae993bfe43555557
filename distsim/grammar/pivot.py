"""Translation rules -> paraphrase rules: two sides with one label and one foreign side pair up.

Thesis 3.2 and 6.4.1.1; Ganitkevitch et al. 2011, section 3; Bannard and Callison-Burch 2005. The
rules are arrays; pairs are made, summed and written for some source sides at a time, in order.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import factorial
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from distsim.errors import ParameterError
from distsim.grammar.faulty_lines import FaultyLines, OnError
from distsim.grammar.margins import KINDS, Kind, Numbered, settle
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
    Scale,
    Translations,
    read_translations,
)
from distsim.kernels import pivot as kernel
from distsim.kernels.compiled import frozen
from distsim.parallel import Progress, available_cores, no_progress, ordered_map
from distsim.storage.files import open_output

Identities = Literal["mark", "drop"]
RarityRule = Literal["minimum", "added"]
LabelFree = Literal["all", "same-label"]

MEMORY_BYTES = 128 << 20
_MOST_PAIRS, _PAIR_BYTES = 1 << 16, 2048  # at once, and what each takes
F_GIVEN_LHS = "p(f|LHS)"
_LEAST = 1e-300
_MOST_KEYS = 1 << 62
_IDENTITY, _LOG_COUNT, _PIVOTS = "Identity", "LogCount", "PivotCount"
_BITEXTS = "Bitexts"
_WHOLE = (_BITEXTS, _IDENTITY, _PIVOTS)


@dataclass(frozen=True, kw_only=True)
class PivotOptions:
    """How rules are pivoted.

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
        min_rule: translation rules with p(e|f,LHS) or p(f|e,LHS) below it are dropped.
        min_link: links, pairs of rules over one foreign side, with p(e2|f) p(f|e1) or the
            reverse below it are dropped before they are summed (thesis 6.4.1.1.1).
        min_sum: paraphrases with p(e2|e1,LHS) or p(e1|e2,LHS) below it are dropped.
        max_translations: keep the so many most probable e of each label and f; 0: all.
        rarity_rule: the penalty of several links is the `minimum` (thesis 6.4.1.1.2), or that of
            their counts `added` (Thrax: the product, with 1/e for each link but the first).
        label_free: p(e2|e1) sums over `all` foreign sides, or over those of the rule's links,
            of the `same-label` (Thrax).

    >>> PivotOptions(min_link=0.001).identities is not None
    True
    """

    features: Mapping[str, str] = field(default_factory=dict)
    columns: Kind | None = None
    scale: Scale | None = None
    identities: Identities = "drop"
    min_rule: float = 0.0
    min_link: float = 0.0
    min_sum: float = 0.0
    max_translations: int = 0
    rarity_rule: RarityRule = "minimum"
    label_free: LabelFree = "all"

    def __post_init__(self) -> None:
        for name in self.features:
            if name not in COLUMNS:
                raise ParameterError(f"`features` {name!r}: choose among {', '.join(COLUMNS)}")
        for argument, value, choices in (
            ("columns", self.columns, (None, *KINDS)),
            ("scale", self.scale, (None, *SCALES)),
            ("identities", self.identities, get_args(Identities)),
            ("rarity_rule", self.rarity_rule, get_args(RarityRule)),
            ("label_free", self.label_free, get_args(LabelFree)),
        ):
            if value not in choices:
                known = ", ".join(str(choice) for choice in choices if choice)
                raise ParameterError(f"`{argument}` {value!r}: choose one of {known}")
        for argument in ("min_rule", "min_link", "min_sum"):
            if not 0.0 <= getattr(self, argument) <= 1.0:
                raise ParameterError(f"`{argument}` {getattr(self, argument)}: choose 0 to 1")
        if self.max_translations < 0:
            raise ParameterError(f"`max_translations` {self.max_translations}: choose 0 or more")


@dataclass
class PivotReport:
    """What was read, pruned and written.

    Arguments:
        read: translation rules. repeated: of them with label and sides of another one: the most
            probable of each stays. rules_pruned, links_pruned: dropped before the sums.
        links: pairs over a common foreign side. identities: rules with equal sides.
        pruned: paraphrases dropped after the sums. gappy: written with both gaps and words.
        features: the names written.
        notes: what the columns were found to be.

    >>> rules = "[NN] ||| rede ||| address |||\\n[NN] ||| rede ||| speech |||\\n"
    >>> _ = (folder / "de").write_text(rules)
    >>> report = pivot_grammar(folder / "de", folder / "en")
    >>> report.read, report.links, report.written
    (2, 2, 2)
    """

    faulty: FaultyLines
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
        told = [
            f"{self.read:,} translation rules read, {self.repeated:,} repeated (the most probable "
            f"of each stays), {self.rules_pruned:,} pruned before pairing"
        ]
        if self.faulty.kept or self.faulty.dropped:
            told[0] += f", {self.faulty.kept + self.faulty.dropped:,} faulty lines passed over"
            told += [f"  {message}" for message in self.faulty.shown]
        return [
            *told,
            *self.notes,
            f"{self.links:,} pairs over a common foreign side, {self.links_pruned:,} more pruned; "
            f"{self.identities:,} identities, {self.pruned:,} paraphrases pruned",
            f"{self.written:,} paraphrase rules written, {self.gappy:,} with both gaps and words, "
            f"features {' '.join(self.features)}",
        ]


def pivot_grammar(
    grammar: str | Path,
    output: str | Path,
    options: PivotOptions | None = None,
    *,
    on_error: OnError = "stop",
    grammar_format: str | None = None,
    jobs: int | None = None,
    memory_bytes: int = MEMORY_BYTES,
    progress: Progress = no_progress,
) -> PivotReport:
    """Write the paraphrase grammar of a translation grammar, by label, source and target side.

    With f the foreign side, e1 the source and e2 the target of a paraphrase rule (called f and e
    in the names of its features, as PPDB does), all as -ln p (thesis 3.2.3):

    - `p(e|f,LHS)` = sum over f of p(e2|f,LHS) p(f|e1,LHS), equation 3.8; `p(f|e,LHS)` the reverse;
    - `p(e|f)`, `p(f|e)`: the same without labels, equation 3.7;
    - `p(LHS|e)`, `p(LHS|f)`, `p(e|LHS)`, `p(f|LHS)`: as the translation rules of e2 and e1 have
      them; p(LHS|e) also from joint columns, by their sums;
    - `Lex(e|f)`, `Lex(f|e)`: composed over f and summed like probabilities;
    - `RarityPenalty`; `LogCount`, ln of the number of links (pairs over one f); `PivotCount`,
      that number; `Identity` where identities are marked.

    Those are written for which the grammar has the columns. Gaps are numbered along the source
    side; the alignment field links gaps by index, and words where all links agree, or as the most
    probable link has them where they agree on none. Faulty lines are left out under `keep` and
    `drop` alike, and counted. About 200 bytes a translation rule are held.

    Arguments:
        grammar: rules, or a Moses phrase table, whose target sides are paraphrased; `-` for
            standard input.
        output: gz where the name ends so; `-` for standard output. Written whole or not at all.
        grammar_format: a name in distsim.grammar.formats.FORMATS; told by the first lines
            where None.
        jobs: threads, all cores where None; the same bytes for any number.
        memory_bytes: about what pairs may take beside the rules.

    Raises:
        InputError: the grammar cannot be read, or a line is faulty and on_error is `stop`.
        ParameterError: the sums of the columns do not tell what these are.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rules, made = Path(folder, "rules"), Path(folder, "made")
    ...     _ = rules.write_text("[NN] ||| rede ||| address |||\\n[NN] ||| rede ||| speech |||\\n")
    ...     report = pivot_grammar(rules, made)
    ...     made.read_text().splitlines()[0][:60], report.written
    ('[NN] ||| address ||| speech ||| LogCount=0.00000 PivotCount=', 2)
    """
    options = options or PivotOptions()
    report = PivotReport(FaultyLines(grammar, on_error))
    with read_translations(
        grammar, options.features, options.scale, grammar_format, report.faulty, progress
    ) as translations:
        n_rules = translations.label.size
        report.faulty.require_lines(n_rules + report.faulty.kept + report.faulty.dropped)
        return write_paraphrases(
            translations, output, options, report, jobs=jobs, memory_bytes=memory_bytes,
            progress=progress,
        )  # fmt: skip


def write_paraphrases(
    translations: Translations,
    output: str | Path,
    options: PivotOptions,
    report: PivotReport,
    *,
    jobs: int | None = None,
    memory_bytes: int = MEMORY_BYTES,
    progress: Progress = no_progress,
) -> PivotReport:
    """Write the paraphrases of rules that are at hand; see pivot_grammar."""
    report.read = translations.label.size
    rules = _paired_rules(translations, options, report)
    pivot = _Pivot(translations, rules, options)
    most = max(1, min(_MOST_PAIRS, memory_bytes // _PAIR_BYTES // (jobs or available_cores())))
    report.features = pivot.names
    report.notes += pivot.choices()
    total = pivot.n_pairs
    with open_output(output) as out:
        for made in ordered_map(pivot.write, pivot.chunks(most), jobs):
            out.write(made.text)
            report.links += made.links
            report.links_pruned += made.links_pruned
            report.identities += made.identities
            report.pruned += made.pruned
            report.written += made.written
            report.gappy += made.gappy
            progress("pivoting", report.links, total)
    if options.identities == "drop":
        report.identities = rules.rows.size
    return report


@dataclass(frozen=True)
class _Rules:
    """The distinct rules that are paired, sorted by label and foreign side.

    rows: int64[n], which translation each is. numbers: of label, sides; target sides and labels
    in the order of their bytes. columns: float64[n] by the names of their probabilities.
    """

    rows: np.ndarray
    numbers: Numbered
    columns: dict[str, np.ndarray]
    label_order: np.ndarray
    n_targets: int


def _paired_rules(translations: Translations, options: PivotOptions, report: PivotReport) -> _Rules:
    """Return distinct rules with their probabilities, pruned."""
    label_order = np.array(
        sorted(range(len(translations.labels)), key=translations.labels.__getitem__), np.int64
    )
    rank = np.argsort(label_order)
    label = rank[translations.label]
    sources = _numbers_of(translations.sources)
    targets, n_targets = _in_byte_order(translations)
    order = _order_by(label, sources, targets, translations.orders)
    keys = np.stack([label, sources, targets, translations.orders.astype(np.int64)])[:, order]
    is_new = np.ones(order.size, bool)
    is_new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    columns = {name: values[order] for name, values in translations.columns.items()}
    ones = np.ones(order.size)
    forward = columns.get(E_GIVEN_F_LHS, columns.get(E_GIVEN_F, ones))
    backward = columns.get(F_GIVEN_E_LHS, columns.get(F_GIVEN_E, ones))
    kept = kernel.best_of_repeated(is_new, frozen(forward), frozen(backward))
    report.repeated = order.size - int(np.count_nonzero(kept))
    order = order[kept]
    label, source, target, gap_order = keys[:, kept]
    columns = {name: values[kept] for name, values in columns.items()}
    numbers = Numbered(
        label, source, target, _numbers_of(target, gap_order),
        _numbers_of(source, target, gap_order), max(1, label_order.size),
    )  # fmt: skip
    found = settle(
        numbers, columns, translations.column_names, options.columns or translations.kind
    )
    report.notes += found.notes
    columns[E_GIVEN_F_LHS], columns[F_GIVEN_E_LHS] = found.forward, found.backward
    for name, values in (
        (E_GIVEN_F, found.free_forward), (F_GIVEN_E, found.free_backward),
        (LHS_GIVEN_E, found.lhs_given_e),
    ):  # fmt: skip
        columns.pop(name, None)
        if values is not None:
            columns[name] = values
    keep = (found.forward >= options.min_rule) & (found.backward >= options.min_rule)
    if options.max_translations:
        keep[keep] = _most_probable(numbers, found.forward, keep, options.max_translations)
    report.rules_pruned = order.size - int(np.count_nonzero(keep))
    numbers = Numbered(
        label[keep], source[keep], target[keep], numbers.written[keep], numbers.pair[keep],
        numbers.n_labels,
    )  # fmt: skip
    columns = {name: values[keep] for name, values in columns.items()}
    return _Rules(order[keep], numbers, columns, label_order, n_targets)


def _in_byte_order(translations: Translations) -> tuple[np.ndarray, int]:
    """Return (the number of each rule's target side in the order of bytes, how many there are)."""
    number = _numbers_of(translations.targets)
    first = np.empty(int(number.max(initial=-1)) + 1, np.int64)
    first[number[::-1]] = np.arange(number.size)[::-1]
    starts, stops = translations.starts[first], translations.stops[first]
    order = np.argsort(stops - starts, kind="stable")  # of texts alike so far the shorter first
    for at in range(8 * (int((stops - starts).max(initial=0)) // 8), -1, -8):
        longer = (stops - starts)[order] > at
        part = order[longer]
        data = kernel.eight_bytes(translations.text, frozen(starts[part]), frozen(stops[part]), at)
        order = np.concatenate([order[~longer], part[np.argsort(data, kind="stable")]])
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return rank[number], order.size


def _numbers_of(*keys: np.ndarray) -> np.ndarray:
    """Return a number for each distinct combination of keys, in their order."""
    joined = _one_key(keys)
    if joined is None:
        order = np.lexsort(keys[::-1])
        new = np.zeros(order.size, np.int64)
        for key in keys:
            new[1:] |= np.diff(key[order]) != 0
        numbers = np.empty(order.size, np.int64)
        numbers[order] = np.cumsum(new)
        return numbers
    if np.all(joined[1:] >= joined[:-1]):
        return np.cumsum(np.append(np.zeros(1, bool), joined[1:] != joined[:-1])[: joined.size])
    return np.unique(joined, return_inverse=True)[1]


def _order_by(*keys: np.ndarray) -> np.ndarray:
    """Return the order of rows by keys, the first one first; equal ones keep theirs."""
    joined = _one_key(keys)
    return np.lexsort(keys[::-1]) if joined is None else np.argsort(joined, kind="stable")


def _one_key(keys: tuple[np.ndarray, ...]) -> np.ndarray | None:
    """Return keys, none negative, as digits of one number, the first the highest; None: too large.

    One sort of whole numbers takes a fraction of what a sort by several keys does, and next to
    nothing where they stand in order.
    """
    if len(keys) == 1:
        return keys[0]
    joined = np.zeros(keys[0].size, np.int64)
    top = 1
    for key in keys:
        n = int(key.max(initial=0)) + 1
        top *= n
        if top >= _MOST_KEYS:
            return None
        joined *= n
        joined += key.astype(np.int64)
    return joined


def _most_probable(rules: Numbered, forward: np.ndarray, keep: np.ndarray, most: int) -> np.ndarray:
    """Return, for the rules kept, which are among the `most` most probable of their group."""
    group = _numbers_of(rules.label[keep], rules.source[keep])
    among = np.ones(group.size, bool)
    many = np.flatnonzero(np.bincount(group)[group] > most)
    kept = np.flatnonzero(keep)[many]
    order = np.lexsort((rules.pair[kept], rules.target[kept], -forward[kept], group[many]))
    of_group = group[many][order]
    among[many[order]] = np.arange(order.size) - np.searchsorted(of_group, of_group) < most
    return among


class _Made(NamedTuple):
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


class _Pivot:
    """Pairs the rules of some source sides at a time and writes the paraphrases; thread-safe."""

    def __init__(self, translations: Translations, rules: _Rules, options: PivotOptions) -> None:
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
        group = _numbers_of(numbers.label, numbers.source)
        self._groups = self._grouped(
            group, numbers.target, orders, n_gaps, self._columns[E_GIVEN_F_LHS],
            self._columns[F_GIVEN_E_LHS],
        )  # fmt: skip
        self._by_source = _order_by(numbers.label, numbers.target, group)
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

    def write(self, sources: np.ndarray) -> _Made:
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
            return _Made(b"", 0, links_pruned, 0, 0, 0, 0)
        values = self._values(stops, firsts, seconds, keys, runs, sources)
        begins = np.concatenate([[0], stops[:-1]])
        ones, twos = firsts[begins], seconds[begins]
        least = np.minimum(values[E_GIVEN_F_LHS], values[F_GIVEN_E_LHS])
        fine = least >= options.min_sum
        best = kernel.best_pairs(
            frozen(stops), frozen(firsts), frozen(seconds), groups.forward, groups.backward,
            self._read_order,
        )  # fmt: skip
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
        return _Made(
            text.tobytes(), in_fine.size, links_pruned, int(np.count_nonzero(identity)),
            fine.size - int(np.count_nonzero(fine)), ones.size, int(np.count_nonzero(gappy)),
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
        order = np.argsort(keys, kind="stable")
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
        """Return the features as they are written, float64[lines, features]."""
        columns = []
        for name in self.names:
            column = values[name][fine]
            if name.startswith(("p(", "Lex(")):
                column = -np.log(np.clip(column, _LEAST, 1.0))
            columns.append(column)
        return frozen(np.stack(columns, axis=1))


def _runs(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (where each run of equal keys stops, its key), for sorted keys."""
    stops = np.append(np.flatnonzero(np.diff(keys)) + 1, keys.size)[: keys.size]
    return stops, keys[stops - 1]
