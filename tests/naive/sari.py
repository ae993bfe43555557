"""Corpus-level SARI by its definition, with lists and fractions (EASSE, Alva-Manchego 2019)."""

from fractions import Fraction


def grams(tokens, n):
    return [" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def f1(right, done, wanted):
    precision = Fraction(right, done) if done else Fraction(0)
    recall = Fraction(right, wanted) if wanted else Fraction(0)
    if precision + recall == 0:
        return Fraction(0)
    return 2 * precision * recall / (precision + recall)


def corpus_sari(sources, systems, references):
    """Return (add, keep, delete), each 0 to 1; references: one list of sentences a reference."""
    parts = [Fraction(0)] * 3
    for n in range(1, 5):
        sums = [[0, 0, 0] for _ in range(3)]
        for k, (source, system) in enumerate(zip(sources, systems, strict=True)):
            before, after = grams(source, n), grams(system, n)
            theirs = [gram for one in references for gram in grams(one[k], n)]
            for gram in set(before + after + theirs):
                b, a, r = (some.count(gram) for some in (before, after, theirs))
                a, many = a * len(references), b * len(references)
                new, to_add = a > 0 and b == 0, r > 0 and b == 0
                kept, to_keep = min(many, a), min(many, r)
                gone, to_go = max(many - a, 0), max(many - r, 0)
                for row, done, wanted in (
                    (sums[0], int(new), int(to_add)), (sums[1], kept, to_keep),
                    (sums[2], gone, to_go),
                ):  # fmt: skip
                    row[0] += min(done, wanted)
                    row[1] += done
                    row[2] += wanted
        for part, row in enumerate(sums):
            parts[part] += f1(*row) / 4
    return tuple(map(float, parts))
