"""Parts on many machines make the table of one machine, byte for byte; without an engine here."""

import filecmp
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from distsim import (
    ArtifactError,
    CorpusIndex,
    IndexOptions,
    InputError,
    ParameterError,
    Recipe,
    Selection,
    SignatureTable,
    sign,
)
from distsim.cluster import finder, tasks
from distsim.cluster.executors import ClusterReport, run_alone, run_alone_task
from distsim.cluster.job import Job
from distsim.cluster.kernels import count_phrases, frequent_phrases, mark_keys
from distsim.cluster.plan import Division, PlanOptions, make_plan, read_plan, write_plan
from distsim.comparison.finder import profile_counts
from distsim.comparison.finder.word_profiles import build_finder
from distsim.contexts import NgramModel, Weighting
from distsim.contexts.weights import SCHEMES
from distsim.indexes import phrase_walk
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import bucket_starts
from distsim.output import find_faults
from distsim.signatures.recipe import DEFAULT, PRESETS, SYNTAX
from distsim.storage.manifest import MADE_FROM
from tests.conftest import RECIPE, random_sentences, write_lines
from tests.naive.cluster import counted_keys, key_of
from tests.naive.core import count_ngrams, hash_text

SELECTION = Selection(min_count=2, max_length=3)


def same_artifacts(a: Path, b: Path) -> bool:
    """Tell whether two folders hold the same files, of the same bytes, folders inside too.

    What a table was made from is not part of it.
    """
    names, others = (
        sorted(str(one.relative_to(folder)) for one in folder.rglob("*")
               if one.is_file() and one.name != MADE_FROM)
        for folder in (a, b)
    )  # fmt: skip
    assert names == others
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
    index = CorpusIndex.build(corpus, folder / "one.index", options=options)
    return Path(sign(index, folder / "one.table", recipe=recipe, selection=selection).path)


def planned(corpus, recipe=None, selection=SELECTION, options=None, **division):
    index = options or IndexOptions()
    return make_plan(
        corpus,
        PlanOptions(
            recipe=recipe,
            selection=selection,
            index=index,
            division=Division(**division),
        ),
    )


def cluster(corpus, folder, recipe, selection=SELECTION, options=None, **settings) -> Path:
    plan = planned(corpus, recipe, selection, options, part_bytes=1, **settings)
    run_alone(plan, folder / "many.table", folder)
    return folder / "many.table"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "model",
    [
        NgramModel(),
        NgramModel(3),
        NgramModel(4, by_side=True),
        NgramModel(3, by_side=True, narrow=1),
    ],
)
def test_the_table_is_that_of_one_machine(tmp_path, corpus, scheme, model):
    recipe = Recipe(model=model, weighting=Weighting(scheme), n_bits=64)
    one = one_machine(corpus, tmp_path, recipe)
    assert same_artifacts(one, cluster(corpus, tmp_path, recipe, n_ranges=3))


@pytest.mark.parametrize("composed", [True, False])
def test_a_learned_table_is_that_of_one_machine(tmp_path, corpus, composed):
    recipe = DEFAULT if composed else replace(DEFAULT, composition=None)
    one = one_machine(corpus, tmp_path, recipe)
    assert same_artifacts(one, cluster(corpus, tmp_path, recipe, n_ranges=3))


@pytest.mark.parametrize(("dedup", "n_ranges"), [("off", 3), ("exact", 1)])
def test_a_learned_table_has_the_finder_of_one_machine(
    tmp_path, alice, monkeypatch, dedup, n_ranges
):
    """Of parts that know other words, in another order; a frame's count goes over their edges."""
    monkeypatch.setattr(finder, "LEAST_FRAME", 3)
    monkeypatch.setattr(profile_counts, "LEAST_FRAME", 3)
    monkeypatch.setattr(profile_counts, "MOST_FRAMES", 500)
    monkeypatch.setattr(profile_counts, "MOST_CONTEXTS", 200)
    lines, files = alice.splitlines(), []
    for number, part in enumerate([lines[900:2000], lines[:900], lines[500:1500], lines[2000:]]):
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_text("\n".join(part), encoding="utf-8")
    options = IndexOptions("text", dedup=dedup)
    index = CorpusIndex.build(files, tmp_path / "one.index", options=options)
    one = sign(index, tmp_path / "one.table", recipe=RECIPE, selection=SELECTION)
    build_finder(index, one, jobs=1)
    cluster(files, tmp_path, RECIPE, SELECTION, options, n_ranges=n_ranges)
    assert same_artifacts(tmp_path / "one.table", tmp_path / "many.table")
    opened = SignatureTable.open(tmp_path / "many.table")
    assert opened.finder is not None and opened.finder.parameters["lemmas"] > 150
    assert "frames/ranks" in opened.finder and find_faults(opened.path) == []


