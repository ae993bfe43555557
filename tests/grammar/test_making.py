"""`distsim make-grammar`: the whole road in small; gone on with after a stop; what it refuses."""

import json
import os
import random
import shutil

import numpy as np
import pytest

from distsim.bitext.bitext import Bitext
from distsim.corpus.lines import read_line_blocks
from distsim.grammar import pipeline as making
from distsim.grammar.extraction.numeric import NumericRules
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.grammar.pair_features import rule_order

PAIRS = [
    ("alice", "alice"), ("the queen", "die königin"), ("the king", "der könig"),
    ("said", "sagte"), ("replied", "sagte"), ("looked", "sah"), ("thought", "dachte"),
    ("a little", "ein wenig"), ("a bit", "ein wenig"),
]  # fmt: skip


@pytest.fixture
def texts(tmp_path):
    draw = random.Random(3)
    rows = [[draw.choice(PAIRS) for _ in range(draw.randint(2, 5))] for _ in range(150)]
    for name, column in (("en", 0), ("de", 1)):
        lines = (" ".join(pair[column] for pair in row) + "\n" for row in rows)
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    return tmp_path / "en", tmp_path / "de"


def make(run, texts, index, folder, *more, status=0):
    return run(
        "make-grammar", "--bitext", *texts, "--index", index, "-o", folder, *more, status=status
    )


def test_the_whole_road_and_again(texts, alice_index, tmp_path, run):
    path = alice_index.path
    left = tmp_path / "grammar" / ".steps.json.1.unfinished"  # of a run killed at its first step
    left.parent.mkdir()
    left.write_text("half")
    out, told = make(run, texts, path, tmp_path / "grammar")
    assert not left.exists()
    assert (
        "150 sentence pairs of 1 bitext" in out and "best of content, in the order of packs" in out
    )
    assert (tmp_path / "grammar" / "report.txt").read_text() == out
    index = GrammarIndex.open(tmp_path / "grammar" / "packs")
    order = rule_order()
    columns = [index.feature(name) for name in order.names]
    np.testing.assert_allclose(index.costs, -order.values(order.names, np.column_stack(columns)))
    costs = [float(line.split()[0]) for line in out.splitlines() if " -> " in line]
    best = out.split("in each rule:\n")[1].split(" drawn at random")[0].splitlines()[:-1]
    sides = [[set(side.split()) for side in line.split(None, 2)[2].split(" -> ")] for line in best]
    changes = [frozenset({frozenset(a - b), frozenset(b - a)}) for a, b in sides]
    assert 0 < len(changes) == len(set(changes)) and all(map(all, changes))
    assert costs[: len(best)] == sorted(costs[: len(best)]) and costs[0] >= index.costs.min() - 1e-3
    found = index.rules("replied")
    assert "said" in [rule.target for rule in found]
    assert any("sim_ngram" in rule.features for rule in found)
    before = {p: p.read_bytes() for p in (tmp_path / "grammar").glob("*.gz")}
    again, told = make(run, texts, path, tmp_path / "grammar")
    assert again == out and told.count("is there already") == 5
    made = tmp_path / "grammar" / "bitext-1"
    both, told = run(
        "make-grammar", "--bitext", made, "--bitext", *texts, "--index", path, "-o",
        tmp_path / "two", "-j", "1",
    )  # fmt: skip
    assert "300 sentence pairs of 2 bitexts" in both
    assert {p: p.read_bytes() for p in (tmp_path / "grammar").glob("*.gz")} == before
    assert run("verify", tmp_path / "grammar")[0] == f"{tmp_path / 'grammar'}\tsound\n"
    names = [
        *json.loads((tmp_path / "grammar" / "steps.json").read_text()),
        "packs/xxxl-lexical.gz",
    ]
    for name in names:
        file = tmp_path / "grammar" / name
        file = next(file.rglob("*.bin")) if file.is_dir() else file
        whole = file.read_bytes()
        file.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
        assert f"{file} is damaged" in run("verify", tmp_path / "grammar", status=1)[1]
        file.write_bytes(whole)


def test_paraphrases_of_the_other_side_over_english(texts, alice_index, tmp_path, run):
    folder = tmp_path / "g"
    with texts[0].open("a") as en, texts[1].open("a") as de:
        en.write("said\n" * 9)
        de.write("sprach\n" * 9)
    make(run, texts, alice_index.path, folder, "--language", "de")
    index = GrammarIndex.open(folder / "packs")
    found = {rule.target: rule.pair_kind for rule in index.rules("sagte")}
    assert found["sprach"] == "content" and "said" not in found
    assert making.MakeOptions(language="de").packing.inflections == "german"
    assert making.MakeOptions(language="fi").packing.inflections == "none"


