"""Inflected forms of words, by a language's rules in a file."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from distsim.base.arguments import Pair
from distsim.base.errors import InputError, ParameterError
from distsim.corpus.lines import read_lines
from distsim.corpus.vocabulary import hash_texts

NONE = "none"
DEFAULT = "english"
OF_LANGUAGE = {"en": "english", "de": "german", "es": "spanish", "fr": "french"}  # what ships
_CACHED_WORDS = 1 << 14  # of some 600 bytes each
_SHORTEST = 2
RAREST_BASE = 100  # a base word occurs at least a hundredth as often as its form
LEAST_ALIKE = 0.2  # the cosine of a base word and its form


class Inflections:
    """The forms of words of one language; see distsim/data/inflections/english.txt for the rules.

    Arguments:
        endings: the endings that stand for one of a base word's: `{"": ["s"], "y": ["ies"]}`. `+ed`
            doubles the letter before, `^er` changes the last vowel, `ge-t` stands around the stem.
        words: the forms of irregular words: `{"go": ["goes", "went"]}`; the word itself where
            the others do not tell its past and its participle: `{"come": ["came", "come"]}`.
        function_words: articles, pronouns, prepositions, conjunctions, auxiliaries, punctuation.
        alternates: groups of words of which the one stands that the next word asks for: a, an.
        together: endings of which a word has all or none: er, est.
        vowels: pairs of a vowel and what it becomes before an ending with `^`.
        prefixes: groups (what may stand between prefix and verb, the prefixes); the forms of an
            irregular verb are those of the verb with a prefix, too.
        names_kinds: whether an ending of the base "" names what a form is (`ed`); where not, forms
            of two words agree by their contexts alone.

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
        vowels: Iterable[tuple[str, str]] = (),
        prefixes: Iterable[tuple[tuple[str, ...], tuple[str, ...]]] = (),
        names_kinds: bool = True,
    ) -> None:
        self._endings = endings
        self._parted = {base: list(map(_parted, of_base)) for base, of_base in endings.items()}
        self._words = words
        self.names_kinds = names_kinds
        self._vowels, self._prefix_groups = tuple(vowels), tuple(prefixes)
        self._change = _changes(dict(self._vowels))
        self._undo = _changes({changed: vowel for vowel, changed in self._vowels})
        self._prefixes = sorted(
            ((prefix, infixes) for infixes, group in self._prefix_groups for prefix in group),
            key=lambda pair: -len(pair[0]),
        )
        self._any_prefix = tuple(prefix for prefix, _ in self._prefixes)
        self._infixes = tuple({infix: 0 for infixes, _ in self._prefix_groups for infix in infixes})
        self.function_words = frozenset(function_words)
        self.alternates = {word: tuple(group) for group in alternates for word in group}
        self.together = tuple(together)
        self._bases: dict[str, list[str]] = {}
        for base, forms in words.items():
            for form in forms:
                self._bases.setdefault(form, []).append(base)
        self._longest = max(map(len, endings), default=0)
        # What words are forms of is looked up by how they end, in the order of the rules.
        self._by_ending: dict[str, list[tuple[int, str, str, str]]] = {}
        n_rules = 0
        for base, of_base in self._parted.items():
            for how, bare in of_base:
                self._by_ending.setdefault(bare, []).append((n_rules, base, how, bare))
                n_rules += 1
        self._longest_ending = max(map(len, self._by_ending), default=0)
        self._plain = [ending for ending in endings.get("", ()) if not _parted(ending)[0]]
        self._general = sorted(self._plain, key=len, reverse=True)
        self.forms = lru_cache(_CACHED_WORDS)(self._made_forms)
        self._listed_bases = lru_cache(_CACHED_WORDS)(self._made_listed_bases)
        self._regular_bases = lru_cache(_CACHED_WORDS)(self._made_regular_bases)
        # A word and those of which it may be a form; these, and those of which they may be.
        self.all_bases = lru_cache(_CACHED_WORDS)(
            lambda word: frozenset((word, *self.bases(word, lambda _: True)))
        )
        self._family = lru_cache(_CACHED_WORDS)(
            lambda word: frozenset().union(*map(self.all_bases, self.all_bases(word)))
        )

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(
            Inflections, function_words=self.function_words,
            alternates=tuple(dict.fromkeys(self.alternates.values())), together=self.together,
            vowels=self._vowels, prefixes=self._prefix_groups, names_kinds=self.names_kinds,
        )  # fmt: skip
        return make, (self._endings, self._words)

    @cached_property
    def checksum(self) -> str:
        """Of the rules, 16 hexadecimal digits."""
        words = {
            base: [form for form in forms if form != base] for base, forms in self._words.items()
        }
        settings = [self._endings, words, self.together]
        more = [self._vowels, self._prefix_groups]
        rules = json.dumps(settings + (more if any(more) else []), sort_keys=True)
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
        vowels: list[tuple[str, str]] = []
        prefixes: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        names_kinds = True
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
            elif base == "^":
                vowels += [(a, b) for a, _, b in (pair.partition(":") for pair in forms.split())]
            elif base == "=":
                names_kinds = forms.split() != [NONE]
            elif base.startswith(">"):
                prefixes.append((tuple(base[1:].split()), tuple(forms.split())))
            elif base.startswith("-"):
                endings[base[1:]] = forms.split()
            else:
                words[base] = forms.split()
        return cls(
            endings, words, function_words=function_words, alternates=alternates,
            together=together, vowels=vowels, prefixes=prefixes, names_kinds=names_kinds,
        )  # fmt: skip

    def _made_forms(self, word: str) -> list[str]:
        """Return a base word and all forms that it may have, itself first, each once."""
        listed = self._irregular(word)
        if listed is not None:
            return list(dict.fromkeys([word, *listed]))
        if len(word) < _SHORTEST or not word.isalpha():
            return [word]
        base = self._ending(word)
        if base is None:
            return [word]
        stem = word[: len(word) - len(base)]
        forms = [word]
        for how, bare in self._parted[base]:
            if how == "+":
                forms.append(f"{word}{word[-1]}{bare}")
            elif how == "^":
                forms.append(self._change(stem) + bare)
            else:
                forms.append(how + stem + bare)
        for prefix, infixes, verb in self._prefixed(word):
            around = [form for form in self.forms(verb)[1:] if infixes and form.startswith(infixes)]
            forms += [prefix + form for form in around]
            forms += [prefix + infix + verb for infix in infixes if around]
        return list(dict.fromkeys(forms))

    def _prefixed(self, word: str) -> list[tuple[str, tuple[str, ...], str]]:
        """Return (prefix, what may stand behind it, rest of the word) for each prefix of a word."""
        if not word.startswith(self._any_prefix):
            return []
        return [
            (prefix, infixes, word[len(prefix) :])
            for prefix, infixes in self._prefixes
            if word.startswith(prefix) and len(word) > len(prefix) + _SHORTEST
        ]

    def _irregular(self, word: str) -> Sequence[str] | None:
        """Return the listed forms of a word, or of the verb behind its prefix; None without."""
        listed = self._words.get(word)
        if listed is not None:
            return listed
        for prefix, infixes, verb in self._prefixed(word):
            of_verb = self._words.get(verb)
            if of_verb is not None and infixes:  # aufgestanden, aufzustehen
                return [prefix + form for form in (*of_verb, *(infix + verb for infix in infixes))]
            if of_verb is not None:  # verstanden
                return [prefix + self._without_infix(form) for form in of_verb]
        return None

    def _without_infix(self, form: str) -> str:
        """Return a form without what stands before it only where no prefix does: gestanden."""
        return form.removeprefix(next(filter(form.startswith, self._infixes), ""))

    def is_irregular(self, base: str, form: str) -> bool:
        """Return whether a form is listed with its base word and has no regular ending.

        Arguments:
            base, form: words in lower case.
        """
        general = self._endings.get("", ())
        listed = self._irregular(base) or ()
        return form in listed and not any(map(form.endswith, general))

    def is_unchanged(self, verb: str, as_participle: bool) -> bool:
        """Return whether an irregular verb is its own past participle, or past: *has come*.

        Arguments:
            verb: a base word; one that is listed among its own forms.
        """
        general, listed = self._plain, self._words.get(verb, [])
        others = [form for form in listed if not any(map(form.endswith, general))]
        return verb in listed and others[-1 if as_participle else 0] == verb  # came come

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
        return [base for base in self.candidates(word, is_word) if word in self.forms(base)]

    def candidates(self, word: str, is_word: Callable[[str], bool]) -> list[str]:
        """Return the words of which a word may be a form, and some of which it is none.

        Arguments:
            word, is_word: as `bases` takes them.
        """
        bases_found = self._listed_bases(word)
        if not any(map(is_word, bases_found)) and word.isalpha() and word not in self._words:
            bases_found += self._regular_bases(word)
        return [base for base in dict.fromkeys(bases_found) if base != word and is_word(base)]

    def _made_listed_bases(self, word: str) -> tuple[str, ...]:
        """Return the words of which a word is a form by the list, or behind a prefix."""
        if word in self._words:
            return ()
        bases_found = list(self._bases.get(word, ()))
        for prefix, infixes, rest in self._prefixed(word):
            bases = [*self._bases.get(rest, ())]
            for infix in self._infixes:
                if not infixes:
                    bases += self._bases.get(infix + rest, ())
                elif infix in infixes and rest.startswith(infix):
                    bases += [*self._regular_bases(rest), rest.removeprefix(infix)]
            bases_found += [prefix + base for base in bases]
        return tuple(bases_found)

    def _made_regular_bases(self, word: str) -> tuple[str, ...]:
        """Return the words of which a word may be a form by the endings, in the order of rules."""
        rules: list[tuple[int, str, str, str]] = []
        n, by_ending = len(word), self._by_ending
        for first in range(n, n - min(self._longest_ending, n) - 1, -1):
            rules += by_ending.get(word[first:], ())
        regular_bases = []
        for _, base, how, ending in sorted(rules):
            stem = self._stem(word, ending, how) if how else word[: n - len(ending)]
            if stem is not None and len(stem) + len(base) >= _SHORTEST:
                regular_bases.append(stem + base)
        return tuple(regular_bases)

    def kind(self, base: str, form: str) -> str:
        """Return the regular ending that names an inflection: `ed` for `went`; "" for the base.

        Where endings name no inflections, "" for all.

        A form that ends otherwise stands for the first general ending that no other form of the
        word has.

        Arguments:
            base: a base word.
            form: a form of it.

        >>> rules = Inflections({"": ["s", "ed", "ing"]}, {"go": ["goes", "went", "going"]})
        >>> [rules.kind("go", form) for form in rules.forms("go")]
        ['', 's', 'ed', 'ing']
        """
        if form == base or not self.names_kinds:
            return ""
        for ending in self._general:
            if form.endswith(ending):
                return ending
        general = self._plain
        listed = self.forms(base)[1:]
        if len(listed) == len(self.together) and base in self._words:
            rest = [ending for ending in general if ending not in self.together]
            if not any(form_listed.endswith(ending) for form_listed in listed for ending in rest):
                return self.together[listed.index(form)]  # bad, worse, worst
        others = [form_listed for form_listed in listed if form_listed != form]
        free = [ending for ending in general if not any(other.endswith(ending) for other in others)]
        return free[0] if free else form

    def _stem(self, word: str, ending: str, how: str) -> str | None:
        """Return a word without an ending that it has and what was done before it, or None."""
        stem = word[: len(word) - len(ending)]
        if how == "+":
            return stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else None
        if how == "^":
            plain = self._undo(stem)
            return plain if plain != stem else None
        return stem.removeprefix(how) if stem.startswith(how) else None

    def _ending(self, word: str) -> str | None:
        """Return the longest base ending that a word has, None where no rule fits."""
        for length in range(min(self._longest, len(word) - 1), -1, -1):
            ending = word[len(word) - length :]
            if ending in self._endings:
                return ending
        return None


