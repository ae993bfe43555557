"""Shared input and output of commands: phrases, lines, messages, progress."""

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TextIO

import typer

from distsim.base.arguments import Layer
from distsim.base.errors import ArtifactError, ParameterError, counted

if TYPE_CHECKING:
    from distsim.signatures.table import StoredTable


def open_streams() -> None:
    """Make standard input, output and error usable as UTF-8, whatever the shell has closed.

    No file of ours may take the number of one that is closed. Standard input then fails where it
    is read and standard output where it is written; what goes to standard error is dropped.
    """
    null = [os.O_WRONLY, os.O_RDONLY, os.O_WRONLY]  # the wrong way round for input and output
    for number, way in enumerate(null):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, way)  # the lowest number that is free
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # none where a host has its own
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace", newline="\n")


def close_output() -> None:
    """Flush standard output for the last time; where it cannot be, do not try again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


NOT_AVAILABLE = "NA"
_REDRAW_SECONDS = 0.1

_ENCODING = re.compile(r", or name its encoding with `encoding`( [\w-]+)?")
_ARGUMENT = re.compile(r"`([a-z][a-z_]*)`")
_OTHERWISE = {  # names of the library's arguments -> those of the command line's options
    "path": "output", "k": "limit", "method": "aggregate", "keep_parts": "parts",
    "sample": "align_sample", "weights": "weight", "n_bits": "bits",
    "text_field": "text", "id_field": "id", "distinct": "everything",
}  # fmt: skip
_before_message: list[Callable[[], None]] = []
_flags: dict[str, str] = {}  # of the command that runs: names of its options, as they are typed

InputOption = Annotated[
    str | None,
    typer.Option("--input", "-i", metavar="FILE", help="Phrases, one a line; - for stdin."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
QueryOption = Annotated[
    bool, typer.Option("--query", help="Patterns: run*, (a|b), /colou?r/, []{0,3}, [tag=...].")
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="FIELD=VALUES",
        help="Only documents of year=1850..1900, genre=novel|drama, author=* (any). Several: and.",
    ),
]
InOption = Annotated[
    str | None,
    typer.Option("--in", metavar="NAME", help="Only documents of a subcorpus that was saved."),
]
SpreadOption = Annotated[
    bool, typer.Option("--spread", help="Also per million, documents, DP, normalised DP.")
]
WordsOnlyOption = Annotated[
    bool, typer.Option("--words-only", help="Leave out what has no letter or digit.")
]
LayerOption = Annotated[
    Layer, typer.Option("--by", help="What is listed; lemma and tag: of annotated text.")
]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Threads; all cores by default.")
]


ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace an existing artifact without asking.")
]


class PhraseArgument(NamedTuple):
    """A phrase that the user asked for.

    phrase: as typed. line: its number in the batch, from 1. empty: nothing is left of it.
    """

    phrase: str
    line: int
    empty: bool


# Tabs and line ends part what is printed; bytes of file names that are no UTF-8 are surrogates.
_IN_A_PIPE = {ord("\t"): r"\t", ord("\n"): r"\n", ord("\r"): r"\r"} | {
    0xDC00 + byte: f"\\x{byte:02x}" for byte in range(0x80, 0x100)
}
# What a terminal would obey rather than show: control characters, line ends of Unicode, marks
# that turn the direction of writing.
_OBEYED = (
    *range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0x200E, 0x200F, 0x61C,
    *range(0x202A, 0x202F), *range(0x2066, 0x206A),
)  # fmt: skip
_ON_A_TERMINAL = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _OBEYED
} | _IN_A_PIPE
_IN_JSON = {0xDC00 + byte: f"\\udc{byte:02x}" for byte in range(0x80, 0x100)}
_IN_JSON_ON_A_TERMINAL = {code: f"\\u{code:04x}" for code in _OBEYED} | _IN_JSON


def visible(text: str, stream: TextIO) -> str:
    r"""Return text with control characters escaped, so that it prints as (part of) one line.

    Tabs and line ends become `\t`, `\n` and `\r` everywhere, bytes of a name that is no UTF-8
    `\xff`. All else that a terminal would obey becomes `\x1b` on a terminal, and stays as it is
    in a pipe or a file.

    Arguments:
        text: of a message.
        stream: where it is printed.

    >>> from io import StringIO
    >>> print(visible("a\tb", StringIO()))
    a\tb
    """
    if text.isprintable():
        return text
    return text.translate(_ON_A_TERMINAL if stream.isatty() else _IN_A_PIPE)


def say(message: str) -> None:
    """Print a line on standard error; an error in printing it is ignored.

    Arguments:
        message: the line.
    """
    with suppress(OSError):
        for flush in _before_message:
            flush()
        print(visible(message, sys.stderr), file=sys.stderr)


def say_format(file_format: str, text_format: str) -> None:
    """Print how a text is read whose format was not given.

    Arguments:
        file_format: of its files; `text` for plain text. text_format: `lines` or `text`.
    """
    if file_format == "text":
        of_text = {
            "lines": "tokenised text, a sentence a line; --format text for running text",
            "text": "running text; --format lines for tokenised text, a sentence a line",
        }
        say(f"read as {of_text[text_format]}")
    else:
        name = {"auto": "files of several formats"}.get(file_format, file_format)
        say(f"read as {name}; --format names another format")


def before_message(flush: Callable[[], None]) -> None:
    """Call a function before each message, so that output and messages keep their order.

    Arguments:
        flush: writes what waits to be printed on standard output.
    """
    _before_message.append(flush)


def know_options(flags: Mapping[str, str]) -> None:
    """Set the options of the running command, by parameter name, for `in_flags`.

    Arguments:
        flags: the option of each parameter, such as `--min-count` of `min_count`.
    """
    _flags.clear()
    _flags.update(flags)


def know_settings(keys: Iterable[str]) -> None:
    """Set the keys that --set takes, for `in_flags`; the last part is the library's name.

    Arguments:
        keys: such as `weighting.alpha`.
    """
    for key in keys:
        name = key.rpartition(".")[2]
        if _OTHERWISE.get(name) not in _flags:  # else an option says the same
            _flags.setdefault(name, f"--set {key}")


def in_flags(message: str) -> str:
    """Return a library's message with its arguments (`max_phrases`) as the command line has them.

    An option of the command that runs as it is typed, a setting by its key, all else by its name.

    Arguments:
        message: with names of arguments in backquotes.

    >>> know_options({"min_count": "--min-count"})
    >>> know_settings(["n_bits", "min_count"])
    >>> in_flags("`min_count` 0: choose 1 or more"), in_flags("`n_bits` 100: choose 64")
    ('--min-count 0: choose 1 or more', '--set n_bits 100: choose 64')
    """
    if "encoding" not in _flags:  # a way out that this command does not have
        message = _ENCODING.sub("", message)
    return _ARGUMENT.sub(
        lambda match: _flags.get(match[1]) or _flags.get(_OTHERWISE.get(match[1], "")) or match[1],
        message,
    )


def visible_json(values: Mapping[str, Any]) -> str:
    """Return a JSON object of one line, which a terminal shows and does not obey.

    Arguments:
        values: of the object.
    """
    text = json.dumps(values, ensure_ascii=False)
    if text.isprintable():
        return text
    return text.translate(_IN_JSON_ON_A_TERMINAL if sys.stdout.isatty() else _IN_JSON)


def may_replace(path: str, force: bool) -> bool:
    """Return True if an artifact may be written at `path`: it is free, or the user agrees.

    On a terminal the user is asked; elsewhere only --force replaces an artifact.

    Arguments:
        path: of the artifact.
        force: replace it without asking.

    Raises:
        ArtifactError: an artifact exists there and is not replaced.
    """
    from distsim.storage import holds_artifact

    if force or not holds_artifact(path):
        return True
    asks = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    question = f"{visible(path, sys.stderr)} holds an artifact: replace it, and what is in it?"
    if asks and typer.confirm(question, err=True):
        return True
    raise ArtifactError(
        f"{path}: holds an artifact already: name another folder, or replace it with --force"
    )


def number(value: float | None) -> str:
    """Return a similarity or weight as it is printed, NA for None.

    Arguments:
        value: the number.
    """
    return NOT_AVAILABLE if value is None else f"{value:.6f}"


def read_lines(path: str) -> Iterator[str]:
    """Yield the lines of a text file, plain or compressed.

    Arguments:
        path: of the file; `-` for standard input.
    """
    from distsim.corpus.lines import read_blocks
    from distsim.corpus.sources import find_file

    for block in read_blocks([find_file(path)]):
        yield from (line.removesuffix("\r") for line in block.lines())


def asked_phrases(phrases: Sequence[str] | None, file: str | None) -> list[PhraseArgument]:
    """Return the phrases given as arguments or in a file.

    An empty phrase in a batch is reported with its line number and answered by NA.

    Arguments:
        phrases: those given as arguments, or None.
        file: path of a file of phrases, one a line, or None.

    Raises:
        ParameterError: the one phrase given is empty.
        typer.BadParameter: no phrase was given, both ways of giving them were used, or a phrase is
            the folder of an artifact.
    """
    from distsim.storage import MANIFEST

    if bool(phrases) == (file is not None):
        raise typer.BadParameter("give phrases as arguments, or a file of them with --input")
    phrases_given = list(read_lines(file)) if file is not None else list(phrases or ())
    if file is None and os.path.isfile(os.path.join(phrases_given[0], MANIFEST)):
        raise typer.BadParameter(
            f"{phrases_given[0]}: is an artifact, wanted a phrase: ask one index at a time, or add "
            "text to one by distsim index add"
        )
    if file is None and len(phrases_given) == 1 and not phrases_given[0].strip():
        raise ParameterError("the phrase is empty: give at least one word")
    asked = [
        PhraseArgument(phrase, line, not phrase.strip())
        for line, phrase in enumerate(phrases_given, 1)
    ]
    for phrase in asked:
        if phrase.empty:
            say(f"{file or 'arguments'}, line {phrase.line}: the phrase is empty: {NOT_AVAILABLE}")
    return asked


def lengths_range(text: str) -> tuple[int, int]:
    """Return the first and last number of a range.

    Arguments:
        text: such as `2` or `1-5`.

    Raises:
        typer.BadParameter: it is neither.
    """
    first, _, last = text.partition("-")
    try:
        low, high = int(first), int(last or first)
    except ValueError:
        raise typer.BadParameter(f"{text!r}: give a number or a range such as 1-5") from None
    if not 1 <= low <= high:
        raise typer.BadParameter(f"{text!r}: give a range upwards from 1, such as 1-5")
    return low, high


class _Left:
    """The time until a moment, in words; nothing once it has passed."""

    def __init__(self, end: float) -> None:
        self._end = end

    def __str__(self) -> str:
        rest = self._end - time.monotonic()
        return f"{timedelta(seconds=round(rest))} left" if rest > 0 else ""


_UNITS = {"decomposing": "passes"}  # of stages that count something else than their command


class _Bar:
    """A progress bar on a terminal; silent when standard error is piped.

    Each stage has its own line, with the time it has taken and, where its end is known, the time
    that the rest of it takes if it goes on as it did so far.
    """

    def __init__(self, unit: str, expected: int | None) -> None:
        self._unit, self._expected = unit, expected
        self._progress: Any = None
        self._stage = ""
        self._task: Any = None
        self._begun = self._drawn = 0.0
        self._first = self._done = 0

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if not sys.stderr.isatty():
            return
        if self._progress is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:,.0f} {task.fields[unit]}"),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._progress.start()
            _bars.append(self)
        now = time.monotonic()
        total = total or self._expected
        if stage != self._stage or done < self._done:
            if stage != self._stage:
                unit = _UNITS.get(stage, self._unit)
                self._task = self._progress.add_task(stage, total=total, left="", unit=unit)
            self._stage, self._begun, self._first = stage, now, done
        elif now - self._drawn < _REDRAW_SECONDS:
            return
        self._drawn, self._done = now, done
        left: object = ""
        if total and done > self._first:
            left = _Left(now + (now - self._begun) * (total - done) / (done - self._first))
        self._progress.update(self._task, completed=done, total=total, left=left)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            _bars.remove(self)


_bars: list[_Bar] = []  # that are drawn


def draws_progress() -> bool:
    """Return whether a progress bar stands on the terminal."""
    return bool(_bars)


@contextmanager
def progress_bar(unit: str = "tokens", expected: int | None = None) -> Iterator[_Bar]:
    """Yield a progress callback that draws a bar on a terminal and is silent elsewhere.

    Arguments:
        unit: what is counted.
        expected: about how many of them, for stages that do not know it.
    """
    bar = _Bar(unit, expected)
    try:
        yield bar
    finally:
        bar.close()


def say_finder(table: "StoredTable") -> None:
    """Print the size of the finder of substitutes that a table stores, where it has one.

    Arguments:
        table: signed just now.
    """
    stored = table.finder
    if stored is not None:
        n, megabytes = stored.parameters["lemmas"], stored.size() / 1e6
        say(f"{counted(n, 'lemma')} with their profiles, {megabytes:,.0f} MB, to find substitutes")


def say_no_finder(table: "StoredTable") -> None:
    """Print that a table of plain text stores no finder of substitutes, where it has none.

    Arguments:
        table: of the command.
    """

    of = table.fingerprint
    if not (of.is_syntactic or of.is_of_vectors) and table.finder is None:
        say("this table has no finder of substitutes: distsim sign INDEX makes one that has")


def say_left_out(table: "StoredTable", phrases: Iterable[str]) -> None:
    """Print the unknown words of phrases that are composed of their other words.

    Arguments:
        table: of the command. phrases: those that were asked for.
    """
    from distsim.comparison.measures import words_left_out

    distinct = list(dict.fromkeys(w for phrase in phrases for w in words_left_out(table, phrase)))
    if distinct:
        more = f" and {len(distinct) - 10:,} more" if len(distinct) > 10 else ""
        say(f"unknown words, left out of their phrases: {', '.join(distinct[:10])}{more}")


def say_shares() -> None:
    """Print that the scores of words are no probabilities in this text."""
    say(
        "the scores of words are shares, no probabilities: these need English text of 10 to 200 "
        "million tokens, and no --grammar"
    )


def say_opposites(labels: Iterable[str], below: int) -> None:
    """Print how many rows were moved below the others because the text contrasts them.

    Arguments:
        labels: of the rows printed, by `contrast_label`. below: rows that are not printed.
    """
    of = Counter(labels)
    if of:
        reasons = [counted(of["opposite"], "opposite")] if of["opposite"] else []
        reasons += [f"{of['contrasted']:,} contrasted in the text"] if of["contrasted"] else []
        say(f"{counted(of.total(), 'answer')} put below the others: {', '.join(reasons)}")
    if below:
        reason = "opposites, or contrasted in the text"
        say(f"{counted(below, 'answer')} put below those printed: {reason}")


def contrast_label(row: Any) -> list[str]:
    """Return the column that says why a row comes last: `opposite`, `contrasted`, or none.

    Arguments:
        row: of an answer.
    """
    names = ("opposite", "contrasted")
    return [name for name in names if getattr(row, name, False)][:1]
