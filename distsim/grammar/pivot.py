"""Translation rules -> paraphrase rules: two sides with one label and one foreign side pair up.

Thesis 3.2 and 6.4.1.1; Ganitkevitch et al. 2011, section 3. Everything streams: the rules are
sorted on disk by label and foreign side, then the pairs by label and sides.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from distsim.corpus.lines import read_line_blocks
from distsim.errors import ParameterError
from distsim.grammar.block import RuleBlock, parse_block
from distsim.grammar.external_sort import RUN_BYTES, sorted_records
from distsim.grammar.faulty_lines import FaultyLines, OnError
from distsim.grammar.fields import LineFaultError
from distsim.grammar.formats.rules import RULES, Features, Rule, Symbols
from distsim.parallel import Progress, no_progress
from distsim.storage.files import open_output

Scale = Literal["probability", "negative-log", "log"]
SCALES: tuple[str, ...] = get_args(Scale)
Identities = Literal["mark", "drop"]

_TAB = b"\t"
_LEAST = 1e-300


@dataclass(frozen=True)
class PivotOptions:
    """How rules are pivoted.

    Arguments:
        target_given_source: the feature, by name or position from 0, that holds p(e|f) of the
            translation rules; uniform over the distinct e of a label and f where None.
        source_given_target: likewise p(f|e); uniform over the distinct f of a label and e.
        rarity: the feature that holds the rarity penalty; none is written where None.
        scale: `probability`, `negative-log` or `log` (both natural): how they are written.
        identities: rules with equal sides are marked (`Identity=1`) or dropped.
        min_link: translation rules with p(e|f) or p(f|e) below it are dropped early
            (thesis 6.4.1.1.1).
        min_probability: paraphrases with p(e2|e1) or p(e1|e2) below it are dropped.
        max_translations: keep the so many most probable e of each label and f; 0: all.
    """

    target_given_source: str | None = None
    source_given_target: str | None = None
    rarity: str | None = None
    scale: Scale = "negative-log"
    identities: Identities = "drop"
    min_link: float = 0.0
    min_probability: float = 0.0
    max_translations: int = 0

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise ParameterError(f"--scale {self.scale!r}: choose one of {', '.join(SCALES)}")
        if self.identities not in get_args(Identities):
            raise ParameterError(f"--identities {self.identities!r}: choose mark or drop")
        for name, value in (("link", self.min_link), ("probability", self.min_probability)):
            if not 0.0 <= value <= 1.0:
                raise ParameterError(f"--min-{name} {value}: choose 0 to 1")
        if self.max_translations < 0:
            raise ParameterError(f"--max-translations {self.max_translations}: choose 0 or more")


@dataclass
class PivotReport:
    """What was read, pruned and written."""

    faulty: FaultyLines
    read: int = 0
    repeated: int = 0
    links_pruned: int = 0
    links: int = 0
    identities: int = 0
    pruned: int = 0
    written: int = 0
    gappy: int = 0
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the report, a few lines of text."""
        told = [
            f"{self.read:,} translation rules read, {self.repeated:,} repeated, "
            f"{self.links_pruned:,} pruned before pairing"
        ]
        if self.faulty.kept or self.faulty.dropped:
            told[0] += f", {self.faulty.kept + self.faulty.dropped:,} faulty lines passed over"
            told += [f"  {message}" for message in self.faulty.shown]
        return [
            *told,
            f"{self.links:,} pairs over a common foreign side; {self.identities:,} identities, "
            f"{self.pruned:,} paraphrases pruned",
            f"{self.written:,} paraphrase rules written, {self.gappy:,} with both gaps and words",
        ]


class _Translation(NamedTuple):
    """A translation rule in the form that is sorted; gaps are numbered along one side."""

    label: bytes
    foreign: bytes
    english: bytes
    forward: float  # p(e|f)
    backward: float  # p(f|e)
    rarity: float
    links: bytes  # between words: `foreign-english`, comma after comma


def pivot_file(
    grammar: str | Path,
    output: str | Path,
    options: PivotOptions | None = None,
    on_error: OnError = "stop",
    run_bytes: int = RUN_BYTES,
    progress: Progress = no_progress,
) -> PivotReport:
    """Write the paraphrase grammar of a translation grammar, sorted by label and sides.

    p(e2|e1) = sum over f of p(e2|f) p(f|e1) (thesis equation 3.3), both written as
    -ln p: `p(e|f,LHS)` for the target given the source and `p(f|e,LHS)` for the reverse.
    Gaps are numbered along the source side; the alignment field links gaps by index, and
    words where the translation rules had links. Faulty lines are left out under `keep` and
    `drop` alike, and counted.

    Arguments:
        grammar: rules whose target sides are paraphrased; `-` for standard input.
        run_bytes: what a sort holds in memory.

    Raises:
        InputError: the grammar cannot be read, or a line is faulty and on_error is `stop`.
    """
    options = options or PivotOptions()
    report = PivotReport(FaultyLines(grammar, on_error))
    translations: Iterable[_Translation] = _read(grammar, options, report, progress)
    if options.source_given_target is None:
        translations = _uniform_backward(translations, run_bytes)
    by_foreign = sorted_records(
        (_TAB.join([t.label, t.foreign, *_packed(t)]) for t in translations), run_bytes
    )
    pairs = sorted_records(_paired(by_foreign, options, report), run_bytes)
    with open_output(output) as out:
        for line in _aggregated(pairs, options, report):
            out.write(line)
            progress("writing", report.written, None)
    return report


