"""Readers of TEI, DocBook, ALTO, vertical files, subtitles and docx: what they read and refuse."""

import gzip
import io
import random
import zipfile

import numpy as np
import pytest

from distsim import CorpusIndex, IndexOptions, InputError
from distsim.corpus.readers import READERS, find_documents, settle_format
from distsim.corpus.readers.annotated import layout_of
from distsim.corpus.readers.reader import ReadOptions

TEI = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:id="N1" xml:lang="en"><teiHeader><fileDesc><titleStmt>
<title>A tale</title><author>Doe, Jane</author><author>Roe</author></titleStmt>
<publicationStmt><p>With a license.</p><date when="2020"/></publicationStmt>
<sourceDesc><bibl><date>1889</date></bibl>
<bibl type="firstEdition"><date when="1850">1851</date></bibl></sourceDesc></fileDesc><profileDesc>
<textDesc><size key="short"/></textDesc></profileDesc>
</teiHeader><text><body><head>Chapter 1</head><pb n="1"/>
<p>The king<note>Of Spain.</note>, ill &amp; old, <hi>came</hi> to the ri-<lb break="no"/>
ver<lb/>and the <choice><sic>twon</sic><corr>town</corr></choice>.</p>
<lg><l>O wild,</l><l>thou breath</l></lg><sp who="#A"><speaker>ANNA</speaker>
<p>Come here&nbsp;!</p></sp><fw>TALES 17</fw>
</body></text></TEI>
"""
TEI_TEXT = [
    "Chapter 1", "The king, ill & old, came to the river and the town.", "O wild,", "thou breath",
    "Come here !",
]  # fmt: skip
TEI_WORDS = """<TEI><teiHeader/><text><body><p><s><w lemma="the" pos="DT">The</w> <w lemma="king"
pos="NNS">kin<lb/>gs</w><pc>,</pc></s><s><w hw="run" c5="VVD">ran </w>
<w msd="UPosTag=ADV|x=y">so</w>
<note><w lemma="no">no</w></note>now</s></p></body></text></TEI>"""
VERTICAL = """<corpus name="c">
<text id="t1" year="1850" title="A &amp; B">
<s>
The	DT	the
kings	NNS	king
<g/>
,	,	,
she	PRP	<unknown>
&lt;	SYM	&lt;
</s>
</text>
<text id="t2" year="1851">
<s>
They	PRP	they
ran	VBD	run
</s>
</text>
</corpus>
"""
SRT = """1
00:00:01,000 --> 00:00:02,000
Come here,
please!

2
00:00:03,000 --> 00:00:04,000
- <i>Why?</i>
- Because I said

3
00:00:05,000 --> 00:00:06,000
{\\an8}so, and ♪ la ♪
"""
DOCBOOK = """<article xmlns="http://docbook.org/ns/docbook">
<info><title>T</title><pubdate>1999</pubdate></info><title>The title</title>
<para>The king<footnote><para>x</para></footnote> came.</para>
<programlisting>int x;</programlisting></article>"""
ALTO = """<alto xmlns="http://www.loc.gov/standards/alto/ns-v3#"><Layout><Page><PrintSpace><TextBlock>
<TextLine><String CONTENT="The"/><SP/><String CONTENT="capabili" SUBS_TYPE="HypPart1"
SUBS_CONTENT="capability"/><HYP CONTENT="-"/></TextLine><TextLine><String CONTENT="ty"
SUBS_TYPE="HypPart2" SUBS_CONTENT="capability"/><SP/><String CONTENT="of"/></TextLine>
<TextLine><String CONTENT="kings"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>"""


def read(path, name="auto", **options):
    """Return the documents of a file."""
    (source,) = find_documents([path], name, ReadOptions(**options))
    return list(source.documents(source))


def written(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def built(path, folder, **options):
    file_format, text_format = settle_format([path])
    options = IndexOptions(text_format, file_format=file_format, **options)
    return CorpusIndex.build(path, folder, options=options, force=True)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_tei_has_its_paragraphs_verses_and_header(tmp_path, compress):
    (document,) = read(written(tmp_path, "a.xml", compress(TEI.encode())))
    assert document.text.split("\n") == TEI_TEXT and document.id == "N1"
    assert document.fields == {
        "title": "A tale", "author": "Doe, Jane; Roe", "date": "1850", "language": "en",
        "size": "short",
    }  # fmt: skip
    assert document.line[0] == 8 and document.line == sorted(document.line)
    (document,) = read(tmp_path / "a.xml", leave_out="p", id_field="-")
    assert document.text == "Chapter 1\nO wild,\nthou breath\nANNA\nTALES 17"
    assert document.id is None


def test_tei_whose_words_are_elements_has_lemmas_and_tags(tmp_path):
    path = written(tmp_path, "a.xml", TEI_WORDS)
    assert settle_format([path]) == ("tei", "lines")
    (document,) = read(path, text_format="lines")
    assert document.text == "The kings\x1f,\nran so now" and document.id == "a.xml"
    assert document.annotations == [
        ("the", "DT"), ("king", "NNS"), (",", "_"), ("run", "VVD"), ("so", "ADV"), ("now", "_"),
    ]  # fmt: skip
    index = built(path, tmp_path / "i")
    assert index.count("kings , ") == 1 and len(index.spans('[lemma="king"]', query=True)) == 1
    (document,) = read(path, text_format="text")
    assert document.text == "The kings,\nran so now"


JOINED = {
    "a.conllu": "".join(
        f"{n}\t{form}\t_\tX\t_\t_\t_\t_\t_\t{misc}\n"
        for n, form, misc in (
            ("1", "“", "SpaceAfter=No"), ("2-3", "Cannot", "_"), ("2", "Can", "_"),
            ("3", "not", "_"), ("4", "go", "A=b|SpaceAfter=No"), ("5", ",", "_"),
            ("6", "de", "_"), ("7", "le", "SpaceAfter=No"), ("8", "!", "SpaceAfter=No"),
            ("8.1", "-", "_"), ("9", "”", "SpaceAfter=No"),
        )
    ) + "\n",
    "a.vrt": "<s>\n<g/>\n“\n<g/>\nCan\n<g/>\nnot\ngo\n<g>\n</g>\n,\nde\nle\n<g/>\n!\n<g/>\n”\n",
    "a.xml": """<TEI><text><body><s><pc join="right">“</pc><w lemma="can">Can</w>
