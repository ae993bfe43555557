"""Features of rewritings by name: of rules, of deletions and of whole sentences."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distsim.kernels.compiled import frozen
from distsim.paraphrase.kernels.derivations import Hypergraph, best_derivations
from distsim.paraphrase.substitution.substituter import REPLACEMENT


class Forest(NamedTuple):
    """The packed forest of a sentence, as kernels.search.search returns it.

    items: int64[n, columns], the third column is the first edge. item_scores: float64[n, 2].
    edges: int64[m, 4] of rule, two items (-1 for none), next edge of the same item (-1).
    edge_scores: float64[m], the score of an edge without that of its items. goal: float64[k, 2],
    last items and what the sentence's end adds to their score. words: number of words of all its
    sentences where one was asked for, -1 where none of any number exists.
    """

    items: np.ndarray
    item_scores: np.ndarray
    edges: np.ndarray
    edge_scores: np.ndarray
    goal: np.ndarray
    words: int


class DerivationNode(NamedTuple):
    """A rule of a derivation; parts: how many of its gaps are filled by other nodes."""

    rule: int
    parts: int


class Derivation(NamedTuple):
    """A derivation of a rewritten sentence.

    words: symbols, in order. nodes: rules, from the whole to its parts, left to right.
    """

    words: tuple[int, ...]
    nodes: list[DerivationNode]


def best(
    forest: Forest, targets: np.ndarray, target_starts: np.ndarray, same: np.ndarray, n_best: int
) -> list[Derivation]:
    """Return the `n_best` best derivations of whole sentences, best first, all of different words.

    Arguments:
        targets, target_starts: int64, the target sides of all rules, end to end, and where each
            begins; -1 and -2 are gaps.
        same: int64 by symbol, a number that symbols of equal spelling share.
    """
    hypergraph = Hypergraph(
        frozen(forest.items[:, 2]), forest.edges, forest.edge_scores, frozen(targets),
        frozen(target_starts), frozen(same),
    )  # fmt: skip
    words, starts, nodes, node_starts = best_derivations(hypergraph, forest.goal, n_best)
    said, derivation_nodes = words.tolist(), [DerivationNode(*row) for row in nodes.tolist()]
    begins, firsts = starts.tolist(), node_starts.tolist()
    return [
        Derivation(
            tuple(said[begins[k] : begins[k + 1]]), derivation_nodes[firsts[k] : firsts[k + 1]]
        )
        for k in range(len(begins) - 1)
    ]


LM = "LM"  # ln p of the sentence
WORDS = "Words"  # words of the sentence
GLUE = "Glue"  # neighbours put side by side
KEPT = "Kept"  # words that stay as they are, by no rule
UNKNOWN = "Unknown"  # of them, words that no rule knows
RULES = "Rules"  # rules used
DELETED = "Deleted"  # words left out
DELETED_RARITY = "DeletedRarity"  # how rare they are, -ln p summed
DELETIONS = "Deletions"  # times that something is left out
# Times that one sentence becomes two, and that wordy phrases are said plainer.
SPLIT, PLAINER = "Split", "Plainer"
CONSTRUCTION = "Construction"  # times that a construction of any kind is put in another way
RARITY_DIFF, RAREST_DIFF = (
    "RarityDiff",
    "RarestDiff",
)  # mean and most of a rule's -ln p, after - before
UNKNOWN_DIFF = "UnknownDiff"  # words more than before that the language model has not
SOURCE_RARITY, SOURCE_RAREST = "SourceRarity", "SourceRarest"  # -ln p before, summed and most
SOURCE_CHARS = "SourceChars"  # letters of what is replaced
SAME_STEM = "SameStem"  # one word for another that begins alike
NUMBERS = "Numbers"  # words with digits that are replaced or put in
# A word in place of a short one or of a shorter one, or neither much commoner nor much shorter.
NOT_SIMPLER = "NotSimpler"
# A rule without gaps that has more than one word on a side; a rule with gaps.
SEVERAL_WORDS, GAPPY = "SeveralWords", "Gappy"
RESTRUCTURES = "Restructures"  # such a rule of a constituent that `restructures` it
GAPPY_COST = "GappyCost"  # -ln p(e|f) - ln p(f|e) of a rule with gaps, where the pack tells them
COSTS = ("p(e|f)", "p(f|e)")
SHORT, COMMONER, SHORTER = 4, 0.5, 3  # letters; ln of the ratio of frequencies; letters less

PLAIN_WORD = "PlainWord"  # a plain word in place of a hard one, by the list
# A rule with gaps where there is no tree, or it does not call the whole and its gaps as the rule
# does (X is no such label); where `is_odd_gap` comes to the rule's beginning or leaves it.
UNLICENSED, ODD_GAP = "Unlicensed", "OddGap"
# Of a rule in its sentence; those before PlainWord are of one word that takes another's place, in a
# signed index.
OF_REPLACEMENTS = (*REPLACEMENT, PLAIN_WORD, UNLICENSED, ODD_GAP)

# Of whole sentences: no part of a sentence tells, so the best of a list are ranked again by them.
UNCHANGED = "Unchanged"  # the sentence as it was
TWO_CHANGES, MORE_CHANGES = "TwoChanges", "MoreChanges"  # two places or more changed, three or more
OF_WHOLE = (UNCHANGED, TWO_CHANGES, MORE_CHANGES)

# Of what is left out where a length is asked for.
TORN = "Torn"  # constituents that lose one end
HANGING = "Hanging"  # times that a word that leads on is before the gap
AT_START, AT_END = "AtStart", "AtEnd"  # the sentence loses its beginning, its end
CUT_OFF = "CutOff"  # an article, preposition, auxiliary or conjunction comes to stand at an end
NEGATION, SUBJECT = "LostNegation", "LostSubject"  # alone; of a verb that stays
OF_DELETIONS = (TORN, HANGING, AT_START, AT_END, CUT_OFF, NEGATION, SUBJECT)

OF_SENTENCES = (
    LM, WORDS, GLUE, KEPT, UNKNOWN, DELETED, DELETED_RARITY, DELETIONS, SPLIT, PLAINER,
    CONSTRUCTION,
)  # fmt: skip
OF_RULES = (
    RULES, "SourceWords", "TargetWords", "WordCountDiff", "CharCountDiff", "WordLenDiff",
    "WordLogCR", "CharLogCR", RARITY_DIFF, RAREST_DIFF, UNKNOWN_DIFF, SOURCE_RARITY,
    SOURCE_RAREST, SOURCE_CHARS, SAME_STEM, NUMBERS, NOT_SIMPLER,
    SEVERAL_WORDS, GAPPY, GAPPY_COST, RESTRUCTURES,
)  # fmt: skip


def deleted(label: str) -> str:
    """Return the feature that counts deletions of a kind.

    >>> deleted("PP")
    'Deleted(PP)'
    """
    return f"Deleted({label})"


def construction(kind: str) -> str:
    """Return the feature that counts constructions of a kind that are put in another way.

    >>> construction("dative")
    'Construction(dative)'
    """
    return f"Construction({kind})"


def dropped(tag: str) -> str:
    """Return the feature that counts words left out of a kind.

    >>> dropped("RB")
    'Dropped(RB)'
    """
    return f"Dropped({tag})"


def missing(name: str) -> str:
    """Return the feature that counts rules without another one.

    >>> missing("sim_ngram")
    'Missing(sim_ngram)'
    """
    return f"Missing({name})"


class SideCounts:
    """Counts of the source or target sides of rules: arrays float64[n], one entry for each rule.

    words, chars: words and characters; a gap counts as one word of one character.
    total, most: -ln p of its words, summed, and of the rarest word.
    unknown: words that the language model does not know.
    terminals: words without gaps.
    stem: number of the stem of a side of one word, for comparing two sides.
    numbers: words that contain digits.

    Arguments:
        starts, stops: integers[n], where the symbols of each side are.
        symbols: of all sides, end to end.
        facts: float64[symbols, columns], of each symbol.
    """

    def __init__(
        self, starts: np.ndarray, stops: np.ndarray, symbols: np.ndarray, facts: np.ndarray
    ) -> None:
        lengths = (stops - starts).astype(np.int64)
        begins = np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) - np.repeat(begins, lengths)
        rows = facts[symbols[np.repeat(starts.astype(np.int64), lengths) + places]]
        owner = np.repeat(np.arange(lengths.size), lengths)

        def added(column: int) -> Any:
            return np.asarray(np.bincount(owner, rows[:, column], lengths.size))

        self.words = lengths.astype(np.float64)
        self.chars, self.total = added(0), added(1)
        self.unknown, self.terminals = added(2), added(3)
        self.stem, self.numbers = added(4), added(5)
        self.most = np.zeros(lengths.size)
        np.maximum.at(self.most, owner, rows[:, 1])

    @property
    def mean(self) -> np.ndarray:
        """The mean of its words' -ln p, 0 where it has none."""
        return np.asarray(self.total / np.maximum(self.terminals, 1))


