"""Queries by pattern, the slow way: a tree of functions tried at every token of a sentence.

A node takes (sentence, place, labels) and yields (place, labels) behind each match; a token of a
sentence is a dict of attributes.
"""

import random
import re
from collections.abc import Callable, Iterator

Sentence = list[dict[str, str]]
Labels = tuple[tuple[str, int], ...]
Node = Callable[[Sentence, int, Labels], Iterator[tuple[int, Labels]]]


def token(test: Callable[[dict[str, str]], bool], label: str = "") -> Node:
    def match(sentence, place, labels):
        if place < len(sentence) and test(sentence[place]):
            yield place + 1, (*labels, (label, place)) if label else labels

    return match


def sequence(*nodes: Node) -> Node:
    def match(sentence, place, labels):
        if not nodes:
            yield place, labels
            return
        for behind, known in nodes[0](sentence, place, labels):
            yield from sequence(*nodes[1:])(sentence, behind, known)

    return match


def either(*nodes: Node) -> Node:
    def match(sentence, place, labels):
        for node in nodes:
            yield from node(sentence, place, labels)

    return match


def repeat(node: Node, least: int, most: int) -> Node:
    def match(sentence, place, labels):
        if least <= 0:
            yield place, labels
        if most > 0:
            for behind, known in node(sentence, place, labels):
                if behind > place or least > 0:
                    yield from repeat(node, least - 1, most - 1)(sentence, behind, known)

    return match


def begins(sentence, place, labels):
    if place == 0:
        yield place, labels


def ends(sentence, place, labels):
    if place == len(sentence):
        yield place, labels


def spans(
    node: Node,
    sentences: list[Sentence],
    holds: Callable[[Sentence, dict[str, int]], bool] = lambda sentence, labels: True,
) -> list[tuple[int, int]]:
    """Return all spans that match, positions with one sentence boundary behind each sentence."""
    found, at = set(), 0
    for sentence in sentences:
        for begin in range(len(sentence)):
            for end, labels in node(sentence, begin, ()):
                if end > begin and holds(sentence, dict(labels)):
                    found.add((at + begin, at + end))
        at += len(sentence) + 1
    return sorted(found)


def shortest(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [
        (begin, min(e for b, e in found if b == begin)) for begin in sorted({b for b, _ in found})
    ]


def longest(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted(dict(sorted(found)).items())


class RandomQueries:
    """Random queries with the nodes that mean the same.

    rng: of the choices. values: of each attribute, regular expressions too.
    """

    def __init__(self, rng: random.Random, values: dict[str, list[str]]) -> None:
        self._rng = rng
        self._values = values

    def query(self, depth: int = 0) -> tuple[str, Node]:
        """Return (a pattern, its node)."""
        parts = [self._part(depth) for _ in range(self._rng.randint(1, 3))]
        return " ".join(text for text, _ in parts), sequence(*(node for _, node in parts))

    def _part(self, depth: int) -> tuple[str, Node]:
        rng = self._rng
        if depth < 2 and rng.random() < 0.25:
            both = [self.query(depth + 1) for _ in range(rng.randint(1, 3))]
            text, node = f"({' | '.join(one for one, _ in both)})", either(*(n for _, n in both))
        elif depth < 2 and rng.random() < 0.07:
            (a, one), (b, other) = self._token(), self._token()
            most = rng.randint(1, 4)
            gap = repeat(token(lambda word: True), 0, most - 1)
            node = either(sequence(one, gap, other), sequence(other, gap, one))
            return f"near({a}, {b}, {most})", node
        else:
            text, node = self._token()
        sign, least, most = rng.choice(
            [("", 1, 1)] * 5
            + [
                ("?", 0, 1),
                ("*", 0, 99),
                ("+", 1, 99),
                ("{2}", 2, 2),
                ("{1,3}", 1, 3),
                ("{2,}", 2, 99),
            ]
        )
        return text + sign, node if not sign else repeat(node, least, most)

    def _token(self) -> tuple[str, Node]:
        if self._rng.random() < 0.12:
            return "[]", token(lambda word: True)
        text, test = self._condition(0)
        return f"[{text}]", token(test)

    def _condition(self, depth: int) -> tuple[str, Callable[[dict[str, str]], bool]]:
        rng = self._rng
        if depth < 2 and rng.random() < 0.3:
            (a, one), (b, other) = self._condition(depth + 1), self._condition(depth + 1)
            if rng.random() < 0.5:
                return f"({a} & {b})", lambda word: one(word) and other(word)
            return f"!({a} | {b})", lambda word: not (one(word) or other(word))
        attribute = rng.choice(list(self._values))
        pattern = rng.choice(self._values[attribute])
        fits = lambda word: re.fullmatch(pattern, word[attribute]) is not None  # noqa: E731
        if rng.random() < 0.2:
            return f'{attribute}!="{pattern}"', lambda word: not fits(word)
        return f'{attribute}="{pattern}"', fits
