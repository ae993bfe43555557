"""Longest spans of a text that occur in an index, and the words that follow a phrase there."""

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import AnyPath, one_text, whole_number
from distsim.base.results import Results
from distsim.corpus.tokeniser import cut
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.indexes.kernels.queries import DAMAGED, match_lengths
from distsim.indexes.shard import damaged
from distsim.kernels.compiled import frozen

CHECKED_LENGTHS = (8, 13)
_SPELLINGS = 2  # of a text whose index has straight apostrophes and curly ones


class TracedSpan(NamedTuple):
    """A longest span of a text that occurs in the corpus; in another such span it is not contained.

    first: its first token in the text, from 0. n_tokens: its length. times: its occurrences.
    text: the span, normalised. places: file and line of some occurrences. documents: the ids of
    the documents there. verbatim: whether the corpus has the span as the text has it, letter by
    letter apart from white space, at one of these places; None where the index keeps no text.

    >>> trace(index, "It was beginning to get very tired.").spans[0].times
    1
    """

    first: int
    n_tokens: int
    times: int
    text: str
    places: tuple[str, ...]
    documents: tuple[str, ...]
    verbatim: bool | None


class Trace(NamedTuple):
    """Spans of a text that occur in the corpus, and shares of its n-grams.

    n_tokens: tokens of the text. share_8, share_13: share of its 8- and 13-grams that occur; None
    where it has none. spans: in order of the text.

    >>> trace(index, "down the rabbit-hole").n_tokens
    3
    """

    n_tokens: int
    share_8: float | None
    share_13: float | None
    spans: Results[TracedSpan]


class Continuation(NamedTuple):
    """A word that follows a phrase.

    word: empty for the end of the sentence. times: how often it follows. share: of all that
    follows.
    """

    word: str
    times: int
    share: float


class Continuations(NamedTuple):
    """The words after the longest suffix of a phrase that occurs, by `continuations`.

    suffix_tokens: length of that suffix; 0 where not even the last word occurs. total: its
    occurrences, the denominator of all shares. words: the most frequent first.

    >>> continuations(index, "mock").total
    56
    """

    suffix_tokens: int
    total: int
    words: Results[Continuation]


def trace(
    index: CorpusIndex | AnyPath, text: str, *, min_tokens: int = 6, places: int = 3
) -> Trace:
    """Return the longest spans of a text that occur in the corpus, normalised, and shares of n-grams.

    A span stays within a sentence, as the index cuts them. The lengths of the matches are matching
    statistics by binary search in the suffix array (Chang and Lawler 1994, section 3).

    Arguments:
        index: the corpus, one folder.
        text: as written; it is cut and normalised as the corpus was.
        min_tokens: shorter spans are left out.
        places: how many places of each span are named.

    >>> found = trace(index, "She was beginning to get very tired of it.")
    >>> [(one.text, one.times) for one in found.spans]
    [('was beginning to get very tired of', 1)]
    """  # noqa: E501
    index = opened_index(index)
    whole_number(min_tokens, "`min_tokens`", 1)
    whole_number(places, "`places`", 0)
    spellings, words, written = _sentences(index, one_text(text, "text"))
    of_each = np.zeros(spellings.shape, np.int64)
    for shard in index.shards:
        arrays = shard.tokens, shard.suffixes, shard.word_starts
        for ids, lengths in zip(spellings, of_each, strict=True):
            if match_lengths(*arrays, frozen(ids), lengths) == DAMAGED:
                raise damaged(index.path)
    ids, lengths, longest_of = spellings[0], of_each.max(axis=0), of_each.argmax(axis=0)
    stops = np.arange(ids.size) + lengths
    is_longest = np.diff(np.maximum.accumulate(stops), prepend=0) > 0
    longest = np.flatnonzero((lengths >= min_tokens) & is_longest)
    keeps_text = all(shard.written is not None for shard in index.shards)
    spans: Results[TracedSpan] = Results()
    for first in longest.tolist():
        stop = first + int(lengths[first])
        times, begins = _occurrences(index, spellings[longest_of[first], first:stop], places)
        shown = index.lines(np.column_stack([begins, begins + stop - first]), width=0)
        original = written(first, stop)
        if index.words(original) == words[first:stop]:  # else it begins or ends within a word
            times = index.count(original)  # in whatever way the text has it cut
        spans.append(TracedSpan(
            first - int(np.count_nonzero(ids[:first] == 0)), stop - first, times,
            " ".join(words[first:stop]), tuple(f"{line.source}:{line.line}" for line in shown),
            tuple(dict.fromkeys(line.document for line in shown)),
            any(line.node == original for line in shown) if keeps_text and shown else None,
        ))  # fmt: skip
    shares = [_share_found(ids, lengths, n) for n in CHECKED_LENGTHS]
    return Trace(int(np.count_nonzero(ids)), shares[0], shares[1], spans)


