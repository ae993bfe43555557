"""Recognises files that are not plain text by their first bytes, and names the remedy.

Careful: what may be a text passes. A tag here and there, commas and tabs that differ in number
from line to line, brackets, braces and entities are all found in texts.
"""

import codecs
import csv
import json
import logging
import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import filterfalse, pairwise

from distsim.base.arguments import TextFormat
from distsim.corpus.tokeniser import is_abbreviation

_COMMAS_AND_STOPS = frozenset(",.،。、，．｡､፣")
_OTHER_MARKS = frozenset(";:!?؛؟！？；：।॥።፤፥፧։՝՞՜۔·\u037e។៕၊။")
_ENDS = frozenset("!?؟！？。")
_WIDE = re.compile("(?<=[^\\W\\d_])[，。、；：！？．｡､]")  # in scripts without spaces
_CLOSING = "\"'”’»)]」』）"
_CLITIC = re.compile(
    "n['’]t|['’](?:s|t|d|m|ll|re|ve)|``|''|\"|@-@|@[,.]@|-[lr][rsc]b-"
    r"|&(?:apos|quot|amp|lt|gt|#9[13]|#124);\w*", re.I
)  # fmt: skip
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # Thai, Lao, Burmese, Khmer
_LEAST_UNSPACED = 0.3  # of all characters
_LONGEST_CUT = 8  # characters of a piece on average; words that were cut have about four
_ENDS_WITHIN = 4  # times as many at the end of a line as within, in text of a sentence a line


@dataclass
class FormatSigns:
    """What tells running text from tokenised text, counted.

    glued, alone: commas and full stops behind a word, and between spaces. other_glued, other_alone:
    other marks and clitics. ends_within, ends_last: ends of sentences that stand alone, within a
    line and at its end. characters: of all. unspaced, unspaced_pieces: characters of scripts whose
    words no spaces part, and pieces with them. example: a piece that shows the format.
    """

    glued: int = 0
    alone: int = 0
    other_glued: int = 0
    other_alone: int = 0
    ends_within: int = 0
    ends_last: int = 0
    characters: int = 0
    unspaced: int = 0
    unspaced_pieces: int = 0
    example: str = ""

    @property
    def is_unspaced(self) -> bool:
        """Whether it is text of a script whose words no spaces part."""
        return self.unspaced > _LEAST_UNSPACED * self.characters

    @property
    def text_format(self) -> TextFormat:
        """`lines` for tokenised text, `text` for any other."""
        if self.is_unspaced and self.glued + self.alone == 0:
            is_cut = self.unspaced <= _LONGEST_CUT * self.unspaced_pieces
            return "lines" if is_cut and self.unspaced_pieces > 1 else "text"
        if self.glued or self.alone:
            return "lines" if self.alone > self.glued else "text"
        ends_with_sentence = self.ends_within * _ENDS_WITHIN <= self.ends_last
        return "lines" if self.other_alone > self.other_glued and ends_with_sentence else "text"


def format_signs(text: bytes) -> FormatSigns:
    """Return the signs in the beginning of a text.

    Arguments:
        text: UTF-8.

    >>> format_signs("今天天气很好，我们去公园散步。".encode()).text_format
    'text'
    >>> format_signs(b"the king , he said .\\n").text_format
    'lines'
    """
    signs = FormatSigns()
    for line in text[:HEAD_BYTES].decode(errors="ignore").splitlines():
        pieces = line.split()
        for number, piece in enumerate(pieces, 1):
            _add(signs, piece, is_last=number == len(pieces))
    return signs


def guess_format(texts: Iterable[bytes]) -> TextFormat:
    """Return the format of texts that are one corpus: that of most of them, `text` of none.

    Arguments:
        texts: the beginning of each, UTF-8.
    """
    formats = [format_signs(text).text_format for text in texts if text.strip()]
    return "lines" if 2 * formats.count("lines") > len(formats) else "text"


_ESCAPED = re.compile(rb"&(?:apos|quot|amp|lt|gt|nbsp|#[0-9]{2,5}|#x[0-9a-fA-F]{2,4});")


