"""The stubs beside `distsim/__init__.py` and those of its topics, made of the public names' table.

Type checkers do not see what is loaded lazily; they read these. Written anew by
`python -m tests.project.stubs`; a test compares them.
"""

from pathlib import Path

from distsim.public_names import TOPICS, modules_of_names

PACKAGE = Path(__file__).parents[2] / "distsim"


def stubs() -> dict[Path, str]:
    """Every stub's path and text."""
    return {PACKAGE / (topic or "") / "__init__.pyi": stub(topic) for topic in (None, *TOPICS)}


def stub(topic: str | None) -> str:
    """Return the text of the root's stub (None) or of a topic's."""
    homes = [(module, name) for name, module in modules_of_names(topic).items()]
    if topic is None:
        homes += [("distsim", one) for one in TOPICS]
    homes.sort(key=lambda home: (home[0], not home[1].isupper(), home[1]))  # as ruff sorts
    return "".join(_import(module, name) for module, name in homes)


def _import(module: str, name: str) -> str:
    """Return the statement that imports a name, as ruff formats it."""
    line = f"from {module} import {name} as {name}\n"
    if len(line) <= 101:
        return line
    return f"from {module} import (\n    {name} as {name},\n)\n"


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
