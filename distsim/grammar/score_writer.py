"""Writes the scores of rules behind the features of their lines."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from distsim.base.choices import FeatureStyle
from distsim.base.errors import ParameterError
from distsim.grammar.block import RuleBlock
from distsim.grammar.fields import is_feature_name
from distsim.grammar.formats.layout import GrammarFormat
from distsim.grammar.kernels import rules as kernel
from distsim.grammar.scoring import BlockScores

FEATURE_STYLES: tuple[str, ...] = get_args(FeatureStyle)
NOT_AVAILABLE = "NA"
DECIMALS = 5


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Options of writing scores.

    Arguments:
        style: `named` writes `sim_ngram=0.12345`, `bare` the value alone; `auto` writes
            bare values where the first lines of the grammar have no named feature.
        coverage: write the share of phrase pairs that have a similarity, too.
        missing: what is written for a missing score, among bare values; named
            features are left out.

    Raises:
        ParameterError: the style is unknown, or `missing` cannot be written in a grammar.

    >>> OutputOptions(style="bare", missing="0").coverage
    True
    """

    style: FeatureStyle = "auto"
    coverage: bool = True
    missing: str = NOT_AVAILABLE

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


def lines_with_scores(
    block: RuleBlock,
    scores: BlockScores,
    names: list[str],
    options: OutputOptions,
    named: bool,
    drops: bool,
) -> bytes:
    """Return the lines of a block with the scores behind their features.

    named: as `name=value`. drops: leave out invalid lines instead of keeping them as they are.

    Arguments:
        block: of lines.
        scores: of its rules.
        names: of the scores.
        options: how they are written.
    """
    columns: list[list[bytes]] = []
    for name, table in zip(names, scores.tables, strict=True):
        with np.errstate(invalid="ignore"):
            values = [(name, table.means)]
            if options.coverage:
                values.append((f"{name}_coverage", table.scored / table.pairs))
        for feature, numbers in values:
            label = f" {feature}=".encode() if named else b" "
            absent = b"" if named else b" " + options.missing.encode()
            rounded = np.round(numbers, DECIMALS) + 0.0  # no -0.00000
            form = label.replace(b"%", b"%%") + b"%%.%df" % DECIMALS
            columns.append(
                [absent if math.isnan(value) else form % value for value in rounded.tolist()]
            )
    added = [b"".join(row) for row in zip(*columns, strict=True)]
    status = block.status.tolist()
    lines = lines_with_features(block, [b"" if status[n] else text for n, text in enumerate(added)])
    return b"".join([line for n, line in enumerate(lines) if not (drops and status[n])])


def lines_with_features(block: RuleBlock, added: Sequence[bytes]) -> list[bytes]:
    """Return the lines of a block, each with further features after its last one.

    Arguments:
        block: parsed rules.
        added: the bytes to add to each line.
    """
    text = block.text
    bounds, ends = block.line_starts.tolist(), block.features[:, 1].tolist()
    return [
        text[start:end] + more + text[end:stop] if more else text[start:stop]
        for start, stop, end, more in zip(bounds, bounds[1:], ends, added, strict=False)
    ]
