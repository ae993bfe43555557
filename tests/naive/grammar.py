"""Slow twins of the grammar kernels, written from the definitions in the design and thesis."""

import re

from distsim.grammar.fields import LineFaultError, side_tokens, tokens

LINK = re.compile(rb"([0-9]{1,18})-([0-9]{1,18})\Z")
PARTNERS = re.compile(rb"\(([\d, ]*)\)")
GAP = re.compile(r"\[(.+),(\d+)\]")


def gap_index(symbol):
    match = GAP.fullmatch(symbol)
    return int(match[2]) if match and int(match[2]) else None


def naive_decompose(source, target, links, longest=4):
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
                        {i, i_stop - 1} <= {a for a, _ in links}
                        and {j, j_stop - 1} <= {b for _, b in links}
                    )  # fmt: skip
                    if inside and len(inside) == len(touching) and edges:
                        found.append(((i, i_stop), (j, j_stop)))
    whole = ((0, len(source)), (0, len(target)))
    small = 0 < len(source) <= longest and 0 < len(target) <= longest
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
    if entry.is_old:
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
