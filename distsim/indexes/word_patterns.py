r"""Which words of a vocabulary a regular expression matches, in time linear in the vocabulary.

RE2 (google-re2) finds matches without going back, so that no pattern can hang. All words lie in
one text, a line each, and one search takes a whole run of lines that match.
"""

import re
from collections.abc import Callable
from functools import cached_property
from time import thread_time
from typing import Any
from unicodedata import category, combining, normalize

import numpy as np

from distsim.base.errors import ParameterError

_LARGEST_PROGRAM = 30_000  # instructions of RE2: larger ones take over two seconds
_PROGRAM_BYTES = (
    128 << 20
)  # while a pattern is searched for; with less, some take ten times as long
_CHECKED = 64  # edges of runs of matching lines between two looks at the clock
_SECONDS = 2.0  # of one pattern: those that take longer repeat long parts inside repetitions
_WIDEST_GAP = 64  # characters that do not occur between two of a class
_IN_CLASS: dict[str, Callable[[str], bool]] = {
    "w": lambda c: c.isalnum() or c == "_" or category(c)[0] == "M",
    "d": str.isdecimal,
    "s": str.isspace,
    "alpha": lambda c: c.isalpha() or category(c)[0] == "M",
    "digit": str.isdecimal,
    "alnum": lambda c: c.isalnum() or category(c)[0] == "M",
    "upper": str.isupper,
    "lower": str.islower,
    "punct": lambda c: category(c)[0] in "PS",
    "space": str.isspace,
    "blank": lambda c: c == "\t" or category(c) == "Zs",
    "cntrl": lambda c: category(c) == "Cc",
    "xdigit": lambda c: c in "0123456789abcdefABCDEF",
    "ascii": str.isascii,
    "graph": lambda c: category(c)[0] in "LMNPS",
    "print": lambda c: category(c)[0] in "LMNPS" or category(c) == "Zs",
}
_PIECE = re.compile(r"\\(?:[pP](?:\{[^}]*\}|.)|x\{[^}]*\}|.)|\[:\^?\w*:\]|\[\^?\]?|.", re.DOTALL)
_UNKNOWN_TO_RE2 = re.compile(r"\(\?(?:[=!>]|<[=!]|\()")
_SETS = re.compile(r"\[[^\]]*(?:&&|--)\[[^\]]*\]\]")  # of classes, as in Java and Unicode
_BACK_REFERENCE = re.compile(r"(?<!\\)(?:\\\\)*\\(?:[1-9]|k[<{'])|\(\?P=")


class _WordText:
    """Words that are lines of one text.

    text: the words in UTF-8, each closed by a line end. starts: int64, where each begins. ids:
    int64, their ids. is_ascii: all of them are ASCII.
    """

    def __init__(self, text: bytes, starts: np.ndarray, ids: np.ndarray, is_ascii: bool) -> None:
        self.text = text
        self.starts = starts
        self.ids = ids
        self._is_ascii = is_ascii
        self._classes: dict[tuple[str, bool], str] = {}

    @cached_property
    def _alphabet(self) -> list[str]:
        """The characters that occur, ascending, without the line end."""
        if self._is_ascii:
            return [chr(code) for code in range(128) if chr(code) != "\n"]
        return sorted(set(self.text.decode(errors="replace")) - {"\n"})

    def letters(self, name: str, negated: bool = False) -> str:
        """Return the characters of a class that occur, as they stand in the brackets of RE2.

        Few ranges are a small program: with all letters of Unicode a repeated class takes minutes.

        Arguments:
            name: of the class. negated: the characters that are not in it.
        """
        if (name, negated) not in self._classes:
            self._classes[name, negated] = self._letters(name, negated)
        return self._classes[name, negated]

    def _letters(self, name: str, negated: bool) -> str:
        is_member, ranges = _IN_CLASS[name], [("\U0010ffff", "\U0010ffff")]
        extends = False
        for letter in self._alphabet:
            if is_member(letter) == negated:
                extends = False
                continue
            gap = range(ord(ranges[-1][1]) + 1, ord(letter))
            if extends and len(gap) <= _WIDEST_GAP and not any(map(_has_case, gap)):
                ranges[-1] = (ranges[-1][0], letter)
            else:
                ranges.append((letter, letter))
            extends = True
        return "".join(f"\\x{{{ord(a):x}}}-\\x{{{ord(b):x}}}" for a, b in ranges)


