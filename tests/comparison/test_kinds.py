"""Two kinds of likeness: what may stand in a phrase's place, and what belongs to its topic."""

import pickle

import numpy as np
import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError, neighbours, sign
from distsim.paraphrase import KindCosine
from distsim.signatures.recipe import PRESETS

SOLDIERS = ["soldiers", "troops"]
LINES = [
    "the {0} marched over a long bridge while every cannon roared in the war",
    "in the war every cannon roared and then there was a {1} on each long bridge",
    "the {2} walked over a small lawn while every bird sang in some garden",
]


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Soldiers and troops stand in one place, battles near them; gardeners in that place too."""
    folder = tmp_path_factory.mktemp("kinds")
    drawn = np.random.default_rng(5)
    with open(folder / "text", "w") as file:
        for number in range(1500):
            words = (drawn.choice(SOLDIERS), "battle", drawn.choice(["gardeners", "children"]))
            file.write(LINES[number % 3].format(*words) + "\n")
    index = CorpusIndex.build(folder / "text", folder / "index", options=IndexOptions("lines"))
    return index, sign(index, folder / "table", recipe=PRESETS["learned"])


def test_kinds_differ_in_what_they_find(signed):
    substitutes, related = (KindCosine(*signed, kind) for kind in ("substitutes", "related"))
    pairs = [("soldiers", "troops"), ("soldiers", "battle")]
    same_place, same_topic = substitutes.similarities(pairs)
    assert same_place > same_topic
    gap = related.similarity(*pairs[0]) - related.similarity(*pairs[1])
    assert same_place - same_topic > gap
    assert related.profiled([("soldiers", "battle")]) > substitutes.profiled(
        [("soldiers", "battle")]
    )
    assert substitutes.similarity("soldiers", "soldiers") == pytest.approx(1, abs=1e-6)
    assert substitutes.similarity("soldiers", "zebra") is None
    near = neighbours(signed[1], "soldiers", k=3, by=substitutes)
    assert near[0].phrase == "troops"
    again = pickle.loads(pickle.dumps(substitutes))
    assert again.similarities(pairs) == [same_place, same_topic]


def test_a_kind_that_is_none_is_refused(signed):
    with pytest.raises(ParameterError, match="choose one of substitutes, related"):
        KindCosine(*signed, "opposites")
