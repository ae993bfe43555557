"""What looks like markup, JSON or a table is not taken for plain text, unless a user says so."""

import gzip
import io
import json
import lzma
import os
import re
import sys
from importlib.resources import files

import pytest

from distsim import CorpusIndex, IndexOptions, InputError
from distsim.corpus.annotating import annotate
from distsim.corpus.lines import decoded
from distsim.corpus.plain_text import HEAD_BYTES, likely_encoding, looks_like, wide_encoding
from distsim.paraphrase.unknown_words.words import unknown_phrases
from tests.conftest import run_program

PAGE = "<!DOCTYPE html>\n<html><body><p>the king</p></body></html>\n"
ROWS = [{"text": f"the king, he {n}", "year": n} for n in range(9)]
NOT_TEXT = {
    "HTML": [
        PAGE,
        "\n <!-- made by hand -->\n<HTML lang=en>the king",
        "<?xml version='1.0'?>\n<html xmlns='x'>the king</html>",
        "<p>the king</p>\n<p>the queen</p>\n<p>the duke</p>\n",
        "<div><br/></div>",
        "the king\n" + "<ul><li>the queen</li></ul>\n" * 9,
    ],
    "XML": [
        "<?xml version='1.0'?><text>the king</text>",
        "<text>the king</text>\n",
        "<book><head>the king</head><body><p>the queen</p></body></book>",
        "<?xml version='1.0'?><nitf><head><title>x</title></head><body>the king</body></nitf>",
    ],
    "TMX": ["<tmx><tu><seg>the king</seg></tu><tu><seg>the queen</seg></tu></tmx>"],
    "TEI": [
        "<?xml version='1.0'?><!-- x --><TEI xmlns='http://tei-c.org/ns/1.0'><text><body>\n"
        "<head>x</head><p>the king</p></body></text></TEI>",
        "<!DOCTYPE TEI.2 [<!ENTITY a 'b'>]>\n<TEI.2><text><body><p>so</p></body></text></TEI.2>",
        "<tei:TEI xmlns:tei='http://www.tei-c.org/ns/1.0'><tei:text/></tei:TEI>",
    ],
    "DocBook": ["<article xmlns='http://docbook.org/ns/docbook'><para>the king</para></article>"],
    "ALTO": ["<?xml version='1.0'?><alto><Layout><Page/></Layout></alto>"],
    "a vertical file": [
        "<text id='a'>\n<s>\nthe\tDT\nking\tNN\n</s>\n</text>\n",
        "the\tDT\tthe\nking\tNN\tking\nran\tVBD\trun\nso\tRB\tso\n.\tSENT\t.\n",
        "<s>\nthe\nking\n</s>\n",
    ],
    "SubRip subtitles": ["1\n00:00:01,000 --> 00:00:02,000\nthe king\n"],
    "WebVTT subtitles": ["WEBVTT\n\n00:01.000 --> 00:02.000\nthe king\n"],
    "ASS subtitles": ["[Script Info]\nScriptType: v4.00+\n"],
    "a CHAT transcript": ["@UTF8\n@Begin\n*CHI:\tthe king .\n@End\n"],
    "JSON": [
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        json.dumps({"texts": ["the king"]}),
        '["the king", "the queen"]',
        '{"n": ' + "1" * 5000 + "}",
    ],
    "JSON lines": ["".join(json.dumps(row) + "\n" for row in ROWS), '["the", "king"]\n["so"]\n'],
    "CSV": [
        "id,text\n1,the king\n",
        'author,text\nausten,"the king, he"\n',
        "author,text\nausten,the king\nscott,the queen\n",
        "id, text\n1, the king\n2, the queen\n",
        "id;text\r\n1;the king\r\n2;the queen, she\r\n",
        '"the king","so, he"\n' * 5,
        'id,text\n1,"the king\nand, so"\n2,"the\nqueen"\n',
    ],
    "TSV": [
        "the\t500\n,\t400\nking\t30\n.\t20\nof\t10\n",
        "the king\tder König\nso !\tso !\n" * 40,
        "id\ttext\n1\tthe king, he\n2\tthe queen\n",
        "".join(f"{n}\tthe king\n" for n in range(9)),
        "the king\tder könig\n" * 20,
    ],
}
TEXT = {
    "empty": "",
    "blank": " \n\n",
    "a tag": "the king <b>said</b> so .\na < b and c > d\n",
    "begins with a tag": "<John> the king\n<Mary> the queen\n" * 30,
    "marks of a language model": "<s> the king </s>\n<s> the <unk> said </s>\n" * 30,
    "escaped by Moses": "&lt; p &gt; the king &apos;s &lt; / p &gt;\n&#91; 1 &#93;\n",
    "labelled articles": '<doc id="1">\n' + "the king said so .\n" * 40 + "</doc>\n",
    "markdown": "# The king\n\n<img src='a.png'/>\n\nHe said [so](so), `x` and *y*.\n" * 3,
    "brackets": "[1] the king\n[2] the queen\n{ so }\n",
    "a bracket": "[ the king ]\n{ the queen }\n" * 30,
    "a number in brackets": "[1]\n",
    "quoted": '"The king," he said, "is here."\n' * 30,
    "trees": "(S (NP (DT the) (NN king)) (VP slept))\n" * 30,
    "rules": "[X] ||| the king ||| the queen ||| p=1\n" * 30,
    "as many commas each": "so , the king , he said , came .\nthe king, he, so, came.\n" * 30,
    "many commas": "the king, he said\nthe queen, the duke, the man, so\nthe end\n" * 30,
    "many tabs": "the\tking\the\nthe queen\nthe\tduke\n" * 30,
    "indented": "\tThe king said so.\n\tThe queen, too.\n" * 30,
    "two lines with a tab": "the king\tso\nthe queen\tso\n",
    "couplets": "床前明月光,疑是地上霜\n举头望明月,低头思故乡\n" * 30,
    "semicolons": "the king; he said; so\nthe queen; she said; so\n" * 30,
    "a list": "London, 1905\nParis, 1906\nRome, 1907\n" * 9,
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in NOT_TEXT.items() for text in texts]
)
def test_what_is_not_plain_text(kind, text):
    assert looks_like(text.encode(), True) == kind
    assert looks_like(b"\n" + text.replace("\n", "\r\n").encode(), True) == kind


