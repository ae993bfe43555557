"""A grammar -> the same rules, best first within each source side, or only the best of them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.choices import OnError
from distsim.base.errors import ParameterError
from distsim.base.parallel import Progress, no_progress
from distsim.corpus.lines import read_line_blocks
from distsim.corpus.sources import spooled
from distsim.grammar.block import RuleBlock, parse_block
from distsim.grammar.external_sort import RUN_BYTES, sorted_records
from distsim.grammar.faulty_lines import FaultyLines
from distsim.grammar.fields import (
    LineFaultError,
    is_feature_name,
    require_utf8,
    split_fields,
    with_line_end,
)
from distsim.grammar.formats import find_format
from distsim.grammar.formats.layout import GrammarFormat
from distsim.grammar.formats.rules import Features
from distsim.grammar.kernels.phrase_pairs import hash_symbols
from distsim.grammar.learnt_weights import LearntWeights
from distsim.grammar.pair_features import PairFeatures, is_feature
from distsim.kernels.compiled import frozen
from distsim.storage.files import open_output

_BATCH_LINES = 4096

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
    """By what rules are ordered.

    Arguments:
        weights: feature, by name or by position from 0, to its weight in the sum.
        ascending: the least sum is best: a cost.
        top: keep so many of each left-hand side and source; 0: all.
        missing: what stands for features that are not there or NA; a faulty line where None.
        worst: rules with a worse sum are cut.
        learnt: add what learnt weights give a rule, for its own features and those that `computed`
            makes of its sides.
        computed: makes features of sides; those of the text alone where None.
        write: write the sum as a feature of this name, as a bare value where features are.

    >>> Ranking({"p(e|f)": 1.0}, top=10).ascending
    False
    """

    weights: Mapping[str, float]
    _: KW_ONLY
    ascending: bool = False
    top: int = 0
    missing: float | None = None
    worst: float | None = None
    write: str | None = None
    learnt: LearntWeights | None = None
    computed: PairFeatures | None = None

    def __post_init__(self) -> None:
        if not self.weights and self.learnt is None:
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
        for argument in ("missing", "worst"):
            value = getattr(self, argument)
            if value is not None and not math.isfinite(value):
                raise ParameterError(f"`{argument}` {value}: give a number")
        if self.top < 0:
            raise ParameterError(f"`top` {self.top}: choose 0 (all) or more")

    @property
    def computed_names(self) -> list[str]:
        """The features of learnt weights that are made of a rule's sides.

        Raises:
            ParameterError: one wants a table that was not given.
        """
        if self.learnt is None:
            return []
        names = [name for name in self.learnt.names if is_feature(name)]
        (self.computed or PairFeatures()).matrix([], names=names)
        return names

    def value(self, features: Features, *, computed: Mapping[str, float] | None = None) -> float:
        """Return the weighted sum of a rule's features.

        Arguments:
            computed: further features, of its sides; see computed_names.

        Raises:
            LineFaultError: a feature is not there, or no number, or the sum is too large.
        """
        total = sum(
            weight * features.number(name, self.missing) for name, weight in self.weights.items()
        )
        if self.learnt is not None:
            others = computed or {}
            total += self.learnt.value(
                {
                    name: others[name] if name in others else features.number(name, math.nan)
                    for name in self.learnt.names
                }
            )
        if not math.isfinite(total):
            raise LineFaultError("the weighted sum of its features is too large for a number")
        return total


def ppdb_cost(features: Features, missing: float | None = None) -> float:
    """Return the cost of thesis equation 6.1: probabilities are -ln p, lower is better.

    >>> ppdb_cost(Features.parse(b"p(e|f)=2 p(f|e)=1 RarityPenalty=.01 p(LHS|e)=1"), missing=0)
    4.3
    """
    return Ranking(PPDB_COST, ascending=True, missing=missing).value(features)


@dataclass
class RerankReport:
    """What was read and written.

    >>> _ = (folder / "two").write_text("[X] ||| a ||| b ||| p=2\\n[X] ||| a ||| c ||| p=1\\n")
    >>> report = rerank_grammar(folder / "two", folder / "best", Ranking({"p": 1.0}, top=1))
    >>> report.read, report.groups, report.written
    (2, 1, 1)
    """

    faulty: FaultyLines
    was_grouped: bool = True
    read: int = 0
    groups: int = 0
    written: int = 0
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the report, a few lines of text."""
        told = [
            f"{self.read:,} rules of {self.groups:,} source sides read, {self.written:,} written"
        ]
        faulty = self.faulty
        if faulty.kept or faulty.dropped:
            told[0] += f"; {faulty.kept:,} faulty lines kept, {faulty.dropped:,} dropped"
            told += [f"  {message}" for message in faulty.shown]
        return told


