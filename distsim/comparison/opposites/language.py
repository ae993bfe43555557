"""Reads a language's file of patterns, affixes and weights of opposites."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import plain_number
from distsim.base.errors import InputError, ParameterError
from distsim.comparison import kernels as kernel
from distsim.corpus.lines import read_lines
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import Shard
from distsim.kernels.compiled import frozen

DEFAULT = "english"
EVIDENCE = ("joined", "together", "parallel", "negation", "polarity", "sim_whole")
MOST_BETWEEN = 4
_SHORTEST = 3  # characters that a word has beside its affix
ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)$|,(?=\d)")  # `5th` is the 5 of a date
_NUMBER = re.compile(r"[\d.]*\d")


@dataclass(frozen=True)
class JoiningPattern:
    """Words that join opposites.

    before: the word before the first, or nothing. between: words between the two. weight: of a
    match.
    """

    before: str
    between: tuple[str, ...]
    weight: float


@dataclass(frozen=True)
class Language:
    """Evidence of opposites in one language, as distsim/data/opposites/english.txt has it.

    patterns: words between two opposites in a text. passed: words ignored in these patterns.
    prefixes: of negation. suffixes: (ending, opposite ending). paired: opposite prefixes (`up-`)
    and endings (`-on`). classes: words of a closed class exclude each other, unless they have one
    place in it: (class, place) by word. weights: of the kinds of evidence. opposite: lowest score
    of opposites.

    >>> english = Language.open()
    >>> english.weights["joined"] > 0, "un" in english.prefixes
    (True, True)
    >>> english.negated("unhappy"), english.negated("careless")
    (('happy',), ('careful', 'care'))
    """

    patterns: tuple[JoiningPattern, ...]
    passed: frozenset[str]
    prefixes: tuple[str, ...]
    suffixes: tuple[tuple[str, str], ...]
    paired: tuple[tuple[str, str], ...]
    weights: dict[str, float]
    opposite: float
    classes: dict[str, tuple[int, int]]

    @classmethod
    def open(cls, name: str | Path = DEFAULT) -> "Language":
        """Return a language that ships (`english`), or that of a file.

        Arguments:
            name: of the language.

        Raises:
            ParameterError: neither a file nor a language that ships has this name.
            InputError: a line of the file says nothing; file, line and remedy are named.
        """
        shipped = files("distsim") / "data" / "opposites" / f"{name}.txt"
        if Path(name).exists() and not Path(name).is_dir():
            return cls._read(str(name))
        if not shipped.is_file():
            raise ParameterError(f"language {str(name)!r}: give {DEFAULT}, or a file like it")
        return cls._read(str(shipped))

    @classmethod
    def of_text(cls, name: str) -> "Language":
        """Return the language of a text where it ships, otherwise English."""
        shipped = files("distsim") / "data" / "opposites" / f"{name}.txt"
        return cls.open(name if shipped.is_file() else DEFAULT)

    @classmethod
    def _read(cls, path: str) -> "Language":
        patterns, passed, prefixes = [], set(), []
        suffixes: list[tuple[str, str]] = []
        paired: list[tuple[str, str]] = []
        weights = dict.fromkeys(EVIDENCE, 0.0)
        opposite = float("inf")
        classes: dict[str, tuple[int, int]] = {}
        n_classes = 0
        for number, raw in read_lines(path):
            line = raw.decode(errors="replace").rstrip("\r\n")
            if not line.strip() or line.startswith("#"):
                continue
            kind, *fields = line.split("\t")
            value = plain_number(fields[-1]) if fields else None
            if kind == "pattern" and len(fields) == 2:
                weight, words = plain_number(fields[0]), fields[1].split()
                sound = weight is not None and words.count("X") == words.count("Y") == 1
                first, second = (words.index("X"), words.index("Y")) if sound else (2, 0)
                sound = first <= 1 and 1 < second - first <= MOST_BETWEEN + 1
                if sound and second == len(words) - 1 and weight is not None:
                    between = tuple(words[first + 1 : second])
                    patterns.append(JoiningPattern("".join(words[:first]), between, weight))
                    continue
            elif kind == "passed" and len(fields) == 1:
                passed |= set(fields[0].split())
                continue
            elif kind == "class" and len(fields) == 1 and len(fields[0].split()) > 1:
                for place, members in enumerate(fields[0].split()):
                    classes |= dict.fromkeys(members.split("/"), (n_classes, place))
                n_classes += 1
                continue
            elif kind == "prefix" and len(fields) == 1 and fields[0].strip():
                prefixes.append(fields[0].strip())
                continue
            elif kind == "suffix" and 1 <= len(fields) <= 2 and fields[0].strip():
                suffixes.append((fields[0].strip(), fields[1].strip() if len(fields) > 1 else ""))
                continue
            elif kind == "paired" and len(fields) == 2 and _are_affixes(*fields):
                paired.append((fields[0].strip(), fields[1].strip()))
                continue
            elif kind == "weight" and len(fields) == 2 and fields[0] in EVIDENCE:
                if value is not None:
                    weights[fields[0]] = value
                    continue
            elif kind == "opposite" and len(fields) == 1 and value is not None:
                opposite = value
                continue
            raise InputError(
                f"{path}, line {number}: {line!r} is none of pattern, passed, class, prefix, "
                "suffix, paired, weight, opposite with what they want, separated by tabs: see "
                "distsim/data/opposites/english.txt"
            )
        return cls(
            tuple(patterns), frozenset(passed), tuple(prefixes), tuple(suffixes), tuple(paired),
            weights, opposite, classes,
        )  # fmt: skip

    def negated(self, word: str) -> tuple[str, ...]:
        """Return the words that a word may be the negation of, by its affixes alone.

        Arguments:
            word: in normal form.
        """
        bases = [
            word[len(prefix) :].removeprefix("-")
            for prefix in self.prefixes
            if word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST
        ]
        for ending, against in self.suffixes:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
                bases.append(word.removesuffix(ending) + against)
        return tuple(bases)

    def are_opposed(self, a: str, b: str) -> bool:
        """Return whether the affixes of two words alone make them opposites.

        Arguments:
            a: a word.
            b: another one.

        >>> english = Language.open()
        >>> english.are_opposed("happy", "unhappy"), english.are_opposed("upstairs", "downstairs")
        (True, True)
        """
        if a in self.negated(b) or b in self.negated(a):
            return True
        first, second = self._rests(a), self._rests(b)
        if not first or not second:
            return False
        return any(
            rest == second.get(partner)
            for affix, rest in first.items()
            for partner in self._partners[affix]
        )

    def exclude_each_other(self, a: str, b: str) -> bool:
        """Return whether two words are of one closed class, or numbers, and not the same.

        Arguments:
            a: a word in normal form.
            b: another one.

        >>> english = Language.open()
        >>> english.exclude_each_other("three", "six"), english.exclude_each_other("third", "3rd")
        (True, False)
        >>> english.exclude_each_other("1914", "1,918"), english.exclude_each_other("1914", "war")
        (True, False)
        """
        if a in self.classes and b in self.classes:
            return bool(exclude_by_class(self.classes[a], self.classes[b])[1])
        if not (_may_be_number(a) and _may_be_number(b)):
            return False
        number, other = (_NUMBER.fullmatch(ORDINAL.sub("", word)) for word in (a, b))
        return bool(number and other and number[0] != other[0])

    def _rests(self, word: str) -> dict[str, str]:
        """Return the rest of a word without each paired affix that it has, if that is not short."""
        rests: dict[str, str] = {}
        if not word.startswith(self._any_paired[0]) and not word.endswith(self._any_paired[1]):
            return rests
        for length in range(1, min(self._longest, len(word) - _SHORTEST) + 1):
            if (prefix := word[:length] + "-") in self._partners:
                rests[prefix] = word[length:]
            if (ending := "-" + word[-length:]) in self._partners:
                rests[ending] = word[:-length]
        return rests

    @cached_property
    def _longest(self) -> int:
        """Characters of the longest affix that is paired."""
        return max((len(affix) - 1 for affix in self._partners), default=0)

    @cached_property
    def _any_paired(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The prefixes and the endings that are paired, without their hyphens."""
        affixes = sorted(self._partners)
        return (
            tuple(affix[:-1] for affix in affixes if affix.endswith("-")),
            tuple(affix[1:] for affix in affixes if affix.startswith("-")),
        )

    @cached_property
    def _partners(self) -> dict[str, set[str]]:
        """The affixes that are paired with each affix, in either order."""
        partners: dict[str, set[str]] = {}
        for pair in self.paired:
            for affix, other in (pair, pair[::-1]):
                partners.setdefault(affix, set()).add(other)
        return partners


