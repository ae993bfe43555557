"""Rules with their counts and all margins, in the order of their hashes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from distsim.base.errors import check_interrupted
from distsim.base.parallel import Run, available_cores, ordered_map
from distsim.grammar.arrays import Column
from distsim.grammar.extraction.instances import MEMORY, PART_BITS, Runs
from distsim.grammar.extraction.linked_text import LinkedText
from distsim.grammar.kernels.extraction import COLUMNS
from distsim.grammar.kernels.rule_counts import RuleColumns, count_parts
from distsim.grammar.kernels.rule_text import C_E, C_F, C_FE, C_L, C_LE, C_LF, C
from distsim.kernels.compiled import frozen

_BYTES_A_ROW = 24 * COLUMNS  # rows, sorted rows, columns of rules
_BYTES_A_RULE = 96  # of a part of the English margins
_BYTES_HELD = 68  # of a rule's columns, but for the bitexts'
_HELD = 4  # columns that take less than one part of the memory of so many are not written
_HALF = np.uint64(32)


@dataclass(frozen=True)
class RuleChunk:
    """Rules in the order of (hash of the foreign side, label, hash of the English side).

    labels: uint32 codes; places, gaps: uint64; counts: int64[n, 7], columns as in
    kernels.rule_text; by_bitext: uint32[n, b]; foreign, english: uint32 and int64, numbers of the
    sides, gaps as each orders them; swaps: bool, one has the gaps the other way round.
    """

    labels: np.ndarray
    places: np.ndarray
    gaps: np.ndarray
    counts: np.ndarray
    by_bitext: np.ndarray
    foreign: np.ndarray
    english: np.ndarray
    swaps: np.ndarray

    def __len__(self) -> int:
        return self.labels.size

    def where(self, kept: np.ndarray) -> "RuleChunk":
        """Return the rules that are marked.

        Arguments:
            kept: bool[n], which rules are returned.
        """
        return RuleChunk(*(getattr(self, column.name)[kept] for column in fields(self)))


@dataclass
class CountedRules:
    """All counted rules, in files or in memory, read from the first on.

    size: their number. codes: uint32, sorted, the labels of rules. label_counts: int64, c(label).
    """

    size: int
    codes: np.ndarray
    label_counts: np.ndarray
    _columns: dict[str, Column]
    _parts: list[Column]
    _n_english: list[int]

    @property
    def n_english(self) -> int:
        """Number of distinct English sides."""
        return sum(self._n_english)

    def chunks(self, max_rules: int) -> Iterator[RuleChunk]:
        """Yield the rules in order, in chunks.

        Arguments:
            max_rules: maximum number of rules of a chunk.
        """
        columns = self._columns
        for column in [*columns.values(), *self._parts]:
            column.rewind()
        firsts = np.concatenate([[0], np.cumsum(self._n_english)])
        n_foreign = 0
        for begin in range(0, self.size, max_rules):
            n = min(max_rules, self.size - begin)
            read = {name: column.read(n) for name, column in columns.items()}
            english = np.empty((n, 3), np.uint32)
            part = read["part"]
            for number, column in enumerate(self._parts):
                of_part = np.flatnonzero(part == number)
                english[of_part] = column.read(of_part.size)
            foreign = n_foreign - 1 + np.cumsum(read["flags"] & 1, dtype=np.int64)
            n_foreign = int(foreign[-1]) + 1
            counts = np.empty((n, 7), np.int64)
            counts[:, C], counts[:, C_FE] = read["count"], read["c_fe"]
            counts[:, C_F], counts[:, C_LF] = read["c_f"], read["c_lf"]
            counts[:, C_E], counts[:, C_LE] = english[:, 1], english[:, 2]
            counts[:, C_L] = self.label_counts[np.searchsorted(self.codes, read["label"])]
            yield RuleChunk(
                read["label"], read["place"], read["gaps"].astype(np.uint64) << _HALF, counts,
                read["by_bitext"].reshape(n, -1), foreign.astype(np.uint32),
                english[:, 0] + firsts[part], (read["flags"] & 2).astype(bool),
            )  # fmt: skip


def count_all(
    text: LinkedText,
    runs: Runs,
    folder: Path,
    run: Run,
) -> CountedRules:
    """Return the rules of all instances, with every margin, before any is pruned.

    Arguments:
        text: of the instances. runs: the instances, which are consumed. folder: for files.
        run: its memory is for the columns, MEMORY where None.
    """
    memory = run.memory or MEMORY
    n_rows = sum(int(counts.sum()) for counts in runs.counts)
    part_bits = max(0, (max(1, n_rows * _BYTES_A_RULE // memory) - 1).bit_length())
    n_bitexts = text.bounds.size - 1
    is_held = n_rows * (_BYTES_HELD + 4 * n_bitexts) <= memory // _HELD

    def column(name: str, dtype: Any, width: int) -> Column:
        return Column(None if is_held else folder / name, dtype, width)

    columns = {
        name: column(name, dtype, width)
        for name, dtype, width in (
            ("label", np.uint32, 1), ("place", np.uint64, 1), ("gaps", np.uint32, 1),
            ("count", np.uint32, 1), ("c_f", np.uint32, 1), ("c_lf", np.uint32, 1),
            ("c_fe", np.uint32, 1), ("flags", np.uint8, 1), ("part", np.uint16, 1),
            ("by_bitext", np.uint32, n_bitexts),
        )
    }  # fmt: skip
    keys = [column(f"keys{k}", np.uint64, 2) for k in range(1 << part_bits)]
    totals: dict[int, int] = {}
    size = 0
    ahead = 2 * (run.jobs or available_cores()) + 1
    groups = runs.groups(max(1, (memory - runs.held) // ahead // _BYTES_A_ROW))
    taken = (runs.take(first, stop) for first, stop in groups)
    counted = ordered_map(lambda instances: _counted(*instances, text), taken, run.jobs)
    for (_, stop), (*rules, codes, sums) in zip(groups, counted, strict=True):
        check_interrupted()
        _append(rules, columns, keys, part_bits)
        for code, total in zip(codes.tolist(), sums.tolist(), strict=True):
            totals[code] = totals.get(code, 0) + total
        size += rules[0].size
        run.progress("counting", stop, 1 << PART_BITS)
    runs.close()
    codes = np.array(sorted(totals), np.uint32)
    parts, n_english = [], []
    for number, of_part in enumerate(keys):
        check_interrupted()
        english = column(f"english{number}", np.uint32, 3)
        n = _english_margins(of_part, codes.size > 1, english)
        parts.append(english)
        n_english.append(n)
        run.progress("counting English sides", number, len(keys))
    label_counts = np.array([totals[code] for code in codes.tolist()], np.int64)
    return CountedRules(size, codes, label_counts, columns, parts, n_english)


def _append(
    rules: Sequence[np.ndarray], columns: dict[str, Column], keys: list[Column], part_bits: int
) -> None:
    """Append rules to their columns, and each one's English side, label and count to its part.

    rules: as count_parts fills them. keys: uint64[n, 2] of each part of the English sides, which
    the leading `part_bits` of their hashes number.
    """
    f, e, label, count, place, gaps, by_bitext, margins = rules
    part = e >> np.uint64(64 - part_bits) if part_bits else np.zeros(e.size, np.uint16)
    flags = (e & np.uint64(1)).astype(np.uint8) << np.uint8(1)
    flags[:1] |= 1
    flags[1:] |= f[1:] != f[:-1]
    for name, values in (
        ("label", label), ("place", place), ("gaps", gaps >> _HALF), ("count", count),
        ("c_f", margins[:, 0]), ("c_lf", margins[:, 1]), ("c_fe", margins[:, 2]),
        ("by_bitext", by_bitext), ("flags", flags), ("part", part),
    ):  # fmt: skip
        columns[name].append(values)
    packed = np.empty((e.size, 2), np.uint64)
    np.right_shift(e, np.uint64(1), out=packed[:, 0])
    np.left_shift(label, _HALF, out=packed[:, 1], dtype=np.uint64)
    packed[:, 1] |= count.view(np.uint64)
    for number, of_part in enumerate(keys):
        of_part.append(packed[part == number] if part_bits else packed)


def _counted(rows: np.ndarray, bounds: np.ndarray, text: LinkedText) -> tuple[np.ndarray, ...]:
    """Return the columns of the rules of some parts, their labels, and the labels' counts.

    Arguments:
        rows: uint64[n, 5], one for each occurrence.
        bounds: int64[runs, parts + 1], where the rows of each part end.
    """
    n = len(rows)
    room = RuleColumns(  # made here: numpy asks for large pages, a kernel does not
        np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.uint32),
        np.empty(n, np.int64), np.empty(n, np.uint64), np.empty(n, np.uint64),
        np.zeros((n, text.bounds.size - 1), np.uint32),
    )  # fmt: skip
    n_rules = count_parts(
        frozen(rows), frozen(bounds), PART_BITS, text.bounds, text.links, text.link_starts, room
    )
    rules = RuleColumns(*(column[:n_rules] for column in room))
    return *rules, _foreign_margins(rules), *_sums_of_labels(rules.label, rules.count)


def _foreign_margins(rules: RuleColumns) -> np.ndarray:
    """Return c(f), c(label, f) and c(f, e) of rules in order, int64[n, 3]."""
    margins = np.empty((rules.f.size, 3), np.int64)
    side = np.cumsum(np.append(True, rules.f[1:] != rules.f[:-1])[: rules.f.size]) - 1
    is_first = np.append(True, (np.diff(side) != 0) | (rules.label[1:] != rules.label[:-1]))
    labelled = np.cumsum(is_first[: rules.f.size]) - 1
    for column, group in enumerate((side, labelled)):
        margins[:, column] = np.bincount(group, rules.count)[group]
    margins[:, 2] = rules.count
    if rules.label.any():
        several = np.flatnonzero(margins[:, 0] != margins[:, 1])  # the side has other labels
        order = several[np.lexsort((rules.e[several], side[several]))]
        is_first = np.append(True, (np.diff(side[order]) != 0) | (np.diff(rules.e[order]) != 0))
        pair = np.cumsum(is_first[: order.size]) - 1
        margins[order, 2] = np.bincount(pair, rules.count[order])[pair]
    return margins


def _sums_of_labels(label: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct labels, uint32, and the sum of the counts of each, int64.

    Arguments:
        label, count: uint32[n] and int64[n], of rules in the order of their labels.
    """
    if not label.any():
        return label[:1], np.array([count.sum()] * min(1, label.size), np.int64)
    codes, which = np.unique(label, return_inverse=True)
    return codes, np.bincount(which, count, codes.size).astype(np.int64)


def _english_margins(keys: Column, has_labels: bool, english: Column) -> int:
    """Append (number, c(e), c(label, e)) of each rule of a part; return its number of sides."""
    keys.rewind()
    sides, packed = keys.read(keys.size).T
    count = packed & np.uint64(0xFFFFFFFF)
    distinct, number = np.unique(sides, return_inverse=True)
    out = np.empty((keys.size, 3), np.uint32)
    out[:, 0] = number
    out[:, 1] = np.bincount(number, count)[number]
    out[:, 2] = out[:, 1]
    if has_labels:
        several = np.flatnonzero(out[:, 1] != count)  # the side has another rule
        labelled = number[several].astype(np.uint64) << _HALF | packed[several] >> _HALF
        _, pair = np.unique(labelled, return_inverse=True)
        out[several, 2] = np.bincount(pair, count[several])[pair]
    keys.close()
    english.append(out)
    return distinct.size
