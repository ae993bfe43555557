"""Collocates of a phrase; measures of association, of keywords too, and of dispersion."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import AnyPath, AssociationMeasure, Matching, whole_number
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.indexes.kernels.words import DAMAGED, count_windows
from distsim.indexes.shard import damaged
from distsim.kernels.compiled import frozen


def expected(both: np.ndarray, of_node: float, of_word: np.ndarray, total: float) -> np.ndarray:
    """Return the count expected by chance, of_node * of_word / total, float64.

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    chance: np.ndarray = of_word * (of_node / total) + 0.0 * both
    return chance


def mutual_information(
    both: np.ndarray, of_node: float, of_word: np.ndarray, total: float
) -> np.ndarray:
    """Return the pointwise mutual information log2(both / E), in bits (Church and Hanks 1990).

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    with np.errstate(divide="ignore"):
        information: np.ndarray = np.log2(both / expected(both, of_node, of_word, total))
    return information


def cubic_mutual_information(
    both: np.ndarray, of_node: float, of_word: np.ndarray, total: float
) -> np.ndarray:
    """Return log2(both^3 / E), which favours frequent pairs more than `mi` (Daille 1994).

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    with np.errstate(divide="ignore"):
        score: np.ndarray = np.log2(both**3 / expected(both, of_node, of_word, total))
    return score


def t_score(both: np.ndarray, of_node: float, of_word: np.ndarray, total: float) -> np.ndarray:
    """Return (both - E) / sqrt(both), E by `expected` (Church et al. 1991).

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    differences = both - expected(both, of_node, of_word, total)
    score: np.ndarray = np.divide(
        differences, np.sqrt(both), out=np.zeros_like(differences), where=both > 0
    )
    return score


def z_score(both: np.ndarray, of_node: float, of_word: np.ndarray, total: float) -> np.ndarray:
    """Return (both - E) / sqrt(E), E by `expected` (Dennis 1965).

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    chance = expected(both, of_node, of_word, total)
    score: np.ndarray = (both - chance) / np.sqrt(chance)
    return score


def log_likelihood(
    both: np.ndarray, of_node: float, of_word: np.ndarray, total: float
) -> np.ndarray:
    """Return Dunning's (1993) G2 of all four cells, 2 sum O ln(O / E), negative where both < E.

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    rows = np.array([of_node, total - of_node])[:, None]
    columns = np.array([of_word, total - of_word])
    chances = rows[:, None] * columns / total
    inside = np.array([both, of_node - both])
    observed = np.array([inside, columns - inside])
    return _signed(observed.reshape(4, -1), chances.reshape(4, -1))


def log_likelihood_2(
    both: np.ndarray, of_node: float, of_word: np.ndarray, total: float
) -> np.ndarray:
    """Return G2 of the two cells of the word, inside and outside, negative where both < E.

    The keyness of Rayson and Garside (2000), who leave out the cells of all other words.

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    chance = expected(both, of_node, of_word, total)
    return _signed(np.array([both, of_word - both]), np.array([chance, of_word - chance]))


