"""Documents with fields: types, filters, and that a selection is asked as an index of it alone."""

import importlib.util
import json
import pickle
import random
import sys
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
import zstandard

from distsim import PRESETS, CorpusIndex, IndexOptions, InputError, ParameterError, sign
from distsim.base.errors import ArtifactError
from distsim.contexts import named_contexts
from distsim.corpus import Normaliser
from distsim.indexes import metadata
from distsim.indexes.collocation import Documents, collocates
from distsim.indexes.grouping import counts_by
from distsim.indexes.metadata import MetadataWriter
from distsim.indexes.phrase_lists import keywords, list_phrases
from distsim.indexes.stored_documents import passage, read_document, remove_documents
from distsim.indexes.tracing import trace
from distsim.output.verification import find_faults
from tests.indexes.test_index import bytes_of

YEARS, GENRES = (1850, 1900, 1950), ("novel", "letter", None)


def made_documents(n=60, seed=3):
    rng = random.Random(seed)
    words = ["a", "b", "c", "dd", "e"]
    return [
        {
            "id": f"d{number}",
            "year": rng.choice(YEARS),
            "genre": rng.choice(GENRES),
            "text": "\n".join(
                " ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(rng.randint(1, 4))
            ),
        }
        for number in range(n)
    ]


@pytest.fixture(params=[1 << 27, 70], ids=["one shard", "many shards"])
def index(request, tmp_path):
    options = IndexOptions("lines", shard_tokens=request.param)
    return CorpusIndex.from_texts(made_documents(), tmp_path / "all", options=options)


@pytest.fixture(params=["searched", "table"])
def lookup(request, monkeypatch):
    """The documents of positions are searched for, or looked up in a table, in pieces."""
    if request.param == "table":
        monkeypatch.setattr("distsim.indexes.selected_shard._MAX_SEARCHED", -1)
        monkeypatch.setattr("distsim.indexes.selected_shard._POSITIONS_A_BLOCK", 7)


def alone(tmp_path, kept):
    """Return the index of some documents only."""
    return CorpusIndex.from_texts(kept, tmp_path / "alone", options=IndexOptions("lines"))


@pytest.mark.usefixtures("lookup")
def test_a_selection_answers_as_an_index_of_its_documents(index, tmp_path):
    kept = [one for one in made_documents() if one["year"] < 1950 and one["genre"] == "novel"]
    some = index.select(where=["year=1850..1900", "genre=novel"])
    own = alone(tmp_path, kept)
    phrases = ["a", "b c", "dd", "a b", "e e e", "unseen"]
    assert some.n_tokens == own.n_tokens
    assert some.count(phrases).tolist() == own.count(phrases).tolist()
    assert sorted(some.ngrams(longest=3)) == sorted(own.ngrams(longest=3))
    lines = [
        sorted((one.left, one.node, one.right) for one in given.concordance("b", order="left"))
        for given in (some, own)
    ]
    assert lines[0] == lines[1] != []
    assert some.query("a []{0,2} b").shape == own.query("a []{0,2} b").shape
    assert some.gapped("a _ b").shape == own.gapped("a _ b").shape
    for answer in (
        lambda given: collocates(given, "b", min_count=1),
        lambda given: sorted(list_phrases(given, lengths=(1, 2), k=None)),
        lambda given: named_contexts(given, "b"),
        lambda given: keywords(given, index, min_count=1),
        lambda given: Documents(given).of_phrases([given._id_readings("a")[0]]),
        lambda given: [one.times for one in trace(given, "a b c dd e a b c", min_tokens=2).spans],
    ):
        assert answer(some) == answer(own)
    assert (some.corpus, some.text_checksum) == (own.corpus, own.text_checksum)
    assert some.parameters["counts"]["documents"] == len(kept)
    assert pickle.loads(pickle.dumps(some)).count(phrases).tolist() == own.count(phrases).tolist()


