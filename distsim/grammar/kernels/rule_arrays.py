"""Checks that arrays of rules agree with each other, since other kernels do not check indices."""

import numpy as np

from distsim.kernels.compiled import compiled

_GAP = np.uint32(1 << 31)  # of a symbol: a gap, below it the number of its label


@compiled
def are_rules_sound(
    label, foreign, english, swaps, count, margins, lex, most_cost, n_labels, n_foreign, n_english
):
    """Return whether the columns of rules are in their ranges.

    Arguments:
        label, foreign, english: uint32[n], below n_labels, n_foreign and n_english; foreign is
            ascending.
        swaps: uint8[n], below 2. count: uint32[n], 1 or more, none above its margins.
        margins: uint32[n, 5], c(f, e), c(f), c(e), c(label, f), c(label, e).
        lex: float64[n, 2], none above most_cost or below its negative.
        most_cost, n_labels, n_foreign, n_english: the limits.
    """
    previous = np.uint32(0)
    for rule in range(label.size):
        c, c_fe = count[rule], margins[rule, 0]
        if not (
            previous <= foreign[rule] < n_foreign and english[rule] < n_english
            and label[rule] < n_labels and swaps[rule] < 2
            and 0 < c <= c_fe <= margins[rule, 1] and c_fe <= margins[rule, 2]
            and c <= margins[rule, 3] and c <= margins[rule, 4]
            and abs(lex[rule, 0]) <= most_cost and abs(lex[rule, 1]) <= most_cost
        ):  # fmt: skip
            return False
        previous = foreign[rule]
    return True


@compiled
def are_links_sound(links, n_links, foreign, english, foreign_lengths, english_lengths):
    """Return whether the links of rules are within their sides.

    Arguments:
        links: uint8[m, 2].
        n_links: number of links of each rule, together m.
        foreign, english: numbers of the two sides of each rule.
        foreign_lengths, english_lengths: number of symbols of each side.
    """
    k = 0
    for rule in range(n_links.size):
        n_f = foreign_lengths[foreign[rule]]
        n_e = english_lengths[english[rule]]
        for _ in range(n_links[rule]):
            if links[k, 0] >= n_f or links[k, 1] >= n_e:
                return False
            k += 1
    return True


@compiled
def are_symbols_sound(symbols, n_words, n_labels):
    """Return whether all words of sides are below n_words and all labels of gaps below n_labels.

    Arguments:
        symbols: uint32, words, or gaps with the highest bit set.
        n_words, n_labels: the limits.
    """
    for symbol in symbols:
        if symbol & _GAP:
            if (symbol ^ _GAP) >= n_labels:
                return False
        elif symbol >= n_words:
            return False
    return True