def log_ratio(both: np.ndarray, of_node: float, of_word: np.ndarray, total: float) -> np.ndarray:
    """Return log2 of the word's share inside divided by its share outside (Hardie 2014).

    A count of 0 is taken for 0.5.

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    inside = np.maximum(both, 0.5) / of_node
    outside = np.maximum(of_word - both, 0.5) / (total - of_node)
    ratio: np.ndarray = np.log2(inside / outside)
    return ratio


def _signed(observed: np.ndarray, chances: np.ndarray) -> np.ndarray:
    from scipy.special import xlogy  # a slow import

    ratios = np.divide(observed, chances, out=np.ones_like(chances), where=chances > 0)
    magnitudes: np.ndarray = 2 * xlogy(observed, ratios).sum(axis=0)
    signed: np.ndarray = np.where(observed[0] < chances[0], -1, 1) * np.maximum(magnitudes, 0.0)
    return signed


def log_dice(both: np.ndarray, n_node: float, of_word: np.ndarray) -> np.ndarray:
    """Return 14 + log2(2 both / (n_node + of_word)) (Rychlý 2008), at most 14.

    The word is in a window several times where there are more of `both`; Dice's coefficient is 1.

    Arguments:
        both: occurrences of each word in the windows.
        n_node: occurrences of the node itself, not tokens of its windows.
        of_word: occurrences of each word.
    """
    score: np.ndarray = 14 + np.log2(np.minimum(2 * both / (n_node + of_word), 1))
    return score


def adjusted_p(scores: np.ndarray) -> np.ndarray:
    """Return p of signed log-likelihoods (chi-squared, one degree), adjusted by Holm (1979).

    Arguments:
        scores: float64, of all tests.
    """
    from scipy.special import chdtrc

    order = np.argsort(-np.abs(scores), kind="stable")
    steps = chdtrc(1, np.abs(scores[order])) * (scores.size - np.arange(scores.size))
    adjusted = np.empty(scores.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


Measured = Callable[[np.ndarray, float, np.ndarray, float], np.ndarray]
TABLE_MEASURES: dict[str, Measured] = {
    "llr": log_likelihood,
    "llr-2": log_likelihood_2,
    "mi": mutual_information,
    "mi3": cubic_mutual_information,
    "t": t_score,
    "z": z_score,
}


class Spread(NamedTuple):
    """The spread of a phrase over documents.

    documents: those that contain it, its range. dp: half the sum, over documents, of |share of its
    occurrences - share of all tokens|: 0 where each document has its share, near 1 where one
    document has all (Gries 2008, "Dispersions and adjusted frequencies in corpora").
    dp_norm: dp / (1 - the smallest share), which reaches 1 (Lijffijt and Gries 2012). Both are
    None where the phrase does not occur.
    """

    documents: int
    dp: float | None
    dp_norm: float | None


class Documents:
    """The documents of an index: where each begins, and its share of all tokens.

    >>> len(Documents(index).shares)
    1
    """

    def __init__(self, index: CorpusIndex) -> None:
        self._index = index
        self._begins = index.document_edges[:-1]
        lengths = index.document_lengths
        self._kept = index.kept_documents
        if self._kept is not None:
            self._numbers = np.cumsum(self._kept) - 1
            lengths = lengths[self._kept]
        self.shares = lengths / lengths.sum()

    def of_positions(self, positions: np.ndarray) -> Spread:
        """Return the dispersion of the occurrences at positions, int64.

        Arguments:
            positions: int64, positions of the occurrences in the corpus.
        """
        return self._spreads(positions, np.zeros(positions.size, np.int64), 1)[0]

    def of_phrases(self, phrases: Sequence[np.ndarray]) -> list[Spread]:
        """Return the spread of each phrase, given as its word ids.

        phrases: integers, of each phrase.
        """
        ids = np.concatenate([np.empty(0, np.int64), *phrases]).astype(np.int64)
        stops = np.cumsum([phrase.size for phrase in phrases], dtype=np.int64)
        places_of_shards, owners = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for shard in self._index.shards:
            positions, numbers = shard.occurrences(ids, stops)
            places_of_shards.append(positions + shard.first_position)
            owners.append(numbers)
        return self._spreads(np.concatenate(places_of_shards), np.concatenate(owners), len(phrases))

    def _spreads(self, positions: np.ndarray, owners: np.ndarray, n: int) -> list[Spread]:
        documents = np.searchsorted(self._begins, positions, "right") - 1
        if self._kept is not None:
            documents = self._numbers[documents]
        keys, counts = np.unique(owners * self.shares.size + documents, return_counts=True)
        phrases, documents = np.divmod(keys, self.shares.size)
        totals = np.bincount(owners, minlength=n)
        shares = self.shares[documents]
        differences = np.abs(counts / totals[phrases] - shares) - shares
        dp = (1 + np.bincount(phrases, differences, minlength=n)) / 2
        largest = 1 - float(self.shares.min())
        ranges = np.bincount(phrases, minlength=n).tolist()
        return [
            Spread(number, deviation, deviation / largest if largest else 0.0)
            if number
            else Spread(0, None, None)
            for number, deviation in zip(ranges, dp.tolist(), strict=True)
        ]


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
            `mi3`; `t`; `z`. Formulas: distsim.indexes.collocation.
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
    return [
        documents.of_positions(np.unique(places[beside == word_id])) for word_id in ids.tolist()
    ]


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
