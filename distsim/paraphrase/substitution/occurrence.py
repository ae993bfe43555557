"""A target in its sentence: the words it is looked up by, its slot, its candidates.

Lines `left<TAB>target<TAB>right[<TAB>candidate;candidate...]` are tasks, each with its line.

The signature of a slot: the sum of the learned vectors of the words around it, with the
table's window, sides, distances and subsampling; in form balAdd's context (Melamud, Levy and
Dagan 2015).

Candidates gain by the vectors of the others. People name what is alike: a candidate amid many
like it is a likelier one, and fits a slot where those like it do.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import Words, one_text, word_set
from distsim.base.errors import InputError, ParameterError, counted
from distsim.comparison.finder.inflections import Forms
from distsim.comparison.finder.lexicon import Lexicon
from distsim.comparison.finder.space import LearnedSpace
from distsim.corpus.lines import decoded_line, read_lines
from distsim.corpus.sources import file_label
from distsim.indexes.shard import damaged
from distsim.kernels.compiled import frozen
from distsim.paraphrase.kernels import ngram_model as kernel

MOST_CANDIDATES = 10_000  # of a target

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

        Raises:
            ParameterError: the target is empty, or one is no text.
        """
        parts = (("left", left), ("target", target), ("right", right))
        left, target, right = (one_text(text, name) for name, text in parts)
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


_AUXILIARIES = word_set("be is are am was were been being have has had having 're 'm 've")
_WORDS_BEFORE = 3  # words in which an auxiliary stands before its participle
_SUBJECTS = word_set("i he she we they who")
_ARTICLES = word_set("a an another each every this")
_DETERMINERS = _ARTICLES | word_set(
    "the that these those such some any no my your his her its our their"
)
_PRONOUNS = word_set("me you him it us them")


class FormPlace(NamedTuple):
    """What the words around a verb or a noun tell of its form, in English.

    has_subject: it is behind a pronoun that is a subject. is_participle: behind an auxiliary or
    before *by*. has_object: before a determiner or a pronoun. before, after: the next words, or "".
    """

    has_subject: bool
    is_participle: bool
    has_object: bool
    before: str
    after: str

    @classmethod
    def of(cls, occurrence: Occurrence) -> "FormPlace":
        """Return the place of an occurrence."""
        left, right = occurrence.left_words, occurrence.right_words
        before, after = "".join(left[:1]), "".join(right[:1])
        auxiliary = not _AUXILIARIES.isdisjoint(left[:_WORDS_BEFORE])
        return cls(
            before in _SUBJECTS,
            auxiliary or after == "by",
            after in _DETERMINERS or after in _PRONOUNS,
            before,
            after,
        )

    def may_be_noun(self, kind: str) -> bool:
        """Return whether a form may be no verb's, and an `s` no plural's: *the beginning of*.

        Arguments:
            kind: of the form, as `Forms.kind` names it.
        """
        if kind == "s":
            return self.before in _ARTICLES
        if self.before in _DETERMINERS or kind not in ("ed", "ing"):
            return True
        return kind == "ing" and not self.is_participle and not self.has_object


def split_marked(sentence: str) -> tuple[str, str, str]:
    """Return (left, target, right) of a sentence with its target in brackets.

    Arguments:
        sentence: text with one pair of square brackets.

    >>> split_marked("the bright [boy] read")
    ('the bright ', 'boy', ' read')

    Raises:
        ParameterError: there are no such brackets.
    """
    marked = _MARKED.fullmatch(sentence)
    if marked is None or not marked[2].strip():
        raise ParameterError(
            f"{sentence!r}: no target in it: put brackets around it, as in 'the bright [boy] read'"
        )
    return marked[1], marked[2], marked[3]


def _side(lexicon: Lexicon, words: tuple[str, ...], is_whole: bool) -> np.ndarray:
    """Return the ids of the nearest words; is_whole: `words` go on to the sentence's edge."""
    ids = lexicon.ids(words[:REACH])
    return np.append(ids, BOUNDARY) if is_whole and len(words) <= REACH else ids