def _has_case(code: int) -> bool:
    return not chr(code).lower() == chr(code) == chr(code).upper()


class WordLines:
    """The words of a vocabulary as lines of text, for searches of all of them at once.

    Words of ASCII are apart: for them the classes of letters are small.

    Arguments:
        text: uint8, the words in UTF-8, end to end. offsets: integers[n + 1], where each begins.
    """

    def __init__(self, text: np.ndarray, offsets: np.ndarray) -> None:
        offsets = offsets.astype(np.int64)
        lengths = np.diff(offsets)
        self._n_words = lengths.size
        self._text, self._offsets = text, offsets
        self._changed: dict[str, WordLines] = {}
        n_foreign = np.concatenate([[0], np.cumsum(text > 127)])  # bytes outside ASCII
        is_foreign = n_foreign[offsets[1:]] > n_foreign[offsets[:-1]]
        self._parts = []
        for is_ascii, words in ((True, ~is_foreign), (False, is_foreign)):
            ids = np.flatnonzero(words & (lengths > 0))
            stops = np.cumsum(lengths[ids] + 1)
            lines = np.full(int(stops[-1]) if ids.size else 0, ord("\n"), np.uint8)
            is_text = np.ones(lines.size, np.bool_)
            is_text[stops - 1] = False
            lines[is_text] = text[np.repeat(words, lengths)]
            self._parts.append(_WordText(lines.tobytes(), stops - lengths[ids] - 1, ids, is_ascii))

    def changed(self, name: str, change: Callable[[str], str]) -> "WordLines":
        """Return the lines with words outside ASCII changed; they are made once.

        Arguments:
            name: of the change. change: returns words, a line each, in another form, such as
                that without diacritics.
        """
        if name not in self._changed:
            self._changed[name] = self._with_change(change)
        return self._changed[name]

    def _with_change(self, change: Callable[[str], str]) -> "WordLines":
        foreign = self._parts[1]
        changed = change(foreign.text.decode(errors="replace")).encode()[:-1].split(b"\n")
        lengths = np.diff(self._offsets)
        is_changed = np.zeros(self._n_words, np.bool_)
        is_changed[foreign.ids] = True
        stays = self._text[np.repeat(~is_changed, lengths)]
        lengths[foreign.ids] = [len(word) for word in changed[: foreign.ids.size]]
        text = np.empty(int(lengths.sum()), np.uint8)
        of_changed = np.repeat(is_changed, lengths)
        text[of_changed] = np.frombuffer(b"".join(changed), np.uint8)
        text[~of_changed] = stays
        return WordLines(text, np.concatenate([[0], np.cumsum(lengths)]))

    def with_blanks(self) -> "WordLines":
        """Return the lines with a blank for each `_`."""
        text = np.where(self._text == ord("_"), np.uint8(ord(" ")), self._text)
        return WordLines(text, self._offsets)

    def matching(
        self, pattern: str, ignores_case: bool = False, seconds: float = _SECONDS
    ) -> np.ndarray:
        r"""Return which words a regular expression matches as a whole, bool; no empty one.

        Arguments:
            pattern: in the syntax of RE2; `\w`, `\d`, `\s` and `[[:alpha:]]` are of all scripts.
            ignores_case: lower and upper case are one.
            seconds: of CPU time at most.

        Raises:
            ParameterError: it is no regular expression, has what RE2 lacks, or is too large.
        """
        matches = np.zeros(self._n_words, np.bool_)
        check(pattern)
        latest = thread_time() + seconds
        for part in self._parts:
            lines = _matching_lines(part, pattern, ignores_case, latest)
            matches[part.ids[lines]] = True
        return matches


def _matching_lines(part: _WordText, pattern: str, ignores_case: bool, latest: float) -> np.ndarray:
    """Return which lines a pattern matches, bool; latest: thread time by which it must end."""
    from re2 import _re2  # the module `re2` makes three objects of each match

    runs_of_lines = f"(?m)^(?:(?:{_for_re2(pattern, part)})\n)+"
    program = _program(runs_of_lines, pattern, ignores_case)
    size, start, anywhere = len(part.text), 0, _re2.RE2.Anchor.UNANCHORED
    edges: list[int] = []
    while start < size:
        (first, stop), *_ = program.Match(anywhere, part.text, start, size)
        if first < 0:
            break
        edges += [first, stop]
        start = stop
        if len(edges) % _CHECKED < 2 and thread_time() > latest:
            raise ParameterError(
                f"{pattern!r}: the words of all patterns of the query take too long to find: write "
                "fewer patterns, or those of fewer words"
            )
    lines = np.searchsorted(part.starts, np.array(edges, np.int64))
    steps = np.bincount(lines[::2], minlength=part.starts.size + 1)
    steps -= np.bincount(lines[1::2], minlength=part.starts.size + 1)
    matches: np.ndarray = np.cumsum(steps)[:-1] > 0
    return matches


