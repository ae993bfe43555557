"""How words of two languages resemble each other: trigrams, edits, prefix, endings, script."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from distsim.corpus.normaliser import unescape

_SHARE_OF_SCRIPT = 0.01
_ENDINGS = (1, 2, 3)  # letters
_PRIOR = 5.0  # pairs of endings by chance that are added to those seen
_MOST_LONGER = 5


@lru_cache(1 << 18)
def plain(word: str) -> str:
    """Return a word without accents.

    >>> plain("señal")
    'senal'
    """
    parts = unicodedata.normalize("NFD", word)
    return "".join(part for part in parts if not unicodedata.combining(part))


@lru_cache(1 << 18)
def trigrams(word: str) -> frozenset[str]:
    """Return the runs of three characters of ^word$ without accents.

    >>> sorted(trigrams("así"))
    ['^as', 'asi', 'si$']
    """
    marked = f"^{plain(word)}$"
    return frozenset(marked[n : n + 3] for n in range(len(marked) - 2))


def shared_trigrams(first: str, other: str) -> float:
    """Return the Dice coefficient of the trigrams of two words."""
    a, b = trigrams(first), trigrams(other)
    return 2 * len(a & b) / (len(a) + len(b))


def common_prefix(first: str, other: str) -> int:
    """Return how many first characters two words share.

    >>> common_prefix("national", "nations")
    6
    """
    n = 0
    for a, b in zip(first, other, strict=False):
        if a != b:
            break
        n += 1
    return n


@lru_cache(1 << 20)
def edit_similarity(first: str, other: str) -> float:
    """Return 1 less the edit distance over the longer length; 0 where lengths differ by over 5.

    >>> edit_similarity("action", "accion")
    0.8333333333333334
    """
    if abs(len(first) - len(other)) > _MOST_LONGER:
        return 0.0
    above = list(range(len(other) + 1))
    for i, a in enumerate(first, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
        above = row
    return 1 - above[-1] / max(len(first), len(other))


def has_letters(word: str) -> bool:
    """Return whether a word has a letter, once its escapes are undone.

    >>> has_letters("&quot;"), has_letters("R&amp;D")
    (False, True)
    """
    return any(map(str.isalpha, unescape(word)))


def script_of(word: str) -> str:
    """Return the script of a word's first letter, by its name in Unicode; empty without letters.

    >>> script_of("3D"), script_of("мир")
    ('LATIN', 'CYRILLIC')
    """
    letter = next(filter(str.isalpha, word), "")
    return unicodedata.name(letter, "").split(" ")[0] if letter else ""


def scripts_of(words: Iterable[str]) -> set[str]:
    """Return the scripts that a hundredth of the words or more begin with."""
    counts = Counter(script_of(word) for word in words)
    return {script for script, n in counts.items() if n >= _SHARE_OF_SCRIPT * counts.total()}


class Endings:
    """How often words that end in 1 to 3 letters are translated by words that end in others.

    Arguments:
        pairs: (word, translation).

    >>> seen = Endings([("nation", "nación"), ("action", "acción"), ("close", "cerrar")])
    >>> seen.score("motion", "moción") > 0 > seen.score("motion", "mover")
    True
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._pairs = set(pairs)
        self._joint: Counter[tuple[str, str]] = Counter()
        self._sources: Counter[str] = Counter()
        self._targets: Counter[str] = Counter()
        for source, target in self._pairs:
            for n in _ENDINGS:
                self._joint[source[-n:], target[-n:]] += 1
                self._sources[source[-n:]] += 1
                self._targets[target[-n:]] += 1

    def score(self, source: str, target: str) -> float:
        """Return the mean of ln p(target's ending | source's) / p(target's ending).

        The pair itself is left out, where it is among those seen.

        Arguments:
            source, target: a word and a possible translation.
        """
        own = float((source, target) in self._pairs)
        total = 0.0
        for n in _ENDINGS:
            ending, other = source[-n:], target[-n:]
            chance = (self._targets[other] - own + 0.5) / (len(self._pairs) + 1)
            joint = self._joint[ending, other] - own + _PRIOR * chance
            total += math.log(joint / ((self._sources[ending] - own + _PRIOR) * chance))
        return total / len(_ENDINGS)
