"""N-gram contexts of an index: the words beside a phrase, by positions or by sides.

`positions`: a family for every place (`l1:revise`), the thesis's model (5.2.1).
`by_side`: a family for either side (`l1-5:revise`), a neighbour counting the more the nearer it
is: window for the next one, 1 for the last.
`by_side` with `narrow`: both, the nearest words a second time by positions.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np

from distsim.base.arguments import AnyPath, check_types
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.contexts.weights import (
    ContextCounts,
    FeatureSpace,
    Weigher,
    Weighting,
    feature_log_probabilities,
    kept_shares,
)
from distsim.corpus.vocabulary import hash_blob, hash_texts
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.indexes.phrase_walk import PhraseChunk
from distsim.indexes.shard import Shard
from distsim.kernels.compiled import frozen
from distsim.kernels.contexts import add_rows, count_around

WIDEST = 3
WIDEST_SIDES = 10


def family_names(window: int, by_side: bool = False, narrow: int = 0) -> tuple[str, ...]:
    """Return the names of the families of features: side and distance, nearest first.

    Arguments:
        window: tokens on either side.
        by_side: one family for either side.
        narrow: tokens on either side that have families by positions too, with `by_side`.

    >>> family_names(2)
    ('l1', 'r1', 'l2', 'r2')
    >>> family_names(5, by_side=True)
    ('l1-5', 'r1-5')
    >>> family_names(5, by_side=True, narrow=1)
    ('l1-5', 'r1-5', 'l1', 'r1')

    Raises:
        ParameterError: the window is not 1 to 3, or 1 to 10 with `by_side`; `narrow` is not 0 to 3,
            or is given without `by_side`.
    """
    widest = WIDEST_SIDES if by_side else WIDEST
    if not 1 <= window <= widest:
        raise ParameterError(
            f"window {window}: choose 1 to {widest} tokens a side with features by "
            f"{'sides' if by_side else 'positions'}"
        )
    if not 0 <= narrow <= (WIDEST if by_side else 0):
        raise ParameterError(
            f"narrow {narrow}: choose 0 to {WIDEST} tokens a side, beside features by sides"
        )
    if by_side:
        nearest = family_names(narrow) if narrow else ()
        return f"l1-{window}", f"r1-{window}", *nearest
    return tuple(f"{side}{distance}" for distance in range(1, window + 1) for side in "lr")


@dataclass(frozen=True)
class NgramModel:
    """N-gram model: the words beside a phrase that are its features.

    Arguments:
        window: tokens on either side, 1 to 3; 1 to 10 with `by_side`.
        by_side: a family of features for either side and not for every place.
        narrow: beside these, a family for each of so many places on either side, 0 to 3.

    Raises:
        ParameterError: a window is out of range or no whole number.

    >>> NgramModel(2).manifest()
    {'name': 'ngram', 'window': 2, 'families': ['l1', 'r1', 'l2', 'r2']}
    """

    name: ClassVar[str] = "ngram"
    window: int = 1
    _: KW_ONLY
    by_side: bool = False
    narrow: int = 0

    def __post_init__(self) -> None:
        check_types(self)
        whole = isinstance(self.window, int) and isinstance(self.narrow, int)
        if not whole or not isinstance(self.by_side, bool):
            raise ParameterError(
                f"`window` {self.window!r}, `by_side` {self.by_side!r}, `narrow` {self.narrow!r}: "
                "give whole numbers and, for `by_side`, True or False"
            )
        family_names(*self.shape)

    @property
    def shape(self) -> tuple[int, bool, int]:
        """Window, by_side, narrow."""
        return self.window, self.by_side, self.narrow

    @property
    def spans(self) -> tuple[int, int]:
        """Words on either side that are counted by sides, and by places."""
        return (self.window, self.narrow) if self.by_side else (0, self.window)

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a fingerprint."""
        families = list(family_names(*self.shape))
        return {"name": self.name, "window": self.window, "families": families}

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "NgramModel":
        """Return the model that a fingerprint describes.

        Arguments:
            values: as `manifest` returns them.
        """
        families = values["families"]
        by_side = families[:2] == list(family_names(values["window"], by_side=True))
        return cls(
            values["window"], by_side=by_side, narrow=len(families) // 2 - 1 if by_side else 0
        )


