"""Files -> tokens: readers, archives, encodings, normaliser, sentence splitting."""

import bz2
import gzip
import lzma
import os
import threading
import unicodedata
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim.base.errors import InputError, ParameterError
from distsim.corpus import lines
from distsim.corpus.decompression import DEFAULT_UNPACK_LIMIT
from distsim.corpus.lines import read_blocks, read_line_blocks, read_text_lines
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.plain_text import HEAD_BYTES, format_doubts, format_signs, guess_format
from distsim.corpus.query import Lookup
from distsim.corpus.readers import settle_format
from distsim.corpus.sources import find_sources, open_source, read_head, set_unpack_limit, spooled
from distsim.corpus.tokeniser import tokens_of
from distsim.indexes.build import IndexOptions
from distsim.indexes.corpus_index import CorpusIndex

TEXT = "the cat sat\nöl und 中文\n\nend without newline".encode()
PACKED = {
    "plain": lambda data: data,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


def read(path, block_bytes=8) -> bytes:
    return b"".join(block.text for block in read_blocks(find_sources([path]), block_bytes))


@pytest.mark.parametrize("kind", PACKED)
def test_archives_are_told_by_their_bytes(tmp_path, kind):
    file = tmp_path / "corpus.anything"
    file.write_bytes(PACKED[kind](TEXT))
    assert read(file) == TEXT


@pytest.mark.parametrize("kind", [k for k in PACKED if k != "plain"])
def test_archives_of_several_members(tmp_path, kind):
    file = tmp_path / "corpus"
    file.write_bytes(PACKED[kind](TEXT) + PACKED[kind](b"\nmore\n"))
    assert read(file) == TEXT + b"\nmore\n"


@pytest.mark.parametrize("kind", [k for k in PACKED if k != "plain"])
def test_an_archive_cut_short_is_an_error(tmp_path, kind):
    file = tmp_path / "short"
    data = PACKED[kind](TEXT * 2000)
    file.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(InputError, match=r"short: the archive is cut short: fetch"):
        read(file, 1 << 20)


@pytest.mark.parametrize("kind", [k for k in PACKED if k != "plain"])
def test_a_damaged_archive_is_an_error(tmp_path, kind):
    file = tmp_path / "bad"
    data = bytearray(PACKED[kind](bytes(range(32, 127)) * 400))
    for i in range(12, len(data) - 2, 7):
        data[i] ^= 0x5A
    file.write_bytes(bytes(data))
    with pytest.raises(InputError, match=r"bad: the archive is (damaged|cut short)"):
        read(file, 1 << 20)


def test_blocks_hold_whole_lines_with_their_numbers(tmp_path):
    file = tmp_path / "corpus"
    file.write_bytes(b"\xef\xbb\xbfone\ntwo two two two\n\nthree\r\nfour")
    blocks = list(read_blocks(find_sources([file]), 7))
    assert b"".join(b.text for b in blocks) == b"one\ntwo two two two\n\nthree\r\nfour"
    line = 1
    for block in blocks:
        assert block.first_line == line
        line += block.text.count(b"\n")
        assert block.text.endswith(b"\n") or block is blocks[-1]


def test_invalid_utf8_names_file_line_and_byte(tmp_path):
    file = tmp_path / "latin1.txt"
    file.write_bytes("fine\nna\nalso fine caf\xe9 here\n".encode("latin-1"))
    with pytest.raises(
        InputError, match=r"latin1\.txt, line 3, byte 14: not UTF-8 .*0xe9.*convert"
    ):
        read(file)


def test_folders_are_read_by_name_without_hidden_files(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("b/2.txt", "a.txt", "b/1.txt", ".hidden", "b/.DS_Store"):
        (tmp_path / name).write_text("x\n")
    assert [s.name for s in find_sources([tmp_path])] == ["a.txt", "b/1.txt", "b/2.txt"]


def test_missing_and_empty_places(tmp_path):
    with pytest.raises(InputError, match=r"nowhere: no such file or folder: check the path"):
        find_sources([tmp_path / "nowhere"])
    with pytest.raises(InputError, match=r"holds no files: name one"):
        find_sources([tmp_path])
    with pytest.raises(InputError, match="standard input .* twice"):
        find_sources(["-", "-"])


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_normalising_a_line_is_normalising_its_tokens(line):
    whole = unicodedata.normalize("NFC", unicodedata.normalize("NFC", line).lower())
    normaliser = Normaliser(fold_variants=False)
    assert [normaliser.token(token) for token in line.split()] == whole.split()


@given(st.lists(st.text(max_size=8)), st.booleans(), st.booleans(), st.booleans())
def test_many_tokens_are_normalised_as_each(texts, lower, fold_numbers, drop_digits):
    normaliser = Normaliser(lower=lower, fold_numbers=fold_numbers, drop_digits=drop_digits)
    tokens = [text.encode(errors="replace") for text in texts]
    assert normaliser.tokens(tokens) == [normaliser.token(t.decode()).encode() for t in tokens]


def test_normaliser_options():
    assert Normaliser(lower=False).token("ÀB") == "ÀB"
    assert Normaliser(fold_numbers=True).token("a1٣-29") == "a00-00"
    drops = Normaliser(drop_punctuation=True, drop_digits=True)
    assert [drops.token(t) for t in ("--", "3.5", "b2b", "don't", "№")] == [
        "",
        "",
        "b2b",
        "don't",
        "",
    ]
    assert Normaliser.from_manifest(drops.manifest()) == drops


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("don't", "don 't"),
        ("the king's men", "the king 's men"),
        ("l'homme qu’elle", "l' homme qu’ elle"),
        ("rock'n'roll", "rock 'n' roll"),
        ("Qur'an's Don’t’ee O'Brien's", "Qur 'an 's Don ’t ’ee O' Brien 's"),
        ("fo'c's'le y'all'd've James' ’90s", "fo 'c 's 'le y' all 'd 've James ' ’ 90s"),
        ("aujourd'hui dell'arte N'Djamena", "aujourd'hui dell'arte N' Djamena"),
        ("Hawai‘i Hawaiʻi don´t", "Hawai ‘i Hawaiʻi don ´t"),
        ("zero\u200bwidth a\u200b b \u200bc", "zero\u200bwidth a b c"),
        ("no\u2060break Bundes\u00adtag", "no\u2060break Bundes\u00adtag"),
        ("❤\ufe0f! 👩\u200d👧", "❤\ufe0f ! 👩\u200d 👧"),
        ("U.S. e.g. J. Smith", "U.S. e.g. J. Smith"),
        ("Mr. Smith etc.", "Mr. Smith etc."),
        ("3.14 1,000,000 1914-1918.", "3.14 1,000,000 1914-1918 ."),
        ("well-known (sic)...", "well-known ( sic ) ..."),
        ("a--b", "a -- b"),
        ("wikipedia.org", "wikipedia.org"),
        ("end.Next", "end . Next"),
        ("中文 かな", "中 文 か な"),
        ("naïve café", "naïve café"),
        ("$5 50%", "$ 5 50 %"),
    ],
)
def test_running_text(text, tokens):
    assert tokens_of(text, "text") == tokens.split()


