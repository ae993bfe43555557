"""Forms of a word that occur in a corpus.

People name a substitute in its dictionary form while the sentence has another, and an index
knows forms only. So a candidate is as fluent as all its forms together.
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from distsim.base.arguments import Words
from distsim.corpus.inflections import Inflections
from distsim.paraphrase.filters import crosses_edge
from distsim.paraphrase.finder.lexicon import Lexicon
from distsim.paraphrase.finder.space import LearnedSpace

_CACHED_WORDS = 1 << 16
_RAREST_BASE = 100  # a base occurs at least a hundredth as often as its form
_LEAST_ALIKE = 0.2
_OWN_FORMS = (
    10  # a form with forms of its own, a tenth as frequent or more, is a base word: paintings
)
_RAREST_TOGETHER = 200  # of endings that go together, one occurs at least so much less
_RARE = 20  # a form that occurs so many times less than another of its word is rare


class Forms:
    """The forms of words that occur in a corpus; may be shared by threads.

    Arguments:
        inflections: of the language.
        lexicon: the words that occur.
        space: where given, forms whose vectors are far from each other's are of different words
            (`news` is no form of `new`).
    """

    def __init__(
        self, inflections: Inflections, lexicon: Lexicon, space: LearnedSpace | None = None
    ) -> None:
        self.inflections = inflections
        self._lexicon = lexicon
        self._space = space
        self.of_word = lru_cache(_CACHED_WORDS)(self._of_word)
        self.base = lru_cache(_CACHED_WORDS)(self._base)
        self.of_phrase = lru_cache(_CACHED_WORDS)(self._of_phrase)
        self.has = lru_cache(_CACHED_WORDS)(self._has)

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

    def _has(self, base: str, kind: str) -> bool:
        """Return whether a base word has a form of a kind, not much rarer than its others."""
        forms = self.of_word(base)
        counts = self._lexicon.counts(forms)
        own = [self.kind(form, base) == kind for form in forms]
        return bool(counts[own].max(initial=0) * _RARE >= counts.max())

    def _of_phrase(self, words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Return a phrase and those with its first or its last word in another form."""
        found = [words]
        for at in (0, len(words) - 1) if words else ():
            found += [(*words[:at], form, *words[at + 1 :]) for form in self.of_word(words[at])]
        return tuple(dict.fromkeys(found))

    def _of_word(self, word: str) -> tuple[str, ...]:
        """Return a base word and those of its forms that occur."""
        forms = self.inflections.forms(word)
        if len(forms) == 1:
            return (word,)
        counts = dict(zip(forms, self._lexicon.counts(forms).tolist(), strict=True))
        kept = [word]
        for form in forms[1:]:
            doubled = word + word[-1] + form[len(word) :]
            plain = word + form[len(word) + 1 :] if form.startswith(word + word[-1]) else word
            rivals = {doubled, plain} - {word, form}
            rival = max((counts.get(one, 0) for one in rivals), default=0)
            fits = counts[form] > 0 and counts[form] >= rival and self._alike(word, form)
            if fits and self._is_form(word, form):
                kept.append(form)
        return tuple(kept)

    def _base(self, word: str) -> str:
        """Return the most frequent word of which a word is a form, itself where there is none."""
        count = int(self._lexicon.counts([word])[0])
        bases = [
            one
            for one in self.inflections.bases(word, self._occurs)
            if self._lexicon.counts([one])[0] * _RAREST_BASE >= count
            and self._alike(one, word)
            and self._is_form(one, word)
        ]
        return bases[int(np.argmax(self._lexicon.counts(bases)))] if bases else word

    def _is_form(self, base: str, form: str) -> bool:
        """Return whether a word that may be a form of another is one, and no word of its own.

        No form of another is one with forms of its own (`computer`, with `computers`) and one
        whose ending does not go without another, which does not occur (`officer`, `officest`).
        """
        rules = self.inflections
        if rules.is_irregular(base, form):
            return True
        count = int(self._lexicon.counts([form])[0])
        own = [one for one in rules.forms(form)[1:] if one not in rules.forms(base)]
        if self._lexicon.counts(own).max(initial=0) * _OWN_FORMS >= count:
            return False
        if rules.kind(base, form) not in rules.together:
            return True
        others = [one for one in rules.forms(base) if rules.kind(base, one) in rules.together]
        others = [one for one in others if rules.kind(base, one) != rules.kind(base, form)]
        return bool(self._lexicon.counts(others).max(initial=0) * _RAREST_TOGETHER >= count)

    def _occurs(self, word: str) -> bool:
        return bool(self._lexicon.counts([word])[0] > 0)

    def _alike(self, a: str, b: str) -> bool:
        """Return whether two words may be forms of one lemma; True where that is unknown."""
        if self._space is None:
            return True
        first, second = self._space.phrase((a,)), self._space.phrase((b,))
        return first is None or second is None or float(first @ second) >= _LEAST_ALIKE


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
    told = forms.content(target) if single is None else frozenset()
    seen: set[Words] = set()
    kept: dict[Words, Words] = {}
    for given in candidates:
        words = given
        if crosses_edge(target, words) or (is_spelt and not _is_spelt(words)):
            continue
        if len(words) == 1:
            words = (forms.base(words[0]),)
            if words[0] in bases or (single and forms.inflections.are_related(single, words[0])):
                continue
        content = forms.content(words) if told else frozenset()
        if content and content <= told:
            continue
        of_bases = tuple(map(forms.base, words))
        if of_bases not in seen and not any(_holds(words, one) for one in own):
            seen.add(of_bases)
            kept[words] = given
    return kept


def _is_spelt(words: Words) -> bool:
    return all(any(map(str.isalnum, word)) for word in words)


def _holds(words: Words, part: Words) -> bool:
    return any(words[at : at + len(part)] == part for at in range(len(words) - len(part) + 1))
