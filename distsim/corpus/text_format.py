"""Guesses whether a plain text is running text or tokenised.

A text is running text unless it shows that it is tokenised: its marks stand alone, its entities are
those of Moses' tokenizer, clitics are pieces of their own. Commas and full stops decide, where
there are any: no typography puts a space before them, as French does before `!` and Hindi before a
danda.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from distsim.base.choices import TextFormat
from distsim.corpus.tokeniser import is_abbreviation

HEAD_BYTES = 1 << 16  # of a text are looked at

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
        a_line = self.ends_within * _ENDS_WITHIN <= self.ends_last
        return "lines" if self.other_alone > self.other_glued and a_line else "text"


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
