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

_IDEOGRAPHS = (
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
    kernel.APOSTROPHE: "'’",
    kernel.HYPHEN: "-\u2010\u2011",
    kernel.PERIOD: ".",
    kernel.COMMA: ",",
    kernel.STOP: "!?…‼⁇⁈⁉؟।॥",
    kernel.WIDE_STOP: "。！？｡",
    kernel.QUOTE: '"',
    kernel.SPACE: "\u200b\ufeff",
    kernel.NEWLINE: "\n",
}


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