def _occurrences(index: CorpusIndex, phrase: np.ndarray, places: int) -> tuple[int, np.ndarray]:
    """Return (the number of occurrences, the positions of the first ones int64).

    Arguments:
        phrase: int64, word ids.
        places: maximum number of positions.
    """
    count = 0
    places_of_phrase = np.empty(0, np.int64)
    for shard in index.shards:
        positions = shard.positions(phrase)
        count += positions.size
        places_of_phrase = np.append(
            places_of_phrase,
            np.sort(positions)[: places - places_of_phrase.size] + shard.first_position,
        )
    return count, places_of_phrase


def _share_found(ids: np.ndarray, lengths: np.ndarray, n: int) -> float | None:
    """Return the share of the n-grams within sentences that occur.

    Arguments:
        ids: int64, of the text's tokens, 0 behind each sentence.
        lengths: int64, the longest match at each token.
        n: length of the n-grams.
    """
    boundaries = np.flatnonzero(np.append(ids, 0) == 0)
    left = boundaries[np.searchsorted(boundaries, np.arange(ids.size))] - np.arange(ids.size)
    total = int(np.count_nonzero(left >= n))
    return int(np.count_nonzero(lengths >= n)) / total if total else None


def _sentences(
    index: CorpusIndex, text: str
) -> tuple[np.ndarray, list[str], Callable[[int, int], str]]:
    """Return (word ids int64[n, m], the words normalised, how words first to stop are written).

    A row for each spelling of the words, of which an index of an earlier version may have two.
    Behind each sentence stands the id 0; -1 stands for an unknown word.
    """
    data = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    pieces = cut(data, index.options.text_format)
    spans = list(zip(pieces.starts.tolist(), pieces.stops.tolist(), strict=True))
    rows: list[list[str]] = [[] for _ in range(_SPELLINGS)]
    tokens: list[tuple[int, int]] = []  # of each word the first and the last one
    first = 0
    for stop in pieces.sentence_stops.tolist():
        of_sentence = [data[a:b].decode() for a, b in spans[first:stop]]
        touching = [k > 0 and spans[k - 1][1] == spans[k][0] for k in range(first, stop)]
        for n, readings in index.looked_up(of_sentence, touching):
            best = [reading for reading in readings if len(reading) == len(readings[0])]
            for number, row in enumerate(rows):
                row += best[min(number, len(best) - 1)]
            n_words = len(best[0])
            tokens += [(first + min(k, n - 1), first + min(k, n - 1)) for k in range(n_words - 1)]
            tokens += [(first + min(n_words, n) - 1, first + n - 1)] * (n_words > 0)
            first += n
        for row in rows:
            row.append("")
        tokens.append((stop - 1, stop - 1))
    ids = np.array([
        index.vocabulary.find(hash_texts([word.encode() for word in row])) for row in rows
    ])  # fmt: skip
    ids[:, [not word for word in rows[0]]] = 0

    def written(first: int, stop: int) -> str:
        piece = data[spans[tokens[first][0]][0] : spans[tokens[stop - 1][1]][1]]
        return " ".join(piece.decode().split())

    return ids, rows[0], written


def continuations(
    index: CorpusIndex | AnyPath, phrase: str, *, k: int | None = 20
) -> Continuations:
    """Return the words that follow the longest suffix of a phrase that occurs in the corpus.

    Arguments:
        index: the corpus.
        phrase: words separated by spaces.
        k: how many words; all where None.

    >>> found = continuations(index, "zeppelin mock", k=1)
    >>> found.suffix_tokens, found.total, found.words[0].word
    (1, 56, 'turtle')
    """
    opened = opened_index(index)
    whole = words = opened.words(one_text(phrase, "phrase"))
    if k is not None:
        whole_number(k, "`k`", 0)
    lengths = range(1, len(words) + 1)  # where a suffix does not occur, no longer one does
    known = bisect_left(lengths, True, key=lambda n: opened.count(" ".join(words[-n:])) == 0)
    words = words[len(words) - known :]
    if not words:
        return Continuations(0, 0, Results())
    suffix = phrase if words == whole else " ".join(words)  # which may be cut in several ways
    after = opened.neighbourhoods(suffix, 0, 1)[:, 0]
    following_words, counts = np.unique(after, return_counts=True)
    best = np.lexsort((following_words, -counts))[:k]
    total = int(after.size)
    listed = zip(opened.vocabulary.words(following_words[best]), counts[best].tolist(), strict=True)
    following = Results(Continuation(word, n, n / total) for word, n in listed)
    following.total = following_words.size
    return Continuations(len(words), total, following)
