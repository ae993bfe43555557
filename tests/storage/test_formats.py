"""Artifacts of 0.2.0 (v1) and of today: read as they are, and written the same today."""

import hashlib
import itertools
import json
import re
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

from distsim import ArtifactError, CorpusIndex, SignatureTable, neighbours, similarity, storage
from distsim.comparison.measures import StoredCosine
from distsim.corpus.normaliser import Normaliser
from distsim.indexes.stored_documents import read_document
from distsim.output.verification import find_faults

V1 = Path(__file__).parents[1] / "data" / "formats" / "v1"
V4 = V1.parent / "v4"
V5 = V1.parent / "v5"
V6 = V1.parent / "v6"
COMMANDS = runpy.run_path(str(V1 / "make.py"))["COMMANDS"]
OF_V6 = runpy.run_path(str(V6 / "make_v6.py"))["COMMANDS"]
OF_V5 = runpy.run_path(str(V5 / "make_v5.py"))["COMMANDS"]
OF_V4 = runpy.run_path(str(V4 / "make_v4.py"))["COMMANDS"]
TABLES = ("thesis", "ppmi", "counts", "part", "merged", "syntax")
LEARNT = "projection"  # its numbers are the linear algebra library's: not the same everywhere


@pytest.mark.parametrize("name", ["index", "projection", *TABLES])
def test_artifacts_of_version_1_are_sound(name):
    artifact = storage.Artifact(V1 / name)
    assert artifact.manifest["version"] == 1
    assert find_faults(V1 / name) == []


def test_an_index_of_version_1_answers():
    index = CorpusIndex.open(V1 / "index")
    assert len(index.shards) == 2
    assert index.count(["the", "naïve .", "sees the", "zebra"]).tolist() == [116, 1, 12, 0]
    line = index.concordance("Öl und")[0]
    assert (line.source, line.line, line.left, line.right) == ("b.txt", 22, "", "中文 naïve .")
    assert dict(index.ngrams(shortest=1, longest=1))["the"] == 116


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_version_1_answer(name):
    table = SignatureTable.open(V1 / name)
    assert table.n_bits == 64 and len(table) > 10
    assert similarity(table, "king", "king") == 1.0
    found = neighbours(table, "king", k=3)
    assert len(found) == 3 and all(-1 <= one.similarity <= 1 for one in found)
    if name in ("counts", "syntax"):
        assert StoredCosine(table).similarity("king", "king") == pytest.approx(1.0)


def known(old: dict, new: dict) -> dict:
    """What a manifest of today says under the keys of an old one: keys may join."""
    return {
        key: known(value, new[key]) if isinstance(value, dict) else new[key]
        for key, value in old.items()
    }


def test_the_same_arrays_are_written_today(tmp_path, run, monkeypatch):
    for name, command in COMMANDS.items():
        run(*command.format(here=V1, out=tmp_path).split())
        made, kept = storage.Artifact(tmp_path / name), storage.Artifact(V1 / name)
        assert made.kind is kept.kind
        assert made.manifest["version"] == (3 if name == LEARNT else 1)
        if name == LEARNT:
            assert set(made.manifest["arrays"]) == set(kept.manifest["arrays"])
            continue
        arrays, parameters = kept.manifest["arrays"], kept.parameters
        arrays = {one: entry for one, entry in arrays.items() if not one.startswith("sums/")}
        parameters.pop("sums", None)  # of tables that could be merged
        assert made.manifest["arrays"] == arrays, name
        assert known(parameters, made.parameters) == parameters, name


def test_an_index_is_written_the_same_today(tmp_path, run):
    run(*OF_V4["index"].format(here=V4, out=tmp_path).split())
    made, kept = storage.Artifact(tmp_path / "index"), storage.Artifact(V4 / "index")
    assert made.manifest["arrays"] == kept.manifest["arrays"]
    assert known(kept.parameters, made.parameters) == kept.parameters


