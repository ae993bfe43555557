"""Packs: sizes and types, what the index gives back, what is refused."""

import gzip
import json
import math
import os
import random
import shutil

import numpy as np
import pytest

from distsim import storage
from distsim.base.errors import ArtifactError, InputError, ParameterError
from distsim.corpus.inflections import Inflections
from distsim.corpus.lines import read_line_blocks
from distsim.grammar.formats.grammar_format import Features
from distsim.grammar.kernels.packs import new_names
from distsim.grammar.packs import pack
from distsim.grammar.packs.columns import SIZES, TYPES, decode, encode
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.grammar.packs.pack import PackOptions, pack_grammar
from distsim.grammar.pair_features import pair_kind, rule_order
from distsim.grammar.rerank import PPDB_COST
from distsim.kernels.compiled import frozen
from distsim.output import find_faults

NAMES = ("RarityPenalty", "p(LHS|e)", "p(LHS|f)", "p(e|f)", "p(e|f,LHS)", "p(f|e)", "p(f|e,LHS)")


def ppdb_cost(features):
    return sum(weight * features.number(name) for name, weight in PPDB_COST.items())


def drawn_grammar(path, n=400, seed=1):
    draw = random.Random(seed)
    lines, seen = [], set()
    while len(lines) < n:
        gap = draw.random() < 0.3
        source, target = (
            " ".join([draw.choice("abcdefé") for _ in range(draw.randint(1, 2))] + ["[NP,1]"] * gap)
            for _ in range(2)
        )
        label = draw.choice(("[NP]", "[VP/NP]"))
        if (label, source, target) in seen:
            continue
        seen.add((label, source, target))
        features = [f"{name}={draw.random() * 9:.5f}" for name in NAMES]
        if draw.random() < 0.5:
            features.append(f"sim_ngram={draw.random():.6f}")
        else:
            features.append("sim_ngram=NA")
        lines.append(f"{label} ||| {source} ||| {target} ||| {' '.join(features)} ||| 0-0\n")
    path.write_text("".join(lines), encoding="utf-8")
    return lines


def kind_of(line):
    source, target = (side.split() for side in line.split(" ||| ")[1:3])
    if source[-1] == "[NP,1]":
        return "syntactic"
    return {
        (True, True): "lexical",
        (True, False): "one-to-many",
        (False, True): "many-to-one",
    }.get((len(source) == 1, len(target) == 1), "phrasal")


def cost_of(line):
    """The learned order, by hand: a feature that is not there adds nothing."""
    named = dict(one.split("=") for one in line.split(" ||| ")[3].split())
    total = 0.0
    for name, one in rule_order().weights.items():
        feature = name.removeprefix("ln ")
        if named.get(feature, "NA") != "NA":
            value = float(named[feature])
            if name != feature:
                value = math.log(value) if value > 0 else -math.inf
            held = min(max(value, one.low), one.high)
            total -= one.weight * (held - one.mean) / one.scale
    return total


def with_kind(line):
    """The line as packs have it."""
    fields = line.split(" ||| ")
    kind = pair_kind(fields[1].split(), fields[2].split(), Inflections.open())
    fields[3] += f" Kind={kind}"
    return " ||| ".join(fields)


def test_each_size_is_the_better_half_of_the_next(tmp_path):
    lines = drawn_grammar(tmp_path / "grammar")
    report = pack_grammar(tmp_path / "grammar", tmp_path / "packs", jobs=2)
    for kind in TYPES:
        ordered = sorted((line for line in lines if kind_of(line) == kind), key=cost_of)
        ordered = [with_kind(line) for line in ordered]
        assert ordered
        for number, size in enumerate(SIZES):
            n = math.ceil(len(ordered) / 2 ** (len(SIZES) - 1 - number))
            text = gzip.decompress((tmp_path / "packs" / f"{size.lower()}-{kind}.gz").read_bytes())
            assert text.decode().splitlines(keepends=True) == ordered[:n]
            assert report.rules[size][kind] == n
    manifest = json.loads((tmp_path / "packs" / "packs.json").read_text())
    assert manifest["from"] == {"grammar": "grammar", "rules": 400}
    assert manifest["files"]["xxxl-phrasal.gz"] > 0


