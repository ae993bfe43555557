"""A word -> its forms, by a language's rules in a file.

People name a substitute in its dictionary form while the sentence has another, and an index
knows forms only. So a candidate is as fluent as all its forms together.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from distsim.corpus.lines import read_lines
from distsim.errors import InputError, ParameterError
from distsim.substitution.lexicon import Lexicon
from distsim.substitution.space import LearntSpace

NONE = "none"
DEFAULT = "english"
_CACHED_WORDS = 1 << 16
_SHORTEST = 2
_RAREST_BASE = 100  # a base occurs at least a hundredth as often as its form
_LEAST_ALIKE = 0.2


class Inflections:
    """The forms of words of one language; see distsim/data/inflections/english.txt for the rules.

    Arguments:
        endings: the endings that stand for one of a base word's: `{"": ["s"], "y": ["ies"]}`.
        words: the forms of the words that go their own ways: `{"go": ["goes", "went"]}`.

    >>> Inflections({"": ["s", "ed", "+ed"], "y": ["ies"]}, {"go": ["went"]}).forms("stop")
    ['stop', 'stops', 'stoped', 'stopped']
    """

    def __init__(self, endings: dict[str, list[str]], words: dict[str, list[str]]) -> None:
        self._endings = endings
        self._words = words
        self._bases: dict[str, list[str]] = {}
        for base, forms in words.items():
            for form in forms:
                self._bases.setdefault(form, []).append(base)
        self._longest = max(map(len, endings), default=0)
        self.forms = lru_cache(_CACHED_WORDS)(self._made_forms)

    @classmethod
    def open(cls, name: str | Path = DEFAULT) -> "Inflections":
        """Return the rules of a language that ships (`english`), of a file, or of `none`.

        Raises:
            ParameterError: neither a file nor a language that ships has this name.
            InputError: a line of the file is no rule; the message names it.
        """
        if str(name) == NONE:
            return cls({}, {})
        shipped = files("distsim") / "data" / "inflections" / f"{name}.txt"
        if Path(name).is_file():
            return cls._read(str(name))
        if not shipped.is_file():
            raise ParameterError(
                f"inflections {str(name)!r}: give {DEFAULT}, {NONE} or a file of rules"
            )
        return cls._read(str(shipped))

    @classmethod
    def _read(cls, path: str) -> "Inflections":
        endings: dict[str, list[str]] = {}
        words: dict[str, list[str]] = {}
        for number, raw in read_lines(path):
            line = raw.decode(errors="replace").rstrip("\r\n")
            if not line.strip() or line.startswith("#"):
                continue
            base, tab, forms = line.partition("\t")
            if not tab or not base or not forms.split():
                raise InputError(
                    f"{path}, line {number}: {line!r} is no rule: write a base, a tab, and its "
                    "forms or endings parted by spaces"
                )
            if base.startswith("-"):
                endings[base[1:]] = forms.split()
            else:
                words[base] = forms.split()
        return cls(endings, words)

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

    def bases(self, word: str, is_word: Callable[[str], bool]) -> list[str]:
        """Return the words of which a word may be a form, itself left out.

        Arguments:
            is_word: tells the words of the language; others are passed over.
        """
        if word in self._words:
            return []
        found = list(self._bases.get(word, ()))
        if not found and word.isalpha():
            for base, endings in self._endings.items():
                for ending in endings:
                    stem = self._stem(word, ending)
                    if stem is not None and len(stem + base) >= _SHORTEST:
                        found.append(stem + base)
        kept = dict.fromkeys(one for one in found if one != word and is_word(one))
        return [one for one in kept if word in self.forms(one)]

    def _stem(self, word: str, ending: str) -> str | None:
        doubled = ending[0] == "+"
        ending = ending.removeprefix("+")
        if not word.endswith(ending):
            return None
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


class Forms:
    """The forms of words that occur in a corpus; may be shared by threads.

    Arguments:
        space: where given, forms whose vectors are far from each other's are of different words
            (`news` is no form of `new`).
    """

    def __init__(
        self, inflections: Inflections, lexicon: Lexicon, space: LearntSpace | None = None
    ) -> None:
        self._inflections = inflections
        self._lexicon = lexicon
        self._space = space
        self.of_word = lru_cache(_CACHED_WORDS)(self._of_word)
        self.base = lru_cache(_CACHED_WORDS)(self._base)
        self.of_phrase = lru_cache(_CACHED_WORDS)(self._of_phrase)

    def _of_phrase(self, words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Return a phrase and those with its first or its last word in another form."""
        found = [words]
        for at in (0, len(words) - 1) if words else ():
            found += [(*words[:at], form, *words[at + 1 :]) for form in self.of_word(words[at])]
        return tuple(dict.fromkeys(found))

    def _of_word(self, word: str) -> tuple[str, ...]:
        """Return a base word and those of its forms that occur."""
        forms = self._inflections.forms(word)
        if len(forms) == 1:
            return (word,)
        counts = dict(zip(forms, self._lexicon.counts(forms).tolist(), strict=True))
        kept = [word]
        for form in forms[1:]:
            doubled = word + word[-1] + form[len(word) :]
            plain = word + form[len(word) + 1 :] if form.startswith(word + word[-1]) else word
            rivals = {doubled, plain} - {word, form}
            rival = max((counts.get(one, 0) for one in rivals), default=0)
            if counts[form] > 0 and counts[form] >= rival and self._alike(word, form):
                kept.append(form)
        return tuple(kept)

    def _base(self, word: str) -> str:
        """Return the most frequent word of which a word is a form, itself where there is none."""
        count = int(self._lexicon.counts([word])[0])
        bases = [
            one
            for one in self._inflections.bases(word, self._occurs)
            if self._lexicon.counts([one])[0] * _RAREST_BASE >= count and self._alike(one, word)
        ]
        return bases[int(np.argmax(self._lexicon.counts(bases)))] if bases else word

    def _occurs(self, word: str) -> bool:
        return bool(self._lexicon.counts([word])[0] > 0)

    def _alike(self, a: str, b: str) -> bool:
        """Tell whether two words may be forms of one; True where nothing tells."""
        if self._space is None:
            return True
        first, second = self._space.phrase((a,)), self._space.phrase((b,))
        return first is None or second is None or float(first @ second) >= _LEAST_ALIKE
