"""Writes the scores of rules behind the features of their lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import FeatureStyle
from distsim.base.errors import ParameterError
from distsim.grammar.arrays import texts_of
from distsim.grammar.block import RuleBlock
from distsim.grammar.fields import is_feature_name
from distsim.grammar.formats.grammar_format import GrammarFormat
from distsim.grammar.kernels import packs as kernel_text
from distsim.grammar.kernels import rules as kernel
from distsim.grammar.scoring import NAMES, BlockScores
from distsim.kernels.compiled import frozen

FEATURE_STYLES: tuple[str, ...] = get_args(FeatureStyle)
NOT_AVAILABLE = "NA"
RELEASED = tuple(sorted(NAMES["ppdb"]))


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Options of writing scores.

    Arguments:
        style: `named` writes `sim_ngram=0.12345`, `bare` the value alone; `auto` writes
            bare values where the first lines of the grammar have no named feature.
        coverage: write, too, the share of the words of both sides that stand in a phrase pair with
            a similarity of its own.
        missing: what is written for a missing score, among bare values; named
            features are left out, those of PPDB 1.0 are 0, as there.
        explain: a file for the phrase pairs behind the scores, a line each, and the words in no
            pair; its first line names the columns.

    Raises:
        ParameterError: the style is unknown, or `missing` cannot be written in a grammar.

    >>> OutputOptions(style="bare", missing="0").coverage
    True
    """

    style: FeatureStyle = "auto"
    coverage: bool = True
    missing: str = NOT_AVAILABLE
    explain: str | None = None

    def __post_init__(self) -> None:
        if self.style not in FEATURE_STYLES:
            raise ParameterError(f"`style` {self.style!r}: choose {', '.join(FEATURE_STYLES)}")
        if not is_feature_name(self.missing):
            raise ParameterError(
                f"`missing` {self.missing!r}: give one word without an equals sign, as 0 or NA"
            )

    def names_features(self, first: RuleBlock, grammar_format: GrammarFormat) -> bool:
        """Return whether scores are written as `name=value` into a grammar.

        Arguments:
            first: its first block. grammar_format: whether it allows names.
        """
        if self.style != "auto":
            return self.style == "named"
        kinds = first.feature_kinds
        has_names = bool(np.any(kinds & kernel.NAMED)) or not np.any(kinds)
        return grammar_format.named_features and has_names


class WrittenLines(NamedTuple):
    """Lines of a block with further features.

    lines: bytes of each line. replaced: lines in which a feature stood already.
    """

    lines: list[bytes]
    replaced: int


class ScoredText(NamedTuple):
    """The lines of a block with scores, end to end.

    text: the lines. replaced: lines in which a feature stood already.
    """

    text: bytes
    replaced: int


def text_with_scores(
    block: RuleBlock,
    scores: BlockScores,
    options: OutputOptions,
    named: bool,
    drops: bool,
    stand: bool = False,
) -> ScoredText:
    """Return the lines of a block with the scores behind their features.

    named: as `name=value`. drops: leave out invalid lines instead of keeping them as they are.
    stand: the last features are older values of the scores, without names, and are replaced.

    Arguments:
        options: how they are written.
    """
    columns = _columns_of(scores, options)
    if named:
        columns = _as_released(columns)
    fine = block.status == 0
    text, ends = _written_values(block, columns, options, named)
    begins = {name[:4] for name in columns} if named else ()
    may_stand = any(begin.encode() in block.text for begin in begins)  # one search for most
    standing = may_stand and any(f"{name}=".encode() in block.text for name in columns)
    if block.written is None and not standing and not stand:
        whole = kernel_text.insert_texts(
            frozen(np.frombuffer(block.text, np.uint8)), frozen(block.line_starts),
            frozen(block.features[:, 1]), frozen(text), frozen(ends), frozen(fine | (not drops)),
        )  # fmt: skip
        return ScoredText(whole.tobytes(), 0)
    written_values, stops = text.tobytes(), ends.tolist()
    added = [written_values[start:stop] for start, stop in pairwise(stops)]
    if stand:
        written = _lines_with_last_replaced(block, added, len(columns))
    else:
        written = lines_with_features(block, added, list(columns) if named else (), options.missing)
    lines, valid = written.lines, fine.tolist()
    kept = [line for n, line in enumerate(lines) if valid[n] or not drops]
    return ScoredText(b"".join(kept), written.replaced)


def stand_already(block: RuleBlock, scores: BlockScores, options: OutputOptions) -> bool:
    """Return whether the last features of each rule are its scores, without names.

    Nothing but their values tells it: all must be what would be written now, and of a rule a
    value with decimals.

    Arguments:
        block: the first rules of a grammar. scores: theirs.
        options: how they are written.
    """
    columns = _columns_of(scores, options)
    text, ends = _written_values(block, columns, options, named=False)
    written_values, stops = text.tobytes(), ends.tolist()
    pairs = [
        (block.feature_text(row).split()[-len(columns) :], written_values[start:stop].split())
        for row, (start, stop) in enumerate(pairwise(stops))
        if block.status[row] == 0
    ]
    has_decimals = any(value.strip(b"01.").isdigit() for _, values in pairs for value in values)
    return has_decimals and all(features == values for features, values in pairs)