# How a word is cut by several tools, and the tokens of a text that may have it.
_OF_TOOLS = {
    "running text": ("text", "don 't king 's o' brien ca n rock 'n' roll l' homme"),
    "Penn": ("lines", "do n't king 's o'brien ca n't -lrb- -rrb- `` '' rock 'n' roll"),
    "Moses": ("lines", "don &apos;t king &apos;s o &apos;brien can rock l&apos; homme &quot;"),
    "white space": ("lines", "don't king's o'brien can't rock'n'roll l'homme"),
}


@pytest.mark.parametrize("typed", ["don't", "DON’T", "do n't", "don 't", "don &apos;t", "Don‘t"])
@pytest.mark.parametrize(
    ("tool", "cut"),
    [("running text", "don 't"), ("Penn", "do n't"), ("Moses", "don &apos;t"),
     ("white space", "don't")],
)  # fmt: skip
def test_a_phrase_is_looked_up_as_the_text_was_cut(tool, typed, cut):
    text_format, words = _OF_TOOLS[tool]
    lookup = Lookup(Normaliser(), text_format, set(words.split()).__contains__)
    assert lookup.readings(f"King {typed}") == [("king", *cut.split())]


@pytest.mark.parametrize(
    ("tool", "typed", "cuts"),
    [
        ("running text", "L’homme", ["l' homme"]),
        ("Moses", "l'homme", ["l&apos; homme"]),
        ("running text", "O'Brien's", ["o' brien 's"]),
        ("Penn", "ca n't", ["ca n't"]),
        ("Penn", "(", ["-lrb-"]),
        ("Penn", "“", ["``", "''"]),
        ("Moses", '"', ["&quot;"]),
        ("running text", "rock 'n' roll", ["rock 'n' roll"]),
        ("white space", "rock 'n' roll", ["rock 'n' roll"]),  # one that is not there
        ("running text", "xyz's unseen", ["xyz 's unseen"]),
        ("white space", "xyz's unseen", ["xyz's unseen"]),
    ],
)
def test_other_phrases_are_looked_up_as_the_text_was_cut(tool, typed, cuts):
    text_format, words = _OF_TOOLS[tool]
    lookup = Lookup(Normaliser(), text_format, set(words.split()).__contains__)
    assert [" ".join(one) for one in lookup.readings(typed)] == cuts


