"""Tokenisers: cut text at white space, or running text into tokens and sentences."""

import unicodedata
from functools import cache
from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import TextFormat
from distsim.corpus import kernels as kernel
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import hash_pieces

N_CODE_POINTS = 0x110000

# What str.split() splits at; a test holds the list against str.isspace().
WHITE_SPACE = (
    *range(0x09, 0x0E), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B),
    0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
)  # fmt: skip
NEWLINE = 0x0A

# Characters of scripts whose words no spaces part: each is a token, with the marks on it. Thai and
# Lao, Burmese, Khmer; kana; Han.
_IDEOGRAPHS = (
    (0x0E00, 0x0F00), (0x1000, 0x10A0), (0x1780, 0x1800),
    (0x3041, 0x30A0), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x323B0),
)  # fmt: skip
# Planes 4 to 13 are not assigned, and those for private use are of no class, as a test holds.
_ASSIGNED = ((0, 0x40000), (0xE0000, 0xE1000))
_BASIC_PLANE = 0x10000  # code points of at most three bytes in UTF-8
_FIRST_OF_FOUR_BYTES = 0xF0
_CATEGORY_CLASS = {
    "Ll": kernel.LOWER, "Lu": kernel.UPPER, "Lt": kernel.UPPER,
    "Lo": kernel.LETTER, "Lm": kernel.LETTER, "Pc": kernel.LETTER,
    "Nd": kernel.DIGIT, "Nl": kernel.DIGIT, "No": kernel.DIGIT,
    "Mn": kernel.MARK, "Mc": kernel.MARK, "Me": kernel.MARK, "Cf": kernel.MARK,
    "Cc": kernel.SPACE, "Zs": kernel.SPACE, "Zl": kernel.SPACE, "Zp": kernel.SPACE,
    "Pe": kernel.CLOSE, "Pf": kernel.CLOSE, "Ps": kernel.OPEN, "Pi": kernel.OPEN,
}  # fmt: skip
_OTHER_CATEGORIES = ("Cn", "Co", "Cs", "Pd", "Po", "Sc", "Sk", "Sm", "So")
_CHARACTER_CLASS = {
    # Curly, reversed, acute and grave ones, of full width, the Armenian one. Letters that look like
    # them (U+02BB, U+02BC) are letters.
    kernel.APOSTROPHE: "'’‘‛´`\uff07\u055a",
    kernel.HYPHEN: "-\u2010\u2011",
    kernel.PERIOD: ".",
    kernel.COMMA: ",",
    kernel.STOP: "!?…‼⁇⁈⁉؟۔।॥։።፧",
    kernel.WIDE_STOP: "。！？｡။។៕",
    kernel.QUOTE: '"\uff02',
    kernel.MARK: "՛՜՞׳״",  # inside Armenian and Hebrew words
    kernel.SPACE: "\u200b\ufeff",
    kernel.NEWLINE: "\n",
}

APOSTROPHES = "'’‘‛‚´`ʼʻ\uff07\u05f3\u055a\ua78b\ua78c"
QUOTES = '"“”„‟\uff02\u05f4〝〞'
# Unicode's characters that are ignored by default, fillers of Hangul and Khmer apart.
_INVISIBLE = (
    0xAD, 0x34F, 0x61C, *range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F),
    *range(0x2060, 0x2070), *range(0xFE00, 0xFE10), 0xFEFF, *range(0xFFF0, 0xFFF9),
    *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
)  # fmt: skip
# Latin, Armenian and Hebrew ligatures, Arabic letters in their shapes.
_LIGATURES = (
    (0x132, 0x134), (0x149, 0x14A), (0x1C4, 0x1CD), (0x1F1, 0x1F4), (0xFB00, 0xFB07),
    (0xFB13, 0xFB18), (0xFB4F, 0xFB50), (0xFB50, 0xFE00), (0xFE70, 0xFEFD),
)  # fmt: skip


@cache
def variants() -> dict[int, str]:
    """Return what stands for a character that is a variant of others, by code point.

    Empty for those that are invisible.

    >>> "“hallo”, co\u00adop, ofﬁce".translate(variants())
    '"hallo", coop, office'
    """
    folded = dict.fromkeys(_INVISIBLE, "")
    for first, stop in _LIGATURES:
        for code in range(first, stop):
            letters = unicodedata.normalize("NFKC", chr(code))
            if letters.isalpha():  # some are marks on a space
                folded[code] = letters
    folded |= {0x149: "'n", 0x13F: "L·", 0x140: "l·"}  # the last two: Catalan
    folded |= {ord(character): "'" for character in APOSTROPHES[1:]}
    return folded | {ord(character): '"' for character in QUOTES[1:]}


@cache
def variant_characters() -> frozenset[str]:
    """Return the characters for which `variants` has others."""
    return frozenset(map(chr, variants()))


@cache
def white_space_classes() -> np.ndarray:
    """Return uint8[0x110000]: SPACE, NEWLINE or OTHER for every code point."""
    classes = np.full(N_CODE_POINTS, kernel.OTHER, np.uint8)
    classes[list(WHITE_SPACE)] = kernel.SPACE
    classes[NEWLINE] = kernel.NEWLINE
    classes.flags.writeable = False
    return classes


