"""Collocates of a phrase: the words in its windows, by an association measure."""

from collections.abc import Sequence
from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import AnyPath, whole_number
from distsim.base.choices import AssociationMeasure, Matching
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.association import TABLE_MEASURES, expected, log_dice
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.indexes.dispersion import Documents, Spread
from distsim.indexes.kernels.windows import DAMAGED, count_windows
from distsim.indexes.shard import damaged
from distsim.kernels.compiled import frozen

_WIDEST = 100


class Collocate(NamedTuple):
    """A word in the windows of a phrase, with its counts and association.

    word: the collocate. together: occurrences in the windows of the phrase.
    in_corpus: occurrences in the corpus. expected: occurrences in the windows expected by chance.
    score: value of the association measure.

    >>> collocates(index, "mock", k=1)[0].together
    56
    """

    word: str
    together: int
    in_corpus: int
    expected: float
    score: float


def collocates(
    index: CorpusIndex | AnyPath,
    phrase: str,
    *,
    window: int = 5,
    measure: AssociationMeasure = "log-dice",
    min_count: int = 3,
    words_only: bool = False,
    query: bool | Matching = False,
    k: int | None = 20,
) -> Results[Collocate]:
    """Return the collocates of a phrase, the highest score first.

    A window ends where its sentence ends. A token in two overlapping windows counts once, so that
    a word is never more often in windows than in the corpus. The expected count is the word's
    count times the share of all tokens that are in windows. Words of the phrase itself are
    collocates where another occurrence of them is in a window, as in AntConc and Sketch Engine.

    Arguments:
        index: the corpus; `index.of_layer("lemma")` lists lemmas. The phrase is of words.
        phrase: the node, as typed.
        window: tokens on either side, 1 to 100.
        measure: `log-dice`, at most 14 (a phrase that overlaps itself is with a word at most as
            often as it occurs); `llr`: log-likelihood of four cells; `llr-2`: of two cells; `mi`;
            `t`; `z`. Formulas: distsim.indexes.association.
        min_count: leave out words that are rarer in the windows.
        words_only: leave out what has no letter or digit.
        query: the phrase is a query by pattern, as CorpusIndex.query takes it: True, or the name of
            how its matches are taken, such as `longest`.
        k: maximum number of results; None: all.

    Raises:
        ParameterError: there is no such measure, a number is out of range.

    >>> [one.word for one in collocates(index, "mock", k=2)]
    ['turtle', 'said']
    """
    index = opened_index(index)
    if measure not in get_args(AssociationMeasure):
        choices = ", ".join(get_args(AssociationMeasure))
        raise ParameterError(f"`measure` is {measure!r}, choose one of {choices}")
    whole_number(window, "`window`", 1, _WIDEST)
    whole_number(min_count, "`min_count`", 1)
    if k is not None:
        whole_number(k, "`k`", 0)
    matching: Matching = query if isinstance(query, str) else "shortest"
    spans = index.worded.spans(phrase, query=bool(query), matching=matching)
    together, in_windows = window_counts(index, spans, window)
    words = np.flatnonzero(together >= min_count)
    if words_only:
        texts = index.vocabulary.words(words)
        words = words[[any(map(str.isalnum, text)) for text in texts]]
    both = together[words].astype(np.float64)
    counts = index.word_counts()[words].astype(np.float64)
    chances = expected(both, in_windows, counts, index.n_tokens)
    if measure == "log-dice":
        if np.any(spans[1:, 0] < spans[:-1, 1]):  # occurrences that overlap share their windows
            both_of_node = np.minimum(both, len(spans))
        else:
            both_of_node = both
        scores = log_dice(both_of_node, len(spans), counts)
    else:
        scores = TABLE_MEASURES[measure](both, in_windows, counts, index.n_tokens)
    best = np.lexsort((words, -scores))[:k]
    listed = Results(
        Collocate(word, int(both[i]), int(counts[i]), float(chances[i]), float(scores[i]))
        for i, word in zip(best.tolist(), index.vocabulary.words(words[best]), strict=True)
    )
    listed.total = words.size
    return listed


def collocate_spreads(
    index: CorpusIndex,
    phrase: str,
    words: Sequence[str],
    *,
    window: int = 5,
    query: bool | Matching = False,
) -> list[Spread]:
    """Return the spread over documents of collocates of a phrase, in its windows.

    Arguments:
        index, phrase, window, query: as in `collocates`.
        words: collocates that it returned.

    >>> collocate_spreads(index, "mock", ["turtle"])[0].documents
    1
    """
    matching: Matching = query if isinstance(query, str) else "shortest"
    spans = index.worded.spans(phrase, query=bool(query), matching=matching)
    left, right = index.around(spans, window)
    steps = np.arange(window)
    places = np.concatenate(
        [(spans[:, :1] - window + steps).ravel(), (spans[:, 1:] + steps).ravel()]
    )
    beside = np.concatenate([left.ravel(), right.ravel()])
    ids = index.vocabulary.find(hash_texts([word.encode() for word in words]))
    documents = Documents(index)
    return [documents.of_positions(np.unique(places[beside == one])) for one in ids.tolist()]


def window_counts(index: CorpusIndex, spans: np.ndarray, window: int) -> tuple[np.ndarray, int]:
    """Return (how often each word is in windows of spans, int64 by id; tokens in windows).

    Arguments:
        index: the corpus.
        spans: int64[m, 2], half-open positions.
        window: tokens on either side.
    """
    counts = np.zeros(index.n_words, np.int64)
    for shard in index.shards:
        inside = spans - shard.first_position
        inside = inside[(inside[:, 0] >= 0) & (inside[:, 0] < shard.n_positions)]
        seen = np.zeros(shard.n_positions // 8 + 1, np.uint8)
        if count_windows(shard.tokens, frozen(inside), window, seen, counts) == DAMAGED:
            raise damaged(index.path)
    return counts, int(counts.sum())