@pytest.mark.parametrize("name", ["p(e|f)", "p(f|e)"])
def test_one_probability_orders_where_the_other_is_not_there(tmp_path, name):
    rules = [f"[X] ||| a ||| {letter} ||| {name}={cost} RarityPenalty=1 |||\n"
             for letter, cost in zip("bcde", (3, 1, 0.5, 2), strict=True)]  # fmt: skip
    (tmp_path / "grammar").write_text("".join(rules))
    pack_grammar(tmp_path / "grammar", tmp_path / "packs")
    assert [rule.target for rule in GrammarIndex.open(tmp_path / "packs").rules("a")] == list(
        "dceb"
    )
    manifest = json.loads((tmp_path / "packs" / "packs.json").read_text())
    assert manifest["order"]["weights"][name] > 0 and manifest["order"]["best"] == "smallest"
    assert manifest["order"]["learned"] == list(rule_order().notes)


@pytest.mark.parametrize(
    "written", ["do n't know", "don 't know", "don &apos;t know", "don't know"]
)
@pytest.mark.parametrize("typed", ["do n't", "don 't", "don &apos;t", "don’t", "don't"])
def test_a_source_side_is_found_however_its_apostrophe_is_written(tmp_path, written, typed):
    rule = f"[X] ||| {written} [X,1] ||| ignore [X,1] ||| p(e|f)=1 |||\n"
    (tmp_path / "grammar").write_text(rule)
    pack_grammar(tmp_path / "grammar", tmp_path / "packs")
    index = GrammarIndex.open(tmp_path / "packs")
    asked = f"{typed} know [X,1]"
    assert [one.source for one in index.rules(asked)] == [f"{written} [X,1]"]
    assert index.count(asked) == 1 and index.count(f"{typed} care") == 0


def test_verify_finds_labels_that_an_index_does_not_name(tmp_path):
    (tmp_path / "grammar").write_text("[X] ||| a ||| b ||| p(e|f)=1 |||\n")
    pack_grammar(tmp_path / "grammar", tmp_path / "packs")
    index = tmp_path / "packs" / "index"
    assert find_faults(index) == []
    with storage.change(index, storage.GRAMMAR) as writer:
        writer.add("rules/label", np.array([7], np.uint16))
    assert find_faults(index) == ["rules/label has the value 7, wanted less than 1"]
    with pytest.raises(ArtifactError, match="its arrays contradict each other .rules/label has"):
        GrammarIndex.open(index).arrays()


def test_opposed_rules_are_last(tmp_path):
    features = {"likes": "p(e|f)=1 sim_rule=0.8", "nones": "p(e|f)=1",
                "unlike": "p(e|f)=1 sim_rule=0.1", "opposed": "p(e|f)=1 sim_rule=0.0009",
                "likely": "p(e|f)=0.1 sim_rule=0"}  # fmt: skip
    rules = [f"[X] ||| a ||| {name} ||| {text} |||\n" for name, text in features.items()]
    (tmp_path / "grammar").write_text("".join(rules))
    pack_grammar(tmp_path / "grammar", tmp_path / "packs")
    found = GrammarIndex.open(tmp_path / "packs").rules("a")
    assert [rule.target for rule in found] == ["likes", "nones", "unlike", "opposed", "likely"]


def test_similarity_and_probability_are_weighed_in_the_default_order(tmp_path):
    """By p(e|f) times the root of p(f|e) times sim_rule, whichever of them is written."""
    chances = {"a": (0.5, 0.01, 0.2), "b": (0.1, 0.04, 0.9), "c": (0.3, 0.09, 0.4),
               "d": (0.2, 0.25, 0.02)}  # fmt: skip
    rules = [
        f"[X] ||| x ||| {word} ||| p(e|f)={-math.log(e):.6f} p(f|e)={-math.log(f):.6f} "
        f"sim_rule={similarity} |||\n"
        for word, (e, f, similarity) in chances.items()
    ]
    (tmp_path / "grammar").write_text("".join(rules))
    pack_grammar(tmp_path / "grammar", tmp_path / "packs")
    found = GrammarIndex.open(tmp_path / "packs").rules("x")
    wanted = sorted(chances, key=lambda w: -chances[w][0] * chances[w][1] ** 0.5 * chances[w][2])
    assert [rule.target for rule in found] == wanted == ["c", "b", "a", "d"]


