"""The reference in docs/ is that of the program."""

import re
import runpy
import tomllib

import pytest

from distsim.public_names import TOPICS, modules_of_names
from tests.cli.test_options import COMMANDS, options
from tests.conftest import PROJECT

REFERENCE = PROJECT / "docs" / "reference.py"


@pytest.mark.skipif(not REFERENCE.exists(), reason="the sources of the guides are not here")
def test_the_reference_of_commands_and_settings_is_current():
    pages = runpy.run_path(str(REFERENCE))["pages"]()
    stale = [path.name for path, text in pages.items() if path.read_text("utf-8") != text]
    assert stale == [], "write them anew: python docs/reference.py"


def test_every_command_is_in_the_reference():
    from distsim.cli.usage import read_command_table

    text = (PROJECT / "docs" / "reference" / "cli.md").read_text("utf-8")
    for commands in read_command_table("commands").values():
        for name, entry in commands.items():
            assert f"## distsim {name}\n" in text
            assert all(f"## distsim {name} {one}\n" in text for one in entry.get("commands", ()))


def test_every_public_name_is_in_the_reference():
    page = runpy.run_path(str(PROJECT / "docs" / "hooks.py"))["names"]()
    for topic in (None, *TOPICS):
        missing = [f"{module}.{name}" for name, module in modules_of_names(topic).items()
                   if f"::: {module}.{name}\n" not in page]  # fmt: skip
        assert missing == [], topic


def flat(table: dict, before: str = "") -> set[str]:
    """Return the keys of a table of TOML, those of inner tables behind a dot."""
    keys = set()
    for key, value in table.items():
        is_table = isinstance(value, dict) and value
        keys |= flat(value, f"{before}{key}.") if is_table else {before + key}
    return keys


@pytest.mark.parametrize("path", [path for path in COMMANDS if "--set" in options(path)])
def test_every_setting_that_a_command_prints_is_in_the_reference(path, run):
    text = (PROJECT / "docs" / "reference" / "settings.md").read_text("utf-8")
    sections = [one.partition("\n") for one in text.split("\n## distsim ")[1:]]
    keys = {
        key for name, _, body in sections if name == path or name.startswith(f"{path} --")
        for key in re.findall(r"^\| `([\w.-]+)` \|", body, re.M)
    }  # fmt: skip
    # A recipe names its only model; a part that is off has no keys, weights have those of a file.
    keys |= {"model.name", "composition", "weights."}
    out, _ = run(*path.split(), "--set", "keys")
    printed = [tomllib.loads(part) for part in re.split("^# with .*", out, flags=re.M)]
    assert sorted(set().union(*map(flat, printed)) - keys) == []
