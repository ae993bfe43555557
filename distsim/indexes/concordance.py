"""Which occurrences a concordance has, and how much text around each, across sentences."""

import random
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import whole_number
from distsim.base.errors import ParameterError
from distsim.indexes.indexed_text import IndexedText
from distsim.indexes.shard import Shard, damaged
from distsim.indexes.written import find_words

_MOST_TOKENS = 1 << 20
_TOKENS = re.compile(r"(\d{1,7})(?::(\d{1,7}))?")


class Sample(NamedTuple):
    """Some of the occurrences of a phrase, in the order of the corpus.

    n: how many; None: all. seed: of random numbers, by which they are drawn; None: they are evenly
    spaced. every: only each so many-th occurrence, taken before that.

    >>> Sample(2, every=2).of(np.arange(10)).tolist()
    [0, 4]
    """

    n: int | None = None
    seed: int | None = None
    every: int = 1

    def of(self, spans: np.ndarray) -> np.ndarray:
        """Return the sample of an array by occurrence, in its order.

        Raises:
            ParameterError: a number is out of range.
        """
        spans = spans[:: whole_number(self.every, "`every`", 1)]
        if self.n is None or whole_number(self.n, "`sample`", 1) >= len(spans):
            return spans
        if self.seed is None:
            drawn = [place * len(spans) // self.n for place in range(self.n)]
        else:
            drawn = random.Random(self.seed).sample(range(len(spans)), self.n)
        sample: np.ndarray = spans[np.sort(drawn)]
        return sample


class ConcordanceContext(NamedTuple):
    """How much text is shown around an occurrence, within its document.

    unit: `tokens`, `s` for its sentence, `p` for its paragraph. before, after: numbers of tokens.
    """

    unit: str
    before: int = _MOST_TOKENS
    after: int = _MOST_TOKENS


def parse_context(text: str) -> ConcordanceContext:
    """Return what `s`, `p`, `20` or `5:10` means.

    Raises:
        ParameterError: it is none of these.

    >>> parse_context("5:10")
    ConcordanceContext(unit='tokens', before=5, after=10)
    """
    if text in ("s", "p"):
        return ConcordanceContext(text)
    numbers = _TOKENS.fullmatch(text)
    if numbers is None or max(int(number) for number in numbers.groups() if number) > _MOST_TOKENS:
        raise ParameterError(
            f"`context` {text!r}: give s (the sentence), p (the paragraph), a number of tokens, or "
            "two, such as 5:10"
        )
    return ConcordanceContext("tokens", int(numbers[1]), int(numbers[2] or numbers[1]))


class _SentencePlace(NamedTuple):
    """A sentence of an index: its shard and its number there."""

    shard: Shard
    number: int

    @property
    def begin(self) -> int:
        """Position of its first token in the corpus."""
        return int(self.shard.sentence_starts[self.number]) + self.shard.first_position

    @property
    def line(self) -> int:
        """The line of its file where it begins."""
        return int(self.shard.sentence_lines[self.number])

    def tokens(self) -> np.ndarray:
        """Return its word ids."""
        starts = self.shard.sentence_starts[self.number : self.number + 2].tolist()
        stop = starts[1] if len(starts) > 1 else self.shard.n_positions
        return self.shard.words_at(starts[0], stop - 1)


class ContextReader:
    """Reader of the text around occurrences, as written where the index keeps it.

    A paragraph is a line of running text, or one of annotated text; where blank lines divide files
    into documents, and in text without paragraphs, it is the document.

    Arguments:
        index: the corpus.
        context: how much text.
    """

    def __init__(self, index: IndexedText, context: ConcordanceContext) -> None:
        self._index = index
        self._context = context
        self._by_line = context.unit == "p" and index.has_line_paragraphs
        is_annotated = index.shards[0].analyses is not None
        has_paragraphs = context.unit == "p" and is_annotated
        self._edges = index.paragraph_edges if has_paragraphs else index.document_edges

    def sides(self, begin: int, end: int) -> tuple[str, str, str]:
        """Return the text (before, of, behind) the occurrence at positions begin..end, half-open.

        Raises:
            ArtifactError: the index is damaged.
        """
        place = int(np.searchsorted(self._edges, begin, "right")) - 1
        sentence = self._sentence_at(begin)
        pieces = self._pieces(sentence)
        first, stop = begin - sentence.begin, end - sentence.begin
        while first and not pieces[first]:
            first -= 1
        before, after = (max(0, n_tokens) for n_tokens in self._context[1:])
        left, right = pieces[max(0, first - before) : first], pieces[stop : stop + after]
        if self._context.unit != "s":
            low, high = self._edges[place : place + 2].tolist()
            for other in self._neighbours(sentence, -1, low, high):
                room = before - len(left)
                if room <= 0:
                    break
                left = self._pieces(other)[-room:] + left
            for other in self._neighbours(sentence, 1, low, high):
                room = after - len(right)
                if room <= 0:
                    break
                right = right + self._pieces(other)[:room]
        parts = (left, pieces[first:stop], right)
        before_text, node, behind = (" ".join("".join(part).split()) for part in parts)
        return before_text, node, behind

    def _neighbours(
        self, sentence: _SentencePlace, step: int, low: int, high: int
    ) -> Iterator[_SentencePlace]:
        """Yield the sentences before (step -1) or behind one, at the positions low..high."""
        shards = self._index.shards
        place = next(n for n, shard in enumerate(shards) if shard is sentence.shard)
        number, nearer = sentence.number, sentence
        while True:
            number += step
            if not 0 <= number < shards[place].sentence_starts.size:
                place += step
                if not 0 <= place < len(shards):
                    return
                number = 0 if step > 0 else shards[place].sentence_starts.size - 1
            other = _SentencePlace(shards[place], number)
            if not low <= other.begin < high:
                return
            if self._by_line and self._are_of_two_lines(*((nearer, other)[::step])):
                return
            yield other
            nearer = other

    def _are_of_two_lines(self, first: _SentencePlace, second: _SentencePlace) -> bool:
        if first.line != second.line or first.shard.written is None:
            return first.line != second.line
        try:
            return first.shard.written.ends_line(first.number)
        except ValueError:
            raise damaged(self._index.path) from None

    def _sentence_at(self, position: int) -> _SentencePlace:
        for shard in self._index.shards:
            here = position - shard.first_position
            if 0 <= here < shard.n_positions:
                starts = shard.sentence_starts
                number = int(np.searchsorted(starts, starts.dtype.type(here), "right")) - 1
                return _SentencePlace(shard, number)
        raise damaged(self._index.path)

    def _pieces(self, sentence: _SentencePlace) -> list[str]:
        """Return the text of each token of a sentence, with what is written up to the next one."""
        words = self._index.vocabulary.words(sentence.tokens())
        written = sentence.shard.written
        if written is not None:
            try:
                text, _ = written.passage(sentence.number, sentence.number + 1)
                text_and_spans = find_words(text, words, self._index.options)
            except ValueError:
                raise damaged(self._index.path) from None
            if text_and_spans is not None:
                whole, spans = text_and_spans
                edges = [begin for begin, _ in spans] + [spans[-1][1]]
                pieces = [whole[a:b] for a, b in pairwise(edges)]
                pieces[-1] += " "
                for number in range(len(spans) - 2, -1, -1):  # a contraction is at its first word
                    if spans[number] == spans[number + 1]:
                        pieces[number : number + 2] = pieces[number + 1], ""
                return pieces
        return [f"{word} " for word in words]
