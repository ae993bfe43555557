"""Similarity of the two sides of rules, by signature tables."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from enum import IntEnum
from math import nan
from typing import Any, NamedTuple, get_args

import numpy as np

from distsim.base.arguments import PhrasePairs, check_types, in_range, one_of
from distsim.base.errors import ParameterError
from distsim.comparison.gapped.patterns import GappedPattern
from distsim.comparison.gapped.signatures import GappedCosine
from distsim.comparison.opposites.opposites import Opposites
from distsim.comparison.table import SignatureTable
from distsim.corpus.kernels import render_phrases
from distsim.corpus.normaliser import unescape
from distsim.corpus.vocabulary import HashNumbering, hash_blob
from distsim.grammar.alignment import Alignment, RuleAligner
from distsim.grammar.block import LONGEST_SPAN, TERMINAL, RuleBlock, decompose_block, single_rule
from distsim.grammar.kernels.phrase_pairs import has_unknown_alone, hash_spans
from distsim.grammar.rule_similarity import RuleSimilarity, SideScores
from distsim.grammar.tokens import (
    UNKNOWN,
    BlockWords,
    LookedUpWords,
    TokenForms,
    distinct_words,
)
from distsim.kernels.compiled import frozen
from distsim.signatures.estimates import check_estimate

NAMES: dict[str, tuple[str, str]] = {
    "distsim": ("sim_ngram", "sim_syn"),
    "ppdb": ("GoogleNgramSim", "AGigaSim"),  # as in the releases of PPDB
}


class PairOutcome(IntEnum):
    """What scoring made of a phrase pair."""

    SCORED = 0  # both have contexts of their own
    IDENTICAL = 1
    SKIPPED = 2  # identical, where such a pair does not count
    NOT_IN_TABLE = 3
    TOO_WEAK = 4  # rarer than `min_strength`
    DROPPED = 5  # the normaliser drops a word of it
    COMPOSED = 6  # one is made of its words


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """Options of scoring: which phrase pairs count, and how cosines are estimated.

    Arguments:
        min_strength: a phrase with fewer occurrences behind its signature is taken for unknown;
            `sim_whole` and `sim_rule` heed neither this nor `compose`.
        longest: symbols of the longest phrases.
        compose: make a phrase that a table lacks of its words, where the table keeps their
            vectors.
        estimate: how cosines are estimated, `bits` or `restored`; what serves a table best where
            None.
        pairs: `thesis`: phrases whose edges are linked, and the whole sides of short rules;
            `reference`: those of the authors' implementation, whose source phrases may end with
            words without a link.

    >>> ScoreOptions(min_strength=5).compose
    False
    """

    min_strength: int = 0
    longest: int = LONGEST_SPAN
    compose: bool = False
    estimate: str | None = None
    pairs: PhrasePairs = "thesis"

    def __post_init__(self) -> None:
        check_types(self)
        in_range(self.min_strength, "`min_strength`", 0)
        one_of(self.pairs, get_args(PhrasePairs), "`pairs`")
        in_range(self.longest, "longest phrase", 1)
        check_estimate(self.estimate)


class FeatureScores(NamedTuple):
    """One score of a block's rules: by the pairs of one table, or of whole sides or opposites.

    similarities: float64 per pair, NaN without one. outcomes: uint8 per pair, SCORED..COMPOSED.
    means: float64 per rule, the mean of its pairs, the highest of opposites, or the score of the
        whole rule; NaN where no pair has a similarity.
    coverage: float64 per rule, the share of its words in pairs with a similarity of their own; of
        opposites that of its pairs; of whole rules 1, 0, or NaN without a pair; None where every
        rule has a score.
    pairs, scored: int64 per rule, phrase pairs that count and those with a similarity.
    composed: bool per rule, whether a phrase behind its score is made of its words.
    changes: occurrences of tokens that were (unescaped, split, dropped).
    """

    similarities: np.ndarray
    outcomes: np.ndarray
    means: np.ndarray
    coverage: np.ndarray | None
    pairs: np.ndarray
    scored: np.ndarray
    composed: np.ndarray
    changes: tuple[int, int, int]


class BlockScores(NamedTuple):
    """The scores of a block's rules.

    Attributes:
        alignment: their links.
        pair_stops: int64[n], phrase pairs up to the end of each rule.
        spans: int64[pairs, 4], first symbol and number of symbols of either phrase.
        features: (name, scores) of each score.
        sides: similarities of the whole sides and what they are made of, where asked for.
    """

    alignment: Alignment
    pair_stops: np.ndarray
    spans: np.ndarray
    features: list[tuple[str, FeatureScores]]
    sides: SideScores | None = None


class RuleScore(NamedTuple):
    """The score of one rule by one table.

    similarity: the mean over its scored pairs, None where there are none. pairs: phrase pairs.
    scored: of these, pairs with a similarity.
    """

    similarity: float | None
    pairs: int
    scored: int


class TableScorer:
    """Scorer of phrase pairs by one table; thread-safe.

    Arguments:
        table: the signatures.
        options: which pairs count, and how cosines are estimated.
    """

    def __init__(self, table: SignatureTable, options: ScoreOptions) -> None:
        self.table = table
        self._options = options
        self._forms = TokenForms(table)
        self._estimator = table.estimator(estimate=options.estimate)

    @property
    def estimate(self) -> str:
        """How cosines are estimated: `bits` or `restored`."""
        return self._estimator.estimate

    def __reduce__(self) -> tuple[Any, ...]:
        return TableScorer, (self.table, self._options)

    def look_up(self, block: RuleBlock, words: BlockWords) -> LookedUpWords:
        """Return the words of a block as they are looked up in the table.

        Arguments:
            block: of rules. words: those of the block.
        """
        return self._forms.look_up(block, words)

    def score(
        self, block: RuleBlock, looked_up: LookedUpWords, pair_stops: np.ndarray, spans: np.ndarray
    ) -> FeatureScores:
        """Return the scores of a block's phrase pairs, averaged by rule.

        Arguments:
            block: of rules.
            looked_up: its words.
            pair_stops: int64[rules], how many pairs there are up to the end of each rule.
            spans: int64[pairs, 4], first symbol and number of symbols of either phrase.
        """
        words, forms = looked_up
        occurrences = np.bincount(words.numbers[words.numbers >= 0], minlength=len(words.texts))
        changes = tuple(int(occurrences[(forms.changes & bit) > 0].sum()) for bit in (1, 2, 4))
        n = len(spans)
        firsts, lengths = spans[:, 0::2].T.reshape(-1), spans[:, 1::2].T.reshape(-1)
        text, offsets = frozen(forms.text), frozen(forms.offsets)
        numbers = frozen(words.numbers)
        hashes, whole = hash_spans(frozen(firsts), frozen(lengths), numbers, text, offsets)
        outcomes = np.full(n, PairOutcome.NOT_IN_TABLE, np.uint8)
        whole_pair = whole[:n] & whole[n:]
        outcomes[~whole_pair] = PairOutcome.DROPPED
        same = whole_pair & (hashes[:n] == hashes[n:])
        outcomes[same] = PairOutcome.IDENTICAL
        similarities = np.where(same, 1.0, np.nan)
        open_pairs = np.flatnonzero(outcomes == PairOutcome.NOT_IN_TABLE)
        # Each distinct phrase of the block is looked up once.
        wanted = np.concatenate([open_pairs, open_pairs + n])
        phrase, first_seen = HashNumbering().number(hashes[wanted])
        seen = wanted[first_seen]
        phrases, ends = render_phrases(
            numbers, frozen(firsts[seen]), frozen(lengths[seen]), text, offsets
        )
        similarities[open_pairs], outcomes[open_pairs] = self._estimated(
            phrases, ends, phrase.reshape(2, -1)
        )
        composed = np.flatnonzero(outcomes == PairOutcome.COMPOSED)
        of_words = hash_blob(forms.text, forms.offsets)
        unknown = frozen((forms.changes & UNKNOWN) > 0)
        alone = has_unknown_alone(frozen(spans[composed]), numbers, unknown, frozen(of_words))
        similarities[composed[alone]], outcomes[composed[alone]] = np.nan, PairOutcome.NOT_IN_TABLE
        are_own = np.isin(outcomes, (PairOutcome.SCORED, PairOutcome.IDENTICAL))
        coverage = _coverage(block, spans[are_own])
        return self._averaged(similarities, outcomes, coverage, pair_stops, changes)

    def _estimated(
        self, text: np.ndarray, ends: np.ndarray, pairs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (similarity, outcome) of pairs of phrases, int64[2, n] numbers into the text.

        Arguments:
            text, ends: uint8 and int64[m + 1], the phrases end to end.
            pairs: int64[2, n], numbers of phrases.
        """
        table = self.table
        rows = table.find_rendered(text, ends)
        known = rows >= 0
        weak = np.zeros(rows.size, bool)
        weak[known] = table.strengths[rows[known]] < self._options.min_strength
        bounds = ends.astype(np.int64)
        known_phrases = self._estimator.of_rows(
            rows, text, bounds[:-1], bounds[1:], self._options.compose
        )
        a, b = pairs
        values = np.full(a.size, np.nan)
        outcomes = np.full(a.size, PairOutcome.NOT_IN_TABLE, np.uint8)
        both = known_phrases.known[a] & known_phrases.known[b]
        outcomes[both] = PairOutcome.TOO_WEAK
        both &= ~(weak[a] | weak[b])
        values[both] = self._estimator.cosines(known_phrases, known_phrases, a[both], b[both])
        composed = known_phrases.composed.copy()
        composed[known] |= ~table.has_own_contexts(rows[known])
        outcomes[both] = np.where(
            (composed[a] | composed[b])[both], PairOutcome.COMPOSED, PairOutcome.SCORED
        )
        return values, outcomes

    def _averaged(
        self, similarities: np.ndarray, outcomes: np.ndarray, coverage: np.ndarray,
        pair_stops: np.ndarray, changes: tuple[int, ...],
    ) -> FeatureScores:  # fmt: skip
        n_rules = pair_stops.size
        owners = np.repeat(np.arange(n_rules), np.diff(pair_stops, prepend=0))
        has = ~np.isnan(similarities)
        pairs = np.bincount(owners[outcomes != PairOutcome.SKIPPED], minlength=n_rules)
        scored = np.bincount(owners[has], minlength=n_rules)
        sums = np.bincount(owners[has], similarities[has], minlength=n_rules)
        with np.errstate(invalid="ignore"):
            means = sums / scored
        return FeatureScores(
            similarities, outcomes, means, coverage, pairs, scored,
            np.bincount(owners[outcomes == PairOutcome.COMPOSED], minlength=n_rules) > 0,
            (changes[0], changes[1], changes[2]),
        )  # fmt: skip