def format_doubts(text: bytes, text_format: TextFormat) -> Iterator[str]:
    """Yield why the beginning of a text does not fit its format; nothing if it does.

    Arguments:
        text: UTF-8.
        text_format: `lines` or `text`.

    >>> [one[:30] for one in format_doubts(b"no, he said: wait; why? go!\\n", "lines")]
    ['looks untokenised (`no,`): its']
    """
    signs = format_signs(text)
    if signs.is_unspaced and signs.text_format == "text":
        yield (
            "looks like Thai, Lao, Burmese or Khmer, whose words no spaces part: "
            + ("each character is a token" if text_format == "text" else "a line is a token")
            + "; for words, cut the text into words first, with spaces between them, and give "
            "`text_format` lines"
        )
    elif signs.text_format != text_format and text_format == "lines":
        if signs.glued + signs.other_glued:
            yield (
                f"looks untokenised (`{signs.example}`): its words keep their "
                "punctuation; running text wants `text_format` text"
            )
    elif signs.text_format != text_format:
        yield (
            f"looks tokenised (`{signs.example}` stands alone): tokenised text wants "
            "`text_format` lines"
        )
    escaped = _ESCAPED.search(text) if text_format == "text" else None
    if escaped:
        yield (
            f"`{escaped.group().decode()}` stands for a character and is read as three tokens: "
            "replace such names first, as Python's html.unescape does"
        )


def _add(signs: FormatSigns, piece: str, is_last: bool) -> None:
    signs.characters += len(piece)
    if n_unspaced := len(_UNSPACED.findall(piece)):
        signs.unspaced += n_unspaced
        signs.unspaced_pieces += 1
    if len(piece) == 1 and piece in _COMMAS_AND_STOPS:
        signs.alone += 1
    elif (len(piece) == 1 and piece in _OTHER_MARKS) or _CLITIC.fullmatch(piece):
        signs.other_alone += 1
    else:
        _add_glued(signs, piece)
        return
    signs.example = signs.example or piece
    if piece in _ENDS:
        signs.ends_last += is_last
        signs.ends_within += not is_last


def _add_glued(signs: FormatSigns, piece: str) -> None:
    bare = piece.rstrip(_CLOSING)
    inner = _WIDE.findall(piece)
    signs.glued += sum(mark in _COMMAS_AND_STOPS for mark in inner)
    signs.other_glued += sum(mark in _OTHER_MARKS for mark in inner)
    is_glued = bool(inner)
    if not inner and len(bare) > 1 and unicodedata.category(bare[-2])[0] in "LM":
        if bare[-1] in _COMMAS_AND_STOPS and not (bare[-1] == "." and is_abbreviation(bare[:-1])):
            signs.glued += 1
            is_glued = True
        elif bare[-1] in _OTHER_MARKS:
            signs.other_glued += 1
            is_glued = True
    if is_glued and (not signs.example or len(signs.example) == 1):
        signs.example = piece[:20]


HEAD_BYTES = 1 << 16

