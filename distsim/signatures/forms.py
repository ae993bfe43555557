"""Adds to words' vectors those of the other forms of the same base word.

Each form of a lemma is seen in a part of the lemma's contexts only; what they mean is mostly one.
"""

from itertools import pairwise

import numpy as np

from distsim.corpus.inflections import Inflections
from distsim.signatures.projections.learn import make_unit
from distsim.signatures.projections.singular import times

_RAREST_BASE = 20  # occurrences


def with_other_forms(
    vectors: np.ndarray,
    text: np.ndarray,
    ends: np.ndarray,
    counts: np.ndarray,
    share: float,
    rules: Inflections,
    jobs: int | None,
) -> np.ndarray:
    """Return unit(v + share * unit(f)) for every word, float32[n, dimensions].

    f is the sum, over the other words that may be forms of the same base word, of the root of their
    count times their vector. Words are of letters alone, base words occur 20 times.

    Arguments:
        vectors: float32[n, dimensions], of length 1.
        text: uint8, the words' UTF-8 end to end.
        ends: int64[n + 1], where each word begins in `text`.
        counts: integers[n], occurrences of each word.
        share: the weight of the other forms beside the word itself.
        rules: of the language's inflections.
        jobs: threads; as many as the machine has cores where None.
    """
    from scipy import sparse  # a slow import

    rows, others = other_forms(text, ends, counts, rules)
    shape = (len(vectors), len(vectors))
    weights = np.sqrt(counts[others].astype(np.float64)).astype(np.float32)
    related = sparse.csr_matrix((weights, (rows, others)), shape=shape)
    related.sort_indices()
    sums = make_unit(times(related, vectors, jobs))
    sums *= np.float32(share)
    sums += vectors
    return make_unit(sums)


def other_forms(
    text: np.ndarray, ends: np.ndarray, counts: np.ndarray, rules: Inflections
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of different words that may be forms of one base word: int64[m] each.

    Arguments:
        text: uint8, the words' UTF-8 end to end.
        ends: int64[n + 1], where each word begins in `text`.
        counts: integers[n], occurrences of each word.
        rules: of the language's inflections.
    """
    data, bounds = text.tobytes(), ends.tolist()
    words = [data[a:b].decode() for a, b in pairwise(bounds)]
    frequent = {
        word
        for word, count in zip(words, counts.tolist(), strict=True)
        if count >= _RAREST_BASE and word.isalpha()
    }
    families: dict[str, list[int]] = {}
    for number, word in enumerate(words):
        if word.isalpha():
            bases = rules.bases(word, frequent.__contains__)
            for base in (*bases, word) if word in frequent else bases:
                families.setdefault(base, []).append(number)
    pairs = {
        (number, other)
        for family in families.values()
        if len(family) > 1
        for number in family
        for other in family
        if number != other
    }
    both = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
