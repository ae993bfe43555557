"""Groups an index's frequent words by lemma, with the forms that occur."""

from typing import NamedTuple

import numpy as np

from distsim.paraphrase.finder.inflections import Forms
from distsim.paraphrase.finder.lexicon import CountedWords

MOST_WORDS = 60_000
RAREST = 20  # occurrences of a word that is looked at
_INNER = frozenset("-'’")


class Lemmas(NamedTuple):
    """Lemmas, the most frequent first.

    words: their base words. forms: int64, ids of words; lemma i has forms[starts[i]:
    starts[i + 1]]. counts: int64[n], occurrences of all forms.
    """

    words: list[str]
    forms: np.ndarray
    starts: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, lexicon: CountedWords, forms: Forms) -> "Lemmas":
        """Return the lemmas of the most frequent words that are written with letters.

        Arguments:
            lexicon: the words that occur.
            forms: their base words.
        """
        words = [word for word in lexicon.most_frequent(MOST_WORDS) if _is_word(word)]
        frequent = lexicon.counts(words) >= RAREST
        words = [word for word, kept in zip(words, frequent.tolist(), strict=True) if kept]
        members: dict[str, list[str]] = {}
        for word in words:
            members.setdefault(forms.base(word), []).append(word)
        taken = set(words)
        for base, listed in members.items():
            rarer = [one for one in forms.of_word(base) if one not in taken]
            taken.update(rarer)
            listed += rarer
        ids = [np.sort(lexicon.ids(listed)) for listed in members.values()]
        ids = [own[own > 0] for own in ids]
        counts = np.array([lexicon.counts_of(own).sum() for own in ids], np.int64)
        order = np.argsort(-counts, kind="stable").tolist()
        bases = list(members)
        return cls(
            [bases[i] for i in order],
            np.concatenate([np.empty(0, np.int64), *(ids[i] for i in order)]),
            np.cumsum([0, *(ids[i].size for i in order)], dtype=np.int64),
            counts[order],
        )

    def of_words(self, n_words: int) -> np.ndarray:
        """Return the lemma of every word by its id, int32[n_words], -1 where it has none.

        Arguments:
            n_words: number of words of the index.
        """
        found = np.full(n_words, -1, np.int32)
        found[self.forms] = np.repeat(np.arange(self.counts.size), np.diff(self.starts))
        return found


def _is_word(word: str) -> bool:
    return (
        word[0].isalpha()
        and word[-1].isalpha()
        and all(one.isalpha() or one in _INNER for one in word)
    )