def test_an_index_with_text_and_documents_is_written_the_same_today(tmp_path, run, monkeypatch):
    as_then = Normaliser(fold_variants=None)  # variants of a sign were words of their own
    monkeypatch.setattr("distsim.corpus.normaliser.Normaliser", lambda **_: as_then)
    run(*OF_V5["index"].format(here=V5, out=tmp_path).split())
    made, kept = storage.Artifact(tmp_path / "index"), storage.Artifact(V5 / "index")
    assert made.manifest["version"] == kept.manifest["version"] == 2
    assert made.manifest["arrays"].keys() == kept.manifest["arrays"].keys()
    of_libraries = re.compile(r"documents|shard-\d/text(_frames)?")
    for name, entry in kept.manifest["arrays"].items():
        if not of_libraries.fullmatch(name):
            assert made.manifest["arrays"][name] == entry, name
    assert known(kept.parameters, made.parameters) == kept.parameters
    assert find_faults(V5 / "index") == []


def test_an_index_of_version_2_answers():
    index = CorpusIndex.open(V5 / "index")
    assert index.metadata.fields == {"year": "int", "day": "date", "to": "text", "pages": "float"}
    assert index.select(where=["year=1850..1851", "to=Anne"]).count("anne") == 1
    (line,) = index.concordance("never again")
    assert (line.left, line.right, line.document) == (
        "the train was late; “",
        "”, said Anne.",
        "second",
    )
    assert read_document(index, "first").text.endswith("The garden's  roses are out!")
    assert read_document(index, "4").text == "No more letters."


def test_an_index_without_near_duplicates_grows_without_repeats_alone(tmp_path, run):
    shutil.copytree(V1 / "index", tmp_path / "index")
    (tmp_path / "c.txt").write_text("a new line\nthe new line\na new line\n")
    run("index", "add", tmp_path / "index", tmp_path / "c.txt")
    index = CorpusIndex.open(tmp_path / "index")
    assert index.count("new line") == 2 and index.parameters["dedup"] == "exact"
    assert find_faults(index.path) == []


def test_composed_tables_are_written_the_same_today(tmp_path, run):
    for command in OF_V6.values():
        run(*command.format(here=V6, out=tmp_path).split())
    made, kept = storage.Artifact(tmp_path / "learned"), storage.Artifact(V6 / "learned")
    assert made.manifest["version"] == kept.manifest["version"] == 3
    assert made.manifest["arrays"] == kept.manifest["arrays"]
    assert known(kept.parameters, made.parameters) == kept.parameters
    made, kept = storage.Artifact(tmp_path / "projection"), storage.Artifact(V6 / "projection")
    assert made.manifest["version"] == 3 and made.parameters["unit"] == kept.parameters["unit"]
    assert {name: entry["dtype"] for name, entry in made.manifest["arrays"].items()} == {
        name: entry["dtype"] for name, entry in kept.manifest["arrays"].items()
    }
    assert find_faults(V6 / "learned") == find_faults(V6 / "projection") == []


def test_the_page_describes_words_vectors():
    table = SignatureTable.open(V6 / "learned")
    assert (table.n_bits, table.n_dimensions) == (64, 128)
    words = [text for text in table.texts() if " " not in text]
    page = by_the_page(V6 / "learned")
    parts = page["part_vectors"] * page["part_scales"].astype(float)[:, None]
    assert np.linalg.norm(parts, axis=1) == pytest.approx(np.ones(len(parts)), abs=1e-6)
    a, b = (parts[page["part_hashes"].tolist().index(hash_of(w.encode()))] for w in words[:2])
    assert similarity(table, *words[:2]) == pytest.approx(float(a @ b), abs=1e-3)
    assert len(neighbours(table, words[0], k=3)) == 3
    assert set(page["own_shares"][table.find(words)].tolist()) == {255}


