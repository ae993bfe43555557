"""Reads files of word vectors: words and float32[n, dimensions].

A line has a word and its numbers; a header `words dimensions` comes first (word2vec, fastText) or
none (GloVe).
"""

import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distsim.base.arguments import plain_count
from distsim.base.errors import InputError, counted
from distsim.corpus.lines import BLOCK_BYTES, WholeLines, read_lines, split_lines
from distsim.corpus.sources import (
    Source,
    file_label,
    find_file,
    open_source,
    spooled_sources,
)

_HEAD_BYTES = 1 << 16
_MOST_DIMENSIONS = 1 << 16
_OF_NUMBERS = frozenset(b"0123456789+-.eEnaifNAIF \t\r")
_CONVERT = "convert the file (iconv -f LATIN1 -t UTF-8)"
_NO_VECTORS = {
    struct.pack("<i", 793712314): "a model of fastText: name its .vec file",
    b"\x80": "a pickle: save the vectors in word2vec's format (gensim: save_word2vec_format)",
    b"PK\x03\x04": "a zip archive: unpack it",
    b"\x93NUMPY": "an array without words: give words and rows to GivenVectors in Python",
    b"\x89HDF": "an HDF5 file: save the vectors in word2vec's format",
}


class VectorFileContents(NamedTuple):
    """Words and their vectors.

    words: as written in a file. vectors: float32[n, dimensions].
    """

    words: list[str]
    vectors: NDArray[np.float32]


def read_vectors(path: str | Path) -> VectorFileContents:
    """Return the words and vectors of a file of word2vec's, GloVe's or fastText's text format.

    Arguments:
        path: plain or compressed; `-` is standard input.

    Raises:
        InputError: the file is empty or damaged, lines differ in their numbers, a number is not
            finite, the header promises what the file does not hold, a word is no UTF-8 or is
            there twice. The message names the file and the line.
    """
    with spooled_sources([find_file(path, "a file of word vectors")]) as (source,):
        label = source.label
        with open_source(source) as stream:
            head = _read_up_to(stream, _HEAD_BYTES)
        if not head:
            raise InputError(f"{label}: is empty: name a file of word vectors")
        for begin, file_kind in _NO_VECTORS.items():
            if head.startswith(begin):
                raise InputError(f"{label}: is {file_kind}")
        if _is_binary(head):
            raise InputError(
                f"{label}: is in word2vec's binary format: save it as text, or give words and rows "
                "to GivenVectors in Python (gensim: KeyedVectors.load_word2vec_format)"
            )
        return _read_text(source)


def read_phrases(path: str | Path) -> Iterator[str]:
    """Yield the phrases of a file, one a line, without the text after a tab.

    Arguments:
        path: of the file, `-` for standard input.

    Raises:
        InputError: a line is no UTF-8.
    """
    label = file_label(path)
    for number, line in read_lines(path):
        text = _decoded(line, f"{label}, line {number}")
        phrase = text.rstrip("\r\n").partition("\t")[0]
        if phrase.strip():
            yield phrase


def _read_up_to(stream: BinaryIO, n_bytes: int) -> bytes:
    pieces = []
    while n_bytes > 0 and (piece := stream.read(n_bytes)):
        pieces.append(piece)
        n_bytes -= len(piece)
    return b"".join(pieces)


def _header(line: bytes) -> tuple[int, int] | None:
    """Return (words, dimensions) of a header line, None where the line is no header."""
    pieces = line.split()
    numbers = [plain_count(piece.decode(errors="replace")) for piece in pieces]
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        return None
    return numbers[0], numbers[1]


def _is_binary(head: bytes) -> bool:
    first, newline, rest = head.partition(b"\n")
    if not newline or _header(first) is None:
        return False
    second = rest.partition(b"\n")[0]
    return bool(set(second.partition(b" ")[2]) - _OF_NUMBERS) and b"\t" not in second[:1]


