"""Weighting schemes: a table of them that kernels and options agree with."""

import json

import numpy as np
import pytest

from distsim import ParameterError
from distsim.contexts import Weighting
from distsim.contexts.ngram import PhraseWeigher, feature_space, phrase_contexts
from distsim.contexts.weights import ContextCounts, FeatureSpace, Weigher
from distsim.kernels import contexts
from distsim.kernels.compiled import frozen
from distsim.kernels.contexts import SCHEMES
from distsim.paraphrase.kernels import profiles
from tests.naive import core as naive

UNKNOWN = 1 + max(scheme.code for scheme in SCHEMES.values())


def test_every_scheme_has_a_code_of_its_own():
    assert len({scheme.code for scheme in SCHEMES.values()}) == len(SCHEMES)


def space(families, marginals, totals):
    names = tuple(f"f{n}" for n in range(len(totals)))
    return FeatureSpace(
        names, np.array(families, np.uint8), np.empty(0, np.uint64), np.array(marginals, float),
        np.array(totals, float),
    )  # fmt: skip


@pytest.mark.parametrize("name", SCHEMES)
def test_a_phrase_s_weights_are_those_of_its_features_one_by_one(name):
    """Two families: 8 and 2 of 10 occurrences, 6 of 6; the phrase has 3 and 1, and 2 of them."""
    weighting = Weighting(name, alpha=1.0, shift=0.5, discount=1.0)
    given = ContextCounts(np.array([0, 3]), np.array([0, 1, 2], np.uint32),
                          np.array([3, 1, 2], np.uint32))  # fmt: skip
    found = Weigher(weighting).weigh(given, space([0, 0, 1], [8, 2, 6], [10, 6]))
    cells = [(3.0, 4.0, 8.0, 10.0), (1.0, 4.0, 2.0, 10.0), (2.0, 2.0, 6.0, 6.0)]
    expected = [
        naive.scheme_weight(name, *cell, p=cell[2] / cell[3], shift=0.5, discount=1.0)
        for cell in cells
    ]
    assert found.tolist() == pytest.approx(expected)


def test_small_weights_are_left_out_where_there_are_larger_ones():
    counts = [2, 5, 3, 9, 5, 4]
    rows = ContextCounts(np.array([0, 3, 6]), np.array([0, 1, 2] * 2, np.uint32),
                         np.array(counts, np.uint32))  # fmt: skip
    three = space([0, 0, 0], [4, 2, 2], [8])
    strong, weak, weakest = np.log(0.5 / 0.25), np.log(0.3 / 0.25), np.log(5 / 18 / 0.25)
    for least, kept in (
        (0.0, [0.0, strong, weak, 0.0, weakest, 0.0]),
        (0.3, [0.0, strong, 0.0, 0.0, weakest, 0.0]),
        (0.9, [0.0, strong, weak, 0.0, weakest, 0.0]),
    ):
        weigher = Weigher(Weighting("ppmi", alpha=1.0, shift=0.0, min_weight=least))
        assert weigher.weigh(rows, three).tolist() == pytest.approx(kept, abs=1e-12)


def test_what_a_scheme_does_not_need_is_not_looked_at():
    """Syntactic rows come without marginals where weights are of their own counts alone."""
    bare = FeatureSpace(("f",), np.zeros(2, np.uint8), np.empty(0, np.uint64), np.empty(0),
                        np.zeros(1))  # fmt: skip
    given = ContextCounts(np.array([0, 2]), np.array([0, 1], np.uint32), np.array([3, 1]))
    assert Weigher(Weighting("raw")).weigh(given, bare).tolist() == [3.0, 1.0]
    assert Weigher(Weighting("log")).weigh(given, bare).tolist() == pytest.approx(
        [np.log(4), np.log(2)]
    )


@pytest.mark.parametrize("dtype", [np.uint32, np.int64, np.float32])
def test_what_was_counted_no_time_or_part_of_one_weighs_what_it_should(dtype):
    counts = np.array([0, 5000, 7], dtype) + dtype(dtype is np.float32) / 2
    given = ContextCounts(np.array([0, 3]), np.array([0, 1, 2], np.uint32), counts)
    weighting = Weighting("ppmi", alpha=1.0, shift=-20.0)
    found = Weigher(weighting).weigh(given, space([0, 0, 0], [10, 6000, 90], [9000]))
    shares = np.array([10, 6000, 90]) / 6100
    expected = [0.0 if c == 0 else 20 + np.log(c / counts.sum() / p)
                for c, p in zip(counts.tolist(), shares, strict=True)]  # fmt: skip
    assert found.tolist() == pytest.approx(expected, rel=1e-6)


