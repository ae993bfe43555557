"""The kind of a paraphrase pair: what differs between its two sides."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

from distsim.corpus.inflections import Inflections

PairKind = Literal["content", "inflection", "function"]
PAIR_KINDS: tuple[PairKind, ...] = get_args(PairKind)
_MOST_PAIRED = 4  # words that differ on one side: more are content


def pair_kind(source: Sequence[str], target: Sequence[str], language: Inflections) -> PairKind:
    """Return what differs between two sides: function words, inflection, or content.

    Words that both sides have are left out, in any order. `function`: all others are function
    words. `inflection`: the others that are not function words are forms of the same base words,
    each with one of the other side. Else `content`. Gaps count as function words.

    Arguments:
        source: symbols of the source side, in lower case as the language's file.
        target: symbols of the target side.
        language: rules of inflection and function words; without any, all pairs of different
            words are `content`.

    >>> english = Inflections.open("english")
    >>> pair_kind(["a", "man"], ["the", "man"], english)
    'function'
    >>> pair_kind(["the", "city"], ["cities"], english), pair_kind(["city"], ["town"], english)
    ('inflection', 'content')
    """
    left, right = Counter(source), Counter(target)
    sides = [
        [word for word in words.elements() if not _is_function(word, language)]
        for words in (left - right, right - left)
    ]
    if not sides[0] and not sides[1]:
        return "function"
    if len(sides[0]) != len(sides[1]) or len(sides[0]) > _MOST_PAIRED:
        return "content"
    return "inflection" if _all_paired(*sides, language) else "content"


def _is_function(word: str, language: Inflections) -> bool:
    is_gap = word.startswith("[") and word.endswith("]") and len(word) > 1
    return is_gap or word.lower() in language.function_words


def _all_paired(left: list[str], right: list[str], language: Inflections) -> bool:
    """Return whether each word on the left has one of its own on the right, of one base word."""
    free = list(right)
    for word in left:
        other = next(
            (one for one in free if language.are_forms_of_one(word.lower(), one.lower())), None
        )
        if other is None:
            return False
        free.remove(other)
    return True