def _may_be_number(word: str) -> bool:
    """Return whether a word begins as numbers do: most do not, and need no closer look."""
    return word[:1].isdecimal() or word[:1] in (".", ",")


NO_CLASS = (-1, -1)


def exclude_by_class(first: Any, second: Any) -> tuple[Any, Any]:
    """Return (whether two words are of one closed class, whether they are other members of it).

    Arguments:
        first, second: (class, place in it) of a word, as `Language.classes` has them, or NO_CLASS;
            of many words at once two arrays, int64[n].
    """
    are_of_one_class = (first[0] >= 0) & (first[0] == second[0])
    return are_of_one_class, are_of_one_class & (first[1] != second[1])


def _are_affixes(first: str, second: str) -> bool:
    """Tell whether two fields are both prefixes (`up-`) or both endings (`-on`)."""
    affix, other = first.strip(), second.strip()
    before = affix.endswith("-") and other.endswith("-")
    return min(len(affix), len(other)) > 1 and before != (affix[0] == "-" and other[0] == "-")


class PatternIds(NamedTuple):
    """Patterns of a language in the word ids of an index, without those with a word that it lacks.

    passed: bool[n_words], the words that are ignored in patterns. befores: int64[m], the word
    before the first of the two, 0 for any. betweens: int64[m, MOST_BETWEEN], the words between the
    two, then -1. weights: float64[m].
    """

    passed: np.ndarray
    befores: np.ndarray
    betweens: np.ndarray
    weights: np.ndarray


