"""Baselines and data of sentence compression: Clarke and Lapata's integer programme, pairs."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from distsim.base.arguments import in_range

LONGEST = 60  # words: variables grow with their cube
_SECONDS = 20


def integer_compression(
    tokens: Sequence[str],
    words: int,
    trigram: Callable[[str, str, str], float],
    *,
    significance: Sequence[float] | None = None,
    heads: Sequence[int] | None = None,
) -> list[str]:
    """Return the compression of so many words that an integer programme finds best.

    Clarke and Lapata 2008, section 3: the sum of ln p of each word that stays after the two that
    stay before it, and of its significance; solved by `scipy.optimize.milp`. Sentences of over 60
    words are truncated, as are those that take too long.

    Arguments:
        tokens: of a sentence. words: how many stay, all where there are no more.
        trigram: ln p of the third word after two; <s> stands before the first word, </s> behind the
            last.
        significance: of each word, 0 where None.
        heads: where each word's head in the sentence is, -1 for none; a word stays only with its
            head (the modifier constraints). None: no constraint.

    Raises:
        ParameterError: `words` is below 1.

    >>> def trigram(a, b, c):
    ...     return {"the": -1.0, "king": -1.0, "old": -5.0}.get(c, -2.0)
    >>> integer_compression(["the", "old", "king", "slept"], 3, trigram)
    ['the', 'king', 'slept']
    """
    in_range(words, "words", 1)
    n = len(tokens)
    if n <= words:
        return list(tokens)
    if n > LONGEST:
        return list(tokens[:words])
    padded = ["<s>", *tokens, "</s>"]
    # A trigram variable x[i, j, k] says that i, j, k follow each other; i = 0 also for two starts.
    steps = [(0, 0, k) for k in range(1, n + 1)]
    steps += [(0, j, k) for j, k in combinations(range(1, n + 2), 2)]
    steps += list(combinations(range(1, n + 2), 3))
    pairs = dict.fromkeys(pair for i, j, k in steps for pair in ((i, j), (j, k)))
    number = {pair: at for at, pair in enumerate(pairs)}
    gains = np.array([trigram(*(padded[at] for at in step)) for step in steps])
    worth = np.zeros(n + 2) if significance is None else np.array([0, *significance, 0.0])
    gains += worth[[k for _, _, k in steps]]
    rows: list[tuple[int, int, float]] = []
    wanted: list[tuple[float, float]] = []
    # What enters a pair leaves it; the start is entered once, an end has nothing behind it.
    for pair in number:
        wanted.append((0, 0) if pair[1] != n + 1 and pair != (0, 0) else (0, 1))
        if pair == (0, 0):
            wanted[-1] = (-1, -1)
    for column, (i, j, k) in enumerate(steps):
        rows.append((number[i, j], column, -1.0))
        rows.append((number[j, k], column, 1.0))
    stays = len(wanted)  # the number of words that stay
    wanted.append((words, words))
    rows += [(stays, column, 1.0) for column, (_, _, k) in enumerate(steps) if k <= n]
    for word, head in enumerate(heads or (), 1):
        if head < 0:
            continue
        for column, (_, _, k) in enumerate(steps):
            if k in (word, head + 1):
                rows.append((len(wanted), column, 1.0 if k == word else -1.0))
        wanted.append((-1, 0))
    return _solved(gains, rows, wanted, steps, tokens, words)


def _solved(
    gains: np.ndarray,
    rows: Sequence[tuple[int, int, float]],
    wanted: Sequence[tuple[float, float]],
    steps: Sequence[tuple[int, int, int]],
    tokens: Sequence[str],
    words: int,
) -> list[str]:
    """Return the words of the best solution; the first ones where there is none in time."""
    row, column, value = zip(*rows, strict=True)
    matrix = coo_array((value, (row, column)), shape=(len(wanted), len(steps))).tocsr()
    low, high = zip(*wanted, strict=True)
    result = milp(
        -gains,
        constraints=LinearConstraint(matrix, low, high),
        integrality=np.ones(gains.size),
        bounds=Bounds(0, 1),
        options={"time_limit": _SECONDS},
    )
    if result.x is None:
        return list(tokens[:words])
    kept_words = sorted(k for (_, _, k), x in zip(steps, result.x, strict=True) if x > 0.5)
    return [tokens[k - 1] for k in kept_words if k <= len(tokens)]


def length_pairs(
    variants: Iterable[Sequence[str]], *, least: float = 0.5, most: float = 0.8
) -> list[tuple[str, str]]:
    """Return the longest and the shortest variant of each sentence, where they fit (thesis 4.2.3).

    Arguments:
        variants: of each sentence itself and people's rewritings.
        least, most: the shortest has more than `least` and at most `most` of the longest's words.

    >>> length_pairs([["the old king slept well", "the king slept", "he slept"]])
    []
    >>> length_pairs([["the old king slept well", "the king slept"]])
    [('the old king slept well', 'the king slept')]
    """
    pairs = []
    for sentences in variants:
        longest = max(sentences, key=lambda one: len(one.split()))
        shortest = min(sentences, key=lambda one: len(one.split()))
        if least < len(shortest.split()) / max(len(longest.split()), 1) <= most:
            pairs.append((longest, shortest))
    return pairs
