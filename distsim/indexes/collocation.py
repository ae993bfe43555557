"""Collocates of a phrase; measures of association, of keywords too, and of dispersion."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import AnyPath, AssociationMeasure, Matching, whole_number
from distsim.base.errors import ParameterError, counted
from distsim.base.parallel import memory_limit
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


_PAIRS_AT_ONCE = 1 << 20  # of a phrase and a document, before those that are equal are summed
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


def _summed(keys: list[np.ndarray], counts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return (distinct keys, ascending; sum of the counts of each), int64."""
    distinct, places = np.unique(np.concatenate(keys), return_inverse=True)
    sums = np.bincount(places, np.concatenate(counts), minlength=distinct.size)
    return distinct, sums.astype(np.int64)


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
        return self.of_numbered([(positions, np.zeros(positions.size, np.int64))], 1)[0]

    def of_phrases(self, phrases: Sequence[np.ndarray]) -> list[Spread]:
        """Return the spread of each phrase, given as its word ids.

        phrases: integers, of each phrase.
        """
        ids = np.concatenate([np.empty(0, np.int64), *phrases]).astype(np.int64)
        stops = np.cumsum([phrase.size for phrase in phrases], dtype=np.int64)
        parts = (
            (positions + shard.first_position, numbers)
            for shard in self._index.shards
            for positions, numbers in shard.occurrences(ids, stops)
        )
        return self.of_numbered(parts, len(phrases))

    def of_numbered(self, parts: Iterable[tuple[np.ndarray, np.ndarray]], n: int) -> list[Spread]:
        """Return the spread of each of n phrases.

        Arguments:
            parts: (positions, number of the phrase of each), int64; read once.
            n: phrases.
        """
        keys, counts = np.empty((2, 0), np.int64)
        new_keys, new_counts = [keys], [counts]
        for positions, numbers in parts:
            documents = np.searchsorted(self._begins, positions, "right") - 1
            if self._kept is not None:
                documents = self._numbers[documents]
            of_part = np.unique(numbers * self.shares.size + documents, return_counts=True)
            new_keys.append(of_part[0])
            new_counts.append(of_part[1])
            if sum(map(len, new_keys)) > max(_PAIRS_AT_ONCE, 2 * keys.size):
                keys, counts = _summed(new_keys, new_counts)
                new_keys, new_counts = [keys], [counts]
        return self._spreads(*_summed(new_keys, new_counts), n)

    def _spreads(self, keys: np.ndarray, counts: np.ndarray, n: int) -> list[Spread]:
        """Return the spread of n phrases by occurrences in documents that have any.

        Arguments:
            keys: int64, the number of the phrase times documents, and the document.
            counts: int64, occurrences.
            n: phrases.
        """
        phrases, documents = np.divmod(keys, self.shares.size)
        totals = np.bincount(phrases, counts, minlength=n)
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
_SPANS_AT_ONCE = 1 << 20  # of a query that are copied
_BYTES_AT_ONCE = 1 << 17  # of bits, eight tokens each
_WORDS_AT_ONCE = 4_096
_OCCURRENCES_AT_ONCE = 1 << 22  # of collocates whose documents are counted
_MAX_READINGS = 16  # of all bits, for collocates that are more frequent together
_BYTES_A_MATCH = 32  # bytes of a query's match: the span, and the place of its rarest word
_BYTES_A_ROW = 1000  # bytes of a collocate that is listed, with its spread
_BYTES_A_WORD = 64  # bytes by word id: counts here and in the corpus, and scores


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
        ParameterError: there is no such measure, a number is out of range, or the words take more
            memory than the process may.

    >>> [one.word for one in collocates(index, "mock", k=2)]
    ['turtle', 'said']
    """
    index = opened_index(index)
    _check_listing(measure, min_count, k)
    windows = PhraseWindows.of(index, phrase, window, query)
    return windows.collocates(measure, min_count=min_count, words_only=words_only, k=k)


def _check_listing(measure: str, min_count: int, k: int | None) -> None:
    """Raise where there is no such measure, or a number is out of range."""
    if measure not in get_args(AssociationMeasure):
        choices = ", ".join(get_args(AssociationMeasure))
        raise ParameterError(f"`measure` is {measure!r}, choose one of {choices}")
    whole_number(min_count, "`min_count`", 1)
    if k is not None:
        whole_number(k, "`k`", 0)


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
    return PhraseWindows.of(index, phrase, window, query).spreads(words)


class PhraseWindows(NamedTuple):
    """The windows of a phrase, with the words in them.

    corpus: an index, or its layer of lemmas or tags.
    counts: int64 by word id, how often each is in them, a token in two of them once.
    bits: for each shard uint8, a bit for each token, lowest first: whether it is in one.
    n_nodes: occurrences of the phrase. are_of_overlapping: whether any two of these overlap.
    """

    corpus: CorpusIndex
    counts: np.ndarray
    bits: list[np.ndarray]
    n_nodes: int
    are_of_overlapping: bool

    @classmethod
    def of(
        cls, index: CorpusIndex, phrase: str, window: int, query: bool | Matching
    ) -> "PhraseWindows":
        """Return the windows of a phrase in an index, or in its layer of lemmas or tags.

        Arguments:
            index, phrase, window, query: as in `collocates`.
        """
        whole_number(window, "`window`", 1, _WIDEST)
        _require_memory(index)
        if query:
            matching: Matching = query if isinstance(query, str) else "shortest"
            spans = index.worded.query(phrase, matching=matching)
            _require_memory(index, n_matches=len(spans))
            blocks = _by_shard(index, spans)
            overlap = bool(np.any(spans[1:, 0] < spans[:-1, 1]))
        else:
            blocks = index.worded.span_blocks(phrase)
            overlap = index.worded.overlaps_itself(phrase)
        counts = np.zeros(index.n_words, np.int64)
        bits = [np.zeros(shard.n_positions // 8 + 1, np.uint8) for shard in index.shards]
        n_nodes = 0
        for number, inside in blocks:
            n_nodes += len(inside)
            tokens = index.shards[number].tokens
            if count_windows(tokens, frozen(inside), window, bits[number], counts) == DAMAGED:
                raise damaged(index.path)
        return cls(index, counts, bits, n_nodes, overlap)

    def collocates(
        self, measure: AssociationMeasure, *, min_count: int, words_only: bool, k: int | None
    ) -> Results[Collocate]:
        """Return the words in the windows, the highest score first.

        Arguments:
            measure, min_count, words_only, k: as in the function `collocates`.
        """
        _check_listing(measure, min_count, k)
        index, together, in_windows = self.corpus, self.counts, int(self.counts.sum())
        words = np.flatnonzero(together >= min_count)
        if words_only:
            words = words[_with_letters(index, words)]
        both = together[words].astype(np.float64)
        counts = index.word_counts()[words].astype(np.float64)
        chances = expected(both, in_windows, counts, index.n_tokens)
        if measure == "log-dice":
            both_of_node = both
            if self.are_of_overlapping:  # occurrences that overlap share their windows
                both_of_node = np.minimum(both, self.n_nodes)
            scores = log_dice(both_of_node, self.n_nodes, counts)
        else:
            scores = TABLE_MEASURES[measure](both, in_windows, counts, index.n_tokens)
        best = np.lexsort((words, -scores))[:k]
        _require_memory(index, n_rows=best.size)
        listed = Results(
            Collocate(word, int(both[i]), int(counts[i]), float(chances[i]), float(scores[i]))
            for i, word in zip(best.tolist(), index.vocabulary.words(words[best]), strict=True)
        )
        listed.total = words.size
        return listed

    def spreads(self, words: Sequence[str]) -> list[Spread]:
        """Return the spread over documents of words in the windows.

        Arguments:
            words: collocates.
        """
        index = self.corpus
        ids = index.vocabulary.find(hash_texts([word.encode() for word in words]))
        documents = Documents(index)
        room = max(_OCCURRENCES_AT_ONCE, index.n_tokens // _MAX_READINGS)
        groups = np.cumsum(self.counts[ids]) // room
        spreads: list[Spread] = []
        for group in np.unique(groups).tolist():
            mine = ids[groups == group]
            number_of_id = np.full(index.n_words, -1, np.int64)
            number_of_id[mine] = np.arange(mine.size)
            spreads += documents.of_numbered(self._numbered(number_of_id), mine.size)
        return spreads

    def _numbered(self, number_of_id: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (positions, numbers) of the words that have a number, int64, in parts.

        Arguments:
            number_of_id: int64 by word id; -1 for a word without one.
        """
        for shard, bits in zip(self.corpus.shards, self.bits, strict=True):
            for first in range(0, bits.size, _BYTES_AT_ONCE):
                inside = np.unpackbits(bits[first : first + _BYTES_AT_ONCE], bitorder="little")
                places = np.flatnonzero(inside) + first * 8
                numbers = number_of_id[shard.tokens[places]]
                is_numbered = numbers >= 0
                yield places[is_numbered] + shard.first_position, numbers[is_numbered]