def test_no_link_in_the_folder_is_followed(texts, alice_index, tmp_path, run):
    victim, folder = tmp_path / "victim", tmp_path / "g"
    victim.write_text("mine")
    make(run, texts, alice_index.path, folder)
    before = {file.name: file.read_bytes() for file in folder.glob("*.*")}
    for name in ("steps.json", "report.txt", "paraphrases.gz", "scored.gz"):
        (folder / name).unlink()
        (folder / name).symlink_to(victim)
        make(run, texts, alice_index.path, folder)
        assert victim.read_text() == "mine"
    assert {file.name: file.read_bytes() for file in folder.glob("*.*")} == before


def test_trees_of_texts_label_the_rules(texts, alice_index, tmp_path, run):
    path = alice_index.path
    lines = texts[0].read_text().splitlines()
    tree = tmp_path / "trees"
    tree.write_text("".join(f"(S {' '.join(f'(N {w})' for w in one.split())})\n" for one in lines))
    out, _ = make(run, texts, path, tmp_path / "g", "--trees", tree, "--set", "preset=ppdb")
    assert "150 sentence pairs, " in out and " links, 150 trees" in out
    labels = {rule.label for rule in GrammarIndex.open(tmp_path / "g" / "packs").rules("replied")}
    assert labels == {"N"}
    tree.write_text(tree.read_text().replace("(N said)", "(V said)").replace("replied", "answered"))
    _, told = make(run, texts, path, tmp_path / "g", "--trees", tree, "--set", "preset=ppdb")
    assert told.count("is there already") == 0
    _, err = make(run, texts, path, tmp_path / "h", "--trees", tree, "--trees", tree, status=2)
    assert "give one for each pair of texts" in err
    with pytest.raises(ValueError, match=r"give \(English, other\) or \(English, other, trees\)"):
        making.make_grammar([(texts[0],)], path, tmp_path / "h")


def test_texts_whose_names_are_no_utf8(texts, alice_index, tmp_path, run):
    odd = tmp_path / os.fsdecode(b"\xff")
    odd.mkdir()
    moved = [one.rename(odd / one.name) for one in texts]
    make(run, moved, alice_index.path, odd / "grammar")
    _, told = make(run, moved, alice_index.path, odd / "grammar")
    assert told.count("is there already") == 5


def test_loose_edges_and_surer_links_are_asked_for(texts, alice_index, tmp_path, run):
    make(
        run,
        texts,
        alice_index.path,
        tmp_path / "g",
        "--set",
        "loose=true",
        "--set",
        "aligner.symmetrisation=intersection",
    )
    links = Bitext.open(tmp_path / "g" / "bitext-1").parameters["links"]
    options = NumericRules(tmp_path / "g" / "rules").artifact.parameters["options"]
    assert links["symmetrisation"] == "intersection"
    assert options["loose"] and options["longest"] == 5


def test_a_stop_in_the_middle_is_gone_on_with(texts, alice_index, tmp_path, run, monkeypatch):
    path = alice_index.path
    make(run, texts, path, tmp_path / "whole")

    class StopError(Exception):
        pass

    def stop(*given, **named):
        raise StopError

    monkeypatch.setattr(making, "pivot_rules", stop)
    with pytest.raises(StopError):  # texts are read as the command reads them
        making.make_grammar([texts], path, tmp_path / "grammar")
    done = json.loads((tmp_path / "grammar" / "steps.json").read_text())
    assert sorted(done) == ["bitext-1", "rules"]
    monkeypatch.undo()
    _, told = make(run, texts, path, tmp_path / "grammar")
    assert told.count("is there already") == 2
    for name in ("scored.gz", "packs/xxxl-lexical.gz", "packs/packs.json"):
        one, two = (tmp_path / folder / name for folder in ("whole", "grammar"))
        assert one.read_bytes() == two.read_bytes()


def test_a_refused_run_leaves_nothing_that_passes_for_done(texts, alice_index, tmp_path, run):
    path, folder = alice_index.path, tmp_path / "grammar"
    out, _ = make(run, texts, path, folder)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    _, err = make(run, texts, path, folder, "--set", "min_sum=1", status=1)
    assert "min_sum 1: none of " in err and "choose a smaller one" in err
    assert not (folder / "paraphrases.gz").exists()
    again, told = make(run, texts, path, folder)
    assert again == out and told.count("is there already") == 4
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_outputs_that_are_not_as_they_were_written_are_made_again(
    texts, alice_index, tmp_path, run
):
    path, folder = alice_index.path, tmp_path / "grammar"
    make(run, texts, path, folder)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    arrays = max((folder / "rules").glob("*.bin"), key=lambda file: file.stat().st_size)
    flipped, emptied, removed = (lambda x: x[:-1] + bytes([x[-1] ^ 1]), lambda x: b"", None)
    for file, change, kept in (
        (folder / "paraphrases.gz", removed, 4), (folder / "scored.gz", flipped, 4),
        (arrays, flipped, 4), (folder / "packs" / "xxxl-lexical.gz", removed, 4),
        (folder / "steps.json", emptied, 0),
    ):  # fmt: skip
        file.unlink() if change is None else file.write_bytes(change(file.read_bytes()))
        _, told = make(run, texts, path, folder)
        assert told.count("is there already") == kept
        assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    (folder / "rules" / "manifest.json").write_text("{")
    _, err = make(run, texts, path, folder, status=1)
    assert "rules/manifest.json: is damaged: restore the file, or remove the folder" in err
    shutil.rmtree(folder / "rules")
    make(run, texts, path, folder)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    steps = folder / "steps.json"
    for odd in ("[1]", '{"rules": 3, "packs": {"key": 1}}'):
        steps.write_text(odd)
        make(run, texts, path, folder)
        assert steps.read_bytes() == before[steps]