def _read(
    grammar: str | Path, options: PivotOptions, report: PivotReport, progress: Progress
) -> Iterator[_Translation]:
    faulty = report.faulty
    for lines in read_line_blocks(grammar):
        block = parse_block(lines, RULES)
        gaps = block.gaps.tolist()
        for number in range(len(block)):
            fault = block.fault(number)
            if not fault:
                try:
                    translation = _translation(block, number, gaps, options)
                except LineFaultError as error:
                    fault = str(error)
            if fault:
                faulty.keeps(block.first_line + number, fault)
                continue
            report.read += 1
            yield translation
        progress("reading", report.read, None)
    faulty.require_lines(report.read + faulty.kept + faulty.dropped)


def _translation(
    block: RuleBlock, number: int, gaps: list[int], options: PivotOptions
) -> _Translation:
    rule = Rule.parse(block.line(number))
    features = rule.features
    probability = _probability_reader(options.scale, features)
    source, target = block.sides(number)
    order: dict[int, int] = {}
    foreign = _renumbered(rule.source, gaps[source.start : source.stop], order)
    english = _renumbered(rule.target, gaps[target.start : target.stop], order)
    words = [
        b"%d-%d" % (i, j)
        for i, j in block.links_of(number)
        if gaps[source[i]] < 0 and gaps[target[j]] < 0
    ]
    rarity = 0.0
    if options.rarity is not None:
        rarity = features.number(options.rarity)
    return _Translation(
        rule.label,
        foreign,
        english,
        probability(options.target_given_source),
        probability(options.source_given_target),
        rarity,
        b",".join(words),
    )


def _probability_reader(scale: Scale, features: Features) -> Callable[[str | None], float]:
    def probability(column: str | None) -> float:
        if column is None:
            return -1.0  # uniform, set later
        value = features.number(column)
        if scale == "negative-log":
            value = math.exp(min(-value, 1.0))
        elif scale == "log":
            value = math.exp(min(value, 1.0))
        if not 0.0 <= value <= 1.000001:
            raise LineFaultError(
                f"feature {column} is no probability on the scale {scale!r}: "
                f"it stands for {value:g}"
            )
        return min(value, 1.0)

    return probability


def _renumbered(side: Symbols, gaps: list[int], order: dict[int, int]) -> bytes:
    """Return a side with its gaps numbered by `order`, to which new gaps are added."""
    symbols = []
    for symbol, gap in zip(side, gaps, strict=True):
        if gap >= 0:
            index = order.setdefault(gap, len(order) + 1)
            comma = symbol.rfind(b",")
            label = symbol[1:comma] if comma > 0 else b"X"
            symbol = b"[%s,%d]" % (label, index)
        symbols.append(symbol)
    return b" ".join(symbols)


def _packed(t: _Translation) -> list[bytes]:
    return [t.english, b"%r" % t.forward, b"%r" % t.backward, b"%r" % t.rarity, t.links]


def _uniform_backward(
    translations: Iterable[_Translation], run_bytes: int
) -> Iterator[_Translation]:
    """Give each rule p(f|e) = 1 / (distinct f of its label and e); gaps as e orders them."""

    def records() -> Iterator[bytes]:
        for t in translations:
            english, foreign = _canonical(t.english.split(), t.foreign.split())
            yield _TAB.join([t.label, english, foreign, t.foreign, *_packed(t)])

    keyed = (record.split(_TAB) for record in sorted_records(records(), run_bytes))
    for _, group in groupby(keyed, key=lambda parts: (parts[0], parts[1])):
        members = list(group)
        n_foreign = len({parts[2] for parts in members})
        for label, _, _, foreign, english, forward, _, rarity, links in members:
            yield _Translation(
                label, foreign, english, float(forward), 1.0 / n_foreign, float(rarity), links
            )


def _canonical(first: list[bytes], second: list[bytes]) -> tuple[bytes, bytes]:
    """Return both sides with their gaps numbered along the first; both are canonical gaps."""
    order: dict[bytes, bytes] = {}

    def numbered(symbols: list[bytes]) -> bytes:
        out = []
        for symbol in symbols:
            gap = gap_of(symbol)
            if gap is not None:
                index = order.setdefault(gap[1], b"%d" % (len(order) + 1))
                symbol = b"[" + gap[0] + b"," + index + b"]"
            out.append(symbol)
        return b" ".join(out)

    return numbered(first), numbered(second)