def test_words_vectors_of_before_are_refused(tmp_path):
    shutil.copytree(V6 / "learned", tmp_path / "t")
    with storage.create(tmp_path / "old", storage.SIGNATURES) as writer:
        kept = storage.Artifact(V6 / "learned")
        for name in kept.manifest["arrays"]:
            if name != "part_scales":
                writer.add(name, kept.array(name))
        writer.parameters = dict(kept.parameters)
    with pytest.raises(ArtifactError, match="as an earlier distsim wrote them: sign again"):
        SignatureTable.open(tmp_path / "old")


def by_the_page(folder: Path) -> dict[str, np.ndarray]:
    """The arrays of an artifact, read as FORMAT.md says and by nothing of ours."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    assert (folder / "manifest.json").read_text(encoding="utf-8") == text
    content = {key: value for key, value in manifest.items() if key != "checksum"}
    compact = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert hashlib.blake2b(compact.encode(), digest_size=16).hexdigest() == manifest["checksum"]
    arrays = {}
    for name, entry in manifest["arrays"].items():
        data = (folder / entry["file"]).read_bytes()
        checksum = hashlib.blake2b(data, digest_size=16).hexdigest()
        assert (checksum, len(data)) == (entry["checksum"], entry["size"])
        assert entry["file"] == f"{name.replace('/', '-')}.{checksum[:12]}.bin"
        arrays[name] = np.frombuffer(data, entry["dtype"]).reshape(entry["shape"])
    return arrays


def hash_of(text: bytes) -> int:
    low = 2**64 - 1
    h = 0x6C62272E07BB0142
    for byte in text:
        h = (h ^ byte) * 0x9E3779B97F4A7C15 & low
        h ^= h >> 32
    h = h * 0xD6E8FEB86659FD93 & low
    return h ^ h >> 32


def test_the_page_describes_a_table():
    table = by_the_page(V1 / "thesis")
    begin = 0
    for row, short_end in enumerate(table["text_ends"].tolist()):
        end = int(table["text_blocks"][row // 64]) + short_end
        assert hash_of(table["text"][begin:end].tobytes()) == table["hashes"][row]
        begin = end
    assert begin == table["text"].size
    assert np.all(np.diff(table["hashes"].astype(object)) > 0)
    opened = SignatureTable.open(V1 / "thesis")
    rows = opened.find(["king", "queen"])
    bits = np.unpackbits(table["bits"][rows].view(np.uint8), axis=1, bitorder="little")
    alike = float(np.cos(np.pi * np.mean(bits[0] != bits[1])))
    assert similarity(opened, "king", "queen") == pytest.approx(alike)


def test_the_page_describes_an_index():
    index = by_the_page(V1 / "index")
    offsets, text = index["vocabulary/offsets"].astype(int), index["vocabulary/text"].tobytes()
    words = [text[a:b] for a, b in itertools.pairwise(offsets)]
    assert words[0] == b"" and words[1] == b"the"
    for number, word_hash in zip(
        index["vocabulary/hash_ids"], index["vocabulary/hashes"], strict=True
    ):
        assert hash_of(words[number]) == word_hash
    names = json.loads(index["sources"].tobytes())
    lines = {name: (V1 / name).read_text(encoding="utf-8").split("\n") for name in names}
    for shard in ("shard-0", "shard-1"):
        tokens = index[f"{shard}/tokens"].tolist()
        suffixes = index[f"{shard}/suffixes"].tolist()
        assert suffixes == sorted(range(len(tokens)), key=lambda at: tokens[at:])
        starts = index[f"{shard}/sentence_starts"].tolist()
        sources = index[f"{shard}/source_starts"]
        for sentence, (start, line) in enumerate(
            zip(starts, index[f"{shard}/sentence_lines"].tolist(), strict=True)
        ):
            stop = tokens.index(0, start)
            name = names[index[f"{shard}/source_numbers"][(sources <= sentence).sum() - 1]]
            found = b" ".join(words[token] for token in tokens[start:stop]).decode()
            assert found == lines[name][line - 1].lower()
        firsts = index[f"{shard}/word_starts"].tolist()
        for word, (low, high) in enumerate(itertools.pairwise(firsts)):
            assert {tokens[at] for at in suffixes[low:high]} <= {word}
