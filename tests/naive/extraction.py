"""Rules from linked sentence pairs, the slow way: written from the thesis, not from the kernels.

Chiang 2007, section 3.2 (initial pairs, subtraction), thesis 3.2.1 and 3.2.2 (labels), 3.2.3.1
and table 6.6 (features), Koehn et al. 2003 (lexical weights).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from distsim.grammar.extraction.instances import ExtractOptions


class Pair(NamedTuple):
    """A sentence pair: words, links (foreign, English), nodes (start, stop, label) top-down."""

    foreign: list[str]
    english: list[str]
    links: set[tuple[int, int]]
    nodes: Sequence[tuple[int, int, str]] = ()


class Box(NamedTuple):
    """A span of each side, half-open."""

    i: int
    j: int
    k: int
    m: int


class Instance(NamedTuple):
    label: str
    foreign: tuple[str, ...]
    english: tuple[str, ...]
    links: tuple[tuple[int, int], ...]


def is_initial(pair: Pair, box: Box, options: ExtractOptions) -> bool:
    i, j, k, m = box
    if j - i > options.longest or m - k > options.longest:
        return False
    inside = [(f, e) for f, e in pair.links if i <= f < j and k <= e < m]
    leaving = [(f, e) for f, e in pair.links if (i <= f < j) != (k <= e < m)]
    if not inside or leaving:
        return False
    if options.loose:
        return True
    on_f, on_e = {f for f, _ in inside}, {e for _, e in inside}
    return i in on_f and j - 1 in on_f and k in on_e and m - 1 in on_e


def initial_boxes(pair: Pair, options: ExtractOptions) -> list[Box]:
    boxes = []
    for i in range(len(pair.foreign)):
        for j in range(i + 1, min(i + options.longest, len(pair.foreign)) + 1):
            partners = [e for f, e in pair.links if i <= f < j]
            if not partners:
                continue
            for k in range(min(partners) + 1):
                for m in range(max(partners) + 1, len(pair.english) + 1):
                    if m - k <= options.longest and is_initial(pair, Box(i, j, k, m), options):
                        boxes.append(Box(i, j, k, m))
    return boxes


def labels_of(pair: Pair, start: int, stop: int, options: ExtractOptions) -> list[str]:
    """Return all labels of a span in the order in which they are tried."""
    nodes = defaultdict(list)
    for a, b, label in pair.nodes:
        if label != "X":
            nodes[a, b].append("COMMA" if label == "," else label)
    every = options.labels == "every"
    for span, chain in nodes.items() if not every else ():
        nodes[span] = [chain[0] if options.chains == "top" else chain[-1]]
    n = len(pair.english)
    whole = list(nodes.get((start, stop), ()))
    slashed = [
        f"{x}/{y}"
        for end in range(stop + 1, n + 1)
        for x in nodes.get((start, end), ())
        for y in nodes.get((stop, end), ())
    ] + [
        f"{x}\\{y}"
        for begin in range(start - 1, -1, -1)
        for x in nodes.get((begin, stop), ())
        for y in nodes.get((begin, start), ())
    ]
    two = [
        f"{x}+{y}"
        for middle in range(start + 1, stop)
        for x in nodes.get((start, middle), ())
        for y in nodes.get((middle, stop), ())
    ]
    three = [
        f"{x}+{y}+{z}"
        for one, other in combinations(range(start + 1, stop), 2)
        for x in nodes.get((start, one), ())
        for y in nodes.get((one, other), ())
        for z in nodes.get((other, stop), ())
    ]
    if options.labels == "none":
        return ["X"]
    tried = {
        "thesis": [whole, slashed, two, three],
        "slashes": [whole, slashed],
        "constituents": [whole],
        "every": [whole, slashed, two, three],
    }[options.labels]
    found = list(dict.fromkeys(label for labels in tried for label in labels))
    return found or ["X"]


def rule_of(pair: Pair, box: Box, gaps: Sequence[Box], labels: Sequence[str], label: str):
    """Return the rule with the gaps cut out, numbered in the order of the foreign side."""

    def side(words, start, stop, spans):
        symbols, places = [], {}
        at = start
        while at < stop:
            number = next((n for n, (a, _) in enumerate(spans) if a == at), None)
            if number is None:
                places[at] = len(symbols)
                symbols.append(words[at])
                at += 1
            else:
                symbols.append(f"[{labels[number]},{number + 1}]")
                at = spans[number][1]
        return tuple(symbols), places

    foreign, f_at = side(pair.foreign, box.i, box.j, [(g.i, g.j) for g in gaps])
    english, e_at = side(pair.english, box.k, box.m, [(g.k, g.m) for g in gaps])
    links = tuple(sorted((f_at[f], e_at[e]) for f, e in pair.links if f in f_at and e in e_at))
    return Instance(f"[{label}]", foreign, english, links)


def instances(pair: Pair, options: ExtractOptions, has_trees: bool) -> Iterator[Instance]:
    boxes = initial_boxes(pair, options)
    unlabelled = options.unlabelled if has_trees else "keep"

    def first_label(box: Box) -> str:
        return labels_of(pair, box.k, box.m, options)[0] if has_trees else "X"

    everything = Box(0, len(pair.foreign), 0, len(pair.english))
    bare = list(boxes)
    if options.whole and everything not in boxes:
        bare.append(everything)
    for box in bare:
        labels = labels_of(pair, box.k, box.m, options) if has_trees else ["X"]
        for label in labels if options.labels == "every" else labels[:1]:
            if not (label == "X" and unlabelled == "drop"):
                yield rule_of(pair, box, [], [], label)
    for box in boxes:
        label = first_label(box)
        if label == "X" and unlabelled != "keep":
            continue
        inside = [
            b
            for b in boxes
            if b != box and box.i <= b.i and b.j <= box.j and box.k <= b.k and b.m <= box.m
        ]
        for n_gaps in range(1, options.most_gaps + 1):
            for gaps in combinations(sorted(inside), n_gaps):
                if not fits(pair, box, gaps, options):
                    continue
                labels = [first_label(gap) for gap in gaps]
                if "X" in labels and unlabelled != "keep":
                    continue
                yield rule_of(pair, box, gaps, labels, label)


def fits(pair: Pair, box: Box, gaps: Sequence[Box], options: ExtractOptions) -> bool:
    apart = 0 if options.may_touch else 1
    for a, b in zip(gaps, gaps[1:], strict=False):
        if a.j + apart > b.i or not (a.m <= b.k or b.m <= a.k):
            return False
    f_words = set(range(box.i, box.j)).difference(*(range(g.i, g.j) for g in gaps))
    e_words = set(range(box.k, box.m)).difference(*(range(g.k, g.m) for g in gaps))
    if not f_words and not e_words:
        return False
    if max(len(f_words), len(e_words)) + len(gaps) > options.most_symbols:
        return False
    return len({f for f, _ in pair.links if f in f_words}) >= options.min_linked


def is_gap(symbol: str) -> bool:
    return symbol.startswith("[") and symbol.endswith("]") and "," in symbol


def canonical(side: Sequence[str]) -> tuple[str, ...]:
    """Number the gaps of a side in its own order."""
    n = 0
    out = []
    for symbol in side:
        if is_gap(symbol):
            n += 1
            symbol = f"{symbol[: symbol.rindex(',')]},{n}]"
        out.append(symbol)
    return tuple(out)


def word_weights(pairs: Sequence[Pair]):
    """Return w(e|f), w(f|e) by (word, word), with None as NULL."""
    together, f_total, e_total = Counter(), Counter(), Counter()
    for pair in pairs:
        for f, e in pair.links:
            together[pair.foreign[f], pair.english[e]] += 1
            f_total[pair.foreign[f]] += 1
            e_total[pair.english[e]] += 1
    f_alone = Counter(
        w for p in pairs for i, w in enumerate(p.foreign) if i not in {f for f, _ in p.links}
    )
    e_alone = Counter(
        w for p in pairs for i, w in enumerate(p.english) if i not in {e for _, e in p.links}
    )
    e_given_f = {(e, f): c / f_total[f] for (f, e), c in together.items()}
    f_given_e = {(f, e): c / e_total[e] for (f, e), c in together.items()}
    e_given_f.update({(e, None): c / e_alone.total() for e, c in e_alone.items()})
    f_given_e.update({(f, None): c / f_alone.total() for f, c in f_alone.items()})
    return e_given_f, f_given_e


def lex(side, other, links, weights) -> float:
    """-ln of the product over the words of `side` of their mean weight given their partners."""
    cost = 0.0
    for i, word in enumerate(side):
        if is_gap(word):
            continue
        partners = [other[j] for k, j in links if k == i]
        values = [weights.get((word, partner), 0.0) for partner in partners]
        mean = sum(values) / len(values) if values else weights.get((word, None), 0.0)
        cost -= math.log(max(mean, 1e-6))
    return cost


def link_text(links) -> str:
    return " ".join(f"{i}-{j}" for i, j in links)


def rules(
    bitexts: Sequence[Sequence[Pair]], options: ExtractOptions
) -> dict[tuple[str, str, str], tuple[dict[str, float], str]]:
    """Return {(label, foreign, English): (features, links)} of all rules."""
    pairs = [pair for bitext in bitexts for pair in bitext]
    has_trees = any(pair.nodes for pair in pairs)
    counts = Counter()
    alignments = defaultdict(Counter)
    seen = defaultdict(set)
    for number, bitext in enumerate(bitexts):
        for pair in bitext:
            for one in instances(pair, options, has_trees):
                rule = one[:3]
                counts[rule] += 1
                alignments[rule][link_text(one.links)] += 1
                seen[rule].add(number)
    margins = Counter()
    for (label, f, e), c in counts.items():
        e_own = canonical(e)
        for key in (
            ("f", f), ("e", e_own), ("fe", f, e), ("lf", label, f), ("le", label, e_own),
            ("l", label),
        ):  # fmt: skip
            margins[key] += c
    e_given_f, f_given_e = word_weights(pairs)
    found = {}
    for (label, f, e), c in counts.items():
        n_words = sum(not is_gap(s) for s in f)
        if c < options.min_count and not (len(f) == n_words == 1):
            continue
        links = min(alignments[label, f, e].items(), key=lambda x: (-x[1], x[0].encode()))[0]
        values = features(label, f, e, links, c, margins, e_given_f, f_given_e)
        values["Bitexts"] = len(seen[label, f, e])
        found[label, " ".join(f), " ".join(e)] = values, links
    return found


def features(label, f, e, links, c, margins, e_given_f, f_given_e) -> dict[str, float]:
    pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
    e_own = canonical(e)
    c_f, c_e, c_fe = margins["f", f], margins["e", e_own], margins["fe", f, e]
    c_lf, c_le, c_l = margins["lf", label, f], margins["le", label, e_own], margins["l", label]
    f_words = [s for s in f if not is_gap(s)]
    e_words = [s for s in e if not is_gap(s)]
    f_gaps = [s for s in f if is_gap(s)]
    e_gaps = [s for s in e if is_gap(s)]
    f_chars = sum(map(len, f_words)) + len(f) - 1
    e_chars = sum(map(len, e_words)) + len(e) - 1

    def ratio(a, b):
        return math.log(a / b) if a > 0 and b > 0 else 0.0

    def mean(words):
        return sum(map(len, words)) / len(words) if words else 0.0

    return {
        "Abstract": not f_words and not e_words,
        "Adjacent": any(is_gap(a) and is_gap(b) for a, b in zip(f, f[1:], strict=False)),
        "CharCountDiff": e_chars - f_chars,
        "CharLogCR": ratio(e_chars, f_chars),
        "ContainsX": label == "[X]" or any(s[: s.rindex(",")] == "[X" for s in f_gaps),
        "GlueRule": 0,
        "Identity": f == e,
        "Lex(e|f)": lex(e, f, [(j, i) for i, j in pairs], e_given_f),
        "Lex(f|e)": lex(f, e, pairs, f_given_e),
        "Lexical": not f_gaps,
        "LogCount": math.log(c),
        "Monotonic": f_gaps == e_gaps,
        "PhrasePenalty": 1,
        "RarityPenalty": math.exp(1 - c),
        "SourceTerminalsButNoTarget": bool(f_words) and not e_words,
        "SourceWords": len(f_words),
        "TargetTerminalsButNoSource": bool(e_words) and not f_words,
        "TargetWords": len(e_words),
        "UnalignedSource": sum(
            not is_gap(s) and all(i != k for i, _ in pairs) for k, s in enumerate(f)
        ),
        "UnalignedTarget": sum(
            not is_gap(s) and all(j != k for _, j in pairs) for k, s in enumerate(e)
        ),
        "WordCountDiff": len(e_words) - len(f_words),
        "WordLenDiff": mean(e_words) - mean(f_words),
        "WordLogCR": ratio(len(e_words), len(f_words)),
        "p(LHS|e)": -math.log(c_le / c_e),
        "p(LHS|f)": -math.log(c_lf / c_f),
        "p(e|LHS)": -math.log(c_le / c_l),
        "p(e|f)": -math.log(c_fe / c_f),
        "p(e|f,LHS)": -math.log(c / c_lf),
        "p(f|LHS)": -math.log(c_lf / c_l),
        "p(f|e)": -math.log(c_fe / c_e),
        "p(f|e,LHS)": -math.log(c / c_le),
    }