<w join="left">not</w>
<w>go</w><pc>,</pc> <w>de</w><w join="right">le</w>!
<pc join="left">”</pc></s></body></text></TEI>""",
}  # fmt: skip


@pytest.mark.parametrize("name", JOINED)
def test_tokens_are_written_together_where_the_file_has_them_so(tmp_path, run, name):
    index = built(written(tmp_path, name, JOINED[name]), tmp_path / "i")
    assert index.words("Can not go") == ["can", "not", "go"]
    for width, left, right in (
        (10, "“Cannot go,", "le!”"), (1, ",", "le"), ("s", "“Cannot go,", "le!”"),
        ("2:3", "go,", "le!”"),
    ):  # fmt: skip
        (line,) = index.concordance("de", width=width)
        assert (line.left, line.node, line.right) == (left, "de", right), width
    (line,) = index.concordance("not go ,")
    assert (line.left, line.node, line.right) == ("“Can", "not go,", "de le!”")
    (line,) = index.concordance('"le" "!" []', query=True)
    assert line.node == "le!”"
    document = index.documents_at(np.array([0]))[0]
    assert run("document", index.path, document)[0] == "“Cannot go, de le!”\n"
    run("verify", index.path)


CONTRACTIONS = {
    "a.xml": """<TEI><text><body><s><w pos="S">volontà</w> <w join="right">dell'<w norm="di"
pos="E"/><w norm="la" lemma="il" pos="RD"/></w><w pos="S">Arma</w> <w>Dal<w norm="da"/><w
norm="il" lemma="il"/></w> <w>re</w></s></body></text></TEI>""",
    "a.conllu": "".join(
        f"{n}\t{form}\t{lemma}\tX\t_\t_\t_\t_\t_\t{misc}\n"
        for n, form, lemma, misc in (
            ("1", "volontà", "_", "_"), ("2-3", "dell'", "_", "SpaceAfter=No"),
            ("2", "di", "_", "_"), ("3", "la", "il", "_"), ("4", "Arma", "_", "_"),
            ("5-6", "Dal", "_", "_"), ("5", "da", "_", "_"), ("6", "il", "il", "_"),
            ("7", "re", "_", "_"),
        )
    ) + "\n",
}  # fmt: skip


@pytest.mark.parametrize("dedup", ["off", "exact"])
@pytest.mark.parametrize("name", CONTRACTIONS)
def test_contractions_are_written_in_their_form(tmp_path, run, name, dedup):
    index = built(written(tmp_path, name, CONTRACTIONS[name]), tmp_path / "i", dedup=dedup)
    assert index.n_tokens == 7 and index.count("dell'") == 0
    for phrase, width, line in (
        ("di", 10, ("volontà", "dell'", "Arma Dal re")), ("arma", 1, ("dell'", "Arma", "Dal")),
        ("la", "s", ("volontà", "dell'", "Arma Dal re")),
        ("re", "s", ("volontà dell'Arma Dal", "re", "")),
        ("la arma", 10, ("volontà", "dell'Arma", "Dal re")),
    ):  # fmt: skip
        (found,) = index.concordance(phrase, width=width)
        assert (found.left, found.node, found.right) == line, (phrase, width)
    assert len(index.spans('[lemma="il"]', query=True)) == 2
    document = index.documents_at(np.array([0]))[0]
    assert run("document", index.path, document)[0] == "volontà dell'Arma Dal re\n"
    run("verify", index.path)


def test_the_readings_of_ruby_are_left_out(tmp_path):
    ruby = "<p><ruby><rb>此</rb><rt>こ</rt></ruby>の王</p>"
    path = written(tmp_path, "a.xml", f"<TEI><text><body>{ruby}</body></text></TEI>")
    assert read(path)[0].text == "此の王"


def test_contractions_of_tei_are_their_words(tmp_path):
    """As ParlaMint has them: the form, with the words inside of it."""
    words = """<w pos="S" lemma="volontà">volontà</w>
