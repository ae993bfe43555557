"""Tokenisers: cut text at white space, or running text into tokens and sentences."""

from functools import cache
from typing import NamedTuple, get_args

import numpy as np

from distsim.base.choices import TextFormat
from distsim.corpus.characters import running_text_classes, white_space_classes
from distsim.corpus.kernels import text as kernel
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import hash_pieces

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
    return Cut(*kernel.cut_running_text(data, running_text_classes(), _abbreviations()))


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
