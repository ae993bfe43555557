"""Nearest spellings of what does not occur, as the text has it; examples for visitors."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.nearest_spellings import NearestSpellings
from distsim.server.answers import Completion, Spellings, Suggestions
from distsim.server.session import MAIN, Opened
from distsim.server.worker_queues import shortened

_SPELLINGS_TRIED = 4  # spellings of each word of a phrase
_MAX_LETTERS = 24
_READ, _PLACES_READ = 5, 20  # occurrences of a phrase
_DECIDING = 3  # of those that are read, if they agree
_MAX_SUGGESTED_PHRASES = 20_000  # phrases


def spellings(opened: Opened, phrase: str, k: int) -> Spellings:
    """Return the nearest spellings of a phrase that occur, the most frequent first.

    Each word that does not occur is replaced by words at an edit distance of one, else two
    (Damerau-Levenshtein), or is cut into two words.

    Arguments:
        phrase: words separated by spaces.
        k: maximum number of results.
    """
    index = opened.index
    words = index.words(phrase)
    counts = index.count(words).tolist() if words else []
    known = tuple(Completion(word, n) for word, n in zip(words, counts, strict=True))
    forms = [""]
    for word, n in zip(words, counts, strict=True):
        choices = [word] if n else _near(opened, word)
        forms = [f"{begun} {choice}".strip() for begun in forms for choice in choices]
    tried = [form for form in dict.fromkeys(forms[:1000]) if form and form != " ".join(words)]
    numbers = index.count(tried).tolist() if tried else []
    rows = sorted(
        (Completion(form, n) for form, n in zip(tried, numbers, strict=True) if n),
        key=lambda row: (-row.count, row.phrase),
    )
    return Spellings(" ".join(words) or phrase, tuple(rows[:k]), known if len(words) > 1 else ())


def _near(opened: Opened, word: str) -> list[str]:
    """Return the nearest words that occur, the most frequent first, and cuts into two words."""
    if len(word) > _MAX_LETTERS:
        return []
    near = opened.kept("spellings", lambda: NearestSpellings(opened.index))
    cuts = [f"{word[:i]} {word[i:]}" for i in range(1, len(word))]
    n = opened.index.count(cuts) if cuts else np.empty(0)
    best = [cuts[i] for i in np.argsort(-n, kind="stable")[:2].tolist() if n[i] > 1]
    return [word_form.word for word_form in near.nearest(word, _SPELLINGS_TRIED)] + best


def as_found(opened: Opened, phrases: Sequence[str]) -> dict[str, str]:
    """Return the spelling with capitals that most of five occurrences of a phrase have, by phrase.

    Occurrences inside a sentence are preferred to those at its beginning. A phrase that does not
    occur is returned as given; all phrases are where the index keeps no text.

    Arguments:
        phrases: words separated by spaces.
    """
    known: dict[str, str] = opened.kept("as found", dict)
    if len(known) > _MAX_SUGGESTED_PHRASES:
        known.clear()
    missing = [phrase for phrase in dict.fromkeys(phrases) if phrase not in known]
    spans = [_read(opened.index, phrase) for phrase in missing]
    forms = _forms(opened.index, [span[:_DECIDING] for span in spans])
    # Three that agree are most of five; the others are read to the end.
    rest = [span[:0] if len(counts_of_form) < 2 else span[_DECIDING:]
            for span, counts_of_form in zip(spans, forms, strict=True)]  # fmt: skip
    for phrase, counts_of_form, more in zip(
        missing, forms, _forms(opened.index, rest), strict=True
    ):
        counts_of_form += more
        best = max(counts_of_form, key=lambda form: (counts_of_form[form], form), default=phrase)
        known[phrase] = shortened(best)
    return {phrase: known.get(phrase, phrase) for phrase in phrases}


def _forms(index: CorpusIndex, spans: list[np.ndarray]) -> list[Counter[str]]:
    """Return how often the text has each spelling at some places, for each list of spans."""
    forms: list[Counter[str]] = [Counter() for _ in spans]
    owners = np.repeat(np.arange(len(spans)), [len(span) for span in spans])
    if owners.size:
        together = np.concatenate(spans)
        order = np.argsort(together[:, 0], kind="stable")  # each piece of text is unpacked once
        lines = index.lines(together[order], width=0)
        for owner, line in zip(owners[order].tolist(), lines, strict=True):
            forms[owner][line.node] += 1
    return forms


def _read(index: CorpusIndex, phrase: str) -> np.ndarray:
    """Return the spans of a few occurrences of a phrase, int64[n, 2]."""
    words = index.words(phrase)
    ids = index.vocabulary.find(hash_texts([word.encode(errors="replace") for word in words]))
    begins = [np.empty(0, np.int64)]
    for shard in index.shards if ids.size and np.all(ids > 0) else ():
        if shard.written is None or sum(map(len, begins)) >= _READ:
            break
        places = shard.positions(ids.astype(np.int64))
        n = min(places.size, _PLACES_READ)
        places = places[np.arange(n) * places.size // max(1, n)].astype(np.int64)
        inside = places[shard.tokens[places - 1] > 0]
        begins.append((inside if inside.size else places)[:_READ] + shard.first_position)
    first_positions = np.concatenate(begins)
    return np.column_stack([first_positions, first_positions + ids.size])


# Tried first; where they do not occur often enough, frequent words of the text stand in.
_KNOWN = (
    ("mother", "river", "evening", "king", "city", "children"),
    ("last night", "the sea", "young man", "climate change", "united states", "at last"),
    ("in spite of", "as a result of", "for a moment", "a large number of", "at the same time"),
)
_WANTED = 3
_MIN_COUNT = 20
_SHORTEST_WORD = 4
_SHORTEST_SENTENCE, _LONGEST_SENTENCE = 7, 16
_PUNCTUATION = ".,;:!?"
_LOOKED_AT, _OCCURRENCES, _TRIED = 400, 4_000, 50


def suggestions(opened: Opened) -> Suggestions:
    """Return three of each kind, the same every time; fewer of a very small text."""
    return opened.kept("suggestions", lambda: _make_suggestions(opened))


def _make_suggestions(opened: Opened) -> Suggestions:
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
        phrases += [
            known_phrase for known_phrase, n in zip(known, counts, strict=True) if n >= _MIN_COUNT
        ][:1]
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
        others = [
            neighbour.phrase
            for neighbour in near or []
            if _is_other(opened, neighbour.phrase, phrase)
        ]
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
    return np.array([ranked_span[1:] for ranked_span in best], np.int64).reshape(-1, 2)


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
    often = dict(zip(plain, (opened.index.count(plain) >= _MIN_COUNT).tolist(), strict=True))
    return sorted(plain, key=lambda side: (not often[side], -min(2, side.count(" "))))[:_WANTED]