def test_rules_without_a_probability_are_refused(tmp_path, run):
    grammar, packs = tmp_path / "grammar", tmp_path / "packs"
    grammar.write_text("[X] ||| a ||| b ||| p(e|f)=NA p(e|f,LHS)=1 RarityPenalty=1 |||\n" * 3)
    _, err = run("pack", grammar, "-o", packs, status=1)
    assert "line 1: has neither p(e|f) nor p(f|e) to be ordered by: give --weight" in err
    assert not packs.exists()
    run("pack", grammar, "-o", packs, "-w", "RarityPenalty=-1")
    one, both = (
        "[X] ||| a ||| b ||| p(e|f)=1 |||\n",
        "[X] ||| a ||| c ||| p(e|f)=2 p(f|e)=1 |||\n",
    )
    grammar.write_text(both + one)
    run("pack", grammar, "-o", packs)
    # a probability that is not there counts as an average one, which p(f|e)=1 is above
    assert [rule.target for rule in GrammarIndex.open(packs).rules("a")] == ["c", "b"]


def test_kinds_are_marked_and_can_be_left_out(tmp_path, run):
    """Rules of other kinds are not in the packs; a marked grammar is marked once."""
    grammar, packs = tmp_path / "grammar", tmp_path / "packs"
    pairs = {"town": "content", "the city": "function", "cities": "inflection"}
    grammar.write_text("".join(f"[X] ||| city ||| {one} ||| p(e|f)=1 |||\n" for one in pairs))
    run("pack", grammar, "-o", packs)
    found = GrammarIndex.open(packs).rules("city")
    assert {rule.target: rule.pair_kind for rule in found} == pairs
    assert not any("Kind" in rule.features for rule in found)
    out, _ = run("rules", packs, "city")
    assert sorted(line.split("\t")[-1] for line in out.splitlines()) == sorted(pairs.values())
    text = b"".join(gzip.decompress(one.read_bytes()) for one in packs.glob("xxxl-*.gz"))
    (tmp_path / "again").write_bytes(text)
    assert text.count(b" Kind=") == 3 and b"||| p(e|f)=1 Kind=content |||" in text
    kinds = ("--kinds", "content", "--kinds", "function")
    _, err = run("pack", tmp_path / "again", "-o", packs, *kinds)
    assert "1 content, 1 inflection, 1 function" in err
    text = b"".join(gzip.decompress(one.read_bytes()) for one in packs.glob("xxxl-*.gz"))
    assert text.count(b" Kind=") == 2 and b"inflection" not in text
    assert len(GrammarIndex.open(packs)) == 2
    _, err = run("pack", grammar, "-o", packs, "--kinds", "noun", status=2)
    assert "content" in err and "inflection" in err and "function" in err
    # A missing probability adds nothing, as if it were average.


def test_the_order_of_ppdb_can_be_asked_for(tmp_path):
    lines = drawn_grammar(tmp_path / "grammar")
    pack_grammar(
        tmp_path / "grammar", tmp_path / "packs", options=PackOptions(PPDB_COST, sizes=("XXXL",))
    )
    written = gzip.decompress((tmp_path / "packs" / "xxxl-lexical.gz").read_bytes()).decode()
    lexical = [line for line in lines if kind_of(line) == "lexical"]
    ordered = sorted(
        lexical, key=lambda line: ppdb_cost(Features.parse(line.split(" ||| ")[3].encode()))
    )
    assert written.splitlines(keepends=True) == [with_kind(line) for line in ordered]


def test_the_index_gives_back_every_rule(tmp_path):
    lines = drawn_grammar(tmp_path / "grammar")
    pack_grammar(tmp_path / "grammar", tmp_path / "packs", options=PackOptions(sizes=()))
    index = GrammarIndex.open(tmp_path / "packs")
    assert len(index) == 400 and index.rules("nothing of this") == []
    for source in {line.split(" ||| ")[1] for line in lines}:
        ordered = sorted((x for x in lines if x.split(" ||| ")[1] == source), key=cost_of)
        found = index.rules(f" {source} ")
        assert [f"[{r.label}] ||| {r.source} ||| {r.target}" for r in found] == [
            " ||| ".join(line.split(" ||| ")[:3]) for line in ordered
        ]
        for rule, line in zip(found, ordered, strict=True):
            written = Features.parse(line.split(" ||| ")[3].encode()).named
            wanted = {k.decode(): float(v) for k, v in written.items() if v != b"NA"}
            assert rule.features == pytest.approx(wanted, abs=1e-12)
            assert rule.links == [(0, 0)] and rule.kind == kind_of(line)
            assert rule.cost == pytest.approx(cost_of(line))
    source = lines[0].split(" ||| ")[1]
    with pytest.raises(ParameterError, match="a phrase is not valid Unicode"):
        index.rules("\udcff")
    small = index.rules(source, size="L")
    assert small == [r for r in index.rules(source) if r.size in ("S", "M", "L")]
    assert (
        index.rules(source, label="NP", k=1)
        == [r for r in index.rules(source) if r.label == "NP"][:1]
    )
    assert index.rules(source, label="[NP]") == index.rules(source, label="NP")