<w>della<w norm="di" lemma="di" pos="E"/><w norm="la" lemma="il" pos="RD"/></w>
<w pos="S" join="right">fine</w><pc join="right">(</pc><w join="right">Mettersi<w norm="metter"
lemma="mettere" pos="V"/><w norm="si" lemma="si" pos="PC"/></w><pc>)</pc>
<w>da<lb break="no"/>l<w norm="da" pos="E"/><w norm="il" pos="RD"/></w>
<w><w>New</w> <w>York</w></w>"""
    path = written(tmp_path, "a.xml", f"<TEI><text><body><s>{words}</s></body></text></TEI>")
    (document,) = read(path, text_format="lines")
    assert document.text == (
        "volontà \x1edella\x1ddi\x1cla fine\x1f(\x1fmetter\x1fsi\x1f) \x1edal\x1dda\x1cil New York"
    )
    assert document.annotations[1:3] == [("di", "E"), ("il", "RD")]
    assert len(document.annotations) == 12
    (document,) = read(path, text_format="text")
    assert document.text.split()[:2] == ["volontà", "della"]


def test_a_corpus_of_tei_is_a_document_each(tmp_path):
    inner = TEI.partition("?>")[2]
    both = f"<teiCorpus><teiHeader/>{inner}{inner.replace('N1', 'N2')}</teiCorpus>"
    documents = read(written(tmp_path, "a.xml", both))
    assert [one.id for one in documents] == ["N1", "N2"]
    assert [one.text.split("\n") for one in documents] == [TEI_TEXT] * 2


def test_documents_without_text_are_left_out(tmp_path, run):
    text = "<teiCorpus><TEI><text><p>The king.</p></text></TEI>\n<TEI><text><p/></text></TEI>"
    path = written(tmp_path, "a.xml", f"{text}\n<TEI><teiHeader/></TEI></teiCorpus>")
    _, err = run("index", "build", path, "-o", tmp_path / "index")
    assert f"2 records without text left out; the first: {path}, line 2" in err
    assert CorpusIndex.open(tmp_path / "index").n_tokens == 3
    empty = written(tmp_path, "b.xml", "<TEI><teiHeader/></TEI>")
    _, err = run("index", "build", empty, "-o", tmp_path / "none", status=1)
    assert "b.xml: no token in the corpus" in err


def test_a_long_tei_document_comes_in_pieces(tmp_path):
    text = "<TEI><text>" + "<p>The king said so, and it was so.</p>" * 80_000 + "</text></TEI>"
    documents = read(written(tmp_path, "a.xml", text))
    assert len(documents) > 2 and [one.continues for one in documents[:2]] == [False, True]
    assert sum(one.text.count("king") for one in documents) == 80_000


def test_other_xml_by_its_root(tmp_path):
    (document,) = read(written(tmp_path, "b.xml", DOCBOOK))
    assert document.text == "The title\nThe king came."
    assert document.fields == {"title": "T", "date": "1999"}
    (document,) = read(written(tmp_path, "c.xml", ALTO))
    assert document.text == "The capability of kings"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "<TEI><text><p>the king</text></TEI>",
            r"line 1: is no well-formed XML \(mismatched tag\)",
        ),
        ("<TEI>\n<text><p>the king", "line 2: is no well-formed XML"),
        ("<other/>", "has no element TEI, TEI.2"),
        ("<TEI>" + "<p>" * 3000, "over 2,000 elements inside each other"),
        ('<?xml version="1.0" encoding="xyz"?><TEI/>', "line 1: "),
        ("", "is no well-formed XML"),
    ],
)
def test_broken_xml_is_refused(tmp_path, text, what):
    with pytest.raises(InputError, match=what):
        read(written(tmp_path, "a.tei", text))


def test_entities_do_not_explode_and_no_file_is_fetched(tmp_path):
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 99}">' for n in range(1, 9))
    bomb = f'<!DOCTYPE TEI [<!ENTITY l0 "ha">{laughs}]><TEI><text><p>&l8;</p></text></TEI>'
    with pytest.raises(InputError, match="limit on input amplification"):
        read(written(tmp_path, "a.xml", bomb))
    secret = written(tmp_path, "secret", "secret")
    text = f'<!DOCTYPE TEI [<!ENTITY s SYSTEM "{secret}">]><TEI><text>the &s; king</text></TEI>'
    assert read(written(tmp_path, "b.xml", text))[0].text == "the king"


def test_vertical_files_have_layers_sentences_and_fields(tmp_path):
    for name in ("a.vrt", "a.txt", "a"):
        path = written(tmp_path, name, VERTICAL)
        assert settle_format([path]) == ("vertical", "lines")
        first, second = read(path, "vertical")
        assert (first.id, second.id) == ("t1", "t2") and first.line == [4]
        assert first.fields == {"year": "1850", "title": "A & B"}
        assert first.text == "The kings\x1f, she <" and second.text == "They ran"
        assert first.annotations == [
            ("the", "DT"), ("king", "NNS"), (",", ","), ("she", "PRP"), ("<", "SYM"),
        ]  # fmt: skip
    index = built(path, tmp_path / "i")
    assert [len(index.spans(q, query=True)) for q in ('[lemma="run"]', '[tag="PRP"]')] == [1, 2]
    assert index.select(where="year=1851").count("ran") == 1


def test_a_named_column_of_coarse_tags_is_a_layer(tmp_path, run):
    rows = [("word", "lemma", "xpos", "upos"), ("Kings", "king", "NNS", "NOUN"),
            ("ran", "run", "VBD", "VERB"), ("fast", "fast", "RB", "_")]  # fmt: skip
    text = "\n".join(map("\t".join, rows)) + "\n"
    named = written(tmp_path, "a.vrt", text)
    bare = written(tmp_path, "b.vrt", text.partition("\n")[2].replace("fast", "home"))
    for name, options in (("named", {}), ("bare", {"columns": "word,lemma,xpos,upos"})):
        index = built({"named": named, "bare": bare}[name], tmp_path / name, **options)
        assert index.layers.names == ("lemma", "tag", "upos")
        assert len(index.spans('[tag="VBD" & upos="VERB"]', query=True)) == 1
        assert index.of_layer("upos").count(["NOUN", "VERB", "_"]).tolist() == [1, 1, 1]
    plain = built(bare, tmp_path / "plain")
    assert plain.layers.names == ("lemma", "tag")
    # Files of which the first alone, or only a later one, has the column.
    run("index", "add", tmp_path / "named", bare)
    assert CorpusIndex.open(tmp_path / "named").of_layer("upos").count("_") == 4
    run("index", "add", tmp_path / "plain", named)
    assert CorpusIndex.open(tmp_path / "plain").layers.names == ("lemma", "tag")
    run("verify", tmp_path / "named")


def test_columns_and_documents_of_vertical_files(tmp_path):
    rows = "The\tthe\tDT\nkings\tking\tNNS\n.\t.\tSENT\nRan\trun\tVBD\nthe\tthe\tDT\n"
    text = f'<book id="b">\n<speech id="s" who="A">\n{rows}</speech>\n'
    text += f'<speech id="s" who="B">\n{rows}</speech>\n</book>\n'
    path = written(tmp_path, "a.vrt", text)
    documents = read(path, "vertical")
    assert [(one.id, dict(one.fields)) for one in documents] == [
        ("s", {"who": "A"}), ("s-2", {"who": "B"}),
    ]  # fmt: skip
    assert documents[0].text == "The kings .\nRan the"
    assert documents[0].annotations[1] == ("king", "NNS")
    (document,) = read(path, "vertical", document_name="book", columns="word,pos,lemma")
    assert document.id == "b" and document.annotations[1] == ("NNS", "king")
    named = f"<!-- #vrt positional-attributes: word lemma pos -->\n{rows}".encode()
    assert layout_of(named, None, None)[:3] == (3, 2, 1)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("kings\tNNS\tking\n", "kings\tNNS\n", "line 5: 2 columns, wanted 3"),
        ('</text>\n<text id="t2', '</body>\n<text id="t2', "line 11: </body> ends what did not"),
    ],
)
def test_broken_lines_of_vertical_files(tmp_path, old, new, what):
    path = written(tmp_path, "a.vrt", VERTICAL.replace(old, new))
    with pytest.raises(InputError, match=what):
        read(path, "vertical")
    documents = read(path, "vertical", skip_broken=True)
    assert "They ran" in "\n".join(one.text for one in documents)


@pytest.mark.extra
def test_subtitles_are_what_is_said(tmp_path):
    pytest.importorskip("pysubs2")
    (document,) = read(written(tmp_path, "a.srt", SRT))
    assert document.text.split("\n") == [
        "Come here, please!", "Why?", "Because I said so, and la",
    ]  # fmt: skip
    assert document.line == [1, 2, 2] and document.id == "a.srt"
    vtt = "WEBVTT\n\nNOTE x\n\n00:01.000 --> 00:02.000 line:0\n<v Anna>Come <b>here</b>.\n"
    assert read(written(tmp_path, "b", vtt))[0].text == "Come here."
    with pytest.raises(InputError, match=r"c\.srt: has no subtitle with text|cannot be read"):
        read(written(tmp_path, "c.srt", "1\n\n"))
    with pytest.raises(InputError, match=r"d\.srt, line 3, byte 2: not UTF-8"):
        read(written(tmp_path, "d.srt", SRT.encode().replace(b"ome here", b"\xf3me here", 1)))


def docx(body):
    """Return the bytes of a file of Word with some paragraphs."""
    w = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "word/document.xml", f'<w:document xmlns:w="{w}"><w:body>{body}</w:body></w:document>'
        )
        archive.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="a" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
            'relationships/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        )
    return packed.getvalue()


@pytest.mark.extra
def test_docx_has_its_paragraphs(tmp_path):
    pytest.importorskip("mammoth")
    body = "<w:p><w:r><w:t>The king.</w:t></w:r></w:p><w:p><w:r><w:t>He</w:t><w:br/><w:t>ran"
    packed = docx(f"{body}</w:t><w:tab/><w:t>away.</w:t></w:r></w:p>")
    (document,) = read(written(tmp_path, "a.docx", packed))
    assert document.text == "The king.\nHe ran away." and document.id == "a.docx"
    for broken in (b"", packed[:200], b"PK\x03\x04word/"):
        with pytest.raises(InputError, match="no readable docx"):
            read(written(tmp_path, "b.docx", broken))


@pytest.mark.parametrize("name", ["tei", "docbook", "alto", "vertical"])
def test_pieces_of_files_are_read_or_refused(tmp_path, name):
    draw = random.Random(name)
    whole = {"tei": TEI, "docbook": DOCBOOK, "alto": ALTO, "vertical": VERTICAL}[name].encode()
    for _ in range(150):
        begin = draw.randrange(len(whole)) if draw.random() < 0.5 else 0
        path = written(tmp_path, "x", whole[begin : draw.randrange(len(whole) + 1)])
        try:
            read(path, name)
        except InputError as error:
            assert str(error).startswith(str(path)) and "\n" not in str(error)


def test_text_of_another_encoding(tmp_path, run):
    text = "Le café est fermé, dit-il. Les élèves étaient déjà arrivés à l'école.\n" * 5
    path = written(tmp_path, "a.txt", text.encode("cp1252"))
    _, err = run("index", "build", path, "-o", tmp_path / "i", status=1)
    assert "a.txt, line 1, byte 7: not UTF-8 (found 0xe9, looks like" in err and "--encoding" in err
    run("index", "build", path, "-o", tmp_path / "i", "--encoding", "cp1252")
    assert CorpusIndex.open(tmp_path / "i").count("élèves") == 5
    run("index", "add", tmp_path / "i", written(tmp_path, "b.txt", "é".encode("cp1252")))
    assert CorpusIndex.open(tmp_path / "i").count("é") == 1
    wide = written(tmp_path, "w.txt", text.encode("utf-16"))
    run("index", "build", wide, "-o", tmp_path / "j", "--encoding", "utf-16")
    assert CorpusIndex.open(tmp_path / "j").count("élèves") == 5
    _, err = run("index", "build", path, "-o", tmp_path / "k", "--encoding", "utf-16", status=1)
    assert "a.txt: is not utf-16 (" in err
    _, err = run("index", "build", path, "-o", tmp_path / "k", "--encoding", "xyz", status=1)
    assert "--encoding is 'xyz': name one that Python knows" in err
    latin = TEI.replace("UTF-8", "iso-8859-1").replace("king", "roi à").encode("latin-1")
    assert "roi à" in read(written(tmp_path, "a.xml", latin))[0].text


def test_every_reader_says_how_its_texts_are_cut():
    for name, reader in READERS.items():
        assert "lines" in reader.text_formats and reader.looks, name
        options = IndexOptions("lines", file_format=name)
        assert options.is_annotated == reader.annotates


def tei(text, header=""):
    return f"<TEI><teiHeader>{header}</teiHeader><text><body>{text}</body></text></TEI>"


DTA = """<p>Die Philoſo-<lb/>
phie der Wiſſen⸗<lb/>
ſchaft, Nord-<lb/>
Amerika, Haus-<lb/>
und Hof, 1770-<lb/>
71 erſchie¬<lb/>nen. Die Ver-<lb/>
<fw place="bottom" type="catch">nunft</fw><lb/>
<pb facs="#f0018" n="2"/><fw place="top" type="header">Einleitung.</fw><lb/>
nunft — oder -<lb/>
ſo, ein Ge-<lb break="no"/>danke, PHILO-<cb/>SOPHIE, Er<lb break="no"/>fahrung<lb/>iſt</p>"""
DTA_TEXT = (
    "Die Philoſophie der Wiſſenſchaft, Nord-Amerika, Haus- und Hof, 1770-71 erſchienen. Die "
    "Vernunft — oder - ſo, ein Gedanke, PHILOSOPHIE, Erfahrung iſt"
)


@pytest.mark.parametrize("text_format", ["text", "lines"])
def test_words_that_are_hyphenated_at_a_break_are_one(tmp_path, text_format):
    path = written(tmp_path, "a.xml", tei(DTA))
    (document,) = read(path, text_format=text_format)
    assert document.text == DTA_TEXT
    assert document.annotations is None or len(document.annotations) == len(DTA_TEXT.split())
    words = '<p><w lemma="le">la</w> <w lemma="rivière">ri-<lb/>vière</w><lb break="no"/>'
    words += '<w lemma="être">est</w> i-<lb/>ci</p>'
    (document,) = read(written(tmp_path, "w.xml", tei(words)), text_format=text_format)
    assert document.text == "la rivière est ici"
    assert text_format == "text" or len(document.annotations) == 4
    dutch = '<TEI xml:lang="nl"><text><p>voor-<lb/>en nadelen</p></text></TEI>'
    (document,) = read(written(tmp_path, "nl.xml", dutch), text_format="text")
    assert document.text == "voor- en nadelen"


def test_hyphens_of_alto_whatever_tells_of_them(tmp_path):
    lines = [
        '<String CONTENT="La"/><SP/><String CONTENT="philo-"/>',
        '<String CONTENT="sophie"/><SP/><String CONTENT="ré" SUBS_TYPE="HypPart1"/><HYP/>',
        '<String CONTENT="publique" SUBS_TYPE="HypPart2"/><SP/><String CONTENT="est"/>',
        '<String CONTENT="ici"/><HYP/>',
    ]
    text = "".join(f"<TextLine>{line}</TextLine>" for line in lines)
    path = written(
        tmp_path, "a.xml", f"<alto><Layout><TextBlock>{text}</TextBlock></Layout></alto>"
    )
    (document,) = read(path, text_format="text")
    assert document.text == "La philosophie république est ici-"


def test_stage_directions_are_left_out(tmp_path):
    text = "<stage>Nathan kommt.</stage><sp><speaker>DAJA</speaker><l>Er <stage>(geht)</stage> "
    path = written(tmp_path, "a.xml", tei(text + "ist es!</l></sp>"))
    assert read(path, text_format="text")[0].text == "Er ist es!"
    (document,) = read(path, text_format="text", leave_out="speaker")
    assert document.text == "Nathan kommt.\nEr\n(geht)\nist es!"


@pytest.mark.parametrize(
    ("file", "source", "date"),
    [
        ('<date type="publication">1781</date>', "", "1781"),
        ("<date>2020</date>", '<bibl><date type="publication">1781</date></bibl>', "1781"),
        ("<date>2020</date>", '<date from="1850" to="1860"/>', "1850"),
        (
            "<date>2020</date>",
            "<bibl><author>Donne, John, <date>1572-1631</date></author><date>1633</date></bibl>",
            "1633",
        ),
    ],
)
def test_the_date_of_a_header(tmp_path, file, source, date):
    author = "<author><persName><surname>Kant</surname><forename>I.</forename></persName></author>"
    author += "<author>Donne, J., <date>1572-1631</date></author>"
    header = f"<fileDesc><titleStmt>{author}</titleStmt><publicationStmt>{file}</publicationStmt>"
    header += f"<sourceDesc>{source}</sourceDesc></fileDesc>"
    (document,) = read(written(tmp_path, "a.xml", tei("<p>a</p>", header)), text_format="text")
    assert document.fields == {"date": date, "author": "Kant, I.; Donne, J., 1572-1631"}


@pytest.mark.extra
def test_broken_subtitles_are_left_out(tmp_path):
    pytest.importorskip("pysubs2")
    written(tmp_path, "a.srt", SRT)
    written(tmp_path, "b.srt", "no subtitles\n")
    with pytest.raises(InputError, match="b.srt.*skip_broken"):
        built_all(tmp_path, False)
    index = built_all(tmp_path, True)
    assert index.count("come here") == 1


def built_all(folder, skip_broken):
    options = IndexOptions("text", file_format="subtitles", skip_broken=skip_broken)
    files = sorted(folder.glob("*.srt"))
    return CorpusIndex.build(files, folder / "index", options=options, force=True)


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("Peut-<lb/>être. Il dit peut-être non.", "Peut-être. Il dit peut-être non."),
        ("Peut-être, peut-<lb break='no'/>être ?", "Peut-être, peut-être ?"),
        ("Un peut-être, peutêtre, peut-<lb/>être.", "Un peut-être, peutêtre, peutêtre."),
        ("fait-il, va-t-il, dit-<lb/>il", "fait-il, va-t-il, dit-il"),  # -il ends two other words
        ("fait-il, dit-<lb/>il", "fait-il, ditil"),
        ("dit-il, va-il, pro-<lb/>fil, pro-<pb/>il, proil", "dit-il, va-il, profil, proil, proil"),
        ("c'est-à-dire: c'est-<lb/>à-<lb/>dire", "c'est-à-dire: c'est-à-dire"),
        ("to-day the ri-<lb/>ver", "to-day the river"),
        ("Nord-<lb/>Amerika, peut-être, peut¬<lb/>être", "Nord-Amerika, peut-être, peutêtre"),
    ],
)  # fmt: skip
def test_the_text_tells_whether_a_hyphen_before_a_break_is_the_words_own(tmp_path, text, read_as):
    document = f"<TEI><text><body><p>{text}</p></body></text></TEI>"
    assert read(written(tmp_path, "a.xml", document))[0].text == read_as


def test_tokens_of_tei_keep_hyphens_of_their_own(tmp_path):
    words = "<w pos='ADV'>peut-<lb/>être</w><w pos='ADV'>peut-être</w><w pos='N'>ri-<lb/>ver</w>"
    path = written(tmp_path, "a.xml", f"<TEI><text><p>{words}</p></text></TEI>")
    (document,) = read(path, text_format="lines")
    assert document.text == "peut-être peut-être river"
    assert document.annotations == [("peut-être", "ADV")] * 2 + [("river", "N")]


def alto(*blocks):
    """Return a page of blocks of lines; a hyphen at a line's end is an element."""
    parts = []
    for block in blocks:
        for line in block:
            text = line.removesuffix("-")
            strings = "<SP/>".join(f'<String CONTENT="{word}"/>' for word in text.split())
            parts.append(f"<TextLine>{strings}{'<HYP/>' if line != text else ''}</TextLine>")
        parts.append("</TextBlock><TextBlock>")
    inner = "".join(parts)
    return f"<alto><Layout><Page><TextBlock>{inner}</TextBlock></Page></Layout></alto>"