def gap_of(symbol: bytes) -> tuple[bytes, bytes] | None:
    """Return the label and index of a gap, None for a word.

    >>> gap_of(b"[,,1]"), gap_of(b"[NP/NN,12]"), gap_of(b"[1,000]"), gap_of(b"[x]")
    ((b',', b'1'), (b'NP/NN', b'12'), None, None)
    """
    if symbol[:1] != b"[" or symbol[-1:] != b"]":
        return None
    label, comma, index = symbol[1:-1].rpartition(b",")
    if not comma or not label or not index.isdigit() or int(index) == 0:
        return None
    return label, index


def _paired(
    by_foreign: Iterable[bytes], options: PivotOptions, report: PivotReport
) -> Iterator[bytes]:
    """Yield label, e1, e2, p(e2|f) p(f|e1), the reverse, rarity, links for every pair."""
    keyed = (record.split(_TAB) for record in by_foreign)
    for (label, _), group in groupby(keyed, key=lambda parts: (parts[0], parts[1])):
        english: dict[bytes, tuple[float, float, float, bytes]] = {}
        for _, _, side, forward, backward, rarity, links in group:
            if side in english:
                report.repeated += 1
            else:
                english[side] = float(forward), float(backward), float(rarity), links
        if options.target_given_source is None:
            uniform = 1.0 / len(english)
            english = {e: (uniform, *rest) for e, (_, *rest) in english.items()}  # type: ignore[misc]
        kept = [
            (side, values)
            for side, values in english.items()
            if values[0] >= options.min_link and values[1] >= options.min_link
        ]
        if options.max_translations:
            kept.sort(key=lambda one: (-one[1][0], one[0]))
            kept = kept[: options.max_translations]
        report.links_pruned += len(english) - len(kept)
        split = [(side.split(), _by_foreign(values[3]), values) for side, values in kept]
        for one, one_links, (forward_1, backward_1, rarity_1, _) in split:
            for two, two_links, (forward_2, backward_2, rarity_2, _) in split:
                if one is two and options.identities == "drop":
                    report.identities += 1
                    continue
                report.links += 1
                first, second = _canonical(one, two)
                yield _TAB.join(
                    [
                        label, first, second,
                        b"%r" % (forward_2 * backward_1), b"%r" % (forward_1 * backward_2),
                        b"%r" % max(rarity_1, rarity_2), _composed(one_links, two_links),
                    ]
                )  # fmt: skip


def _by_foreign(links: bytes) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for link in links.split(b",") if links else ():
        foreign, _, english = link.partition(b"-")
        found.setdefault(foreign, []).append(english)
    return found


def _composed(one: dict[bytes, list[bytes]], two: dict[bytes, list[bytes]]) -> bytes:
    """Return the links between two sides that meet in the foreign side."""
    if not one or not two:
        return b""
    met = {(i, j) for foreign, sides in one.items() for i in sides for j in two.get(foreign, ())}
    return b",".join(b"%s-%s" % link for link in sorted(met))


def _aggregated(
    pairs: Iterable[bytes], options: PivotOptions, report: PivotReport
) -> Iterator[bytes]:
    keyed = (record.split(_TAB) for record in pairs)
    for (label, one, two), group in groupby(keyed, key=lambda parts: tuple(parts[:3])):
        links: set[bytes] = set()
        forward, backward, rarities = [], [], []
        for _, _, _, towards, back, rarity, found in group:
            forward.append(float(towards))
            backward.append(float(back))
            rarities.append(float(rarity))
            links.update(found.split(b",") if found else ())
        target_given_source = min(1.0, math.fsum(forward))
        source_given_target = min(1.0, math.fsum(backward))
        if min(target_given_source, source_given_target) < options.min_probability:
            report.pruned += 1
            continue
        identity = one == two
        report.identities += identity
        report.written += 1
        sides = one.split(), two.split()
        gaps = [{gap[1]: k for k, s in enumerate(side) if (gap := gap_of(s))} for side in sides]
        report.gappy += bool(gaps[0]) and len(gaps[0]) < max(len(sides[0]), len(sides[1]))
        features = [
            b"p(e|f,LHS)=%.5f" % _negative_log(target_given_source),
            b"p(f|e,LHS)=%.5f" % _negative_log(source_given_target),
        ]
        if options.rarity is not None:
            features.append(b"RarityPenalty=%.5f" % min(rarities))
        if options.identities == "mark":
            features.append(b"Identity=%d" % identity)
        features.append(b"PivotCount=%d" % len(forward))
        between = {(k, gaps[1][index]) for index, k in gaps[0].items()}
        between |= {(int(i), int(j)) for i, _, j in (link.partition(b"-") for link in links)}
        alignment = b" ".join(b"%d-%d" % link for link in sorted(between))
        yield b"%s ||| %s ||| %s ||| %s ||| %s\n" % (
            label, one, two, b" ".join(features), alignment,
        )  # fmt: skip


def _negative_log(probability: float) -> float:
    return -math.log(max(probability, _LEAST)) + 0.0