@pytest.mark.parametrize(
    ("where", "fits"),
    [
        ("year=1850", lambda one: one["year"] == 1850),
        ("year=..1900", lambda one: one["year"] <= 1900),
        ("year=1851..", lambda one: one["year"] > 1850),
        ("year=1850|1950", lambda one: one["year"] != 1900),
        ("genre=novel|letter", lambda one: one["genre"] is not None),
        ("genre=*", lambda one: one["genre"] is not None),
        ("id=d3|d5", lambda one: one["id"] in ("d3", "d5")),
        ('genre="novel"', lambda one: one["genre"] == "novel"),
        ("year='1850'|1900", lambda one: one["year"] in (1850, 1900)),
        (["genre=novel", "year=1900"], lambda one: (one["genre"], one["year"]) == ("novel", 1900)),
    ],
)
@pytest.mark.usefixtures("lookup")
def test_filters(index, where, fits):
    kept = [one for one in made_documents() if fits(one)]
    wanted = sum(one["text"].split().count("a") for one in kept)
    assert index.select(where=where).count("a") == wanted
    by_ids = index.select(documents=[one["id"] for one in kept])
    by_mask = index.select(documents=[fits(one) for one in made_documents()])
    assert by_ids.count("a") == by_mask.count("a") == wanted
    twice = index.select(where="year=1850..1950").select(where=where)
    assert twice.count("a") == wanted


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("yaer=1850", "no field 'yaer', they have id, year, genre"),
        ("year", "wanted FIELD=VALUES"),
        ("year=", "wanted FIELD=VALUES"),
        ("year>=1850", r"a range is year=1850\.\.1900, year=1850\.\. or year=\.\.1900"),
        ("year <=1850", r"a range is year=1850"),
        ("genre!=novel", r"name the values that fit, as in genre=novel\|drama"),
        ('genre="\udcff"', "is no value of type text"),
        ("year=old", "'old' is no value of type int"),
        ("year=2000..", r"no document fits year=2000.. \(year is from 1850 to 1950\)"),
        ("genre=poem", r"genre is 'letter', 'novel'"),
        ("genre=\udcff", "is no value of type text"),
        ("id=novel|\ud800", "is no value of type text"),
        ("genre=" + "|".join(map(str, range(600))), "over 500 values"),
        ('year=1"; DROP TABLE documents', "is no value of type int"),
    ],
)
def test_filters_that_cannot_be(index, where, said):
    with pytest.raises(ParameterError, match=said):
        index.select(where=where)


def test_documents_that_are_not_there(index):
    for documents, said in (
        (["d1", "x"], "no document has the id 'x'"), ([True], "a mask of 1 value,"),
        ([False] * 60, "no document fits `documents`"),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=said):
            index.select(documents=documents)
    with pytest.raises(ParameterError, match="all documents are selected"):
        index.other_documents()
    with pytest.raises(ParameterError, match="take no text"):
        index.select(where="year=1850").add("x")


def forms_of_rows(rows):
    """Yield the ways in which people have rows of text and fields, as arguments of from_texts."""
    yield rows, None
    yield (one for one in rows), None
    if pandas := _imported("pandas"):
        frame = pandas.DataFrame(rows)
        yield frame, None
        yield frame["text"], frame.drop(columns="text")
    if polars := _imported("polars"):
        frame = polars.DataFrame(rows)
        yield frame, None
        yield frame["text"], frame.drop("text")
    if datasets := _imported("datasets"):
        frame = datasets.Dataset.from_list(rows)
        for one in (frame, frame.to_iterable_dataset()):
            yield one, None
            yield one["text"], one.remove_columns("text")


def _imported(name):
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def test_rows_in_any_form_are_indexed_and_signed_alike(tmp_path):
    rows = [
        {"text": "a b c a d.", "id": "x", "year": 1850},
        {"text": "b c a.", "id": "y", "year": None},
    ]
    rows += [{"text": f"a b {n} c.", "id": f"n{n}", "year": n} for n in range(1900, 1930)]
    recipe, wanted = PRESETS["thesis"], None
    for number, (texts, fields) in enumerate(forms_of_rows(rows)):
        index = CorpusIndex.from_texts(texts, tmp_path / str(number), metadata=fields)
        sign(index, recipe=recipe)
        wanted = wanted or bytes_of(index.path)
        assert bytes_of(index.path) == wanted
        assert index.metadata.fields == {"year": "int"}
    for number, (texts, fields) in enumerate(forms_of_rows(rows)):
        if fields is None:
            table = sign(texts, tmp_path / "signed", recipe=recipe, force=number > 0)
            assert "a b" in table
            assert bytes_of(tmp_path / "signed") == wanted
    with pytest.raises(ParameterError, match="`path`: give the folder of the index"):
        sign(["a"])
    with pytest.raises(ArtifactError, match="holds an artifact already"):
        sign(rows, tmp_path / "signed")
    with pytest.raises(ParameterError, match="`texts`: give a list"):
        sign("texts", tmp_path / "new")


