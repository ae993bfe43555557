"""The aligner's kernels once more, slowly: every count is made anew for every token."""

from collections import Counter
from itertools import product

NONE = 255
IBM1, HMM, FERTILITY = 0, 1, 2
MOST = 14  # links of a word that are told apart
MASK = (1 << 64) - 1


class Xorshift:
    """xorshift64* (Vigna 2016), the upper 24 bits as a fraction."""

    def __init__(self, state):
        self.state = state

    def draw(self):
        x = self.state
        x ^= x >> 12
        x = (x ^ x << 25) & MASK
        x ^= x >> 27
        self.state = x
        return ((x * 2685821657736338717 & MASK) >> 40) / 2**24


def first_links(pairs, random):
    return [[int(random.draw() * len(source)) for _ in target] for source, target in pairs]


def count(pairs, links):
    """Counters of word pairs, source words, unlinked words, (word, links) and jumps."""
    together, sources, alone, fertility, jumps = (Counter() for _ in range(5))
    for (source, target), row in zip(pairs, links, strict=True):
        before = -1
        for f, i in zip(target, row, strict=True):
            if i == NONE:
                alone[f] += 1
                continue
            together[source[i], f] += 1
            sources[source[i]] += 1
            jumps[i - before] += 1
            before = i
        jumps[len(source) - before] += 1
        for i, e in enumerate(source):
            fertility[e, min(MOST, row.count(i))] += 1
    return together, sources, alone, fertility, jumps


def sweep(stage, pairs, links, jump, alpha, fertility_prior, none_odds, random):
    """Draw all links anew in place; return each one's probabilities, none last.

    jump: a function of the distance. The words that meet anywhere bound the prior.
    """
    partners = {}
    for source, target in pairs:
        for e in source:
            partners.setdefault(e, set()).update(target)
    n_words = len({f for _, target in pairs for f in target})
    probabilities = []
    for (source, target), row in zip(pairs, links, strict=True):
        for j, f in enumerate(target):
            row[j] = NONE
            together, sources, alone, _, _ = count(pairs, links)
            alone[f] -= 1  # this token is neither linked nor not
            before = next((i for i in reversed(row[:j]) if i != NONE), -1)
            after = next((i for i in row[j + 1 :] if i != NONE), len(source))
            shares = []
            for i, e in enumerate(source):
                share = (together[e, f] + alpha) / (sources[e] + alpha * len(partners[e]))
                if stage != IBM1:
                    share *= jump(i - before) * jump(after - i)
                if stage == FERTILITY:
                    share *= _one_more(pairs, links, row, i, e, fertility_prior)
                shares.append(share)
            past = (alone[f] + alpha) / (alone.total() + alpha * n_words)
            past *= len(source) if stage == IBM1 else jump(after - before)
            shares.append(none_odds * past)
            drawn = random.draw() * sum(shares)
            running = 0.0
            for i, share in enumerate(shares[:-1]):
                running += share
                if running > drawn:
                    row[j] = i
                    break
            probabilities.append([share / sum(shares) for share in shares])
    return probabilities


def _one_more(pairs, links, row, i, e, prior):
    """p(one more link) / p(as many as now) of position i, from all other tokens of its word."""
    others = Counter()
    for (source, _), its_row in zip(pairs, links, strict=True):
        for k, word in enumerate(source):
            if word == e and not (its_row is row and k == i):
                others[min(MOST, its_row.count(k))] += 1
    now = min(MOST, row.count(i))
    return (others[now + 1] + prior) / (others[now] + prior)


def grow_diag_final_and(n, m, forward, backward):
    """Koehn's pseudo-code (2005) with sets; backward: what the English side says, first."""
    found = forward & backward
    union = forward | backward
    neighbours = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))

    def is_new(a, b):
        return (a, b) not in found

    def lonely(a, b):
        return all(i != a for i, _ in found), all(j != b for _, j in found)

    grown = True
    while grown:
        grown = False
        for i in range(n):
            for j in range(m):
                for a, b in ((i + x, j + y) for x, y in neighbours if (i, j) in found):
                    if (a, b) in union and is_new(a, b) and any(lonely(a, b)):
                        found.add((a, b))
                        grown = True
    for links in (backward, forward):
        for i in range(n):
            for j in range(m):
                if (i, j) in links and is_new(i, j) and all(lonely(i, j)):
                    found.add((i, j))
    return found


def posteriors(source, target, word, none, jump, none_chance):
    """Return p(target token j is linked to i), by going through all ways to link a pair.

    word: a function of (source word, target word); none: of a target word; jump: of a distance.
    """
    total = 0.0
    linked = [[0.0] * len(source) for _ in target]
    for links in product([None, *range(len(source))], repeat=len(target)):
        chance = 1.0
        before = -1
        for f, i in zip(target, links, strict=True):
            if i is None:
                chance *= none_chance * none(f)
            else:
                chance *= (1 - none_chance) * jump(i - before) * word(source[i], f)
                before = i
        chance *= jump(len(source) - before)
        total += chance
        for j, i in enumerate(links):
            if i is not None:
                linked[j][i] += chance
    return [[chance / total for chance in row] for row in linked]
