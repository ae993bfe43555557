"""Slow twins of the decoder: every derivation of a sentence, and n-grams counted one by one."""

import math
from functools import cache
from itertools import product
from typing import NamedTuple


class Rule(NamedTuple):
    """label; source and target, gaps as (label, number); score."""

    label: str
    source: tuple
    target: tuple
    score: float


def log_probability(sentences, order, prior_count, words):
    """ln p of a sentence and its end: c(h w) + prior_count p(w | h') over c(h) + prior_count."""
    text = [word for sentence in sentences for word in [*sentence, "</s>"]]
    n_tokens = sum(map(len, sentences))

    @cache
    def count(gram):
        return sum(tuple(text[i : i + len(gram)]) == gram for i in range(len(text)))

    row = ["</s>", *words, "</s>"]
    total = 0.0
    for k in range(1, len(row)):
        p = (count((row[k],)) + 0.5) / (n_tokens + 0.5)
        for d in range(1, order):
            if k - d < 0 or count(tuple(row[k - d : k])) == 0:
                break
            p = (count(tuple(row[k - d : k + 1])) + prior_count * p) / (
                count(tuple(row[k - d : k])) + prior_count
            )
        total += math.log(p)
    return total


def sources_in(tokens, i, j, source):
    """Yield the spans of the gaps, in order, of each way in which a source side covers i..j."""
    if not source:
        if i == j:
            yield ()
        return
    first, rest = source[0], source[1:]
    if isinstance(first, str):
        if i < j and tokens[i] == first:
            yield from sources_in(tokens, i + 1, j, rest)
        return
    for middle in range(i + 1, j + 1):
        for spans in sources_in(tokens, middle, j, rest):
            yield ((i, middle), *spans)


def derivations(tokens, rules, edits, labels, glue, longest):
    """Return every derivation of the sentence: (words, score without the language model).

    edits: (start, stop, words, score), those longer than the longest span too: what was said
    before them is then all that is said. labels: by span, those that all stands under.
    """

    def part(span, label, own):
        i, j = span
        if label == "X" or label in labels.get(span, ()):
            return own if own is not None else every(i, j)
        return [one for one in (own if own is not None else every(i, j)) if one[0] == label]

    def applied(rule, spans, own=None):
        gaps = [symbol for symbol in rule.source if not isinstance(symbol, str)]
        parts = [part(s, label, own) for s, (label, _) in zip(spans, gaps, strict=True)]
        for chosen in product(*parts):
            words, score = [], rule.score
            of_gap = {number: one for (_, number), one in zip(gaps, chosen, strict=True)}
            for symbol in rule.target:
                words += [symbol] if isinstance(symbol, str) else of_gap[symbol[1]][1]
            score += sum(one[2] for one in chosen)
            yield rule.label, tuple(words), score

    @cache
    def first(i, j):
        """What rules make of a span, but those of a gap alone."""
        if j - i > longest:
            return []
        out = [("X", words, score) for a, b, words, score in edits if (a, b) == (i, j)]
        for rule in rules:
            for spans in sources_in(tokens, i, j, rule.source):
                if (i, j) not in spans:
                    out += applied(rule, spans)
        return out

    @cache
    def glued(i, j):
        if j - i > longest:
            return []
        return [
            ("", (*one[1], *two[1]), one[2] + two[2] + glue)
            for middle in range(i + 1, j)
            for one in every(i, middle)
            for two in plain(middle, j)
        ]

    @cache
    def plain(i, j):
        below = first(i, j) + glued(i, j)
        out = list(first(i, j))
        for rule in rules:
            for spans in sources_in(tokens, i, j, rule.source):
                if (i, j) in spans:
                    out += applied(rule, spans, below)
        return out

    @cache
    def every(i, j):
        return plain(i, j) + glued(i, j)

    whole = [((), 0.0)]
    beginnings = [whole]
    for j in range(1, len(tokens) + 1):
        beginnings.append(
            [
                ((*words, *one[1]), score + one[2] + glue)
                for i in range(max(0, j - longest), j)
                for words, score in beginnings[i]
                for one in plain(i, j)
            ]
            + [
                (words, score + of_edit + glue)
                for a, b, _, of_edit in edits
                if b == j and b - a > longest
                for words, score in beginnings[a]
            ]
        )
    return beginnings[-1]
