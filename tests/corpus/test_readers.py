"""Readers of documents: what each reads of files as people have them, and what it refuses."""

import gzip
import json
import sys

import pytest

from distsim import CorpusIndex, IndexOptions, InputError
from distsim.corpus.readers import READERS, find_documents, format_of, settle_format
from distsim.corpus.readers.reader import ReadOptions
from distsim.corpus.sources import find_sources
from tests.corpus.test_markup import ALTO, DOCBOOK, SRT, TEI, VERTICAL

ROWS = [
    {"id": "a", "text": "The king, he said.\nIt rained.", "year": 1850, "author": "A. B."},
    {"id": "b", "text": "“Nothing,” said the queen.", "year": None, "author": ""},
]
JSONL = "".join(json.dumps(row) + "\n" for row in ROWS)
CSV = 'id,text,year,author\r\na,"The king, he said.\nIt rained.",1850,A. B.\r\n'
CSV += 'b,"“Nothing,” said the queen.",,\r\n'
ROW = "{}\t{}\t{}\tX\t{}\t_\t0\troot\t_\t_\n"
CONLLU = (
    "# newdoc id = a\n# meta::year = 1850\n# text = Kings ran.\n"
    + ROW.format(1, "Kings", "king", "NNS") + "2-3\tran.\t_\t_\t_\t_\t_\t_\t_\t_\n"
    + ROW.format(2, "ran", "run", "VBD") + ROW.format(3, ".", ".", "_") + "\n"
    + "# newdoc id = b\n" + ROW.format(1, "New York", "New York", "NNP")
)  # fmt: skip
PAGE = (
    "<html><head><meta charset=iso-8859-1><title>Das Café</title>"
    "<meta name=author content='J. Doe'></head><body><nav><ul><li><a href=x>Home</a></ul></nav>"
    + "<p>Der Müller öffnete die Tür, und die Gäste kamen herein, um das Brot zu kaufen.</p>" * 3
    + "<p>Später gingen alle nach Hause, weil es schon dunkel war.</p></body></html>"
)


def read(path, name=None, **options):
    """Return the documents of a file, and the options with their counts."""
    settings = ReadOptions(**options)
    (source,) = find_documents([path], name or "auto", settings)
    return [one._replace(annotations=None) for one in source.documents(source)], settings


def write(folder, name, text):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.jsonl", JSONL), ("x.jsonl", JSONL.replace("\n", "\r\n")), ("x.csv", CSV),
        ("x.csv", CSV.replace(",", ";").replace("king;", "king,").replace("ing;”", "ing,”")),
        ("x.tsv", 'id\ttext\tyear\tauthor\na\t"The king, he said.\nIt rained."\t1850\tA. B.\n'
                  "b\t“Nothing,” said the queen.\t\t\n"),
    ],
)  # fmt: skip
def test_records_become_documents(tmp_path, name, text, mark, compress):
    path = write(tmp_path, name, compress(mark + text.encode()))
    documents, settings = read(path)
    assert [one.text for one in documents] == [row["text"] for row in ROWS]
    assert [one.id for one in documents] == ["a", "b"]
    years = [1850, None] if name == "x.jsonl" else ["1850", None]
    assert [dict(one.fields) for one in documents] == [
        {"year": years[0], "author": "A. B."}, {"year": years[1], "author": None}
    ]  # fmt: skip
    first = documents[0].text.count("\n") * ("jsonl" not in name) + 2 - ("jsonl" in name)
    assert [one.line for one in documents] == [2 - ("jsonl" in name), first + 1]
    assert settings.skipped == 0


def test_an_index_of_records_is_that_of_their_texts(tmp_path):
    path = write(tmp_path, "x.jsonl", JSONL)
    index = CorpusIndex.build(
        path, tmp_path / "i", options=IndexOptions("text", file_format="jsonl")
    )
    same = CorpusIndex.from_texts([row["text"] for row in ROWS], tmp_path / "j")
    assert list(index) == list(same) and index.corpus == same.corpus
    assert index.parameters["counts"] == same.parameters["counts"]
    assert [line.line for line in index.concordance("said")] == [1, 2]
    write(tmp_path, "y.jsonl", json.dumps({"text": "More kings came."}))
    assert index.add(tmp_path / "y.jsonl").count("kings came") == 1
    assert not index.add(path).report.added


