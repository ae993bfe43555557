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
_SHORTEST_SENTENCE, _LONGEST_SENTENCE = 7, 16
_PUNCTUATION = ".,;:!?"
_LOOKED_AT, _OCCURRENCES, _TRIED = 400, 4_000, 50


def suggestions(opened: Opened) -> Suggestions:
    """Return three of each kind, the same every time; fewer of a very small text."""
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
    phrases = []
    for known in _KNOWN:
        counts = opened.index.count(known).tolist()
        phrases += [one for one, n in zip(known, counts, strict=True) if n >= _ENOUGH][:1]
    for word in _words(opened):
        if len(phrases) >= _WANTED:
            break
        if word not in phrases:
            phrases.append(word)
    return phrases[:_WANTED]


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
        others = [one.phrase for one in near or [] if _is_other(opened, one.phrase, phrase)]
        others.append(phrases[(number + 1) % len(phrases)])
        if others[0] != phrase:
            yield phrase, others[0]


def _is_other(opened: Opened, text: str, phrase: str) -> bool:
    """Return whether a text is of letters, and has rarer words, none of them in the phrase."""
    words = text.split()
    known_words = [word for word, n in zip(words, opened.index.count(words), strict=True)
            if n < opened.kept("usual count", lambda: _usual_count(opened))]  # fmt: skip
    is_plain = text.replace(" ", "").isalpha() and len(text) < 60
    return is_plain and bool(known_words) and not set(known_words) & set(phrase.split())


def _usual_count(opened: Opened) -> int:
    """Return the count of the hundredth most frequent word."""
    return int(np.sort(opened.word_counts()[1:])[::-1][:100][-1])


def _sentences(opened: Opened, phrases: tuple[str, ...]) -> Iterator[str]:
    """Yield for each phrase a sentence of frequent words that has it, with it in brackets."""
    for phrase in phrases:
        for line in opened.index.lines(_whole_sentences(opened, phrase), width=_LONGEST_SENTENCE):
            if _is_readable(f"{line.left} {line.node} {line.right}".strip()):
                glue = "" if line.right[:1] in _PUNCTUATION else " "
                yield f"{line.left} [{line.node}]{glue}{line.right}".strip()
                break


def _whole_sentences(opened: Opened, phrase: str) -> np.ndarray:
    """Return spans of a phrase in sentences of usual length, int64[n, 2].

    Those come first whose rarest word is the most frequent.
    """
    index, counts = opened.index, opened.word_counts()
    sentences: list[tuple[int, int, int]] = []
    spans = index.spans(phrase, sample=_OCCURRENCES)
    for shard in index.shards:
        here = spans - shard.first_position
        inside = (here[:, 0] >= 0) & (here[:, 0] < shard.tokens.size)
        starts = shard.sentence_starts
        numbers = np.searchsorted(starts, here[inside, 0].astype(starts.dtype), "right") - 1
        begins = starts[numbers].astype(np.int64).tolist()
        for begin, span in zip(begins, spans[inside].tolist(), strict=True):
            words = shard.tokens[begin : begin + _LONGEST_SENTENCE + 1]
            length = int(np.argmin(words != 0))
            if length >= _SHORTEST_SENTENCE:
                sentences.append((-int(counts[words[:length]].min()), *span))
    best = sorted(sentences)[:_TRIED]
    return np.array([one[1:] for one in best], np.int64).reshape(-1, 2)


def _is_readable(sentence: str) -> bool:
    """Return whether a text is a whole sentence of words of letters."""
    words = [
        word.strip(_PUNCTUATION).replace("'", "").replace("’", "") for word in sentence.split()
    ]
    plain = all(word.isalpha() for word in words if word)
    return plain and sentence[:1].isalpha() and sentence[-1] in ".!?"


def _sources(opened: Opened) -> list[str]:
    """Return sources without gaps, those first that the text has often, then longer ones."""
    if opened.rules is None:
        return []
    spread = np.unique(np.linspace(0, len(opened.rules) - 1, 200).astype(np.int64))
    sources = dict.fromkeys(rule.source for rule in opened.rules.at(spread))
    sides = [side for side in sources if "[" not in side]
    plain = [side for side in sides if side.replace(" ", "").isalpha()] or sides
    if not plain:
        return []
    often = dict(zip(plain, (opened.index.count(plain) >= _ENOUGH).tolist(), strict=True))
    return sorted(plain, key=lambda side: (not often[side], -min(2, side.count(" "))))[:_WANTED]
