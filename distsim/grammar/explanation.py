"""What a rule's scores are made of: its phrase pairs, and its words that stand in none."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from distsim.comparison.table import SignatureTable
from distsim.grammar.block import TERMINAL, RuleBlock, single_rule, span_text
from distsim.grammar.pair_features import without_gaps
from distsim.grammar.rule_similarity import SideScores
from distsim.grammar.scoring import (
    SIM_RULE,
    BlockScores,
    PairOutcome,
    RuleScorer,
)

KINDS = {
    PairOutcome.IDENTICAL: "identical",
    PairOutcome.SCORED: "stored",
    PairOutcome.COMPOSED: "composed",
    PairOutcome.NOT_IN_TABLE: "unknown",
    PairOutcome.TOO_WEAK: "rare",
    PairOutcome.DROPPED: "dropped",
    PairOutcome.SKIPPED: "skipped",
}
NO_PAIR = "no pair"
# The columns of what compare_sides returns.
PARTS = ("words", "letters", "alone", "moved", "opposed")
HEADER = ("line", "score", "source", "target", "similarity", "source_count", "target_count", "kind")


class PairEvidence(NamedTuple):
    """A phrase pair behind a score, or a word of a side that stands in no pair.

    Attributes:
        score: the name of the score.
        source, target: the phrases as written, without gaps; one is empty for a word in no pair.
        similarity: theirs, None without one.
        source_count, target_count: the occurrences behind their signatures, 0 where the table has
            none.
        kind: `identical`, `stored` (both have contexts of their own), `composed` (one is made of
            its words), `unknown`, `rare`, `dropped` or `no pair`. Of sim_rule the name of a part
            of it: `whole`, `words` and `letters` are likenesses of the sides; `alone` (a content
            word without a counterpart), `moved` (share of gaps with which words changed places) and
            `opposed` hold it down, and are left out where they are 0.
    """

    score: str
    source: str
    target: str
    similarity: float | None
    source_count: int
    target_count: int
    kind: str


def explain_block(
    block: RuleBlock,
    scores: BlockScores,
    tables: Sequence[tuple[str, SignatureTable]],
) -> list[list[PairEvidence]]:
    """Return the phrase pairs behind the scores of each rule, and its words in no pair.

    Arguments:
        block: of rules. scores: theirs.
        tables: the names and tables of the first of the scores, which phrase pairs make.
    """
    begins = np.concatenate([[0], scores.pair_stops])
    spans, by_name = scores.spans.tolist(), dict(scores.features)
    evidence: list[list[PairEvidence]] = []
    for rule in range(len(block)):
        pairs = range(int(begins[rule]), int(begins[rule + 1]))
        texts = [(span_text(block, spans[k][:2]), span_text(block, spans[k][2:])) for k in pairs]
        in_pair = {
            symbol for k in pairs for start, n in (spans[k][:2], spans[k][2:])
            for symbol in range(start, start + n)
        }  # fmt: skip
        alone = [
            (block.symbol(symbol).decode(), is_target)
            for is_target, side in enumerate(block.sides(rule))
            for symbol in side
            if symbol not in in_pair and block.gaps[symbol] == TERMINAL
        ]
        rows: list[PairEvidence] = []
        for name, table in tables:
            of_table = by_name[name]
            counts = _counts(table, [*(text for pair in texts for text in pair),
                                     *(word for word, _ in alone)])  # fmt: skip
            for k, (source, target) in zip(pairs, texts, strict=True):
                value = float(of_table.similarities[k])
                rows.append(PairEvidence(
                    name, source, target, None if math.isnan(value) else value, counts[source],
                    counts[target], KINDS[PairOutcome(of_table.outcomes[k])],
                ))  # fmt: skip
            for word, is_target in alone:
                phrases = ("", word) if is_target else (word, "")
                numbers = (0, counts[word]) if is_target else (counts[word], 0)
                rows.append(PairEvidence(name, *phrases, None, *numbers, NO_PAIR))
        if SIM_RULE in by_name and scores.sides is not None and block.status[rule] == 0:
            rows += _parts_of(block, scores.sides, rule, tables[0][1])
        evidence.append(rows)
    return evidence


def _parts_of(
    block: RuleBlock, sides: SideScores, rule: int, table: SignatureTable
) -> list[PairEvidence]:
    """Return what sim_rule of a rule is made of, a row for each part.

    Arguments:
        rule: its number in the block.
        table: whose occurrences of the sides are told.
    """
    texts = [without_gaps(side) for side in block.side_texts(rule)]
    counts = _counts(table, texts)
    whole = float(sides.wholes[rule])
    parts = [("whole", None if math.isnan(whole) else whole)]
    for name, value in zip(PARTS, sides.parts[rule].tolist(), strict=True):
        if value or name in ("words", "letters"):
            parts.append((name, value))
    return [
        PairEvidence(SIM_RULE, texts[0], texts[1], value, counts[texts[0]], counts[texts[1]], name)
        for name, value in parts
    ]


def explain_rule(
    scorer: RuleScorer, source: str, target: str, links: Iterable[tuple[int, int]] | None = None
) -> list[PairEvidence]:
    """Return the phrase pairs behind the scores of one rule, and its words in no pair.

    Arguments:
        scorer: with its tables.
        source, target: the sides, symbols separated by blanks, gaps as `[NP,1]`.
        links: (source symbol, target symbol), from 0; None where the scorer's aligner is to say.

    Raises:
        ParameterError: a link points outside, or a gap does not occur once on each side.

    >>> scorer = RuleScorer([("sim_ngram", table)])
    >>> [row.kind for row in explain_rule(scorer, "the king", "the zeppelin", [(0, 0), (1, 1)])]
    ['identical', 'unknown', 'unknown']
    """
    block = single_rule(source, target, links or ())
    return explain_block(block, scorer.score_block(block), scorer.tables)[0]


def explanation_lines(block: RuleBlock, evidence: list[list[PairEvidence]]) -> bytes:
    """Return the evidence of a block as lines of columns, HEADER's: tab-separated UTF-8.

    Arguments:
        block: of rules. evidence: of each, as explain_block returns it.
    """
    return "".join(
        f"{block.first_line + rule}\t{row.score}\t{row.source}\t{row.target}\t"
        f"{'NA' if row.similarity is None else format(row.similarity, '.5f')}\t"
        f"{row.source_count}\t{row.target_count}\t{row.kind}\n"
        for rule, rows in enumerate(evidence)
        for row in rows
    ).encode()


def _counts(table: SignatureTable, phrases: list[str]) -> dict[str, int]:
    """Return the occurrences behind the signature of each phrase, 0 where it has none."""
    distinct = list(dict.fromkeys(phrases))
    plain = [without_gaps(phrase) or phrase for phrase in distinct]
    rows = table.find(plain).tolist() if plain else []
    return {
        phrase: int(table.strengths[row]) if row >= 0 else 0
        for phrase, row in zip(distinct, rows, strict=True)
    }
