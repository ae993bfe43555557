"""The n-gram model and the measures of substitution, slowly and from the definitions."""

import math
from itertools import permutations

EDGE = "|"


def count(sentences: list[list[str]], words: tuple[str, ...]) -> int:
    """How often some words stand in a row, sentences separated by one edge each."""
    if words == (EDGE,):
        return len(sentences)
    stream = [EDGE]
    for sentence in sentences:
        stream += [*sentence, EDGE]
    n = len(words)
    return sum(tuple(stream[i : i + n]) == words for i in range(len(stream) - n + 1))


def probability(sentences, n_tokens: int, history: tuple, word: str, prior_count: float) -> float:
    """Dirichlet smoothing: each history is trusted as its count against `prior_count`."""
    p = (count(sentences, (word,)) + 0.5) / (n_tokens + 0.5)
    for n in range(1, len(history) + 1):
        seen = count(sentences, history[-n:])
        if seen == 0:
            break
        p = (count(sentences, (*history[-n:], word)) + prior_count * p) / (seen + prior_count)
    return p


def log_probability(sentences, left, filler, right, order: int, prior_count: float) -> float:
    """ln p of the filler and the order - 1 tokens behind it; left and right have their edges."""
    n_tokens = sum(map(len, sentences))
    left = tuple(left)[-(order - 1) :]
    text = (*left, *filler, *right[: order - 1])
    total = 0.0
    for at in range(len(left), len(text)):
        history = text[max(0, at - order + 1) : at]
        total += math.log(probability(sentences, n_tokens, history, text[at], prior_count))
    return total


def average_precision(weights: list[float]) -> float:
    """Kishida's generalised average precision of weights in the order of their ranks."""

    def total(values):
        return sum(sum(values[: i + 1]) / (i + 1) for i in range(len(values)) if values[i] > 0)

    return total(weights) / total(sorted(weights, reverse=True))


def mean_over_ties(scores: list[float], weights: list[float]) -> float:
    """The mean of the measure over all orders that the scores allow."""
    found = []
    for order in permutations(range(len(scores))):
        if all(scores[a] >= scores[b] for a, b in zip(order, order[1:], strict=False)):
            found.append(average_precision([weights[i] for i in order]))
    return sum(found) / len(found)