@pytest.mark.extra
def test_parquet(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({**{key: [row[key] for row in ROWS] for key in ("id", "text", "year")},
                      "day": pa.array([0, 1], pa.date32()), "tags": [["a"], None]})  # fmt: skip
    pq.write_table(table, tmp_path / "x.parquet")
    documents, _ = read(tmp_path / "x.parquet")
    assert [one.text for one in documents] == [row["text"] for row in ROWS]
    fields = documents[0].fields
    assert (
        fields["year"] == 1850 and str(fields["day"]) == "1970-01-01" and fields["tags"] == '["a"]'
    )
    packed = write(tmp_path, "y.parquet.gz", gzip.compress((tmp_path / "x.parquet").read_bytes()))
    assert read(packed)[0] == documents
    bad = write(tmp_path, "z.parquet", (tmp_path / "x.parquet").read_bytes()[:-9])
    with pytest.raises(InputError, match="z.parquet: no readable Parquet"):
        read(bad)
    pq.write_table(pa.table({"text": ["x" * 1000_000] * 200}), tmp_path / "bomb.parquet")
    with pytest.raises(InputError, match="unpacks to more than 1,000 times"):
        read(tmp_path / "bomb.parquet")


@pytest.mark.extra
def test_html(tmp_path):
    pytest.importorskip("trafilatura")
    (document,), _ = read(write(tmp_path, "x.html", PAGE.encode("latin-1")))
    assert document.text.splitlines()[0].startswith("Der Müller öffnete die Tür")
    assert document.text.splitlines()[-1].startswith("Später gingen alle")
    assert "Home" not in document.text
    assert (document.fields["title"], document.fields["author"]) == ("Das Café", "J Doe")
    nothing = write(tmp_path, "y.html", "<title>x</title>")
    with pytest.raises(InputError, match="y.html: has no main text: .* with `skip_broken`"):
        read(nothing)


@pytest.mark.parametrize(("name", "module"), [("x.html", "trafilatura"), ("x.parquet", "pyarrow")])
def test_without_its_extra_a_reader_says_what_to_install(tmp_path, monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=f"needs {module}: install it with pip"):
        read(write(tmp_path, name, PAGE))


def test_conllu(tmp_path):
    path = write(tmp_path, "x.conllu", CONLLU)
    documents, _ = read(path, "conllu")
    assert [(one.id, one.text, one.line) for one in documents] == [
        ("a", "Kings ran\x1f.", [4]), ("b", "New_York", [10])
    ]  # fmt: skip
    assert documents[0].fields == {"year": "1850"}


BROKEN = {
    "cut.jsonl": ('{"text": "cut\n', "line 1: is no JSON"),
    "lines.csv": (b'"a\nb",c\n1,2\n', "line 3: no field .text.; its fields are .*, c: "),
    "list.jsonl": ("[1]\n", "line 1: is no JSON object"),
    "none.jsonl": ('{"story": "x"}\n', "line 1: no field 'text'; its fields are story"),
    "number.jsonl": ('\n{"text": 7}\n', "line 2: the field 'text' is 7, wanted a text"),
    "half.jsonl": ('{"text": "a \\ud800"}\n', "line 1: .* half of a character"),
    "latin.jsonl": (b'{"text": "caf\xe9"}\n', "line 1, byte 14: not UTF-8"),
    "large.jsonl": ('{"text": "a", "n": ' + "9" * 5000 + "}\n", "too large"),
    "ragged.csv": ("id,text\n1,a,b\n", "line 2: 3 fields, wanted 2"),
    "open.csv": ('id,text\n1,"a\n2,b\n', "line 2: a field in quotation marks .* does not end"),
    "latin.csv": (b"id,text\n1,caf\xe9\n", "line 2, byte 6: not UTF-8"),
    "mac.tsv": ("id\ttext\r1\ta\r", "line 1: its lines end in carriage returns alone"),
    "short.conllu": ("1\ta\ta\n\n", "line 1: 3 columns, wanted 10"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "what"), [(a, *b) for a, b in BROKEN.items()])
def test_a_broken_record_names_file_and_line_and_can_be_left_out(tmp_path, name, text, what):
    kind = name.partition(".")[2]
    good = {"jsonl": JSONL, "csv": "", "tsv": "", "conllu": CONLLU}[kind]
    text = text.encode() if isinstance(text, str) else text
    path = write(tmp_path, name, text + good.encode())
    with pytest.raises(InputError, match=f"{name}, {what}" if "line" in what else what):
        read(path, kind)
    if name == "mac.tsv":
        return
    documents, settings = read(path, kind, skip_broken=True)
    assert settings.skipped == 1 and len(documents) == (2 if good else 0)
    assert name in settings.first_skipped


def test_what_can_be_read_but_once(tmp_path, run, monkeypatch):
    lines = JSONL.encode()
    for name, given in (("i", lines), ("j", gzip.compress(lines))):
        with open(write(tmp_path, "in", given)) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            run("index", "build", "--format", "jsonl", "-", "-o", tmp_path / name)
    index = CorpusIndex.open(tmp_path / "j")
    assert index.count("it rained") == 1 and index.corpus == CorpusIndex.open(tmp_path / "i").corpus
    with open(write(tmp_path, "in", '{"text": "Kings came."}')) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        run("index", "add", tmp_path / "j", "-")
    assert CorpusIndex.open(tmp_path / "j").count(["it rained", "kings came"]).tolist() == [1, 1]


def test_fields_are_named_and_empty_texts_counted(tmp_path, run):
    path = write(tmp_path, "x.jsonl", '{"story": "Kings ran.", "no": 7}\n{"story": " ", "no": 8}\n')
    (document,), settings = read(path, text_field="story", id_field="no")
    assert (document.text, document.id, settings.empty) == ("Kings ran.", "7", 1)
    write(tmp_path, "z.jsonl", '{"id": 1, "text": "Kings ran."}\n{"id": 1, "text": "A king."}\n')
    _, err = run("index", "build", tmp_path / "z.jsonl", "-o", tmp_path / "z", status=1)
    assert "two documents have the id '1': name a field with other ids with --id, or" in err
    _, err = run("index", "build", tmp_path / "z.jsonl", "-o", tmp_path / "z", "--id", "-")
    assert "given_id int" in err
    for name in ("--text", "--id"):
        _, err = run("index", "build", path, "-o", tmp_path / "i", name, "", status=1)
        assert f"{name} is empty: name a field, or leave it out" in err
    with pytest.raises(InputError, match="no id in the field 'nr'"):
        read(path, text_field="story", id_field="nr")
    _, err = run("index", "build", path, "-o", tmp_path / "i", status=1)
    assert (
        "name that of the text with --text, or leave broken records out with --skip-broken" in err
    )
    _, err = run("index", "build", path, "-o", tmp_path / "i", "--text", "story")
    assert "read as jsonl" in err and "1 record without text left out" in err


def test_quotation_marks_of_tables_with_tabs_belong_to_the_text(tmp_path):
    text = 'id\ttext\n1\t"Hello," she said.\n2\t5" nails\n'
    assert [one.text for one in read(write(tmp_path, "x.tsv", text))[0]] == [
        '"Hello," she said.', '5" nails'
    ]  # fmt: skip


def test_formats_are_recognised_by_name_then_by_first_bytes(tmp_path):
    texts = {
        "a.JSONL.gz": (b"", "jsonl"), "b.tab": (b"", "tsv"), "c.htm": (b"", "html"),
        "d": (JSONL.encode(), "jsonl"), "e.dat": (b"id,text\n1,the king\n", "csv"),
        "f.xml": (PAGE.encode(), "html"), "g": (CONLLU.encode(), "conllu"), 
        "h": (b"PAR1", "parquet"),
        "k.xml": (TEI.encode(), "tei"), "l.txt": (VERTICAL.encode(), "vertical"),
        "m.txt": (SRT.encode(), "subtitles"), "n.ass": (b"", "subtitles"), "o.docx": (b"", "docx"),
        "p.xml": (DOCBOOK.encode(), "docbook"), "q.xml": (ALTO.encode(), "alto"),
        "i.txt": (JSONL.encode(), "text"), "j": (b"the king ran .\n", "text"),
    }  # fmt: skip
    for name, (text, _) in texts.items():
        write(tmp_path, name, text)
    found = {one.name: format_of(one) for one in find_sources([tmp_path])}
    assert found == {name: kind for name, (_, kind) in texts.items()}
    assert {kind for _, kind in texts.values()} == {*READERS, "text"}


def test_a_mixed_folder(tmp_path, run):
    folder = tmp_path / "mixed"
    folder.mkdir()
    write(folder, "a.jsonl", JSONL)
    write(folder, "b.txt.gz", gzip.compress(b"The duke, too, said so.\n\nIt snowed.\n"))
    write(folder, "c.csv", CSV.replace("\r\nb,", "\r\nd,").replace("\na,", "\nc,"))
    assert settle_format([folder]) == ("auto", "text")
    run("index", "build", folder, "-o", tmp_path / "i")
    index = CorpusIndex.open(tmp_path / "i")
    assert index.count(["said", "it rained", "it snowed"]).tolist() == [5, 2, 1]
    assert index.parameters["counts"]["documents"] == 6
    write(folder, "d.conllu", CONLLU)
    _, err = run("index", "build", folder, "-o", tmp_path / "j", status=1)
    assert "index annotated files and others apart" in err


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/epub+zip", "EPUB.*pandoc"),
        (b"%PDF-1.4\n", "PDF.*pdftotext"), (b"{\\rtf1", "RTF.*pandoc"),
        (b"\xff\xfe" + "the king".encode("utf-16-le"), "UTF-16.*iconv"),
        (json.dumps(ROWS).encode(), "JSON, .*jq"), (b"<tmx><body/></tmx>", "TMX.*distsim align"),
        (b"@Begin\n*CHI:\tthe king .\n", "CHAT.*pylangacq"), (b"<nitf>\n<head/></nitf>", "XML, .*"),
    ],
)  # fmt: skip
def test_what_no_reader_takes_names_a_converter(tmp_path, run, head, what):
    import re

    _, err = run("index", "build", write(tmp_path, "x.bin", head), "-o", tmp_path / "i", status=1)
    assert re.search(what, err) and err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.vrt", SRT, "subtitles"),
        ("a.html", "WEBVTT\n\n00:01.000 --> 00:02.000\nTea.\n", "subtitles"),
        ("a.vert.gz", TEI, "tei"), ("a.csv", ALTO, "alto"), ("a.srt", DOCBOOK, "docbook"),
        ("a.conllu", '{"text": "the king"}\n' * 3, "jsonl"),
        ("a.jsonl", "<tmx><body/></tmx>", "text"),
        ("a.csv", "@Begin\n*CHI:\tthe king .\n", "text"), ("a.vrt", VERTICAL, "vertical"),
    ],
)  # fmt: skip
def test_a_wrong_ending_hides_no_unmistakable_format(tmp_path, run, name, text, kind):
    given = text if isinstance(text, bytes) else text.encode()
    path = write(tmp_path, name, gzip.compress(given) if name.endswith(".gz") else given)
    (source,) = find_sources([path])
    assert format_of(source) == kind
    if kind == "text":
        _, err = run("index", "build", path, "-o", tmp_path / "i", status=1)
        assert f"{name}: looks like " in err and err.count("\n") == 1


