"""Near-duplicates: found as all pairs find them, the same in one go and in pieces."""

import json
import random
import tempfile
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim import ArtifactError, CorpusIndex, IndexOptions, ParameterError
from distsim.corpus import duplicates
from distsim.corpus.documents import document_blocks
from distsim.corpus.duplicates import N_PERMUTATIONS, NearDuplicates, NearOptions
from distsim.corpus.kernels import count_common, hash_shingles, min_hashes
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes import build as building
from distsim.kernels.compiled import frozen
from distsim.output.verification import find_faults
from distsim.storage import Artifact
from tests.conftest import same_folders
from tests.naive.near import jaccard, near_repeats, shingles

PLENTY = 1 << 30
WORDS = [f"word{i}" for i in range(400)]
HASHES = hash_texts([b"", *(word.encode() for word in WORDS)])
LINES = IndexOptions(dedup="near-lines")


def some_texts(seed, n=120):
    """Texts of 0 to 120 words; every third is an earlier one with a few words changed."""
    draw = random.Random(seed)
    texts = []
    for _ in range(n):
        if texts and draw.random() < 0.35:
            text = list(draw.choice(texts))
            for _ in range(draw.choice([0, 1, 1, 2, 4])):
                if text:
                    text[draw.randrange(len(text))] = draw.choice(WORDS)
        else:
            text = draw.choices(WORDS, k=draw.choice([0, 1, 4, 5, 6, 20, 60, 90, 120]))
        texts.append(text)
    return texts


def as_arrays(texts):
    words = np.array([WORDS.index(w) + 1 for text in texts for w in text], np.uint32)
    return words, np.cumsum([len(text) for text in texts])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 7))
def test_shingles_are_the_naive_sets(seed, width):
    texts = some_texts(seed, 20)
    starts, hashed = hash_shingles(*map(frozen, as_arrays(texts)), frozen(HASHES), width)
    names = {}
    for i, text in enumerate(texts):
        mine = hashed[starts[i] : starts[i + 1]]
        assert np.all(mine[1:] > mine[:-1])
        sets = shingles(text, width)
        assert mine.size == len(sets)
        for shingle in sets:  # one by one, so that each hash is known by name
            _, alone = hash_shingles(*map(frozen, as_arrays([shingle])), frozen(HASHES), width)
            assert names.setdefault(shingle, int(alone[0])) in mine


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)))
def test_common_values_are_counted(a, b):
    one, two = (frozen(np.array(sorted(s), np.uint32)) for s in (a, b))
    assert count_common(one, two) == len(a & b)


@pytest.mark.parametrize("seed", [1, 7])
def test_min_hashes_are_those_of_datasketch(seed):
    from datasketch import MinHash

    draw = np.random.default_rng(seed)
    sets = [draw.integers(0, 1 << 32, n, dtype=np.uint32) for n in (1, 2, 300)]
    wanted = MinHash.bulk(
        [values.tolist() for values in sets], num_perm=N_PERMUTATIONS, seed=seed,
        scheme="affine32", hashfunc=int,
    )  # fmt: skip
    factors, offsets = map(frozen, wanted[0].permutations)
    starts = frozen(np.cumsum([0, *map(len, sets)]))
    values = min_hashes(starts, frozen(np.concatenate(sets)), factors, offsets)
    assert np.array_equal(values, [one.hashvalues for one in wanted])