@pytest.mark.parametrize(
    ("blocks", "lines"),
    [
        ([["the infor-"], ["mation of", "kings"]], ["the information of kings"]),
        ([["the infor-"], ["Nation of kings"]], ["the infor-", "Nation of kings"]),
        ([["1770-"], ["71 was"]], ["1770-", "71 was"]),
        ([["peut-"], ["être ou peut-être"], ["non"]], ["peut-être ou peut-être", "non"]),
        ([["Haus-"], ["und Hof"]], ["Haus- und Hof"]),
        ([["the king"], ["ran"]], ["the king", "ran"]),
    ],
)
def test_words_of_alto_go_on_in_the_next_block(tmp_path, blocks, lines):
    assert read(written(tmp_path, "a.xml", alto(*blocks)))[0].text.split("\n") == lines


def test_a_word_of_alto_that_is_told_whole_goes_on_in_the_next_block(tmp_path):
    whole = '<String CONTENT="na" SUBS_TYPE="HypPart1" SUBS_CONTENT="na-tion"/><HYP/></TextLine>'
    whole += '</TextBlock><TextBlock><TextLine><String CONTENT="tion" SUBS_TYPE="HypPart2" '
    whole += 'SUBS_CONTENT="na-tion"/><SP/>'
    page = alto(["nation the"], ["of kings"]).replace(
        "</TextLine></TextBlock><TextBlock><TextLine>", f"<SP/>{whole}", 1
    )
    assert read(written(tmp_path, "b.xml", page))[0].text == "nation the na-tion of kings"