VTT = "WEBVTT\n\n00:01.000 --> 00:02.000\nTea.\n"
KINGS_PAGE = "<!DOCTYPE html>\n<html><body><p>the king ran</p></body></html>\n"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.vrt", KINGS_PAGE, "html"),
        ("a.vert", "id,text\n1,the king ran\n2,a\n3,b\n4,c\n", "csv"),
        ("a.vrt", SRT, "subtitles"), ("a.html", SRT, "subtitles"), ("a.html", VTT, "subtitles"),
        ("a.vrt", CONLLU, "conllu"), ("a.conllu", VERTICAL, "vertical"),
        ("a.vrt", VERTICAL, "vertical"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "cr", "utf-16", "utf-32"])
def test_a_wrong_ending_is_read_by_its_content_or_refused(
    tmp_path, run, name, text, kind, encoding
):  # fmt: skip
    text = text.decode() if isinstance(text, bytes) else text
    data = text.replace("\n", "\r").encode() if encoding == "cr" else text.encode(encoding)
    path = write(tmp_path, name, data)
    (source,) = find_sources([path])
    assert format_of(source) == kind
    if kind == "html":  # whose reader is of an extra
        return
    good = write(tmp_path, "good", text.encode())
    run("index", "build", good, "-o", tmp_path / "good.i", "--format", kind)
    _, err = run("index", "build", path, "-o", tmp_path / "i", status=None)
    if (tmp_path / "i").exists():
        expected = CorpusIndex.open(tmp_path / "good.i")
        assert CorpusIndex.open(tmp_path / "i").n_tokens == expected.n_tokens > 0
    else:
        remedies = ("carriage returns alone: convert", "not UTF-8", "-f UTF")
        assert err.count("distsim: ") == 1 and any(remedy in err for remedy in remedies)