_HTML_NAMES = re.compile(
    "a|b|blockquote|body|br|center|code|dd|div|dl|dt|em|font|footer|form|h[1-6]|head|header|hr|html"
    "|i|img|input|li|link|main|meta|nav|ol|p|pre|script|section|span|strong|style|table|tbody|td"
    "|th|title|tr|u|ul",
    re.I,
)
_HTML = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.I)
_XML = re.compile(r"<(?:\?xml\b|!doctype\b)", re.I)
_PROLOG = re.compile(r"(?:\s+|<\?.*?\?>|<!--.*?-->|<!doctype[^\[>]*(?:\[.*?\]\s*)?>)*", re.S | re.I)
_ROOT = re.compile(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)")
# Kinds of XML by their root element.
_ROOTS = {
    "html": "HTML", "TEI": "TEI", "TEI.2": "TEI", "teiCorpus": "TEI", "teiCorpus.2": "TEI",
    "tmx": "TMX", "alto": "ALTO", "xliff": "XLIFF", "PcGts": "PAGE XML",
    "FictionBook": "FictionBook",
    "rss": "a news feed", "feed": "a news feed", "tt": "TTML subtitles",
    "mediawiki": "a dump of a wiki",
    "doc.kaf": "KAF", "NAF": "NAF", "D-Spin": "TCF", "FoLiA": "FoLiA",
}  # fmt: skip
_DOCBOOK = re.compile(r"docbook\.org/ns/docbook|-//OASIS//DTD DocBook", re.I)
# A structure of a vertical file: what ends, its name, its attributes, whether it is empty.
TAG_LINE = re.compile(
    r"<(/?)([A-Za-z_][\w.:-]*)"
    r"((?:\s+[\w.:-]+\s*=\s*(?:\"[^\"\t]*\"|'[^'\t]*'|[^\s\"'<>=]*[^\s\"'<>=/]))*)\s*(/?)>\s*"
)
_VERTICAL_NAMES = {"s", "text", "doc", "document", "g", "p", "article", "sentence"}
_SRT = re.compile(r"\s*\d+\s*\n\s*\d+:\d\d:\d\d[,.]\d+\s*-->\s*\d+:\d\d:\d\d")
_ASS = re.compile(r"\[Script Info\]|\[(?:V4\+? Styles|Events)\].*?^Dialogue:", re.I | re.M | re.S)
_CHAT = re.compile(r"@UTF8\s*\n|@Begin\s*\n")
_CHAT_TIER = re.compile(r"^\*[A-Z][A-Z0-9]*:\t", re.M)
_BEFORE = re.compile(r"(?:\s|<!--.*?-->)*", re.S)
_OPENED = re.compile(r"<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?>")
_CLOSED = re.compile(r"</([A-Za-z][\w:.-]*)\s*>|<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/>")
_SENTENCE_MARKS = {"s", "unk"}  # of language models: <s> the king </s>
_FEWEST_CLOSED = 3
_LEAST_MARKUP = 0.1  # of all characters, where the text begins with a tag
_FEWEST_CLOSED_INSIDE, _LEAST_HTML = 10, 0.3  # where it does not

_OBJECT = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"\s*:')
_ARRAY = re.compile(r'\[\s*[\[{"]')
_MORE_JSON = re.compile(r"\s*\n\s*[\[{]")
_CUT_CHARACTERS = 8  # of a number or a word of JSON that the end of the head has cut

_MAGIC = (
    (b"PAR1", "Parquet"),
    (b"%PDF-", "PDF"),
    (b"{\\rtf", "RTF"),
    (b"\xd0\xcf\x11\xe0", "a document of an old word processor"),
)
_ZIP = b"PK\x03\x04"
_IN_ZIP = (
    (b"word/", "docx"),
    (b"mimetypeapplication/epub+zip", "EPUB"),
    (b"mimetypeapplication/vnd.oasis.opendocument.text", "ODT"),
)
_READ_BY_INDEX = {
    "HTML": "html", "JSON lines": "jsonl", "CSV": "csv", "TSV": "tsv", "Parquet": "parquet",
    "CoNLL-U": "conllu", "TEI": "tei", "DocBook": "docbook", "ALTO": "alto", "docx": "docx",
    "a vertical file": "vertical", "SubRip subtitles": "subtitles", "WebVTT subtitles": "subtitles",
    "ASS subtitles": "subtitles",
}  # fmt: skip
RETURNS_ALONE = "text whose lines end in carriage returns alone"
_PANDOC = "convert it first (pandoc -t plain FILE -o FILE.txt)"
_REMEDIES = {
    "PDF": "convert it first (pdftotext FILE.pdf)",
    "EPUB": _PANDOC, "ODT": _PANDOC, "RTF": _PANDOC,
    "a document of an old word processor": "save it as plain text there",
    "a ZIP archive": "unpack it first",
    "JSON": "write an object a line (jq -c '.[]' FILE > FILE.jsonl), or take the file as it is "
    "with `as_is`",
    RETURNS_ALONE: "convert them first (tr '\\r' '\\n' < FILE > FILE.txt)",
    "binary data": "leave it out, or name the encoding of a text with `encoding`",
    "TMX": "give its two languages to `distsim align`: FILE.tmx:en FILE.tmx:de",
    "XLIFF": "convert it to TMX or to text first (Translate Toolkit)",
    "a CHAT transcript": "take the words of its main lines first (CLAN's flo, or pylangacq), or "
    "take the file as it is with `as_is`",
    "FictionBook": _PANDOC,
    "TTML subtitles": "convert them to SRT or WebVTT first (ffmpeg -i FILE FILE.srt)",
    "PAGE XML": "export it as ALTO or TEI first",
    "a dump of a wiki": "extract its text first (wikiextractor)",
}  # fmt: skip
_CONLLU_ROW = re.compile(r"\d+(?:[-.]\d+)?\t(?:[^\t]*\t){8}[^\t]*")

