"""Marton 2013, section 3.2, literally and exhaustively: slow twins of distsim.paraphrase."""

import math
from collections import Counter, defaultdict

EDGE = "|"  # the boundary of a sentence
Phrase = tuple[str, ...]


def occurrences(sentences: list[list[str]], phrase: Phrase) -> list[tuple[int, int]]:
    n = len(phrase)
    return [
        (number, at)
        for number, sentence in enumerate(sentences)
        for at in range(len(sentence) - n + 1)
        if tuple(sentence[at : at + n]) == phrase
    ]


def sampled(places: list, sample: int) -> list:
    if len(places) <= sample:
        return places
    return [places[i * len(places) // sample] for i in range(sample)]


def count_side(sentences: list[list[str]], side: Phrase) -> int:
    """How often a side occurs, its boundary (first or last) standing at a sentence's edge."""
    total = 0
    for sentence in sentences:
        padded = [EDGE, *sentence, EDGE]
        total += sum(
            tuple(padded[at : at + len(side)]) == side for at in range(len(padded) - len(side) + 1)
        )
    if side == (EDGE,):  # one boundary between two sentences
        total = len(sentences)
    return total


def grow(sentences: list[list[str]], words: list[str], left: bool, mcc: int, longest: int):
    """Grow a side from the nearest word on; `words` nearest first. Returns (side, count)."""
    words = [*words, EDGE]
    for size in range(1, len(words) + 1):
        side = tuple(words[:size][::-1] if left else words[:size])
        count = count_side(sentences, side)
        if count <= mcc or words[size - 1] == EDGE or size == longest:
            return side, count
    raise AssertionError


def contexts(
    sentences: list[list[str]], places: list[tuple[int, int]], n: int, mcc: int, longest: int
) -> Counter[tuple[Phrase, Phrase]]:
    found: Counter[tuple[Phrase, Phrase]] = Counter()
    for number, at in places:
        sentence = sentences[number]
        left, left_count = grow(sentences, sentence[:at][::-1], True, mcc, longest)
        right, right_count = grow(sentences, sentence[at + n :], False, mcc, longest)
        if min(left_count, right_count) <= mcc:
            found[left, right] += 1
    return found


def candidates(
    sentences: list[list[str]], found: Counter[tuple[Phrase, Phrase]], phrase: Phrase,
    shortest: int, longest: int,
) -> dict[Phrase, set[tuple[Phrase, Phrase]]]:  # fmt: skip
    shared = defaultdict(set)
    for sentence in sentences:
        padded = [EDGE, *sentence, EDGE]
        for begin in range(1, len(padded) - 1):
            for end in range(begin + shortest, min(begin + longest, len(padded) - 1) + 1):
                x = tuple(padded[begin:end])
                if x == phrase:
                    continue
                for left, right in found:
                    if (
                        tuple(padded[max(0, begin - len(left)) : begin]) == left
                        and tuple(padded[end : end + len(right)]) == right
                    ):
                        shared[x].add((left, right))
    return shared


def sides_alone(
    sentences: list[list[str]], places: list[tuple[int, int]], n: int, mcc: int, longest: int,
    shortest: int = 2,
) -> tuple[set[Phrase], set[Phrase]]:  # fmt: skip
    """The rare left sides and the rare right sides, each of at least `shortest` tokens."""
    found: tuple[set[Phrase], set[Phrase]] = (set(), set())
    for number, at in places:
        sentence = sentences[number]
        for hand, words in enumerate((sentence[:at][::-1], sentence[at + n :])):
            padded = [*words, EDGE]
            for size in range(shortest, min(longest, len(padded)) + 1):
                side = tuple(padded[:size][::-1] if hand == 0 else padded[:size])
                if count_side(sentences, side) <= mcc:
                    found[hand].add(side)
                    break
    return found


def candidates_of_sides(
    sentences: list[list[str]], sides: tuple[set[Phrase], set[Phrase]], phrase: Phrase,
    shortest: int, longest: int,
) -> set[Phrase]:  # fmt: skip
    """Every phrase that stands right behind a left side somewhere, and before a right one."""
    behind, before = set(), set()
    for sentence in sentences:
        padded = [EDGE, *sentence, EDGE]
        for begin in range(1, len(padded) - 1):
            for end in range(begin + shortest, min(begin + longest, len(padded) - 1) + 1):
                x = tuple(padded[begin:end])
                if any(tuple(padded[max(0, begin - len(s)) : begin]) == s for s in sides[0]):
                    behind.add(x)
                if any(tuple(padded[end : end + len(s)]) == s for s in sides[1]):
                    before.add(x)
    return (behind & before) - {phrase}


def profile(
    sentences: list[list[str]], phrase: Phrase, window: int, sample: int, scheme: str = "llr",
    n_places: int = 0,
) -> dict[tuple[int, str], float]:  # fmt: skip
    """Weights by (0, word) of the window, and (-2, word) of the second place on the left."""
    n = len(phrase)
    places = occurrences(sentences, phrase)
    used = sampled(places, sample)
    counts: Counter[tuple[int, str]] = Counter()
    beside = [k for distance in range(1, n_places + 1) for k in (-distance, distance)]
    for number, at in used:
        sentence = sentences[number]
        end = at + n
        counts.update((0, word) for word in sentence[max(0, at - window) : at])
        counts.update((0, word) for word in sentence[end : end + window])
        for k in beside:
            place = at + k if k < 0 else end + k - 1
            if 0 <= place < len(sentence):
                counts[k, sentence[place]] += 1
    scale = len(places) / len(used) if used else 1.0
    word_counts = Counter(word for sentence in sentences for word in sentence)
    slots = {0: sum(
        min(window, at) + min(window, len(sentence) - 1 - at)
        for sentence in sentences
        for at in range(len(sentence))
    )}  # fmt: skip
    for k in beside:
        slots[k] = sum(max(0, len(sentence) - abs(k)) for sentence in sentences)
    all_slots = sum(slots.values())
    row = sum(counts.values()) * scale
    if scheme == "raw":
        return {key: count * scale for key, count in counts.items()}
    if scheme == "log":
        return {key: math.log(1 + count * scale) for key, count in counts.items()}
    n_words = sum(word_counts.values())
    weights = {
        (k, word): g2(count * scale, row, word_counts[word] * slots[k] / n_words, all_slots)
        for (k, word), count in counts.items()
    }
    if scheme == "log-llr":
        return {key: math.log(1 + weight) for key, weight in weights.items()}
    return weights


def g2(both: float, row: float, column: float, total: float) -> float:
    """Dunning's G2, 2 sum O ln(O/E); 0 where observed <= expected, cells clipped at 0."""
    if both * total <= row * column:
        return 0.0
    cells = [
        [both, max(0.0, row - both)],
        [max(0.0, column - both), max(0.0, total - row - column + both)],
    ]
    n = sum(map(sum, cells))
    score = 0.0
    for i in range(2):
        for j in range(2):
            expected = sum(cells[i]) * (cells[0][j] + cells[1][j]) / n
            if cells[i][j] > 0:
                score += 2 * cells[i][j] * math.log(cells[i][j] / expected)
    return max(0.0, score)


def rough_g2(count: int, n: int, share: float) -> float:
    """G2 of count in n against a share that is known for certain; 0 where count <= n share."""
    if count <= n * share:
        return 0.0
    score = count * math.log(count / (n * share))
    if n > count:
        score += (n - count) * math.log((n - count) / (n * (1 - share)))
    return max(0.0, 2 * score)


def cosine(a: dict[str, float], b: dict[str, float]) -> float:
    dot = sum(weight * b.get(word, 0.0) for word, weight in a.items())
    squares = sum(w * w for w in a.values()) * sum(w * w for w in b.values())
    return dot / math.sqrt(squares) if squares else 0.0


def overlaps(phrase: Phrase, x: Phrase) -> bool:
    """Whether x begins with words that the phrase ends with, or the other way round.

    Not by words with which the phrase both begins and ends.
    """
    if len(phrase) == 1:
        return False
    first = [phrase[:n] for n in range(1, len(phrase) + 1)]
    last = [phrase[-n:] for n in range(1, len(phrase) + 1)]
    ends = [part for part, other in zip(first, last, strict=True) if part != other]
    starts = [part for part, other in zip(last, first, strict=True) if part != other]
    return any(x[-len(one) :] == one for one in ends) or any(x[: len(one)] == one for one in starts)


def paraphrases(
    sentences: list[list[str]], phrase: Phrase, window: int, sample: int, mcc: int,
    shortest: int, longest: int, longest_side: int, scheme: str = "llr",
) -> dict[Phrase, tuple[float, int, int]]:  # fmt: skip
    """Return (score, count, evidence) of every candidate."""
    places = sampled(occurrences(sentences, phrase), sample)
    found = contexts(sentences, places, len(phrase), mcc, longest_side)
    shared = candidates(sentences, found, phrase, shortest, longest)
    focal = profile(sentences, phrase, window, sample, scheme)
    return {
        x: (
            cosine(focal, profile(sentences, x, window, sample, scheme)),
            len(occurrences(sentences, x)),
            len(which),
        )
        for x, which in shared.items()
    }


def is_piece(focal: Phrase, x: Phrase) -> bool:
    short, long = sorted((focal, x), key=len)
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


def entails(kept: str, focal: Phrase, x: Phrase) -> bool:
    def in_order(short: Phrase, long: Phrase) -> bool:
        rest = iter(long)
        return all(word in rest for word in short)

    contained, containing = in_order(x, focal), in_order(focal, x)
    return {"off": False, "contained": contained, "containing": containing,
            "both": contained or containing}[kept]  # fmt: skip


def alike_beside(sentences, focal, focal_length, other, other_length):
    """Return the product over both sides of the Bhattacharyya coefficients of the words beside.

    Each is divided by what a sample of the first phrase as large as the other's would have.
    focal, other: places of the occurrences of two phrases.
    """
    product = 1.0
    for side in (0, 1):
        shares = []
        for places, length in ((focal, focal_length), (other, other_length)):
            beside = []
            for number, at in places:
                place = at - 1 if side == 0 else at + length
                inside = 0 <= place < len(sentences[number])
                beside.append(sentences[number][place] if inside else None)
            shares.append({word: beside.count(word) / len(beside) for word in set(beside)})
        found = expected = 0.0
        for word, p in shares[0].items():
            mean = p * len(other)
            root = mean / math.sqrt(mean + 0.25 + 0.75 * math.exp(-mean))
            found += math.sqrt(p * shares[1].get(word, 0.0))
            expected += root * math.sqrt(p / len(other))
        product *= min(1.0, found / expected)
    return product