@pytest.mark.parametrize(
    "text", ["the king ran\nto the sea\n" * 9, "<doc>\nthe king ran\n</doc>\n"]
)
def test_lines_of_several_words_are_no_vertical_file(tmp_path, run, text):
    path = write(tmp_path, "a.vrt", text.encode())
    _, err = run("index", "build", path, "-o", tmp_path / "i", status=1)
    assert "a.vrt: has lines of several words, wanted a token a line" in err and "--format" in err


def test_a_line_that_is_nearly_a_structure_is_told(tmp_path, run):
    path = write(tmp_path, "a.vrt", b"<doc id=O'Neil>\n<s>\nthe\tDT\nking\tNN\n</s>\n</doc>\n")
    _, err = run("index", "build", path, "-o", tmp_path / "i", status=1)
    assert "a.vrt, line 1: <doc id=O'Neil> is no structure: write its attributes as name=" in err


def test_an_attribute_of_a_structure_may_be_without_quotation_marks(tmp_path):
    text = "<doc year=1990 id=b url='a/b'>\n<s>\nthe\tDT\n<g/>\nking\tNN\n</s>\n</doc>\n"
    path = write(tmp_path, "a.vrt", text.encode())
    index = CorpusIndex.build(
        path, tmp_path / "i", options=IndexOptions("lines", file_format="vertical")
    )
    assert index.n_tokens == 2 and index.select(where=["year=1990"]).count("the king") == 1