@pytest.mark.parametrize("threshold", [0.5, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_dropped_is_what_all_pairs_find(seed, threshold):
    """Never more than all pairs of what stayed find, and nearly all of them."""
    texts = some_texts(seed)
    near = NearDuplicates(NearOptions(threshold), PLENTY)
    names = [str(number) for number in range(len(texts))]
    found = near.find(near.hashed(names, *as_arrays(texts), HASHES))
    for number, duplicate in enumerate(found):
        if duplicate is not None:
            kept = int(duplicate.kept)
            assert kept < number
            assert found[kept] is None
            exact = jaccard(shingles(texts[kept]), shingles(texts[number]))
            assert duplicate == (str(kept), str(number), exact)
            assert exact >= threshold
    wanted = [number is not None for number in near_repeats(texts, threshold)]
    agree = sum(a == (b is not None) for a, b in zip(wanted, found, strict=True))
    assert agree >= 0.97 * len(texts)


def written(folder, documents):
    path = folder / "documents.jsonl"
    rows = ({"id": f"d{i}", "text": " ".join(words)} for i, words in enumerate(documents))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("block_bytes", [200, 1 << 20])
def test_documents_are_dropped_and_listed(tmp_path, run, monkeypatch, block_bytes):
    """As all pairs find them, through blocks of any size; the first stays."""
    read = partial(document_blocks, block_bytes=block_bytes)
    monkeypatch.setattr(building, "document_blocks", read)
    documents = [text for text in some_texts(4) if text]
    path = written(tmp_path, documents)
    said = run("index", "build", path, "-o", tmp_path / "x.index", "--dedup", "near",
               "--set", "near.threshold=.8", "--duplicates", tmp_path / "found.tsv")[1]  # fmt: skip
    found = [line.split("\t") for line in (tmp_path / "found.tsv").read_text().splitlines()]
    wanted = {i: kept for i, kept in enumerate(near_repeats(documents)) if kept is not None}
    assert {dropped: kept for kept, dropped, _ in found} == {
        f"d{i}": f"d{kept}" for i, kept in wanted.items()
    }
    index = CorpusIndex.open(tmp_path / "x.index")
    stays = [f"d{i}" for i in range(len(documents)) if i not in wanted]
    assert index.metadata.ids(np.arange(len(index.metadata))) == stays
    assert f"dedup near: {len(wanted):,} of {len(documents):,} lines dropped" in said
    assert find_faults(tmp_path / "x.index") == []


def test_plain_text_is_compared_by_documents_or_by_lines(tmp_path):
    a, b = "one two three four five six seven", "a b c d e f"
    (tmp_path / "t.txt").write_text(f"{a}\n{b}\n\n{a}\n{b}\n\n{b}\n{a}\n{a}\n")
    kept = {}
    for dedup in ("near", "near-lines"):
        index = CorpusIndex.build(
            tmp_path / "t.txt", tmp_path / dedup, options=IndexOptions(dedup=dedup)
        )
        kept[dedup] = [tuple(one) for one in index.report.duplicates]
    assert kept["near"] == [("t.txt:1", "t.txt:4", 1.0)]
    assert kept["near-lines"] == [
        ("t.txt:1", "t.txt:4", 1.0), ("t.txt:2", "t.txt:5", 1.0), ("t.txt:2", "t.txt:7", 1.0),
        ("t.txt:1", "t.txt:8", 1.0), ("t.txt:1", "t.txt:9", 1.0),
    ]  # fmt: skip
    (tmp_path / "once.txt").write_text(f"{a}\n{b}\n")
    once = CorpusIndex.build(tmp_path / "once.txt", tmp_path / "once")
    assert list(index.ngrams(shortest=1, longest=9)) == list(once.ngrams(shortest=1, longest=9))


@pytest.mark.parametrize("dedup", ["near", "near-lines"])
@pytest.mark.parametrize("jobs", [1, 3])
def test_added_text_is_as_text_of_one_go(tmp_path, dedup, jobs):
    texts = [text for text in some_texts(11) if text]
    for name, some in (("a", texts[:70]), ("b", texts[70:])):
        (tmp_path / f"{name}.txt").write_text("".join(f"{' '.join(t)}\n\n" for t in some))
    files, options = [tmp_path / "a.txt", tmp_path / "b.txt"], IndexOptions(dedup=dedup)
    whole = CorpusIndex.build(files, tmp_path / "whole", options=options, jobs=jobs)
    part = CorpusIndex.build(files[0], tmp_path / "parts", options=options)
    added = part.add(files[1])
    assert [*part.report.duplicates, *added.report.duplicates] == [*whole.report.duplicates]
    assert whole.report.duplicates
    assert sorted(added.ngrams(longest=3)) == sorted(whole.ngrams(longest=3))
    names = [f"near/{name}" for name in NearDuplicates.PARTS]
    one, other = Artifact(tmp_path / "parts"), Artifact(tmp_path / "whole")
    assert all(np.array_equal(one.array(name), other.array(name)) for name in names)
    again = CorpusIndex.build(files, tmp_path / "again", options=options)
    assert again.report.duplicates == whole.report.duplicates
    assert same_folders(tmp_path / "again", tmp_path / "whole")


def test_texts_in_memory_are_read_once(tmp_path):
    texts = ["a b c d e f g h", "x y z u v w t s", "a b c d e f g h"]
    index = CorpusIndex.from_texts(
        iter(texts), tmp_path / "i", options=IndexOptions("text", dedup="near")
    )
    assert [one[:2] for one in index.report.duplicates] == [("texts:1", "texts:5")]


def test_the_threshold_words_and_seed_are_settings(tmp_path, run):
    path = written(tmp_path, [WORDS[:20], WORDS[:10] + WORDS[50:60], WORDS[:18]])
    for threshold, n in ((0.9, 0), (0.8, 1), (0.1, 2)):
        run("index", "build", path, "-o", tmp_path / "i", "--dedup", "near", "--force", "--set",
            f"near.threshold={threshold}", "--set", "near.words=2", "--set", "near.seed=3",
            "--duplicates", tmp_path / "d")  # fmt: skip
        assert len((tmp_path / "d").read_text().splitlines()) == n
    options = CorpusIndex.open(tmp_path / "i").options
    assert options.near == NearOptions(0.1, 2, 3)
    for wrong in ("near.threshold=2", "near.words=0", "near.seed=-1"):
        run("index", "build", path, "-o", tmp_path / "j", "--set", wrong, status=1)


def test_too_little_memory_is_told(tmp_path, monkeypatch):
    path = written(tmp_path, some_texts(1))
    monkeypatch.setattr(duplicates, "_TEXT_BYTES", 1 << 20)
    with pytest.raises(ParameterError, match=r"`dedup` near stores .* give more, or use"):
        CorpusIndex.build(
            path, tmp_path / "i", options=IndexOptions("text", dedup="near", file_format="jsonl"),
            memory=1 << 22,
        )  # fmt: skip
    assert not (tmp_path / "i").exists()


def test_damage_is_told(tmp_path):
    (tmp_path / "a.txt").write_text("a b c d e f\ng h i j k l\n")
    (tmp_path / "b.txt").write_text("m n o p\n")
    index = CorpusIndex.build(tmp_path / "a.txt", tmp_path / "i", options=LINES)
    file = tmp_path / "i" / Artifact(tmp_path / "i").manifest["arrays"]["near/starts"]["file"]
    file.write_bytes(np.array([0, 9, 1], np.int64).tobytes())
    with pytest.raises(ArtifactError):
        index.add(tmp_path / "b.txt")


def test_blocks_replayed_are_those_that_were_read(tmp_path):
    blocks = [building.Block(b"a b\n", 0, 1), building.Block(b"c\n", 1, 1)]
    with tempfile.TemporaryFile() as spool:
        assert list(building._spooled(iter(blocks), spool)) == blocks
        assert list(building._spooled_blocks(spool)) == blocks
