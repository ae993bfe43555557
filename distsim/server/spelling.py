"""The nearest spellings of a phrase that does not occur; how phrases are written in the text."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.nearest_spellings import NearestSpellings
from distsim.server.answers import Completion, Spellings
from distsim.server.limits import shortened
from distsim.server.session import Opened

_TRIED = 4  # spellings of each word of a phrase
_LONGEST = 24
_READ, _LOOKED_AT = 5, 20  # occurrences of a phrase
_KEPT = 20_000  # phrases


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
    tried = [one for one in dict.fromkeys(forms[:1000]) if one and one != " ".join(words)]
    numbers = index.count(tried).tolist() if tried else []
    rows = sorted(
        (Completion(one, n) for one, n in zip(tried, numbers, strict=True) if n),
        key=lambda row: (-row.count, row.phrase),
    )
    return Spellings(" ".join(words) or phrase, tuple(rows[:k]), known if len(words) > 1 else ())


def _near(opened: Opened, word: str) -> list[str]:
    """Return the nearest words that occur, the most frequent first, and cuts into two words."""
    if len(word) > _LONGEST:
        return []
    near = opened.kept("spellings", lambda: NearestSpellings(opened.index))
    cuts = [f"{word[:i]} {word[i:]}" for i in range(1, len(word))]
    n = opened.index.count(cuts) if cuts else np.empty(0)
    best = [cuts[i] for i in np.argsort(-n, kind="stable")[:2].tolist() if n[i] > 1]
    return [one.word for one in near.nearest(word, _TRIED)] + best


def as_found(opened: Opened, phrases: Sequence[str]) -> dict[str, str]:
    """Return the spelling with capitals that most of five occurrences of a phrase have, by phrase.

    Occurrences inside a sentence are preferred to those at its beginning. A phrase that does not
    occur is returned as given; all phrases are where the index keeps no text.

    Arguments:
        phrases: words separated by spaces.
    """
    known: dict[str, str] = opened.kept("as found", dict)
    new = [phrase for phrase in dict.fromkeys(phrases) if phrase not in known]
    spans = [_read(opened.index, phrase) for phrase in new]
    if any(map(len, spans)):
        owners = np.repeat(np.arange(len(new)), [len(one) for one in spans])
        together = np.concatenate(spans)
        order = np.argsort(together[:, 0], kind="stable")  # each piece of text is unpacked once
        forms: list[Counter[str]] = [Counter() for _ in new]
        lines = opened.index.lines(together[order], width=0)
        for owner, line in zip(owners[order].tolist(), lines, strict=True):
            forms[owner][line.node] += 1
        if len(known) > _KEPT:
            known.clear()
        for phrase, found in zip(new, forms, strict=True):
            best = max(found, key=lambda form: (found[form], form), default=phrase)
            known[phrase] = shortened(best)
    return {phrase: known.get(phrase, phrase) for phrase in phrases}


def _read(index: CorpusIndex, phrase: str) -> np.ndarray:
    """Return the spans of a few occurrences of a phrase, int64[n, 2]."""
    words = index.words(phrase)
    ids = index.vocabulary.find(hash_texts([word.encode(errors="replace") for word in words]))
    begins = [np.empty(0, np.int64)]
    for shard in index.shards if ids.size and np.all(ids > 0) else ():
        if shard.written is None or sum(map(len, begins)) >= _READ:
            break
        places = shard.positions(ids.astype(np.int64))
        n = min(places.size, _LOOKED_AT)
        places = places[np.arange(n) * places.size // max(1, n)].astype(np.int64)
        inside = places[shard.tokens[places - 1] > 0]
        begins.append((inside if inside.size else places)[:_READ] + shard.first_position)
    found = np.concatenate(begins)
    return np.column_stack([found, found + ids.size])