@dataclass(frozen=True)
class Slot:
    """An occurrence's own signature.

    vector: float64[n_dimensions], of length 1, or zeros where no word around has a vector.
    parts: float64[m, n_dimensions], what each context word adds to it; places: int64[m], where
    the word is: 1, 2 ... to the right, -1, -2 ... to the left.
    """

    vector: np.ndarray
    parts: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, space: LearnedSpace, occurrence: Occurrence) -> "Slot":
        """Return the signature of an occurrence."""
        parts, places = space.contexts(occurrence.left, occurrence.right)
        vector, scale = space.centred(parts.sum(axis=0))
        return cls(vector, parts * scale, places)

    def fit(self, rows: np.ndarray) -> np.ndarray:
        """Return the cosine of the slot with each unit row, float64[n]; 0 for zero rows.

        Arguments:
            rows: float[n, n_dimensions], unit or zero vectors.
        """
        fits: np.ndarray = rows @ self.vector
        return fits

    def because(self, row: np.ndarray) -> list[tuple[int, float]]:
        """Return (place, part of the cosine) of the words that contribute to a candidate's fit.

        The strongest first. What the centre takes off is no word's, so the parts add up to
        more than the fit.

        row: float[n_dimensions], the candidate's vector.
        """
        shares = self.parts @ row
        order = np.argsort(-shares, kind="stable")
        return [(int(self.places[i]), float(shares[i])) for i in order if shares[i] > 0.0]


_BLOCK_ROWS = 512


