"""What is no path and no artifact is told in a sentence, where it is given."""

import numpy as np
import pytest

from distsim import (
    PRESETS,
    CorpusIndex,
    GrammarIndex,
    ParameterError,
    Paraphraser,
    SignatureTable,
    Substituter,
    evaluate,
    find_faults,
    sign,
    to_frame,
)
from distsim.base.arguments import in_range
from distsim.contexts import contrast, named_contexts
from distsim.indexes import collocates, continuations, keywords, list_phrases, trace
from distsim.paraphrase import IndexModel
from distsim.paraphrase.paraphrasing_options import ParaphraseOptions


@pytest.mark.parametrize("kind", [CorpusIndex, SignatureTable, GrammarIndex])
@pytest.mark.parametrize("given", ["some.index", None, 3])
def test_a_class_of_artifacts_made_of_a_path_says_how_to_open_one(kind, given):
    wanted = rf"{kind.__name__}: is made of .*: open one by {kind.__name__}\.open\(path\)"
    with pytest.raises(ParameterError, match=wanted):
        kind(given)


def test_an_opened_index_given_for_a_path_is_not_asked_for_its_words(small_index):
    with pytest.raises(ParameterError, match=r"path: is .*CorpusIndex.*, wanted a path"):
        CorpusIndex.open(small_index)
    with pytest.raises(ParameterError, match=r"path: is .*\(list\), wanted a path"):
        CorpusIndex.open([small_index.path])


def test_what_is_no_text_path_or_list_is_told_where_it_is_given(small_index, tmp_path):
    small_table = sign(small_index, tmp_path / "t", recipe=PRESETS["thesis"])
    substituter, paraphraser = Substituter(small_index, small_table), Paraphraser(small_index)
    calls = [
        (lambda: substituter.substitutes(1, "a0", ""), r"left: is 1 \(int\), wanted a text"),
        (lambda: substituter.substitutes("", None, ""), "target: is None, wanted a text"),
        (lambda: substituter.evidence("", "a0", [], []), r"right: is \[\] \(list\)"),
        (lambda: substituter.evidence("", "a0", "", [1]), r"candidates\[0\]: is 1 \(int\)"),
        (lambda: paraphraser.paraphrases(["a0"]), r"phrase: is \['a0'\] \(list\)"),
        (lambda: small_index.concordance("a0", order=1), r"`order`: is 1 \(int\)"),
        (lambda: SignatureTable.open(1), r"path: is 1 \(int\), wanted a path"),
        (lambda: find_faults(None), "path: is None, wanted a path"),
        (lambda: to_frame(1), r"results: is 1 \(int\), wanted a list"),
        (lambda: evaluate(small_table, []), r"gold: is .*, wanted a list"),
        (lambda: evaluate([], "x"), r"measures: is 'x' \(str\), wanted a list"),
    ]
    for call, message in calls:
        with pytest.raises(ParameterError, match=message):
            call()


def test_functions_that_ask_an_index_take_its_path(small_index):
    path, phrase = small_index.path, "a0"
    for function in (collocates, continuations, trace, named_contexts):
        assert function(path, phrase) == function(small_index, phrase)
        with pytest.raises(ParameterError, match=r"index: is 5 \(int\), wanted an"):
            function(5, phrase)
    assert list_phrases(path, k=3) == list_phrases(small_index, k=3)
    assert keywords(path, path) == keywords(small_index, small_index)
    assert contrast(path, "a0", "a1").both == contrast(small_index, "a0", "a1").both
    assert IndexModel(path).checksum == IndexModel(small_index).checksum


def test_links_that_lead_in_a_circle_are_told(run, tmp_path):
    (tmp_path / "text").write_text("the king\n")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for corpus, output in (("a", "out"), ("text", "a")):
        arguments = ("index", "build", tmp_path / corpus, "-o", tmp_path / output)
        _, err = run(*arguments, status=1)
        assert err.splitlines()[-1].startswith(f"distsim: {tmp_path / 'a'}: ")


def test_no_output_replaces_the_manifest_of_an_artifact(run, small_index, tmp_path):
    before = (small_index.path / "manifest.json").read_bytes()
    (tmp_path / "a.rules").write_text("[X] ||| a ||| b ||| p(e|f)=1 ||| 0-0\n")
    manifest = small_index.path / "manifest.json"
    _, err = run("rerank", tmp_path / "a.rules", "-o", manifest, status=1)
    assert "belongs to an artifact" in err
    assert manifest.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("k", 1.5, "a whole number"), ("k", "x", "a whole number"), ("k", True, "a whole number"),
        ("finder", 1, "true or false"), ("doubt", "x", "a number"), ("weights", -1, "a text"),
        ("depth", None, "a whole number"), ("walk", [1], "a whole number or None"),
    ],
)  # fmt: skip
def test_fields_of_options_have_their_types(name, value, wanted):
    with pytest.raises(ParameterError, match=f"`{name}`: is .*, wanted {wanted}"):
        ParaphraseOptions(**{name: value})
    assert ParaphraseOptions(k=np.int64(3), doubt=np.float32(1), walk=None).k == 3


@pytest.mark.parametrize("value", ["x", None, True, [1], float("nan")])
def test_what_is_no_number_is_out_of_range(value):
    with pytest.raises(ParameterError, match=r"share.*(wanted a number|choose 0 to 1)"):
        in_range(value, "share", 0.0, 1.0)


@pytest.mark.parametrize("value", [-1, 1.5, "x", True])
@pytest.mark.parametrize(
    "ask",
    [
        lambda index, k: keywords(index, index, k=k),
        lambda index, k: collocates(index, "the", k=k),
        lambda index, k: contrast(index, "the", "a", k=k),
        lambda index, k: index.concordance("the", k=k),
        lambda index, k: index.spans("the", k=k),
        lambda index, k: index.beside("the", k),
        lambda index, k: list_phrases(index, lengths=k),
        lambda index, k: keywords(index, index, max_p=None if k is True else k),
    ],
)
def test_numbers_are_checked_where_they_are_given(small_index, ask, value):
    with pytest.raises(ParameterError):
        ask(small_index, value)