def check(pattern: str) -> None:
    """Raise for a text that is no regular expression, or one that cannot be searched for.

    Arguments:
        pattern: the regular expression.

    Raises:
        ParameterError: it is none, has what RE2 lacks, or is too large.
    """
    plain = re.sub(r"\\.", "..", pattern)
    if _SETS.search(plain):
        raise ParameterError(
            f"{pattern!r}: classes cannot be cut (&&) or taken away (--) from each other here: "
            "write one class of the characters that are meant"
        )
    if _UNKNOWN_TO_RE2.search(plain) or _BACK_REFERENCE.search(pattern):
        raise ParameterError(
            f"{pattern!r}: lookahead, lookbehind and back references are not possible here, since "
            "they could take for ever: write it without them"
        )
    _program(pattern, pattern, False)


def _program(regex: str, pattern: str, ignores_case: bool) -> Any:
    """Return RE2's program of a regular expression that was made of a pattern."""
    from re2 import Options, _re2

    options = Options()
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = not ignores_case
    options.max_mem = _PROGRAM_BYTES
    try:
        program = _re2.RE2(regex.encode(), options)
    except UnicodeEncodeError:
        raise ParameterError(f"{pattern!r} is no regular expression (invalid Unicode)") from None
    if not program.ok():
        reason = program.error()
        if isinstance(reason, bytes):
            reason = reason.decode(errors="replace")
        raise ParameterError(f"{pattern!r} is no regular expression ({reason})")
    if program.ProgramSize() > _LARGEST_PROGRAM:
        raise _too_long(pattern)
    return program


def _too_long(pattern: str) -> ParameterError:
    return ParameterError(
        f"{pattern!r}: repeats too much inside repetitions: write a shorter pattern"
    )


def _for_re2(pattern: str, lines: _WordText) -> str:
    """Return a pattern with the classes of the words' characters, none with the line end."""
    pieces = []
    in_class = False
    pattern = re.sub(r"\\Q(.*?)(?:\\E|$)", lambda quoted: re.escape(quoted[1]), pattern)
    for piece in _PIECE.findall(pattern):
        if in_class and piece.startswith("[:"):
            name = piece.strip("[:^]")
            pieces.append(lines.letters(name, "^" in piece))
        elif in_class and piece == "[]":
            in_class = False
            pieces.append("\\[]")
        elif in_class and piece[0] == "[":
            pieces += ["\\" + sign for sign in piece]
        elif piece.startswith("[:") and len(piece) > 2:
            raise ParameterError(f"{pattern!r}: write [{piece}] for the class {piece}")
        elif piece[0] == "[":
            in_class = True
            pieces.append(piece.replace("^", "^\\n").replace("]", "\\]"))
        elif piece[0] == "\\" and piece[1:].lower() in _IN_CLASS:
            letters = lines.letters(piece[1:].lower(), piece[1:].isupper())
            pieces.append(letters if in_class else f"[{letters}]")
        elif piece.startswith("\\P"):
            if in_class:
                raise ParameterError(
                    f"{pattern!r}: write [^\\p{piece[2:]}] for {piece} in brackets"
                )
            pieces.append(f"[^\\n\\p{piece[2:]}]")
        elif piece in ("\n", "\\n", "\\C"):
            raise ParameterError(f"{pattern!r}: no word has a line end or half a character")
        elif in_class:
            in_class = piece != "]"
            pieces.append(piece)
        else:
            pieces.append({".": "[^\\n]", "\\Z": "$"}.get(piece, piece))  # also after (?s)
    return "".join(pieces)


def bare(text: str) -> str:
    """Return text without diacritics.

    >>> bare("café")
    'cafe'
    """
    if text.isascii():
        return text
    decomposed = normalize("NFD", text)
    return decomposed.translate(dict.fromkeys(map(ord, filter(combining, set(decomposed)))))