def test_counts_by_a_field(index):
    found = counts_by(index, "a", "year")
    for one in found:
        own = [d for d in made_documents() if d["year"] == one.value]
        tokens = [word for d in own for word in d["text"].split()]
        assert (one.times, one.n_tokens) == (tokens.count("a"), len(tokens))
        assert one.documents == len(own)
        assert one.per_million == pytest.approx(1e6 * one.times / len(tokens))
    novels = counts_by(index.select(where="genre=novel"), "a", "year")
    assert sum(one.times for one in novels) == index.select(where="genre=novel").count("a")


def test_bars_on_a_terminal(tmp_path, run, monkeypatch):
    rows = [{"text": "a b", "year": 1850}, {"text": "a b b", "year": 1851}]
    CorpusIndex.from_texts(rows, tmp_path / "rows")
    plain, _ = run("count", tmp_path / "rows", "b", "--by", "year")
    assert plain.splitlines() == [
        "b\t1850\t1\t500000.000000\t2\t1",
        "b\t1851\t2\t666666.666667\t3\t1",
    ]
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    drawn, _ = run("count", tmp_path / "rows", "b", "--by", "year")
    _, *rows = drawn.splitlines()
    assert [row.split()[-1] for row in rows] == ["#" * 15, "#" * 20]
    assert [row.split()[:2] for row in rows] == [["1850", "1"], ["1851", "2"]]


def test_values_of_fields_have_their_own_digits(tmp_path, run, monkeypatch):
    rows = [{"text": "a b", "year": 1850, "size": 1.5}, {"text": "a b", "year": 1851, "size": 2.0}]
    index = CorpusIndex.from_texts(rows, tmp_path / "rows")
    beside = ("kwic", tmp_path / "rows", "b", "--show", "year,size")
    assert run(*beside)[0].splitlines()[0].split("\t")[-2:] == ["1850", "1.5"]
    assert json.loads(run(*beside, "--json")[0].splitlines()[0])["size"] == 1.5
    with pytest.raises(ParameterError, match="no document of the selected part fits year=1851"):
        index.select(where="size=1.5").select(where="year=1851")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    assert [line.split()[-2] for line in run(*beside)[0].splitlines()[1:]] == ["1850", "1851"]
    crossed, _ = run("count", tmp_path / "rows", "b", "--by", "1L,year")
    assert [row.split()[:3] for row in crossed.splitlines()[1:]] == [
        ["a", "1850", "1"], ["a", "1851", "1"]
    ]  # fmt: skip


def fields_of(tmp_path, rows, **options):
    texts = [f"text {number}" for number in range(len(rows))]
    return CorpusIndex.from_texts(
        texts,
        tmp_path / "typed",
        metadata=rows,
        options=IndexOptions("text", **options),
        force=True,
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, "2", " 3"], "int"), ([1, 2.5], "float"), ([1.0, float("nan"), 2.0], "int"),
        (["1e3", "2"], "float"), (["007", "12"], "text"), (["1850-02-03", "1850-02"], "date"),
        (["1612", "1988-10-25"], "date"), (["1612", "1988"], "int"), (["0612", "1988-10"], "text"),
        ([date(1850, 2, 3)], "date"), (["1850-02-30"], "text"), (["x", 1], "text"),
        ([True, False], "text"), ([["a", "b"]], "text"), ([2**70], "text"), ([np.int32(7)], "int"),
    ],
)  # fmt: skip
def test_types_are_inferred_from_all_values(tmp_path, values, kind):
    index = fields_of(tmp_path, [{"f": value} for value in values])
    assert index.metadata.fields == {"f": kind}


def test_years_beside_whole_dates_are_grouped(tmp_path):
    rows = [{"date": value} for value in ("1612", "1988-10-25", "1989", "1612-03")]
    index = fields_of(tmp_path, rows)
    assert [(row.value, row.times) for row in counts_by(index, "text", "date/100")] == [
        (1600, 2), (1900, 2)
    ]  # fmt: skip
    for where, n in (("date=1612", 2), ("date=1612..1988", 3), ("date=1989..", 1)):
        assert index.select(where=where).count("text") == n