def _columns_of(scores: BlockScores, options: OutputOptions) -> dict[str, np.ndarray]:
    """Return the values of each feature to be written, by its name."""
    columns: dict[str, np.ndarray] = {}
    for name, feature in scores.features:
        columns[name] = feature.means
        if options.coverage and feature.coverage is not None:
            columns[f"{name}_coverage"] = feature.coverage
    return columns


def _written_values(
    block: RuleBlock, columns: dict[str, np.ndarray], options: OutputOptions, named: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return (text, offsets): the features of each rule, a blank before each."""
    absent = "" if named else f" {options.missing}"
    labels = [f" {name}=" if named else " " for name in columns]
    return _text_of_values(
        np.column_stack(list(columns.values())), block.status == 0, labels, absent
    )


def _text_of_values(
    values: np.ndarray, wanted: np.ndarray, labels: Sequence[str], absent: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return (text, offsets): the values of each wanted line with five decimals, behind labels."""
    texts: tuple[np.ndarray, np.ndarray] = kernel_text.write_values(
        frozen(values), frozen(wanted), *texts_of([label.encode() for label in labels]),
        frozen(np.frombuffer(absent.encode(), np.uint8)),
    )  # fmt: skip
    return texts


def lines_of_values(
    values: np.ndarray, wanted: np.ndarray, labels: Sequence[str], absent: str = ""
) -> list[bytes]:
    """Return the values of each line as text with five decimals; empty of lines without.

    Arguments:
        values: float64[n, m], NaN where there is none. wanted: bool[n], lines that have values.
        labels: m texts, one before each value. absent: in place of both, where there is none.
    """
    text, offsets = _text_of_values(values, wanted, labels, absent)
    whole = text.tobytes()
    return [whole[a:b] for a, b in pairwise(offsets.tolist())]


def _lines_with_last_replaced(
    block: RuleBlock, added: Sequence[bytes], n_replaced: int
) -> WrittenLines:
    """Return the lines of a block, the last `n_replaced` features of each rule replaced."""
    last = re.compile(rb"(?:[ \t]+[^ \t\r\n]+){%d}(?=\s*$)" % n_replaced)
    lines = block.written or [block.line(row) for row in range(len(block))]
    lines = list(lines)
    rules = np.flatnonzero(block.status == 0).tolist()
    for row in rules:
        features = last.sub(added[row], b" " + block.feature_text(row), 1)[1:]
        lines[row] = block.line_with_features(row, features)
    return WrittenLines(lines, len(rules))


def lines_with_features(
    block: RuleBlock,
    added: Sequence[bytes],
    names: Sequence[str] = (),
    missing: str = NOT_AVAILABLE,
) -> WrittenLines:
    """Return the lines of a block, each with further features after its last one.

    A feature that a line has already keeps its place and gets the new value.

    Arguments:
        added: the features to add to each line, a blank before each.
        names: of named features that are added to some lines.
        missing: the value of a feature that stands in a line and is not added to it.
    """
    text = block.text
    if block.written is None:
        bounds, ends = block.line_starts.tolist(), block.features[:, 1].tolist()
        lines = [
            text[start:end] + more + text[end:stop] if more else text[start:stop]
            for start, stop, end, more in zip(bounds, bounds[1:], ends, added, strict=False)
        ]
    else:
        lines = [
            block.line_with_features(row, block.feature_text(row) + more)
            if more and status == 0
            else line
            for row, (line, more, status) in enumerate(
                zip(block.written, added, block.status.tolist(), strict=True)
            )
        ]
    standing = [name.encode() for name in names if f"{name}=".encode() in text]
    if not standing:
        return WrittenLines(lines, 0)
    pattern = re.compile(rb"(?<![^ \t])(%s)=[^ \t]*" % b"|".join(map(re.escape, standing)))
    starts, ends = block.features.T.tolist()
    replaced = 0
    for row in np.flatnonzero(block.status == 0).tolist():
        features = text[starts[row] : ends[row]]
        if pattern.search(features):
            features = _with_features(features, pattern, added[row], missing.encode())
            lines[row] = block.line_with_features(row, features)
            replaced += 1
    return WrittenLines(lines, replaced)


def _as_released(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return scores with those of PPDB first, on each line, 0 where there is none, as in 1.0.

    Arguments:
        columns: float64 by name, NaN where there is none.
    """
    released = {name: np.nan_to_num(columns[name]) for name in RELEASED if name in columns}
    return released | {name: values for name, values in columns.items() if name not in released}


def _with_features(field: bytes, pattern: re.Pattern[bytes], added: bytes, missing: bytes) -> bytes:
    """Return a field of features with new values in the places of old ones, others at its end.

    Arguments:
        field: the features. pattern: matches each feature to replace; its group is the name.
        added: new features, a blank before each. missing: the value of one that is not among them.
    """
    token_of_name = {token.rpartition(b"=")[0]: token for token in added.split()}
    standing = {match[1] for match in pattern.finditer(field)}
    field = pattern.sub(lambda match: token_of_name.get(match[1], match[1] + b"=" + missing), field)
    return field + b"".join(
        b" " + token for name, token in token_of_name.items() if name not in standing
    )