def _parted(ending: str) -> tuple[str, str]:
    """Return (`+`, `^`, what stands before the stem, or nothing; the ending itself)."""
    if ending[0] in "+^":
        return ending[0], ending[1:]
    before, hyphen, after = ending.partition("-")
    return (before, after) if hyphen else ("", ending)


def _changes(vowels: dict[str, str]) -> Callable[[str], str]:
    """Return a function that changes the last of some vowels of a stem."""
    if not vowels:
        return str
    letters = "".join(sorted(set("".join(vowels))))
    last_vowels = re.compile(
        f"({'|'.join(sorted(vowels, key=len, reverse=True))})(?=[^{letters}]*$)"
    )
    return lambda stem: last_vowels.sub(lambda match: vowels[match[1]], stem, count=1)


def base_words(
    candidates: Mapping[str, Iterable[str]],
    count: Callable[[str], float],
    may_be: Callable[[str, str], bool],
    fitting: Callable[[list[Pair]], list[Pair]] = list,
) -> dict[str, str]:
    """Return the base word of each form, the most frequent of its candidates, else itself.

    Arguments:
        candidates: words of which each form may be one. count: of a word in the text.
        may_be: of a candidate and the form, whether it is frequent enough beside it.
        fitting: of all such pairs of a base word and its form, those that go together.
    """
    pairs = [(base, form) for form, bases in candidates.items() for base in bases]
    bases = {form: form for form in candidates}
    pairs = fitting([pair for pair in pairs if may_be(*pair)])
    for base, form in sorted(pairs, key=lambda pair: -count(pair[0])):
        if bases[form] == form:
            bases[form] = base
    return bases