def coherence(rows: np.ndarray, fit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (how alike each candidate is to the others, how well those like it fit).

    Arguments:
        rows: float64[n, n_dimensions], unit vectors or zeros. fit: float64[n].

    Returns:
        The mean over the others of the cosine, below 0 taken for 0, float64[n]; and the mean of
        their fits, each weighing the square of that cosine, float64[n]; 0 where there are none.
    """
    n = len(rows)
    alike, fits = np.zeros(n), np.zeros(n)
    if n < 2:
        return alike, fits
    for begin in range(0, n, _BLOCK_ROWS):
        stop = min(n, begin + _BLOCK_ROWS)
        cosines = np.maximum(rows[begin:stop] @ rows.T, 0.0)
        cosines[np.arange(stop - begin), np.arange(begin, stop)] = 0.0
        alike[begin:stop] = cosines.sum(axis=1) / (n - 1)
        squares = cosines * cosines
        total = squares.sum(axis=1)
        fits[begin:stop] = np.divide(
            squares @ fit, total, out=np.zeros(stop - begin), where=total > 0.0
        )
    return alike, fits


SEPARATOR = ";"


@dataclass(frozen=True)
class SubstitutionTask:
    """A target in its sentence.

    line: its number, from 1. left, target, right: as written. candidates: None where none are
    named.
    """

    line: int
    left: str
    target: str
    right: str
    candidates: tuple[str, ...] | None = None


def read_tasks(path: str | Path) -> Iterator[SubstitutionTask]:
    """Yield the tasks of a file, plain or packed, `-` for standard input; lines from 1.

    Raises:
        InputError: a line has too few or too many columns, an empty target, too many candidates or
            is not valid UTF-8; the message names file and line.
    """
    for number, raw in read_lines(path):
        where = f"{file_label(path)}, line {number}"
        columns = decoded_line(raw, where).split("\t")
        if not 3 <= len(columns) <= 4:
            raise InputError(
                f"{where}: {counted(len(columns), 'column')} separated by tabs, wanted "
                "left, target, right "
                "and perhaps candidates: add the tabs, also around an empty left or right"
            )
        left, target, right = columns[:3]
        if not target.strip():
            raise InputError(f"{where}: the target is empty: write it between the first two tabs")
        candidates = None
        if len(columns) == 4:
            named = (candidate.strip() for candidate in columns[3].split(SEPARATOR))
            candidates = tuple(candidate for candidate in named if candidate)
            if len(candidates) > MOST_CANDIDATES:
                raise InputError(
                    f"{where}: {counted(len(candidates), 'candidate')}: give "
                    f"{MOST_CANDIDATES:,} at most"
                )
        yield SubstitutionTask(number, left, target, right, candidates)


_AS_FOUND = 8.0  # by so much another form than the one found is likelier that is shown, ln


class Filled(NamedTuple):
    """The n-gram evidence of candidates that fill a slot in a sentence.

    logs: float64[n], ln of the probability of all inflected forms of each candidate together, since
        people name a substitute in another form than the sentence needs.
    forms: the inflected form of each candidate that is shown in the slot.
    articles: `an` or `a` where the word before the slot has to become that, else "".
    """

    logs: np.ndarray
    forms: list[Words]
    articles: list[str]


class Fluency:
    """Scorer of the fillers of a slot; may be shared by threads.

    Arguments:
        lexicon: the words that occur.
        forms: inflected forms.
        order: the longest n-grams; higher tells more, and costs time.
        prior_count: a history seen so often weighs as much as the shorter one; higher smooths more.
    """

    def __init__(
        self, lexicon: Lexicon, forms: Forms, order: int = 5, prior_count: float = 16.0
    ) -> None:
        self._lexicon = lexicon
        self._index = lexicon.index
        self._forms = forms
        self._order = order
        self._prior_count = prior_count

    def scores(
        self,
        occurrence: Occurrence,
        candidates: Sequence[Words],
        kinds: Sequence[Collection[str]] | None = None,
        forms_in_text: Sequence[Words] | None = None,
    ) -> Filled:
        """Return the probability of each candidate in the slot, and the form that is shown there.

        Where the word before the slot depends on the next word (`a`, `an`), the likelier of its
        forms is taken for each candidate, and the one shown that is mostly before it.

        Arguments:
            occurrence: the target in its sentence.
            candidates: words of each candidate.
            kinds: for each candidate that is a base word, the inflections (`Forms.kind`) whose
                forms are preferred, the likeliest of them, unless they are much rarer.
            forms_in_text: the form in which each candidate was found without the sentence, () for
                none; it is shown, unless another is much likelier.
        """
        before = occurrence.left_words[0] if occurrence.left_words else ""
        articles = self._forms.inflections.alternates.get(before, ())
        fillers, owners, slots = [], [], []
        for number, words in enumerate(candidates):
            for form in self._forms.of_phrase(words):
                for article in articles or ("",):
                    slots.append((*filter(None, (article,)), *form))
                    fillers.append((article, form))
                    owners.append(number)
        within = occurrence.without_word_before() if articles else occurrence
        logs = self.log_probabilities(within, slots)
        total = np.full(len(candidates), -np.inf)
        best: list[tuple[bool, float, str, Words]] = [(False, -np.inf, "", ())] * len(candidates)
        for owner, (article, form), log in zip(owners, fillers, logs.tolist(), strict=True):
            total[owner] = np.logaddexp(total[owner], log)
            base = candidates[owner]
            agrees = False
            if kinds is not None and len(base) == 1:
                kind = self._forms.kind(form[0], base[0])
                agrees = kind in kinds[owner] and self._forms.has(base[0], kind)
            if forms_in_text is not None and form == forms_in_text[owner]:
                log += _AS_FOUND
            if (agrees, log) > best[owner][:2]:
                best[owner] = agrees, log, article, form
        shown = [form for *_, form in best]
        usual = self._usual(articles, shown, [article for *_, article, _ in best])
        return Filled(total, shown, ["" if form == before else form for form in usual])

    def _usual(
        self, articles: Sequence[str], shown: list[Words], likeliest: list[str]
    ) -> list[str]:
        """Return the article that stands most often before each phrase.

        Where none does, the one before the others with the same first letter; else the
        likeliest.
        """
        if not articles:
            return likeliest
        firsts = [words[0] if words else "" for words in shown]
        pairs = [f"{article} {word}" for word in firsts for article in articles]
        counts = self._index.count(pairs).reshape(-1, len(articles))
        letters = np.array([word[:1] for word in firsts])
        for row in np.flatnonzero(~counts.any(axis=1)).tolist():
            counts[row] = counts[letters == letters[row]].sum(axis=0)
        likeliest_article = [articles[place] for place in counts.argmax(axis=1).tolist()]
        highest = counts.max(axis=1, initial=0).tolist()
        return [usual if highest[i] else likeliest[i] for i, usual in enumerate(likeliest_article)]

    def log_probabilities(self, occurrence: Occurrence, fillers: Sequence[Words]) -> np.ndarray:
        """Return ln p(filler and the words behind it | the words before it), float64[n].

        The n-grams reach back `order` - 1 words, and as many words behind the slot are scored; a
        sentence's end is a word of its own. A word that the index does not know has the count
        1/2.

        Arguments:
            occurrence: of the target.
            fillers: the words of n of them.
        """
        reach = self._order - 1
        left = occurrence.left[:reach][::-1]
        right = occurrence.right[:reach]
        ids = self._lexicon.ids([word for words in fillers for word in words])
        stops = np.cumsum([len(words) for words in fillers], dtype=np.int64)
        counts = np.zeros((ids.size + len(fillers) * (1 + right.size), self._order))
        for shard in self._index.shards:
            state = kernel.count_windows(
                shard.tokens, shard.suffixes, shard.word_starts, frozen(left), frozen(ids),
                frozen(stops), frozen(right), counts,
            )  # fmt: skip
            if state == kernel.DAMAGED:
                raise damaged(self._index.path)
        scores = np.empty((len(fillers), 2))
        kernel.score_windows(
            frozen(counts), left.size, frozen(stops), right.size,
            float(self._index.n_tokens), self._prior_count, scores,
        )  # fmt: skip
        summed: np.ndarray = scores.sum(axis=1)
        return summed