def rerank_grammar(
    grammar: str | Path,
    path: str | Path,
    ranking: Ranking,
    *,
    on_error: OnError = "stop",
    grammar_format: str | None = None,
    memory: int = RUN_BYTES,
    progress: Progress = no_progress,
) -> RerankReport:
    """Write a grammar's rules best first within each left-hand side and source.

    Rules of equal sum keep their order, groups too. Where the rules of a group do not stand
    together in the input, it is sorted on disk first, by label and source; the report says
    so in `was_grouped`. A faulty line that is kept stands after the group it was met in.

    Arguments:
        grammar: plain or packed; `-` for standard input.
        path: gz where the name ends so; `-` for standard output. Written whole or not at all.
        on_error: faulty lines `stop` the work, or are kept as they are, or dropped.
        grammar_format: a name in distsim.grammar.formats.FORMATS; told by the first lines
            where None.
        memory: what a sort holds in memory.

    Raises:
        InputError: the grammar cannot be read, or a line is faulty (or lacks a feature that
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
    report = RerankReport(FaultyLines(grammar, on_error))
    with spooled(grammar) as rules:
        first = next(iter(read_line_blocks(rules)), None)
        if first is None:
            report.faulty.require_lines(0)
            with open_output(path):
                return report
        known = find_format(grammar_format, first.text)
        report.was_grouped = _is_grouped(rules, known)
        names = ranking.computed_names
        lines = _keyed_lines(rules, known)
        if not report.was_grouped:
            lines = _sorted(lines, memory)
        with open_output(path) as out:
            pairs = _with_computed(lines, ranking, names, known)
            for line in _ranked(pairs, ranking, report):
                out.write(line)
                progress("ranking", report.read, None)
    return report


class _Line(NamedTuple):
    """A line with its group's key, its number, where its features stand, what is wrong with it."""

    key: bytes
    number: int
    features: tuple[int, int]
    fault: str
    text: bytes


def _keys(block: RuleBlock) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of each line that name its group: from its start to its source's end."""
    begins = np.concatenate([[0], block.token_stops[:-1, 1]])
    has_source = block.token_stops[:, 0] > begins
    starts = block.line_starts[:-1]
    ends = np.where(block.status == 0, np.maximum(block.labels[:, 1], starts), starts)
    ends[has_source] = block.stops[block.token_stops[has_source, 0] - 1]
    return starts, ends


def _is_grouped(path: str | Path, grammar_format: GrammarFormat) -> bool:
    """Tell whether the rules of each group stand together; 8 bytes a group are held."""
    runs = []
    last = np.empty(0, np.uint64)
    for lines in read_line_blocks(path):
        block = parse_block(lines, grammar_format)
        starts, stops = _keys(block)
        data = frozen(np.frombuffer(block.text, np.uint8))
        hashes = hash_symbols(data, frozen(starts), frozen(stops))[block.status == 0]
        joined = np.concatenate([last, hashes])
        new = np.ones(joined.size, bool)
        new[1:] = joined[1:] != joined[:-1]
        new[: last.size] = False
        runs.append(joined[new])
        last = joined[-1:]
    hashes = np.concatenate(runs)
    return np.unique(hashes).size == hashes.size


