"""Report of scoring a grammar: counts of rules, phrase pairs and words for each table."""

from dataclasses import astuple, dataclass, field
from typing import NamedTuple

import numpy as np

from distsim.grammar.block import RuleBlock
from distsim.grammar.invalid_lines import InvalidLines
from distsim.grammar.scoring import COMPOSED, IDENTICAL, SCORED, SKIPPED, BlockScores, TableScores


@dataclass
class TableCounts:
    """Counts of the scores by one table.

    scored, unknown: rules with and without a score.
    pairs: phrase pairs. identical, found, composed: those of identical phrases, those found in the
        table, those composed of their words.
    unescaped, split, dropped: words of the rules that were unescaped, split or dropped to be
        looked up.
    """

    scored: int = 0
    unknown: int = 0
    pairs: int = 0
    identical: int = 0
    found: int = 0
    composed: int = 0
    unescaped: int = 0
    split: int = 0
    dropped: int = 0

    @classmethod
    def of_block(cls, table: TableScores, has_pairs: np.ndarray) -> "TableCounts":
        """Return the counts of a block of rules.

        Arguments:
            table: the scores by one table.
            has_pairs: bool[n], rules that have phrase pairs.
        """
        of = np.bincount(table.outcomes, minlength=COMPOSED + 1).tolist()
        return cls(
            int(np.count_nonzero(table.scored)),
            int(np.count_nonzero(has_pairs & (table.scored == 0))),
            table.outcomes.size,
            of[IDENTICAL] + of[SKIPPED],
            of[SCORED],
            of[COMPOSED],
            *table.changes,
        )

    def __add__(self, other: "TableCounts") -> "TableCounts":
        return TableCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def lines(self, name: str, without_pairs: int) -> list[str]:
        """Return the report of a table, two lines.

        Arguments:
            name: of the table.
            without_pairs: number of rules without phrase pairs.
        """
        made = f", {self.composed:,} composed of words" if self.composed else ""
        return [
            f"{name}: {self.scored:,} rules scored; unscored: {without_pairs:,} without a phrase "
            f"pair, {self.unknown:,} without a phrase pair that has a similarity",
            f"{name}: {self.pairs:,} phrase pairs, {self.identical:,} identical, "
            f"{self.found:,} found in the table{made}; of the words {self.unescaped:,} unescaped, "
            f"{self.split:,} looked up as their parts, {self.dropped:,} dropped by the normaliser",
        ]


class ScoredBlock(NamedTuple):
    """A block of output lines, compressed, and its counts for the report.

    Attributes:
        packed: the lines.
        faults: line number and message of invalid lines.
        n_rules: rules.
        lacking, aligned: rules without links between words, and those linked here.
        without_pairs: rules without a pair of contiguous phrases.
        tables: counts of each score.
    """

    packed: bytes
    faults: list[tuple[int, str]]
    n_rules: int
    lacking: int
    aligned: int
    without_pairs: int
    tables: list[TableCounts]

    @classmethod
    def of(cls, block: RuleBlock, scores: BlockScores, packed: bytes) -> "ScoredBlock":
        """Return the output and the counts of a block of rules.

        Arguments:
            block: of lines.
            scores: of its rules.
            packed: its lines, compressed.
        """
        has_pairs = np.diff(scores.pair_stops, prepend=0) > 0
        fine = block.status == 0
        return cls(
            packed,
            block.faults(),
            int(np.count_nonzero(fine)),
            int(np.count_nonzero(scores.alignment.lacking)),
            int(np.count_nonzero(scores.alignment.made)),
            int(np.count_nonzero(fine & ~has_pairs)),
            [TableCounts.of_block(table, has_pairs) for table in scores.tables],
        )


@dataclass
class ScoreReport:
    """Report of scoring: counts of rules, and everything on which the scores depend.

    Arguments:
        faulty: the lines that are no rules.
        names: the features written; `tables` has the counts of each.
        signatures: per table, a line with everything on which its scores depend.
        read: rules.
        lacking: rules without links between words.
        aligned: rules linked here.
        without_pairs: rules without a pair of contiguous phrases.
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
    lacking: int = 0
    aligned: int = 0
    without_pairs: int = 0
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
        self.lacking += block.lacking
        self.aligned += block.aligned
        self.without_pairs += block.without_pairs
        self.tables = [a + b for a, b in zip(self.tables, block.tables, strict=True)]

    def lines(self) -> list[str]:
        """Return the report, a few lines of text; the signatures of the scores are last."""
        told = [f"{self.read:,} rules read"]
        faulty = self.faulty
        if faulty.kept or faulty.dropped:
            told[0] += f", {faulty.kept:,} invalid lines kept unscored, {faulty.dropped:,} dropped"
            told += [f"  {message}" for message in faulty.shown]
        told.append(
            f"{self.lacking:,} rules without links between words, {self.aligned:,} aligned here"
            + ("" if self.trained_on is None else f", learned from {self.trained_on:,} rules")
        )
        for name, table in zip(self.names, self.tables, strict=True):
            told += table.lines(name, self.without_pairs)
        rate = self.read / max(self.seconds, 1e-9)
        cpu_rate = self.read / max(self.cpu_seconds, 1e-9)
        told.append(f"{rate:,.0f} rules a second, {cpu_rate:,.0f} a CPU second")
        return told + self.signatures
