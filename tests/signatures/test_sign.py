"""One sign: a projection belongs to its table, the same table is made once, doors refuse early."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from distsim import (
    ArtifactError,
    CorpusIndex,
    DistsimError,
    IncompatibleError,
    IndexOptions,
    ParameterError,
    Recipe,
    Selection,
    SignatureTable,
    learn,
    sign,
    storage,
)
from distsim.comparison import ExactCosine, LearnedCosine, NeighbourSearch
from distsim.contexts import AnnotatedText, NgramModel, SyntaxModel, Weighting
from distsim.output.verification import find_faults
from distsim.paraphrase import Substituter
from distsim.signatures import Composition, Fingerprint
from distsim.signatures.recipe import DEFAULT, KINDS, PRESETS, ProjectionKind
from distsim.storage.manifest import MADE_FROM
from tests.conftest import same_folders
from tests.faults.frame import snapshot

RECIPE = Recipe(model=NgramModel(2, by_side=True), weighting=Weighting("ppmi", shift=0.0),
                n_bits=64, projection="spectral", composition=Composition())  # fmt: skip
SOME = Selection(min_count=3, max_length=2)


@pytest.fixture
def index(alice, tmp_path):
    (tmp_path / "alice.txt").write_text(alice[:60_000], encoding="utf-8")
    return CorpusIndex.build(
        [tmp_path / "alice.txt"], tmp_path / "index", options=IndexOptions("text")
    )


def projections(folder):
    return sorted(path.name for path in folder.glob("*projection*"))


def test_a_table_elsewhere_leaves_the_index_s_own_alone(index, tmp_path):
    own = sign(index, recipe=RECIPE, selection=SOME)
    before = snapshot(index.path)
    other = sign(index, tmp_path / "other", recipe=replace(RECIPE, seed=2), selection=SOME)
    assert snapshot(index.path) == before
    assert projections(index.path) == []
    for table in (own, other):
        assert projections(table.path) == [table.projection.path.name]
        assert LearnedCosine(index, table).similarities([("alice", "queen")])[0] is not None
        assert find_faults(table.path) == []


def test_a_table_stays_whole_when_its_index_is_signed_anew_or_moved(index, tmp_path):
    table = sign(index, tmp_path / "t", recipe=RECIPE, selection=SOME)
    sign(index, recipe=RECIPE, selection=SOME)
    sign(index, recipe=replace(RECIPE, seed=3), selection=SOME)
    assert len(projections(index.path / "signatures")) == 1  # the older one went
    sign(index, recipe=Recipe(), selection=SOME)
    assert projections(index.path / "signatures") == []
    index.path.rename(tmp_path / "elsewhere")
    moved = CorpusIndex.open(tmp_path / "elsewhere")
    again = SignatureTable.open(table.path)
    assert LearnedCosine(moved, again).similarities([("alice", "queen")])[0] is not None
    search = NeighbourSearch(again)
    assert search.nearest("alice", k=3)


def test_what_was_learned_is_found_again(index, tmp_path, monkeypatch):
    sign(index, recipe=RECIPE, selection=SOME)

    def learning(*arguments, **options):
        raise AssertionError("learned again")

    monkeypatch.setitem(KINDS, "spectral", ProjectionKind(learn=learning))
    other = sign(
        index, tmp_path / "other", recipe=RECIPE, selection=Selection(min_count=5, max_length=1)
    )
    assert other.projection.manifest() == SignatureTable.open(index.path).projection.manifest()
    by_table = sign(index, tmp_path / "by", recipe=RECIPE, selection=SOME, projection=other.path)
    assert same_folders(by_table.path, index.path / "signatures")
    with pytest.raises(AssertionError, match="learned again"):
        sign(index, tmp_path / "seed", recipe=replace(RECIPE, seed=9), selection=SOME)
    with pytest.raises(AssertionError, match="learned again"):
        sign(
            index,
            tmp_path / "weights",
            recipe=replace(RECIPE, weighting=Weighting("ppmi")),
            selection=SOME,
        )
    assert not (tmp_path / "seed").exists()


@pytest.mark.parametrize("recipe", [Recipe(), RECIPE])
def test_the_very_table_is_made_once(index, recipe):
    first = sign(index, recipe=recipe, selection=SOME)
    before = snapshot(index.path)
    second = sign(index, recipe=recipe, selection=SOME)
    assert (first.unchanged, second.unchanged) == (False, True)
    assert snapshot(index.path) == before
    for changed in (
        {"recipe": replace(recipe, seed=2)},
        {"selection": Selection(min_count=2, max_length=2)},
        {"selection": Selection(min_count=3, max_length=2, max_phrases=50)},
    ):
        assert not sign(index, **({"recipe": recipe, "selection": SOME} | changed)).unchanged
        assert not sign(index, recipe=recipe, selection=SOME).unchanged
        assert snapshot(index.path) == before
    if recipe.is_learned:
        assert not sign(index, recipe=recipe, selection=SOME, keep_parts=False).unchanged


ORDERS = ("the red house stands near the old town", "old the town red stands the near house")


@pytest.fixture
def orders(tmp_path):
    """Two indexes of the same words as often, in another order."""
    for name, line in zip("ab", ORDERS, strict=True):
        (tmp_path / name).write_text(f"{line}\n" * 9)
        CorpusIndex.build([tmp_path / name], tmp_path / f"{name}.index")
    return [CorpusIndex.open(tmp_path / f"{name}.index") for name in "ab"]


@pytest.mark.parametrize("recipe", [Recipe(n_bits=64), replace(RECIPE, projection="spectral")])
def test_a_text_of_the_same_words_in_another_order_is_another(orders, tmp_path, recipe):
    one, other = orders
    assert one.corpus == other.corpus
    some = {"recipe": recipe, "selection": SOME}
    sign(one, tmp_path / "t", **some)
    wanted = sign(other, tmp_path / "fresh", **some)
    assert SignatureTable.open(tmp_path / "t").artifact.checksum != wanted.artifact.checksum
    with pytest.raises(ArtifactError, match="t: holds an artifact already"):
        sign(other, tmp_path / "t", **some)
    assert not sign(other, tmp_path / "t", **some, force=True).unchanged
    assert same_folders(tmp_path / "t", wanted.path)
    assert sign(other, tmp_path / "t", **some).unchanged
    if recipe.is_learned:
        return
    with pytest.raises(IncompatibleError, match="not signed from the present text of .*a.index"):
        ExactCosine(one, wanted)
    with pytest.raises(IncompatibleError, match="not signed from the present text of .*a.index"):
        Substituter(one, sign(other, tmp_path / "s", recipe=DEFAULT, selection=SOME))
    shutil.copytree(wanted.path, one.path / "signatures")
    assert any("signed from another text" in fault for fault in find_faults(one.path))


def test_the_projection_of_another_text_is_not_taken(orders, tmp_path, monkeypatch):
    """Where words occur as often the weights' settings are the same, not what is learned."""
    one, other = orders
    some = Selection(min_count=4, max_length=1)
    wanted = sign(other, tmp_path / "fresh", recipe=RECIPE, selection=some)
    sign(one, tmp_path / "t", recipe=RECIPE, selection=SOME)
    found = sign(other, tmp_path / "t", recipe=RECIPE, selection=some, force=True)
    assert found.projection.artifact.checksum == wanted.projection.artifact.checksum


