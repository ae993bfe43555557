"""Candidates for a target: the words and phrases nearest to it."""

import threading
from collections.abc import Iterable, Iterator

import numpy as np

from distsim.comparison.nearest import NeighbourSearch
from distsim.paraphrase.substitution.grammar import ParaphraseGrammar
from distsim.paraphrase.substitution.inflections import Forms
from distsim.paraphrase.substitution.lexicon import Lexicon
from distsim.paraphrase.substitution.likeness import WordVectors
from distsim.signatures.table import StoredTable

Words = tuple[str, ...]
MOST_FOUND = 200
SEARCHED_WORDS = 30_000
_BLOCK_WORDS = 4096
_LONGEST = 3


class WordCandidates:
    """The words whose real-valued vectors are nearest to a target's, of the most frequent ones.

    Their vectors stay in the table's map and are read a block at a time.
    """

    def __init__(self, lexicon: Lexicon, vectors: WordVectors) -> None:
        frequent = lexicon.most_frequent(SEARCHED_WORDS)
        words = [word for word in frequent if any(map(str.isalpha, word))]
        rows = vectors.space.rows(words)
        self._words = [word for word, row in zip(words, rows.tolist(), strict=True) if row >= 0]
        self._rows = rows[rows >= 0]
        self._vectors = vectors

    def of(self, target: Words, slot: np.ndarray, most: int) -> list[Words]:
        """Return the words nearest to the target, or to its slot where it has no vector.

        Nearest first; none where the slot has none either.
        """
        vector = self._vectors.of(target)
        if vector is None:
            vector = slot
        if not vector.any() or not self._words:
            return []
        wanted = vector.astype(np.float32)
        near = np.concatenate(
            [
                self._vectors.space.vectors_at(self._rows[first : first + _BLOCK_WORDS]) @ wanted
                for first in range(0, self._rows.size, _BLOCK_WORDS)
            ]
        )
        order = np.argsort(-near, kind="stable")[:most]
        return [(self._words[i],) for i in order.tolist()]


class PhraseCandidates:
    """The phrases whose bits are nearest to the target's, and to its base form's."""

    def __init__(self, table: StoredTable, forms: Forms) -> None:
        lengths = range(1, min(_LONGEST, table.longest) + 1)
        self._search = NeighbourSearch(table, lengths=lengths, estimate="bits")
        self._forms = forms

    def of(self, target: Words, most: int) -> list[Words]:
        """Return the nearest phrases, each once, nearest first."""
        focal = {" ".join(target): None}
        if len(target) == 1:
            focal[self._forms.base(target[0])] = None
        found: dict[Words, None] = {}
        for phrase in focal:
            for near in self._search.nearest(phrase, k=most) or ():
                found[tuple(near.phrase.split(" "))] = None
        return list(found)


class Finder:
    """Finds candidates for targets, from whatever there is; may be shared by threads.

    Arguments:
        vectors: of words; None where the table is not learnt.
        most: so many from each source.
        grammar: paraphrase rules; none where None.
    """

    def __init__(
        self,
        table: StoredTable,
        lexicon: Lexicon,
        forms: Forms,
        vectors: WordVectors | None,
        most: int,
        grammar: ParaphraseGrammar | None,
    ) -> None:
        self._table = table
        self._lexicon = lexicon
        self._forms = forms
        self._vectors = vectors
        self._most = most
        self._grammar = grammar
        self._building = threading.Lock()
        self._words: WordCandidates | None = None
        self._phrases: PhraseCandidates | None = None

    def of(self, target: Words, slot: np.ndarray) -> dict[Words, str]:
        """Return candidates, single words as base words, each with where it was found.

        Arguments:
            slot: the occurrence's own signature, for a target that the corpus does not know.

        Without the target, its forms and what holds one of them.
        """
        origins: dict[Words, list[str]] = {}
        for name, found in self._sources(target, slot):
            for words in as_bases(target, found, self._forms):
                origins.setdefault(words, []).append(name)
        return {words: ",".join(names) for words, names in origins.items()}

    def _sources(self, target: Words, slot: np.ndarray) -> Iterator[tuple[str, list[Words]]]:
        if self._vectors is not None:
            with self._building:
                self._words = self._words or WordCandidates(self._lexicon, self._vectors)
            yield "words", self._words.of(target, slot, self._most)
        if self._vectors is None or len(target) > 1:
            with self._building:
                self._phrases = self._phrases or PhraseCandidates(self._table, self._forms)
            yield "phrases", self._phrases.of(target, self._most)
        if self._grammar is not None:
            yield "grammar", self._grammar.of(target)


def as_bases(target: Words, candidates: Iterable[Words], forms: Forms) -> list[Words]:
    """Return candidates with single words as base words, each once, in their order.

    The target, its forms and what holds one of them are left out. So is, of a target of several
    words, what is a piece of it, crosses its edge (*part in the* for *take part in*), or has a
    token without letters and digits.
    """
    own = {target, *forms.of_phrase(target)}
    if len(target) == 1:
        own |= {(form,) for form in forms.of_word(forms.base(target[0]))}
    kept: dict[Words, None] = {}
    for words in candidates:
        if len(target) > 1 and (_crosses(target, words) or not all(map(_is_spelt, words))):
            continue
        if len(words) == 1:
            words = (forms.base(words[0]),)
            if words[0] in target:
                continue
        if not any(_holds(words, one) for one in own):
            kept[words] = None
    return list(kept)


def _crosses(target: Words, words: Words) -> bool:
    """Tell whether some words are a piece of a target, or begin as it ends, or end as it begins."""
    lengths = range(1, min(len(target), len(words)) + 1)
    return _holds(target, words) or any(
        words[:n] == target[-n:] or words[-n:] == target[:n] for n in lengths
    )


def _is_spelt(word: str) -> bool:
    return any(map(str.isalnum, word))


def _holds(words: Words, part: Words) -> bool:
    return any(words[at : at + len(part)] == part for at in range(len(words) - len(part) + 1))