def _coverage(block: RuleBlock, spans: np.ndarray) -> np.ndarray:
    """Return the share of each rule's words that stand in a span, float64; NaN without words.

    Arguments:
        block: of rules.
        spans: int64[p, 4], first symbol and symbols of either phrase of pairs.
    """
    begins = np.concatenate([spans[:, 0], spans[:, 2]])
    ends = begins + np.concatenate([spans[:, 1], spans[:, 3]])
    n_edges = block.gaps.size + 1
    edges = np.bincount(begins, minlength=n_edges) - np.bincount(ends, minlength=n_edges)
    is_word = block.gaps == TERMINAL
    is_covered = is_word & (np.cumsum(edges[:-1]) > 0)
    stops = block.token_stops[:, 1]
    n_words, n_covered = (
        np.diff(np.concatenate([[0], np.cumsum(which)])[stops], prepend=0)
        for which in (is_word, is_covered)
    )
    with np.errstate(invalid="ignore"):
        share: np.ndarray = n_covered / n_words
    return share


def _share(scored: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return scored / pairs, float64, NaN where a rule has no pair."""
    with np.errstate(invalid="ignore"):
        share: np.ndarray = scored / pairs
    return share


class OppositeScorer:
    """Scorer of rules by the likeliest opposites among their phrase pairs, as Opposites tells.

    Arguments:
        opposites: tells opposites by an index.
    """

    def __init__(self, opposites: Opposites) -> None:
        self.opposites = opposites

    def score(self, words: BlockWords, pair_stops: np.ndarray, spans: np.ndarray) -> FeatureScores:
        """Return the scores of a block's phrase pairs; a rule has the highest score of its pairs.

        Pairs of identical phrases, and pairs in which one phrase contains the other, have no score.

        Arguments:
            words: the block's words.
            pair_stops: int64[n], phrase pairs up to the end of each rule.
            spans: int64[m, 4], source start and length, target start and length of each pair.
        """
        texts = [unescape(text.decode()) for text in words.texts]
        numbers = words.numbers.tolist()
        pairs = []
        for i, m, j, n in spans.tolist():
            sides = ((i, i + m), (j, j + n))
            pairs.append(tuple(" ".join(texts[k] for k in numbers[a:b]) for a, b in sides))
        score_of_pair = {pair: None for pair in pairs}
        unlike_pairs = [pair for pair in score_of_pair if pair[0] != pair[1]]
        score_of_pair |= dict(zip(unlike_pairs, self.opposites.scores(unlike_pairs), strict=True))  # type: ignore[arg-type]
        values = np.array(
            [nan if score_of_pair[p] is None else score_of_pair[p] for p in pairs], np.float64
        )
        outcomes = np.where(np.isnan(values), PairOutcome.NOT_IN_TABLE, PairOutcome.SCORED).astype(
            np.uint8
        )
        outcomes[[a == b for a, b in pairs]] = PairOutcome.SKIPPED
        owners = np.repeat(np.arange(pair_stops.size), np.diff(pair_stops, prepend=0))
        has = ~np.isnan(values)
        best = np.full(pair_stops.size, -np.inf)
        np.maximum.at(best, owners[has], values[has])
        best[np.isneginf(best)] = np.nan
        pairs_of = np.bincount(owners[outcomes != PairOutcome.SKIPPED], minlength=pair_stops.size)
        scored = np.bincount(owners[has], minlength=pair_stops.size)
        return FeatureScores(
            values, outcomes, best, _share(scored, pairs_of), pairs_of, scored,
            np.zeros(pair_stops.size, bool), (0, 0, 0),
        )  # fmt: skip


class SideScorer:
    """Scorer of rules by their whole sides, gaps left out: sim_whole, and sim_rule of all of them.

    Sides that the table lacks are made of their words, where it keeps those' vectors.

    Arguments:
        table: the signatures.
        estimate: how cosines are estimated; what serves the table best where None.
    """

    def __init__(self, table: SignatureTable, estimate: str | None = None) -> None:
        self.table = table
        self._similarity = RuleSimilarity(table, estimate)

    def score(
        self, block: RuleBlock, looked_up: LookedUpWords
    ) -> tuple[FeatureScores, FeatureScores, SideScores]:
        """Return the cosines of a block's whole sides, sim_rule, and its parts; pairs are rules.

        Arguments:
            block: parsed rules. looked_up: its words, by the same table.
        """
        scores = self._similarity.compare(block, looked_up)
        fine = block.status == 0
        both = scores.has_both & fine
        scored = both & ~np.isnan(scores.wholes)
        composed = scored & scores.composed
        outcomes = np.where(
            scored,
            np.where(composed, PairOutcome.COMPOSED, PairOutcome.SCORED),
            PairOutcome.NOT_IN_TABLE,
        )
        whole = FeatureScores(
            scores.wholes, outcomes.astype(np.uint8), scores.wholes, _share(scored, both),
            both.astype(np.int64), scored.astype(np.int64), composed, (0, 0, 0),
        )  # fmt: skip
        rules = np.where(fine, scores.rules, np.nan)
        ones = fine.astype(np.int64)
        of_fine = np.where(fine & scores.composed, PairOutcome.COMPOSED, PairOutcome.SCORED)
        of_rule = FeatureScores(
            rules, of_fine[fine].astype(np.uint8), rules,
            None, ones, ones, fine & scores.composed, (0, 0, 0),
        )  # fmt: skip
        return whole, of_rule, scores


class GapScorer:
    """Scorer of rules by the fillers of their gaps: one pair a rule with gaps.

    Arguments:
        gapped: compares patterns by their fillers.
    """

    def __init__(self, gapped: GappedCosine) -> None:
        self.gapped = gapped

    def score(self, block: RuleBlock) -> FeatureScores:
        """Return the scores of the rules of a block; the pairs are the rules.

        Arguments:
            block: parsed rules.
        """
        values = np.full(len(block), np.nan)
        pairs = np.zeros(len(block), np.int64)
        for number in range(len(block)):
            source, target = (_pattern(block, side) for side in block.sides(number))
            if source is not None and target is not None:
                pairs[number] = 1
                similarity = self.gapped.compare(source, target)
                values[number] = nan if similarity is None else similarity
        outcomes = np.where(np.isnan(values), PairOutcome.NOT_IN_TABLE, PairOutcome.SCORED).astype(
            np.uint8
        )
        scored = np.isfinite(values).astype(np.int64)
        return FeatureScores(
            values, outcomes, values, _share(scored, pairs), pairs, scored,
            outcomes == PairOutcome.COMPOSED,
            (0, 0, 0),
        )  # fmt: skip


def _pattern(block: RuleBlock, side: range) -> GappedPattern | None:
    """Return the side of a rule as a pattern, None where it has no gap or no word."""
    gaps = block.gaps[side.start : side.stop].tolist()
    if not any(gap == TERMINAL for gap in gaps) or all(gap == TERMINAL for gap in gaps):
        return None
    return GappedPattern.of_symbols(
        [
            (unescape(block.symbol(at).decode()), None if gap == TERMINAL else gap)
            for at, gap in zip(side, gaps, strict=True)
        ]
    )


OPPOSITE, SIM_WHOLE, SIM_GAP, SIM_RULE = "opposite", "sim_whole", "sim_gap", "sim_rule"


class RuleScorer:
    """Scorer of rules by signature tables, any number of them.

    Arguments:
        tables: (name, table) each, the names of the features: `sim_ngram`, `sim_syn`.
        options: how phrase pairs count.
        aligner: links words of rules that have no alignment.
        opposites: the evidence of opposites, for a feature `opposite`.
        whole: also score the whole sides by the first table, for a feature `sim_whole`.
        rule: also write `sim_rule` by the first table, one number by which any rules can be sorted.
        gapped: compares what fills the rules' gaps, for a feature `sim_gap`.

    Raises:
        ParameterError: there is no table, or a name is not valid.

    >>> scorer = RuleScorer([("sim_ngram", table)])
    >>> round(scorer.score("the king", "the queen", [(0, 0), (1, 1)])[0].similarity, 2) > 0.5
    True
    """

    def __init__(
        self,
        tables: Sequence[tuple[str, SignatureTable]],
        *,
        options: ScoreOptions | None = None,
        aligner: RuleAligner | None = None,
        opposites: Opposites | None = None,
        whole: bool = False,
        rule: bool = False,
        gapped: GappedCosine | None = None,
    ) -> None:
        if (whole or rule) and not tables:
            raise ParameterError(f"`{'whole' if whole else 'rule'}` wants a table: give one")
        if not tables and opposites is None and gapped is None:
            raise ParameterError("no table to score with: give one")
        self.options = options or ScoreOptions()
        further = {OPPOSITE: opposites, SIM_WHOLE: whole, SIM_GAP: gapped, SIM_RULE: rule}
        self.names = [name for name, _ in tables]
        self.names += [name for name, is_asked in further.items() if is_asked]
        self.gap_scorer = None if gapped is None else GapScorer(gapped)
        of_sides = SideScorer(tables[0][1], self.options.estimate) if whole or rule else None
        self.side_scorer = of_sides
        self.opposite_scorer = None if opposites is None else OppositeScorer(opposites)
        self.table_scorers = [(name, TableScorer(table, self.options)) for name, table in tables]
        self.aligner = aligner or RuleAligner("missing")

    @classmethod
    def sharing(cls, other: "RuleScorer", aligner: RuleAligner) -> "RuleScorer":
        """Return a scorer with the tables of `other` and another aligner.

        Arguments:
            aligner: of rules without links.
            other: a scorer of rules.
        """
        scorer = copy(other)
        scorer.aligner = aligner
        return scorer

    @property
    def tables(self) -> list[tuple[str, SignatureTable]]:
        """The tables, each with the name of its score."""
        return [(name, scorer.table) for name, scorer in self.table_scorers]

    def score(
        self, source: str, target: str, links: Iterable[tuple[int, int]] | None = None
    ) -> list[RuleScore]:
        """Return the score of one rule by each feature, in the order of `names`.

        Arguments:
            source, target: the sides, symbols separated by blanks, gaps as `[NP,1]`.
            links: (source symbol, target symbol), from 0; None where the aligner is to say.

        Raises:
            ParameterError: a link points outside, or a gap does not occur once on each side.
        """
        block = single_rule(source, target, links or ())
        return [
            RuleScore(
                None if scores.scored[0] == 0 else float(scores.means[0]),
                int(scores.pairs[0]),
                int(scores.scored[0]),
            )
            for _, scores in self.score_block(block).features
        ]

    def score_block(self, block: RuleBlock) -> BlockScores:
        """Return the scores of all rules of a block.

        Arguments:
            block: of lines.
        """
        words = distinct_words(block)
        alignment = self.aligner.align(block, words=words)
        pair_stops, spans = decompose_block(
            block,
            (alignment.link_stops, alignment.links),
            self.options.longest,
            self.options.pairs,
        )
        looked_up = [scorer.look_up(block, words) for _, scorer in self.table_scorers]
        features = [
            (name, scorer.score(block, of_table, pair_stops, spans))
            for (name, scorer), of_table in zip(self.table_scorers, looked_up, strict=True)
        ]
        if self.opposite_scorer is not None:
            features.append((OPPOSITE, self.opposite_scorer.score(words, pair_stops, spans)))
        sides, of_sides = None, {}
        if self.side_scorer is not None:
            whole, rule, sides = self.side_scorer.score(block, looked_up[0])
            of_sides = {SIM_WHOLE: whole, SIM_RULE: rule}
        if SIM_WHOLE in self.names:
            features.append((SIM_WHOLE, of_sides[SIM_WHOLE]))
        if self.gap_scorer is not None:
            features.append((SIM_GAP, self.gap_scorer.score(block)))
        if SIM_RULE in self.names:
            features.append((SIM_RULE, of_sides[SIM_RULE]))
        return BlockScores(alignment, pair_stops, spans, features, sides)
