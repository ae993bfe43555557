"""Reads subtitles: SRT, WebVTT and ASS, and others by pysubs2; a file is a document.

A place in it is the number of a subtitle. A sentence that goes on in the next subtitle is one line;
speakers behind dashes are lines each. Of SRT and WebVTT pysubs2 takes names of subtitles and notes
for text, and passes over what stands behind a damaged line of times; of ASS it wants styles, and
passes over the line that names the fields.
"""

import re
from collections.abc import Iterator
from html import unescape
from itertools import pairwise

from distsim.base.errors import InputError, counted
from distsim.corpus.documents import Document
from distsim.corpus.lines import decoded
from distsim.corpus.readers.reader import Reader, ReadOptions, library
from distsim.corpus.sources import Source, open_source

_MOST_BYTES = 20_000_000  # a film has some 100 kB
_ENDS = re.compile(r"[.!?…。！？؟♪:]['\"”’»)\]]*$")
_SPEAKER = re.compile(r"[-–—‐]\s*")
_MUSIC = re.compile(r"[♪♫]+")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[\d:.]+>|\{[^{}]*\}")
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9][^{}]*\}.*?(?=\{[^{}]*\\p0|$)", re.DOTALL)  # of ASS
_TIME = r"(?:\d+:)?\d{1,2}:\d{1,2}[.,:]\d{1,3}"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}\s*(.*)")
_SETTINGS = re.compile(r"(?:\s*[\w-]+:\S+)*\s*")  # of the place on the screen
_TWO_TIMES = r".*\d[:.,]\d\d[:.,]\d.*\d[:.,]\d\d[:.,]\d"  # without letters: others are said
_BROKEN_TIMES = re.compile(rf".*-->|(?!.*(?:<|[^\W\d_])){_TWO_TIMES}")
_EVENT = re.compile(r"^\s*Dialogue:.*,", re.M)  # of ASS
_EVENT_FIELDS = [
    *("layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text")
]  # fmt: skip
_RETURNS = re.compile(r"\r\n?")
_NOTES = ("NOTE", "STYLE", "REGION")
_SAID_AT = re.compile(r"<\d+:[\d:.]+>")  # inside of a line, where each word is said
_MAX_SUBTITLES_A_LINE = 20  # subtitles in one line


def _read(source: Source, options: ReadOptions) -> Iterator[Document]:
    with open_source(source) as stream:
        data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        size = _MOST_BYTES // 1000**2
        options.skip(InputError(f"{source.label}: is longer than {size} MB: are these subtitles?"))
        return
    text = _RETURNS.sub("\n", decoded(data, source.label))
    if text.lstrip().startswith("WEBVTT") or _first_times(text):
        subtitles = list(_cues(text.splitlines(), source.label, options))
    elif _EVENT.search(text):
        subtitles = list(_events(text.splitlines(), source.label, options))
    else:
        subtitles = _by_library(text, source, options)
    lines, numbers = _lines(subtitles)
    if not lines:
        if not options.skipped:
            options.skip(InputError(f"{source.label}: has no subtitle with text: leave it out"))
        return
    yield Document("\n".join(lines), options.id_of(source.name), {}, numbers)


def _first_times(text: str) -> bool:
    """Return whether SRT's times are near the beginning of a text."""
    return any(map(_TIMES.match, text.lstrip().splitlines()[:20]))


def _by_library(text: str, source: Source, options: ReadOptions) -> list[str]:
    """Return the text of each subtitle by pysubs2."""
    pysubs2 = library("pysubs2", source, "subtitles", "subtitles")
    try:
        subtitles = pysubs2.SSAFile.from_string(text)
    except Exception as error:  # of any kind; its parsers check little
        message = str(error) or type(error).__name__
        options.skip(
            InputError(
                f"{source.label}: cannot be read as subtitles ({message:.100}): correct the file"
            )
        )
        return []
    return [_TAG.sub("", text.plaintext) for text in subtitles if not text.is_comment]


def _events(lines: list[str], label: str, options: ReadOptions) -> Iterator[str]:
    """Yield the text of each subtitle of ASS or SSA; comments and drawings are no text.

    Its fields are in the order of the line `Format`, by default in that of the specification.
    """
    fields = _EVENT_FIELDS
    in_styles = False
    for number, line in enumerate(lines, 1):
        kind, _, values = line.strip().partition(":")
        if kind.startswith("["):
            in_styles = "styles" in kind.lower()
        elif kind == "Format" and not in_styles:
            fields = [name.strip().lower() for name in values.split(",")]
        elif kind == "Dialogue":
            parts = values.split(",", len(fields) - 1)
            if fields[-1] != "text" or len(parts) < len(fields):
                fault = (
                    f"has {len(parts)} of the {counted(len(fields), 'field')} of a "
                    "subtitle, Text the last"
                )
                options.skip(InputError(f"{label}, line {number}: {fault}: correct the file"))
                continue
            said = _TAG.sub("", _DRAWING.sub("", parts[-1]))
            yield said.replace("\\N", "\n").replace("\\n", "\n").replace("\\h", " ")


