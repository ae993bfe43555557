"""Rules with counts and places -> PPDB's features, by name, in the order of its releases."""

from dataclasses import dataclass

import numpy as np

from distsim.base.choices import LexicalNames as Names
from distsim.base.errors import ParameterError
from distsim.grammar.extraction.linked_text import LinkedText
from distsim.grammar.extraction.margins import RuleChunk
from distsim.grammar.extraction.options import ExtractOptions
from distsim.grammar.kernels.rule_text import BITEXTS, LEX_EF, LEX_FE, rule_features
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
    """Which features are written, under which names.

    Arguments:
        chosen: some of FEATURES, all of them where None (Bitexts only where there are several).
        names: `plain`; `ppdb` swaps the names of Lex(e|f) and Lex(f|e), as PPDB's releases have
            them.
        x_in_gaps: ContainsX tells of an X as a gap too, not only as label (Thrax).
    """

    chosen: tuple[str, ...] | None = None
    names: Names = "plain"
    x_in_gaps: bool = True

    def __post_init__(self) -> None:
        if self.names not in ("plain", "ppdb"):
            raise ParameterError(f"names {self.names!r}: choose plain or ppdb")
        for name in self.chosen or ():
            if name not in FEATURES:
                raise ParameterError(f"feature {name!r}: choose of {', '.join(FEATURES)}")

    def columns(self, n_bitexts: int) -> np.ndarray:
        """Return the columns to write, in order; int64."""
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

    def texts(self) -> tuple[np.ndarray, np.ndarray]:
        """Return `name=` of every column end to end (uint8) and where each begins (int64)."""
        names = list(FEATURES)
        if self.names == "ppdb":
            names[LEX_EF], names[LEX_FE] = FEATURES[LEX_FE], FEATURES[LEX_EF]
        texts = [f"{name}=".encode() for name in names]
        offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
        return frozen(np.frombuffer(b"".join(texts), np.uint8)), frozen(offsets.astype(np.int64))


@dataclass(frozen=True)
class WordWeights:
    """w(word|linked word), from the links of the whole text (Koehn et al. 2003).

    link_pairs: uint32, the row of each link's two words in pairs; pairs: float64[p, 2] of
    w(English|foreign) and w(foreign|English); f_null, e_null: float64, w(word|NULL).
    """

    link_pairs: np.ndarray
    pairs: np.ndarray
    f_null: np.ndarray
    e_null: np.ndarray

    @classmethod
    def of(cls, text: LinkedText) -> "WordWeights":
        """Count the links of a text; words without any are linked to NULL."""
        n_links = np.diff(text.link_starts)
        f_word = _linked_words(text.foreign.tokens, text.foreign.starts, text.links[:, 0], n_links)
        e_word = _linked_words(text.english.tokens, text.english.starts, text.links[:, 1], n_links)
        n_f, n_e = text.foreign.words.lengths.size, text.english.words.lengths.size
        keys = f_word.astype(np.uint64) << np.uint64(32) | e_word.astype(np.uint64)
        distinct, pairs, counts = np.unique(keys, return_inverse=True, return_counts=True)
        f_total = np.bincount(f_word, minlength=n_f)
        e_total = np.bincount(e_word, minlength=n_e)
        f_of = (distinct >> np.uint64(32)).astype(np.int64)
        e_of = (distinct & np.uint64(0xFFFFFFFF)).astype(np.int64)
        weights = np.column_stack([counts / f_total[f_of], counts / e_total[e_of]])
        return cls(
            frozen(pairs.astype(np.uint32)),
            frozen(weights),
            frozen(_null(text.foreign.tokens, text.foreign.starts, text.links[:, 0], n_links, n_f)),
            frozen(_null(text.english.tokens, text.english.starts, text.links[:, 1], n_links, n_e)),
        )


def features_of(
    rules: RuleChunk,
    text: LinkedText,
    weights: WordWeights,
    options: ExtractOptions,
    choice: FeatureChoice,
) -> np.ndarray:
    """Return all features of rules, float64[n, 32]; probabilities as -ln."""
    features: np.ndarray = rule_features(
        frozen(rules.labels), frozen(rules.places), frozen(rules.gaps), frozen(rules.counts),
        frozen(rules.by_bitext), text.foreign.tokens, text.foreign.starts, text.english.tokens,
        text.english.starts, text.links, text.link_starts, weights.link_pairs, weights.pairs,
        weights.f_null, weights.e_null, text.foreign.words.lengths, text.english.words.lengths,
        text.foreign.words.hashes, text.english.words.hashes, text.nodes, text.node_starts,
        int(options.settings(text.has_trees)[6]), choice.x_in_gaps,
    )  # fmt: skip
    return features


def _linked_words(
    tokens: np.ndarray, starts: np.ndarray, positions: np.ndarray, n_links: np.ndarray
) -> np.ndarray:
    words: np.ndarray = tokens[np.repeat(starts[:-1], n_links) + positions]
    return words


def _null(
    tokens: np.ndarray, starts: np.ndarray, positions: np.ndarray, n_links: np.ndarray, n: int
) -> np.ndarray:
    """Return w(word|NULL) of each word: its share of the words without links."""
    alone = np.ones(tokens.size, bool)
    alone[np.repeat(starts[:-1], n_links) + positions] = False
    counts = np.bincount(tokens[alone], minlength=n)
    probabilities: np.ndarray = counts / max(1, counts.sum())
    return probabilities