@pytest.mark.parametrize("text", TEXT.values(), ids=TEXT)
def test_what_may_be_plain_text(text):
    assert looks_like(text.encode(), True) is None
    assert looks_like(text.encode(), False) is None


def test_utf_16_without_a_mark_is_no_text():
    head = "the king said so\n".encode("utf-16-le")
    assert looks_like(head, True) == "UTF-16LE"
    assert looks_like(bytes(range(64)) * 4 + bytes(90), True) == "binary data"
    assert looks_like(b"one two\0three four\n", True) is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16le", "utf-16be", "utf-32", "utf-32be"])
@pytest.mark.parametrize(
    "text", ["the ship\n", "Корабль ушёл в море из гавани.\n" * 9, "id,text\n1,é 😀 ship\n"]
)
def test_wide_encodings_are_told_by_their_name(encoding, text):
    head = text.encode(encoding)
    for n in range(len(head) - 3, len(head) + 1):  # a head may end within a character
        assert wide_encoding(head[:n]) == encoding.upper()
    assert not wide_encoding(text.encode())


OTHER_ENCODINGS = {
    "koi8-r": "Экспедиция изучала рыб, птиц и цветы тайги — всего 340 видов. Старик ждал письма.",
    "koi8-u": "Єдність народу, її ґрунт і щастя — в освіті. Київ є столицею України з 1991 року.",
    "cp1251": "Была тёмная ночь, и ветер гнал по улице сухие листья. «Завтра придёт», — сказал он.",
    "iso8859-5": "Старик сидел у окна и ждал письма от сына, который уехал в город пять лет назад.",
    "cp866": "Соседка принесла ему хлеба и молока, поставила на стол и ушла, не сказав ни слова.",
    "cp1250": "Główne miasto województwa łódzkiego; „Książę” był jego twórcą, źródło ćwiczeń.",
    "iso8859-2": "Praha leží na řece Vltavě a patří mezi nejkrásnější města Evropy, žije zde.",
    "cp1252": "L’été dernier, nous avons visité l'île de Ré — un cœur déçu n’y résiste guère.",
    "cp1253": "Ήταν μια σκοτεινή νύχτα και ο άνεμος έσπρωχνε τα ξερά φύλλα στον δρόμο.",
    "cp1254": "Yaşlı adam beş yıl önce şehre giden oğlundan bir mektup bekliyordu. İğde açtı.",
    "cp1255": "ירושלים היא עיר הבירה של מדינת ישראל והעיר הגדולה ביותר בה.",
    "cp1256": "القاهرة عاصمة مصر وأكبر مدينة فيها، تأسست سنة 969 ميلادية.",
    "cp874": "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย มีประชากรมากกว่าสิบล้านคน",
    "gb18030": "那是一个漆黑的夜晚,风把枯叶吹过街道。老人坐在窗前,等着儿子的来信。",
    "big5": "那是一個漆黑的夜晚,風把枯葉吹過街道。老人坐在窗前,等著兒子的來信。",
    "euc-kr": "서울특별시는 대한민국의 수도이자 최대 도시이다. 2020년 인구는 약 960만 명으로.",
    "euc-jp": "暗い夜で、風が枯れ葉を通りに吹き飛ばしていた。老人は窓辺に座っていた。",
    "shift-jis": "東京都は日本の首都である。ラーメンやカレーの店がたくさんある。",
    "mac-roman": "¿Qué pasó el año pasado en España? La niña comió piña y después se durmió.",
}


