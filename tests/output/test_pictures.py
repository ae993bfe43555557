"""Maps of phrases, and the contexts of two side by side."""

from xml.etree import ElementTree

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim.contexts import contrast, named_contexts
from distsim.output.phrase_map import Drawing, Label, fitted, links, spread


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 12), st.integers(0, 10))
def test_places_in_the_plane_have_the_distances_of_the_plane(n, seed):
    draw = np.random.default_rng(seed)
    points = draw.normal(size=(n, 2))
    distances = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    places = spread(distances)
    again = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    assert places.shape == (n, 2)
    assert np.allclose(again, distances, atol=2e-2)


def test_places_of_what_fits_in_no_plane_are_no_further_off_than_at_the_start():
    draw = np.random.default_rng(5)
    points = draw.normal(size=(15, 6))
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))

    def stress(places):
        found = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
        weights = 1 / np.maximum(distances, 1e-9) ** 2
        np.fill_diagonal(weights, 0.0)
        return (weights * (found - distances) ** 2).sum()

    centring = np.eye(15) - 1 / 15
    values, vectors = np.linalg.eigh(-0.5 * centring @ distances**2 @ centring)
    classical = vectors[:, -2:] * np.sqrt(values[-2:])
    assert stress(spread(distances)) < stress(classical)


def test_links_are_those_of_the_nearest():
    draw = np.random.default_rng(1)
    distances = draw.random((9, 9))
    distances = distances + distances.T
    np.fill_diagonal(distances, 0.0)
    expected = set()
    for i in range(9):
        others = sorted((distances[i, j], j) for j in range(9) if j != i)
        expected |= {(min(i, j), max(i, j)) for _, j in others[:2]}
    assert links(distances) == sorted(expected)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 20), st.integers(0, 5))
def test_labels_stay_in_their_frame_and_mostly_apart(n, seed):
    draw = np.random.default_rng(seed)
    widths = draw.uniform(20, 120, n)
    at = fitted(draw.normal(size=(n, 2)), widths, 30.0, 720.0, 600.0)
    assert np.all(at[:, 0] - widths / 2 >= -1e-6) and np.all(at[:, 0] + widths / 2 <= 720.001)
    assert np.all(at[:, 1] >= 15 - 1e-6) and np.all(at[:, 1] <= 585.001)
    overlaps = sum(
        abs(at[i, 0] - at[j, 0]) < 0.9 * (widths[i] + widths[j]) / 2
        and abs(at[i, 1] - at[j, 1]) < 0.9 * 30
        for i in range(n) for j in range(i)
    )  # fmt: skip
    assert overlaps <= n // 10


def test_svg_is_sound_whatever_the_text():
    hostile = "<script>alert('\"&</script>\x1b\x00\ufffe\u202e\ud800"
    text = Drawing(100, 50, hostile, [Label(1, 2, hostile)]).svg()
    ElementTree.fromstring(text.encode())
    assert "<script" not in text


def test_contrast_is_what_contexts_say(alice_index):
    from distsim.contexts import Weighting

    a, b = "alice", "the queen"
    found = contrast(alice_index, a, b, k=10_000, window=2)
    told = [
        {
            c.feature: c
            for c in named_contexts(alice_index, one, window=2, weighting=Weighting("log-llr"))
        }
        for one in (a, b)
    ]
    for row in [*found.both, *found.only_a, *found.only_b]:
        name = f"{row.place}:{row.word}"
        for side, weight, count in ((0, row.weight_a, row.count_a), (1, row.weight_b, row.count_b)):
            known = told[side].get(name)
            assert count == (known.occurrences if known else 0)
            assert weight == (max(0.0, known.weight) if known else 0.0)
    both = {name for name in told[0].keys() & told[1].keys()
            if min(told[0][name].weight, told[1][name].weight) > 0}  # fmt: skip
    assert {f"{row.place}:{row.word}" for row in found.both} == both
    alone = {name for name in told[0].keys() - told[1].keys() if told[0][name].weight > 0}
    assert {f"{row.place}:{row.word}" for row in found.only_a} == alone


def test_compare_prints_counts_measures_and_contexts(run, alice_index):
    import json

    out, _ = run("compare", alice_index.path, "alice", "the queen", "-k", 2)
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0] == ["count", *map(str, alice_index.count(["alice", "the queen"]).tolist())]
    assert [row[0] for row in rows[1:]] == ["table", "exact", *["both"] * 2, *["a"] * 2, *["b"] * 2]
    out, _ = run("compare", alice_index.path, "alice", "the queen", "-k", 2, "--json")
    found = json.loads(out)
    assert [f"{one['weight_a']:.6f}" for one in found["contexts"]["both"]] == [
        row[2] for row in rows if row[0] == "both"
    ]
