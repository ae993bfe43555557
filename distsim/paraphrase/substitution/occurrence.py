"""Finds the words by which a target in its sentence is looked up."""

import re
from dataclasses import dataclass, replace

import numpy as np

from distsim.base.errors import ParameterError
from distsim.paraphrase.finder.lexicon import Lexicon

BOUNDARY = 0  # the id that parts sentences in an index
REACH = 10  # words on either side that anything here looks at
_MARKED = re.compile(r"(.*?)\[([^\[\]]+)\](.*)", re.DOTALL)


@dataclass(frozen=True)
class Occurrence:
    """A target with the words around it.

    target: its words, in the index's normal form. left, right: int64 ids of the nearest words,
    nearest first, at most REACH, closed by BOUNDARY where the sentence ends within; -1 where
    the index does not know the word. left_words, right_words: the same as text, without the
    boundary.
    """

    target: tuple[str, ...]
    left: np.ndarray
    right: np.ndarray
    left_words: tuple[str, ...]
    right_words: tuple[str, ...]

    @classmethod
    def of(cls, lexicon: Lexicon, left: str, target: str, right: str) -> "Occurrence":
        """Return the occurrence of a target between two pieces of text, either possibly empty.

        Arguments:
            lexicon: cuts and normalises text.
            left, right: the text on both sides.
            target: the text between them.

        Raises:
            ParameterError: the target is empty.
        """
        before, after = left.split(), right.split()
        left_words = lexicon.words(" ".join(before[-REACH:]))[::-1]
        right_words = lexicon.words(" ".join(after[:REACH]))
        target_words = lexicon.words(target)
        if not target_words:
            raise ParameterError("the target is empty: give at least one word")
        return cls(
            target_words,
            _side(lexicon, left_words, len(before) <= REACH),
            _side(lexicon, right_words, len(after) <= REACH),
            left_words[:REACH],
            right_words[:REACH],
        )

    def without_word_before(self) -> "Occurrence":
        """Return the same without the word right before the target."""
        return replace(self, left=self.left[1:], left_words=self.left_words[1:])

    def word_at(self, place: int) -> str:
        """Return the context word at a position relative to the target.

        Arguments:
            place: 1, 2 ... for the words to the right, -1, -2 ... for those to the left.
        """
        return self.right_words[place - 1] if place > 0 else self.left_words[-place - 1]


def split_marked(sentence: str) -> tuple[str, str, str]:
    """Return (left, target, right) of a sentence with its target in brackets.

    Arguments:
        sentence: text with one pair of square brackets.

    >>> split_marked("the bright [boy] read")
    ('the bright ', 'boy', ' read')

    Raises:
        ParameterError: there are no such brackets.
    """
    found = _MARKED.fullmatch(sentence)
    if found is None or not found[2].strip():
        raise ParameterError(
            f"{sentence!r}: no target in it: put brackets around it, as in 'the bright [boy] read'"
        )
    return found[1], found[2], found[3]


def _side(lexicon: Lexicon, words: tuple[str, ...], is_whole: bool) -> np.ndarray:
    """Return the ids of the nearest words; is_whole: `words` go on to the sentence's edge."""
    ids = lexicon.ids(words[:REACH])
    return np.append(ids, BOUNDARY) if is_whole and len(words) <= REACH else ids
