"""Translation memories and tab-separated pairs as the two sides of a bitext."""

import gzip

import pytest

from distsim import InputError
from distsim.bitext.sentence_pairs import BitextOptions, find_pair, read_pairs

TMX = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header srclang="en"/><body>
<tu><prop type="x">no text</prop>
 <tuv xml:lang="en-GB"><note>no</note>
 <seg>Hello, <bpt i="1">&lt;b&gt;</bpt>old<ept i="1">&lt;/b&gt;</ept>
 world.</seg></tuv>
 <tuv xml:lang="de"><seg>Hallo, <hi>alte</hi> Welt.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Only English.</seg></tuv></tu>
<tu><tuv lang="EN"><seg>One<ph x="1">{1}</ph>two</seg></tuv>
 <tuv lang="DE"><seg>Eins &amp; zwei</seg></tuv><tuv lang="DE"><seg>Noch eins</seg></tuv></tu>
<tu><tuv lang="en"><seg/></tuv><tuv lang="de"><seg>Leer</seg></tuv></tu>
</body></tmx>"""


def _texts(english, other, **options):
    pairs = read_pairs(english, other, BitextOptions("text", **options))
    sides = []
    for side in (pairs.english, pairs.other):
        words = [""] + [one.decode() for one in side.vocabulary.texts(1)]
        edges = [0, *side.lengths.cumsum().tolist()]
        sides.append([
            " ".join(words[one] for one in side.tokens[a:b])
            for a, b in zip(edges, edges[1:], strict=False)
        ])  # fmt: skip
    return [*zip(*sides, strict=True)], pairs.counts


@pytest.mark.parametrize("compressed", [False, True])
def test_units_of_both_languages_are_pairs(tmp_path, compressed):
    path = tmp_path / ("m.tmx.gz" if compressed else "m.tmx")
    path.write_bytes(gzip.compress(TMX.encode()) if compressed else TMX.encode())
    pairs, counts = _texts(f"{path}:en", f"{path}:de")
    assert pairs == [("hello , old world .", "hallo , alte welt ."), ("one two", "eins & zwei")]
    assert (counts.pairs, counts.empty_english) == (3, 1)
    swapped, _ = _texts(f"{path}:DE", f"{path}:en")
    assert swapped == [(de, en) for en, de in pairs]
    kept, _ = _texts(f"{path}:en", f"{path}:de", inline_tags="keep")
    assert kept[1][0] == "one { 1 } two" and "b" in kept[0][0].split()


def test_columns_between_tabs_are_pairs(tmp_path):
    path = tmp_path / "p.tsv"
    path.write_text("x\tthe house\tdas haus\n\ny\tthe cat\tdie katze\textra\n")
    pairs, _ = _texts(f"{path}:2", f"{path}:3")
    assert pairs == [("the house", "das haus"), ("the cat", "die katze")]


def test_columns_have_the_names_of_the_first_line(tmp_path):
    path = tmp_path / "p.tsv"
    path.write_bytes(b"\xef\xbb\xbfen\tid\t de\r\nthe house\t7\tdas haus\r\n")
    pairs, counts = _texts(f"{path}:en", f"{path}:de")
    assert pairs == [("the house", "das haus")] and counts.pairs == 1


def test_many_units_stay_in_step(tmp_path):
    path = tmp_path / "p.tsv"
    path.write_text("".join(f"w{n}\tv{n}\n" if n % 7 else f"w{n}\t\n" for n in range(12_000)))
    pairs, counts = _texts(f"{path}:1", f"{path}:2")
    assert counts.pairs == 12_000 and counts.kept == sum(n % 7 > 0 for n in range(12_000))
    assert all(en[1:] == de[1:] for en, de in pairs)


@pytest.mark.parametrize(
    ("english", "other", "told"),
    [
        ("m.tmx:en", "m.tmx:fr", "no unit has both en and fr; its languages are DE, EN, de"),
        ("m.tmx:en", "m.tmx:en", "give two sides of one file"),
        ("m.tmx:en", "p.tsv:1", "give two sides of one file"),
        ("m.tmx:en", "p.tsv", "give two sides of one file"),
        ("p.tsv:en", "p.tsv:2", "name columns by numbers from 1"),
        ("p.tsv:a", "p.tsv:c", "or both as its first line does"),
        ("p.tsv:0", "p.tsv:2", "name columns by numbers from 1"),
        ("p.tsv:1", "p.tsv:3", "p.tsv, line 1: 2 columns, wanted 3 separated by tabs"),
        ("bad.tmx:en", "bad.tmx:de", "bad.tmx, line 1: is no well-formed XML"),
        ("none.tmx:en", "none.tmx:de", "none.tmx"),
    ],
)  # fmt: skip
def test_what_is_no_pair_is_refused(tmp_path, monkeypatch, english, other, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.tmx").write_text(TMX)
    (tmp_path / "p.tsv").write_text("a\tb\n")
    (tmp_path / "bad.tmx").write_text("<tmx><body><tu></body></tmx>")
    with pytest.raises(InputError, match=told):
        read_pairs(english, other)


def test_a_file_of_that_name_is_that_file(tmp_path):
    for name in ("a.tsv:1", "a.tsv:2"):
        (tmp_path / name).write_text("the house\n")
    assert all(one.documents is None for one in find_pair(*sorted(tmp_path.iterdir())))


def test_align_takes_a_memory(tmp_path, run):
    (tmp_path / "m.tmx").write_text(TMX)
    memory = tmp_path / "m.tmx"
    _, err = run("align", f"{memory}:en", f"{memory}:de", "-o", tmp_path / "m.bitext")
    assert "read as running text" in err and "2 of 3 pairs (left out: 1 without English)" in err
    _, err = run("index", "build", memory, "-o", tmp_path / "i", status=1)
    assert "FILE.tmx:en FILE.tmx:de" in err
