"""Kept sums and merge: tables of parts, added up, are the table of the whole."""

import random
from pathlib import Path

import numpy as np
import pytest

from distsim import (
    ArtifactError,
    CorpusIndex,
    IncompatibleError,
    IndexOptions,
    ParameterError,
    Recipe,
    Selection,
    SignatureTable,
    storage,
)
from distsim.comparison.table import merge_tables
from distsim.contexts import NgramCounts, NgramModel, Weighting
from distsim.output.verification import find_faults
from distsim.signatures import sums as merging
from distsim.signatures.sums import KeptSums
from tests.conftest import random_sentences, same_folders, write_lines

SMALL = 1 << 18


def index_of(folder: Path, name: str, sentences, **options) -> CorpusIndex:
    write_lines(folder / f"{name}.txt", sentences)
    return CorpusIndex.build(
        [folder / f"{name}.txt"], folder / f"{name}.index", options=IndexOptions(**options)
    )


def signed(index, name, selection=None, recipe=None, keep_sums=True) -> Path:
    path = index.path.parent / name
    SignatureTable.build(
        index,
        path,
        recipe=recipe or Recipe(),
        selection=selection,
        keep_sums=keep_sums,
        memory=SMALL,
    )
    return path


@pytest.mark.parametrize("n_parts", [2, 3, 5])
@pytest.mark.parametrize(("window", "min_count"), [(1, 1), (1, 3), (3, 5)])
def test_parts_merged_are_the_whole(tmp_path, n_parts, window, min_count):
    """Byte for byte; the last part alone has words that the others lack."""
    sentences = [*random_sentences(n_parts, 200, 14), ["zebra"], ["zebra", "crossing"]]
    recipe, selection = Recipe(model=NgramModel(window)), Selection(min_count=min_count)
    whole = index_of(tmp_path, "whole", sentences)
    plain = signed(whole, "plain", selection, recipe, keep_sums=False)
    kept = signed(whole, "kept", selection, recipe)
    parts = []
    for part in range(n_parts):
        index = index_of(tmp_path, f"part{part}", sentences[part::n_parts])
        parts.append(signed(index, f"table{part}", selection, recipe))
    random.Random(n_parts).shuffle(parts)
    merge_tables(parts, tmp_path / "merged")
    assert same_folders(tmp_path / "merged", plain)
    merge_tables(parts, tmp_path / "merged-kept", keep_sums=True)
    assert same_folders(tmp_path / "merged-kept", kept)


def test_small_blocks_change_nothing(tmp_path, monkeypatch):
    sentences = random_sentences(7, 300, 14)
    kept = signed(index_of(tmp_path, "whole", sentences), "kept")
    parts = [signed(index_of(tmp_path, f"part{i}", sentences[i::3]), f"table{i}") for i in range(3)]
    for rows, terms in ((3, 3), (64 * 3, 1), (1, 1000), (65 * 3, 300)):
        monkeypatch.setattr(merging, "_ROWS", rows)
        monkeypatch.setattr(merging, "_TERMS", terms)
        merge_tables(parts, tmp_path / "merged", keep_sums=True, force=True)
        assert same_folders(tmp_path / "merged", kept)


