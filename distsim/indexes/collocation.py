"""Collocates of a phrase: the words in its windows, by an association measure."""

from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import AnyPath, whole_number
from distsim.base.choices import AssociationMeasure
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.indexes.association import TABLE_MEASURES, expected, log_dice
from distsim.indexes.corpus_index import CorpusIndex, opened_index

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
    query: bool = False,
    k: int | None = 20,
) -> Results[Collocate]:
    """Return the collocates of a phrase, the highest score first.

    A window ends where its sentence ends. A token in two overlapping windows counts once, so that
    a word is never more often in windows than in the corpus. The expected count is the word's
    count times the share of all tokens that are in windows. Words of the phrase itself are
    collocates where another occurrence of them is in a window, as in AntConc and Sketch Engine.

    Arguments:
        index: the corpus.
        phrase: the node, as typed.
        window: tokens on either side, 1 to 100.
        measure: `log-dice`; `llr`: log-likelihood of four cells; `llr-2`: of two cells; `mi`; `t`;
            `z`. Formulas: distsim.indexes.association.
        min_count: leave out words that are rarer in the windows.
        words_only: leave out what has no letter or digit.
        query: the phrase is a query by pattern, as CorpusIndex.query takes it.
        k: maximum number of results; None: all.

    Raises:
        ParameterError: there is no such measure, or a number is out of range.

    >>> [one.word for one in collocates(index, "mock", k=2)]
    ['turtle', 'said']
    """
    index = opened_index(index)
    if measure not in get_args(AssociationMeasure):
        choices = ", ".join(get_args(AssociationMeasure))
        raise ParameterError(f"`measure` is {measure!r}, choose one of {choices}")
    whole_number(window, "`window`", 1, _WIDEST)
    whole_number(min_count, "`min_count`", 1)
    spans = index.spans(phrase, query=query)
    together, in_windows = window_counts(index, spans, window)
    words = np.flatnonzero(together >= min_count)
    if words_only:
        texts = index.vocabulary.words(words)
        words = words[[any(map(str.isalnum, text)) for text in texts]]
    both = together[words].astype(np.float64)
    counts = index.word_counts()[words].astype(np.float64)
    chances = expected(both, in_windows, counts, index.n_tokens)
    if measure == "log-dice":
        scores = log_dice(both, len(spans), counts)
    else:
        scores = TABLE_MEASURES[measure](both, in_windows, counts, index.n_tokens)
    best = np.lexsort((words, -scores))[:k]
    return Results(
        Collocate(word, int(both[i]), int(counts[i]), float(chances[i]), float(scores[i]))
        for i, word in zip(best.tolist(), index.vocabulary.words(words[best]), strict=True)
    )


def window_counts(index: CorpusIndex, spans: np.ndarray, window: int) -> tuple[np.ndarray, int]:
    """Return (how often each word is in windows of spans, int64 by id; tokens in windows).

    Arguments:
        index: the corpus.
        spans: int64[m, 2], half-open positions.
        window: tokens on either side.
    """
    left, right = index.around(spans, window)
    words = np.hstack([left, right])
    places = np.hstack([spans[:, :1] + np.arange(-window, 0), spans[:, 1:] + np.arange(window)])
    inside = words != 0
    if places.size < 1 << 20:
        _, first = np.unique(places[inside], return_index=True)
        return np.bincount(words[inside][first], minlength=index.n_words), int(first.size)
    word_at = np.zeros(int(places.max()) + 1, np.uint32)  # sorting would take twice as long
    word_at[places[inside]] = words[inside]
    counted = np.bincount(word_at, minlength=index.n_words)
    counted[0] = 0
    return counted, int(counted.sum())
