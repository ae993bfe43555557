"""Slow twins of the grammar kernels, written from the definitions in the design and thesis."""

import re

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
