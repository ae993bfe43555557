"""A model of links held still: probabilities against all ways to link, links pair by pair."""

import pickle
import random

import numpy as np
import pytest

from distsim.bitext.aligner import AlignerOptions, LinkModel
from distsim.bitext.aligner import _Chances as Chances
from distsim.bitext.kernels import alignment as kernel
from distsim.bitext.kernels.links import (
    link_posteriors,
    links_both_find,
    name_co_occurrences,
)
from distsim.kernels.compiled import frozen
from tests.bitext.test_bitext_aligner import as_sentences, drawn_pairs
from tests.naive import alignment as naive


@pytest.mark.parametrize("seed", [1, 2])
def test_posteriors_are_those_of_all_ways_to_link(seed):
    draw = np.random.default_rng(seed)
    pairs = [*drawn_pairs(seed, n=8, longest=4), ([1], [2])]
    source, target = (as_sentences(side) for side in zip(*pairs, strict=True))
    met = sorted(
        {(e, f) for a, b in pairs for e in a for f in b if (e + f) % 3}
    )  # the rest: unseen
    keys = np.array([e << 32 | f for e, f in met], np.uint64)
    chances, unseen = draw.random(len(met)), draw.random(source.n_words) / 9
    none_chances, jumps = draw.random(target.n_words), draw.random(kernel.N_JUMPS)
    found = link_posteriors(
        source, target, Chances(*map(frozen, (keys, chances, unseen, none_chances, jumps))), 0.2,
    )  # fmt: skip
    chance_of = dict(zip(met, chances.tolist(), strict=True))
    expected = [
        chance
        for a, b in pairs
        for row in naive.posteriors(
            a, b, lambda e, f: chance_of.get((e, f), unseen[e]), lambda f: none_chances[f],
            lambda d: jumps[kernel.JUMP_ZERO + d], 0.2,
        )
        for chance in row
    ]  # fmt: skip
    assert np.allclose(found, expected, rtol=1e-5)


def test_co_occurrences_are_named():
    pairs = drawn_pairs(3)
    source, target = (as_sentences(side) for side in zip(*pairs, strict=True))
    cells, n, _ = kernel.number_cells(
        source.tokens, source.starts, target.tokens, target.starts, source.n_words, target.n_words
    )
    keys = name_co_occurrences(
        source.tokens, source.starts, target.tokens, target.starts, frozen(cells), n
    )
    met = [(e, f) for a, b in pairs for f in b for e in a]
    assert [(int(keys[c]) >> 32, int(keys[c]) & 0xFFFFFFFF) for c in cells[: len(met)]] == met


def test_links_need_both_means():
    # One pair, English 0 1, other 0. Posteriors: 0-0 .9 and .4, mean .6; 1-0 .8 and .9.
    # Chances: 0-0 .5 and .5; 1-0 .01 and .09, mean .03.
    def links(least_posterior, least_chance):
        nothing = np.empty(0)
        sides = as_sentences([[5, 6]]), as_sentences([[7]])
        posteriors = np.array([0.9, 0.8], np.float32), np.array([0.4, 0.9], np.float32)
        keys = np.array([[5 << 32 | 7, 6 << 32 | 7], [7 << 32 | 5, 7 << 32 | 6]], np.uint64)
        chances = np.array([[0.5, 0.01], [0.5, 0.09]])
        pairs, starts = links_both_find(
            sides, posteriors,
            tuple(Chances(keys[n], chances[n], nothing, nothing, nothing) for n in range(2)),
            least_posterior, least_chance,
        )  # fmt: skip
        assert starts.tolist() == [0, len(pairs)]
        return pairs.tolist()

    assert links(0.59, 0.029) == [[0, 0], [1, 0]]
    assert links(0.61, 0.029) == [[1, 0]]
    assert links(0.59, 0.031) == [[0, 0]]


@pytest.fixture(scope="module")
def model():
    draw = random.Random(0)
    sides = [], []
    for _ in range(60):
        noun, adjective = draw.choice("abc"), draw.choice("xyz")
        sides[0].append([adjective, noun])
        sides[1].append([noun.upper(), adjective.upper(), "de"])
    return LinkModel(*sides, options=AlignerOptions(iterations=0.1))


def test_a_pair_has_the_same_links_whatever_stands_beside_it(model):
    english, other = [["x", "a"], ["new"], [], ["c"]], [["A", "X"], ["NEU"], ["A"], ["B", "C"]]
    together = model.links(english, other)
    assert together.pairs.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert together.starts.tolist() == [0, 2, 2, 2, 3]
    for number in range(4):
        alone = model.links(english[number : number + 1], other[number : number + 1])
        first, stop = together.starts[number : number + 2].astype(int)
        assert alone.pairs.tolist() == together.pairs[first:stop].tolist()


def test_a_model_goes_to_other_processes(model):
    pair = [["x", "a"]], [["A", "X"]]
    there = pickle.loads(pickle.dumps(model))
    assert there.links(*pair).pairs.tolist() == model.links(*pair).pairs.tolist()


def test_what_cannot_be_linked_has_no_links(model):
    assert model.links([], []).starts.tolist() == [0]
    english, other = [["x", "a"], ["x", *["a"] * 255], ["x", "a"]], [["A", "X"]] * 3
    assert model.links(english, other).starts.tolist() == [0, 2, 2, 4]
    assert LinkModel([["a"] * 300], [["b"]]).links([["a"]], [["b"]]).starts.tolist() == [0, 0]