def test_a_table_that_does_not_say_what_it_was_made_from_is_made_again(index):
    table = sign(index, recipe=Recipe(), selection=SOME)
    assert sign(index, recipe=Recipe(), selection=SOME).unchanged
    record = table.path / MADE_FROM
    before = record.read_text()
    for text in (None, before[1:], "", "\xff"):
        record.unlink()
        if text is not None:
            record.write_text(text, "latin-1")
        assert find_faults(table.path) == ([] if text is None else [f"{record} is damaged"])
        assert not sign(index, recipe=Recipe(), selection=SOME).unchanged
        assert record.read_text() == before
    record.rename(table.path / "mine")
    record.symlink_to("mine")  # a name of ours never follows a link
    assert not sign(index, recipe=Recipe(), selection=SOME).unchanged
    assert not record.is_symlink() and (table.path / "mine").read_text() == before


def test_a_damaged_table_is_made_again(index):
    table = sign(index, recipe=RECIPE, selection=SOME)
    before = snapshot(index.path)
    for folder, name in ((table.path, "bits"), (table.projection.path, "vectors")):
        file = folder / SignatureTable.open(index.path).artifact.manifest["arrays"].get(
            name, table.projection.artifact.manifest["arrays"].get(name)
        )["file"]  # fmt: skip
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
        assert not sign(index, recipe=RECIPE, selection=SOME).unchanged
        assert snapshot(index.path) == before


