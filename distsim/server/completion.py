"""Completes the beginning of a phrase, the most frequent completions first."""

import numpy as np

from distsim.indexes.corpus_index import CorpusIndex

_TRIED = 400
_FOLLOWERS = 20_000
_HEAD = 8  # bytes


class Completer:
    """Completes words by their text and phrases by their next word, from an index alone.

    Keeps the words' order by their first eight bytes, and those: 20 bytes a word.

    Arguments:
        index: of the text.
        counts: int64[n_words], occurrences by id.
    """

    def __init__(self, index: CorpusIndex, counts: np.ndarray) -> None:
        self._index = index
        self._counts = counts
        heads = _heads(index.vocabulary.text, index.vocabulary.offsets.astype(np.int64))
        self._order = np.argsort(heads, kind="stable").astype(np.uint32)
        self._heads = heads[self._order]

    def complete(self, text: str, k: int) -> list[tuple[str, int]]:
        """Return up to k phrases that begin with a text and occur, with their counts.

        The last word is taken as unfinished, unless a blank is behind it: then the words
        that follow most often are added, counted among 20,000 occurrences at most.

        Arguments:
            k: maximum number of phrases.
        """
        normal = self._index.options.normaliser.characters(text)
        begun, _, last = (
            normal.rstrip().rpartition(" ") if normal[-1:].strip() else (normal, "", "")
        )
        begun = " ".join(begun.split())
        if not begun and not last:
            return []
        if not begun:
            best = self._most_frequent(self._beginning(last), k)
            return [(self._index.vocabulary.word(word), int(self._counts[word])) for word in best]
        if not last:
            words = self._followers(begun)[:_TRIED]
        else:
            words = self._most_frequent(self._beginning(last), _TRIED)
        phrases = [f"{begun} {self._index.vocabulary.word(word)}" for word in words]
        if not phrases:
            return []
        counts = self._index.count(phrases).tolist()
        completions = [(one, count) for one, count in zip(phrases, counts, strict=True) if count]
        return sorted(completions, key=lambda one: (-one[1], one[0]))[:k]

    def _beginning(self, prefix: str) -> np.ndarray:
        """Return the words that begin with a prefix."""
        wanted = prefix.encode(errors="replace")
        head = wanted[:_HEAD]
        low = np.searchsorted(self._heads, _number(head.ljust(_HEAD, b"\0")), "left")
        high = np.searchsorted(self._heads, _number(head.ljust(_HEAD, b"\xff")), "right")
        words = self._order[low:high]
        if len(wanted) <= _HEAD:
            return words
        word = self._index.vocabulary.word
        return np.array([w for w in words.tolist() if word(w).startswith(prefix)], np.uint32)

    def _most_frequent(self, words: np.ndarray, k: int) -> list[int]:
        words = words[self._counts[words] > 0]
        words = words[words > 0]
        best: list[int] = words[np.argsort(-self._counts[words], kind="stable")[:k]].tolist()
        return best

    def _followers(self, phrase: str) -> list[int]:
        """Return the words that follow a phrase, the most frequent first."""
        spans = self._index.spans(phrase, sample=_FOLLOWERS)
        if not len(spans):
            return []
        words, counts = np.unique(self._index.following(spans), return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return [word for word in words[order].tolist() if word]


def _number(head: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(head, "big"))


def _heads(text: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the first eight bytes of every word as one number in their order, uint64.

    Arguments:
        text, offsets: uint8 and int64[n + 1], the words end to end.
    """
    heads = np.zeros(offsets.size - 1, np.uint64)
    for place in range(_HEAD):
        at = offsets[:-1] + place
        inside = at < offsets[1:]
        heads[inside] |= text[at[inside]].astype(np.uint64) << np.uint64(8 * (_HEAD - 1 - place))
    return heads
