"""The text as it was written: compressed in frames of whole sentences, found by sentence.

The text of a sentence reaches to the beginning of the next one in the same frame.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import ClassVar, Protocol

import numpy as np

from distsim import storage
from distsim.base.arguments import TextFormat
from distsim.corpus.documents import FORM, FORM_ENDS, NO_SPACE, WITHIN
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.tokeniser import cut
from distsim.storage import StoredArray
from distsim.storage.reading import Declaration


class Cutting(Protocol):
    """How a text becomes words: what IndexOptions have."""

    @property
    def text_format(self) -> TextFormat:
        """`lines` (tokenised, a sentence a line) or `text` (running text)."""

    @property
    def normaliser(self) -> Normaliser:
        """What happens to every token."""


_FORMS = re.compile(f"{FORM}[^{FORM_ENDS}]*{FORM_ENDS}")
_MARKS = re.compile(rf"{FORM}([^{FORM_ENDS}]*){FORM_ENDS}(\S+(?:{WITHIN}\S+)*)|{NO_SPACE}")
_FRAME_BYTES = 1 << 16
_LARGEST_FRAME = 1 << 28
_LEVEL = 3  # 6 takes a tenth of a byte a token less and three times the CPU


class WrittenTextWriter:
    """Writer of the text of a shard.

    Arguments:
        writer: of the index.
        prefix: of the names of its arrays.
    """

    def __init__(self, writer: storage.ArtifactWriter, prefix: str) -> None:
        import zstandard  # slow to import

        self._compressor = zstandard.ZstdCompressor(level=_LEVEL)
        self._text = writer.stream(f"{prefix}text", np.uint8)
        self._starts = writer.stream(f"{prefix}text_starts", np.uint32)
        self._frames = writer.stream(f"{prefix}text_frames", np.uint64, 2)
        self._pending = b""
        self._pending_starts = np.empty(0, np.int64)
        self._n_sentences = 0

    def append(self, text: bytes, starts: np.ndarray) -> None:
        """Append sentences; text before the first sentence belongs to the sentence before.

        What stands before the first sentence belongs to the one before.

        Arguments:
            text: uint8, the UTF-8 of the sentences.
            starts: int64, where each sentence begins in it, ascending.
        """
        if not self._pending_starts.size:  # nothing is before it
            text, starts = text[starts[0] :], starts - starts[0]
        starts = np.concatenate([self._pending_starts, starts + len(self._pending)])
        text = self._pending + text
        first = 0
        while starts[-1] - starts[first] >= _FRAME_BYTES:
            last = int(np.searchsorted(starts, starts[first] + _FRAME_BYTES))
            self._write(text[starts[first] : starts[last]], starts[first:last])
            first = last
        self._pending, self._pending_starts = text[starts[first] :], starts[first:] - starts[first]

    def _write(self, text: bytes, starts: np.ndarray) -> None:
        self._frames.append(np.array([self._n_sentences, len(self._text)], np.uint64))
        self._text.append(np.frombuffer(self._compressor.compress(text), np.uint8))
        self._starts.append(starts - starts[0])
        self._n_sentences += starts.size

    def finish(self, last: bool) -> None:
        """Write the text that is still in memory; the caller then closes the arrays.

        Arguments:
            last: whether this is the last shard, whose final line ends are dropped.
        """
        text = self._pending.rstrip(b"\n") if last else self._pending
        self._write(text, self._pending_starts)


class WrittenText:
    """The text of a shard as it was written.

    Arguments:
        text: uint8, frames end to end.
        starts: uint32, where each sentence begins in the text of its frame.
        frames: uint64[n, 2], of each the number of its first sentence, and where it begins.
    """

    ARRAYS: ClassVar[Declaration] = {
        "text": StoredArray(np.uint8, optional=True),
        "text_starts": StoredArray(np.uint32, "sentences", optional=True),
        "text_frames": StoredArray(np.uint64, columns=2, optional=True),
    }

    def __init__(self, text: np.ndarray, starts: np.ndarray, frames: np.ndarray) -> None:
        self._text = text
        self._starts = starts
        self._firsts = frames[:, 0].astype(np.int64)
        self._begins = np.append(frames[:, 1].astype(np.int64), text.size)
        self._last: tuple[int, bytes] = (-1, b"")

    def is_sound(self, n_sentences: int) -> bool:
        """Return whether the arrays do not contradict each other."""
        return (
            0 < self._firsts.size <= n_sentences == self._starts.size
            and self._firsts[0] == 0
            and bool(np.all(np.diff(self._firsts) > 0))
            and int(self._firsts[-1]) < n_sentences
            and self._begins[0] == 0
            and bool(np.all(np.diff(self._begins) > 0))
        )

    def passage(self, first: int, stop: int) -> tuple[bytes, np.ndarray]:
        """Return (the text of a range of sentences, where each begins in it, int64).

        Raises:
            ValueError: the text is damaged.
        """
        texts, starts, n = [], [], 0
        frame = int(np.searchsorted(self._firsts, first, "right")) - 1
        while first < stop:
            of_next = self._firsts[frame + 1 : frame + 2].tolist()
            end = of_next[0] if of_next else self._starts.size
            text = self._unpacked(frame)
            last = min(stop, end)
            until = int(self._starts[last]) if last < end else len(text)
            begins = self._starts[first:last].astype(np.int64)
            texts.append(text[int(begins[0]) : until])
            starts.append(begins - begins[0] + n)
            n += len(texts[-1])
            first, frame = last, frame + 1
        return b"".join(texts), np.concatenate(starts)

    def ends_line(self, number: int) -> bool:
        """Return whether a line ends behind a sentence.

        Raises:
            ValueError: the text is damaged.
        """
        text, _ = self.passage(number, number + 1)
        return b"\n" in text[len(text.rstrip()) :]

    def line_ends(self) -> np.ndarray:
        """Return whether a line ends behind each sentence, bool.

        Raises:
            ValueError: the text is damaged.
        """
        pieces = []
        for frame in range(self._firsts.size):
            text = np.frombuffer(self._unpacked(frame), np.uint8)
            first, stop = np.append(self._firsts, self._starts.size)[frame : frame + 2].tolist()
            stops = np.append(self._starts[first + 1 : stop].astype(np.int64), text.size)
            last_signs = np.maximum.accumulate(np.where(text > ord(" "), np.arange(text.size), 0))
            line_ends = np.append(0, np.cumsum(text == ord("\n")))  # before each byte
            pieces.append(line_ends[stops] > line_ends[last_signs[stops - 1]])
        return np.concatenate(pieces)

    def samples(self, n_bytes: int) -> Iterator[bytes]:
        """Yield frames of the text, evenly spaced, of about so many bytes in all.

        Arguments:
            n_bytes: maximum number of bytes, rounded up to a frame.

        Raises:
            ValueError: the text is damaged.
        """
        wanted = max(1, n_bytes // _FRAME_BYTES)
        for frame in range(0, self._firsts.size, max(1, -(-self._firsts.size // wanted))):
            yield self._unpacked(frame)

    def _unpacked(self, frame: int) -> bytes:
        import zstandard

        known, text = self._last
        if known != frame:
            packed = self._text[self._begins[frame] : self._begins[frame + 1]].tobytes()
            try:
                if not 0 <= zstandard.frame_content_size(packed) <= _LARGEST_FRAME:
                    raise ValueError("a frame has an impossible size")
                text = zstandard.ZstdDecompressor().decompress(packed)
            except zstandard.ZstdError as error:
                raise ValueError(str(error)) from None
            self._last = frame, text
        return text


def find_words(
    text: bytes, words: Sequence[str], options: Cutting
) -> tuple[str, list[tuple[int, int]]] | None:
    """Return (the text; where the first words of a sentence are in it); None if they are not there.

    Tokens of annotated text stand together where the file has them so.

    Arguments:
        text: UTF-8 that begins with the sentence.

    Raises:
        ValueError: the text is no UTF-8.
    """
    written = text.decode()
    is_marked = options.text_format == "lines" and _MARKS.search(written) is not None
    plain = _FORMS.sub("", written) if is_marked else written
    spans = _walk(plain, words, options.normaliser)
    if spans is None:
        spans = _cut_words(plain.encode() if is_marked else text, words, options)
    if spans is None or not is_marked:
        return None if spans is None else (plain, spans)
    return _shown(written, plain, spans)


def written_text(text: str) -> str:
    """Return annotated text as its file has it, without the marks between tokens."""
    return _MARKS.sub(lambda match: match[1] or "", text)


def _shown(
    written: str, plain: str, spans: list[tuple[int, int]]
) -> tuple[str, list[tuple[int, int]]]:
    """Return (the text without marks; where words are in it, those of a contraction at its form).

    Arguments:
        written: with marks. plain: with those between words alone. spans: of words in `plain`.
    """
    pieces, last, n_removed = [""], 0, 0
    begins, ends, forms, shifts = [], [], [], [0]
    for match in _MARKS.finditer(written):
        begin, size = match.start() - n_removed, len(match[2] or match[0])
        n_removed += len(match[0]) - size
        pieces += [plain[last:begin], match[1] or ""]
        last = begin + size
        begins.append(begin)
        ends.append(last)
        forms.append(len(match[1] or ""))
        shifts.append(shifts[-1] + forms[-1] - size)
    moved = []
    for begin, end in spans:
        number = bisect_right(ends, begin)
        if number < len(begins) and begins[number] <= begin:
            first = begins[number] + shifts[number]
            moved.append((first, first + forms[number]))
        else:
            moved.append((begin + shifts[number], end + shifts[number]))
    return "".join([*pieces, plain[last:]]), moved


def _cut_words(text: bytes, words: Sequence[str], options: Cutting) -> list[tuple[int, int]] | None:
    """Return where words stand in a text that is cut as that of the index."""
    pieces = cut(text, options.text_format)
    of_bytes = zip(pieces.starts.tolist(), pieces.stops.tolist(), strict=True)
    tokens = [text[a:b] for a, b in of_bytes]
    normal = options.normaliser.tokens(tokens)
    kept = [number for number, token in enumerate(normal) if token][: len(words)]
    if [normal[number].decode() for number in kept] != list(words):
        return None
    ends = [len(text[:stop].decode()) for stop in pieces.stops[kept].tolist()]
    return [
        (end - len(tokens[number].decode()), end) for number, end in zip(kept, ends, strict=True)
    ]


def _walk(text: str, words: Sequence[str], normaliser: Normaliser) -> list[tuple[int, int]] | None:
    """Return where words follow each other with nothing but white space between, without a kernel.

    None where normalising the text changes its length, or drops words.
    """
    normal = normaliser.characters(text)
    if len(normal) != len(text):
        return None
    spans, at = [], 0
    for word in words:
        while text[at : at + 1].isspace():
            at += 1
        if not normal.startswith(word, at):
            return None
        spans.append((at, at + len(word)))
        at += len(word)
    return spans