def test_a_word_that_was_cut_in_several_ways_is_found_in_all():
    words = {"don't", "don", "'t", "’t", "bundes\u00adregierung", "bundesregierung"}
    variants = {"bundesregierung": ["bundes\u00adregierung"]}
    old = Normaliser.from_manifest({"lower": True})
    lookup = Lookup(old, "text", words.__contains__, variants=lambda: variants)
    found = [" ".join(one) for one in lookup.readings("don’t")]
    assert found == ["don 't", "don ’t", "don't"]
    assert sorted(lookup.readings("Bundesregierung")) == [
        ("bundesregierung",), ("bundes\u00adregierung",),
    ]  # fmt: skip
    assert lookup.readings("don't \u200d") == [(*one.split(), "\u200d") for one in found]
    with pytest.raises(ParameterError, match="the phrase is empty: give at least one word"):
        lookup.readings(" \u2003")


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("O’Brien‘s", "o'brien's"),
        ("“„", '""'),
        ("Bundes\u00adregierung", "bundesregierung"),
        ("zero\u200bwidth", "zerowidth"),
        ("non\u2060break", "nonbreak"),
        ("oﬃce", "office"),
        ("ĳs", "ijs"),
        ("ﻣﺮﺣﺒﺎ", "مرحبا"),
        ("İstanbul", "istanbul"),
        ("i\u0307stanbul", "istanbul"),
        ("пʼять", "п'ять"),
        ("Hawaiʻi", "hawai'i"),
        ("❤\ufe0f", "❤"),
        ("\u200d", "\u200d"),  # nothing else is left
        ("GROẞ", "groß"),
        ("paraŀlel", "paral·lel"),
    ],
)
def test_variants_of_a_sign_are_one(written, form):
    assert Normaliser().token(written) == form
    assert Normaliser().tokens([written.encode()]) == [form.encode()]
    earlier = Normaliser.from_manifest({"lower": True})
    assert earlier.is_old and earlier.manifest() == {
        "lower": True, "fold_numbers": False, "drop_punctuation": False, "drop_digits": False,
    }  # fmt: skip
    assert earlier.token("O’Brien") == "o’brien"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("50 km/h. The", "50 km / h . The"),
        ("our R&D. É/h. So", "our R & D . É / h . So"),
        ("J. S. Bach, &c. in U.S./U.K. tests", "J. S. Bach , & c. in U.S. / U.K. tests"),
    ],
)
def test_a_letter_behind_a_sign_ends_a_sentence(text, tokens):
    assert " ".join(tokens_of(text, "text")) == tokens