def test_a_long_document_is_cut_between_its_lines(tmp_path):
    text = "<p>" + "so " * 300 + "</p>"
    documents = read(written(tmp_path, "a.xml", f"<TEI><text>{text * 1500}</text></TEI>"))
    assert len(documents) > 1
    assert {line.count("so") for one in documents for line in one.text.split("\n")} == {300}


def test_structures_of_vertical_files_stand_on_lines_of_tokens(tmp_path):
    text = """<text id="a"> <s> The\tDT\tthe
kings\tNNS\tking </s>
<s>
<s>\tSYM\t<s>
ran\tV\t</s>
</s></text>
<text id="b"><s>So\tRB\tso
</s></text>
"""
    first, second = read(written(tmp_path, "a.vrt", text), "vertical")
    assert (first.id, second.id, second.text) == ("a", "b", "So")
    assert first.text == "The kings\n<s> ran" and first.annotations[3] == ("</s>", "V")
    (document,) = read(
        written(tmp_path, "b.vrt", "<s> the\nking\n</s>\n<s>ran\nout</s>\n"), "vertical"
    )
    assert document.text == "the king\nran out"


def test_text_behind_a_blank_line_of_webvtt_is_no_name(tmp_path):
    cues = ["Hello there.\n\nAnd so on.", "One.", "Two.\n\nintro", "Three.", "Four."]
    times = [f"00:0{n}.000 --> 00:0{n}.900\n{cue}\n" for n, cue in enumerate(cues)]
    path = written(tmp_path, "a.vtt", "WEBVTT\n\n" + "".join(times))
    lines = ["Hello there. And so on.", "One.", "Two.", "Three.", "Four."]
    assert read(path)[0].text.split("\n") == lines
    named = [f"The name\n00:0{n}.000 --> 00:0{n}.900\nOne.\n\n" for n in range(4)]
    path = written(tmp_path, "b.vtt", "WEBVTT\n\n" + "".join(named))
    assert read(path)[0].text.split("\n") == ["One."] * 4


