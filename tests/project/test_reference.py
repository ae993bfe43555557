"""The reference in docs/ is that of the program."""

import runpy

import pytest

from tests.conftest import PROJECT

REFERENCE = PROJECT / "docs" / "reference.py"


@pytest.mark.skipif(not REFERENCE.exists(), reason="the sources of the guides are not here")
def test_the_reference_of_commands_and_settings_is_current():
    pages = runpy.run_path(str(REFERENCE))["pages"]()
    stale = [path.name for path, text in pages.items() if path.read_text("utf-8") != text]
    assert stale == [], "write them anew: python docs/reference.py"


def test_every_command_is_in_the_reference():
    from distsim.cli.usage import read_table

    text = (PROJECT / "docs" / "reference" / "cli.md").read_text("utf-8")
    for commands in read_table("commands").values():
        for name, entry in commands.items():
            assert f"## distsim {name}\n" in text
            assert all(f"## distsim {name} {one}\n" in text for one in entry.get("commands", ()))