def _with_letters(index: CorpusIndex, words: np.ndarray) -> np.ndarray:
    """Return whether each word has a letter or a digit, bool; texts of a block at a time."""
    blocks = (
        words[first : first + _WORDS_AT_ONCE] for first in range(0, words.size, _WORDS_AT_ONCE)
    )
    texts = (text for block in blocks for text in index.vocabulary.words(block))
    return np.fromiter((any(map(str.isalnum, text)) for text in texts), bool, words.size)


def _by_shard(index: CorpusIndex, spans: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (number of the shard, spans in it) of the matches of a query, a part at a time."""
    firsts = [shard.first_position for shard in index.shards]
    edges = [*np.searchsorted(spans[:, 0], firsts).tolist(), len(spans)]
    for number, first_position in enumerate(firsts):
        for first in range(edges[number], edges[number + 1], _SPANS_AT_ONCE):
            stop = min(first + _SPANS_AT_ONCE, edges[number + 1])
            yield number, spans[first:stop] - first_position


def _require_memory(index: CorpusIndex, *, n_matches: int = 0, n_rows: int = 0) -> None:
    """Refuse what exceeds the limit of the process: words by id, a bit a token and what is held.

    Arguments:
        index: the corpus.
        n_matches: of a query.
        n_rows: collocates that are listed.
    """
    limit = memory_limit()
    n_bytes = _BYTES_A_WORD * index.n_words + index.n_tokens // 8
    n_bytes += _BYTES_A_MATCH * n_matches + _BYTES_A_ROW * n_rows
    if limit is not None and limit < n_bytes:
        matches = f", {counted(n_matches, 'match', 'matches')}" if n_matches else ""
        rows = f", {counted(n_rows, 'collocate')}" if n_rows else ""
        raise ParameterError(
            f"`memory`: {counted(index.n_words, 'word')}{matches}{rows} and a bit for each token "
            f"take {n_bytes / 1e6:,.1f}M, {limit / 1e6:,.1f}M are left: give as much more"
        )