def test_changed_bytes_are_told_or_answered(tmp_path):
    draw = random.Random(4)
    lines = drawn_grammar(tmp_path / "grammar", n=60)
    pack_grammar(tmp_path / "grammar", tmp_path / "packs", options=PackOptions(sizes=()))
    sources = sorted({line.split(" ||| ")[1] for line in lines})[:5]
    refused = 0
    for file in sorted((tmp_path / "packs" / "index").glob("*.bin")):
        whole = file.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 12)):
            changed = bytearray(whole)
            changed[at] ^= draw.randrange(1, 256)
            file.write_bytes(changed)
            try:
                index = GrammarIndex.open(tmp_path / "packs")
                for source in sources:
                    index.rules(source, label="X")
                    index.rules(source)
                index.arrays()
            except ArtifactError as error:
                assert "restore it or" in str(error) or "damaged" in str(error)
                refused += 1
        file.write_bytes(whole)
    assert refused > 30


def test_verify_checks_all_packs_of_a_folder(tmp_path, run):
    drawn_grammar(tmp_path / "grammar", n=60)
    packs = tmp_path / "packs"
    pack_grammar(tmp_path / "grammar", packs, options=PackOptions(sizes=("S", "XXXL")))
    assert run("verify", packs)[0] == f"{packs}\tsound\n"
    for file in sorted(packs.rglob("*.*")):
        whole = file.read_bytes()
        for changed in (whole[: len(whole) // 2], b"", None):
            file.unlink()
            if changed is not None:
                file.write_bytes(changed)
            if changed != whole and (file.name, changed) != ("packs.json", None):
                assert file.name in run("verify", packs, status=1)[1], (file, changed)
            file.write_bytes(whole)
        if file.suffix in (".gz", ".bin") and whole:
            at = -len(whole) // 2
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at:][1:])
            assert file.name in run("verify", packs, status=1)[1], file
            file.write_bytes(whole)
    fewer = gzip.decompress((packs / "xxxl-lexical.gz").read_bytes()).split(b"\n", 1)[1]
    (packs / "xxxl-lexical.gz").write_bytes(gzip.compress(fewer))
    listed = json.loads((packs / "packs.json").read_text())
    listed["files"]["xxxl-lexical.gz"] = (packs / "xxxl-lexical.gz").stat().st_size
    (packs / "packs.json").write_text(json.dumps(listed))
    assert "rules, which is not the number in packs.json" in run("verify", packs, status=1)[1]
    assert run("verify", packs / "index")[0] == f"{packs / 'index'}\tsound\n"