def test_text_whose_lines_end_in_carriage_returns_is_refused(tmp_path, run):
    path = write(tmp_path, "a.txt", b"the king\rthe queen\r")
    _, err = run("index", "build", path, "-o", tmp_path / "i", status=1)
    assert "lines end in carriage returns alone, wanted plain text: convert them first (tr" in err
    run("index", "build", path, "-o", tmp_path / "i", "--as-is")
    assert CorpusIndex.open(tmp_path / "i").n_tokens == 4


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16le", "utf-16be", "utf-32le"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", CSV), ("a.jsonl", '{"text": "the king"}\n'), ("a.conllu", CONLLU), ("a.srt", SRT),
        ("a.vrt", "<s>\nthe\tDT\tthe\nking\tNN\tking\n</s>\n"), ("a.txt", "the king\n"),
    ],
)  # fmt: skip
def test_text_in_utf_16_names_its_encoding_whatever_the_format(tmp_path, run, encoding, name, text):
    given = write(tmp_path, name, text.encode(encoding))
    _, err = run("index", "build", given, "-o", tmp_path / "i", status=1)
    assert f"or name its encoding with --encoding {encoding}" in err
    run("index", "build", given, "-o", tmp_path / "i", "--encoding", encoding)
    assert CorpusIndex.open(tmp_path / "i").n_tokens >= 2