def test_step_by_step_and_from_counts(tmp_path, alice):
    """(0 + 2) + counts of 1 is the whole of a novel, with its sums; minimum count afterwards."""
    lines = alice.splitlines(keepends=True)
    cuts = [0, len(lines) // 3, len(lines) // 2, len(lines)]
    text = IndexOptions("text")
    (tmp_path / "whole.txt").write_text(alice)
    whole = CorpusIndex.build([tmp_path / "whole.txt"], tmp_path / "whole.index", options=text)
    for i in range(3):
        (tmp_path / f"{i}.txt").write_text("".join(lines[cuts[i] : cuts[i + 1]]))
        index = CorpusIndex.build([tmp_path / f"{i}.txt"], tmp_path / f"{i}.index", options=text)
        if i != 1:
            signed(index, str(i), Selection(min_count=9))
            continue
        counts = tmp_path / "counts"
        counts.write_text(
            "".join(f"{phrase}\t{n}\n" for phrase, n in index.ngrams(shortest=1, longest=5))
        )
        SignatureTable.build(
            NgramCounts(counts, text_format="text"), tmp_path / "1", recipe=Recipe(),
            selection=Selection(min_count=9), keep_sums=True, memory=SMALL,
        )  # fmt: skip
    table = merge_tables([tmp_path / "2", tmp_path / "0"], tmp_path / "02", keep_sums=True)
    assert table.parameters["min_count"] == 9
    merge_tables([tmp_path / "02", tmp_path / "1"], tmp_path / "021", min_count=2, keep_sums=True)
    assert same_folders(tmp_path / "021", signed(whole, "kept", Selection(min_count=2)))


def test_a_phrase_rare_in_both_halves_is_found_in_the_whole(tmp_path):
    """`b` stands once in each half; so does `a b`, whose contexts only the halves know."""
    for name in ("x", "y"):
        signed(index_of(tmp_path, name, [["a", "b", "c"]]), f"t{name}", Selection(min_count=2))
        assert len(SignatureTable.open(tmp_path / f"t{name}")) == 0
    table = merge_tables([tmp_path / "tx", tmp_path / "ty"], tmp_path / "t")
    assert sorted(table.texts()) == ["a", "a b", "b", "b c", "c"]
    assert table.parameters["phrases_without_context"] == 1  # a b c
    assert table.strengths.tolist() == [2] * 5


def test_every_phrase_is_kept_with_its_sum(tmp_path, small_index):
    """The terms times the pool's vectors are the sums, for phrases of every count."""
    from distsim.signatures.projections.random_projections import gaussian_pool

    path = signed(small_index, "table", Selection(min_count=2))
    sums = KeptSums(storage.Artifact(path, storage.SIGNATURES))
    wanted = dict(small_index.ngrams(shortest=1, longest=4))
    assert len(sums) == len(wanted)
    batch = sums.read(0, len(sums))
    ends = np.cumsum(batch.text_lengths)
    texts = [
        batch.text[end - n : end].tobytes().decode()
        for end, n in zip(ends, batch.text_lengths, strict=True)
    ]
    assert dict(zip(texts, batch.strengths.tolist(), strict=True)) == wanted
    table = SignatureTable.open(path)
    pool = gaussian_pool(1, 256).astype(np.float64)
    for row, text in enumerate(table.texts()):
        i = texts.index(text)
        mine = slice(batch.contexts.starts[i], batch.contexts.starts[i + 1])
        total = sum(
            int(n) * pool[t : t + 256]
            for t, n in zip(batch.contexts.features[mine], batch.contexts.counts[mine], strict=True)
        )
        bits = np.packbits(total > 0, bitorder="little").view(np.uint64)
        assert np.array_equal(bits, table.bits[row])


@pytest.mark.parametrize("scheme", ["log", "ppmi", "llr", "log-llr"])
def test_weights_that_do_not_add_are_refused(small_index, tmp_path, scheme):
    with pytest.raises(ParameterError, match=rf"`weights` {scheme}: .* cannot be merged: use"):
        signed(small_index, "t", recipe=Recipe(weighting=Weighting(scheme)))
    with pytest.raises(ParameterError, match=r"`max_phrases`: .*: use `min_count`"):
        signed(small_index, "t", Selection(max_phrases=5))
    assert not (small_index.path.parent / "t").exists()


def test_what_cannot_be_merged_is_refused(tmp_path, small_index):
    a = signed(small_index, "a")
    plain = signed(small_index, "plain", keep_sums=False)
    with pytest.raises(
        ArtifactError, match=r"plain: the table was signed without its sums.*`keep_sums`"
    ):
        merge_tables([a, plain], tmp_path / "m")
    other = signed(small_index, "other", recipe=Recipe(n_bits=128))
    with pytest.raises(
        IncompatibleError, match=r"/a \(fing.*/other \(fing.*bits is 256 and 128; sign"
    ):
        merge_tables([a, other], tmp_path / "m")
    short = signed(small_index, "short", Selection(max_length=2))
    with pytest.raises(IncompatibleError, match=r"/a and .*/short .*`max_length` is 4 and 2; sign"):
        merge_tables([a, short], tmp_path / "m")
    rare = signed(small_index, "rare", Selection(min_count=2))
    with pytest.raises(IncompatibleError, match=r"/a and .*/rare .* 5 and 2: .*`min_count`"):
        merge_tables([a, rare], tmp_path / "m")
    running = signed(index_of(tmp_path, "running", [["x", "y"]] * 9, text_format="text"), "text")
    with pytest.raises(IncompatibleError, match=r"`text_format` is lines and text"):
        merge_tables([a, running], tmp_path / "m")
    with pytest.raises(ParameterError, match="at least two tables"):
        merge_tables([a], tmp_path / "m")
    with pytest.raises(ParameterError, match="a: the table is given twice: give it once"):
        merge_tables([a, tmp_path / "." / "a"], tmp_path / "m")
    ppmi = signed(small_index, "ppmi", recipe=Recipe(weighting=Weighting("ppmi")), keep_sums=False)
    with pytest.raises(IncompatibleError, match=r"weights.scheme is 'raw' and 'ppmi'; sign both"):
        merge_tables([a, ppmi], tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_merging_into_one_of_them(tmp_path):
    parts = [signed(index_of(tmp_path, f"part{i}", random_sentences(i)), f"t{i}") for i in range(2)]
    merge_tables(parts, tmp_path / "m")
    with pytest.raises(ArtifactError, match="t0: holds an artifact already: .*`force`"):
        merge_tables(parts, parts[0])
    merge_tables(parts, parts[0], force=True)
    assert same_folders(parts[0], tmp_path / "m")


def test_verify_reads_the_sums(tmp_path, small_index):
    assert find_faults(signed(small_index, "a")) == []


def test_damaged_sums_are_told(tmp_path, small_index):
    """A place beyond the pool, or starts that run backwards, never reach a kernel."""
    a = signed(small_index, "a")
    b = signed(index_of(tmp_path, "b", [["x", "y"]] * 3), "b")
    for name, value in (("sums/terms", 1 << 30), ("sums/starts", 1 << 40), ("sums/hashes", 0),
                        ("sums/text_ends", 0), ("sums/text_blocks", 1 << 50)):  # fmt: skip
        file = b / storage.Artifact(b).manifest["arrays"][name]["file"]
        before = file.read_bytes()
        values = np.frombuffer(before, storage.Artifact(b).array(name).dtype).copy()
        values[values.size // 2] = value
        file.write_bytes(values.tobytes())
        with pytest.raises(ArtifactError, match=r"/b: the kept sums are damaged: sign the table"):
            merge_tables([a, b], tmp_path / "m")
        file.write_bytes(before)
    merge_tables([a, b], tmp_path / "m")