def test_captions_that_roll_are_read_once(tmp_path):
    """As YouTube writes them: each line comes timed by word, plain, and above the next one."""
    times = [f"00:00:0{n}.100 --> 00:00:0{n}.900 align:start\n" for n in range(3)]
    first, second = (
        "so<00:00:00.4><c> it</c><00:00:00.5><c> is</c>",
        "we<00:00:02.4><c> &lt;hm></c>",
    )
    cues = [f" \n{first}\n", "so it is\n \n", f"so it is\n{second}<00:00:02.6> ran\n"]
    text = "WEBVTT\n\n" + "\n".join(map("".join, zip(times, cues, strict=True)))
    (document,) = read(written(tmp_path, "a.vtt", text))
    assert document.text == "so it is we <hm> ran"


def test_dates_in_subtitles_are_said(tmp_path):
    said = "From 10:30:15 on 3.11.2020 to 4.12.2020."
    text = f"1\n00:00:01,000 --> 00:00:02,000\n{said}\n"
    assert read(written(tmp_path, "a.srt", text))[0].text == said
    with pytest.raises(InputError, match="line 5: '0:00:03,000 - 0:00:04,000' are no times"):
        read(written(tmp_path, "b.srt", f"{text}\n0:00:03,000 - 0:00:04,000\nSo.\n"))