def test_a_wrong_place_is_refused_before_anything_is_learned(index, tmp_path, monkeypatch):
    def learning(*arguments, **options):
        raise AssertionError("learned")

    monkeypatch.setitem(KINDS, "spectral", ProjectionKind(learn=learning))
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "no" / "t", index.path):
        with pytest.raises(DistsimError):
            sign(index, place, recipe=RECIPE, selection=SOME)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_failure_while_signing_leaves_the_old_table_and_its_projection(index, monkeypatch):
    sign(index, recipe=RECIPE, selection=SOME)
    before = snapshot(index.path)

    def fails(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("distsim.signatures.signing.Signing.write", fails)
    with pytest.raises(KeyboardInterrupt):
        sign(index, recipe=replace(RECIPE, seed=2), selection=SOME)
    assert snapshot(index.path) == before


def test_a_projection_that_is_gone_or_another_s_is_told(index, tmp_path):
    table = sign(index, tmp_path / "t", recipe=RECIPE, selection=SOME)
    other = sign(index, tmp_path / "o", recipe=replace(RECIPE, seed=2), selection=SOME)
    folder = table.projection.path
    shutil.rmtree(folder)
    shutil.copytree(other.projection.path, folder)
    with pytest.raises(ArtifactError, match=r"the projection .* is not there: restore it or sign"):
        _ = SignatureTable.open(table.path).projection
    assert any("is not there" in fault for fault in find_faults(table.path))


def test_tables_of_format_1_keep_their_projection_beside_them(index):
    """As signed before a projection belonged to its table: INDEX/projection."""
    table = sign(index, recipe=RECIPE, selection=SOME)
    table.projection.path.rename(index.path / "projection")
    again = SignatureTable.open(index.path)
    assert again.projection.path == index.path / "projection"
    assert find_faults(index.path) == []


@pytest.mark.parametrize("sentences", [["a b c"], ["a b", "b a", "x"]])
def test_trees_are_part_of_the_fingerprint(tmp_path, sentences):
    rows, trees = [], []
    for sentence in sentences:
        words = sentence.split()
        rows += [
            f"{i}\t{w}\t{w}\tX\tX\t_\t{0 if i == 1 else 1}\tdep\t_\t_"
            for i, w in enumerate(words, 1)
        ]
        rows.append("")
        trees.append("(ROOT (S " + " ".join(f"(X {w})" for w in words) + "))")
    (tmp_path / "c").write_text("\n".join([*rows, ""]))
    (tmp_path / "t").write_text("\n".join([*trees, ""]))
    recipe, every = Recipe(model=SyntaxModel()), Selection(min_count=1)
    plain = sign(AnnotatedText(tmp_path / "c"), tmp_path / "plain", recipe=recipe, selection=every)
    parsed = sign(
        AnnotatedText(tmp_path / "c", trees=tmp_path / "t"),
        tmp_path / "parsed",
        recipe=recipe,
        selection=every,
    )
    assert (plain.fingerprint.model["trees"], parsed.fingerprint.model["trees"]) == (False, True)
    assert plain.fingerprint != parsed.fingerprint
    assert sign(
        AnnotatedText([tmp_path / "c"]), tmp_path / "plain", recipe=recipe, selection=every
    ).unchanged
    assert Recipe.from_fingerprint(parsed.fingerprint) == recipe


def test_a_fingerprint_prints_itself_whole(index):
    recipe = replace(RECIPE, weighting=Weighting("ppmi", subsample=1e-3, discount=1.5))
    shown = str(sign(index, recipe=recipe, selection=SOME).fingerprint)
    for field in ("model:ngram", "window:2", "families:l1-2,r1-2", "weights:ppmi", "alpha:0.75",
                  "subsample:0.001", "discount:1.5", "projection:spectral", "bits:64", "seed:1",
                  "compose-trust:2000.0", "lower:yes"):  # fmt: skip
        assert f"{field}|" in shown
    made = SignatureTable.open(index.path).fingerprint
    assert Fingerprint.from_manifest(made.manifest()) == made
    in_english = replace(recipe, composition=recipe.composition.in_language("english"))
    assert Recipe.from_fingerprint(made) == in_english


def test_sources_refuse_what_they_cannot_give(index, tmp_path):
    (tmp_path / "counts").write_text("a b\t3\na\t8\nb\t8\n")
    with pytest.raises(ParameterError, match="an index holds words and no annotation"):
        sign(index, tmp_path / "t", recipe=Recipe(model=SyntaxModel()))
    with pytest.raises(ParameterError, match="annotated text is signed with the syntactic model"):
        sign(AnnotatedText(tmp_path / "counts"), tmp_path / "t", recipe=Recipe())
    with pytest.raises(ParameterError, match="give the folder of the table"):
        sign(AnnotatedText(tmp_path / "counts"), recipe=Recipe(model=SyntaxModel()))
    with pytest.raises(ParameterError, match="`projection` .* with a recipe of random vectors"):
        sign(index, tmp_path / "t", recipe=Recipe(), projection=tmp_path)
    with pytest.raises(ParameterError, match="`keep_features` works with annotated text alone"):
        sign(index, tmp_path / "t", recipe=Recipe(), keep_features=True)
    assert not (tmp_path / "t").exists()


def test_a_table_is_what_python_people_try(index):
    table = sign(index, recipe=Recipe(), selection=SOME)
    assert "alice" in table and "zeppelin" not in table and "" not in table and 3 not in table
    assert sorted(table) == sorted(table.texts()) and len(list(table)) == len(table)
    row = table.find("alice")
    assert isinstance(row, int) and table.text(row) == "alice"
    assert table.find(["alice", "zeppelin"]).tolist() == [row, -1]
    assert "phrases" in repr(table)
    assert np.array_equal(table.bits[row], sign(index, recipe=Recipe(), selection=SOME).bits[row])


def test_another_table_is_replaced_on_request_only(index, tmp_path, monkeypatch):
    place = tmp_path / "t"
    sign(index, place, recipe=RECIPE, selection=SOME)
    before = snapshot(place)
    assert sign(index, place, recipe=RECIPE, selection=SOME).unchanged
    changed = replace(RECIPE, seed=2)

    def learning(*arguments, **options):
        raise AssertionError("learned")

    with monkeypatch.context() as patched:
        patched.setitem(KINDS, "spectral", ProjectionKind(learn=learning))
        for recipe, selection in (
            (changed, SOME),
            (Recipe(), SOME),
            (RECIPE, Selection(min_count=9)),
        ):
            with pytest.raises(ArtifactError, match=r"t: holds an artifact already: .*`force`"):
                sign(index, place, recipe=recipe, selection=selection)
            assert snapshot(place) == before
    assert not sign(index, place, recipe=changed, selection=SOME, force=True).unchanged
    with pytest.raises(ArtifactError, match=r"holds an artifact already"):
        learn(index, place, recipe=changed)


def test_the_program_says_how_to_replace(run, index, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("sign", "index", "--preset", "thesis", "-o", "t")
    assert "this very table already" in run("sign", "index", "--preset", "thesis", "-o", "t")[1]
    said = run("sign", "index", "--preset", "thesis", "--set", "n_bits=64", "-o", "t", status=1)[1]
    assert "t: holds an artifact already: name another folder, or replace it" in said
    assert "--force" in said
    run("sign", "index", "--preset", "thesis", "--set", "n_bits=64", "-o", "t", "--force")
    run("sign", "index", "--preset", "thesis")
    run(
        "sign", "index", "--preset", "thesis", "--set", "weighting.scheme=log"
    )  # its own table is the index's to replace


def test_a_table_of_the_same_words_in_another_order_is_not_that_of_the_index(tmp_path, run):
    lines = ["a b c d", "b a d c", "c d a b"] * 20
    for name, text in (("one", lines), ("two", [*lines[1:], "d c b a"]), ("three", lines[::-1])):
        (tmp_path / f"{name}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
        index = CorpusIndex.build(tmp_path / f"{name}.txt", tmp_path / f"{name}.index")
        assert index.text_checksum == storage.Artifact(index.path).made_from
        if name == "one":
            sign(index, recipe=PRESETS["thesis"], selection=SOME)
        else:
            shutil.copytree(tmp_path / "one.index" / "signatures", index.path / "signatures")
    assert '"up_to_date": false' in run("info", tmp_path / "two.index", "--json")[0]
    with pytest.raises(ArtifactError, match="signed from another text"):
        SignatureTable.open(tmp_path / "two.index")
    assert '"up_to_date": true' in run("info", tmp_path / "three.index", "--json")[0]
    assert len(SignatureTable.open(tmp_path / "three.index"))
    grown = CorpusIndex.open(tmp_path / "one.index").add(tmp_path / "two.txt", again=True)
    (grown.path / MADE_FROM).unlink()
    assert CorpusIndex.open(grown.path).text_checksum == grown.text_checksum
