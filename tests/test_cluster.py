"""Parts on many machines make the table of one machine, byte for byte; without an engine here."""

import filecmp
from dataclasses import replace
from pathlib import Path

import pytest

from distsim import (
    CorpusIndex,
    CountFiles,
    IndexOptions,
    NgramModel,
    Recipe,
    Selection,
    Weighting,
    sign,
)
from distsim.cluster.alone import run_alone
from distsim.cluster.plan import make_plan
from distsim.contexts.weights import SCHEMES
from distsim.signatures.recipe import DEFAULT, PRESETS
from tests.conftest import random_sentences, write_lines

SELECTION = Selection(min_count=2, max_length=3)


def same_artifacts(a: Path, b: Path) -> bool:
    """Tell whether two folders hold the same files, of the same bytes, folders inside too."""
    names = sorted(str(file.relative_to(a)) for file in a.rglob("*") if file.is_file())
    assert names == sorted(str(file.relative_to(b)) for file in b.rglob("*") if file.is_file())
    return filecmp.cmpfiles(a, b, names, shallow=False)[0] == names


@pytest.fixture
def corpus(tmp_path) -> list[Path]:
    """Five files, one of them empty, words of later ones new."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    files = [write_lines(folder / f"{n}.txt", random_sentences(n, 70, 8 + 2 * n)) for n in range(4)]
    (folder / "empty.txt").write_text("")
    return [*files[:2], folder / "empty.txt", *files[2:]]


def one_machine(corpus, folder, recipe, selection=SELECTION, options=None) -> Path:
    index = CorpusIndex.build(corpus, folder / "one.index", options)
    return Path(sign(index, folder / "one.table", recipe, selection).path)


def cluster(corpus, folder, recipe, selection=SELECTION, options=None, **settings) -> Path:
    plan = make_plan(corpus, recipe, selection, options, part_bytes=1, **settings)
    run_alone(plan, folder / "many.table", folder)
    return folder / "many.table"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", [NgramModel(), NgramModel(3), NgramModel(4, sides=True)])
def test_the_table_is_that_of_one_machine(tmp_path, corpus, scheme, model):
    recipe = Recipe(model=model, weighting=Weighting(scheme), n_bits=64)
    one = one_machine(corpus, tmp_path, recipe)
    assert same_artifacts(one, cluster(corpus, tmp_path, recipe, n_ranges=3))


@pytest.mark.parametrize("composed", [True, False])
def test_a_learnt_table_is_that_of_one_machine(tmp_path, corpus, composed):
    recipe = DEFAULT if composed else replace(DEFAULT, composition=None)
    one = one_machine(corpus, tmp_path, recipe)
    assert same_artifacts(one, cluster(corpus, tmp_path, recipe, n_ranges=3))


@pytest.mark.parametrize("most", [1, 17, 40, 10_000])
def test_only_the_strongest_phrases(tmp_path, corpus, most):
    selection = replace(SELECTION, max_phrases=most)
    recipe = Recipe(weighting=Weighting("ppmi"), n_bits=64)
    one = one_machine(corpus, tmp_path, recipe, selection)
    assert same_artifacts(one, cluster(corpus, tmp_path, recipe, selection, n_ranges=4))


def test_running_text_and_a_normaliser(tmp_path, alice):
    (tmp_path / "a.txt").write_text(alice[:60_000], encoding="utf-8")
    (tmp_path / "b.txt").write_text(alice[60_000:], encoding="utf-8")
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    options = IndexOptions("text")
    selection = Selection(min_count=3)
    one = one_machine(files, tmp_path, PRESETS["thesis"], selection, options)
    many = cluster(files, tmp_path, PRESETS["thesis"], selection, options)
    assert same_artifacts(one, many)


def test_repeated_lines_are_dropped_across_parts(tmp_path, corpus):
    whole = b"".join(file.read_bytes() for file in corpus)
    (tmp_path / "again.txt").write_bytes(whole + b"a line of its own\n")
    (tmp_path / "nothing-new.txt").write_bytes(corpus[0].read_bytes())
    files = [*corpus, tmp_path / "again.txt", tmp_path / "nothing-new.txt"]
    options = IndexOptions(dedup="exact")
    one = one_machine(files, tmp_path, DEFAULT, options=options)
    assert same_artifacts(one, cluster(files, tmp_path, DEFAULT, options=options, n_ranges=2))


@pytest.fixture
def count_files(tmp_path, corpus) -> list[Path]:
    """The n-grams of the corpus in three files, no phrase's lines together."""
    index = CorpusIndex.build(corpus, tmp_path / "counted.index")
    folder = tmp_path / "counts"
    folder.mkdir()
    files = [folder / f"{n}.txt" for n in range(3)]
    lines = [f"{phrase}\t{count}\n" for phrase, count in index.ngrams(1, 4)]
    for number, file in enumerate(files):
        file.write_text("".join(lines[number::3]), encoding="utf-8")
    return files


@pytest.mark.parametrize("name", [*SCHEMES, "learnt"])
def test_a_table_of_counts_is_that_of_one_machine(tmp_path, count_files, name):
    recipe = (
        replace(DEFAULT, model=NgramModel())
        if name == "learnt"
        else Recipe(weighting=Weighting(name), n_bits=64)
    )
    sign(CountFiles(count_files), tmp_path / "one.table", recipe, SELECTION)
    many = cluster(count_files, tmp_path, recipe, from_counts=True, n_ranges=3)
    assert same_artifacts(tmp_path / "one.table", many)
