"""Adds to words' vectors those of words of similar spelling.

A form seen ten times has hardly any contexts; the words that share pieces of its spelling,
mostly forms of the same stem, have more. So each word's vector takes in a share of theirs: the
idea of Bojanowski et al. 2017 (Enriching word vectors with subword information), without training.
"""

from itertools import pairwise

import numpy as np

from distsim.kernels.compiled import frozen
from distsim.signatures.kernels.spelling import word_grams
from distsim.signatures.projections.learn import make_unit
from distsim.signatures.projections.singular import times

SHORTEST, LONGEST = 4, 8  # characters, with the marks of a word's edges
_SURE_AT = 20.0  # occurrences at which a word says half as much of its pieces as a frequent one
_MOST = 0.02  # of all words: a piece that more of them have tells nothing
_PANEL = 128  # dimensions at a time


def spelt(
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
    hashes, words = word_grams(frozen(text), frozen(ends), frozen(chosen), SHORTEST, LONGEST)
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
    kept = (having >= 2) & (having <= max(2.0, _MOST * n))
    numbers = np.cumsum(kept) - 1
    some = kept[pieces]
    words, pieces = words[some], numbers[pieces[some]]
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