def feature_space(
    index: CorpusIndex, window: int, by_side: bool = False, narrow: int = 0
) -> FeatureSpace:
    """Return the features of an index: every word in every family; number = family * words + id.

    A feature's marginal is the word's count, its family's total the number of places of that
    kind: tokens that have another so far away in their sentence. By sides both count every
    place as often as its distance weighs.

    Arguments:
        index: of the text.
        window: context words on either side, in tokens.
        by_side: two families, left and right, nearer words counting more; else one for each place.
        narrow: with `by_side`, words on either side that have families by places too.
    """
    counts = index.word_counts()
    counts[0] = 0
    return space_of_words(
        index.vocabulary.text, index.vocabulary.offsets, counts, neighbour_slots(index, window),
        window, by_side, narrow,
    )  # fmt: skip


class WordFeatures:
    """The features of single words of an index, made when asked for; `feature_space` makes all.

    Arguments:
        index: of the text.
        window, by_side, narrow: as of `feature_space`.
    """

    def __init__(
        self, index: CorpusIndex, window: int, by_side: bool = False, narrow: int = 0
    ) -> None:
        shape = window, by_side, narrow
        self._vocabulary = index.vocabulary
        self._counts = index.word_counts()
        self._prefixes = [f"{name}:".encode() for name in family_names(*shape)]
        self._times = np.array(_times_counted(*shape))
        self._totals = _family_totals(neighbour_slots(index, window), *shape)

    def of(self, word: int, families: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (hashes uint64, marginals float64, totals of the families float64) of a word.

        Arguments:
            word: its id, above 0.
            families: numbers of families.
        """
        start, stop = self._vocabulary.offsets[word : word + 2].tolist()
        text = self._vocabulary.text[start:stop].tobytes()
        hashes = hash_texts([self._prefixes[family] + text for family in families])
        return hashes, self._counts[word] * self._times[families], self._totals[families]


def neighbour_slots(index: CorpusIndex, max_slots: int) -> list[int]:
    """Return the number of tokens with another k places away in their sentence, for k = 1..most.

    Arguments:
        index: of the text.
        max_slots: the largest distance, in tokens.
    """
    lengths_of_sentences = np.concatenate([shard.sentence_lengths() for shard in index.shards])
    times = np.bincount(
        np.maximum(0, lengths_of_sentences)
    )  # sentences of one length are added up together
    lengths = np.arange(times.size)
    return [int(np.maximum(0, lengths - k) @ times) for k in range(1, max_slots + 1)]


def space_of_words(
    text: np.ndarray,
    offsets: np.ndarray,
    counts: np.ndarray,
    slots: Sequence[int],
    window: int,
    by_side: bool = False,
    narrow: int = 0,
) -> FeatureSpace:
    """Return the features of words: each in every family; number = family * words + id.

    Arguments:
        text: uint8, the words' UTF-8 end to end, by id.
        offsets: int64[n_words + 1], where each begins in `text`.
        counts: uint64[n_words], occurrences of each, 0 for id 0.
        slots: the number of tokens that have another 1, 2 ... `window` places away.
        window: context words on either side, in tokens.
        by_side: two families, left and right, nearer words counting more; else one for each place.
        narrow: with `by_side`, words on either side that have families by places too.
    """
    shape = window, by_side, narrow
    names = family_names(*shape)
    return FeatureSpace(
        family_names=names,
        families=np.repeat(np.arange(len(names), dtype=np.uint8), counts.size),
        hashes=np.concatenate([hash_blob(text, offsets, f"{name}:".encode()) for name in names]),
        marginals=np.concatenate([counts * times for times in _times_counted(*shape)]),
        totals=_family_totals(slots, *shape),
    )


def _times_counted(window: int, by_side: bool, narrow: int) -> list[float]:
    """Return how often each occurrence of a word counts in each family."""
    sums = [window * (window + 1) / 2] * 2 if by_side else []
    return sums + [1.0] * 2 * (narrow if by_side else window)


def _family_totals(slots: Sequence[int], window: int, by_side: bool, narrow: int) -> np.ndarray:
    places = [float(n) for n in slots[: narrow if by_side else window]]
    if by_side:
        places = [sum((window - k) * float(n) for k, n in enumerate(slots[:window])), *places]
    return np.repeat(places, 2)


class NgramCounter:
    """Counter of the neighbours of phrases in an index; one for each thread.

    Arguments:
        n_words: words of the index.
        window: context words on either side, in tokens.
        by_side: two families, left and right, nearer words counting more; else one for each place.
        narrow: with `by_side`, words on either side that have families by places too.
    """

    def __init__(self, n_words: int, window: int, by_side: bool = False, narrow: int = 0) -> None:
        n_families = len(family_names(window, by_side, narrow))
        self._n_words = n_words
        self._spans = (window, narrow) if by_side else (0, window)
        self._seen = np.zeros(n_families * n_words, np.uint32)

    def count_runs(
        self, chunk: PhraseChunk, lows: np.ndarray, highs: np.ndarray, length: int
    ) -> ContextCounts:
        """Return the contexts of phrases of one length, counted.

        Arguments:
            chunk: rows of a phrase walk.
            lows, highs: int64[n], phrase i has the chunk's rows lows[i]:highs[i].
            length: tokens of each phrase.
        """
        return ContextCounts(
            *count_around(
                frozen(chunk.rows), frozen(lows), frozen(highs), chunk.before, length,
                *self._spans, self._n_words, self._seen[: self._n_words],
            )
        )  # fmt: skip

    def count_words(self, shards: Sequence[Shard], words: np.ndarray) -> ContextCounts:
        """Return the contexts of words, counted straight from the text.

        Arguments:
            shards: of the index.
            words: int64[n], ids.
        """
        rows = [
            shard.beside_words(words, *self._spans, self._n_words, self._seen) for shard in shards
        ]
        if len(rows) == 1:
            return ContextCounts(*rows[0])
        ends = np.cumsum([0, *(features.size for _, features, _ in rows)])
        starts = np.stack([own + end for (own, _, _), end in zip(rows, ends, strict=False)])
        features, counts = (np.concatenate([row[k] for row in rows]) for k in (1, 2))
        return ContextCounts(*add_rows(*map(frozen, (starts, features, counts)), self._seen))


def phrase_contexts(
    index: CorpusIndex, phrase: str, window: int, by_side: bool = False, narrow: int = 0
) -> ContextCounts:
    """Return the contexts of one phrase, features ascending; a single empty row if unseen.

    Arguments:
        index: the corpus index in which they are counted.
        phrase: words separated by spaces.
        window: context words on either side, in tokens.
        by_side: two families, left and right, nearer words counting more; else one for each place.
        narrow: with `by_side`, words on either side that have families by places too.

    Raises:
        ParameterError: the phrase is empty or the window out of range.
    """
    family_names(window, by_side, narrow)
    features, counts = index.beside(phrase, window, by_side=by_side, narrow=narrow)
    return ContextCounts(np.array([0, features.size]), features, counts)


class PhraseWeigher:
    """Weigher of the contexts of single phrases of an index; may be shared by threads.

    The weights are those of a Weigher over the whole feature space; what is kept grows with the
    words and not with the features, since a word is as frequent in any place.

    Arguments:
        index: of the text.
        window: context words on either side, in tokens.
        by_side: two families, left and right, nearer words counting more; else one for each place.
        narrow: with `by_side`, words on either side that have families by places too.
        weighting: how counts become weights.
        counts: uint64[n_words], occurrences by id; counted where None.
    """

    def __init__(
        self,
        index: CorpusIndex,
        window: int,
        weighting: Weighting,
        by_side: bool = False,
        narrow: int = 0,
        *,
        counts: np.ndarray | None = None,
    ) -> None:
        self.family_names = family_names(window, by_side, narrow)
        self._weighting = weighting
        self._counts = index.word_counts() if counts is None else counts
        self._times = np.array(_times_counted(window, by_side, narrow))
        self._totals = _family_totals(neighbour_slots(index, window), window, by_side, narrow)
        # Of a word in one pair of families for all, or in each where a share of each counts.
        self._of_words: list[tuple[np.ndarray, np.ndarray | None]] = []
        if weighting.needs.probabilities:
            alike = weighting.subsample is None and not narrow
            pairs = 1 if alike else len(self._totals) // 2
            self._of_words = [self._prepared(2 * pair) for pair in range(pairs)]

    def _prepared(self, family: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return (ln P, the share that counts, None for all of it) of every word in a family."""
        families, no_names = np.zeros(self._counts.size, np.uint8), np.empty(0, np.uint64)
        marginals, total = self._counts * self._times[family], self._totals[family : family + 1]
        marginals[0] = 0.0
        words = FeatureSpace(("w",), families, no_names, marginals, total)
        kept = None
        if self._weighting.subsample is not None:
            kept = kept_shares(marginals, total[families], self._weighting.subsample)
        return feature_log_probabilities(words, self._weighting.alpha, kept), kept

    def weigh(self, contexts: ContextCounts) -> np.ndarray:
        """Return the weight of every feature of every row, float64.

        Arguments:
            contexts: as `phrase_contexts` returns them.
        """
        families, words = np.divmod(contexts.features.astype(np.int64), self._counts.size)
        log_p = kept = None
        if self._of_words:
            log_p, kept = np.empty(words.size), np.ones(words.size)
            for pair, (word_log_p, word_kept) in enumerate(self._of_words):
                mine = families // 2 == pair if len(self._of_words) > 1 else np.s_[:]
                log_p[mine] = word_log_p[words[mine]]
                if word_kept is not None:
                    kept[mine] = word_kept[words[mine]]
        space = FeatureSpace(
            self.family_names, families.astype(np.uint8), np.empty(0, np.uint64),
            self._counts[words] * self._times[families], self._totals, log_p, kept,
        )  # fmt: skip
        numbered = np.arange(words.size, dtype=np.uint32)
        counted = ContextCounts(contexts.starts, numbered, contexts.counts)
        return Weigher(self._weighting).weigh(counted, space)


class NamedContext(NamedTuple):
    """A feature of a phrase: `l1:revise` is the word `revise` right before it.

    >>> named_contexts(index, "mock")[0]
    NamedContext(feature='r1:turtle', occurrences=56, weight=56.0)
    """

    feature: str
    occurrences: int
    weight: float


@overload
def named_contexts(
    index: CorpusIndex | AnyPath, phrase: str, *, window: int = ...,
    weighting: Weighting | None = ..., by_side: bool = ..., narrow: int = ...,
) -> Results[NamedContext]: ...  # fmt: skip
@overload
def named_contexts(
    index: CorpusIndex | AnyPath, phrase: Sequence[str], *, window: int = ...,
    weighting: Weighting | None = ..., by_side: bool = ..., narrow: int = ...,
) -> list[Results[NamedContext]]: ...  # fmt: skip
def named_contexts(
    index: CorpusIndex | AnyPath,
    phrase: str | Sequence[str],
    *,
    window: int = 1,
    weighting: Weighting | None = None,
    by_side: bool = False,
    narrow: int = 0,
) -> Results[NamedContext] | list[Results[NamedContext]]:
    """Return a phrase's contexts, or those of each of several, strongest first, then by count.

    Arguments:
        index: the corpus index in which they are counted.
        phrase: one or several, as typed.
        window: context words on either side, in tokens.
        by_side: two families, left and right, nearer words counting more; else one for each place.
        narrow: with `by_side`, words on either side that have families by places too.
        weighting: how counts become weights; raw counts where None.

    Raises:
        ParameterError: a phrase is empty, or the window is out of range.

    >>> [context.feature for context in named_contexts(index, "mock")[:2]]
    ['r1:turtle', 'l1:the']
    """
    index = opened_index(index)
    shape = window, by_side, narrow
    weigher = PhraseWeigher(index, window, weighting or Weighting(), by_side, narrow)
    if isinstance(phrase, str):
        return _named(index, phrase_contexts(index, phrase, *shape), weigher)
    return [_named(index, phrase_contexts(index, text, *shape), weigher) for text in phrase]


def _named(
    index: CorpusIndex, contexts: ContextCounts, weigher: PhraseWeigher
) -> Results[NamedContext]:
    weights = weigher.weigh(contexts)
    families, words = np.divmod(contexts.features.astype(np.int64), index.n_words)
    named = [
        NamedContext(
            f"{weigher.family_names[family]}:{index.vocabulary.word(word)}", count, weight
        )
        for family, word, count, weight in zip(
            families.tolist(), words.tolist(), contexts.counts.tolist(), weights.tolist(),
            strict=True,
        )
    ]  # fmt: skip
    return Results(sorted(named, key=lambda row: (-row[2], -row[1], row[0])))
