"""Inflected forms of words, by a language's rules in a file."""

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from distsim.base.errors import InputError, ParameterError
from distsim.corpus.lines import read_lines

NONE = "none"
DEFAULT = "english"
OF_LANGUAGE = {"en": "english", "de": "german", "fr": "french"}  # what ships
_CACHED_WORDS = 1 << 16
_SHORTEST = 2


class Inflections:
    """The forms of words of one language; see distsim/data/inflections/english.txt for the rules.

    Arguments:
        endings: the endings that stand for one of a base word's: `{"": ["s"], "y": ["ies"]}`.
        words: the forms of irregular words: `{"go": ["goes", "went"]}`.
        function_words: articles, pronouns, prepositions, conjunctions, auxiliaries, punctuation.
        alternates: groups of words of which the one stands that the next word asks for: a, an.
        together: endings of which a word has all or none: er, est.

    >>> Inflections({"": ["s", "ed", "+ed"], "y": ["ies"]}, {"go": ["went"]}).forms("stop")
    ['stop', 'stops', 'stoped', 'stopped']
    """

    def __init__(
        self,
        endings: dict[str, list[str]],
        words: dict[str, list[str]],
        *,
        function_words: Iterable[str] = (),
        alternates: Iterable[tuple[str, ...]] = (),
        together: Iterable[str] = (),
    ) -> None:
        self._endings = endings
        self._words = words
        self.function_words = frozenset(function_words)
        self.alternates = {word: tuple(group) for group in alternates for word in group}
        self.together = tuple(together)
        self._bases: dict[str, list[str]] = {}
        for base, forms in words.items():
            for form in forms:
                self._bases.setdefault(form, []).append(base)
        self._longest = max(map(len, endings), default=0)
        # What words are forms of is looked up by how they end, in the order of the rules.
        self._ending_at: list[str] = []
        self._by_ending: dict[str, list[tuple[int, str, bool]]] = {}
        for base, of_base in endings.items():
            for ending in of_base:
                bare = ending.removeprefix("+")
                place = len(self._ending_at), base, ending[0] == "+"
                self._by_ending.setdefault(bare, []).append(place)
                self._ending_at.append(bare)
        self._longest_ending = max(map(len, self._by_ending), default=0)
        plain = [one for one in endings.get("", ()) if one[0] != "+"]
        self._general = sorted(plain, key=len, reverse=True)
        self.forms = lru_cache(_CACHED_WORDS)(self._made_forms)
        # A word and those of which it may be a form; these, and those of which they may be.
        self.all_bases = lru_cache(_CACHED_WORDS)(
            lambda word: frozenset((word, *self.bases(word, lambda _: True)))
        )
        self._family = lru_cache(_CACHED_WORDS)(
            lambda word: frozenset().union(*map(self.all_bases, self.all_bases(word)))
        )

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(
            Inflections, function_words=self.function_words,
            alternates=tuple(dict.fromkeys(self.alternates.values())), together=self.together,
        )  # fmt: skip
        return made, (self._endings, self._words)

    @cached_property
    def checksum(self) -> str:
        """Of the rules, 16 hexadecimal digits."""
        rules = json.dumps([self._endings, self._words, self.together], sort_keys=True)
        return hashlib.blake2b(rules.encode(), digest_size=8).hexdigest()

    @classmethod
    def open(cls, name: str | Path = DEFAULT) -> "Inflections":
        """Return the rules of an included language (`OF_LANGUAGE`), of a file, or none (`none`).

        Arguments:
            name: of the language.

        Raises:
            ParameterError: neither a file nor a language that ships has this name.
            InputError: a line of the file is no rule; the message names it.
        """
        if str(name) == NONE:
            return cls({}, {})
        shipped = files("distsim") / "data" / "inflections" / f"{name}.txt"
        if Path(name).exists() and not Path(name).is_dir():
            return cls._read(str(name))
        if not shipped.is_file():
            raise ParameterError(
                f"inflections {str(name)!r}: give {', '.join(OF_LANGUAGE.values())}, {NONE} or a "
                "file of rules"
            )
        return cls._read(str(shipped))

    @classmethod
    def _read(cls, path: str) -> "Inflections":
        endings: dict[str, list[str]] = {}
        words: dict[str, list[str]] = {}
        function_words: list[str] = []
        alternates: list[tuple[str, ...]] = []
        together: list[str] = []
        for number, raw in read_lines(path):
            line = raw.decode(errors="replace").rstrip("\r\n")
            if not line.strip() or line.startswith("#"):
                continue
            base, tab, forms = line.partition("\t")
            if not tab or not base or not forms.split():
                raise InputError(
                    f"{path}, line {number}: {line!r} is no rule: write a base, a tab, and its "
                    "forms or endings separated by spaces"
                )
            if base == "*":
                function_words += forms.split()
            elif base == "~":
                alternates.append(tuple(forms.split()))
            elif base == "&":
                together += forms.split()
            elif base.startswith("-"):
                endings[base[1:]] = forms.split()
            else:
                words[base] = forms.split()
        return cls(
            endings, words, function_words=function_words, alternates=alternates, together=together
        )

    def _made_forms(self, word: str) -> list[str]:
        """Return a base word and all forms that it may have, itself first, each once."""
        if word in self._words:
            return list(dict.fromkeys([word, *self._words[word]]))
        if len(word) < _SHORTEST or not word.isalpha():
            return [word]
        base = self._ending(word)
        if base is None:
            return [word]
        stem = word[: len(word) - len(base)]
        forms = [word]
        for ending in self._endings[base]:
            forms.append(f"{word}{word[-1]}{ending[1:]}" if ending[0] == "+" else stem + ending)
        return list(dict.fromkeys(forms))

    def is_irregular(self, base: str, form: str) -> bool:
        """Return whether a form is listed with its base word and has no regular ending.

        Arguments:
            base, form: words in lower case.
        """
        general = self._endings.get("", ())
        return form in self._words.get(base, ()) and not any(map(form.endswith, general))

    def are_forms_of_one(self, a: str, b: str) -> bool:
        """Return whether two words are forms of one base word by the language's rules.

        Arguments:
            a, b: words in lower case.

        >>> english = Inflections.open("english")
        >>> english.are_forms_of_one("cities", "city"), english.are_forms_of_one("went", "going")
        (True, True)
        >>> english.are_forms_of_one("cities", "towns")
        False
        """
        return not self.all_bases(a).isdisjoint(self.all_bases(b))

    def are_related(self, a: str, b: str) -> bool:
        """Return whether two words are forms of one base word, or forms of forms of one.

        Arguments:
            a, b: words in lower case.

        >>> Inflections.open("english").are_related("paintings", "paints")
        True
        """
        return not self._family(a).isdisjoint(self._family(b))

    def bases(self, word: str, is_word: Callable[[str], bool]) -> list[str]:
        """Return the words of which a word may be a form, itself left out.

        Arguments:
            word: in normal form.
            is_word: tells the words of the language; others are passed over.
        """
        if word in self._words:
            return []
        found = list(self._bases.get(word, ()))
        if not found and word.isalpha():
            places: list[tuple[int, str, bool]] = []
            for length in range(min(self._longest_ending, len(word)) + 1):
                places += self._by_ending.get(word[len(word) - length :], ())
            for place, base, doubled in sorted(places):
                stem = self._stem(word, self._ending_at[place], doubled)
                if stem is not None and len(stem + base) >= _SHORTEST:
                    found.append(stem + base)
        kept = dict.fromkeys(one for one in found if one != word and is_word(one))
        return [one for one in kept if word in self.forms(one)]

    def kind(self, base: str, form: str) -> str:
        """Return the regular ending that names an inflection: `ed` for `went`; "" for the base.

        A form that ends otherwise stands for the first general ending that no other form of the
        word has.

        Arguments:
            base: a base word.
            form: a form of it.

        >>> rules = Inflections({"": ["s", "ed", "ing"]}, {"go": ["goes", "went", "going"]})
        >>> [rules.kind("go", form) for form in rules.forms("go")]
        ['', 's', 'ed', 'ing']
        """
        if form == base:
            return ""
        for ending in self._general:
            if form.endswith(ending):
                return ending
        general = [one for one in self._endings.get("", ()) if one[0] != "+"]
        listed = self.forms(base)[1:]
        if len(listed) == len(self.together) and base in self._words:
            rest = [one for one in general if one not in self.together]
            if not any(one.endswith(ending) for one in listed for ending in rest):
                return self.together[listed.index(form)]  # bad, worse, worst
        others = [one for one in listed if one != form]
        free = [one for one in general if not any(other.endswith(one) for other in others)]
        return free[0] if free else form

    @staticmethod
    def _stem(word: str, ending: str, doubled: bool) -> str | None:
        """Return a word without an ending that it has, and without the doubled letter before."""
        stem = word[: len(word) - len(ending)]
        if not doubled:
            return stem
        return stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else None

    def _ending(self, word: str) -> str | None:
        """Return the longest base ending that a word has, None where no rule fits."""
        for length in range(min(self._longest, len(word) - 1), -1, -1):
            ending = word[len(word) - length :]
            if ending in self._endings:
                return ending
        return None
