"""A grammar -> the same rules, best first within each source side, or only the best of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from distsim.errors import ParameterError
from distsim.grammar.block import GrammarFormat, RuleBlock, guess_format, parse_block
from distsim.grammar.external_sort import RUN_BYTES, sorted_records
from distsim.grammar.fields import append_to_field, join_fields, split_fields
from distsim.grammar.lines import (
    FaultyLines,
    OnError,
    open_output,
    read_line_blocks,
    rereadable,
)
from distsim.grammar.phrase_table import LineFaultError, PhraseTableEntry
from distsim.grammar.rules import Features
from distsim.kernels import rules as kernel
from distsim.kernels.compiled import frozen
from distsim.parallel import Progress, no_progress

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
        write: write the sum as a feature of this name, as a bare value where features are.
    """

    weights: Mapping[str, float]
    ascending: bool = False
    top: int = 0
    missing: float | None = None
    worst: float | None = None
    write: str | None = None

    def __post_init__(self) -> None:
        if not self.weights:
            raise ParameterError("nothing to rank by: give --weight FEATURE=NUMBER, or --ppdb-cost")
        if self.top < 0:
            raise ParameterError(f"--top {self.top}: choose 0 (all) or more")

    def value(self, features: Features) -> float:
        """Return the weighted sum of a rule's features.

        Raises:
            LineFaultError: a feature is not there, or no number.
        """
        return sum(
            weight * features.number(name, self.missing) for name, weight in self.weights.items()
        )


def ppdb_cost(features: Features, missing: float | None = None) -> float:
    """Return the cost of thesis equation 6.1: probabilities are -ln p, lower is better.

    >>> ppdb_cost(Features.parse(b"p(e|f)=2 p(f|e)=1 RarityPenalty=.01 p(LHS|e)=1"), missing=0)
    4.3
    """
    return Ranking(PPDB_COST, ascending=True, missing=missing).value(features)


@dataclass
class RerankReport:
    """What was read and written."""

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


def rerank_file(
    grammar: str | Path,
    output: str | Path,
    ranking: Ranking,
    on_error: OnError = "stop",
    grammar_format: GrammarFormat | None = None,
    run_bytes: int = RUN_BYTES,
    progress: Progress = no_progress,
) -> RerankReport:
    """Write a grammar's rules best first within each left-hand side and source.

    Rules of equal sum keep their order, groups too. Where the rules of a group do not stand
    together in the input, it is sorted on disk first, by label and source; the report says
    so in `was_grouped`. A faulty line that is kept stands after the group it was met in.

    Raises:
        InputError: the grammar cannot be read, or a line is faulty (or lacks a feature that
            `ranking` needs) and on_error is `stop`.
    """
    report = RerankReport(FaultyLines(grammar, on_error))
    with rereadable(grammar) as path:
        first = next(iter(read_line_blocks(path)), None)
        if first is None:
            report.faulty.require_lines(0)
            with open_output(output):
                return report
        known = grammar_format or guess_format(first.text)
        report.was_grouped = _is_grouped(path, known)
        lines = _keyed_lines(path, known)
        if not report.was_grouped:
            lines = _sorted(lines, run_bytes)
        with open_output(output) as out:
            for line in _ranked(lines, ranking, known == "phrase-table", report):
                out.write(line)
                progress("ranking", report.read, None)
    return report


def _keys(block: RuleBlock) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of each line that name its group: from its start to its source's end."""
    begins = np.concatenate([[0], block.token_stops[:-1, 1]])
    has_source = block.token_stops[:, 0] > begins
    ends = block.line_starts[:-1].copy()
    ends[has_source] = block.stops[block.token_stops[has_source, 0] - 1]
    return block.line_starts[:-1], ends


def _is_grouped(path: str | Path, grammar_format: GrammarFormat) -> bool:
    """Tell whether the rules of each group stand together; 8 bytes a group are held."""
    runs = []
    last = np.empty(0, np.uint64)
    for lines in read_line_blocks(path):
        block = parse_block(lines, grammar_format)
        starts, stops = _keys(block)
        data = frozen(np.frombuffer(block.text, np.uint8))
        hashes = kernel.hash_symbols(data, frozen(starts), frozen(stops))[block.status == 0]
        joined = np.concatenate([last, hashes])
        new = np.flatnonzero(joined[1:] != joined[:-1]) + 1
        runs.append(joined[new] if last.size else joined[np.concatenate([[0], new])]
                    if joined.size else joined)  # fmt: skip
        last = joined[-1:]
    hashes = np.concatenate(runs)
    return np.unique(hashes).size == hashes.size


_Keyed = tuple[bytes, int, bytes, str]  # key, line number, line, what is wrong with it


def _keyed_lines(path: str | Path, grammar_format: GrammarFormat) -> Iterator[_Keyed]:
    for lines in read_line_blocks(path):
        block = parse_block(lines, grammar_format)
        starts, stops = _keys(block)
        status = block.status.tolist()
        for number, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
            fault = block.fault(number) if status[number] else ""
            yield block.text[start:stop], block.first_line + number, block.line(number), fault


def _sorted(lines: Iterator[_Keyed], run_bytes: int) -> Iterator[_Keyed]:
    """Yield lines by group, those of one group in their order; the rest as it was."""
    records = (
        b"\0".join(
            [key.replace(b"\t", b" "), b"%020d" % number, line.rstrip(b"\n"), fault.encode()]
        )
        for key, number, line, fault in lines
    )
    for record in sorted_records(records, run_bytes):
        key, number, rest = record.split(b"\0", 2)
        line, _, fault = rest.rpartition(b"\0")
        yield key, int(number), line + b"\n", fault.decode()


def _ranked(
    lines: Iterator[_Keyed], ranking: Ranking, is_phrase_table: bool, report: RerankReport
) -> Iterator[bytes]:
    group: list[tuple[float, bytes]] = []
    after: list[bytes] = []
    of_group: bytes | None = None
    end: list[_Keyed | None] = [None]
    for item in chain(lines, end):
        if item is None or (not item[3] and item[0] != of_group):
            yield from _best(group, ranking, report)
            yield from after
            group, after = [], []
            if item is None:
                return
            of_group = item[0]
            report.groups += 1
        _, number, line, fault = item
        if not fault:
            try:
                value, line = _valued(line, ranking, is_phrase_table)
            except LineFaultError as error:
                fault = str(error)
        if fault:
            if report.faulty.keeps(number, fault):
                after.append(line)
            continue
        report.read += 1
        group.append((value, line))


def _valued(line: bytes, ranking: Ranking, is_phrase_table: bool) -> tuple[float, bytes]:
    """Return a line's value, and the line with the value in it where that is asked."""
    fields = split_fields(line)
    where = PhraseTableEntry.parse(line).scores_field if is_phrase_table else 3
    features = Features.parse(fields[where])
    value = ranking.value(features)
    if ranking.write is not None:
        text = b"%.5f" % (round(value, 5) + 0.0)
        if features.named or not features.bare:
            text = ranking.write.encode() + b"=" + text
        fields[where] = append_to_field(fields[where], text)
        line = join_fields(fields)
    return value, line


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
            yield line if line.endswith(b"\n") else line + b"\n"