_FEW_NULS = 3
_MOST_NULS = 0.1  # of all bytes of a text

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16"),
)  # fmt: skip
_UNMARKED = ("UTF-32LE", "UTF-32BE", "UTF-16LE", "UTF-16BE")
_LEAST_PRINTABLE = 0.95  # characters of a text
_LEAST_ASCII = 0.1  # characters of one without a mark, blanks above all
_TO_UTF_8 = "convert it to UTF-8 (iconv -f {} -t UTF-8)"

_LEAST_ALIKE = 0.9  # rows of as many columns as the first
_FEWEST_ROWS = 3  # with a header or a column of numbers; of commas 5 without a header
_FEWEST_COMMA_ROWS = 5
_FEWEST_BARE_ROWS = 20  # of tabs and nothing else that tells
_MOST_SPACES = 0.1  # fields that begin with a blank, as after the commas of a sentence
_LEAST_QUOTED = 0.2  # rows with a field in quotation marks
_LONGEST_NAME = 40  # characters
_MOST_COLUMNS = 40  # of a token
_NAME = re.compile(r"[A-Za-z_](?:[\w ()/%.-]*[\w)%])?")
_NUMBER = re.compile(r"[-+]?\d+(?:[.:/-]\d+)*(?:[eE][-+]?\d+)?%?")


def looks_like(head: bytes, is_whole: bool) -> str | None:
    """Return the format of a file by its first bytes, None where it may be plain text.

    Arguments:
        head: about HEAD_BYTES of them, unpacked, without a byte order mark.

    >>> looks_like(b"<!DOCTYPE html><p>the king</p>", True)
    'HTML'
    >>> looks_like(b"a < b , said the king , { so } &lt;\\n", True)
    """
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if head.startswith(_ZIP):
        return next((name for piece, name in _IN_ZIP if piece in head), "a ZIP archive")
    if wide := wide_encoding(head):
        return wide
    if head.count(0) > max(_FEW_NULS, _MOST_NULS * len(head)):
        return "binary data"
    if has_returns_alone(head):
        return RETURNS_ALONE
    text = head.decode(errors="replace").replace("\r\n", "\n")
    start = text[_BEFORE.match(text).end() :]  # type: ignore[union-attr]
    if not start:
        return None
    lines = text.split("\n")
    if not is_whole:
        lines.pop()
    rows = [line for line in lines if line.strip()]
    words = next((row for row in rows if row[0] != "#"), "")
    if _CONLLU_ROW.fullmatch(words):
        return "CoNLL-U"
    if format_name := _subtitles(start) or ("a CHAT transcript" if _is_chat(start) else None):
        return format_name
    if _is_vertical(rows):
        return "a vertical file"
    format_name = _markup(start, text) if "<" in text else None
    return format_name or _json(start, is_whole) or _table(rows, is_whole)


def has_returns_alone(head: bytes) -> bool:
    """Return whether the lines of a text end in carriage returns alone, as on a Mac long ago.

    Arguments:
        head: first bytes of a file.
    """
    return b"\n" not in head and head.count(b"\r") > 1


def legible(head: bytes) -> bytes:
    """Return the first bytes of a file as UTF-8 whose lines end in newlines, for `looks_like`.

    Arguments:
        head: of UTF-16 or UTF-32 with or without a mark, or with carriage returns alone; or others.

    >>> legible("WEBVTT\\r\\rking".encode("utf-16"))
    b'WEBVTT\\n\\nking'
    """
    if wide := wide_encoding(head):
        head = codecs.getincrementaldecoder(wide)().decode(head).encode()
    return head.replace(b"\r", b"\n") if has_returns_alone(head) else head


