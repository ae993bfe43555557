"""Candidates for a target that is not found by stored profiles."""

import threading
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from distsim.paraphrase.finder.inflections import Forms, as_bases
from distsim.paraphrase.finder.lexicon import Lexicon
from distsim.paraphrase.finder.likeness import WordVectors
from distsim.paraphrase.options import ParaphraseOptions
from distsim.paraphrase.paraphraser import Paraphraser
from distsim.paraphrase.substitution.grammar import ParaphraseGrammar
from distsim.signatures.table import StoredTable

Words = tuple[str, ...]
MOST_FOUND = 200
_PARAPHRASER_BYTES = 32 << 20
SEARCHED_WORDS = 30_000
_BLOCK_WORDS = 4096


class Candidate(NamedTuple):
    """Where a candidate was found.

    origin: `words`, `contexts` or `grammar`. score: by contexts, else None.
    """

    origin: str
    score: float | None


class WordCandidates:
    """The words whose real-valued vectors are nearest to a target's, of the most frequent ones.

    Their vectors stay in the table's map and are read a block at a time.

    Arguments:
        lexicon: the words that occur.
        vectors: of words.
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

        Arguments:
            target: its words.
            slot: float64[n_dimensions], the vector of its place in the sentence.
            most: how many.
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


class Candidates:
    """Finds candidates for targets that are no words of the finder; may be shared by threads.

    Words are found by their vectors; phrases, and words of a table without vectors, by the contexts
    that they share with the target.

    Arguments:
        table: the signatures.
        lexicon: the words that occur in the corpus.
        forms: inflected forms.
        vectors: vectors of words; None where the table is not learned.
        most: maximum number of candidates from each source.
        grammar: paraphrase rules whose targets are candidates; None: no rules.
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
        self._forms = forms
        self._vectors = vectors
        self._most = most
        self._grammar = grammar
        options = ParaphraseOptions(k=most, depth=most, opposites="ranked")
        self._paraphraser = Paraphraser(
            lexicon.index, options=options, table=table, memory=_PARAPHRASER_BYTES
        )
        self._lexicon = lexicon
        self._building = threading.Lock()
        self._words: WordCandidates | None = None

    def of(self, target: Words, slot: np.ndarray) -> dict[Words, Candidate]:
        """Return candidates, single words as base words, with where each was found.

        Without the target, its forms and what contains one of them.

        Arguments:
            slot: the occurrence's own signature, for a target that the corpus does not know.
            target: the word or phrase to replace.
        """
        found: dict[Words, Candidate] = {}
        for name, scores in self._sources(target, slot):
            for words, own in as_bases(target, scores, self._forms).items():
                known = found.get(words, Candidate("", None))
                score = scores[own] if known.score is None else known.score
                found[words] = Candidate(",".join(filter(None, (known.origin, name))), score)
        return found

    def _sources(
        self, target: Words, slot: np.ndarray
    ) -> Iterator[tuple[str, dict[Words, float | None]]]:
        if self._vectors is not None and len(target) == 1:
            with self._building:
                self._words = self._words or WordCandidates(self._lexicon, self._vectors)
            yield "words", dict.fromkeys(self._words.of(target, slot, self._most))
        else:
            answers = self._paraphraser.paraphrases(" ".join(target))
            yield "contexts", {tuple(one.phrase.split(" ")): one.score for one in answers}
        if self._grammar is not None:
            yield "grammar", dict.fromkeys(self._grammar.of(target), None)
