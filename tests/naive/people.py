"""Slow twins of the learned projection's kernels, from their definitions."""

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
    own: list[float], phrase: str, strength: int, parts: dict[str, tuple], trust: float,
    idioms: float = 0.0,
) -> tuple[list[float], float]:  # fmt: skip
    """(unit(share * own + (1 - share) * unit(sum of weight * part)), share = s / (s + trust)).

    With idioms, `trust` falls towards it where the cosine of own and words is below .35, and to a
    twentieth where the first and the last word weigh less than .75; the share is in 255 steps. Of
    less than 200 occurrences the cosine is less, and `idioms` alone are a twentieth.
    """
    words = phrase.split(" ")
    if len(words) == 1:
        return own, 1.0
    total = [0.0] * len(own)
    for word in words:
        if word in parts:
            weight, vector = parts[word]
            total = [t + weight * v for t, v in zip(total, vector, strict=True)]
    total = unit(total)
    if not any(total):
        return own, 1.0
    if idioms:
        cosine = sum(o * t for o, t in zip(own, total, strict=True))
        edge = max(parts[word][0] if word in parts else 1.0 for word in (words[0], words[-1]))
        factor = 0.05 if edge < 0.75 else 1.0
        highest = 0.35 if strength >= 200 else 0.35 * math.sqrt(strength / 200)
        idioms *= factor
        trust *= factor if strength >= 200 else 1.0
        trust = idioms + (trust - idioms) / (1 + math.exp((highest - cosine) / 0.04))
    share = strength / (strength + trust) if any(own) else 0.0
    share = math.floor(255 * share + 0.5) / 255
    return unit([share * o + (1 - share) * t for o, t in zip(own, total, strict=True)]), share


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
    phrase: str, share: int, signs: list[float], parts: dict[str, tuple]
) -> tuple[list[float], float]:
    """The unit vector of a phrase's words and 1; without one that of its signs, if share > 0."""
    known = [word for word in phrase.split(" ") if word in parts]
    size = max([len(signs), *(len(vector) for _, vector in parts.values())])
    total = unit([math.fsum(parts[w][0] * parts[w][1][k] for w in known) for k in range(size)])
    if known:
        return total, 1.0
    cut = [s / math.sqrt(len(signs)) for s in signs] + [0.0] * (size - len(signs))
    return (cut, 2 / math.pi) if share else (total, 0.0)
