"""The command sign, as a user types it wrongly."""

import subprocess
import sys

import pytest


def run(*command, data=None):
    program = [sys.executable, "-m", "distsim.cli.main", *map(str, command)]
    done = subprocess.run(program, input=data, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory, alice):
    folder = tmp_path_factory.mktemp("cli")
    (folder / "alice.txt").write_text(alice)
    status, _, _ = run("index", "build", folder / "alice.txt", "--format", "text",
                       "-o", folder / "index")  # fmt: skip
    assert status == 0
    return folder


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("INDEX", "INDEX"), "--from index takes one source"),
        (("INDEX", "--set", "normaliser.lower=false"), "normaliser.lower: no such setting"),
        (("INDEX", "--set", "text_format=text"), "text_format: no such setting"),
        (
            ("INDEX", "--from", "annotated"),
            "--from annotated needs the table's folder: give",
        ),
        (("INDEX", "--memory", "much"), "'much': give a size such as 800M or 4G"),
    ],
)
def test_usage(folder, arguments, wanted):
    arguments = [folder / "index" if one == "INDEX" else one for one in arguments]
    status, _, err = run("sign", *arguments)
    assert status == 2
    assert wanted in " ".join(err.split())


def test_less_memory_than_the_words_need_is_refused_before_the_work(folder):
    index = folder / "index"
    status, out, err = run("sign", index, "--min-count", "1", "--memory", "1000")
    assert (status, out) == (1, "") and err.count("\n") == 1
    assert "--memory: the vectors of" in err and "give at least this much" in err
    assert not (index / "signatures").exists()
