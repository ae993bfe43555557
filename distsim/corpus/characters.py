"""Tables of character classes, by which kernels cut text."""

import unicodedata
from functools import cache

import numpy as np

from distsim.corpus.kernels import text as kernel

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
_CATEGORY_CLASS = {
    "Ll": kernel.LOWER, "Lu": kernel.UPPER, "Lt": kernel.UPPER,
    "Lo": kernel.LETTER, "Lm": kernel.LETTER, "Pc": kernel.LETTER,
    "Nd": kernel.DIGIT, "Nl": kernel.DIGIT, "No": kernel.DIGIT,
    "Mn": kernel.MARK, "Mc": kernel.MARK, "Me": kernel.MARK, "Cf": kernel.MARK,
    "Cc": kernel.SPACE, "Zs": kernel.SPACE, "Zl": kernel.SPACE, "Zp": kernel.SPACE,
    "Pe": kernel.CLOSE, "Pf": kernel.CLOSE, "Ps": kernel.OPEN, "Pi": kernel.OPEN,
}  # fmt: skip
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
    folded[0x149] = "'n"
    folded |= {ord(one): "'" for one in APOSTROPHES[1:]}
    return folded | {ord(one): '"' for one in QUOTES[1:]}


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
def running_text_classes() -> np.ndarray:
    """Return uint8[0x110000]: the class of every code point by its Unicode category."""
    classes = np.full(N_CODE_POINTS, kernel.OTHER, np.uint8)
    for first, stop in _ASSIGNED:
        categories = map(unicodedata.category, map(chr, range(first, stop)))
        classes[first:stop] = [_CATEGORY_CLASS.get(one, kernel.OTHER) for one in categories]
    for first, stop in _IDEOGRAPHS:
        block = classes[first:stop]
        block[block == kernel.LETTER] = kernel.IDEOGRAPH
    for kind, characters in _CHARACTER_CLASS.items():
        classes[[ord(c) for c in characters]] = kind
    classes.flags.writeable = False
    return classes
