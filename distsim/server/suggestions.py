"""Example phrases, pairs and sentences for visitors; all occur in the text."""

from collections.abc import Iterator

import numpy as np

from distsim.server.answers import Suggestions
from distsim.server.session import MAIN, Opened

# Tried first; where they do not occur often enough, frequent words of the text stand in.
_KNOWN = (
    ("mother", "river", "evening", "king", "city", "children"),
    ("last night", "the sea", "young man", "climate change", "united states", "at last"),
    ("in spite of", "as a result of", "for a moment", "a large number of", "at the same time"),
)
_WANTED = 3
_ENOUGH = 20
_SHORTEST_WORD = 4
_SENTENCE_WORDS = range(7, 17)
_PUNCTUATION = (",", ".", "!", "?", "'s")
_LOOKED_AT = 400


def suggestions(opened: Opened) -> Suggestions:
    """Return three of each kind, the same every time; fewer of a very small text.

    Arguments:
        opened: the artifacts.
    """
    return opened.kept("suggestions", lambda: _made(opened))


def _made(opened: Opened) -> Suggestions:
    phrases = tuple(_phrases(opened))
    return Suggestions(
        phrases,
        tuple(_pairs(opened, phrases)),
        tuple(_sentences(opened, phrases)),
        tuple(_sources(opened)),
    )


def _phrases(opened: Opened) -> list[str]:
    found = []
    for known in _KNOWN:
        counts = opened.index.count(known).tolist()
        found += [one for one, n in zip(known, counts, strict=True) if n >= _ENOUGH][:1]
    for word in _words(opened):
        if len(found) >= _WANTED:
            break
        if word not in found:
            found.append(word)
    return found[:_WANTED]


def _words(opened: Opened) -> Iterator[str]:
    """Yield frequent words of letters, those behind the hundred most frequent first."""
    counts = opened.word_counts()
    order = np.argsort(-counts[1:], kind="stable")[:_LOOKED_AT] + 1
    order = np.concatenate([order[100:], order[:100]])
    for number in order.tolist():
        word = opened.index.vocabulary.word(number)
        if counts[number] and word.isalpha() and _SHORTEST_WORD <= len(word) <= 20:
            yield word


def _pairs(opened: Opened, phrases: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield each phrase with its nearest, or with the next one where nothing was signed."""
    for number, phrase in enumerate(phrases):
        near = None
        if MAIN in opened.tables and len(opened.tables[MAIN]):
            near = opened.search(MAIN, None).nearest(phrase, k=20)
        others = [one.phrase for one in near or [] if _is_other(one.phrase, phrase)]
        others.append(phrases[(number + 1) % len(phrases)])
        if others[0] != phrase:
            yield phrase, others[0]


def _is_other(text: str, phrase: str) -> bool:
    """Return whether a text is of letters, and none of its words is in the phrase."""
    words = text.split()
    known = phrase.split()
    return text.replace(" ", "").isalpha() and len(text) < 60 and not set(words) & set(known)


def _sentences(opened: Opened, phrases: tuple[str, ...]) -> Iterator[str]:
    """Yield for each phrase a sentence of frequent words that has it, with it in brackets."""
    for phrase in phrases:
        spans = opened.index.spans(phrase, sample=_LOOKED_AT)
        lines = opened.index.lines(spans, width=_SENTENCE_WORDS.stop)
        texts = [f"{line.left} {line.node} {line.right}".split() for line in lines]
        whole = [n for n, words in enumerate(texts) if _is_readable(words)]
        if whole:
            counts = [opened.index.count(texts[n]).min() for n in whole]
            best = lines[whole[int(np.argmax(counts))]]
            yield f"{best.left} [{best.node}] {best.right}".strip()


def _is_readable(words: list[str]) -> bool:
    """Return whether a line is a whole sentence, not too short, of words of letters."""
    plain = all(word.isalpha() or word in _PUNCTUATION for word in words)
    return len(words) in _SENTENCE_WORDS and words[-1] in ".!?" and plain


def _sources(opened: Opened) -> list[str]:
    """Return sources without gaps, those first that the text has often, then longer ones."""
    if opened.rules is None:
        return []
    sides = [side for side in dict.fromkeys(opened.rules.sources()) if "[" not in side]
    plain = [side for side in sides if side.replace(" ", "").isalpha()] or sides
    if not plain:
        return []
    often = dict(zip(plain, (opened.index.count(plain) >= _ENOUGH).tolist(), strict=True))
    return sorted(plain, key=lambda side: (not often[side], -min(2, side.count(" "))))[:_WANTED]