def test_values_that_do_not_fit_are_missing_and_counted(tmp_path):
    rows = [{"year": "1850"}, {"year": "about 1900"}, {"year": ""}, {}]
    index = fields_of(tmp_path, rows, types={"year": "int"})
    assert index.metadata.unfit == {"year": 1}
    assert index.select(where="year=*").parameters["counts"]["documents"] == 1
    with pytest.raises(ParameterError, match="no document has the field 'yaer'"):
        fields_of(tmp_path, rows, types={"yaer": "int"})
    with pytest.raises(ParameterError, match="two documents have the id '7'"):
        fields_of(tmp_path, [{"id": 7}, {"id": "7"}])
    for rows, said in (([{}], "more"), ([{}] * 3, "more rows"), (["x", "y"], "wanted a dict")):
        with pytest.raises(ParameterError, match=said if len(rows) != 1 else "is missing"):
            CorpusIndex.from_texts(["a", "b"], tmp_path / "wrong", metadata=rows)


def test_two_documents_of_one_id_are_refused_early_and_late(tmp_path, monkeypatch):
    writer = MetadataWriter({})
    writer.add("a", {})
    with pytest.raises(ParameterError, match="two documents have the id 'a'"):
        writer.add("a", {})
    monkeypatch.setattr(metadata, "_FIRST_IDS", 1)
    monkeypatch.setattr(metadata, "_ROWS", 2)
    rows = [{"id": one} for one in "abcdc"]
    with pytest.raises(ParameterError, match="two documents have the id 'c'"):
        fields_of(tmp_path, rows)
    assert fields_of(tmp_path, rows[:4]).metadata.ids(np.arange(4)) == list("abcd")


def test_dates_fit_the_dates_they_begin(tmp_path):
    days = ["1850-01-31", "1850-02-01", "1851-06-30T12:00:00Z"]
    index = fields_of(tmp_path, [{"day": day} for day in days])
    for where, n in (("1850", 2), ("1850-02", 1), ("1850-02..1851", 2), ("..1850", 2)):
        assert index.select(where=f"day={where}").parameters["counts"]["documents"] == n
    assert [one.value for one in counts_by(index, "text", "day")] == ["1850", "1851"]


def test_fields_of_files(tmp_path, capsys):
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in "abc":
        (texts / f"{name}.txt").write_text("One.\n\nTwo.\n")
    (tmp_path / "m.csv").write_text('file,year\na,1850\nb.txt,"1851"\nz,1\n')
    said = []
    options = IndexOptions("text", metadata=str(tmp_path / "m.csv"))
    index = CorpusIndex.build(texts, tmp_path / "x", options=options, notice=said.append)
    assert index.metadata.rows(0, 9) == [
        ("a.txt", {"year": 1850}), ("b.txt", {"year": 1851}), ("c.txt", {}),
    ]  # fmt: skip
    assert len(said) == 2 and "z" in said[0] and "c.txt" in said[1]
    (tmp_path / "m.jsonl").write_text(json.dumps({"path": "c", "year": 3}) + "\n")
    options = IndexOptions("text", metadata=str(tmp_path / "m.jsonl"))
    index = CorpusIndex.build(texts, tmp_path / "y", options=options, notice=said.append)
    assert index.select(where="year=3").count("one") == 1
    for text, match in (
        ("name,year\na,1\n", "line 2: has no column file"), ("file,y\na,1\na,2\n", "named twice"),
        ("file,y\nq,1\n", "names no file that is read, but q"), ("file\n", "has no row"),
        ("file,y\na,1,2\n", "line 2: 3 fields, wanted 2 as in the first row: correct the row"),
        ("file,y,y\na,1,2\n", "named 'y'"), ('file,y\n"a\n', "line 2: "),
    ):  # fmt: skip
        (tmp_path / "m.csv").write_text(text)
        options = IndexOptions("text", metadata=str(tmp_path / "m.csv"))
        with pytest.raises(InputError, match=match):
            CorpusIndex.build(texts, tmp_path / "z", options=options)
    assert not (tmp_path / "z").exists()