def wide_encoding(head: bytes) -> str:
    """Return the name of UTF-16 or UTF-32 in which a text is written; empty for other bytes.

    Without a byte order mark it is told by zero bytes, which ASCII characters have.

    Arguments:
        head: first bytes of a file.

    >>> wide_encoding("the king".encode("utf-16-be")), wide_encoding(b"the king")
    ('UTF-16BE', '')
    """
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), "")
    if not marked and head.count(0) <= _FEW_NULS:
        return ""
    ascii_shares = {}
    for name in [marked] if marked else _UNMARKED:
        with suppress(UnicodeDecodeError):
            text = codecs.getincrementaldecoder(name)().decode(head)
            n_plain = sum(sign.isprintable() or sign.isspace() for sign in text)
            if n_plain >= _LEAST_PRINTABLE * len(text):
                ascii_shares[name] = sum(map(str.isascii, text)) / max(1, len(text))
    best = max(ascii_shares, key=ascii_shares.__getitem__, default="")
    return best if marked or ascii_shares.get(best, 0) >= _LEAST_ASCII else ""


_ENCODINGS = (  # the most common ones first
    "cp1252", "cp1251", "koi8-r", "koi8-u", "cp1250", "iso8859-2", "cp1253", "iso8859-7", "cp1254",
    "cp1257", "cp1256", "iso8859-6", "cp1255", "cp874", "gb18030", "big5", "euc-kr", "cp949",
    "euc-jp", "shift-jis", "cp932", "iso8859-5", "cp866", "mac-roman", "cp850", "cp852",
    "mac-cyrillic",
)  # fmt: skip
_FREQUENT_HAN = {  # bytes of the first half of a table in order of use: the first byte's range
    "gb18030": range(0xB0, 0xD8), "big5": range(0xA4, 0xC7), "euc-jp": range(0xB0, 0xD0),
    "shift-jis": range(0x88, 0x98), "cp932": range(0x88, 0x98),
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
_SIGN = re.compile(r"[^\x00-\x7f]")
_INSIDE = re.compile(r"(?<=[^\W\d_])[^\w\s\x00-\x7f’](?=[^\W\d_])")
_USUAL_MARKS = frozenset("«»„“”‘’‚–—…\xa0¡¿·°§№、。，！？；：「」『』《》（）・\u3000؟،؛")
_SCRIPTS = {"CJK": "HAN", "IDEOGRAPHIC": "HAN", "HIRAGANA": "KANA", "KATAKANA": "KANA"}
_ONE_TEXT = dict.fromkeys(("HAN", "KANA", "HANGUL", "KATAKANA-HIRAGANA"), "HAN")
# -ln of the probability of a character, about.
_OF_ASCII, _OF_MARK, _OF_SIGN, _OF_CONTROL = 3.0, 5.0, 9.0, 5.0
_OF_FOREIGN_LETTER, _OF_LATIN, _OF_LETTER = 10.0, 3.6, 2.1
_OF_FREQUENT_HAN, _OF_HAN, _OF_HANGUL, _OF_KANA, _OF_FOREIGN_HAN = 7.5, 11.0, 6.5, 5.0, 12.0
_OF_USUAL_HAN = 4.0
_E_TIMES_LESS = 8.0  # frequent is a letter as many places further down in its alphabet
# What is added where scripts change within a word, for a capital behind a letter, for all of these
# at most, for one behind a small letter, and for marks between letters.
_OTHER_SCRIPT, _CAPITAL, _CAPITALS, _CASE_CHANGE, _INNER_MARK = 6.0, 0.3, 8.0, 4.0, 4.0
_OF_PLACE = 0.3  # of an encoding, for each that is more common
_UNLIKELY = 9.5  # of a character that is not of ASCII, on average: in none of the languages


def likely_encoding(sample: bytes) -> str:
    """Return the likely encoding of a text that is not UTF-8; empty where none fits.

    Of the encodings in which the text can be read, that in which its letters are most likely
    those of one language in `data/alphabets.toml`; of other languages, what charset-normalizer
    finds.

    Arguments:
        sample: lines or pieces of them.

    >>> likely_encoding("Была тёмная ночь".encode("koi8-r"))
    'koi8-r'
    """
    if wide := wide_encoding(sample):
        return wide.lower()
    best, likelihood = "", -math.inf
    for place, encoding in enumerate(_ENCODINGS):
        with suppress(UnicodeDecodeError):
            text = codecs.getincrementaldecoder(encoding)().decode(sample)
            signs = _SIGN.findall(text.lower())
            of_signs = _likelihood(text, signs, encoding)
            of_text = of_signs - _OF_ASCII * (len(text) - len(signs)) - _OF_PLACE * place
            if of_text > likelihood and of_signs > -_UNLIKELY * len(signs):
                best, likelihood = encoding, of_text
    if best:
        return best
    from charset_normalizer import from_bytes

    logging.getLogger("charset_normalizer").setLevel(logging.CRITICAL)
    match = from_bytes(sample).best()
    name = "" if match is None else match.encoding.replace("_", "-")
    return "" if name in ("utf-8", "ascii") else name


def _likelihood(text: str, signs: list[str], encoding: str) -> float:
    """Return about the logarithm of the probability of a text, of ASCII aside, in one language.

    Arguments:
        text: as read in an encoding. signs: its characters that are not of ASCII, small letters.
    """
    inner = [unicodedata.category(sign) for sign in _INSIDE.findall(text)]
    costs = _INNER_MARK * sum(category[0] != "M" for category in inner)
    n_capitals = 0
    for word in filterfalse(str.isascii, _WORD.findall(text)):
        scripts = [_ONE_TEXT.get(_script(sign), _script(sign)) for sign in word]
        costs += _OTHER_SCRIPT * sum(a != b for a, b in pairwise(scripts))
        capitals = [before for before, sign in pairwise(word) if sign.isupper()]
        n_capitals += len(capitals)
        costs += _CASE_CHANGE * sum(map(str.islower, capitals))
    costs += min(_CAPITAL * n_capitals, _CAPITALS)
    letters: Counter[str] = Counter()
    for sign in signs:
        category = unicodedata.category(sign)[0]
        if category in "LM":
            letters[sign] += 1
        else:
            costs += _OF_MARK if sign in _USUAL_MARKS else _OF_SIGN
            costs += _OF_CONTROL * (category == "C")
    return -costs - min(
        sum(n * _letter_cost(letter, language, encoding) for letter, n in letters.items())
        for language in _alphabets()
    )


def _letter_cost(letter: str, language: str, encoding: str) -> float:
    """Return about -ln of the probability of a letter in a language; Chinese by its encoding."""
    ranks = _alphabets()[language]
    script = _script(letter)
    if language not in ("chinese", "japanese", "korean"):
        if letter not in ranks:
            return _OF_FOREIGN_LETTER
        return ranks[letter] / _E_TIMES_LESS + (_OF_LATIN if script == "LATIN" else _OF_LETTER)
    if letter in ranks:
        return _OF_USUAL_HAN
    if script == "HAN" and language != "korean":
        return _OF_FREQUENT_HAN if _is_frequent(letter, encoding) else _OF_HAN
    language_of_script = {"KANA": "japanese", "HANGUL": "korean"}.get(script)
    return (
        (_OF_KANA if script == "KANA" else _OF_HANGUL)
        if language_of_script == language
        else _OF_FOREIGN_HAN
    )


def _is_frequent(han: str, encoding: str) -> bool:
    """Return whether a Chinese character is in the first half of a table in order of use."""
    written = han.encode(encoding)
    least = 0xA1 if encoding == "gb18030" else 0
    is_first = written[0] in _FREQUENT_HAN.get(encoding, ())
    return is_first and len(written) == 2 and written[1] >= least


@cache
def _script(letter: str) -> str:
    """Return the script of a letter, the first word of its name."""
    name = unicodedata.name(letter, "").partition(" ")[0]
    return _SCRIPTS.get(name, name)


@cache
def _alphabets() -> dict[str, dict[str, int]]:
    """Return the place of each letter among those of its language, the most frequent first."""
    text = (files("distsim") / "data" / "alphabets.toml").read_text(encoding="utf-8")
    return {
        language: {letter: rank for rank, letter in enumerate(dict.fromkeys(letters))}
        for language, letters in tomllib.loads(text).items()
    }


def remedy(format_name: str) -> str:
    """Return the remedy for a file of a format that looks_like names.

    >>> remedy("PDF")
    'convert it first (pdftotext FILE.pdf)'
    """
    if format_name in _REMEDIES:
        return _REMEDIES[format_name]
    if format_name.startswith("UTF-"):
        remedy_of_encoding = _TO_UTF_8.format(format_name)
        return f"{remedy_of_encoding}, or name its encoding with `encoding` {format_name.lower()}"
    read = ""
    if format_name in _READ_BY_INDEX:
        read = f"`distsim index build` reads it with --format {_READ_BY_INDEX[format_name]}; else "
    return f"{read}extract the text first, or take the file as it is with `as_is`"


def _subtitles(start: str) -> str | None:
    """Return the kind of subtitles, None for other text."""
    if start.startswith("WEBVTT") and start[6:7] in ("", "\n", " ", "\t"):
        return "WebVTT subtitles"
    if _ASS.match(start):
        return "ASS subtitles"
    return "SubRip subtitles" if _SRT.match(start) else None


def _is_chat(start: str) -> bool:
    """Return whether a text is a transcript in CHAT, of CHILDES and TalkBank."""
    return _CHAT.match(start) is not None and _CHAT_TIER.search(start) is not None


def _is_vertical(rows: Sequence[str]) -> bool:
    """Return whether lines are tokens with tags and lemmas, one a line, between structures.

    Without a structure a row must be a mark alone, in a table without a column of numbers.
    """
    tokens = [
        row for row in rows if TAG_LINE.fullmatch(row) is None and row[:2] not in ("<?", "<!")
    ]
    n_tags = len(rows) - len(tokens)
    table = [row.split("\t") for row in tokens]
    if not table or (n_tags == 0 and len(table) < _FEWEST_COMMA_ROWS):
        return False
    widths = [len(row) for row in table]
    width = max(set(widths), key=widths.count)
    table = [row for row in table if len(row) == width]
    words = [row[0] for row in table]
    if len(table) < _LEAST_ALIKE * len(tokens) or any(len(word) > _LONGEST_NAME for word in words):
        return False
    if not all(words) or sum(" " in word for word in words) * 50 > len(words):
        return False
    if n_tags:
        names = {match[2] for row in rows if (match := TAG_LINE.fullmatch(row)) is not None}
        return bool(names & _VERTICAL_NAMES) if width == 1 else width <= _MOST_COLUMNS
    has_mark = any(not any(map(str.isalnum, word)) for word in words)
    columns = list(zip(*table, strict=True))[1:]
    has_numbers = any(all(map(_NUMBER.fullmatch, column)) for column in columns)
    has_texts = any(" " in cell for column in columns for cell in column)
    is_of_tokens = has_mark and not has_numbers and not has_texts and all(map(all, columns))
    return 2 <= width <= _MOST_COLUMNS and is_of_tokens


def _markup(start: str, text: str) -> str | None:
    """Return the kind of markup by its root or the share of tags, None for other text."""
    body = start[_PROLOG.match(start).end() :]  # type: ignore[union-attr]
    root_match = _ROOT.match(body)
    kind = _ROOTS.get(root_match[1]) if root_match else None
    if kind is None and root_match and root_match[1].lower() == "html":
        kind = "HTML"
    if kind and (kind == "TEI" or body[: len(root_match[0]) + 1].isascii()):  # type: ignore[index]
        return kind
    if root_match and _DOCBOOK.search(start[:4000]):
        return "DocBook"
    if _XML.match(start) and not re.match(r"<!doctype\s+html", start, re.I):
        return "XML"
    if _HTML.match(start):
        return "HTML"
    closed = [tag for tag in _CLOSED.finditer(text) if tag[1] not in _SENTENCE_MARKS]
    opened = [tag for tag in _OPENED.finditer(text) if tag[1] not in _SENTENCE_MARKS]
    share = sum(len(tag[0]) for tag in [*opened, *closed]) / len(text)
    names = [tag[1] or tag[2] for tag in closed]
    is_html = sum(_HTML_NAMES.fullmatch(name) is not None for name in names) > len(names) / 2
    first = _OPENED.match(start)
    if first is None or first[1] in _SENTENCE_MARKS or share < _LEAST_MARKUP:
        is_html &= len(closed) >= _FEWEST_CLOSED_INSIDE and share >= _LEAST_HTML
        return "HTML" if is_html else None
    if len(closed) < _FEWEST_CLOSED and not start.rstrip().endswith(f"</{first[1]}>"):
        return None
    return "HTML" if is_html and _HTML_NAMES.fullmatch(first[1]) else "XML"


def _json(start: str, is_whole: bool) -> str | None:
    """Return "JSON" or "JSON lines", None for other text."""
    if not (_OBJECT.match(start) or _ARRAY.match(start)):
        return None
    try:
        _, stop = json.JSONDecoder().raw_decode(start)
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(start) - _CUT_CHARACTERS or error.msg.startswith("Unterminated")
        return "JSON" if is_cut and not is_whole else None
    except (ValueError, RecursionError):  # a number of thousands of digits; thousands of brackets
        return "JSON"
    if not start[stop:].strip():
        return "JSON"
    return "JSON lines" if _MORE_JSON.match(start, stop) else None


def _table(lines: Sequence[str], is_whole: bool) -> str | None:
    """Return "TSV" or "CSV" (commas or semicolons), None for other text."""
    for mark, name in (("\t", "TSV"), (",", "CSV"), (";", "CSV")):
        if lines and mark in lines[0]:
            try:
                rows = _rows(lines, mark)
            except csv.Error:
                continue
            if not is_whole and len(rows) > 1:
                rows.pop()  # perhaps cut in a quoted field
            width = len(rows[0])
            alike = [row for row in rows if len(row) == width]
            if width < 2 or len(alike) < _LEAST_ALIKE * len(rows):
                continue
            if _is_table(alike) if mark == "\t" else _is_comma_table(alike, lines, mark):
                return name
    return None


def _rows(lines: Sequence[str], mark: str) -> list[list[str]]:
    if mark == "\t":
        return [line.split(mark) for line in lines]
    return [row for row in csv.reader(lines, delimiter=mark) if row]


def _is_table(rows: Sequence[list[str]]) -> bool:
    """Return whether rows of fields separated by tabs are a table, not lines that are indented."""
    if not all(row[0] for row in rows):
        return False
    tells = _has_header(rows) or _has_numbers(rows)
    return len(rows) >= (_FEWEST_ROWS if tells else _FEWEST_BARE_ROWS)


def _is_comma_table(rows: Sequence[list[str]], lines: Sequence[str], mark: str) -> bool:
    """Return whether rows of fields separated by commas are a table, not sentences."""
    fields = [field for row in rows for field in row[1:]]
    if sum(field[:1].isspace() for field in fields) > _MOST_SPACES * len(fields):
        rows = [[field.strip() for field in row] for row in rows]
        return len(rows) >= _FEWEST_ROWS and _has_header(rows) and _has_numbers(rows)
    quoted = re.compile(rf'(?:^|{mark})"(?:[^"]|"")*"(?:{mark}|$)')
    n_quoted = sum(quoted.search(line) is not None for line in lines)
    tells = _has_numbers(rows) or n_quoted >= _LEAST_QUOTED * len(rows)
    if _has_header(rows):
        return len(rows) >= (2 if tells else _FEWEST_ROWS)
    return tells and len(rows) >= _FEWEST_COMMA_ROWS


def _has_header(rows: Sequence[list[str]]) -> bool:
    """Return whether the first row names columns."""
    names = rows[0]
    return len(set(names)) == len(names) and all(
        len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) for name in names
    )


def _has_numbers(rows: Sequence[list[str]]) -> bool:
    """Return whether a column contains only numbers, the first row aside."""
    columns = zip(*rows[1:], strict=True)
    return any(all(map(_NUMBER.fullmatch, column)) for column in columns)
