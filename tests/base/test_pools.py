"""Whatever answers travels by its path: process pools, forked and spawned, ask everything."""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest

from distsim import ArtifactError, CorpusIndex, Recipe, Selection, SignatureTable
from distsim.comparison import NeighbourSearch
from tests.conftest import write_lines
from tests.faults.frame import Outcome
from tests.faults.pools import QUESTIONS, Everything, ask, public_objects, travels


@pytest.fixture(scope="module")
def everything(alice, tmp_path_factory):
    return Everything(tmp_path_factory.mktemp("pools"), alice)


@pytest.fixture(scope="module")
def expected(everything):
    return {question: ask(everything, question) for question in QUESTIONS}


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools_answer_every_question_after_the_parent_did(everything, expected, method):
    assert all(expected.values())
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        found = list(pool.map(ask, [everything] * len(QUESTIONS), QUESTIONS))
    for answer, question in zip(found, QUESTIONS, strict=True):
        assert repr(answer) == repr(expected[question]), question


def test_public_objects_and_errors_travel(everything, expected):
    objects = public_objects(everything, list(expected.values()))
    outcome = Outcome()
    travels(outcome, "fork", objects)
    assert outcome.broken == []
    assert {"CorpusIndex", "SignatureTable", "GrammarIndex", "Bitext", "InputError"} <= set(objects)


def test_what_is_pickled_are_paths_not_arrays(everything):
    for name in ("index", "learned", "real", "distinct", "exact", "paraphraser", "scorer",
                 "substituter", "pack", "rewriter", "bitext"):  # fmt: skip
        assert len(pickle.dumps(getattr(everything, name))) < 5000, name
    again = pickle.loads(pickle.dumps(everything.learned))
    assert again.path == everything.learned.path.absolute()
    assert again.bits.base is not None and not again.bits.flags.writeable


def test_a_table_that_was_replaced_is_not_taken_for_the_one_pickled(tmp_path, sentences):
    index = CorpusIndex.build([write_lines(tmp_path / "c", sentences)], tmp_path / "i")
    table = SignatureTable.build(
        index, tmp_path / "t", recipe=Recipe(n_bits=64), selection=Selection(min_count=1)
    )
    sent = pickle.dumps(NeighbourSearch(table))
    recipe = Recipe(n_bits=64, seed=2)
    SignatureTable.build(
        index, tmp_path / "t", recipe=recipe, selection=Selection(min_count=1), force=True
    )
    with pytest.raises(ArtifactError, match=r"t: was changed since it was opened: open it again"):
        pickle.loads(sent)