@pytest.mark.parametrize(
    ("id_field", "ids"),
    [(None, ["7", "b.txt", "c.txt"]), ("nr", ["n1", "n2", "c.txt"]), ("-", ["1", "2", "3"])],
)
def test_ids_of_files_are_a_field_or_their_names(tmp_path, id_field, ids):
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in "abc":
        (texts / f"{name}.txt").write_text("One.\n")
    (tmp_path / "m.csv").write_text("file,id,nr\na,7,n1\nb,,n2\nc,,\n")
    options = IndexOptions("text", metadata=str(tmp_path / "m.csv"), id_field=id_field)
    index = CorpusIndex.build(texts, tmp_path / "x", options=options)
    assert index.metadata.ids(np.arange(3)) == ids
    assert "id" not in index.metadata.fields
    assert index.select(where=f"id={ids[0]}").count("one") == 1


def test_added_documents_keep_the_types(index, tmp_path):
    before = index.select(where="year=1850").count("a")
    (tmp_path / "more.txt").write_text("a a\n\na\n")
    larger = index.add(tmp_path / "more.txt")
    assert larger.select(where="year=1850").count("a") == before
    assert larger.metadata.rows(60, 99) == [("61", {}), ("62", {})]
    assert larger.select(documents=["61"]).count("a") == 2
    assert find_faults(larger.path) == []


def test_damaged_documents_are_found(index):
    assert find_faults(index.path) == []
    assert not index.metadata.numbers(["d0"])[0]
    file = index.path / index._artifact.manifest["arrays"]["documents"]["file"]
    good = file.read_bytes()
    rng = random.Random(1)
    for _ in range(60):
        at = rng.randrange(len(good))
        file.write_bytes(good[:at] + bytes([good[at] ^ (1 << rng.randrange(8))]) + good[at + 1 :])
        assert find_faults(index.path)
        try:
            opened = CorpusIndex.open(index.path)
            opened.select(where="year=1850")
            counts_by(opened, "a", "genre")
            opened.metadata.rows(0, 60)
        except (ArtifactError, ParameterError):
            pass
    file.write_bytes(good)
    file.rename(file.with_name("elsewhere"))
    with pytest.raises(ArtifactError, match="was changed since it was opened"):
        index.metadata.rows(0, 1)


def test_an_index_without_fields_has_numbered_documents(tmp_path):
    index = CorpusIndex.from_texts(["a b", "b c"], tmp_path / "x")
    assert index.parameters.get("documents") is None
    assert index.select(documents=["2"]).count(["a", "b"]).tolist() == [0, 1]
    with pytest.raises(ParameterError, match="the documents have no fields"):
        index.select(where="year=1850")
    for wrong in ("0", "3", "x", "01"):
        with pytest.raises(ParameterError, match="no document has the id"):
            index.select(documents=[wrong])


SENTENCES = (
    "The King’s  men ran.", "“Stop!” he cried;\tÉmile did not.", "İstanbul is far.",
    "A 12-year-old.", "x" * 70_000 + " end.", "Two sentences. On one line!", "...", "Straße 3,000.",
)  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        IndexOptions("text"), IndexOptions("text", shard_tokens=12), IndexOptions("lines"),
        IndexOptions("text", normaliser=Normaliser(drop_punctuation=True, fold_numbers=True)),
        IndexOptions("text", dedup="exact"),
        IndexOptions("text", normaliser=Normaliser(lower=False)),
    ],
)  # fmt: skip
def test_concordances_show_the_text_as_written(tmp_path, options):
    lines = [*SENTENCES, *SENTENCES[::-1], "", *SENTENCES]
    (tmp_path / "t.txt").write_text("\n".join(lines))
    index = CorpusIndex.build(tmp_path / "t.txt", tmp_path / "x", options=options)
    for phrase in index:
        for line in index.concordance(phrase, width=40):
            shown = " ".join(filter(None, (line.left, line.node, line.right)))
            written = "".join(lines[line.line - 1].split())
            assert "".join(shown.split()) in written
            assert options.normaliser.characters(line.node) == phrase
    plain = replace(options, text=False)
    words = CorpusIndex.build(tmp_path / "t.txt", tmp_path / "y", options=plain)
    assert {one.node for one in words.concordance("a")} <= {"a"}
    assert (words.checksum != index.checksum) and words.text_checksum == index.text_checksum
    assert find_faults(index.path) == find_faults(words.path) == []


