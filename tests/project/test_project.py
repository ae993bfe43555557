"""The project as a whole: what is installed, what is imported when, what the README says."""

import ast
import email
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import get_args

import pytest

from distsim.base.errors import DISTRIBUTION
from distsim.cli import demo
from tests.conftest import PROJECT, run_program

GUIDES = sorted((PROJECT / "docs" / "guides").glob("*.md"))
README = "\n".join(p.read_text(encoding="utf-8") for p in [PROJECT / "README.md", *GUIDES])


def python(*code: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", "; ".join(code)], capture_output=True, text=True, cwd=PROJECT,
        **options,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["indexes", "cli"])
def test_top_level_links_lead_to_packages_that_refuse_another_name(name):
    assert (PROJECT / name).is_symlink()
    assert (PROJECT / name).resolve() == PROJECT / "distsim" / name
    result = python(f"import {name}")
    assert f"import this package as distsim.{name}, not as {name}" in result.stderr


def test_importing_is_instant():
    result = python(
        "import sys, distsim",
        "print([m for m in ('numpy', 'numba', 'typer') if m in sys.modules])",
    )
    assert result.stdout == "[]\n"
    result = python(
        "import sys, distsim.cli.main",
        "print([m for m in ('numpy', 'numba', 'faiss', 'scipy') if m in sys.modules])",
    )
    assert result.stdout == "[]\n"
    result = python(
        "import sys, distsim.cli.start, distsim.cli.costs",
        "from distsim import CorpusIndex, SignatureTable, neighbours",
        "print([m for m in ('joblib', 'numba', 'faiss', 'scipy') if m in sys.modules])",
    )
    assert result.stdout == "[]\n"


def test_numba_without_a_place_for_its_cache(tmp_path):
    """Kernels are compiled anew where neither the package nor the home folder takes a cache."""
    result = python(
        "import numba.core.caching as c",
        "c.CacheImpl.__init__ = lambda self, f: (_ for _ in ()).throw(RuntimeError('no locator'))",
        "from distsim.corpus.vocabulary import hash_texts",
        "print(len(hash_texts([b'a'])))",
    )
    assert result.stdout == "1\n", result.stderr


def test_the_wheel_holds_one_import_name(tmp_path):
    import build

    sdist = build.ProjectBuilder(PROJECT).build("sdist", tmp_path)
    import tarfile

    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    wheel = build.ProjectBuilder(source).build("wheel", tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (n for n in names if n.endswith(".dist-info/METADATA"))
        described = email.message_from_bytes(archive.read(metadata))
    assert Path(wheel).name.startswith("distsim_phrases-")
    classifiers = set(described.get_all("Classifier"))
    assert {f"Programming Language :: Python :: 3.{n}" for n in (11, 12, 13)} <= classifiers
    assert "Typing :: Typed" in classifiers
    packages = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert packages == {"distsim"}
    modules = {p.relative_to(PROJECT).as_posix() for p in (PROJECT / "distsim").rglob("*.py")}
    assert modules <= set(names)
    assert "distsim/data/novels/carroll-alice-in-wonderland-1865.txt.xz" in names
    assert {"distsim/py.typed", "distsim/__init__.pyi", "distsim/grammar/__init__.pyi"} <= set(
        names
    )
    assert {"distsim/server/templates/base.html", "distsim/server/static/style.css"} <= set(names)
    assert "distsim/server/templates/panels/map.html" in names


def test_no_text_sends_a_user_to_another_project():
    """`distsim` on the public index is a simulator; extras that texts name exist."""
    with open(PROJECT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    assert project["name"] == DISTRIBUTION != "distsim"
    extras = project["optional-dependencies"]
    files = [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.*")]
    files += [*(PROJECT / "bench").rglob("*.*"), *(PROJECT / "distsim").rglob("*.py")]
    texts = [one.read_text("utf-8") for one in files if one.suffix in {".md", ".py", ".ipynb"}]
    texts.append(str(extras))
    named = []
    for text in texts:
        assert not re.search(r"pip install (-\S+ )*'?distsim\b(?!_phrases)", text)
        assert not re.search(r"\bdistsim\[", text)
        found = r"how_to_install\(['\"](\w+)['\"]\)|'\.\[([\w,]+)\]'|distsim-phrases\[(\w+)\]"
        named += ["".join(one) for one in re.findall(found, text)]
    assert len(named) > 10
    assert {one for names in named for one in names.split(",")} <= extras.keys()


def test_every_module_says_what_it_does():
    for path in (PROJECT / "distsim").rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


DECIMALS = re.compile(r"(?<![\d.])(-?\d+\.\d{3,})(?![\d.])")


def readme_commands() -> list[tuple[str, str]]:
    """The README's commands with the output that it shows, in order."""
    commands = []
    for block in re.findall(r"^```console\n(.*?)^```", README, re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = command[:-1] + more.strip()
            commands.append((command, output))
    return commands


@pytest.fixture(scope="module")
def workplace(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("readme")


@pytest.mark.parametrize(
    ("command", "output"), readme_commands(), ids=[c[:60] for c, _ in readme_commands()]
)
def test_readme_commands_print_what_it_shows(workplace, command, output):
    """`...` in the output stands for any lines; the last digits depend on the linear algebra."""
    folder = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(
        ["bash", "-c", command], cwd=workplace, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    wanted = [float(number) for number in DECIMALS.findall(output)]
    pattern = DECIMALS.sub("<decimals>", output)
    pattern = re.escape(pattern).replace(re.escape("...\n"), "(?:.*\n)*")
    found = re.fullmatch(pattern.replace("<decimals>", DECIMALS.pattern), result.stdout)
    assert found, result.stdout
    assert [float(number) for number in found.groups()] == pytest.approx(wanted, abs=0.005)


def test_readme_python_examples_run(workplace):
    if not (workplace / "novels.index").exists():  # when this test is run alone
        run_program("demo", "-o", workplace)
    for block in re.findall(r"^```python\n(.*?)^```", README, re.M | re.S):
        result = subprocess.run(
            [sys.executable, "-c", block], cwd=workplace, capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr


def test_demo_tells_how_much_of_its_failure_is_made_of_words(workplace, capsys):
    if not (workplace / "novels.index").exists():  # when this test is run alone
        run_program("demo", "-o", workplace)
    capsys.readouterr()
    index = workplace / "novels.index"
    run_program("similarity", index, "in spite of", "despite", "--why", "--json")
    why = json.loads(capsys.readouterr().out)["why"]["a"]
    assert f"its {why['occurrences']} occurrences" in demo._FAILURE
    assert f"so {1 - why['own_share']:.0%} of its vector" in demo._FAILURE


def test_named_presets_are_those_that_there_are():
    from distsim.base import arguments
    from distsim.grammar.extraction import instances as options_of_extraction
    from distsim.paraphrase import paraphrasing_options
    from distsim.signatures.recipe import PRESETS

    assert set(get_args(arguments.ExtractPreset)) == set(options_of_extraction.PRESETS)
    assert set(get_args(arguments.ParaphrasePreset)) == set(paraphrasing_options.PRESETS)
    assert set(get_args(arguments.SignPreset)) == set(PRESETS)