@pytest.mark.parametrize("encoding", OTHER_ENCODINGS)
@pytest.mark.parametrize("form", ["a line", "many lines", "within English", "capitals"])
def test_the_likely_encoding_reads_the_text(encoding, form):
    """It need not be the name given here: others read the same text."""
    text = OTHER_ENCODINGS[encoding]
    text = {
        "a line": text, "many lines": f"{text}\n" * 300, "capitals": text.upper(),
        "within English": f"The report says:\n{text}\nThe rest is of plain letters. " * 3,
    }[form]  # fmt: skip
    written = text.encode(encoding, "ignore")
    assert written.decode(likely_encoding(written)) == written.decode(encoding)


def test_the_sample_of_an_encoding_begins_with_a_whole_character():
    line = ("那是一个漆黑的夜晚,".encode("gb18030") + b"a" * 2) * 999
    for before in (b"", b"x", b"xy"):
        text = b"plain text, " * 999 + before + line
        with pytest.raises(InputError, match="looks like gb18030"):
            decoded(text, "a.txt")


@pytest.mark.parametrize(
    "kind", ["HTML", "XML", "JSON", "JSON lines", "CSV", "TSV", "TEI", "a vertical file"]
)
def test_a_large_file_is_told_by_its_beginning(kind):
    """The head ends anywhere: in a tag, a string, a quoted field."""
    long = "the king, " * 900
    large = {
        "HTML": "<html><body>" + f"<p>{long}</p>\n" * 9,
        "TEI": "<TEI><teiHeader/><text>" + f"<p>{long}</p>\n" * 99,
        "a vertical file": "<text id='1'>\n" + "the\tDT\nking\tNN\n" * 9000,
        "XML": "<text>" + "<seg id='1'>the king</seg>\n" * 9000,
        "JSON": json.dumps([{"text": long, "n": 1.5, "so": True}] * 99),
        "JSON lines": (json.dumps({"text": long, "n": 1.5}) + "\n") * 99,
        "CSV": "id,text\n" + f'1,"{long}"\n' * 99,
        "TSV": "id\ttext\n" + f"1\t{long}\n" * 99,
    }[kind].encode()
    for size in (HEAD_BYTES, HEAD_BYTES - 7, HEAD_BYTES - 101):
        assert looks_like(large[:size], False) == kind


def test_the_texts_of_the_package_pass():
    data = files("distsim") / "data"
    texts = [*(data / "novels").iterdir(), *(data / "bitext").iterdir()]
    packed = [one for one in texts if one.name.endswith(".xz")]
    assert len(packed) == 14
    for one in packed:
        text = lzma.decompress(one.read_bytes())
        for start in range(0, len(text), 7 * HEAD_BYTES):
            at = text.find(b"\n", start) + 1
            assert looks_like(text[at : at + HEAD_BYTES], False) is None, one.name
            assert looks_like(text[at : at + 999], True) is None, one.name


@pytest.fixture
def page(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "a.txt").write_text("the king\n")
    (folder / "b.txt.gz").write_bytes(gzip.compress(PAGE.encode()))
    return folder / "b.txt.gz"


