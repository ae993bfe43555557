"""PPDB's features of rules, by name, in the order of its releases."""

from dataclasses import dataclass

import numpy as np

from distsim.base.arguments import one_of
from distsim.base.choices import LexicalNames as Names
from distsim.grammar.extraction.counted_rules import RuleChunk
from distsim.grammar.extraction.extract_options import ExtractOptions
from distsim.grammar.extraction.linked_text import LinkedText
from distsim.grammar.kernels.copying import TextColumn
from distsim.grammar.kernels.extraction import LinkedSide
from distsim.grammar.kernels.rule_text import (
    BITEXTS,
    LEX_EF,
    LEX_FE,
    WordCosts,
    rule_features,
    word_costs,
)
from distsim.grammar.numbering import texts_of
from distsim.kernels.compiled import frozen

FEATURES: tuple[str, ...] = (
    "Abstract", "Adjacent", "Bitexts", "CharCountDiff", "CharLogCR", "ContainsX", "GlueRule",
    "Identity", "Lex(e|f)", "Lex(f|e)", "Lexical", "LogCount", "Monotonic", "PhrasePenalty",
    "RarityPenalty", "SourceTerminalsButNoTarget", "SourceWords", "TargetTerminalsButNoSource",
    "TargetWords", "UnalignedSource", "UnalignedTarget", "WordCountDiff", "WordLenDiff",
    "WordLogCR", "p(LHS|e)", "p(LHS|f)", "p(e|LHS)", "p(e|f)", "p(e|f,LHS)", "p(f|LHS)", "p(f|e)",
    "p(f|e,LHS)",
)  # fmt: skip


@dataclass(frozen=True)
class FeatureChoice:
    """Choice of the features that are written, and of their names.

    Arguments:
        chosen: some of FEATURES, all of them where None (Bitexts only where there are several).
        names: `plain`; `ppdb` swaps the names of Lex(e|f) and Lex(f|e), as PPDB's releases have
            them.
    """

    chosen: tuple[str, ...] | None = None
    names: Names = "plain"

    def __post_init__(self) -> None:
        one_of(self.names, ("plain", "ppdb"), "names")
        for name in self.chosen or ():
            one_of(name, FEATURES, "feature")

    def columns(self, n_bitexts: int) -> np.ndarray:
        """Return the numbers of the feature columns to write, in order, int64.

        Arguments:
            n_bitexts: number of bitexts; the feature Bitexts is written for two or more.
        """
        order = list(range(len(FEATURES)))
        if self.names == "ppdb":
            order[LEX_EF], order[LEX_FE] = LEX_FE, LEX_EF
        wanted = [name in self.chosen for name in FEATURES] if self.chosen is not None else None
        kept = [
            column
            for place, column in enumerate(order)
            if (wanted[place] if wanted is not None else place != BITEXTS or n_bitexts > 1)
        ]
        return np.array(kept, np.int64)

    def texts(self) -> TextColumn:
        """Return `name=` of every column, as kernels take texts."""
        names = list(FEATURES)
        if self.names == "ppdb":
            names[LEX_EF], names[LEX_FE] = FEATURES[LEX_FE], FEATURES[LEX_EF]
        return texts_of([f"{name}=".encode() for name in names])


def lexical_weights(text: LinkedText, as_moses: bool = False) -> WordCosts:
    """Return the lexical weights of a text's tokens; words without links are linked to NULL.

    Arguments:
        as_moses: w(word|other) is a share of all occurrences of `other`, where it has no link, too
            (Koehn 2010, 5.3.3), rather than of its links.
    """
    n_links = np.diff(text.link_starts)
    f_at, e_at = (
        np.repeat(side.starts[:-1], n_links) + text.links[:, column]
        for column, side in enumerate((text.foreign, text.english))
    )
    f_word, e_word = text.foreign.tokens[f_at], text.english.tokens[e_at]
    keys = f_word.astype(np.uint64) << np.uint64(32) | e_word.astype(np.uint64)
    _, pairs, counts = np.unique(keys, return_inverse=True, return_counts=True)
    together = counts[pairs]
    n_e, n_f = np.bincount(e_word), np.bincount(f_word)
    if as_moses:
        n_e = n_e + _unlinked(text.english, e_at)[: n_e.size]
        n_f = n_f + _unlinked(text.foreign, f_at)[: n_f.size]
    f_costs, f_unlinked = _costs(text.foreign, f_at, together / n_e[e_word])
    e_costs, e_unlinked = _costs(text.english, e_at, together / n_f[f_word])
    return WordCosts(f_costs, e_costs, f_unlinked, e_unlinked)


def features_of(
    rules: RuleChunk,
    text: LinkedText,
    costs: WordCosts,
    options: ExtractOptions,
    choice: FeatureChoice,
) -> np.ndarray:
    """Return all features of rules, float64[n, 32]; probabilities as -ln.

    Arguments:
        rules: n of them with their counts.
        costs: of the text's tokens.
    """
    features: np.ndarray = rule_features(
        frozen(rules.labels), frozen(rules.places), frozen(rules.gaps), frozen(rules.counts),
        frozen(rules.by_bitext), text.arrays, costs, int(options.settings(text.has_trees)[6]),
    )  # fmt: skip
    return features


def _costs(
    side: LinkedSide, linked: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return -ln of the weight of each token of a side, and whether it has no link.

    w(word|NULL) is the word's share of the words without links.

    Arguments:
        linked: int64, the token of each link, and weights: float64, its w(word|linked word).
    """
    n_links = np.bincount(linked, minlength=side.tokens.size)
    is_free = n_links == 0
    null = _unlinked(side, linked)
    sums = np.bincount(linked, weights, side.tokens.size)
    costs = word_costs(side.tokens, sums, n_links, null / max(1, null.sum()))
    return frozen(costs), frozen(is_free)


def _unlinked(side: LinkedSide, linked: np.ndarray) -> np.ndarray:
    """Return how often each word of a side has no link, int64[n_words].

    Arguments:
        linked: int64, the token of each link.
    """
    is_free = np.bincount(linked, minlength=side.tokens.size) == 0
    return np.bincount(side.tokens[is_free], minlength=side.words.lengths.size)