def test_a_kill_between_an_output_and_its_note(texts, alice_index, tmp_path, run, monkeypatch):
    path, folder = alice_index.path, tmp_path / "grammar"
    make(run, texts, path, tmp_path / "whole", "--set", "max_translations=2")
    make(run, texts, path, folder)

    class KilledError(BaseException):
        pass

    def killed(given, output, *more, **named):
        output.write_bytes(b"half")
        raise KilledError

    monkeypatch.setattr(making, "score_grammar", killed)
    with pytest.raises(KilledError):
        making.make_grammar([texts], path, folder, options=making.MakeOptions(max_translations=2))
    assert sorted(json.loads((folder / "steps.json").read_text())) == [
        "bitext-1", "packs", "paraphrases.gz", "rules",
    ]  # fmt: skip
    monkeypatch.undo()
    make(run, texts, path, folder, "--set", "max_translations=2")
    for name in ("scored.gz", "packs/xxxl-lexical.gz", "packs/packs.json", "steps.json"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_zstd_holds_the_same_rules(texts, alice_index, tmp_path, run):
    folder, packed = tmp_path / "gz", tmp_path / "zst"
    make(run, texts, alice_index.path, folder)
    make(run, texts, alice_index.path, packed, "--set", "compression=zst")
    names = [path.relative_to(folder).with_suffix("") for path in sorted(folder.rglob("*.gz"))]
    assert len(names) == 8
    for name in names:
        one, two = (
            b"".join(block.text for block in read_line_blocks(place / f"{name}.{suffix}"))
            for place, suffix in ((folder, "gz"), (packed, "zst"))
        )
        assert one == two and one
    assert not list(packed.rglob("*.gz"))
    assert run("verify", packed / "packs")[0].endswith("sound\n")
    broken = packed / "packs" / "xxxl-lexical.zst"
    broken.write_bytes(broken.read_bytes()[:-5])
    assert "xxxl-lexical.zst" in run("verify", packed / "packs", status=1)[1]


def test_texts_are_known_by_what_they_hold(texts, alice_index, tmp_path, run):
    path, folder = alice_index.path, tmp_path / "grammar"
    make(run, texts, path, folder)
    (tmp_path / "moved").mkdir()
    moved = [text.rename(tmp_path / "moved" / text.name) for text in texts]
    _, told = make(run, moved, path, folder)
    assert told.count("is there already") == 5
    state = moved[1].stat()
    moved[1].write_text(moved[1].read_text().replace("sah", "hat"))
    os.utime(moved[1], ns=(state.st_atime_ns, state.st_mtime_ns))
    _, told = make(run, moved, path, folder)
    assert "bitext-1: running" in told and "rules: running" in told


def test_what_is_refused(texts, alice_index, tmp_path, run):
    path = alice_index.path
    _, err = make(run, texts[:1], path, tmp_path / "grammar", status=2)
    assert "give its translation too" in err
    _, err = make(run, (texts[0], tmp_path / "none"), path, tmp_path / "grammar", status=1)
    assert "none: no such file" in err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    _, err = make(run, texts, path, tmp_path / "mine", status=1)
    assert "is no folder of a grammar" in err
    _, err = make(run, texts, tmp_path, tmp_path / "grammar", status=1)
    assert "manifest.json" in err
    for tree, message in (
        (tmp_path, "is a folder, wanted a file"), ("", "an empty text, wanted a path"),
        ("none", "no such file"),
    ):  # fmt: skip
        _, err = make(
            run,
            texts,
            path,
            tmp_path / "grammar",
            "--set",
            "preset=ppdb",
            "--trees",
            tree,
            status=1,
        )
        assert message in err and ": running" not in err
    for option, value, message in (
        ("--set", "seed=-1", "seed: is -1, choose 0 or more"),
        ("--set", "sizes=Q", "sizes 'Q': choose"),
        ("--language", "German", "'German': give two or three letters"),
        ("--set", "min_sum=2", "min_sum 2.0: choose 0 to 1"),
        ("--set", "max_translations=-1", "max_translations -1: choose 0 or more"),
    ):  # fmt: skip
        _, err = make(run, texts, path, tmp_path / "grammar", option, value, status=1)
        assert message in err and ": running" not in err
    with pytest.raises(ValueError, match="choose one of phrases"):
        making.MakeOptions(preset="best")