def test_a_run_without_a_finder(tmp_path, alice):
    """None is made where it is not wanted or there are too few words; an old one is removed."""
    file = tmp_path / "a.txt"
    file.write_text(alice[:40_000], encoding="utf-8")
    wanted = PlanOptions(recipe=RECIPE, selection=SELECTION, index=IndexOptions("text"))
    few = make_plan([file], wanted)
    run_alone(few, tmp_path / "t", tmp_path / "w")
    assert (
        "words occur often enough for a finder, wanted 100"
        in ClusterReport.of(Job(few.folder(tmp_path / "w")), 0.0).sentences()[-1]
    )
    assert not (tmp_path / "t" / "finder").exists()
    file.write_text(alice, encoding="utf-8")
    run_alone(make_plan([file], wanted), tmp_path / "t", tmp_path / "w", force=True)
    assert (tmp_path / "t" / "finder").exists()
    plan = make_plan([file], replace(wanted, finder=False))
    run_alone(plan, tmp_path / "t", tmp_path / "w", force=True)
    assert not (tmp_path / "t" / "finder").exists()


@pytest.mark.parametrize("most", [17, 40, 10_000])
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


def test_small_files_are_parts_of_about_equal_bytes(tmp_path):
    for number, size in enumerate([40, 40, 40, 40, 10, 10]):
        (tmp_path / f"{number}.txt").write_text("a b c d e\n" * size)
    plan = planned([tmp_path])
    assert [len(part.paths) for part in plan.parts] == [1, 1, 1, 1, 2]
    assert [len(part.paths) for part in planned([tmp_path], part_bytes=1).parts] == [1] * 6


def test_repeated_lines_are_dropped_across_parts(tmp_path, corpus):
    whole = b"".join(file.read_bytes() for file in corpus)
    (tmp_path / "again.txt").write_bytes(whole + b"a line of its own\n")
    (tmp_path / "nothing-new.txt").write_bytes(corpus[0].read_bytes())
    files = [*corpus, tmp_path / "again.txt", tmp_path / "nothing-new.txt"]
    options = IndexOptions(dedup="exact")
    one = one_machine(files, tmp_path, DEFAULT, options=options)
    assert same_artifacts(one, cluster(files, tmp_path, DEFAULT, options=options, n_ranges=2))


def test_too_many_words_are_said_before_the_work(tmp_path, corpus, monkeypatch):
    monkeypatch.setattr(tasks, "MOST_WORDS", 5)
    with pytest.raises(ParameterError, match="distinct words, at most 5"):
        cluster(corpus, tmp_path, PRESETS["thesis"])


def test_a_text_that_has_changed_is_another_run(tmp_path, corpus):
    """Also where its size and time are as before; a run that is planned refuses it."""
    recipe = PRESETS["thesis"]
    plan = planned(corpus, recipe, SELECTION)
    assert planned(corpus, recipe, SELECTION) == plan
    text, times = corpus[0].read_bytes(), corpus[0].stat()
    corpus[0].write_bytes(text.swapcase())
    os.utime(corpus[0], ns=(times.st_atime_ns, times.st_mtime_ns))
    assert planned(corpus, recipe, SELECTION).name != plan.name
    corpus[0].write_bytes(text + b"more\n")
    job = Job(write_plan(plan, tmp_path))
    with pytest.raises(InputError, match=r"0\.txt: was changed since the run was planned"):
        tasks.index_part(job, 0)