def test_kernels_refuse_a_code_that_no_scheme_has():
    none = frozen(np.empty(0))
    with pytest.raises(ValueError, match="no weighting scheme has this code"):
        contexts.weigh(
            frozen(np.array([0, 1])), frozen(np.zeros(1, np.uint32)),
            frozen(np.ones(1, np.uint32)),
            contexts.WeightTables(
                frozen(np.zeros(1, np.uint8)), none, frozen(np.empty((0, 2))), none, none
            ),
            contexts.WeightSettings(UNKNOWN, 0.0, 0.0, 0.0),
        )  # fmt: skip
    words, places = frozen(np.full((2, 2), 0.5)), frozen(np.array([[1.0, 0.0]]))
    logs = frozen(np.log(np.maximum(1, np.arange(16))))
    with pytest.raises(ValueError, match="no weighting scheme has this code"):
        profiles.weigh_profile(
            frozen(np.ones((1, 2), np.uint32)), 1.0, words, places, 8.0, UNKNOWN, 0.0,
            logs, np.zeros(2, np.uint32),
        )  # fmt: skip


def test_manifests_keep_the_settings_that_matter():
    assert Weighting("llr", alpha=0.5).manifest() == {"scheme": "llr"}
    assert json.dumps(Weighting("ppmi").manifest()) == (
        '{"scheme": "ppmi", "alpha": 0.75, "shift": 1.0}'
    )
    full = Weighting("ppmi", alpha=0.5, shift=0.0, subsample=0.001, discount=2.0, min_weight=0.1)
    assert list(full.manifest()) == ["scheme", "alpha", "shift", "subsample", "discount", "least"]
    assert Weighting.from_manifest(full.manifest() | {"marginals": "x"}) == full


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scheme": "tfidf"}, "weights 'tfidf': choose one of raw, log, ppmi, llr, log-llr"),
        ({"scheme": 3}, r"`scheme`: is 3 \(int\), wanted a text"),
        ({"scheme": ["ppmi"]}, r"`scheme`: is \['ppmi'\] \(list\), wanted a text"),
        ({"scheme": None}, "`scheme`: is None, wanted a text"),
        ({"alpha": "0.5"}, r"`alpha`: is '0.5' \(str\), wanted a number"),
        ({"shift": None}, "`shift`: is None, wanted a number"),
        ({"shift": float("nan")}, "shift nan: choose"),
        ({"alpha": float("nan")}, "alpha nan: choose"),
        ({"discount": True}, r"`discount`: is True \(bool\), wanted a number"),
        ({"min_weight": -0.1}, "min_weight -0.1: choose 0 to"),
        ({"subsample": b"1"}, r"`subsample`: is b'1' \(bytes\), wanted a number or None"),
        ({"subsample": 0.0}, "subsample 0.0: choose"),
    ],
)
def test_other_values_are_refused_with_what_was_given(given, said):
    with pytest.raises(ParameterError, match=said):
        Weighting(**{"scheme": "ppmi"} | given)


@pytest.mark.parametrize("shape", [(1,), (3,), (4, True), (4, True, 2)])
@pytest.mark.parametrize(
    "weighting",
    [*map(Weighting, SCHEMES), Weighting("ppmi", subsample=0.01, discount=2.0, min_weight=0.3)],
    ids=lambda one: f"{one.scheme}-{one.subsample}",
)
def test_a_phrase_is_weighed_as_in_the_whole_feature_space(small_index, weighting, shape):
    space, whole = feature_space(small_index, *shape), Weigher(weighting)
    alone = PhraseWeigher(small_index, shape[0], weighting, *shape[1:])
    for phrase in (*list(small_index)[:5], "nothing"):
        given = phrase_contexts(small_index, phrase, *shape)
        assert np.array_equal(alone.weigh(given), whole.weigh(given, space))
