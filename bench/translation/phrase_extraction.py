"""Sentence pairs -> word alignments -> a Moses phrase table of four scores."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from distsim.bitext.aligner import TokenisedSide, learn_links

LONGEST = 5
Pair = tuple[list[str], list[str]]
Link = tuple[int, int]


def align(pairs: Sequence[Pair]) -> list[set[Link]]:
    """Return the links of every pair, as `distsim align` makes them."""
    found = learn_links(*(numbered(side) for side in zip(*pairs, strict=True)))
    stops = found.starts.astype(int).tolist()
    return [{(i, j) for i, j in found.pairs[a:b].tolist()} for a, b in pairwise(stops)]


def numbered(sentences: Sequence[list[str]]) -> TokenisedSide:
    number: dict[str, int] = {}
    tokens = [number.setdefault(word, len(number)) for words in sentences for word in words]
    starts = np.cumsum([0, *map(len, sentences)])
    return TokenisedSide(np.array(tokens, np.uint32), starts, len(number))


def phrase_pairs(source: int, target: int, links: set[Link]) -> Iterator[tuple[int, int, int, int]]:
    """Yield all consistent spans (source begin, stop, target begin, stop) up to LONGEST tokens."""
    linked = {j for _, j in links}
    for begin in range(source):
        for stop in range(begin + 1, min(source, begin + LONGEST) + 1):
            inside = [j for i, j in links if begin <= i < stop]
            if not inside:
                continue
            low, high = min(inside), max(inside) + 1
            if any(low <= j < high and not begin <= i < stop for i, j in links):
                continue
            first = low
            while first >= 0 and (first == low or first not in linked):
                last = high
                while last <= target and (last == high or last - 1 not in linked):
                    if last - first <= LONGEST:
                        yield begin, stop, first, last
                    last += 1
                first -= 1


def write_phrase_table(pairs: Sequence[Pair], path: Path) -> None:
    """Write p(f|e), lex(f|e), p(e|f), lex(e|f) of all phrases of the aligned pairs, sorted."""
    aligned = align(pairs)
    words: Counter[tuple[str, str]] = Counter()
    for (source, target), links in zip(pairs, aligned, strict=True):
        for i, j in links:
            words[source[i], target[j]] += 1
        for i in set(range(len(source))) - {i for i, _ in links}:
            words[source[i], ""] += 1
        for j in set(range(len(target))) - {j for _, j in links}:
            words["", target[j]] += 1
    of_source: Counter[str] = Counter()
    of_target: Counter[str] = Counter()
    for (f, e), n in words.items():
        of_source[f] += n
        of_target[e] += n
    joint: dict[tuple[str, str], int] = Counter()
    best: dict[tuple[str, str], Counter[tuple[Link, ...]]] = defaultdict(Counter)
    for (source, target), links in zip(pairs, aligned, strict=True):
        for a, b, c, d in phrase_pairs(len(source), len(target), links):
            key = " ".join(source[a:b]), " ".join(target[c:d])
            joint[key] += 1
            inner = tuple(sorted((i - a, j - c) for i, j in links if a <= i < b))
            best[key][inner] += 1
    sources: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for (f, e), n in joint.items():
        sources[f] += n
        targets[e] += n

    def lexical(froms: list[str], tos: list[str], links: list[Link], turned: bool) -> float:
        """Return the product over `tos` of the mean p(to | its partners)."""
        product = 1.0
        for number, word in enumerate(tos):
            partners = [froms[a] for a, b in links if b == number] or [""]
            total = 0.0
            for other in partners:
                n = words[(word, other) if turned else (other, word)]
                total += n / max(1, (of_target if turned else of_source)[other])
            product *= max(1e-7, total / len(partners))
        return product

    lines = []
    for (f, e), n in joint.items():
        links = list(max(best[f, e].items(), key=lambda item: (item[1], item[0]))[0])
        fs, es = f.split(), e.split()
        scores = (
            n / targets[e], lexical(es, fs, [(j, i) for i, j in links], True),
            n / sources[f], lexical(fs, es, links, False),
        )  # fmt: skip
        text = " ".join(f"{score:.6g}" for score in scores)
        column = " ".join(f"{i}-{j}" for i, j in links)
        lines.append(f"{f} ||| {e} ||| {text} ||| {column} ||| {targets[e]} {sources[f]} {n} |||")
    lines.sort(key=str.encode)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