class _Gathered:
    """Words and vectors read so far, checked."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._places: dict[str, int] = {}
        self._blocks: list[np.ndarray] = []

    def __len__(self) -> int:
        return len(self._places)

    def add(self, words: list[str], vectors: np.ndarray, lines: range) -> None:
        """Add words with their vectors. lines: of the words, for messages."""
        with np.errstate(over="ignore"):
            vectors = vectors.astype(np.float32)
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            at = int(np.argmin(finite))
            raise InputError(
                f"{self.label}, line {lines[at]}: the vector of {words[at]!r} holds a number that "
                "is not finite (nan or inf): leave the word out or mend it"
            )
        known = self._places
        for line, word in zip(lines, words, strict=True):
            if known.setdefault(word, line) != line:
                raise InputError(
                    f"{self.label}, line {line}: {word!r} is in line {known[word]} already: "
                    "leave one of the two out"
                )
        self._blocks.append(vectors)

    def result(self) -> VectorFileContents:
        """Return all words and vectors."""
        if not self._places:
            raise InputError(f"{self.label}: holds no word: name a file of word vectors")
        return VectorFileContents(list(self._places), np.concatenate(self._blocks))

    def require_promised(self, promised: int) -> None:
        """Raise where the header has another number of words."""
        if len(self) != promised:
            raise InputError(
                f"{self.label}, line 1: the header promises {counted(promised, 'word')}, "
                f"{len(self):,} "
                "follow: fetch the file again, or mend the header"
            )


def _read_text(source: Source) -> VectorFileContents:
    label = source.label
    gathered = _Gathered(label)
    lines = WholeLines(label, BLOCK_BYTES, BLOCK_BYTES)
    header = n_numbers = None
    with open_source(source) as stream:
        for block in lines.read(stream):
            first, texts = block.first_line, split_lines(block.text)
            if first == 1:
                header = _header(texts[0])
                if header is not None:
                    first, texts, n_numbers = 2, texts[1:], header[1]
                    _require_dimensions(n_numbers, f"{label}, line 1")
                else:
                    n_numbers = _count_numbers(texts[0], f"{label}, line 1")
            assert n_numbers is not None
            if texts:
                of_what = "as the header says" if header else "as in line 1"
                words, vectors = _parsed(texts, n_numbers, label, first, of_what)
                gathered.add(words, vectors, range(first, first + len(words)))
    if header is not None:
        gathered.require_promised(header[0])
    return gathered.result()


def _count_numbers(line: bytes, place: str) -> int:
    """Return the number of numbers at the end of a first line without a header."""
    pieces = line.split()
    n = 0
    while n + 1 < len(pieces) and _is_number(pieces[-1 - n]):
        n += 1
    if n == 0:
        raise InputError(
            f"{place}: ends with no number, wanted a word and its numbers, separated by spaces: is "
            "it a file of word vectors?"
        )
    _require_dimensions(n, place)
    return n


def _require_dimensions(n: int, place: str) -> None:
    if not 1 <= n <= _MOST_DIMENSIONS:
        raise InputError(
            f"{place}: {counted(n, 'dimension')}, wanted 1 to {_MOST_DIMENSIONS:,}: is it a "
            "file of word "
            "vectors?"
        )


def _parsed(
    lines: list[bytes], n: int, label: str, first: int, of_what: str
) -> tuple[list[str], np.ndarray]:
    """Return the words of some lines and their n numbers each, float64."""
    words, texts = [], []
    for number, line in enumerate(lines, first):
        stripped = line.rstrip()
        word, _, rest = stripped.partition(b" ")
        if rest.count(b" ") != n - 1 or not word or b"\t" in stripped:
            word, rest = _parted(stripped, n, f"{label}, line {number}", of_what)
        words.append(_decoded(word, f"{label}, line {number}"))
        texts.append(rest)
    numbers = _numbers(b" ".join(texts))
    if numbers is None or numbers.size != n * len(lines):
        for number, text in enumerate(texts, first):
            parsed = _numbers(text)
            if parsed is None or parsed.size != n:
                faulty = [piece for piece in text.split() if not _is_number(piece)]
                shown = faulty[0].decode(errors="replace") if faulty else ""
                raise InputError(
                    f"{label}, line {number}: {shown!r} is no number, wanted "
                    f"{counted(n, 'number')} after "
                    f"the word, {of_what}: mend or remove the line"
                )
    assert numbers is not None
    return words, numbers.reshape(-1, n)


def _parted(line: bytes, n: int, place: str, of_what: str) -> tuple[bytes, bytes]:
    """Return the word of a line, which may contain spaces, and its n last fields."""
    pieces = line.split()
    n_found = 0
    while n_found + 1 < len(pieces) and _is_number(pieces[-1 - n_found]):
        n_found += 1
    if len(pieces) - 1 < n or (n_found != n and len(pieces) - 1 > n) or line[:1].isspace():
        raise InputError(
            f"{place}: {counted(max(0, len(pieces) - 1), 'number')} after the word, wanted "
            f"{n:,}, {of_what}"
            ": "
            "mend or remove the line"
        )
    return b" ".join(pieces[:-n]), b" ".join(pieces[-n:])


def _numbers(text: bytes) -> np.ndarray | None:
    """Return the numbers in a text, float64; None where a field is no number."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of numpy before 2.3, where it is no error
        try:
            return np.fromstring(text, np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None


def _is_number(piece: bytes) -> bool:
    try:
        float(piece)
    except ValueError:
        return False
    return True


def _decoded(text: bytes, place: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise InputError(f"{place}: is not valid UTF-8: {_CONVERT}") from None