def test_lines_in_any_order_unpack_each_frame_of_the_text_once(tmp_path, monkeypatch):
    texts = [f"the ship {number} sailed on {'x' * 900} ." for number in range(300)]
    index = CorpusIndex.from_texts(texts, tmp_path / "x", options=IndexOptions("lines"))
    spans = np.random.default_rng(1).permutation(index.spans("ship"))
    expected = [index.lines(spans[row : row + 1])[0] for row in range(len(spans))]
    unpacked, decompressor = [], zstandard.ZstdDecompressor()

    class Counted:
        def decompress(self, packed):
            unpacked.append(packed)
            return decompressor.decompress(packed)

    monkeypatch.setattr(zstandard, "ZstdDecompressor", Counted)
    assert CorpusIndex.open(index.path).lines(spans) == expected
    assert 1 < len(unpacked) == len(set(unpacked))


def test_documents_and_passages(index, tmp_path):
    for one in made_documents()[:9]:
        found = read_document(index, one["id"])
        assert (found.text, found.fields.get("genre")) == (one["text"], one["genre"])
        assert read_document(index, f"texts:{found.line}").id == one["id"]
        begin = index.select(documents=[one["id"]]).positions("a")
        if begin.size:
            assert passage(index, int(begin[0]), 99) == one["text"]
            assert passage(index, int(begin[0]), 0) in one["text"].split("\n")
    plain = CorpusIndex.from_texts(
        made_documents(), tmp_path / "plain", options=IndexOptions("lines", text=False)
    )
    assert read_document(plain, "d3").text == made_documents()[3]["text"]
    for wrong in ("d99", "texts:99999", "other:1", "\udcff", "\udcff:1", "texts:" + "9" * 5000):
        with pytest.raises(ParameterError, match="no document has the id"):
            read_document(index, wrong)
    with pytest.raises(ParameterError, match="the text as written is not stored"):
        remove_documents(plain.path, ["d3"])


@pytest.mark.parametrize("dedup", ["off", "exact"])
def test_removing_documents_gives_the_index_of_the_others(index, tmp_path, dedup):
    options = replace(index.options, dedup=dedup)
    given = made_documents()
    # Lines that were dropped because a document had them do not come back with it: so it is last.
    given.append(given.pop(7))
    given.append({"id": "secret", "text": "confidential words\nb c", "year": 1})
    whole = CorpusIndex.from_texts(given, tmp_path / "x", options=options)
    places = {(one.document, one.line) for one in whole.concordance("a")}
    sign(whole, recipe=PRESETS["thesis"])
    remove_documents(whole.path, ["secret", "d7"])
    left = CorpusIndex.open(whole.path)
    own = CorpusIndex.from_texts(
        [one for one in given if one["id"] not in ("secret", "d7")], tmp_path / "y",
        options=options,
    )  # fmt: skip
    assert find_faults(left.path) == []
    assert left.count("confidential") == left.count("words") == 0
    assert not any(b"confidential" in file.read_bytes() for file in left.path.iterdir())
    assert left.corpus == own.corpus and left.text_checksum == own.text_checksum
    assert left.metadata.rows(0, 99) == own.metadata.rows(0, 99)
    assert [one[3:] for one in left.concordance("b")] == [one[3:] for one in own.concordance("b")]
    assert read_document(left, "d5").text == read_document(own, "d5").text
    assert {(one.document, one.line) for one in left.concordance("a")} == {
        place for place in places if place[0] != "d7"
    }
    assert not (left.path / "signatures").exists()
    before = left.checksum
    for ids, said in (
        (["d7"], "no document has"),
        (list(own_ids(left)), "no document would be left"),
    ):
        with pytest.raises(ParameterError, match=said):
            remove_documents(left.path, ids)
    remove_documents(left.path, [])
    assert CorpusIndex.open(left.path).checksum == before


def own_ids(index):
    return [id_ for id_, _ in index.metadata.rows(0, 999)]


def test_numbers_of_documents_stay_when_others_are_removed(tmp_path):
    index = CorpusIndex.from_texts(["one a", "two a", "three a"], tmp_path / "x")
    remove_documents(index.path, ["2"])
    (tmp_path / "more.txt").write_text("four a")
    more = CorpusIndex.open(index.path).add(tmp_path / "more.txt")
    assert [(one.left, one.document) for one in more.concordance("a")] == [
        ("one", "1"), ("three", "3"), ("four", "4"),
    ]  # fmt: skip


