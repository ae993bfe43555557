"""Named subcorpora: saved, listed, removed, asked by every command, and after text is added."""

import json

import pytest

from distsim import ArtifactError, CorpusIndex, ParameterError
from distsim.indexes.saved_filters import FILE
from distsim.indexes.subcorpora import list_subcorpora, remove_subcorpus, save_subcorpus

ROWS = [
    {"id": "a", "text": "Tea and tea.", "year": 1850},
    {"id": "b", "text": "Tea and wine.", "year": 1860},
    {"id": "c", "text": "Wine and cake.", "year": 1870},
]


@pytest.fixture
def index(tmp_path):
    return CorpusIndex.from_texts(ROWS, tmp_path / "x.index")


def test_a_name_stands_for_its_documents(index):
    early = save_subcorpus(index, "early", where="year=..1860")
    some = save_subcorpus(index, "some", ids=["a", "c"])
    assert (early.documents, early.tokens, some.documents) == (2, 8, 2)
    assert index.select(subcorpus="early").count("tea") == 3
    assert index.select(subcorpus="early", where="year=1860").count("tea") == 1
    assert index.select(where="year=1850..1860").select(subcorpus="some").count("tea") == 2
    assert index.select(subcorpus="some").other_documents().count("tea") == 1
    assert [one.name for one in list_subcorpora(CorpusIndex.open(index.path))] == ["early", "some"]
    save_subcorpus(index, "early", where=["year=1850"])
    assert index.select(subcorpus="early").n_tokens == 4
    remove_subcorpus(index.path, "early")
    with pytest.raises(ParameterError, match="has no subcorpus 'early'; it has some"):
        index.select(subcorpus="early")
    with pytest.raises(ParameterError, match="has no subcorpus 'early'"):
        remove_subcorpus(index.path, "early")


def test_documents_that_are_added_belong_to_it(tmp_path, run):
    for name, rows in (("one", ROWS), ("two", [{"id": "d", "text": "More tea.", "year": 1855}])):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    path = tmp_path / "grown.index"
    run("index", "build", tmp_path / "one.jsonl", "-o", path)
    run("subcorpus", "save", path, "early", "--where", "year=..1860")
    run("index", "add", path, tmp_path / "two.jsonl")
    assert run("count", path, "tea", "--in", "early")[0] == "tea\t4\n"
    run("index", "remove", path, "--ids", _lines(tmp_path, ["a", "b", "d"]))
    out, _ = run("subcorpus", "list", path, "--json")
    assert json.loads(out) == {
        "name": "early", "documents": 0, "tokens": 0, "filters": "year=..1860",
        "where": ["year=..1860"], "ids": [],
    }  # fmt: skip
    run("verify", path)


def test_removal_leaves_what_is_left_of_it(tmp_path, run):
    """Ids that are gone, fields that are gone, values of another type than before."""
    rows = [
        {"id": "a", "text": "The tea was hot.", "n": "1850"},
        {"id": "b", "text": "Tea and tea again.", "n": "x", "m": 1},
        {"id": "c", "text": "More tea for two.", "n": "1860"},
    ]
    path = CorpusIndex.from_texts(rows, tmp_path / "i").path
    for name, chosen in {
        "of_ids": {"ids": ["b", "c"]}, "of_m": {"where": "m=1"}, "of_x": {"where": "n=x"},
        "of_n": {"where": "n=1850|x"}, "mixed": {"where": "n=1860|x", "ids": ["b", "c"]},
    }.items():  # fmt: skip
        save_subcorpus(CorpusIndex.open(path), name, **chosen)
    run("index", "remove", path, "--ids", _lines(tmp_path, ["b"]))
    index = CorpusIndex.open(path)
    sizes = {one.name: (one.documents, one.tokens) for one in list_subcorpora(index)}
    assert sizes["of_ids"] == (1, 5) and sizes["of_m"] == sizes["of_x"] == (0, 0)
    assert run("count", path, "tea", "--in", "of_ids")[0] == "tea\t1\n"
    for name, chosen in (("of_m", "m=1"), ("of_x", "n=x")):
        _, err = run("count", path, "tea", "--in", name, status=1)
        assert f"no document fits the subcorpus {name!r} ({chosen}): save it anew" in err
    assert sizes["of_n"] == (1, 5) and sizes["mixed"] == (1, 5)


def _lines(folder, lines):
    (folder / "ids.txt").write_text("\n".join(lines) + "\n")
    return folder / "ids.txt"