@cache
def running_text_classes(n_code_points: int = N_CODE_POINTS) -> np.ndarray:
    """Return uint8[0x110000]: the class of every code point by its Unicode category.

    Arguments:
        n_code_points: those that a text can have; the others are OTHER.
    """
    classes = np.full(N_CODE_POINTS, kernel.OTHER, np.uint8)
    of_category = _CATEGORY_CLASS | dict.fromkeys(_OTHER_CATEGORIES, kernel.OTHER)
    for first, stop in _ASSIGNED:
        characters = map(chr, range(first, min(stop, n_code_points)))
        kinds = bytes(map(of_category.__getitem__, map(unicodedata.category, characters)))
        classes[first : first + len(kinds)] = np.frombuffer(kinds, np.uint8)
    for first, stop in _IDEOGRAPHS:
        block = classes[first:stop]
        block[block == kernel.LETTER] = kernel.IDEOGRAPH
    for kind, marks in _CHARACTER_CLASS.items():
        classes[[ord(c) for c in marks]] = kind
    classes.flags.writeable = False
    return classes


def _classes_in(text: np.ndarray) -> np.ndarray:
    """Return `running_text_classes` of what a text can have: those of all take .07 s to look up."""
    begins_higher = text.size and text.max() >= _FIRST_OF_FOUR_BYTES
    return running_text_classes(N_CODE_POINTS if begins_higher else _BASIC_PLANE)


TEXT_FORMATS: tuple[str, ...] = get_args(TextFormat)

# Words whose period is theirs and ends no sentence, as they are written in running text.
_ABBREVIATIONS = """
    mr mrs ms messrs dr prof rev hon st gen col capt lieut lt sgt maj cmdr gov sen rep pres jr
    sr esq vs viz cf al etc approx ca fig figs vol vols ed eds pp ch sec dept univ assn bros
    inc ltd co corp jan feb mar apr jun jul aug sep sept oct nov dec
"""


class Cut(NamedTuple):
    """A text cut into tokens; spans are in bytes, stops are counts of tokens.

    starts, stops: int64 per token. hashes: uint64 per token, of its bytes as written.
    sentence_stops, sentence_lines: int64 per sentence that has a token; lines from 0.
    line_stops: int64 per line.
    """

    starts: np.ndarray
    stops: np.ndarray
    hashes: np.ndarray
    sentence_stops: np.ndarray
    sentence_lines: np.ndarray
    line_stops: np.ndarray


def cut(text: bytes, text_format: TextFormat) -> Cut:
    """Return valid UTF-8 cut into tokens.

    `lines`: tokens are separated by Unicode white space; each line is a sentence.
    `text`: words, numbers and punctuation are separate tokens and lines are split into sentences.
    A word is a run of letters, marks and digits, joined by inner hyphens and apostrophes and
    by periods between letters; numbers keep their inner periods and commas; a clitic of one
    or two letters is a token with its apostrophe (king 's, l' homme); initials and common
    abbreviations keep their period; every other character is a token, brackets apart a run of one
    character too. A sentence ends at . ! ? … before white space and anything but a lower-case
    letter, and at ideographic stops.

    Arguments:
        text: valid UTF-8.
        text_format: `lines` or `text`.
    """
    data = frozen(np.frombuffer(text, np.uint8))
    if text_format == "lines":
        return Cut(*kernel.cut_white_space(data, white_space_classes()))
    return Cut(*kernel.cut_running_text(data, _classes_in(data), _abbreviations()))


def is_abbreviation(word: str) -> bool:
    """Return whether the period behind a word may be its own: initials, `u.s`, `Mr`.

    Arguments:
        word: without the period.

    >>> is_abbreviation("Mr"), is_abbreviation("u.s"), is_abbreviation("king")
    (True, True, False)
    """
    return len(word) == 1 or "." in word or word.lower() in _ABBREVIATIONS.split()


def tokens_of(text: str, text_format: TextFormat) -> list[str]:
    """Return the tokens of a text as strings, not normalised.

    Arguments:
        text_format: `lines` or `text`.

    >>> tokens_of("The king's 3,000 well-fed men (all of them) ran.", "text")
    ['The', 'king', "'s", '3,000', 'well-fed', 'men', '(', 'all', 'of', 'them', ')', 'ran', '.']
    """
    data = text.encode()
    pieces = cut(data, text_format)
    return [
        data[start:stop].decode()
        for start, stop in zip(pieces.starts.tolist(), pieces.stops.tolist(), strict=True)
    ]


@cache
def _abbreviations() -> np.ndarray:
    words = [form.encode() for word in _ABBREVIATIONS.split() for form in (word, word.capitalize())]
    offsets = np.cumsum([0, *map(len, words)])
    hashes = hash_pieces(
        frozen(np.empty(0, np.uint8)),
        frozen(np.frombuffer(b"".join(words), np.uint8)),
        frozen(offsets),
    )
    return frozen(np.sort(hashes))
