"""The language of a text, by the function words of those whose inflections ship."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from distsim.corpus.inflections import DEFAULT, OF_LANGUAGE, Inflections
from distsim.corpus.vocabulary import hash_texts

AUTO = "auto"
_LEAST_SHARE = 0.25  # of the words are function words; in running text some .45 are
_CLEARLY = 1.5  # times as many as English has


class HasLanguage(Protocol):
    """A text whose language is known, by the name of its inflections."""

    @property
    def language(self) -> str:
        """The name of the inflections."""
        ...


def chosen_inflections(setting: str, text: HasLanguage) -> str:
    """Return a setting of inflections; where it is `auto`, those of a text's language.

    Arguments:
        setting: `auto`, the name of inflections that ship, `none` or a file of rules.
        text: which is asked for its language only where the setting is `auto`.
    """
    return text.language if setting == AUTO else setting


def language_of(hashes: np.ndarray, counts: np.ndarray) -> str:
    """Return the name of a text's language, of those whose inflections ship.

    English, unless the function words of another language are a quarter of all words and 1.5 times
    as many as those of English.

    Arguments:
        hashes: uint64[n], of the text's words.
        counts: integers[n], their occurrences.

    >>> import numpy as np
    >>> language_of(hash_texts([b"der", b"die", b"haus"]), np.array([5, 5, 1]))
    'german'
    """
    shares = {
        name: _share(Inflections.open(name).function_words, hashes, counts)
        for name in OF_LANGUAGE.values()
    }
    best = max(shares, key=lambda name: shares[name])
    is_clear = shares[best] >= max(_LEAST_SHARE, _CLEARLY * shares[DEFAULT])
    return best if is_clear else DEFAULT


def _share(words: Iterable[str], hashes: np.ndarray, counts: np.ndarray) -> float:
    """Return the share of some words with letters among all occurrences."""
    wanted = np.sort(hash_texts([word.encode() for word in words if any(map(str.isalpha, word))]))
    found = wanted[np.searchsorted(wanted[:-1], hashes)] == hashes
    return float(counts[found].sum(dtype=np.uint64)) / max(1, int(counts.sum(dtype=np.uint64)))
