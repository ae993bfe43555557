"""Lists of words and phrases by frequency, with their spread over documents."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import (
    AnyPath,
    KeywordMeasure,
    in_range,
    one_or_many_texts,
    shown,
    whole_number,
)
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes import phrase_walk
from distsim.indexes.collocation import (
    Documents,
    Spread,
    adjusted_p,
    log_likelihood,
    log_likelihood_2,
    log_ratio,
)
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.kernels.arrays import each_once


class Keyword(NamedTuple):
    """A word that is more, or less, frequent here than there.

    word: in normal form. here, there: its counts. log_likelihood: G2, negative where the word is
    rarer here. log_ratio: log2 of the ratio of its shares. p: of log_likelihood, adjusted by Holm
    for all compared words. documents: those here that contain it. dp, dp_norm: deviation of
    proportions (Gries 2008), and normalised (Lijffijt and Gries 2012).

    >>> from pathlib import Path
    >>> _ = Path(folder / "a.txt").write_text("tea and more tea")
    >>> keywords(index, CorpusIndex.build(folder / "a.txt", folder / "a.index"), k=1)[0].word
    ','
    """

    word: str
    here: int
    there: int
    log_likelihood: float
    log_ratio: float
    p: float
    documents: int
    dp: float | None
    dp_norm: float | None


def keywords(
    index: CorpusIndex | AnyPath,
    against: CorpusIndex | AnyPath,
    *,
    measure: KeywordMeasure = "llr-2",
    negative: bool = False,
    min_count: int = 5,
    max_p: float = 1.0,
    words_only: bool = False,
    k: int | None = 50,
) -> Results[Keyword]:
    """Return the words that are more frequent than in another corpus, the highest score first.

    Arguments:
        index: the corpus; `index.of_layer("lemma")` for its lemmas.
        against: the reference corpus, indexed with the same options.
        measure: what orders them: `llr-2`: log-likelihood of two cells; `llr`: of four;
            `log-ratio`. Formulas: distsim.indexes.collocation.
        negative: the words that are less frequent here instead, the lowest score first.
        min_count: words rarer than this in both together are not compared.
        max_p: leave out words with a higher adjusted p.
        words_only: leave out what has no letter or digit.
        k: maximum number of results; None: all.

    Raises:
        ParameterError: the two were not built with the same options, or there is no such measure.

    >>> keywords(index, index, k=1)
    []
    """
    index = opened_index(index)
    against = opened_index(against)
    if measure not in get_args(KeywordMeasure):
        choices = ", ".join(get_args(KeywordMeasure))
        raise ParameterError(f"`measure` is {measure!r}, choose one of {choices}")
    whole_number(min_count, "`min_count`", 1)
    in_range(max_p, "`max_p`", 0.0, 1.0)
    if k is not None:
        whole_number(k, "`k`", 0)
    if index.options.normaliser != against.options.normaliser:
        raise ParameterError(
            f"{index.path} and {against.path} were built with different normalisers, so their "
            "words differ: build both with the same options"
        )
    if index.layer != against.layer:
        raise ParameterError(f"{index.layer}s are compared with {against.layer}s: take one of them")
    of_other = against.vocabulary.find(index.vocabulary.word_hashes()[1:])
    only_there = np.setdiff1d(np.arange(1, against.n_words), of_other)
    counts, other_counts = (text.word_counts().astype(np.float64) for text in (index, against))
    n_here = np.concatenate([counts[1:], np.zeros(only_there.size)])
    shared = np.where(of_other < 0, 0.0, other_counts[np.maximum(of_other, 0)])
    n_there = np.concatenate([shared, other_counts[only_there]])
    tested = np.flatnonzero(n_here + n_there >= min_count)
    n_here, n_there = n_here[tested], n_there[tested]
    n_own, n_both = float(index.n_tokens), float(index.n_tokens + against.n_tokens)
    table = n_here, n_own, n_here + n_there, n_both
    likelihood = (log_likelihood if measure == "llr" else log_likelihood_2)(*table)
    ratios, p = log_ratio(*table), adjusted_p(likelihood)
    order = (ratios if measure == "log-ratio" else likelihood) * (-1 if negative else 1)
    wanted = np.flatnonzero((order > 0) & (p <= max_p))
    if words_only:
        here_only, there_only = (text.vocabulary.without_letters() for text in (index, against))
        others = np.flatnonzero(np.isin(only_there, there_only)) + index.n_words
        wanted = wanted[~np.isin(tested[wanted] + 1, np.append(here_only, others))]
    best = wanted[np.lexsort((tested[wanted], -order[wanted]))[:k]]
    ids = tested[best] + 1
    spreads = iter(Documents(index).of_phrases([*ids[n_here[best] > 0, None]]))
    listed = Results(
        Keyword(
            index.vocabulary.word(id_)
            if id_ < index.n_words
            else against.vocabulary.word(int(only_there[id_ - index.n_words])),
            int(n_here[i]), int(n_there[i]), float(likelihood[i]), float(ratios[i]), float(p[i]),
            *(next(spreads) if n_here[i] else Spread(0, None, None)),
        )
        for i, id_ in zip(best.tolist(), ids.tolist(), strict=True)
    )  # fmt: skip
    listed.total = wanted.size
    return listed


_MAX_PHRASE_LENGTH = 255
_CLUSTER_SPANS = 1 << 18  # occurrences around which phrases are looked up at once
_CLUSTER_ROWS = 3 << 20  # phrases that are counted at once
_CLUSTER_SAMPLE = 10_000  # occurrences by which the phrases are split
_BATCH = 1 << 22  # occurrences whose documents are looked up at once


class ListedPhrase(NamedTuple):
    """A phrase with its frequency and its spread over documents.

    phrase: its words. times: occurrences. per_million: the same per million tokens. documents:
    those that contain it. dp, dp_norm: deviation of proportions (Gries 2008), and normalised
    (Lijffijt and Gries 2012).

    >>> list_phrases(index, k=1)[0].phrase
    ','
    """

    phrase: str
    times: int
    per_million: float
    documents: int
    dp: float | None
    dp_norm: float | None


def list_phrases(
    index: CorpusIndex | AnyPath,
    *,
    lengths: tuple[int, int] = (1, 1),
    containing: str | None = None,
    stop: Iterable[str] = (),
    words_only: bool = False,
    min_count: int = 1,
    min_documents: int = 1,
    k: int | None = 100,
) -> Results[ListedPhrase]:
    """Return the most frequent phrases of an index, by falling count.

    Arguments:
        index: the corpus; `index.of_layer("lemma")` for phrases of lemmas.
        lengths: the fewest and the most words of a phrase.
        containing: only phrases that contain this one: its clusters.
        stop: words; phrases that contain one are left out.
        words_only: leave out phrases with a word that has no letter or digit.
        min_count, min_documents: leave out what is rarer, or in fewer documents.
        k: maximum number of results; None: all.

    Raises:
        ParameterError: a number is out of range; `containing` has more words than that.

    >>> [one.phrase for one in list_phrases(index, containing="mock", lengths=(1, 2), k=3)]
    ['mock', 'mock turtle', 'the mock']
    """
    index = opened_index(index)
    if not isinstance(lengths, tuple | list) or len(lengths) != 2:
        raise ParameterError(f"`lengths`: is {shown(lengths)}, wanted two numbers: (1, 3)")
    shortest = whole_number(lengths[0], "`lengths`", 1, _MAX_PHRASE_LENGTH)
    longest = whole_number(lengths[1], "`lengths`", shortest, _MAX_PHRASE_LENGTH)
    least = max(
        whole_number(min_count, "`min_count`", 1), whole_number(min_documents, "`min_documents`", 1)
    )
    if k is not None:
        whole_number(k, "`k`", 0)
    stopped = [
        piece
        for stop_phrase in one_or_many_texts(stop, "stop")
        for piece in index.words(stop_phrase)
    ]
    left_out = index.vocabulary.find(hash_texts([piece.encode() for piece in stopped]))
    if words_only:
        left_out = np.append(left_out, index.vocabulary.without_letters())
    if containing is None:
        parts = _all(index, shortest, longest, least)
    else:
        parts = _clusters(index, containing, shortest, longest, least)
    needed = k if min_documents == 1 else None
    best_of_parts = [(np.empty((0, longest), np.uint32), np.empty(0, np.int64))]
    n_all = 0
    for rows, counts in parts:
        stays = np.flatnonzero(~np.isin(rows, left_out).any(axis=1))
        best = stays[np.argsort(-counts[stays], kind="stable")[:needed]]
        best_of_parts.append((rows[best], counts[best]))
        n_all += stays.size
    rows, counts = (np.concatenate(arrays) for arrays in zip(*best_of_parts, strict=True))
    order = np.argsort(-counts, kind="stable")[:needed]
    listed_phrases = _listed(index, rows[order], counts[order], min_documents, k)
    listed_phrases.total = n_all if needed is not None else None
    return listed_phrases


def _listed(
    index: CorpusIndex, rows: np.ndarray, counts: np.ndarray, min_documents: int, k: int | None
) -> Results[ListedPhrase]:
    """Return the first k rows that occur in enough documents.

    Arguments:
        rows: uint32[n, length], word ids of the phrases, then 0.
        counts: int64[n], their occurrences, descending.
        min_documents: documents that contain the phrase.
        k: maximum number of phrases; None: all.
    """
    documents = Documents(index)
    lengths = np.count_nonzero(rows, axis=1)
    listed_phrases: Results[ListedPhrase] = Results()
    first = 0
    while first < counts.size and (k is None or len(listed_phrases) < k):
        within = int(np.searchsorted(np.cumsum(counts[first:]), _BATCH))
        batch = np.arange(first, min(counts.size, first + max(1, within)))
        first = int(batch[-1]) + 1
        spreads = documents.of_phrases([rows[i, : lengths[i]] for i in batch.tolist()])
        text, ends = index.render(rows, batch, lengths[batch], 0)
        written, begin = text.tobytes(), 0
        for end, count, spread in zip(
            ends[1:].tolist(), counts[batch].tolist(), spreads, strict=True
        ):
            phrase, begin = written[begin:end].decode(errors="replace"), end
            if spread.documents >= min_documents:
                listed_phrases.append(
                    ListedPhrase(phrase, count, count / index.n_tokens * 1e6, *spread)
                )
    return listed_phrases[:k]


_Counted = Iterator[tuple[np.ndarray, np.ndarray]]


def _all(index: CorpusIndex, shortest: int, longest: int, least: int) -> _Counted:
    """Yield (word ids uint32[n, longest], 0 behind each phrase; counts) of all phrases.

    Arguments:
        index: the corpus.
        shortest, longest: tokens of the phrases.
        least: minimum number of occurrences.
    """
    for chunk in phrase_walk.walk(index.shards, index.n_words, longest):
        for length in range(shortest, longest + 1):
            lows, highs = chunk.runs(length, least)
            rows = chunk.rows[lows]
            rows[:, length:] = 0
            yield rows, highs - lows


def _clusters(
    index: CorpusIndex, containing: str, shortest: int, longest: int, least: int
) -> _Counted:
    """Yield (word ids uint32[n, longest], 0 behind each; counts) of phrases that contain one.

    Arguments:
        index: the corpus.
        containing: the phrase.
        shortest, longest: tokens of the phrases.
        least: minimum number of occurrences.
    """
    spans = index.spans(containing)
    nodes = np.unique(spans[:, 1] - spans[:, 0]).tolist() or [len(index.words(containing))]
    if nodes[0] > longest:
        raise ParameterError(
            f"{containing!r} has {nodes[0]} words, phrases of up to {longest} are listed: "
            "raise the longer one of `lengths`"
        )
    for length in range(max(shortest, nodes[0]), longest + 1):
        for first, stop in _ranges_of_first_words(index, spans, nodes, length):
            blocks = [np.empty(0, f"S{4 * length}")]
            for places in _places_around(spans, nodes, length):
                rows = index.words_from(places, length)
                keys = _first_words(rows)
                inside = (keys >= first) & (keys < stop) & rows.all(axis=1)
                blocks.append(rows[inside].astype(">u4").view(f"S{4 * length}").ravel())
            phrases, counts = _counted(np.concatenate(blocks))
            padded = np.zeros((np.count_nonzero(counts >= least), longest), np.uint32)
            padded[:, :length] = phrases[counts >= least]
            yield padded, counts[counts >= least]


def _places_around(spans: np.ndarray, nodes: list[int], length: int) -> Iterator[np.ndarray]:
    """Yield where phrases of some length with one of the spans begin, int64, ascending, each once.

    Arguments:
        spans: int64[n, 2], ascending.
        nodes: their lengths.
        length: of the phrases.
    """
    begins, node_of = spans[:, 0], spans[:, 1] - spans[:, 0]
    # No phrase contains spans of two blocks.
    is_last = np.append(np.diff(begins) >= length, True)
    first = 0
    while first < len(spans):
        at_least = min(first + _CLUSTER_SPANS, len(spans)) - 1
        stop = at_least + int(np.argmax(is_last[at_least:])) + 1
        block, of_block = begins[first:stop], node_of[first:stop]
        places = each_once(
            np.concatenate(
                [
                    (block[of_block == node, None] - np.arange(length - node + 1)).ravel()
                    for node in nodes
                    if node <= length
                ]
            )
        )
        yield places[places >= 0]
        first = stop


def _first_words(rows: np.ndarray) -> np.ndarray:
    """Return a key of the first two words of phrases, uint64, in the order of the phrases."""
    second = rows[:, 1] if rows.shape[1] > 1 else np.zeros(len(rows), np.uint32)
    keys: np.ndarray = rows[:, 0].astype(np.uint64) << np.uint64(32) | second
    return keys


def _ranges_of_first_words(
    index: CorpusIndex, spans: np.ndarray, nodes: list[int], length: int
) -> list[tuple[int, int]]:
    """Return ranges of `_first_words`, half-open, with about `_CLUSTER_ROWS` phrases each.

    Arguments:
        index: the corpus.
        spans: what the phrases contain, int64[n, 2], ascending.
        nodes: their lengths.
        length: of the phrases.
    """
    n_ranges = len(spans) * (length - nodes[0] + 1) // _CLUSTER_ROWS + 1
    if n_ranges == 1:
        return [(0, 1 << 63)]
    sample = spans[:: len(spans) // _CLUSTER_SAMPLE + 1]
    places = np.concatenate(list(_places_around(sample, nodes, length)))
    keys = np.sort(_first_words(index.words_from(places, length)))
    edges = each_once(keys[np.arange(1, n_ranges) * keys.size // n_ranges]).tolist()
    return list(pairwise([0, *edges, 1 << 63]))


def _counted(phrases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (phrases, each once, ascending, uint32[m, length]; the number of each, int64).

    Arguments:
        phrases: their words as big-endian bytes, which are sorted as texts: quickly; changed.
    """
    phrases.sort()
    starts = np.flatnonzero(np.append(True, phrases[1:] != phrases[:-1])[: phrases.size])
    rows = phrases[starts].view(">u4").reshape(starts.size, phrases.itemsize // 4)
    return rows.astype(np.uint32), np.diff(starts, append=phrases.size)
