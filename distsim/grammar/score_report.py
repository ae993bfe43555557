"""Report of scoring a grammar: counts of rules, phrase pairs and words for each table."""

from dataclasses import astuple, dataclass, field
from typing import NamedTuple

import numpy as np

from distsim.grammar.block import RuleBlock
from distsim.grammar.invalid_lines import InvalidLines
from distsim.grammar.scoring import (
    COMPOSED,
    DROPPED,
    IDENTICAL,
    NOT_IN_TABLE,
    SCORED,
    SKIPPED,
    TOO_WEAK,
    BlockScores,
    TableScores,
)


@dataclass
class TableCounts:
    """Counts of the scores by one table.

    scored: rules with a score. without_pairs: rules without a pair to score. unknown: rules with
        pairs of which none has a score.
    pairs: phrase pairs. identical, found, composed: those of identical phrases, those found in the
        table, those composed of their words. missing, weak, vanished: those without a similarity:
        a phrase is unknown, too rare, or the normaliser drops a word of it.
    resting: scored rules of which a phrase is composed of words.
    unescaped, split, dropped: words of the rules that were unescaped, split or dropped to be
        looked up.
    """

    scored: int = 0
    without_pairs: int = 0
    unknown: int = 0
    pairs: int = 0
    identical: int = 0
    found: int = 0
    composed: int = 0
    missing: int = 0
    weak: int = 0
    vanished: int = 0
    resting: int = 0
    unescaped: int = 0
    split: int = 0
    dropped: int = 0

    @classmethod
    def of_block(cls, table: TableScores, fine: np.ndarray) -> "TableCounts":
        """Return the counts of a block of rules.

        Arguments:
            table: the scores by one table.
            fine: bool[n], which lines are rules.
        """
        of = np.bincount(table.outcomes, minlength=COMPOSED + 1).tolist()
        n_pairs = int(table.pairs.sum()) + of[SKIPPED]
        return cls(
            int(np.count_nonzero(table.scored)),
            int(np.count_nonzero(fine & (table.pairs == 0))),
            int(np.count_nonzero((table.pairs > 0) & (table.scored == 0))),
            n_pairs,
            of[IDENTICAL] + of[SKIPPED],
            of[SCORED],
            of[COMPOSED],
            n_pairs - sum(of) + of[NOT_IN_TABLE],
            of[TOO_WEAK],
            of[DROPPED],
            int(np.count_nonzero(table.composed)),
            *table.changes,
        )

    def __add__(self, other: "TableCounts") -> "TableCounts":
        return TableCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def lines(self, name: str) -> list[str]:
        """Return the report of a score, a few lines; the parts of a sum add up.

        Arguments:
            name: of the score.
        """
        kinds = {
            "identical": self.identical, "known": self.found, "composed of words": self.composed,
            "with an unknown phrase": self.missing, "with a phrase too rare": self.weak,
            "with a word that the normaliser drops": self.vanished,
        }  # fmt: skip
        changes = {
            "unescaped": self.unescaped, "looked up as their parts": self.split,
            "dropped by the normaliser": self.dropped,
        }  # fmt: skip
        lines = [
            f"{name}: {self.scored:,} rules scored; unscored: {self.without_pairs:,} without a "
            f"phrase pair, {self.unknown:,} without a phrase pair that has a similarity",
            f"{name}: {self.pairs:,} phrase pairs",
        ]
        for before, counts in ((": ", kinds), ("; of the words ", changes)):
            listed = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
            lines[-1] += before + listed if listed else ""
        if self.resting:
            share = 100 * self.resting / self.scored
            lines.append(
                f"{name}: {self.resting:,} of the scored rules ({share:.0f}%) rest on a phrase "
                "that is composed of its words"
            )
        return lines


class ScoredBlock(NamedTuple):
    """A block of output lines, compressed, and its counts for the report.

    Attributes:
        packed: the lines. explained: lines of their phrase pairs, compressed.
        faults: line number and message of invalid lines.
        n_rules: rules.
        replaced: rules in which a feature of this name stood already.
        lacking, aligned: rules without links between words, and those linked here.
        tables: counts of each score.
    """

    packed: bytes
    explained: bytes
    faults: list[tuple[int, str]]
    n_rules: int
    replaced: int
    lacking: int
    aligned: int
    tables: list[TableCounts]

    @classmethod
    def of(
        cls, block: RuleBlock, scores: BlockScores, packed: bytes, explained: bytes, replaced: int
    ) -> "ScoredBlock":
        """Return the output and the counts of a block of rules.

        Arguments:
            block: of lines.
            scores: of its rules.
            packed: its lines, compressed. explained: those of their phrase pairs.
            replaced: lines in which a feature stood already.
        """
        fine = block.status == 0
        return cls(
            packed,
            explained,
            block.faults(),
            int(np.count_nonzero(fine)),
            replaced,
            int(np.count_nonzero(scores.alignment.lacking)),
            int(np.count_nonzero(scores.alignment.made)),
            [TableCounts.of_block(table, fine) for table in scores.tables],
        )


@dataclass
class ScoreReport:
    """Report of scoring: counts of rules, and everything on which the scores depend.

    Arguments:
        faulty: the lines that are no rules.
        names: the features written; `tables` has the counts of each.
        signatures: per table, a line with everything on which its scores depend.
        read: rules. replaced: those in which a feature of this name stood already.
        lacking: rules without links between words.
        aligned: rules linked here.
        trained_on: rules that the aligner was trained on; None where it was not trained.
        seconds, cpu_seconds: of the whole.

    >>> from distsim import score_grammar
    >>> from distsim.grammar import RuleScorer
    >>> _ = (folder / "bare").write_text("[X] ||| king ||| queen ||| p=1\\n")
    >>> report = score_grammar(folder / "bare", folder / "out", RuleScorer([("sim_ngram", table)]))
    >>> report.read, report.lacking, report.aligned
    (1, 1, 1)
    """

    faulty: InvalidLines
    names: list[str]
    signatures: list[str]
    read: int = 0
    replaced: int = 0
    lacking: int = 0
    aligned: int = 0
    tables: list[TableCounts] = field(default_factory=list)
    trained_on: int | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __post_init__(self) -> None:
        self.tables = self.tables or [TableCounts() for _ in self.names]

    def count(self, block: ScoredBlock) -> None:
        """Add the counts of a block.

        Arguments:
            block: a scored block.
        """
        self.read += block.n_rules
        self.replaced += block.replaced
        self.lacking += block.lacking
        self.aligned += block.aligned
        self.tables = [a + b for a, b in zip(self.tables, block.tables, strict=True)]

    def lines(self) -> list[str]:
        """Return the report, a few lines of text; the signatures of the scores are last."""
        told = [f"{self.read:,} rules read"]
        faulty = self.faulty
        if faulty.kept or faulty.dropped:
            told[0] += f", {faulty.kept:,} invalid lines kept unscored, {faulty.dropped:,} dropped"
            told += [f"  {message}" for message in faulty.shown]
        if self.replaced:
            told.append(
                f"{self.replaced:,} rules had such a feature already: replaced in its place"
            )
        told.append(
            f"{self.lacking:,} rules without links between words, {self.aligned:,} aligned here"
            + ("" if self.trained_on is None else f", learned from {self.trained_on:,} rules")
        )
        for name, table in zip(self.names, self.tables, strict=True):
            told += table.lines(name)
        rate = self.read / max(self.seconds, 1e-9)
        cpu_rate = self.read / max(self.cpu_seconds, 1e-9)
        told.append(f"{rate:,.0f} rules a second, {cpu_rate:,.0f} a CPU second")
        return told + self.signatures
