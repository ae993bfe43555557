"""The slow, obvious version of every kernel, written from its definition and not from its code."""

import math
import unicodedata
from collections import Counter
from fractions import Fraction
from itertools import pairwise

MASK = (1 << 64) - 1


def hash_text(text: bytes) -> int:
    """h = (h ^ byte) * K, h ^= h >> 32 for every byte, then one more mix."""
    h = 0x6C62272E07BB0142
    for byte in text:
        h = (h ^ byte) * 0x9E3779B97F4A7C15 & MASK
        h ^= h >> 32
    h = h * 0xD6E8FEB86659FD93 & MASK
    return h ^ (h >> 32)


def number(items, first=0):
    """Number things in order of first appearance."""
    numbers = {}
    for item in items:
        numbers.setdefault(item, first + len(numbers))
    return [numbers[item] for item in items], list(numbers)


# Text.


def lines_of(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def cut_lines(text: str) -> list[list[str]]:
    """Tokens of every line, separated by white space."""
    return [line.split() for line in lines_of(text)]


def kind_of(character: str) -> str:
    code = ord(character)
    category = unicodedata.category(character)
    special = {
        "\n": "newline", "-": "hyphen", "\u2010": "hyphen", "\u2011": "hyphen", ".": "period",
        ",": "comma", '"': "quote", "\uff02": "quote", "\u200b": "space", "\ufeff": "space",
    }  # fmt: skip
    if character in special:
        return special[character]
    if character in "'’‘‛´`\uff07\u055a":
        return "apostrophe"
    if character in "՛՜՞׳״":
        return "mark"
    if character in "!?…‼⁇⁈⁉؟۔।॥։።፧":
        return "stop"
    if character in "。！？｡။។៕":
        return "wide stop"
    if category in ("Lo", "Lm") and (
        0x0E00 <= code < 0x0F00 or 0x1000 <= code < 0x10A0 or 0x1780 <= code < 0x1800
        or 0x3041 <= code < 0x30A0 or 0x3400 <= code < 0x4DC0 or 0x4E00 <= code < 0xA000
        or 0xF900 <= code < 0xFB00 or 0x20000 <= code < 0x323B0
    ):  # fmt: skip
        return "ideograph"
    if category in ("Lu", "Lt"):
        return "upper"
    if category == "Ll":
        return "lower"
    if category in ("Lo", "Lm", "Pc"):
        return "letter"
    if category[0] == "N":
        return "digit"
    if category[0] == "M" or category == "Cf":
        return "mark"
    if category[0] == "Z" or category == "Cc":
        return "space"
    return {"Pe": "close", "Pf": "close", "Ps": "open", "Pi": "open"}.get(category, "other")


_LETTERS = ("upper", "lower", "letter")
_WORD = (*_LETTERS, "digit", "mark")


def _word(line: str, start: int, abbreviations: set[str]) -> tuple[int, list[str]]:
    """The word at start: where it ends and the tokens it makes."""

    def kind(i):
        return kind_of(line[i]) if i < len(line) else "newline"

    parts, joints = [""], []
    i = start
    while i < len(line):
        if line[i] in "\u200b\ufeff":
            if parts[-1] and kind(i + 1) in _WORD:
                i += 1
                continue
            break
        if kind(i) in _WORD:
            parts[-1] += line[i]
            i += 1
            continue
        kinds = [kind_of(c) for c in parts[-1]]
        solid = [k for k in kinds if k != "mark"] or kinds
        last, after = solid[-1] if solid else "", kind(i + 1)
        joins = {
            "apostrophe": last in _LETTERS and after in _LETTERS,
            "hyphen": after in _WORD,
            "period": after == "digit"
            if last == "digit"
            else after in _LETTERS and (after != "upper" or len(parts[-1]) == 1),
            "comma": last == after == "digit",
        }.get(kind(i), False)
        if not joins:
            break
        joints.append((kind(i), i))
        parts.append("")
        i += 1
    word = line[start:i]
    solid = [k for k in map(kind_of, parts[-1]) if k != "mark"] or [kind_of(parts[-1][-1])]
    apostrophes = [at for name, at in joints if name == "apostrophe"]
    periods = [at for name, at in joints if name == "period"]
    if i < len(line) and line[i] == "." and kind(i + 1) != "period":
        letters = max(map(len, parts)) == 1 and solid[-1] in _LETTERS and not apostrophes
        if letters or (not periods and word in abbreviations):
            i += 1
            word += "."
    edges = [start]
    around = [start - 1, *apostrophes, i]
    for first, at, stop in zip(around, apostrophes, around[2:], strict=False):
        before, after = (
            sum(kind_of(c) in _WORD and kind_of(c) != "mark" for c in line[a + 1 : b])
            for a, b in ((first, at), (at, stop))
        )
        if after <= 2:
            edges.append(at)
        elif before <= 2:
            edges.append(at + 1)
    return i, [line[a:b] for a, b in pairwise([*edges, i])]


def cut_running_line(line: str, abbreviations: set[str]) -> list[list[str]]:
    """Sentences of one line of running text, each a list of tokens."""
    sentences: list[list[str]] = [[]]
    ends = ends_here = False
    i = 0
    while i < len(line):
        kind = kind_of(line[i])
        stopping = kind in ("period", "stop", "wide stop")
        closing = kind in ("close", "quote", "apostrophe")
        if kind == "space":
            if ends:
                rest = i
                while rest < len(line) and kind_of(line[rest]) in (
                    "space", "open", "quote", "apostrophe",
                ):  # fmt: skip
                    rest += 1
                if rest < len(line) and kind_of(line[rest]) in (
                    "upper", "letter", "digit", "ideograph",
                ):  # fmt: skip
                    sentences.append([])
                    ends = ends_here = False
            i += 1
            continue
        if ends_here and not stopping and not closing:
            sentences.append([])
            ends = ends_here = False
        if kind in _WORD:
            i, tokens = _word(line, i, abbreviations)
            sentences[-1] += tokens
            ends = False
            continue
        run = i + 1
        if kind not in ("close", "open", "ideograph"):
            while run < len(line) and line[run] == line[i]:
                run += 1
        while run < len(line) and kind_of(line[run]) == "mark":
            run += 1
        sentences[-1].append(line[i:run])
        if kind == "ideograph":
            ends = False
        elif stopping:
            ends, ends_here = True, kind == "wide stop"
        elif not closing:
            ends = ends_here = False
        i = run
    return [sentence for sentence in sentences if sentence]


# Suffixes and phrases.


def suffix_array(tokens: list[int]) -> list[int]:
    return sorted(range(len(tokens)), key=lambda i: tokens[i:])


def count_ngrams(sentences: list[list[str]], longest: int) -> Counter:
    """How often each phrase of 1..longest tokens occurs within sentences."""
    return Counter(
        tuple(sentence[i : i + n])
        for sentence in sentences
        for n in range(1, longest + 1)
        for i in range(len(sentence) - n + 1)
    )


def neighbourhood(tokens: list[int], position: int, before: int, after: int) -> list[int]:
    """Tokens around a position, 0 from the sentence's edge outwards."""
    left = []
    for k in range(1, before + 1):
        inside = position - k >= 0 and 0 not in tokens[position - k : position]
        left.append(tokens[position - k] if inside else 0)
    right = []
    for k in range(after):
        inside = position + k < len(tokens) and 0 not in tokens[position : position + k + 1]
        right.append(tokens[position + k] if inside else 0)
    return left[::-1] + right


def beside(
    tokens: list[int], places: list[int], length: int, wide: int, narrow: int, n_words: int
) -> dict[int, int]:
    """Count the features beside a phrase of `length` tokens that stands at `places`."""
    found: dict[int, int] = {}
    window = max(wide, narrow)
    for at in places:
        around = neighbourhood(tokens, at, window, length + window)
        left, right = around[:window][::-1], around[window + length :]
        for number in range(2 * window):
            distance, side = divmod(number, 2)
            word = (left, right)[side][distance]
            if word and distance < wide:
                feature = side * n_words + word
                found[feature] = found.get(feature, 0) + wide - distance
            if word and distance < narrow:
                feature = (number + (2 if wide else 0)) * n_words + word
                found[feature] = found.get(feature, 0) + 1
    return found


def gapped_spans(sentence: list[str], parts: list[list[str]], longest_gap: int) -> set:
    """All (begin, end) in a sentence where the parts stand in order with gaps between them."""
    spans = {
        (i, i + len(parts[0]))
        for i in range(len(sentence))
        if sentence[i : i + len(parts[0])] == parts[0]
    }
    for part in parts[1:]:
        spans = {
            (begin, end + gap + len(part))
            for begin, end in spans
            for gap in range(1, longest_gap + 1)
            if sentence[end + gap : end + gap + len(part)] == part
        }
    return spans


# Contexts and weights.


def contexts(sentences: list[list[str]], phrase: list[str], window: int) -> Counter:
    """How often each word stands at each place beside a phrase."""
    counts: Counter = Counter()
    n = len(phrase)
    for sentence in sentences:
        for i in range(len(sentence) - n + 1):
            if sentence[i : i + n] != phrase:
                continue
            for k in range(1, window + 1):
                if i - k >= 0:
                    counts[f"l{k}:{sentence[i - k]}"] += 1
                if i + n - 1 + k < len(sentence):
                    counts[f"r{k}:{sentence[i + n - 1 + k]}"] += 1
    return counts


def g2(both: float, row: float, column: float, total: float) -> float:
    """2 sum O ln(O / E) over the four cells, clipped at 0; 0 if both is no more than expected."""
    cells = [[both, row - both], [column - both, total - row - column + both]]
    cells = [[max(0.0, c) for c in r] for r in cells]
    if both <= row * column / total:
        return 0.0
    n = sum(map(sum, cells))
    score = 0.0
    for i in range(2):
        for j in range(2):
            expected = sum(cells[i]) * (cells[0][j] + cells[1][j]) / n
            if cells[i][j] > 0:
                score += cells[i][j] * math.log(cells[i][j] / expected)
    return max(0.0, 2 * score)


def scheme_weight(
    scheme: str, count: float, row: float, column: float, total: float, p: float,
    shift: float = 0.0, discount: float = 0.0,
) -> float:  # fmt: skip
    """Return the weight of one feature by the definition of its scheme.

    count: of the feature beside the phrase. row: of all features of the family beside it.
    column: of the feature in the corpus. total: of the family there. p: probability of the
    feature in its family, smoothed.
    """
    if scheme == "raw":
        return float(count)
    if scheme == "log":
        return math.log(1 + count)
    if scheme == "ppmi":
        return max(0.0, math.log(count / (row * p)) - shift) * count / (count + discount)
    if scheme == "llr":
        return g2(count, row, column, total)
    assert scheme == "log-llr", f"no definition of {scheme} here: add it"
    return math.log(1 + g2(count, row, column, total))


def weights(
    counts: Counter,
    sentences: list[list[str]],
    scheme: str,
    alpha: float,
    shift: float,
    subsample: float = 1.0,
    discount: float = 0.0,
    least: float = 0.0,
) -> dict[str, float]:
    """Weigh a phrase's contexts by the definition of a scheme."""
    words = Counter(word for sentence in sentences for word in sentence)

    def kept(family: str, word: str) -> float:
        if scheme != "ppmi":
            return 1.0
        places = sum(max(0, len(sentence) - int(family[1:])) for sentence in sentences)
        return round(min(1.0, math.sqrt(subsample * places / words[word])) * 4096) / 4096

    family_total: Counter = Counter()
    for feature, count in counts.items():
        family_total[feature.split(":")[0]] += count * kept(*feature.split(":", 1))
    total_power = {
        family: sum((count * kept(family, word)) ** alpha for word, count in words.items())
        for family in family_total
    }
    result = {}
    for feature, count in counts.items():
        family, word = feature.split(":", 1)
        slots = sum(max(0, len(sentence) - int(family[1:])) for sentence in sentences)
        result[feature] = scheme_weight(
            scheme, count * kept(family, word), family_total[family], words[word], slots,
            (words[word] * kept(family, word)) ** alpha / total_power[family], shift, discount,
        )  # fmt: skip
    if max(result.values(), default=0.0) >= least:
        result = {feature: w if w >= least else 0.0 for feature, w in result.items()}
    return result


def cosine(a: dict, b: dict) -> float | None:
    norm = math.sqrt(sum(w * w for w in a.values())) * math.sqrt(sum(w * w for w in b.values()))
    return sum(w * b.get(f, 0.0) for f, w in a.items()) / norm if norm else None


# Signatures.


def gaussian_pool(seed: int, n_bits: int) -> list[int]:
    """Box-Muller normals of PCG64 words, centred, in steps of 2^-12."""
    import numpy as np

    size = 2**20 + n_bits
    words = np.random.PCG64(seed).random_raw(size).tolist()
    uniform = [((word >> 11) + 1) / 2**53 for word in words]
    radii = [math.sqrt(-2 * math.log(u)) for u in uniform[::2]]
    angles = [2 * math.pi * u for u in uniform[1::2]]
    normal = [r * math.cos(a) for r, a in zip(radii, angles, strict=True)]
    normal += [r * math.sin(a) for r, a in zip(radii, angles, strict=True)]
    mean = math.fsum(normal) / size
    return [round((value - mean) * 4096) for value in normal]


def round_weight(weight: float) -> Fraction:
    """To the nearest multiple of 2^-12."""
    return Fraction(math.floor(weight * 4096 + 0.5), 4096)


def signature(features: dict[str, float], pool, n_bits: int) -> list[bool] | None:
    """Bit i says whether the sum of weight * pool[offset + i] is above 0; None for a zero sum."""
    sums = [Fraction(0)] * n_bits
    for feature, weight in features.items():
        offset = hash_text(feature.encode()) % (1 << 20)
        for i in range(n_bits):
            sums[i] += round_weight(weight) * Fraction(float(pool[offset + i]))
    return [value > 0 for value in sums] if any(sums) else None


def hamming(a: list[int], b: list[int]) -> int:
    return sum((x ^ y).bit_count() for x, y in zip(a, b, strict=True))


def ranked_by_hamming(rows: list[list[int]], query: list[int]) -> list[tuple[int, int]]:
    """(distance, row) of every row, nearest first, then by number."""
    return sorted((hamming(row, query), number) for number, row in enumerate(rows))