COMMANDS = {
    "index build": ("index", "build", "PAGES", "-o", "OUT"),
    "index add": ("index", "add", "INDEX", "PAGES"),
    "align": ("align", "PAGE", "TEXT", "-o", "OUT"),
    "align, the other side": ("align", "TEXT", "PAGE", "-o", "OUT"),
    "make-grammar": ("make-grammar", "--bitext", "PAGE", "TEXT", "--index", "SIGNED", "-o", "OUT"),
    "paraphrase": ("paraphrase", "INDEX", "--input", "PAGE", "--known", "TEXT", "-o", "OUT"),
    "rewrite": ("rewrite", "PACK", "PAGE", "--index", "INDEX", "-o", "OUT"),
    "tune": ("tune", "PACK", "PAGE", "--references", "TEXT", "--index", "INDEX", "-o", "OUT"),
    "tune, references": ("tune", "PACK", "TEXT", "--references", "PAGE", "--index", "INDEX", "-o",
                         "OUT"),
    "evaluate-sentences": ("evaluate-sentences", "PAGE", "TEXT", "--references", "TEXT"),
    "cluster plan": ("cluster", "plan", "PAGES", "--work", "OUT"),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_command_that_reads_text_refuses(run, page, command, tmp_path, small_index, capsys):
    text = tmp_path / "text"
    text.write_text("the king\n")
    places = {
        "PAGES": page.parent, "PAGE": page, "TEXT": text, "OUT": tmp_path / "out",
        "INDEX": small_index.path,
    }  # fmt: skip
    if "SIGNED" in command:
        run("sign", small_index.path, "--preset", "thesis", "--min-count", 1)
        places["SIGNED"] = small_index.path
    if "PACK" in command:
        (tmp_path / "rules").write_text("[X] ||| the king ||| the queen ||| p=1\n")
        run("pack", tmp_path / "rules", "-o", tmp_path / "pack", "-w", "p=1")
        places["PACK"] = tmp_path / "pack"
    arguments = [places.get(one, one) for one in command]
    _, err = run(*arguments, status=1)
    assert f"{page}: looks like HTML, wanted plain text: `distsim index build`" in err
    assert re.search(r"or take the file as it is with --(as-is|set as_is)\n$", err)
    assert not (tmp_path / "out").is_file() and not (tmp_path / "out" / "manifest.json").exists()
    run_program(*arguments, "--as-is")  # what comes of it depends on the page
    assert "looks like" not in capsys.readouterr().err


def test_annotators_refuse(page, tmp_path):
    with pytest.raises(InputError, match=r"b\.txt\.gz: looks like HTML"):
        annotate([page.parent], tmp_path / "out", annotator=None)
    assert sorted(os.listdir(tmp_path)) == ["pages"]


def test_text_is_taken_as_it_is(page, tmp_path):
    """The library's twin of --as-is; an index that was built so is added to so."""
    with pytest.raises(InputError, match="with `as_is`"):
        CorpusIndex.build([page], tmp_path / "index")
    assert not (tmp_path / "index").exists()
    index = CorpusIndex.build([page], tmp_path / "index", options=IndexOptions(as_is=True))
    assert index.count("king</p></body></html>") == 1
    assert CorpusIndex.open(index.path).options.as_is
    (tmp_path / "more").write_text("id,text\n1,the king\n")
    assert index.add([tmp_path / "more"]).count("id,text") == 1
    assert "as_is" not in IndexOptions().manifest()


def stream_of(text: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode())))


def test_what_can_be_read_but_once(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", stream_of(PAGE))
    with pytest.raises(InputError, match="standard input: looks like HTML"):
        CorpusIndex.build(["-"], tmp_path / "index")
    read, write = os.pipe()
    os.write(write, b"id,text\n1,the king\n")
    os.close(write)
    (tmp_path / "known").write_text("the\n")
    with pytest.raises(InputError, match=f"/dev/fd/{read}: looks like CSV"):
        unknown_phrases(f"/dev/fd/{read}", tmp_path / "known", 1)
    os.close(read)
    text = "".join(f"the king {n}\n" for n in range(20_000))  # longer than what is looked at
    monkeypatch.setattr(sys, "stdin", stream_of(text))
    assert CorpusIndex.build(["-"], tmp_path / "index").count("king 19999") == 1
