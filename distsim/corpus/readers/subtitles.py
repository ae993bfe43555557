"""Reads subtitles (SRT, WebVTT, ASS), by pysubs2; a file is a document.

A place in it is the number of a subtitle. A sentence that goes on in the next subtitle is one line;
speakers behind dashes are lines each.
"""

import re
from collections.abc import Iterator

from distsim.base.errors import InputError
from distsim.corpus.documents import Document
from distsim.corpus.lines import decoded
from distsim.corpus.readers.reader import Reader, ReadOptions, library
from distsim.corpus.sources import Source, open_source

_MOST_BYTES = 20_000_000  # a film has some 100 kB
_ENDS = re.compile(r"[.!?…。！？؟♪:]['\"”’»)\]]*$")
_SPEAKER = re.compile(r"[-–—‐]\s*")
_MUSIC = re.compile(r"[♪♫]+")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|\{[^{}]*\}")
_LONGEST = 20  # subtitles in one line


def _read(source: Source, options: ReadOptions) -> Iterator[Document]:
    pysubs2 = library("pysubs2", source, "subtitles", "subtitles")
    with open_source(source) as stream:
        data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        size = _MOST_BYTES // 1000**2
        raise InputError(f"{source.label}: is longer than {size} MB: are these subtitles?")
    text = decoded(data, source.label)
    try:
        subtitles = pysubs2.SSAFile.from_string(text)
    except Exception as error:  # of any kind; its parsers check little
        what = str(error) or type(error).__name__
        raise InputError(
            f"{source.label}: cannot be read as subtitles ({what:.100}): correct the file"
        ) from None
    lines, numbers = _lines([one.plaintext for one in subtitles if not one.is_comment])
    if not lines:
        options.skip(InputError(f"{source.label}: has no subtitle with text: leave it out"))
        return
    yield Document("\n".join(lines), options.id_of(source.name), {}, numbers)


def _lines(subtitles: list[str]) -> tuple[list[str], list[int]]:
    """Return (what is said, a sentence or more a line; the number of each line's subtitle)."""
    lines: list[str] = []
    numbers: list[int] = []
    n_joined = 0
    for number, subtitle in enumerate(subtitles, 1):
        is_first = True
        for part in subtitle.split("\n"):
            plain = " ".join(_MUSIC.sub("", _TAG.sub("", part)).split())
            said = _SPEAKER.sub("", plain, count=1) if _SPEAKER.match(plain) else plain
            if not said:
                continue
            joins = lines and said == plain and n_joined < _LONGEST
            if joins and (not is_first or not _ENDS.search(lines[-1])):
                lines[-1] += f" {said}"
                n_joined += is_first
            else:
                lines.append(said)
                numbers.append(number)
                n_joined = 0
            is_first = False
    return lines, numbers


SUBTITLES = Reader(
    (".srt", ".vtt", ".ass", ".ssa"), ("SubRip subtitles", "WebVTT subtitles", "ASS subtitles"),
    _read, is_unmistakable=True,
)  # fmt: skip
