"""`distsim demo`: every kind of answer from twelve novels, each with the command that gave it.

The words and sentences were chosen before their answers were seen, and stay whatever the answers
are: `mother`, `evening`, `replied`, `for a moment` and `in spite of` were in the first demo;
`heard`, `quiet` and `tone` are, of all words of at least four letters that occur 200 to 2,000
times in the novels, those with the smallest SHA-256.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.resources import as_file, files
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import typer

from distsim.base.errors import DistsimError
from distsim.cli.console import say
from distsim.cli.costs import AHEAD, ANNOUNCEMENT, compile_ahead, seconds_here

_INDEX = "novels.index"
_CONCORDANCE = ("kwic", _INDEX, "in spite of", "--sample", "5", "--width", "5")
_NEIGHBOURS = (
    *("neighbours", _INDEX, "mother", "evening", "replied", "heard", "quiet", "tone"),
    *("for a moment", "in spite of", "-k", "6", "--min-strength", "20"),
)
_PARAPHRASES = ("paraphrase", _INDEX, "replied", "for a moment", "-k", "5")
_SUBSTITUTES = ("substitute", _INDEX, "it was a [cold] night in winter", "-k", "5")
_FAILURE = """
The last list is a failure: its 127 occurrences tell little of 'in spite of', so 94% of its vector
is made of those of `in`, `spite` and `of`, and phrases of the same small words come first."""
# By the clock, of the whole demo with nothing compiled, on the machine of first-use.tsv; 37 were
# measured on 27 November 2026 on one that is 1.8 times as fast.
_FIRST_SECONDS = 67
_COLUMNS = 4  # focal phrases side by side


def demo(
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Keep the index there."),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Then serve a page to look at it, until Ctrl-C.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page; 0: any.")] = 8765,
) -> None:
    """Show each kind of answer on twelve novels; inner loops are compiled the first time.

    Indexes and signs the novels; prints a concordance, neighbours, paraphrases and substitutes in a
    sentence, each below the command that gave it.
    """
    if serve:
        from distsim.cli.serve import require_server

        require_server()
    begun = time.monotonic()
    with _folder(output) as folder:
        if (folder / _INDEX).exists():
            raise DistsimError(f"{folder / _INDEX}: exists already: name another folder with -o")
        _show_all(folder)
        kept = f"; the index is {folder / _INDEX}" if output else ""
        print(f"\nDone in {time.monotonic() - begun:.0f} seconds{kept}.")
        if serve:
            from distsim.cli.serve import run
            from distsim.server.session import Places

            print(f"\n$ distsim serve {_INDEX}", flush=True)
            run(Places(str(folder / _INDEX)), "127.0.0.1", port, [])


def _show_all(folder: Path) -> None:
    """Run the commands, two at a time, and print their answers in the order of a reader."""
    with as_file(files("distsim") / "data") as data, _DemoCommands(folder) as commands:
        about = ("--metadata", data / "novels.csv")
        novels = data / "novels"
        index = commands.start("index", "build", "--format", "text", novels, *about, "-o", _INDEX)
        signed = commands.start("sign", _INDEX, after=index)
        futures = [
            commands.start(*command, "--json", after=signed)
            for command in (_NEIGHBOURS, _PARAPHRASES, _SUBSTITUTES)
        ]
        _say_first_use()
        _title("The corpus", ("index", "build", "--format", "text", "NOVELS", "-o", _INDEX))
        print(_last_line(index.result().stderr))
        _title("A phrase in its contexts", _CONCORDANCE)
        _show_concordance(_rows(commands.run(*_CONCORDANCE, "--json")))
        _title("The learned table of all phrases of 1 to 4 words", ("sign", _INDEX))
        print(signed.result().stderr.strip().splitlines()[0])
        _title("Words with their scores, phrases with their similarities", _NEIGHBOURS)
        _show_neighbours(_rows(futures[0].result()))
        print(_FAILURE)
        _title("Paraphrases, with scores", _PARAPHRASES)
        _show_ranked(_rows(futures[1].result()))
        _title("Words that fit in a sentence", _SUBSTITUTES)
        fitting = [row | {"phrase": "cold"} for row in _rows(futures[2].result())]
        _show_ranked(fitting)


class _DemoCommands:
    """Runs commands of distsim in a folder, at most two at a time; a failure ends the demo."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pool = ThreadPoolExecutor(2)
        self._running: set[subprocess.Popen[str]] = set()

    def __enter__(self) -> "_DemoCommands":
        return self

    def __exit__(self, *reason: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in list(self._running):
            process.terminate()
        self._pool.shutdown()

    def start(
        self,
        *arguments: str | Path,
        after: "Future[Any] | None" = None,
    ) -> "Future[subprocess.CompletedProcess[str]]":
        """Run a command as soon as a place is free, and after another has ended."""

        def waited() -> subprocess.CompletedProcess[str]:
            if after is not None:
                after.result()
            return self.run(*arguments)

        return self._pool.submit(waited)

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Return a command's output; its own sentence is the error where it fails."""
        words = [sys.executable, "-m", "distsim.cli.start", *map(str, arguments)]
        with subprocess.Popen(
            words, cwd=self._folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8", env=os.environ | {AHEAD: "1"},
        ) as process:  # fmt: skip
            self._running.add(process)
            try:
                out, err = process.communicate()
            finally:
                self._running.discard(process)
        if process.returncode:
            raise DistsimError(_last_line(err).removeprefix("distsim: "))
        lines = [line for line in err.splitlines() if not line.startswith(ANNOUNCEMENT)]
        return subprocess.CompletedProcess(words, 0, out, "\n".join(lines))


def _say_first_use() -> None:
    """Print that inner loops are compiled, where they were not, and compile what is needed last.

    The commands begin meanwhile.
    """
    from distsim.kernels.compiled import is_kept
    from distsim.signatures.kernels.projection import project

    if not is_kept(project):
        here = seconds_here(_FIRST_SECONDS)
        say(f"{ANNOUNCEMENT}about {here} seconds on two cores that are free")
        compile_ahead("index", "sign", "neighbours", "paraphrase", "substitute")


def _show_concordance(rows: list[dict[str, Any]]) -> None:
    wide = max(len(row["left"]) for row in rows)
    for row in rows:
        place = f"{row['source'].removesuffix('.txt.xz')}:{row['line']}"
        print(f"{row['left']:>{wide}}  {row['node']}  {row['right']}  ({place})")


def _show_neighbours(rows: list[dict[str, Any]]) -> None:
    columns: dict[str, list[str]] = {}
    for row in rows:
        column = columns.setdefault(row["phrase"], [row["phrase"].upper()])
        number = row.get("score", row["similarity"])
        column.append(f"{row['answer']} {number:.2f}")
    listed = list(columns.values())
    for first in range(0, len(listed), _COLUMNS):
        print()
        block = listed[first : first + _COLUMNS]
        wide = [max(map(len, column)) for column in block]
        for cells in zip_longest(*block, fillvalue=""):
            shown = "   ".join(f"{cell:{n}}" for cell, n in zip(cells, wide, strict=True))
            print(shown.rstrip())


def _show_ranked(rows: list[dict[str, Any]]) -> None:
    listed: dict[str, list[str]] = {}
    for row in rows:
        listed.setdefault(row["phrase"], []).append(f"{row['answer']} {row['score']:.2f}")
    for name, answers in listed.items():
        print(f"{name}: {', '.join(answers)}")


def _rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _title(sentence: str, *commands: tuple[str, ...]) -> None:
    print(f"\n== {sentence}")
    for command in commands:
        print("$ distsim " + " ".join(f"'{word}'" if " " in word else word for word in command))
    sys.stdout.flush()


@contextmanager
def _folder(output: str | None) -> Iterator[Path]:
    if output is not None:
        Path(output).mkdir(parents=True, exist_ok=True)
        yield Path(output)
        return
    folder = tempfile.mkdtemp(prefix="distsim-demo-")
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
