"""Values of options that are taken without the argument parser's check."""

import subprocess
import sys

import pytest
from typer import Context

from distsim.cli.usage import Commands, read_command_table

ENTRIES = {
    name: one for part in read_command_table("commands").values() for name, one in part.items()
}
VALUES = {
    "count": {
        "index": ["x", "", "é", "a b"],
        "phrases": [("a", "b"), ("é",), (), None],
        "limit": ["0", "12", 7, None, "+3", " 4", "1_0"],
    },
    "paraphrase": {"preset": ["default", "thorough", None], "k": ["3", None], "why": [True, None]},
    "keywords": {"max_p": [1.0, 0.0, "1", "0.05"]},
    "pivot": {"memory": ["128M", "4g", "1000000"]},
}
REFUSED = {
    "count": {"limit": ["-1", "x", "1.5", "٣x", ""]},
    "paraphrase": {"preset": ["thorogh", "Default"]},
    "keywords": {"max_p": [1.5, -0.5, "2", "x", ""]},
    "pivot": {"memory": ["x", "-1M", ""]},
}


def asked(values):
    for name, by_option in values.items():
        command = Commands(ENTRIES)[name]
        context = Context(command)
        for param in command.get_params(context):
            for value in by_option.get(param.name, ()):
                yield param, value, context


def test_plain_values_are_those_of_the_parser():
    cases = list(asked(VALUES))
    assert len(cases) == sum(len(some) for one in VALUES.values() for some in one.values())
    for param, value, context in cases:
        found = param.get_runtime_param().coerce(value, param=param, ctx=context)
        wanted = type(param).get_runtime_param(param).coerce(value, param=param, ctx=context)
        assert found == wanted and type(found) is type(wanted), (param.name, value)


def test_other_values_are_refused_by_the_parser():
    for param, value, context in asked(REFUSED):
        messages = []
        for runtime in (param.get_runtime_param(), type(param).get_runtime_param(param)):
            with pytest.raises(Exception) as raised:
                runtime.coerce(value, param=param, ctx=context)
            messages.append(str(raised.value))
        assert messages[0] == messages[1]


def test_a_command_without_unusual_values_loads_no_checker(tmp_path):
    (tmp_path / "text").write_text("a b\n")
    index = tmp_path / "index"
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('pydantic' in sys.modules))\n"
        "from distsim.cli.start import main\nmain()\n"
    )
    (tmp_path / "rules").write_text("[X] ||| a ||| b ||| 0.5 0.5 0.5 0.5 ||| 0-0\n")
    for arguments in (
        ["index", "build", tmp_path / "text", "-o", index], ["count", index, "a"],
        ["keywords", index, "--against", index],
        ["pivot", tmp_path / "rules", "-o", tmp_path / "paraphrases"],
    ):  # fmt: skip
        ran = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert ran.stdout.splitlines()[-1] == "False", arguments