def test_a_name_with_its_comma_and_a_title_without_its_note(tmp_path):
    author = "<surname>Gaskell</surname>, <forename>Elizabeth</forename>"
    title = "Cranford<note>By the <hi>author</hi>.</note>"
    head = f"<titleStmt><title>{title}</title><author>{author}</author></titleStmt>"
    text = f"<TEI><teiHeader><fileDesc>{head}</fileDesc></teiHeader><text><p>So</p></text></TEI>"
    (document,) = read(written(tmp_path, "a.xml", text))
    assert document.fields == {"title": "Cranford", "author": "Gaskell, Elizabeth"}


def test_a_vertical_file_whose_first_line_names_its_columns(tmp_path):
    rows = "word\tid\tLemma\tpos\nThe\t1\tthe\tDT\nword\t2\tword\tNN\n"
    for text in (rows, f"<text>\n{rows}</text>\n"):
        (document,) = read(written(tmp_path, "a.vrt", text), "vertical")
        assert document.text == "The word"
        assert document.annotations == [("the", "DT"), ("word", "NN")]


@pytest.mark.extra
@pytest.mark.parametrize("mark", ["<w:cr/>", "<w:cr></w:cr>", '<w:ptab w:alignment="left"/>'])
def test_docx_has_a_blank_for_each_break(tmp_path, mark):
    pytest.importorskip("mammoth")
    body = f"<w:p><w:r><w:t>He</w:t>{mark}<w:t>ran &lt;w:cr/&gt;</w:t></w:r></w:p>"
    (document,) = read(written(tmp_path, "a.docx", docx(body)))
    assert document.text == "He ran <w:cr/>"
