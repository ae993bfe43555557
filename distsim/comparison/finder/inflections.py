"""Forms of a word that occur in a corpus, and vectors in which a word stands for all its forms.

People name a substitute in its dictionary form while the sentence has another, and an index
knows forms only. So a candidate is as fluent as all its forms together.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import Pair, Words
from distsim.comparison.finder.lexicon import CountedWords
from distsim.comparison.finder.space import PartSpace
from distsim.comparison.measures import cosine
from distsim.corpus.inflections import LEAST_ALIKE, RAREST_BASE, Inflections, base_words
from distsim.signatures.table import StoredTable

_CACHED_WORDS = 1 << 14
_CACHED_VECTORS = 1 << 12  # 8 MB
_FORM_POWER = 0.25  # of a form's count, its weight in the vector of its word
_RAREST_OF_FUNCTION = 0.005  # a form of a function word, of its occurrences: liked, not ins
_RAREST_OF_MANY = 10  # the same by endings that are many and name no inflections
# A form with forms of its own, a tenth as frequent or more, is a base word: paintings.
_OWN_FORMS = 10
_RAREST_TOGETHER = 200  # of endings that go together, one occurs at least so much less
_RARER_FACTOR = 20  # a form that occurs so many times less than another of its word is rare


class Forms:
    """The forms of words that occur in a corpus; may be shared by threads.

    Arguments:
        inflections: of the language.
        lexicon: the words that occur.
        space: where given, forms whose vectors are far from each other's are of different words
            (`news` is no form of `new`).
    """

    def __init__(
        self, inflections: Inflections, lexicon: CountedWords, space: PartSpace | None = None
    ) -> None:
        self.inflections = inflections
        self._lexicon = lexicon
        self._space = space
        self._cosines: dict[str, dict[str, float]] = {}
        self.of_word = lru_cache(_CACHED_WORDS)(self._of_word)
        self.base = lru_cache(_CACHED_WORDS)(self._base)
        self.of_phrase = lru_cache(_CACHED_WORDS)(self._of_phrase)
        self.has = lru_cache(_CACHED_WORDS)(self._has)
        self._counts_of_forms = lru_cache(_CACHED_WORDS)(self._made_counts)
        self._kinds_that_occur = lru_cache(_CACHED_WORDS)(self._made_kinds)

    def learn(self, bases: Iterable[str]) -> None:
        """Look up what tells the forms of base words, which will be asked for one by one.

        Arguments:
            bases: in normal form.
        """
        forms, count = self.inflections.forms, self._lexicon.count
        missing = {base: forms(base) for base in bases if base not in self._cosines}
        self._lexicon.learn(form for listed in missing.values() for form in listed)
        occurring = {
            base: [form for form in listed[1:] if count(form) > 0]
            for base, listed in missing.items()
        }
        self._lexicon.learn(
            other for listed in occurring.values() for form in listed for other in forms(form)
        )
        if self._space is None:
            return
        if len(self._cosines) + len(missing) > _CACHED_WORDS:
            self._cosines.clear()
        pairs = [(base, form) for base, listed in occurring.items() for form in listed]
        cosines = iter(self._space.cosines(*map(list, zip(*pairs, strict=True))) if pairs else ())
        for base, listed in occurring.items():
            self._cosines[base] = dict(zip(listed, cosines, strict=False))

    def kind(self, word: str, base: str | None = None) -> str:
        """Return the inflection of a word, by the rules of the language.

        Arguments:
            word: the form.
            base: its base word; found where None.
        """
        return self.inflections.kind(self.base(word) if base is None else base, word)

    def content(self, words: Words) -> frozenset[str]:
        """Return the base words of a phrase's words that are no function words.

        None where the language's function words are not known.

        Arguments:
            words: of the phrase.
        """
        function_words = self.inflections.function_words
        kept = [word for word in words if word not in function_words] if function_words else []
        return frozenset(map(self.base, kept))

    def have(self, bases: Sequence[str], kind: str) -> list[bool]:
        """Return whether each base word has a form of a kind, not much rarer than its others.

        What occurs alone decides of most. The vectors of the others' forms are looked up together.

        Arguments:
            bases: in normal form.
            kind: as `kind` names it; "" for the base word itself.
        """
        self._lexicon.learn(form for base in bases for form in self.inflections.forms(base))
        agree = [self._has_by_counts(base, kind) for base in bases]
        self.learn(base for base, has_kind in zip(bases, agree, strict=True) if has_kind is None)
        return [
            self.has(base, kind) if has_kind is None else has_kind
            for base, has_kind in zip(bases, agree, strict=True)
        ]

    def _has_by_counts(self, base: str, kind: str) -> bool | None:
        """Return what `has` does, None where that depends on which of the words are forms."""
        count, highest = self._counts_of_forms(base)
        if not kind:
            usual = not self.inflections.names_kinds or count * _RARER_FACTOR >= highest
            return True if usual else None
        return None if count == 0 or kind in self._kinds_that_occur(base) else False

    def _made_counts(self, base: str) -> tuple[int, int]:
        """Return the occurrences of a base word and those of its most frequent form."""
        counts = list(map(self._lexicon.count, self.inflections.forms(base)))
        return counts[0], max(counts)

    def _made_kinds(self, base: str) -> frozenset[str]:
        """Return the kinds of a base word's forms that occur."""
        count, of_kind = self._lexicon.count, self.inflections.kind
        return frozenset(
            of_kind(base, form) for form in self.inflections.forms(base)[1:] if count(form) > 0
        )

    def _has(self, base: str, kind: str) -> bool:
        """Return whether a base word has a form of a kind, not much rarer than its others."""
        count, forms = self._lexicon.count, self.of_word(base)
        own = [count(form) for form in forms if self.kind(form, base) == kind]
        return max(own, default=0) * _RARER_FACTOR >= max(map(count, forms))

    def _of_phrase(self, words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Return a phrase and those with its first or its last word in another form.

        Words before an apostrophe, as in *don 't* and *king 's*, have no other form.
        """
        phrases = [words]
        for at in (0, len(words) - 1) if words else ():
            if not any(word.startswith("'") for word in words[at + 1 : at + 2]):
                phrases += [
                    (*words[:at], form, *words[at + 1 :]) for form in self._shown(words[at])
                ]
        return tuple(dict.fromkeys(phrases))

    def inflected(self, phrase: Words) -> list[Words]:
        """Return a phrase, and it with its first or its last word in each other form: *takes part*.

        Function words stay, and so do all words where endings name no inflections.

        Arguments:
            phrase: two words or more.
        """
        phrases = [phrase]
        for at in (0, len(phrase) - 1) if self.inflections.names_kinds else ():
            if phrase[at] not in self.inflections.function_words:
                forms = self.of_word(self.base(phrase[at]))
                phrases += [(*phrase[:at], form, *phrase[at + 1 :]) for form in forms]
        return list(dict.fromkeys(phrases))

    def as_inflected(self, words: Words, source: Words, target: Words) -> Words | None:
        """Return what stands for one form of a phrase as it stands for another form of it.

        *Participate in*, which stands for *take part in*, gives *participated in* for *took part
        in*. None where its first word, or the last one where the forms differ in that, is of
        another kind than the phrase's or has no such form.

        Arguments:
            words: of the candidate. source: the form that it stands for. target: the other form,
                as `inflected` returns it.
        """
        at = 0 if source[0] != target[0] else -1
        base, wanted = self.base(words[at]), self.kind(target[at])
        if words[at] in self.inflections.function_words:
            return None
        if self.kind(words[at], base) != self.kind(source[at]):
            return None
        agreeing = self._of_kind(base, wanted)
        alike = self._of_kind(self.base(target[at]), wanted)  # took, taken
        if not agreeing:
            return None
        place = alike.index(target[at]) if target[at] in alike else 0
        form = agreeing[min(place, len(agreeing) - 1)]
        return (form, *words[1:]) if at == 0 else (*words[:-1], form)

    def _of_kind(self, base: str, kind: str) -> list[str]:
        return [form for form in self.of_word(base) if self.kind(form, base) == kind]

    def _shown(self, word: str) -> list[str]:
        """Return the forms of a word; of a function word no rare ones, such as *ins* of *in*."""
        rules, count = self.inflections, self._lexicon.count
        least = _RAREST_OF_FUNCTION * count(word) if word in rules.function_words else 0.0
        return [
            form for form in self.of_word(word)
            if count(form) >= least or rules.is_irregular(word, form)
        ]  # fmt: skip

    def _of_word(self, word: str) -> tuple[str, ...]:
        """Return a base word and those of its forms that occur."""
        forms = self.inflections.forms(word)
        if len(forms) == 1:
            return (word,)
        counts = {form: self._lexicon.count(form) for form in forms}
        fitting = []
        for form in forms[1:]:
            if not counts[form]:
                continue
            doubled = word + word[-1] + form[len(word) :]
            plain = word + form[len(word) + 1 :] if form.startswith(word + word[-1]) else word
            rivals = {doubled, plain} - {word, form}
            rival = max((counts.get(other, 0) for other in rivals), default=0)
            if counts[form] >= rival:
                fitting.append(form)
        return (word, *(form for form in self._alike(word, fitting) if self._is_form(word, form)))

    def _base(self, word: str) -> str:
        """Return the most frequent word of which a word is a form, itself where there is none.

        Of two words of which each may be a form of the other (*Stimme*, *stimmen*) the more
        frequent one is the base.
        """
        count, rules = self._lexicon.count, self.inflections
        own = count(word)
        rarest = RAREST_BASE if rules.names_kinds else _RAREST_OF_MANY

        def may_be(base: str, form: str) -> bool:
            least = RAREST_BASE if rules.is_irregular(base, form) else rarest
            is_frequent = count(base) * least >= own
            return is_frequent and (count(base) > own or base not in rules.forms(form))

        def fitting(pairs: list[Pair]) -> list[Pair]:
            alike = self._alike(word, [base for base, _ in pairs])
            return [(base, word) for base in alike if self._is_form(base, word)]

        return base_words({word: rules.bases(word, self._occurs)}, count, may_be, fitting)[word]

    def _is_form(self, base: str, form: str) -> bool:
        """Return whether a word that may be a form of another is one, and no word of its own.

        No form of another is one with forms of its own (`computer`, with `computers`) and one
        whose ending does not go without another, which does not occur (`officer`, `officest`).
        """
        rules, count = self.inflections, self._lexicon.count
        if rules.is_irregular(base, form):
            return True
        of_base = rules.forms(base)
        own = [
            count(other_form) for other_form in rules.forms(form)[1:] if other_form not in of_base
        ]
        if max(own, default=0) * _OWN_FORMS >= count(form):
            return False
        kind = rules.kind(base, form)
        if kind not in rules.together:
            return True
        kinds = [(rules.kind(base, other_form), other_form) for other_form in of_base]
        others = [
            count(other_form)
            for other, other_form in kinds
            if other in rules.together and other != kind
        ]
        return max(others, default=0) * _RAREST_TOGETHER >= count(form)

    def _occurs(self, word: str) -> bool:
        return self._lexicon.count(word) > 0

    def _alike(self, word: str, others: Sequence[str]) -> list[str]:
        """Return the words that may be forms of one lemma with `word`; also those unknown."""
        if self._space is None or not others:
            return list(others)
        known = self._cosines.get(word, {})
        if all(other in known for other in others):
            cosines = [known[other] for other in others]
        else:
            cosines = self._space.cosines([word] * len(others), others)
        pairs = zip(others, cosines, strict=True)
        # Not below: of a word without a vector the cosine is NaN.
        return [base for base, cosine in pairs if not cosine < LEAST_ALIKE]


def as_bases(target: Words, candidates: Iterable[Words], forms: Forms) -> dict[Words, Words]:
    """Return candidates with single words as base words, each once, with how each was given.

    Left out are the target, its forms, and what contains one of them or crosses its edge
    (`crosses_edge`); what has a token without letter or digit, unless the target has one; of
    phrases that differ in inflection alone all but the first; and what has no other words than the
    target, function words left out (*the birth of* for *give birth to*).

    Arguments:
        target: words of the target.
        candidates: words of each candidate.
        forms: inflected forms.
    """
    bases = {forms.base(word) for word in target}
    first, last = (forms.base(target[at]) for at in (0, -1))
    own = {*forms.of_phrase((first, *target[1:])), *forms.of_phrase((*target[:-1], last)), target}
    single = target[0] if len(target) == 1 else None
    if single is not None:
        own |= {(form,) for form in forms.of_word(first)}
    is_spelt = _is_spelt(target)
    content_of_target = forms.content(target) if single is None else frozenset()
    seen: set[Words] = set()
    kept: dict[Words, Words] = {}
    for candidate in candidates:
        words = candidate
        if crosses_edge(target, words) or (is_spelt and not _is_spelt(words)):
            continue
        if len(words) == 1:
            words = (forms.base(words[0]),)
            if words[0] in bases or (single and forms.inflections.are_related(single, words[0])):
                continue
        content = forms.content(words) if content_of_target else frozenset()
        if content and content <= content_of_target:
            continue
        of_bases = tuple(map(forms.base, words))
        if of_bases not in seen and not any(_holds(words, bases) for bases in own):
            seen.add(of_bases)
            kept[words] = candidate
    return kept


def _is_spelt(words: Words) -> bool:
    return all(any(map(str.isalnum, word)) for word in words)


def _holds(words: Words, part: Words) -> bool:
    return any(words[at : at + len(part)] == part for at in range(len(words) - len(part) + 1))


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
        forms.learn(members)
        for base, listed in members.items():
            rarer = [form for form in forms.of_word(base) if form not in taken]
            taken.update(rarer)
            listed += rarer
        sizes = list(map(len, members.values()))
        ids = lexicon.ids([word for listed in members.values() for word in listed])
        owners = np.repeat(np.arange(len(sizes)), sizes)[ids > 0]
        ids = ids[ids > 0]
        counts = np.zeros(len(sizes), np.int64)
        np.add.at(counts, owners, lexicon.counts_of(ids))
        order = np.argsort(-counts, kind="stable")
        places = np.empty_like(order)
        places[order] = np.arange(order.size)
        owners = places[owners]
        bases = list(members)
        return cls(
            [bases[i] for i in order.tolist()],
            ids[np.lexsort((ids, owners))],
            np.append(0, np.cumsum(np.bincount(owners, minlength=order.size))),
            counts[order],
        )

    def of_words(self, n_words: int) -> np.ndarray:
        """Return the lemma of every word by its id, int32[n_words], -1 where it has none.

        Arguments:
            n_words: number of words of the index.
        """
        lemma_of_word = np.full(n_words, -1, np.int32)
        lemma_of_word[self.forms] = np.repeat(np.arange(self.counts.size), np.diff(self.starts))
        return lemma_of_word


def _is_word(word: str) -> bool:
    return word.isalpha() or (
        word[0].isalpha()
        and word[-1].isalpha()
        and all(letter.isalpha() or letter in _INNER for letter in word)
    )


def crosses_edge(focal: Sequence[Any], candidate: Sequence[Any]) -> bool:
    """Return whether a candidate begins as the focal phrase ends, or ends as that begins.

    Then it stands across the phrase's edge: *part in the* for *take part in*. Not where the focal
    phrase itself begins as it ends: *so long as* for *as far as*. Pieces of the focal phrase
    count as well. A focal phrase of one word has no such candidates.

    Arguments:
        focal, candidate: words, or their ids.

    >>> crosses_edge(("take", "part", "in"), ("part", "in", "the"))
    True
    """
    focal, candidate = tuple(focal), tuple(candidate)
    if len(focal) < 2:
        return False
    n = len(candidate)
    if any(focal[at : at + n] == candidate for at in range(len(focal) - n + 1)):
        return True
    return any(
        (candidate[:n] == focal[-n:] or candidate[-n:] == focal[:n]) and focal[:n] != focal[-n:]
        for n in range(1, min(len(focal), len(candidate)) + 1)
    )


class LemmaVectors:
    """Unit vectors of phrases, in which a word stands for all its forms.

    A base word's vector is the sum of its forms' vectors, each times the fourth root of its
    count; that of another form is the mean of its own and its base's.

    Arguments:
        space: of the table's vectors.
        forms: inflected forms.
        lexicon: the words that occur.
    """

    def __init__(self, space: PartSpace, forms: Forms, lexicon: CountedWords) -> None:
        self.space = space
        self._forms = forms
        self._lexicon = lexicon
        self.of = lru_cache(_CACHED_VECTORS)(self._vector_of)

    def _vector_of(self, words: Words) -> np.ndarray | None:
        """Return a phrase's unit vector, float64; None where no word of it has one."""
        if len(words) != 1:
            return self.space.phrase(words)
        word = words[0]
        base = self._forms.base(word)
        total = self._all_forms(base)
        if base != word:
            own = self.space.phrase(words)
            total = total if own is None else unit(total) + own
        return unit(total) if total.any() else None

    def _all_forms(self, base: str) -> np.ndarray:
        forms = self._forms.of_word(base)
        weights = self._lexicon.counts(forms) ** _FORM_POWER
        vector: np.ndarray = weights @ self.space.phrases([(form,) for form in forms])
        return vector

    def rows(self, phrases: Sequence[Words]) -> np.ndarray:
        """Return the vectors of phrases, float64[n, n_dimensions], zeros where there is none.

        Arguments:
            phrases: the words of each.
        """
        rows = np.zeros((len(phrases), self.space.n_dimensions))
        for row, words in zip(rows, phrases, strict=True):
            vector = self.of(words)
            if vector is not None:
                row[:] = vector
        return rows


def likeness_by_bits(table: StoredTable, target: Words, candidates: Sequence[Words]) -> np.ndarray:
    """Return the estimated cosine of the target and each candidate, 0 where there is none.

    Arguments:
        table: the signatures.
        target: its words.
        candidates: the words of each.
    """
    cosines = np.zeros(len(candidates))
    with_words = [number for number, words in enumerate(candidates) if words]
    pairs = [(" ".join(target), " ".join(candidates[n])) for n in with_words]
    values = cosine(table, compose=False).similarities(pairs)
    cosines[with_words] = [value or 0.0 for value in values]
    return cosines


def unit(vector: np.ndarray) -> np.ndarray:
    """Return a vector scaled to length 1, a zero one as it is.

    Arguments:
        vector: float[n].
    """
    length = float(np.sqrt(vector @ vector))
    return vector / length if length > 0.0 else vector