def test_damaged_text_is_found(index):
    arrays = index._artifact.manifest["arrays"]
    rng = random.Random(2)
    for name in ("text", "text_starts", "text_frames"):
        file = index.path / arrays[f"shard-0/{name}"]["file"]
        good = file.read_bytes()
        for _ in range(25):
            at = rng.randrange(len(good))
            file.write_bytes(good[:at] + bytes([good[at] ^ 64]) + good[at + 1 :])
            assert find_faults(index.path)
            try:
                opened = CorpusIndex.open(index.path)
                opened.concordance("b")
                read_document(opened, "d0")
            except ArtifactError:
                pass
        file.write_bytes(good)


def test_values_have_no_blanks_at_their_edges(tmp_path):
    rows = [
        {"text": "tea", " place ": " Cafe\u0301 ", "id": " a "},
        {"text": "tea", "place": "Bar"},
    ]
    index = CorpusIndex.from_texts(rows, tmp_path / "i")
    assert index.metadata.fields == {"place": "text"}
    for value in ("Café", "Cafe\u0301", " Café "):
        assert index.select(where=f"place={value}").count("tea") == 1
    assert index.select(where="id=a").count("tea") == 1


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["9999999999999999999"], "text"), (["12345678901234567890", "7"], "text"),
        (["9223372036854775807"], "int"), (["007", "8"], "text"), (["-5", "0"], "int"),
        (["1.5", "2"], "float"), (["1850.0"], "float"), ([10**30], "text"), (["0.5"], "float"),
    ],
)  # fmt: skip
def test_a_number_is_one_where_no_digit_is_lost(tmp_path, values, kind):
    rows = [{"text": "tea", "n": value} for value in values]
    index = CorpusIndex.from_texts(rows, tmp_path / "i")
    assert index.metadata.fields == {"n": kind} and not index.metadata.unfit
    for value in values:
        assert index.select(where=f"n={value}").count("tea") == 1


def test_counts_by_a_field_add_up(tmp_path, run):
    rows = [{"text": "tea", "year": 1850.0}, {"text": "tea tea"}, {"text": "x", "year": 1.5}]
    index = CorpusIndex.from_texts(rows, tmp_path / "i")
    found = [
        (one.value, one.times, one.n_tokens, one.documents)
        for one in counts_by(index, "tea", "year")
    ]
    assert found == [(1.5, 0, 1, 1), (1850, 1, 1, 1), (None, 2, 2, 1)]
    assert sum(row[1] for row in found) == index.count("tea")
    out, _ = run("count", tmp_path / "i", "tea", "--by", "year")
    assert [line.split("\t")[1] for line in out.splitlines()] == ["1.5", "1850", "NA"]


def test_quotation_marks_of_a_value_are_its_own_where_a_document_has_them(tmp_path):
    rows = [{"text": "tea", "title": '"Tea"'}, {"text": "tea tea", "title": "Tea"}]
    index = CorpusIndex.from_texts([*rows, {"text": "x", "title": "a 'b'"}], tmp_path / "i")
    counts = {'title="Tea"': 1, "title=Tea": 2, "title='Tea'": 2, "title=\"a 'b'\"": 0}
    assert {where: index.select(where=where).count("tea") for where in counts} == counts


APOSTROPHES = ["O'Brien", "O’Brien", "OʼBrien", "O‘Brien"]


@pytest.mark.parametrize("stored", APOSTROPHES)
def test_apostrophes_and_quotation_marks_of_values_are_one(tmp_path, stored):
    rows = [
        {"text": "tea", "id": f"{stored}.txt", "author": stored, "title": "the “Tea”"},
        {"text": "tea tea", "id": "x", "author": "OBrien", "title": "the Tea"},
    ]
    index = CorpusIndex.from_texts(rows, tmp_path / "i")
    for typed in APOSTROPHES:
        filters = [f"author={typed}", f"author=x|{typed}", f"id={typed}.txt", f"id={typed}"]
        assert [index.select(where=one).count("tea") for one in filters] == [1, 1, 1, 1]
    assert index.select(where='title=the "Tea"').count("tea") == 1
    assert index.select(where="author=OBrien").count("tea") == 2


