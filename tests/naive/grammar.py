"""Slow twins of the grammar kernels, written from the definitions in the design and thesis."""

import math
import re
from collections import Counter

import numpy as np

from distsim.grammar.fields import LineFaultError, side_tokens, tokens

LINK = re.compile(rb"([0-9]{1,18})-([0-9]{1,18})\Z")
PARTNERS = re.compile(rb"\(([\d, ]*)\)")
GAP = re.compile(r"\[(.+),(\d+)\]")


def gap_index(symbol):
    match = GAP.fullmatch(symbol)
    return int(match[2]) if match and int(match[2]) else None


def naive_decompose(source, target, links, longest=4, as_reference=False):
    """All pairs of spans, each tried against the definition (thesis 5.3.2, design section 7)."""
    source, target, links = source.split(), target.split(), list(links)
    found = []
    for i in range(len(source)):
        for i_stop in range(i + 1, min(len(source), i + longest) + 1):
            for j in range(len(target)):
                for j_stop in range(j + 1, min(len(target), j + longest) + 1):
                    if any(gap_index(s) for s in source[i:i_stop] + target[j:j_stop]):
                        continue
                    inside = [(a, b) for a, b in links if i <= a < i_stop and j <= b < j_stop]
                    touching = [(a, b) for a, b in links if i <= a < i_stop or j <= b < j_stop]
                    edges = (
                        {i, i if as_reference else i_stop - 1} <= {a for a, _ in links}
                        and {j, j_stop - 1} <= {b for _, b in links}
                    )  # fmt: skip
                    if inside and len(inside) == len(touching) and edges:
                        found.append(((i, i_stop), (j, j_stop)))
    whole = ((0, len(source)), (0, len(target)))
    small = not as_reference and 0 < len(source) <= longest and 0 < len(target) <= longest
    if small and whole not in found and not any(map(gap_index, source + target)):
        found.append(whole)
    return found


def naive_links(source, target, shortest=4):
    """Links by evidence, step by step as RuleAligner's docstring says; sides are lists."""
    links = []

    def free(side, k):
        return all(link[side] != k for link in links)

    for i, one in enumerate(source):
        for j, two in enumerate(target):
            same_gap = gap_index(one) and gap_index(one) == gap_index(two)
            same_word = not gap_index(one) and not gap_index(two) and one.lower() == two.lower()
            if (same_gap or same_word) and free(1, j) and free(0, i):
                links.append((i, j))
    while True:
        found = []
        for i, one in enumerate(source):
            for j, two in enumerate(target):
                if gap_index(one) or gap_index(two) or not free(0, i) or not free(1, j):
                    continue
                n = 0
                while n < min(len(one), len(two)) and one[n].lower() == two[n].lower():
                    n += 1
                if n >= shortest and 2 * n >= max(len(one), len(two)):
                    found.append((-n, i, j))
        if not found:
            break
        links.append(min(found)[1:])
    for i in range(len(source)):
        for j in range(len(target)):
            starts = (i - 1, j - 1) in links or i == j == 0
            ends = (i + 1, j + 1) in links or (i + 1, j + 1) == (len(source), len(target))
            if free(0, i) and free(1, j) and starts and ends:
                links.append((i, j))
    words = [[k for k, s in enumerate(side) if not gap_index(s)] for side in (source, target)]
    if [len(side) for side in words] == [1, 1]:
        (i,), (j,) = words
        if free(0, i) and free(1, j):
            links.append((i, j))
    return set(links)


def links_of_entry(entry):
    """The links of a phrase table's entry; None without a column, LineFaultError where wrong."""
    if entry.has_partners:
        source, target = (PARTNERS.findall(column) for column in entry.fields[2:4])
        links = {(i, j) for i, partners in enumerate(source) for j in numbers_in(partners)}
        links |= {(i, j) for j, partners in enumerate(target) for i in numbers_in(partners)}
        links = sorted(links)
    elif len(entry.fields) < 4 or not tokens(entry.fields[3]):
        return None
    else:
        found = [LINK.match(token) for token in tokens(entry.fields[3])]
        if None in found:
            raise LineFaultError("wanted two numbers, as 0-1")
        links = [(int(match[1]), int(match[2])) for match in found]
    n_source, n_target = len(side_tokens(entry.source)), len(side_tokens(entry.target))
    if any(i >= n_source or j >= n_target for i, j in links):
        raise LineFaultError("a link points outside the rule")
    return links


def numbers_in(partners):
    return [int(digits[:19]) for digits in partners.replace(b",", b" ").split()]