AUTO = "auto"
_LEAST_SHARE = 0.25  # of the words are function words; in running text some .45 are
_CLEARLY = 1.5  # times as many as English has


class HasLanguage(Protocol):
    """A text whose language is known, by the name of its inflections."""

    @property
    def language(self) -> str:
        """The name of the inflections."""
        ...


def chosen_inflections(setting: str, text: HasLanguage) -> str:
    """Return a setting of inflections; where it is `auto`, those of a text's language.

    Arguments:
        setting: `auto`, the name of inflections that ship, `none` or a file of rules.
        text: which is asked for its language only where the setting is `auto`.
    """
    return text.language if setting == AUTO else setting


def language_of(hashes: np.ndarray, counts: np.ndarray) -> str:
    """Return the name of a text's language, of those whose inflections ship.

    English, unless the function words of another language are a quarter of all words and 1.5 times
    as many as those of English.

    Arguments:
        hashes: uint64[n], of the text's words.
        counts: integers[n], their occurrences.

    >>> import numpy as np
    >>> language_of(hash_texts([b"der", b"die", b"haus"]), np.array([5, 5, 1]))
    'german'
    """
    shares = {
        name: _share(Inflections.open(name).function_words, hashes, counts)
        for name in OF_LANGUAGE.values()
    }
    best = max(shares, key=lambda name: shares[name])
    is_clear = shares[best] >= max(_LEAST_SHARE, _CLEARLY * shares[DEFAULT])
    return best if is_clear else DEFAULT


def _share(words: Iterable[str], hashes: np.ndarray, counts: np.ndarray) -> float:
    """Return the share of some words with letters among all occurrences."""
    wanted = np.sort(hash_texts([word.encode() for word in words if any(map(str.isalpha, word))]))
    is_wanted = wanted[np.searchsorted(wanted[:-1], hashes)] == hashes
    return float(counts[is_wanted].sum(dtype=np.uint64)) / max(1, int(counts.sum(dtype=np.uint64)))
