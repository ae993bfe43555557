"""Slow twins of the learnt projection's kernels, from their definitions."""

import math
from collections import Counter

from tests.naive.core import hash_text


def side_contexts(sentences: list[list[str]], phrase: list[str], window: int) -> Counter:
    """Count (side, word): a neighbour at distance d counts window + 1 - d times."""
    found: Counter = Counter()
    n = len(phrase)
    for sentence in sentences:
        for i in range(len(sentence) - n + 1):
            if sentence[i : i + n] != phrase:
                continue
            for d in range(1, window + 1):
                if i - d >= 0:
                    found[f"l1-{window}", sentence[i - d]] += window + 1 - d
                if i + n - 1 + d < len(sentence):
                    found[f"r1-{window}", sentence[i + n - 1 + d]] += window + 1 - d
    return found


def unit(vector: list[float]) -> list[float]:
    length = math.sqrt(math.fsum(x * x for x in vector))
    return [x / length for x in vector] if length else vector


def composed(
    own: list[float], phrase: str, strength: int, parts: dict[str, tuple], trust: float
) -> list[float]:
    """unit(share * own + (1 - share) * unit(sum of weight * part)), share = s / (s + trust)."""
    words = phrase.split(" ")
    if len(words) == 1:
        return own
    total = [0.0] * len(own)
    for word in words:
        if word in parts:
            weight, vector = parts[word]
            total = [t + weight * v for t, v in zip(total, vector, strict=True)]
    total = unit(total)
    if not any(total):
        return own
    share = strength / (strength + trust) if any(own) else 0.0
    return unit([share * o + (1 - share) * t for o, t in zip(own, total, strict=True)])


def spelt(
    words: list[str], vectors: list[list[float]], strengths: list[int], share: float
) -> list[list[float]]:
    """unit(v + share * unit(s)), s of the means of the other words that have a word's pieces."""
    pieces = []
    for word in words:
        marked = f"<{word}>"
        lengths = range(4, 9) if word.isalpha() else ()
        pieces.append({marked[i : i + n] for n in lengths for i in range(len(marked) - n + 1)})
    result = []
    for own, vector in enumerate(vectors):
        total = [0.0] * len(vector)
        for piece in pieces[own]:
            having = [n for n in range(len(words)) if piece in pieces[n]]
            if not 2 <= len(having) <= max(2, 0.02 * len(words)):
                continue
            telling = math.log(len(words) / len(having)) ** 2 / len(having)
            for other in having:
                if other != own:
                    sure = strengths[other] / (strengths[other] + 20)
                    total = [
                        t + telling * sure * v for t, v in zip(total, vectors[other], strict=True)
                    ]
        result.append(unit([v + share * s for v, s in zip(vector, unit(total), strict=True)]))
    return result


def by_hash(parts: dict[str, tuple]) -> list[str]:
    return sorted(parts, key=lambda word: hash_text(word.encode()))


def spearman(a: list[float], b: list[float]) -> float:
    def ranks(values):
        return [
            sum(v < value for v in values) + (sum(v == value for v in values) + 1) / 2
            for value in values
        ]

    x, y = ranks(a), ranks(b)
    mean = (len(x) + 1) / 2
    top = sum((p - mean) * (q - mean) for p, q in zip(x, y, strict=True))
    return top / math.sqrt(sum((p - mean) ** 2 for p in x) * sum((q - mean) ** 2 for q in y))


def area(positive: list[float], negative: list[float]) -> float:
    wins = sum((p > n) + (p == n) / 2 for p in positive for n in negative)
    return wins / (len(positive) * len(negative))


def restored(
    phrase: str, strength: int, signs: list[float], parts: dict[str, tuple], trust: float,
    correlation: float, own_from: int,
) -> tuple[list[float], float]:  # fmt: skip
    """The unit vector to be expected of a phrase of strength > 0 with these signs, its fidelity.

    x = share * own + (1 - share) * words, of which the signs are known; own, given the words, is
    normal about correlation * words; so each x is normal, cut at 0 (Johnson, Kotz: its mean).
    Dimensions behind those that have signs are what the words say.
    """
    words = phrase.split(" ")
    known = [word for word in words if word in parts]
    size = max([len(signs), *(len(vector) for _, vector in parts.values())])
    total = [math.fsum(parts[w][0] * parts[w][1][k] for w in known) for k in range(size)]
    total = unit(total)
    behind = [0.0] * (size - len(signs))
    if not known:
        cut = [s / math.sqrt(len(signs)) for s in signs]
        return (cut + behind, 2 / math.pi) if strength else (total, 0)
    if strength < max(1, own_from) or len(words) == 1:
        return total, 1.0
    share = strength / (strength + trust)
    of_words = share * correlation + 1 - share
    rest = share * math.sqrt(1 - correlation**2)  # of it so much in dimensions that have signs:
    with_signs = math.fsum(x * x for x in total[: len(signs)])
    spread = rest * math.sqrt(with_signs / len(signs))
    expected = []
    for sign, word in zip(signs, total[: len(signs)], strict=True):
        mean = of_words * word
        z = sign * mean / spread
        if z > -20:
            density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
            hazard = density / (0.5 * math.erfc(-z / math.sqrt(2)))
        else:
            hazard = -z - 1 / z
        expected.append(mean + sign * spread * hazard)
    expected += [of_words * word for word in total[len(signs) :]]
    square = math.fsum(x * x for x in expected)
    return unit(expected), min(1.0, square / (of_words**2 + rest**2))