def pattern_ids(index: CorpusIndex, language: Language, least: float) -> PatternIds:
    """Return the patterns of a language in the word ids of an index, in the language's order.

    Arguments:
        least: the lowest weight of a pattern.
    """

    def ids(words: Iterable[str]) -> list[int]:
        hashes = hash_texts([word.encode() for word in words])
        word_ids: list[int] = index.vocabulary.find(hashes).tolist()
        return word_ids

    passed = np.zeros(index.n_words, bool)
    passed[[word_id for word_id in ids(sorted(language.passed)) if word_id > 0]] = True
    befores, betweens, weights = [], [], []
    for pattern in language.patterns:
        before, between = ids([pattern.before] if pattern.before else []), ids(pattern.between)
        if pattern.weight >= least and min(before + between) > 0:
            befores.append(before[0] if before else 0)
            betweens.append([*between, *(-1 for _ in range(MOST_BETWEEN - len(between)))])
            weights.append(pattern.weight)
    rows = np.array(betweens, np.int64).reshape(-1, MOST_BETWEEN)
    return PatternIds(passed, np.array(befores, np.int64), rows, np.array(weights, np.float64))


_STRONG = 1.0  # weight of a pattern of opposites from which it tells a contrast


class Contrasts:
    """Counter of the strong patterns of opposites of a language; may be shared by threads.

    Arguments:
        index: where they are counted. language: its patterns.
    """

    def __init__(self, index: CorpusIndex, language: Language) -> None:
        patterns = pattern_ids(index, language, _STRONG)
        roles = np.zeros(index.n_words, np.uint8)
        roles[patterns.betweens[patterns.betweens >= 0]] = kernel.BETWEEN_TWO
        roles[patterns.passed] = kernel.PASSED
        self._patterns = tuple(map(frozen, (roles, patterns.befores, patterns.betweens)))

    def count(
        self, shard: Shard, places: np.ndarray, numbers: np.ndarray, counts: np.ndarray
    ) -> None:
        """Add to found how often each word is contrasted with the words at places.

        Arguments:
            shard: of the index. places: int64, in the shard.
            numbers: int32[n_words], the place of every word in found, -1 where it has none.
            counts: int64[n].
        """
        kernel.count_joins(shard.tokens, frozen(places), numbers, *self._patterns, counts)