def naive_sim_rule(table, source, target):
    """sim_rule of one rule, step by step as distsim/grammar/rule_similarity.py says."""
    from distsim.comparison.measures import EstimatedCosine, differ_in_unknown_words
    from distsim.comparison.opposites.exclusive import DOUBTFUL, EXCLUSIVE
    from distsim.corpus.inflections import Inflections
    from distsim.grammar import rule_similarity as constants

    measure, function_words = EstimatedCosine(table), Inflections.open().function_words
    n_tokens = sum(
        int(s) for s, n in zip(table.strengths, table.token_counts(), strict=True) if n == 1
    )
    sides, gaps, places = [], [], []
    for side in (source, target):
        words, seen, before = [], [], []
        for symbol in side.split():
            if gap_index(symbol):
                seen.append(gap_index(symbol))
            else:
                words.append(table.normal_form(symbol))
                before.append(set(seen))
        sides.append(words)
        gaps.append(seen)
        places.append(before)
    in_order = gaps[0] == gaps[1]
    if not sides[0] and not sides[1]:
        return 1.0 if in_order else constants.MOST_ALONE

    def count(text):
        row = table.find_normal([text])[0]
        return int(table.strengths[row]) if row >= 0 else 0

    def vector(word):
        stored = measure._estimators[0].of_phrases([word])
        return stored.unit_vectors[0] if stored.known[0] else np.zeros(table.n_dimensions)

    def cosine(a, b):
        return 1.0 if a == b else float(vector(a) @ vector(b))

    def weight(word):
        return constants.RARE / (constants.RARE + count(word) / n_tokens)

    def likeness(one, two):
        return sum(weight(a) * weight(b) * max(0.0, cosine(a, b)) for a in one for b in two)

    def figure(word):
        return re.sub(r"(?<=\d)(st|nd|rd|th)$", "", word).replace(",", "")

    def has_digit(word):
        return any(map(str.isdigit, word))

    a, b = (" ".join(words) for words in sides)
    alone, opposed = bool(sides[0]) != bool(sides[1]), False
    whole = soft = letters = moved = 0.0
    if a and b:
        found = 1.0 if a == b else measure.similarity(a, b)
        whole = found if found is not None else 0.0
        assert found is None or a == b or not differ_in_unknown_words((table,), (a, b))
        soft = min(1.0, likeness(*sides) / (likeness(sides[0], sides[0])
                                            * likeness(sides[1], sides[1])) ** 0.5)  # fmt: skip
        pieces = [Counter(zip(f" {t} ".encode(), f"{t} ".encode(), strict=False)) for t in (a, b)]
        letters = 2 * (pieces[0] & pieces[1]).total() / (pieces[0] + pieces[1]).total()
        closest = {}
        for words, others in (sides, sides[::-1]):
            for word in words:
                is_content = any(map(str.isalnum, word)) and word not in function_words
                if has_digit(word) or (is_content and count(word) / n_tokens < constants.CONTENT):
                    values = [
                        1.0 if word == other
                        else float(figure(word) == figure(other)) if has_digit(word)
                        else cosine(word, other) for other in others
                    ]  # fmt: skip
                    closest[word, tuple(others)] = max(values)
        rows = table.find_normal([a, b])
        own = (rows >= 0).all() and table.has_own_contexts(rows).all()
        alone = any(value < constants.LIKE for value in closest.values())
        if all(v < constants.LIKE for v in closest.values()) and own and whole >= constants.LIKE:
            alone = False
        numbers = [
            any(has_digit(w) and figure(w) not in map(figure, two) for w in one)
            for one, two in (sides, sides[::-1])
        ]
        alone |= any(numbers)
        symbols = [symbol.lower() for side in (source, target) for symbol in side.split()]
        symbols = [one for one in symbols if not gap_index(one)]
        negated = [one in constants.NEGATIONS or one.endswith("n't") for one in symbols]
        may_negate = any(one in constants.MAY_NEGATE for one in symbols)
        grade = naive_opposed(table, sides, negated, cosine)
        opposed = (EXCLUSIVE in grade) != (sum(negated) % 2 == 1 and not may_negate)
        alone |= DOUBTFUL in grade
        opposed |= all(numbers)
        total = partners = 0
        for k in (0, 1):
            for word, before in zip(sides[k], places[k], strict=True):
                facing = list(zip(sides[1 - k], places[1 - k], strict=True))
                options = [(2.0 if word == w else cosine(word, w), -len(before ^ p))
                           for w, p in facing if word == w or in_order]  # fmt: skip
                options = [one for one in options if one[0] > 0]
                if options and gaps[0]:
                    total += -max(options)[1]
                    partners += 1
        moved = total / (partners * len(gaps[0])) if partners else 0.0
        moved = moved if in_order else max(moved, 1 / 3)
    c = constants
    value = (c.WHOLE * whole + c.WORDS * soft + c.LETTERS * letters) / (
        c.WHOLE + c.WORDS + c.LETTERS
    ) - c.MOVED * moved
    if value < c.LEAST:
        value = c.LEAST * math.exp(value / c.LEAST - 1)
    if alone or moved >= c.MOSTLY:
        value = c.MOST_ALONE * math.tanh(value / c.MOST_ALONE)
    return c.MOST_OPPOSED * value if opposed else value


def naive_opposed(table, sides, negated, cosine):
    """Grades of a word that one side alone has and one of the other, which exclude each other."""
    from distsim.comparison.opposites.exclusive import ExclusiveWords
    from distsim.grammar.rule_similarity import MOST_FACING, NEAR

    if max(map(len, sides)) > MOST_FACING:
        return set()
    negations = dict(zip([*sides[0], *sides[1]], negated, strict=True))
    free = [
        [w for w in one if w not in two and not negations[w]] for one, two in (sides, sides[::-1])
    ]
    exclusive, grades = ExclusiveWords(table), set()
    for words, others in (free, free[::-1]):
        for word in words:
            closest = max((cosine(word, w) for w in others), default=0.0)
            for w in others:
                if (
                    cosine(word, w) >= closest - NEAR
                    and any(map(str.isalnum, word))
                    and any(map(str.isalnum, w))
                ):
                    grades |= set(exclusive.grades([(word, w)]).tolist())
    return grades