@pytest.mark.parametrize(
    "command",
    [
        ("count", "tea"), ("kwic", "tea"), ("ngrams", "-n", "1", "-k", "9"), ("contexts", "tea"),
        ("collocates", "tea", "--min-count", "1"), ("continuations", "tea"),
        ("keywords", "--min-count", "1"), ("compare", "tea", "and"), ("document",),
        ("document", "a"), ("paraphrase", "tea"),
    ],
)  # fmt: skip
def test_every_command_answers_as_by_its_filter(index, run, command):
    path = index.path
    save_subcorpus(index, "early", where="year=..1860")
    name, *rest = command
    by_name, _ = run(name, path, *rest, "--in", "early")
    by_filter, _ = run(name, path, *rest, "--where", "year=..1860")
    assert by_name == by_filter
    _, err = run(name, path, *rest, "--in", "late", status=1)
    assert "has no subcorpus 'late'; it has early" in err


def test_documents_and_projections_of_a_part(index, run, tmp_path):
    path = index.path
    out, err = run("document", path, "--where", "year=1860..")
    assert out == "Tea and wine.\nWine and cake.\n" and "year 1860" in err
    _, err = run("document", path, "a", "--where", "year=1860..", status=1)
    assert "a: is not among the documents that --where or --in chooses" in err
    _, err = run("document", path, status=2)
    assert "name documents, or choose them by --where or --in" in err
    _, err = run("learn", path, "-o", tmp_path / "p", "--where", "year=1999", status=1)
    assert "no document fits year=1999" in err


def test_texts_are_traced_in_a_part(index, run, tmp_path):
    save_subcorpus(index, "late", where="year=1870")
    (tmp_path / "t.txt").write_text("Tea and wine and cake.")
    only = CorpusIndex.from_texts(ROWS[2:], tmp_path / "late.index")
    command = (tmp_path / "t.txt", "--min-tokens", "1")
    assert run("trace", index.path, *command, "--in", "late")[0].count("span") == 2
    spans = [line.split("\t")[1:5] for line in run("trace", only.path, *command)[0].splitlines()]
    found = run("trace", index.path, *command, "--in", "late")[0].splitlines()
    assert [line.split("\t")[1:5] for line in found] == spans


def test_two_tables_of_one_index(index, run, tmp_path):
    path = index.path
    save_subcorpus(index, "early", where="year=..1860")
    save_subcorpus(index, "late", ids=["c"])
    tables = []
    for name in ("early", "late"):
        tables.append(tmp_path / f"{name}.table")
        run("sign", path, "--in", name, "-o", tables[-1], "--preset", "thesis", "--min-count", "1")
    assert run("neighbours", tables[0], "tea", "-k", "1")[0]
    assert "tea" not in run("neighbours", tables[1], "wine", "-k", "99")[0]
    out, _ = run("keywords", path, "--in", "early", "--against-in", "late", "--min-count", "1")
    assert out.splitlines()[0].startswith("tea\t3\t0")
    one_part = ("keywords", path, "--in", "late", "--min-count", "1")
    assert "1 document in both parts" in run(*one_part, "--against-in", "late")[1]
    assert "in both parts" not in run(*one_part, "--against-in", "early")[1]
    _, err = run("sign", path, "--from", "annotated", "--in", "early", "-o", tables[0], status=2)
    assert "--in selects documents of an index" in err


def test_what_cannot_be_saved_is_refused(index, run, tmp_path):
    path = index.path
    for name, told in (("../x", "letters, digits"), ("", "letters, digits"), ("a b", "letters")):
        with pytest.raises(ParameterError, match=told):
            save_subcorpus(index, name, where="year=1850")
    with pytest.raises(ParameterError, match="is chosen by `where` or `ids`"):
        save_subcorpus(index, "x")
    with pytest.raises(ParameterError, match="no document fits"):
        save_subcorpus(index, "x", where="year=1999")
    out, err = run("subcorpus", "list", path)
    assert out == "" and "has no subcorpora" in err
    out, _ = run("subcorpus", "save", path, "some", "--ids", _lines(tmp_path, ["a", "b"]))
    assert out == "some\t2\t8\t2 ids\n"
    run("subcorpus", "remove", path, "some")
    (path / FILE).write_text("[")
    with pytest.raises(ArtifactError, match="is damaged: remove it and save subcorpora again"):
        list_subcorpora(index)