def test_spellings_of_apostrophes_are_one_group(tmp_path):
    authors = ["O'Brien", "O’Brien", "O’Brien", "OBrien"]
    rows = [{"text": "tea", "author": author} for author in authors]
    index = CorpusIndex.from_texts(rows, tmp_path / "i")
    counts = [(row.value, row.times) for row in counts_by(index, "tea", "author")]
    assert counts == [("OBrien", 1), ("O’Brien", 3)]


def test_documents_numbered_beside_a_table_have_other_ids(tmp_path):
    rows = [{"text": "tea", "n": 1}, {"text": "tea", "id": "1"}, {"text": "tea", "id": "2"}]
    index = CorpusIndex.from_texts(rows, tmp_path / "i")
    assert index.metadata.ids(np.arange(3)) == ["3", "1", "2"]


def test_files_of_a_mixed_folder_keep_their_names(tmp_path, run):
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "a.txt").write_text("Tea, he said.\n\nMore tea.\n")
    (folder / "b.jsonl").write_text('{"id": "x", "text": "Tea."}\n')
    (folder / "c.xml").write_text("<TEI><text><p>Tea.</p></text></TEI>")
    run("index", "build", folder, "-o", tmp_path / "i")
    index = CorpusIndex.open(tmp_path / "i")
    assert index.metadata.ids(np.arange(4)) == ["a.txt", "a.txt:3", "x", "c.xml"]
    for name in ("a", "a.txt", "c", "c.xml", "x", "a.txt:3"):
        assert index.select(where=f"id={name}").count("tea") == 1 + (name == "a")


def test_tables_of_files_as_people_have_them(tmp_path, run):
    (tmp_path / "f").mkdir()
    for name in ("cafe\u0301.txt", "c.txt"):
        (tmp_path / "f" / name).write_text("Tea, he said.\n")
    table = tmp_path / "t.csv"
    table.write_text(";file ; year\n0;café.txt;1850 \n1;C.TXT;1900\n")
    _, err = run("index", "build", tmp_path / "f", "--metadata", table, "-o", tmp_path / "i")
    index = CorpusIndex.open(tmp_path / "i")
    assert index.metadata.fields == {"year": "int"} and "does not name" not in err
    assert index.select(where="year=1850").count("tea") == 1
    assert index.select(where="id=café.txt").count("tea") == 1
    out, _ = run("kwic", tmp_path / "i", "tea", "--show", "year,id")
    assert [line.split("\t")[3:] for line in out.splitlines()] == [
        [", he said.", "1900", "c.txt"], [", he said.", "1850", "café.txt"]
    ]  # fmt: skip


def test_fields_after_removal_are_those_of_what_is_left(tmp_path):
    rows = [{"text": "tea", "id": "a", "n": "1850"}, {"text": "tea", "id": "b", "n": "x", "m": 1}]
    index = CorpusIndex.from_texts(rows, tmp_path / "i")
    assert index.metadata.fields == {"n": "text", "m": "int"}
    remove_documents(tmp_path / "i", ["b"])
    assert CorpusIndex.open(tmp_path / "i").metadata.fields == {"n": "int"}
    options = IndexOptions("text", types={"n": "text", "m": "int"})
    CorpusIndex.from_texts(rows, tmp_path / "j", options=options)
    remove_documents(tmp_path / "j", ["b"])
    assert CorpusIndex.open(tmp_path / "j").metadata.fields == {"n": "text"}


def test_ids_to_remove_are_looked_up_at_once(tmp_path, monkeypatch):
    rows = [{"text": f"tea {number}", "id": f"n{number}"} for number in range(60)]
    opened = []
    connect = metadata.sqlite3.connect
    monkeypatch.setattr(
        metadata.sqlite3, "connect", lambda *a, **b: (opened.append(a), connect(*a, **b))[1]
    )
    counts = []
    for n_removed in (1, 50):
        CorpusIndex.from_texts(rows, tmp_path / f"{n_removed}")
        opened.clear()
        remove_documents(tmp_path / f"{n_removed}", [f"n{number}" for number in range(n_removed)])
        counts.append(len(opened))
        assert CorpusIndex.open(tmp_path / f"{n_removed}").count("tea") == 60 - n_removed
    assert counts[0] == counts[1]