def of_rules(
    source: SideCounts, target: SideCounts, costs: np.ndarray, restructuring: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the features that are counted on rules, by name (OF_RULES).

    Arguments:
        costs: float64, -ln p(e|f) - ln p(f|e) of each rule. restructuring: bool, of each rule.
    """
    always = np.ones(source.words.size)
    of_words = (source.words == 1) & (target.words == 1)
    gappy = source.terminals < source.words
    longer = target.chars - source.chars
    no_simpler = (longer > 0) | (longer > -SHORTER) & (target.most - source.most > -COMMONER)
    values = (
        always,
        source.words,
        target.words,
        target.words - source.words,
        target.chars - source.chars,
        target.chars / np.maximum(target.words, 1) - source.chars / np.maximum(source.words, 1),
        np.log1p(target.words) - np.log1p(source.words),
        np.log1p(target.chars) - np.log1p(source.chars),
        target.mean - source.mean,
        target.most - source.most,
        np.maximum(target.unknown - source.unknown, 0.0),
        source.total,
        source.most,
        source.chars,
        of_words & (source.stem == target.stem),
        source.numbers + target.numbers,
        of_words & (no_simpler | (source.chars <= SHORT)),
        ~gappy & ~of_words,
        gappy,
        gappy * costs,
        gappy & restructuring,
    )
    return dict(zip(OF_RULES, values, strict=True))


_NEGATIONS = frozenset(("not", "n't", "no", "never", "nor", "neither", "without"))


def restructures(
    source: Sequence[str | int], target: Sequence[str | int], function_words: frozenset[str]
) -> bool:
    """Return whether a rule with gaps, which are -1 and -2, only puts its words in another order.

    It moves a gap past the other one, with other function words between the same content words.

    >>> grammatical = frozenset(("the", "of", "'s", "to"))
    >>> restructures(["the", -1, "of", -2], [-2, "'s", -1], grammatical)
    True
    >>> restructures(["to", -1], ["of", -1], grammatical)
    False
    """
    before, after = (
        [symbol for symbol in side if isinstance(symbol, str)] for side in (source, target)
    )
    telling = [
        sorted(word for word in side if word in _NEGATIONS or word not in function_words)
        for side in (before, after)
    ]
    if telling[0] != telling[1] or sorted(before) == sorted(after):
        return False
    gaps = [[symbol for symbol in side if not isinstance(symbol, str)] for side in (source, target)]
    return gaps[0] != gaps[1]


def of_whole(changes: int, unchanged: bool) -> dict[str, float]:
    """Return the features of a sentence with a number of changes.

    Arguments:
        unchanged: whether the sentence is unchanged.

    >>> of_whole(2, unchanged=False)
    {'TwoChanges': 1.0}
    """
    facts = {UNCHANGED: unchanged, TWO_CHANGES: changes > 1, MORE_CHANGES: changes > 2}
    return {name: 1.0 for name, holds in facts.items() if holds}


def vector(names: Sequence[str], values: dict[str, float]) -> np.ndarray:
    """Return features as a row in the order of names, float64; 0 where there is none."""
    return np.array([values.get(name, 0.0) for name in names])
