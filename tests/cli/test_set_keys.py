"""`--set keys` prints the settings of any command that has them, and needs nothing else."""

import pytest

from distsim.cli.main import app


def with_settings():
    """Yield the words of every command with --set."""
    from typer.main import get_command

    program = get_command(app)
    for name, command in program.commands.items():
        inner = getattr(command, "commands", None)
        for words, one in (
            [((name, sub), inner[sub]) for sub in inner] if inner else [((name,), command)]
        ):
            if any("--set" in param.opts for param in one.params):
                yield words


@pytest.mark.parametrize("words", list(with_settings()), ids=" ".join)
def test_keys_need_no_argument(run, words):
    out, err = run(*words, "--set", "keys")
    assert err == "" and any(" = " in line for line in out.splitlines())