@pytest.mark.parametrize("first", PACKED)
@pytest.mark.parametrize("second", [k for k in PACKED if k != "plain"])
def test_archives_of_several_packings_are_read_to_the_last_byte(tmp_path, first, second):
    file = tmp_path / "corpus"
    if first == "plain":
        first = second
    file.write_bytes(PACKED[first](TEXT) + PACKED[second](b"\nmore\n"))
    assert read(file) == TEXT + b"\nmore\n"
    file.write_bytes(PACKED[first](TEXT) + PACKED[second](b"\nmore\n") + bytes(1000))
    assert read(file) == TEXT + b"\nmore\n"
    for behind in (b"x", b"\0\0x", b"no archive"):
        file.write_bytes(PACKED[first](TEXT) + behind)
        with pytest.raises(InputError, match=r"corpus: the archive is damaged \(what follows its"):
            read(file)


def test_a_zstd_frame_that_is_to_be_skipped(tmp_path):
    skipped = b"\x5a\x2a\x4d\x18" + (7).to_bytes(4, "little") + b"skipped"
    packed = PACKED["zst"](TEXT)
    (tmp_path / "corpus").write_bytes(skipped + packed + skipped + packed)
    assert read(tmp_path / "corpus") == TEXT * 2


@pytest.mark.parametrize("kind", PACKED)
def test_a_byte_order_mark_is_no_text(tmp_path, kind):
    file = tmp_path / "corpus"
    for text in (b"\xef\xbb\xbfone\n", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef\xbb\xbf\xef\xbb\xbfx"):
        file.write_bytes(PACKED[kind](text))
        read_back = b"".join(block.text for block in read_line_blocks(file))
        assert read_back == text.removeprefix(b"\xef\xbb\xbf")


@pytest.mark.parametrize("kind", PACKED)
def test_a_pipe_that_gives_byte_after_byte(tmp_path, kind):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        with open(pipe, "wb", buffering=0) as file:
            for byte in PACKED[kind](b"\xef\xbb\xbf" + TEXT):
                file.write(bytes([byte]))

    threading.Thread(target=write, daemon=True).start()
    assert read(pipe) == TEXT


def test_what_unpacks_to_much_more_than_any_text_is_refused(tmp_path):
    zeros = bytes(1 << 20)
    pack = zstandard.ZstdCompressor().compressobj()
    file = tmp_path / "bomb"
    file.write_bytes(b"".join(pack.compress(zeros) for _ in range(110)) + pack.flush())
    wanted = r"bomb: unpacks to more than 1,000 times its size and more than 100 MB.*--unpack-limit"
    with pytest.raises(InputError, match=wanted), open_source(find_sources([file])[0]) as stream:
        while stream.read(1 << 20):
            pass
    set_unpack_limit(1 << 30)
    try:
        with open_source(find_sources([file])[0]) as stream:
            assert sum(map(len, iter(lambda: stream.read(1 << 20), b""))) == 110 << 20
    finally:
        set_unpack_limit(DEFAULT_UNPACK_LIMIT)


@pytest.mark.parametrize("reader", [read, lambda file: list(read_line_blocks(file))])
def test_a_line_that_is_none(tmp_path, monkeypatch, reader):
    monkeypatch.setattr(lines, "LINE_BYTES", 3 << 20)
    (tmp_path / "t").write_bytes(b"a\nb\n" + b"c" * (4 << 20) + b"\n")
    with pytest.raises(InputError, match=r"t, line 3: is longer than 3 MB: is it text\? break it"):
        reader(tmp_path / "t")


def test_plain_text_may_have_longer_lines_than_other_formats(tmp_path):
    """A book in one line is indexed; a list of phrases or a grammar with such a line is none."""
    (tmp_path / "t").write_bytes(b"a b " * (lines.LINE_BYTES // 2) + b"\n")
    options = IndexOptions(text_format="lines")
    index = CorpusIndex.build([tmp_path / "t"], tmp_path / "x.index", options=options, jobs=1)
    assert index.count("b a") == lines.LINE_BYTES // 2 - 1
    assert sum(1 for _ in read_text_lines(tmp_path / "t")) == 1
    with pytest.raises(InputError, match=r"t, line 1: is longer than 4 MB: is it text\? break it"):
        list(read_line_blocks(tmp_path / "t"))


@pytest.mark.parametrize("kind", PACKED)
def test_spooled_text_can_be_read_twice(tmp_path, kind):
    (tmp_path / "t").write_bytes(b"x\n")
    with spooled(tmp_path / "t") as path:
        assert path == tmp_path / "t"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.write_bytes(PACKED[kind](TEXT)), daemon=True).start()
    with spooled(pipe) as path:
        assert read(path) == read(path) == TEXT
    assert not Path(path).exists()


def test_standard_input_is_read_but_once(monkeypatch):
    read_end, write_end = os.pipe()
    os.write(write_end, TEXT)
    os.close(write_end)
    monkeypatch.setattr("sys.stdin", os.fdopen(read_end))
    assert read("-") == TEXT
    with pytest.raises(InputError, match="standard input: is closed: give it something to read"):
        read("-")


def test_scripts_without_spaces_ask_for_text_that_is_cut():
    for text in ("ภาษาไทยไม่มีช่องว่าง", "ພາສາລາວບໍ່ມີຊ່ອງຫວ່າງ", "မြန်မာဘာသာ", "ភាសាខ្មែរភាសា"):
        (doubt,) = format_doubts(text.encode(), "text")
        assert "cut the text into words first" in doubt
        cut_text = " ".join(text[i : i + 4] for i in range(0, len(text), 4))
        assert list(format_doubts(cut_text.encode(), "lines")) == []
        assert format_signs(cut_text.encode()).text_format == "lines"
    for text in ("中文没有空格", "日本語です", "the word ไทย in an English sentence, once", ""):
        assert list(format_doubts(text.encode(), "text")) == []


RUNNING = [  # text, a word, how often it is there
    ("今天天气很好，我们去公园散步。你喜欢公园吗？", "公园", 2),
    ("今日は公園へ行きました。公園が好きですか？", "公園", 2),
    ("هل قرأت الكتاب؟ نعم، قرأت الكتاب؛ وكان الكتاب مفيدا.", "الكتاب", 3),
    ("یہ کتاب اچھی ہے۔ میں نے کتاب، قلم خریدا۔", "کتاب", 2),
    ("הילד הלך הביתה. הוא קרא ספר, ספר טוב.", "ספר", 2),
    ("The boy went home. He read a book.", "home", 1),
    ("good morning everyone.\nso happy today.\n", "today", 1),
    ("Bonjour ! Ça va ? Quoi !", "va", 1),
    ("Quoi ? dit-il, l'homme. « Oui ! »", "homme", 1),
    ("ልጁ ወደ ቤት ሄደ። መጽሐፍ፣ አነበበ።", "መጽሐፍ", 1),
    ("लड़का घर गया। उसने किताब, कलम खरीदी ।", "किताब", 1),
    ("Το αγόρι πήγε σπίτι. Διάβασε βιβλίο, καλό βιβλίο;", "βιβλίο", 2),
    ("Տղան գնաց տուն։ Ինչո՞ւ գնաց տուն, տուն։", "տուն", 3),
    ("Мальчик пошёл домой. Он читал книгу, книгу.", "книгу", 2),
    ("เด็กชายไปโรงเรียนทุกวัน โรงเรียนอยู่ใกล้บ้าน", "โรงเรียน", 2),
    ("ក្មេងប្រុសទៅសាលារៀន។ សាលារៀននៅជិតផ្ទះ។", "សាលារៀន", 2),
    ("ကလေးသည်ကျောင်းသို့သွားသည်။", "ကျောင်း", 1),
    ("소년은 집에 갔다. 그는 책을 읽었다, 책을.", "책을", 2),
    ("çocuk eve gitti, kitap okudu.", "kitap", 1),
]
TOKENISED = [
    "the king , he said . he ran .\n", "don &apos;t go &quot; there &quot; now\n",
    "今天 天气 很 好 ， 我们 去 公园 。\n", "mr. smith left the u.s. markets .\n",
    "l' homme , dit - il .\n", "he do n't know\n", "เด็กชาย ไป โรงเรียน ทุก วัน\n",
    "لا ، قال .\n", "what ?\nwhy ?\n",
]  # fmt: skip


@pytest.mark.parametrize(("text", "word", "count"), RUNNING)
def test_running_text_of_any_language_counts_as_its_readers_would(tmp_path, text, word, count):
    assert format_signs(text.encode()).text_format == "text"
    path = tmp_path / "t.txt"
    path.write_text(f"{text}\n")
    assert settle_format([path]) == ("text", "text")
    index = CorpusIndex.build(path, tmp_path / "i", options=IndexOptions("text"))
    assert index.count(word) == count


@pytest.mark.parametrize("text", TOKENISED)
def test_tokenised_text_shows_itself(text):
    assert format_signs(text.encode()).text_format == "lines"
    assert list(format_doubts(text.encode(), "lines")) == []


def test_a_corpus_is_tokenised_where_most_of_its_texts_are():
    running, tokenised = b"he went, and ran.\n", b"he went , and ran .\n"
    assert guess_format([tokenised, running]) == guess_format([]) == "text"
    assert guess_format([tokenised, running, tokenised, b""]) == "lines"


def test_the_head_of_a_pipe_can_be_read_before_the_whole(tmp_path):
    for kind, pack in PACKED.items():
        pipe = tmp_path / f"pipe-{kind}"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(pack(TEXT),), daemon=True)
        writer.start()
        (source,) = find_sources([pipe])
        assert read_head(source) == TEXT[:HEAD_BYTES]
        assert read(pipe) == TEXT


def test_turkish_case():
    turkish, usual = Normaliser(turkish=True), Normaliser()
    for written, folded in (("Işık", "ışık"), ("IŞIK", "ışık"), ("İstanbul", "istanbul"),
                            ("I\u0307stanbul", "istanbul"), ("ILIK", "ılık"), ("İZMİR", "izmir"),
                            ("I'M", "ı'm")):  # fmt: skip
        assert turkish.token(written) == folded
        assert turkish.tokens([written.encode()]) == [folded.encode()]
    assert usual.token("Işık") == "işık" and usual.token("İstanbul") == "istanbul"
    assert Normaliser(turkish=True, lower=False).token("Işık") == "Işık"
    assert "turkish" not in usual.manifest()
    assert Normaliser.from_manifest(turkish.manifest()) == turkish


def test_an_index_of_turkish_is_asked_and_written_in_its_case(tmp_path, run):
    text = tmp_path / "a.txt"
    text.write_text("Işık yandı. İstanbul ISINDI, ılık ılık.\n", encoding="utf-8")
    run("index", "build", text, "-o", tmp_path / "i", "--set", "normaliser.turkish=true")
    for phrase, node in (
        ("ışık", "Işık"),
        ("IŞIK", "Işık"),
        ("istanbul ısındı", "İstanbul ISINDI"),
    ):
        assert run("kwic", tmp_path / "i", phrase)[0].split("\t")[2] == node
    assert run("count", tmp_path / "i", "--query", "ısın*")[0] == "ısın*\t1\n"
    run("verify", tmp_path / "i")