def test_a_run_does_not_read_what_it_has_written(tmp_path, corpus):
    folder = corpus[0].parent
    work = folder / "work"
    one = make_plan([folder], written=[work])
    Job(write_plan(one, work))
    assert make_plan([folder], written=[work]) == one


def test_what_is_at_fault_is_one_sentence(tmp_path, corpus, run):
    with pytest.raises(InputError, match="no such file or folder"):
        make_plan([tmp_path / "nowhere"])
    with pytest.raises(ParameterError, match="words beside phrases only"):
        planned(corpus, SYNTAX)
    with pytest.raises(ArtifactError, match="every machine sees"):
        read_plan(tmp_path)
    with pytest.raises(InputError, match="nothing to sign"):
        cluster([corpus[2]], tmp_path, PRESETS["thesis"])
    (tmp_path / "bad.txt").write_bytes(b"good\nbad \xff\n")
    with pytest.raises(InputError, match=r"bad\.txt, line 2, byte 5: not UTF-8"):
        cluster([tmp_path / "bad.txt"], tmp_path, PRESETS["thesis"])
    out, _ = run("cluster", "plan", *corpus, "--work", tmp_path / "w", "--preset", "thesis")
    folder = out.split()[1]
    _, err = run("cluster", "join", folder, "-o", tmp_path / "t", status=1)
    assert f"distsim cluster task {folder} count 0" in err


def test_a_run_goes_on_where_it_was_killed(tmp_path, corpus):
    """Tasks done in any order, some twice, before another run finishes."""
    recipe = Recipe(n_bits=64)
    one = one_machine(corpus, tmp_path, recipe)
    plan = planned(corpus, recipe, SELECTION, part_bytes=1, n_ranges=3)
    job = Job(write_plan(plan, tmp_path))
    for number in (4, 1, 4):
        run_alone_task(job, "count", number)
    (job.folder / "done" / "count-000001.json").unlink()  # killed before it could say so
    (job.folder / "count-packets" / "000004").unlink()  # killed between its report and its packets
    run_alone(plan, tmp_path / "many", tmp_path)
    assert same_artifacts(one, tmp_path / "many")
    assert read_plan(job.folder) == plan


@pytest.mark.parametrize("chunk_rows", [1 << 20, 40])
def test_keys_of_phrases_are_those_of_the_definition(tmp_path, chunk_rows):
    sentences, longest, least = random_sentences(5, 80), 3, 3
    index = CorpusIndex.build([write_lines(tmp_path / "t.txt", sentences)], tmp_path / "x.index")
    words = frozen(index.vocabulary.word_hashes())
    chunks = list(phrase_walk.walk(index.shards, index.n_words, longest, chunk_rows))
    counted = [count_phrases(frozen(c.rows), frozen(c.common), longest, words) for c in chunks]
    keys, counts = (np.concatenate(column).tolist() for column in zip(*counted, strict=True))
    assert dict(zip(keys, counts, strict=True)) == counted_keys(sentences, longest)
    assert len(keys) == len(set(keys))

    ngrams = {tuple(p): n for p, n in count_ngrams(sentences, longest).items() if n >= least}
    wanted = np.array(sorted(map(key_of, ngrams)), np.uint64)
    found = {}
    for chunk in chunks:
        hashes, lengths, lows, highs = frequent_phrases(
            frozen(chunk.rows), chunk.before, frozen(chunk.common), longest, words,
            index.vocabulary.text, index.vocabulary.offsets, frozen(wanted),
            frozen(bucket_starts(frozen(wanted), 4)), 4, frozen(mark_keys(frozen(wanted), 9)), 9,
            np.uint64((1 << 64) - 1),
        )  # fmt: skip
        runs = zip(lengths.tolist(), (highs - lows).tolist(), strict=True)
        found |= dict(zip(hashes.tolist(), runs, strict=True))
    assert found == {hash_text(" ".join(p).encode()): (len(p), n) for p, n in ngrams.items()}