def _keyed_lines(path: str | Path, grammar_format: GrammarFormat) -> Iterator[_Line]:
    for lines in read_line_blocks(path):
        block = parse_block(lines, grammar_format)
        status = block.status.tolist()
        bounds = zip(*(array.tolist() for array in _keys(block)), block.features.tolist(),
                     strict=True)  # fmt: skip
        for number, (start, stop, features) in enumerate(bounds):
            yield _Line(
                block.text[start:stop],
                block.first_line + number,
                (features[0] - start, features[1] - start),
                block.fault(number) if status[number] else "",
                block.line(number),
            )


def _sorted(lines: Iterator[_Line], memory: int) -> Iterator[_Line]:
    """Yield lines by group, those of one group in their order."""
    records = (
        b"%b\t%020d\t%d\t%d\t%b\t%b" % (
            key.replace(b"\t", b" "), number, *features, fault.encode(), text.removesuffix(b"\n")
        )
        for key, number, features, fault, text in lines
    )  # fmt: skip
    for record in sorted_records(records, memory):
        key, number, start, stop, fault, text = record.split(b"\t", 5)
        yield _Line(key, int(number), (int(start), int(stop)), fault.decode(), text + b"\n")


def _with_computed(
    lines: Iterator[_Line], ranking: Ranking, names: list[str], grammar_format: GrammarFormat
) -> Iterator[tuple[_Line, dict[str, float]]]:
    """Yield lines, each with the features of learnt weights that are made of its sides."""
    maker = ranking.computed or PairFeatures()
    layout = grammar_format.layout
    while batch := list(islice(lines, _BATCH_LINES if names else 1)):
        if not names:
            yield batch[0], {}
            continue
        sides = []
        for line in batch:
            fields = split_fields(line.text)
            given = (fields[place] if not line.fault else b"" for place in layout[1:3])
            source, target = (side.decode().strip() for side in given)
            sides.append((source, target))
        rows = maker.matrix(sides, names=names).tolist()
        for line, row in zip(batch, rows, strict=True):
            yield line, dict(zip(names, row, strict=True))


def _ranked(
    lines: Iterator[tuple[_Line, dict[str, float]]], ranking: Ranking, report: RerankReport
) -> Iterator[bytes]:
    group: list[tuple[float, bytes]] = []
    after: list[bytes] = []
    of_group: bytes | None = None
    end: list[tuple[_Line | None, dict[str, float]]] = [(None, {})]
    for line, computed in chain(lines, end):
        if line is None or (not line.fault and line.key != of_group):
            yield from _best(group, ranking, report)
            yield from after
            group, after = [], []
            if line is None:
                return
            of_group = line.key
            report.groups += 1
        fault = line.fault
        if not fault:
            try:
                group.append(_valued(line, ranking, computed))
                report.read += 1
            except LineFaultError as error:
                fault = str(error)
        if fault and report.faulty.keeps(line.number, fault):
            after.append(with_line_end(line.text))


def _valued(line: _Line, ranking: Ranking, computed: dict[str, float]) -> tuple[float, bytes]:
    """Return a line's value, and the line with the value in it where that is asked."""
    start, stop = line.features
    features = Features.parse(line.text[start:stop])
    value = ranking.value(features, computed=computed)
    text = line.text
    if ranking.write is not None:
        added = b"%.5f" % (round(value, 5) + 0.0)
        if features.named or not features.bare:
            added = ranking.write.encode() + b"=" + added
        text = text[:stop] + b" " + added + text[stop:]
    return value, with_line_end(text)


def _best(
    group: list[tuple[float, bytes]], ranking: Ranking, report: RerankReport
) -> Iterator[bytes]:
    sign = 1.0 if ranking.ascending else -1.0
    ordered = sorted(group, key=lambda one: sign * one[0])
    if ranking.top:
        ordered = ordered[: ranking.top]
    for value, line in ordered:
        if ranking.worst is None or sign * value <= sign * ranking.worst:
            report.written += 1
            yield line
