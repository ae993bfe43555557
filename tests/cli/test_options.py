"""Options of all commands: few, each in a guide."""

import re
import shlex
from pathlib import Path
from typing import get_args

import pytest
import typer

from distsim.base.arguments import FileFormat, GrammarFormatName
from distsim.cli import console
from distsim.cli.main import app
from distsim.corpus.readers import READERS
from distsim.grammar.formats import FORMATS
from tests.conftest import PROJECT

MOST = 17
EVERYWHERE = {
    "--as-is",
    "--in",
    "--csv",
    "--header",
    "--json",
    "--jobs",
    "--force",
    "--input",
    "--memory",
    "--output",
    "--set",
    "--recipe",
}


def commands(command, path=()):
    """(path, command) of each that does something."""
    below = getattr(command, "commands", {})
    for name, inner in below.items():
        yield from commands(inner, (*path, name))
    if not below:
        yield " ".join(path), command


COMMANDS = dict(commands(typer.main.get_command(app)))


def options(path) -> dict[str, str]:
    """Every way in which an option of a command is typed -> the first."""
    found = {}
    for param in COMMANDS[path].params:
        if param.param_type_name == "option":
            found |= dict.fromkeys([*param.opts, *param.secondary_opts], param.opts[0])
    return found


def command_of(words) -> str | None:
    """The command that words behind `distsim` call."""
    for n in (2, 1):
        if " ".join(words[:n]) in COMMANDS:
            return " ".join(words[:n])
    return None


def calls(text) -> list[tuple[str, list[str]]]:
    """(command, words behind it) of all calls of the program in text."""
    found = []
    text = text.replace("\\\n", " ")
    for line in re.findall(r"\bdistsim ((?:[^`\n|;]|(?<=\w)\|(?=\w))+)", text):
        try:
            words = shlex.split(line.split(" #")[0], posix=False)
        except ValueError:  # a quote that the pattern cut
            words = line.split()
        path = command_of(words)
        if path is not None:
            found.append((path, words[len(path.split()) :]))
    return found


def typed_options(words) -> list[str]:
    return [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]


GUIDES = "\n".join(
    path.read_text() for path in (PROJECT / "README.md", *(PROJECT / "docs/guides").glob("*.md"))
)
CALLS = calls(GUIDES)


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_has_few_options(path):
    n = len(set(options(path).values()) - {"--csv", "--header"})  # of every list
    assert n <= MOST, f"{n} options"


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_is_used_in_a_guide(path):
    typed = {options(path).get(one) for called, words in CALLS if called == path
             for one in typed_options(words)}  # fmt: skip
    unused = set(options(path).values()) - typed - EVERYWHERE - {"-k", "-n"}
    assert not unused


def test_formats_of_grammars_and_of_files_are_those_of_the_options():
    assert get_args(GrammarFormatName) == tuple(FORMATS)
    assert get_args(FileFormat) == ("auto", "text", "lines", *READERS)


def test_shared_options_are_used_in_guides():
    typed = {options(path).get(one) for path, words in CALLS for one in typed_options(words)}
    assert not EVERYWHERE - typed


def test_guides_call_the_program_with_options_that_there_are():
    wrong = [(path, one) for path, words in CALLS for one in typed_options(words)
             if one not in options(path)]  # fmt: skip
    assert not wrong


@pytest.mark.parametrize("path", COMMANDS)
def test_help_ends_with_an_example_that_can_be_typed(path, run):
    out, _ = run(*path.split(), "--help")
    *_, last = out.splitlines()
    assert last.startswith(f"Example: distsim {path} ") and "\n\nExample" in out
    [(called, words)] = calls(last)
    assert called == path
    assert [one for one in typed_options(words) if one not in options(path)] == []
    command = COMMANDS[path]
    arguments = [word.strip("'\"") for word in shlex.split(last)[1 + len(path.split()) + 1 :]]
    command.make_context(path, arguments)  # raises where an argument is missing or wrong


@pytest.mark.parametrize("path", [path for path in COMMANDS if "--set" in options(path)])
def test_settings_are_read_before_anything_is_opened(path, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [(_, example)] = calls(COMMANDS[path].epilog)
    words = [*path.split(), *shlex.split(" ".join(example))]
    _, err = run(*words, "--set", "nonsense=1", status=2)
    assert "Invalid value for --set: nonsense: no such setting: choose one of" in err
    out, _ = run(*words, "--set", "keys")
    assert all(" = " in line or line[:1] == "[" for line in out.splitlines() if line), out
    Path("mine.toml").write_text("nonsense = 1\n")
    if "--recipe" in options(path):
        _, err = run(*words, "--recipe", "mine.toml", status=1)
        assert "mine.toml: nonsense: no such setting" in err
    assert sorted(Path().iterdir()) == [Path("mine.toml")]


# Commands for the files of an index, for a server of all of it, or for its named parts.
WHOLE = {
    "index add", "index remove", "subcorpus save", "subcorpus list", "subcorpus remove", "serve",
}  # fmt: skip


def _asks_an_index(path):
    metavars = [param.metavar or "" for param in COMMANDS[path].params
                if param.param_type_name == "argument"]  # fmt: skip
    return any("INDEX" in one.split("|") for one in metavars) and path not in WHOLE


@pytest.mark.parametrize("path", list(filter(_asks_an_index, COMMANDS)))
def test_a_command_that_asks_an_index_asks_some_of_its_documents(path):
    assert {"--in", "--where"} <= set(options(path))


def test_a_remedy_that_a_command_lacks_is_left_out(monkeypatch):
    message = (
        "a.tsv, line 1: not UTF-8: convert the file, or name its encoding with `encoding` cp1252"
    )
    monkeypatch.setattr(console, "_flags", {"pairs": "--pairs"})
    assert console.in_flags(message) == "a.tsv, line 1: not UTF-8: convert the file"
    monkeypatch.setattr(console, "_flags", {"encoding": "--encoding"})
    assert console.in_flags(message).endswith("with --encoding cp1252")