def test_packs_are_replaced_in_one_step_and_nothing_of_others_with_them(tmp_path, monkeypatch):
    grammar, packs = tmp_path / "grammar", tmp_path / "packs"
    drawn_grammar(grammar)
    pack_grammar(grammar, packs, options=PackOptions(sizes=("S",)))
    old = {path.name for path in packs.iterdir()}
    for mine in (packs / "notes.txt", packs / "index" / "mine.bin"):
        mine.write_text("mine")
        with pytest.raises(InputError, match=f"{mine.name}: is no file of the packs there, .* mov"):
            pack_grammar(grammar, packs, options=PackOptions(sizes=("L",)))
        assert mine.read_text() == "mine"
        mine.unlink()

    def killed(one, other):
        assert one.name == ".packs.unfinished" and (one / "packs.json").exists()
        assert {path.name for path in other.iterdir()} == old  # until the very last step
        raise KeyboardInterrupt

    monkeypatch.setattr("distsim.grammar.packs.pack.exchange", killed)
    with pytest.raises(KeyboardInterrupt):
        pack_grammar(grammar, packs, options=PackOptions(sizes=("L",)))
    monkeypatch.undo()
    assert {path.name for path in packs.iterdir()} == old
    pack_grammar(grammar, packs, options=PackOptions(sizes=("L",)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grammar", "packs"]
    assert not old & {path.name for path in packs.glob("*.gz")}
    mine = tmp_path / ".packs.unfinished" / "mine"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(
        InputError, match="contains files that distsim did not write: move them away"
    ):
        pack_grammar(grammar, packs)
    assert mine.read_text() == "mine"


def test_what_a_killed_run_left_is_removed(tmp_path):
    grammar, packs = tmp_path / "grammar", tmp_path / "packs"
    drawn_grammar(grammar)
    pack_grammar(grammar, packs)
    left = tmp_path / ".packs.unfinished"
    shutil.copytree(packs, left)
    (left / "spool").mkdir()
    (left / ".xxxl-one-to-many.gz.7.unfinished").write_text("half")
    shutil.rmtree(packs)
    pack_grammar(grammar, packs)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grammar", "packs"]


def test_columns_keep_their_values():
    draw = np.random.default_rng(2)
    for values in (
        np.array([1.0, 0.0, np.nan, 1.0]),
        np.arange(300) / 7.0,
        np.round(draw.random(70_000) * 20000, 5),
        draw.random(70_000),
    ):
        coded = encode(values)
        np.testing.assert_array_equal(decode(coded.codes, coded.table), values)


def test_a_feature_in_one_byte_is_the_mean_of_its_part():
    draw = np.random.default_rng(3)
    values = np.round(draw.exponential(size=5000), 5)
    values[draw.random(5000) < 0.1] = np.nan
    values[:700] = 2.5  # of more than a part's share: exact
    coded = encode(values, in_one_byte=True)
    found = decode(coded.codes, coded.table)
    assert coded.codes.dtype == np.uint8
    assert np.array_equal(np.isnan(found), np.isnan(values))
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    assert (np.diff(found[order]) >= 0).all()
    for code in np.unique(coded.codes[order]):
        mine = values[(coded.codes == code)]
        assert coded.table[code] == pytest.approx(mine.mean())
        distinct = np.unique(mine)
        assert mine.size <= 5000 // 255 + 1 + 700 or distinct.size == 1
    for exact in (np.array([]), np.array([np.nan]), np.arange(256.0)):
        coded = encode(exact, in_one_byte=True)
        np.testing.assert_array_equal(decode(coded.codes, coded.table), exact)


def test_packs_in_one_byte_tell_their_loss_and_keep_the_order(tmp_path, run):
    drawn_grammar(tmp_path / "grammar", n=2000)
    run("pack", tmp_path / "grammar", "-o", tmp_path / "whole")
    _, told = run("pack", tmp_path / "grammar", "-o", tmp_path / "small", "--set", "one_byte=true")
    whole, small = (GrammarIndex.open(tmp_path / name) for name in ("whole", "small"))
    np.testing.assert_array_equal(whole.costs, small.costs)
    errors = small.feature("p(e|f)") - whole.feature("p(e|f)")
    mean, most = np.sqrt(np.nanmean(errors**2)), np.nanmax(abs(errors))
    assert (
        f"p(e|f) in one byte: error {mean:.5f} (root of the mean square), at most {most:.5f}"
        in told
    )
    assert most > 0


def test_a_grammar_whose_name_is_not_utf8(tmp_path, run):
    grammar = tmp_path / os.fsdecode(b"no UTF-8: \xff")
    drawn_grammar(grammar, n=20)
    for _ in range(2):  # the second replaces the first
        run("pack", grammar, "-o", tmp_path / "packs", "--set", "sizes=S")
    manifest = json.loads((tmp_path / "packs" / "packs.json").read_text())
    assert manifest["from"]["grammar"] == "no UTF-8: \\xff"


@pytest.mark.extra
def test_parquet_has_the_same_rules(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    lines = drawn_grammar(tmp_path / "grammar", n=60)
    packs = tmp_path / os.fsdecode(b"no UTF-8: \xff")
    pack_grammar(tmp_path / "grammar", packs, options=PackOptions(sizes=("XXXL",), parquet=True))
    rows = []
    for kind in TYPES:
        with open(packs / f"xxxl-{kind}.parquet", "rb") as file:
            rows += pq.read_table(file).to_pylist()
    found = {(f"[{row['label']}]", row["source"], row["target"]) for row in rows}
    assert found == {tuple(line.split(" ||| ")[:3]) for line in lines}
    assert all(row["p(e|f)"] is not None and row["alignment"] == "0-0" for row in rows)


def long_rule(*links):
    n = 1 + max(position for link in links for position in link)
    sides = (" ".join(f"{letter}{k}" for k in range(n)) for letter in "ab")
    written = " ".join(f"{i}-{j}" for i, j in links)
    return f"[X] ||| {' ||| '.join(sides)} ||| c=1 ||| {written}\n"


@pytest.mark.parametrize(
    ("links", "dtype", "version"),
    [
        ([(0, 255), (3, 4)], np.uint8, 1),
        ([(299, 299), (256, 0)], np.uint16, 2),
        ([(0, 65_536), (9, 65_535)], np.uint32, 2),
    ],
)
def test_links_of_long_sides_are_kept(tmp_path, links, dtype, version):
    other = "[X] ||| a ||| b c ||| c=2 ||| 0-0 0-1\n"
    (tmp_path / "grammar").write_text(other + long_rule(*links))
    pack_grammar(
        tmp_path / "grammar", tmp_path / "packs", options=PackOptions({"c": 1.0}, sizes=("XXXL",))
    )
    index = GrammarIndex.open(tmp_path / "packs")
    found = {rule.source.split()[0]: rule.links for rule in index.at(np.arange(2))}
    assert found == {"a": [(0, 0), (0, 1)], "a0": links}
    assert index.artifact.array("links/pairs", dtype, 2).shape == (4, 2)
    assert index.artifact.manifest["version"] == version


@pytest.mark.extra
def test_parquet_has_links_of_long_sides(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "grammar").write_text(long_rule((299, 256), (0, 99)))
    packs, by = tmp_path / "packs", PackOptions({"c": 1.0}, sizes=("S",), parquet=True)
    pack_grammar(tmp_path / "grammar", packs, options=by)
    (row,) = pq.read_table(packs / "s-phrasal.parquet").to_pylist()
    assert row["alignment"] == "299-256 0-99" and row["source"].endswith(" a299")


def test_features_first_met_late_are_kept(tmp_path):
    lines = drawn_grammar(tmp_path / "grammar", n=2400)
    late = {1100: "late=0.5", 1200: "late=2 later=-1", 2399: "8 9 last=7"}  # of several blocks
    for number, more in late.items():
        lines[number] = lines[number].replace(" ||| 0-0", f" {more} ||| 0-0")
    (tmp_path / "grammar").write_text("".join(lines), encoding="utf-8")
    names = {"late": {1100: 0.5, 1200: 2.0}, "later": {1200: -1.0}, "last": {2399: 7.0},
             "0": {2399: 8.0}, "1": {2399: 9.0}}  # fmt: skip
    for block_bytes in (1 << 22, 1 << 16):
        packs = tmp_path / f"packs-{block_bytes}"
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(
                pack, "read_line_blocks", lambda path, n=block_bytes: read_line_blocks(path, n)
            )
            pack_grammar(tmp_path / "grammar", packs, options=PackOptions(sizes=()))
        index = GrammarIndex.open(packs)
        assert set(names) < set(index.feature_names)
        rules = {(f"[{r.label}]", r.source, r.target): r for r in index.at(np.arange(2400))}
        for number, line in enumerate(lines):
            label, source, target, features, _ = line.split(" ||| ")
            found = rules[label, source, target].features
            assert {name: found[name] for name in names if name in found} == {
                name: values[number] for name, values in names.items() if number in values
            }
            assert found["p(e|f)"] == Features.parse(features.encode()).number("p(e|f)")


@pytest.mark.extra
def test_parquet_has_features_first_met_late(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    lines = drawn_grammar(tmp_path / "grammar", n=1500)
    lines[-1] = lines[-1].replace(" ||| 0-0", " late=0.5 ||| 0-0")
    (tmp_path / "grammar").write_text("".join(lines), encoding="utf-8")
    pack_grammar(
        tmp_path / "grammar", tmp_path / "packs", options=PackOptions(parquet=True, index=False)
    )
    tables = [pq.read_table(path) for path in (tmp_path / "packs").glob("xxxl-*.parquet")]
    late = [value for table in tables for value in table["late"].to_pylist()]
    assert len(late) == 1500 and sorted(filter(None, late)) == [0.5]


def test_more_features_than_an_index_takes(tmp_path, run):
    features = " ".join(f"f{n}={n}" for n in range(1001))
    (tmp_path / "grammar").write_text(f"[X] ||| a ||| b ||| {features} |||\n")
    _, err = run("pack", tmp_path / "grammar", "-o", tmp_path / "packs", "-w", "f1=1", status=1)
    assert "has more than 1,000 features, too many for an index or Parquet" in err
    run(
        "pack", tmp_path / "grammar", "-o", tmp_path / "packs", "-w", "f1=1", "--set", "index=false"
    )
    written = gzip.decompress((tmp_path / "packs" / "s-lexical.gz").read_bytes())
    assert written.replace(b" Kind=content", b"") == (tmp_path / "grammar").read_bytes()


def test_new_names_are_those_of_the_twin():
    draw = random.Random(8)
    for _ in range(50):
        known = draw.sample(["a", "ab", "é", "x=y", "p(e|f)"], draw.randint(0, 3))
        rows = [
            [draw.choice(["a=1", "ab=NA", "é=2", "x=y=3", "=4", "5", "b=", "p(e|f)=6"])
             for _ in range(draw.randint(0, 6))]
            for _ in range(draw.randint(1, 5))
        ]  # fmt: skip
        text, fields = b"", []
        for row in rows:
            start = len(text)
            text += " ".join(row).encode()
            fields.append((start, len(text)))
            text += b"\n"
        parsed = [Features.parse(text[start:stop]) for start, stop in fields]
        wanted = list(dict.fromkeys(name for one in parsed for name in one.named))
        names = [name.encode() for name in known]
        places, most_bare, fewest_bare = new_names(
            frozen(np.frombuffer(text, np.uint8)), frozen(np.array(fields, np.int64)),
            frozen(np.frombuffer(b"".join(names), np.uint8)),
            frozen(np.cumsum([0, *map(len, names)])), 3,
        )  # fmt: skip
        found = [text[start:stop] for start, stop in places.tolist()]
        assert found == [name for name in wanted if name not in names][:3]
        counts = [len(one.bare) for one in parsed]
        assert (most_bare, fewest_bare) == (max(counts), min(counts))


def test_packs_replace_packs_and_nothing_else(tmp_path, run):
    drawn_grammar(tmp_path / "grammar", n=40)
    run("pack", tmp_path / "grammar", "-o", tmp_path / "packs", "--set", "sizes=S")
    run("pack", tmp_path / "grammar", "-o", tmp_path / "packs", "--set", "sizes=M")
    assert not list((tmp_path / "packs").glob("s-*")) and list((tmp_path / "packs").glob("m-*"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    _, err = run("pack", tmp_path / "grammar", "-o", tmp_path / "mine", status=1)
    assert "is no folder of packs" in err
    with pytest.raises(ArtifactError, match="no such folder"):
        GrammarIndex.open(tmp_path / "none")
    with pytest.raises(ParameterError, match="choose one of S, M"):
        GrammarIndex.open(tmp_path / "packs").rules("a", size="XS")


def test_a_rule_without_a_feature_that_is_weighed(tmp_path, run):
    path = tmp_path / "grammar"
    drawn_grammar(path, n=10)
    with open(path, "a", encoding="utf-8") as file:
        file.write("[NP] ||| x ||| y ||| sim_ngram=1 |||\n[NP] ||| x\n")
    with pytest.raises(InputError, match=r"line 11: has neither p\(e"):
        pack_grammar(path, tmp_path / "packs")
    assert not (tmp_path / "packs").exists() and not list(tmp_path.glob(".*"))
    _, err = run("pack", path, "-o", tmp_path / "packs", "--on-error", "drop")
    assert "10 rules, 2 invalid lines left out" in err
    run("pack", path, "-o", tmp_path / "packs", "--on-error", "drop", "-w", "p(e|f)=-1", "--set",
        "missing=50")  # fmt: skip
    out, _ = run("rules", tmp_path / "packs", "x")
    assert out.split("\t")[1] == "y"
    _, err = run("rules", tmp_path / "packs", "zz")
    assert "no rule has this source side" in err
