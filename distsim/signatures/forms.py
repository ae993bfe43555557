"""Adds to words' vectors those of other forms of the same base word, and of like spellings.

Each form of a lemma is seen in a part of the lemma's contexts only; what they mean is mostly one.
"""

from itertools import pairwise

import numpy as np

from distsim.corpus.inflections import Inflections
from distsim.kernels.compiled import frozen
from distsim.signatures.kernels.composition import word_grams
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


MIN_PIECE_LENGTH, MAX_PIECE_LENGTH = 4, 8  # characters, with the marks of a word's edges
_SURE_AT = 20.0  # occurrences at which a word says half as much of its pieces as a frequent one
_MAX_SHARE_OF_WORDS = 0.02  # of all words: a piece that more of them have tells nothing
_PANEL = 128  # dimensions at a time


def add_spelling(
    vectors: np.ndarray, text: np.ndarray, ends: np.ndarray, strengths: np.ndarray, share: float
) -> np.ndarray:
    """Return unit(v + share * unit(s)) for every word, float32[n, dimensions].

    s is the sum, over the pieces of 4 to 8 characters of `<word>`, of the mean vector of the
    other words that have the piece, times ln(n / words that have it)^2. Words that hold anything
    but letters, and pieces that one word has or more than a fiftieth of them, are left out.

    Arguments:
        vectors: float32[n, dimensions], of length 1.
        text: uint8, the words' UTF-8 end to end.
        ends: int64[n + 1], where each word begins in `text`.
        strengths: occurrences of each word; rare words count less in the mean of a piece.
        share: the weight of the spelling's vector beside the word's own.
    """
    data, bounds = text.tobytes(), ends.tolist()
    chosen = np.array([data[a:b].decode().isalpha() for a, b in pairwise(bounds)], bool)
    hashes, words = word_grams(
        frozen(text), frozen(ends), frozen(chosen), MIN_PIECE_LENGTH, MAX_PIECE_LENGTH
    )
    others = _means_of_others(vectors, hashes, words, strengths / (strengths + _SURE_AT))
    make_unit(others)
    others *= np.float32(share)
    others += vectors
    return make_unit(others)


def _means_of_others(
    vectors: np.ndarray, hashes: np.ndarray, words: np.ndarray, sureness: np.ndarray
) -> np.ndarray:
    """Return each word's mean vector of other words with its pieces, float32[n, dimensions].

    Arguments:
        vectors: float32[n, dimensions], of the words.
        hashes, words: uint64 and int64, pieces of words, and the word of each.
        sureness: float64[n], weight of each word.
    """
    from scipy import sparse  # a slow import

    n = len(vectors)
    order = np.lexsort((words, hashes))
    hashes, words = hashes[order], words[order]
    first = np.ones(hashes.size, bool)
    first[1:] = (hashes[1:] != hashes[:-1]) | (words[1:] != words[:-1])
    hashes, words = hashes[first], words[first]
    _, pieces, having = np.unique(hashes, return_inverse=True, return_counts=True)
    kept = (having >= 2) & (having <= max(2.0, _MAX_SHARE_OF_WORDS * n))
    numbers = np.cumsum(kept) - 1
    is_kept = kept[pieces]
    words, pieces = words[is_kept], numbers[pieces[is_kept]]
    having = having[kept]
    piece_weights = (np.log(n / having) ** 2 / having).astype(np.float32)
    shape = (n, having.size)
    has = sparse.csr_matrix((np.ones(words.size, np.float32), (words, pieces)), shape=shape)
    has.sort_indices()
    of_pieces = sparse.csr_matrix((piece_weights[pieces], (pieces, words)), shape=shape[::-1])
    of_pieces.sort_indices()
    own = (has @ piece_weights)[:, None]
    out = np.empty_like(vectors)
    for begin in range(0, vectors.shape[1], _PANEL):
        said = vectors[:, begin : begin + _PANEL] * sureness[:, None].astype(np.float32)
        out[:, begin : begin + _PANEL] = times(has, times(of_pieces, said, 1), 1) - own * said
    return out