@pytest.mark.extra
def test_drawings_of_subtitles_are_no_words(tmp_path):
    pytest.importorskip("pysubs2")
    events = [
        "{\\i1}The ship,{\\i0}\\Nsailed.",
        "{\\an5\\p1}m 0 0 l 9 0{\\p0} Away.",
        "{\\p2}m 1 1",
    ]
    rows = "\n".join(f"Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,{one}" for one in events)
    fields = "Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text"
    text = f"[Script Info]\nScriptType: v4.00+\n[V4+ Styles]\n[Events]\nFormat: {fields}\n{rows}\n"
    (document,), _ = read(write(tmp_path, "a.ass", text))
    assert document.text.split() == ["The", "ship,", "sailed.", "Away."]


FIELDS = "Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text"


@pytest.mark.parametrize(
    ("before", "fields", "begin"),
    [
        ("[Script Info]\nTitle: x\n\n[Events]\n", FIELDS, "0,0:00:01,0:00:02,D,,0,0,0,,"),
        ("[Events]\n", FIELDS, "Marked=0,0:00:01.00,0:00:02.00,D,,0,0,0,,"),
        ("[script info]\n\n[V4 Styles]\nFormat: Name\nStyle: D\n[events]\n", FIELDS, "0,,,,,,,,,"),
        ("[Script Info]\n[Events]\n", "", "0,0:00:01.00,0:00:02.00,D,,0,0,0,,"),
        ("[Script Info]\n[Events]\n", "Start, End, Text", "0:00:01.00,0:00:02.00,"),
    ],
    ids=["no styles", "events alone", "small letters", "no format", "fewer fields"],
)  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_ass_subtitles_without_styles(tmp_path, before, fields, begin, end):
    said = ["{\\i1}The king,{\\i0} he\\Nsaid, is\\hhere.", "The queen, too."]
    rows = [f"Dialogue: {begin}{one}" for one in said]
    lines = [*before.split("\n")[:-1], *([f"Format: {fields}"] if fields else []), *rows]
    lines.insert(-1, f"Comment: {begin}Not said.")
    for name in ("a.ass", "b.txt"):
        path = write(tmp_path, name, "".join(line + end for line in lines))
        assert format_of(find_sources([path])[0]) == "subtitles"
        (document,), _ = read(path)
        assert document.text == "The king, he said, is here.\nThe queen, too."


def test_a_subtitle_of_ass_with_few_fields_is_refused(tmp_path):
    path = write(tmp_path, "a.ass", f"[Events]\nFormat: {FIELDS}\nDialogue: 0,0:00:01.00,Hi.\n")
    with pytest.raises(InputError, match="a.ass, line 3: has 3 of the 10 fields"):
        read(path)


def test_a_reader_of_annotated_text_of_a_strangers_is_a_function_and_an_entry(
    tmp_path, run, monkeypatch
):
    """CONTRIBUTING.md's errand: found by its ending, with lemmas and tags, in pieces where long."""
    from distsim.corpus.lines import decoded_line, read_lines
    from distsim.corpus.readers import reader as base

    def read_slashed(source, options):
        document = base.SentenceDocument(options.id_of(source.name), {})
        for number, data in read_lines(source):
            tokens = [token.split("/") for token in decoded_line(data, f"line {number}").split()]
            if tokens:
                document.add([token[0] for token in tokens],
                             [(token[1], token[2]) for token in tokens], number)  # fmt: skip
            yield from document.pieces()
        yield from document.rest()

    slashed = base.Reader(
        (".slashed",), ("slashed",), read_slashed, text_formats=("lines",), annotates=True
    )
    monkeypatch.setitem(READERS, "vertical", slashed)  # a name that options have
    monkeypatch.setattr(base, "PIECE_TOKENS", 4)
    path = write(tmp_path, "a.slashed", "Dogs/dog/NNS ran/run/VBD\n" * 5)
    documents = list(slashed.read(find_sources([path])[0], ReadOptions()))
    assert [(d.text.count("\n"), d.continues) for d in documents] == [
        (1, False), (1, True), (0, True),
    ]  # fmt: skip
    assert [list(d.line) for d in documents] == [[1, 2], [3, 4], [5]]
    run("index", "build", path, "-o", tmp_path / "i")
    out, _ = run("count", tmp_path / "i", "--query", '[lemma="dog"] [tag="VBD"]')
    assert out.split("\t")[-1] == "5\n"
    assert len(CorpusIndex.open(tmp_path / "i").document_edges) == 2