def _cues(lines: list[str], label: str, options: ReadOptions) -> Iterator[str]:
    """Yield the text of each subtitle of SRT or WebVTT, its lines separated by line ends.

    A name or number of the next subtitle, notes and styles are no text. What follows a line that
    is neither times nor text is left out with it, or refused.
    """
    is_vtt = bool(lines) and lines[0].lstrip().startswith("WEBVTT")
    edges = [n for n, line in enumerate(lines) if _TIMES.match(line) or _BROKEN_TIMES.match(line)]
    spans = list(pairwise([-1, *edges, len(lines)]))
    n_named = sum(
        _is_name(lines[begin + 1 : stop], is_vtt, begin < 0) for begin, stop in spans[:-1]
    )
    are_named = n_named * 2 > len(edges)
    rolls = any(map(_SAID_AT.search, lines))
    shown = ""  # the last line of the subtitle before
    for begin, stop in spans:
        said = lines[begin + 1 : stop]
        if stop < len(lines) and _is_name(said, is_vtt, begin < 0, are_named):
            said = said[:-1]
        fault = _fault_of(lines, begin, said, is_vtt)
        if fault:
            options.skip(
                InputError(f"{label}, line {max(1, begin + 1)}: {fault}: correct the file")
            )
            continue
        if begin >= 0:
            plain = [unescape(_TAG.sub("", line)).strip() for line in _without_notes(said)]
            is_shown = rolls and shown in plain[:1]  # lines that roll stand there several times
            shown = next(filter(None, reversed(plain)), shown)
            yield "\n".join(plain[is_shown:])


def _is_name(said: list[str], is_vtt: bool, is_first: bool, are_named: bool = True) -> bool:
    """Return whether the last of the lines before times is the name or number of a subtitle.

    Several words are text of the subtitle before unless most subtitles have a name.
    """
    if not said or (len(said) == 1 and not is_first):
        return False
    name = said[-1].strip()
    is_apart = len(said) == 1 or not said[-2].strip()
    may_be = are_named or is_first or len(name.split()) == 1
    return name.isdecimal() or (is_vtt and bool(name) and is_apart and may_be)


def _fault_of(lines: list[str], begin: int, said: list[str], is_vtt: bool) -> str:
    """Return what is wrong with the lines behind times, or before the first ones."""
    if begin < 0:
        if is_vtt:  # the header ends with a blank line
            blank = next((n for n, line in enumerate(said) if not line.strip()), len(said))
            said = _without_notes(said[blank:])
        return "text without times" if any(map(str.strip, said)) else ""
    times = _TIMES.match(lines[begin])
    if times is None:
        return f"{lines[begin].strip()!r:.60} are no times, as in 00:00:01,000 --> 00:00:02,000"
    if not _SETTINGS.fullmatch(times[1]):
        return f"{times[1]!r:.60} stands behind the times"
    number = lines[begin - 1].strip() if begin else ""
    for before, line in pairwise(said):
        if number.isdecimal() and not before.strip() and line.strip() == str(int(number) + 1):
            return f"subtitle {line.strip()} has no times"
    return ""


def _without_notes(lines: list[str]) -> list[str]:
    """Return lines without those of notes and styles of WebVTT."""
    kept_lines: list[str] = []
    is_note, is_first = False, False
    for line in lines:
        if not line.strip():
            is_note, is_first = False, True
        elif is_first and line.startswith(_NOTES) and line.split()[0] in _NOTES:
            is_note = True
        is_first = is_first and not line.strip()
        if not is_note:
            kept_lines.append(line)
    return kept_lines


def _lines(subtitles: list[str]) -> tuple[list[str], list[int]]:
    """Return (what is said, a sentence or more a line; the number of each line's subtitle)."""
    lines: list[str] = []
    numbers: list[int] = []
    n_joined = 0
    for number, subtitle in enumerate(subtitles, 1):
        is_first = True
        for part in subtitle.split("\n"):
            plain = " ".join(_MUSIC.sub("", part).split())
            said = _SPEAKER.sub("", plain, count=1) if _SPEAKER.match(plain) else plain
            if not said:
                continue
            joins = lines and said == plain and n_joined < _MAX_SUBTITLES_A_LINE
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
