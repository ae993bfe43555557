"""The sentences around a position in the corpus."""

import numpy as np

from distsim.base.errors import ParameterError
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import Shard
from distsim.indexes.written import find_words
from distsim.server.answers import Passage, Sentence
from distsim.server.limits import shortened

_BEFORE, _AFTER = 3, 4  # sentences
_MOST_WORDS = 120  # of one sentence, on either side of what was looked for


def passage(index: CorpusIndex, at: int, n_words: int) -> Passage:
    """Return the sentence of a position and its neighbours in the same document.

    Arguments:
        at: a position in the corpus, sentence boundaries counted. n_words: of what is there.

    Raises:
        ParameterError: there is no such place.
    """
    for shard in index.shards:
        here = at - shard.first_position
        if 0 <= here < shard.tokens.size and shard.tokens[here]:
            break
    else:
        raise ParameterError(f"`at` {at}: no word is there: take the place from a concordance")
    starts = shard.sentence_starts
    mine = int(np.searchsorted(starts, starts.dtype.type(here), "right")) - 1
    low, high = 0, starts.size
    for begins in (shard.source_starts, shard.document_starts):  # a document may begin earlier
        after = int(np.searchsorted(begins, begins.dtype.type(mine), "right"))
        low = max(low, *begins[max(0, after - 1) : after].tolist(), 0)
        high = min(high, *begins[after : after + 1].tolist(), starts.size)
    rows = []
    for number in range(max(low, mine - _BEFORE), min(high, mine + _AFTER + 1)):
        begin = int(starts[number])
        end = int(starts[number + 1]) if number + 1 < starts.size else int(shard.tokens.size)
        first = here - begin if number == mine else None
        tokens, line = shard.tokens[begin : end - 1], int(shard.sentence_lines[number])
        pieces = _as_written(index, shard, number, tokens, first, n_words)
        rows.append(
            _sentence(index, tokens, line, first, n_words)
            if pieces is None
            else Sentence(line, pieces, *((None, None) if first is None else (1, 2)))
        )
    source, _ = shard.places(np.array([here]))
    fields = {}
    if index.home and index.metadata.fields:
        number = int(np.searchsorted(index.document_edges, at, "right")) - 1
        fields = index.metadata.rows(number, number + 1)[0][1]
    return Passage(
        at,
        index.source(int(source[0])),
        {name: shortened(str(value)) for name, value in fields.items()},
        tuple(rows),
        mine - _BEFORE > low,
        mine + _AFTER + 1 < high,
    )


def _as_written(
    index: CorpusIndex, shard: Shard, number: int, tokens: np.ndarray, first: int | None, n: int
) -> tuple[str, ...] | None:
    """Return a sentence as it was written, cut before and behind n words; None if unknown.

    Arguments:
        number: of the sentence in the shard.
        tokens: uint32, its words.
        first, n: the words that were looked for; None: no word.
    """
    if shard.written is None or not 0 < tokens.size <= 2 * _MOST_WORDS:
        return None
    text, _ = shard.written.passage(number, number + 1)
    located = find_words(text, index.vocabulary.words(tokens), index.options)
    if located is None:
        return None
    written, places = located
    if first is None:
        return (" ".join(written.split()),)
    begin, end = places[first][0], places[min(first + n, len(places)) - 1][1]
    return written[:begin].strip(), written[begin:end], written[end:].strip()


def _sentence(
    index: CorpusIndex, tokens: np.ndarray, line: int, first: int | None, n_words: int
) -> Sentence:
    cut = 0 if first is None else max(0, first - _MOST_WORDS)
    stop = (first or 0) + n_words + _MOST_WORDS
    words = [shortened(index.vocabulary.word(word)) for word in tokens[cut:stop].tolist()]
    words = ["…"] * (cut > 0) + words + ["…"] * (stop < tokens.size)
    if first is None:
        return Sentence(line, tuple(words))
    begin = first - cut + (cut > 0)
    return Sentence(line, tuple(words), begin, min(begin + n_words, len(words)))
