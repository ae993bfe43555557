"""The kind of a paraphrase pair: how its two sides differ."""

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from distsim.base.choices import PairKind
from distsim.corpus.inflections import Inflections

PAIR_KINDS: tuple[PairKind, ...] = get_args(PairKind)
KIND_FEATURE = "Kind"  # of a rule in a text pack
_MOST_PAIRED = 4  # words that differ on one side: more are content


def pair_kind(source: Sequence[str], target: Sequence[str], language: Inflections) -> PairKind:
    """Return how two sides differ: in function words, inflection, or content.

    Words that both sides have are left out, in any order. `function`: all others are function
    words. `inflection`: the others that are not function words are forms of the same base words,
    each with one of the other side. Else `content`. Gaps count as function words.

    Arguments:
        source: symbols of the source side, in lower case as the language's file.
        language: rules of inflection and function words; without any, all pairs of different
            words are `content`.

    >>> english = Inflections.open("english")
    >>> pair_kind(["a", "man"], ["the", "man"], english)
    'function'
    >>> pair_kind(["the", "city"], ["cities"], english), pair_kind(["city"], ["town"], english)
    ('inflection', 'content')
    """
    shared = Counter(source) & Counter(target)
    left = [word for word in _others(source, shared) if not _is_function(word, language)]
    right = [word for word in _others(target, shared) if not _is_function(word, language)]
    if not left and not right:
        return "function"
    if len(left) != len(right) or len(left) > _MOST_PAIRED:
        return "content"
    return "inflection" if _all_paired(left, right, language) else "content"


def _others(words: Sequence[str], shared: Counter[str]) -> list[str]:
    """Return the words without as many of each as both sides have, the first ones."""
    left, others = shared.copy(), []
    for word in words:
        if left[word] > 0:
            left[word] -= 1
        else:
            others.append(word)
    return others


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
