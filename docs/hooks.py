"""Pages that the project has or makes itself: README, ARCHITECTURE, FORMAT; commands; names."""

import re
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parent.parent
_PAGES = {"README.md": "index.md"} | {
    name: name for name in ("ARCHITECTURE.md", "FORMAT.md", "CHANGELOG.md")
}
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)]*)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are no file of docs/."""
    from mkdocs.structure.files import File

    made = {"reference/cli.md": command_line(), "reference/api.md": names()}
    for source, page in _PAGES.items():
        made[page] = without_links((PROJECT / source).read_text(encoding="utf-8"))
    for page, content in made.items():
        files.append(File.generated(config, page, content=content))
    return files


def without_links(text: str) -> str:
    """Return text with the links to other files of the project as their words alone."""
    return _LINK.sub(r"\1", text)


def command_line() -> str:
    """Return a page of every command's own help."""
    import click
    from typer.main import get_command

    from distsim.cli.main import app

    def told(command: Any, name: str, parent: Any) -> list[str]:
        context = click.Context(command, info_name=name, parent=parent, terminal_width=96)
        path = context.command_path
        title = "# Command line" if parent is None else f"## {path}"
        shown = [title, "", "```text", command.get_help(context), "```", ""]
        for below, inner in getattr(command, "commands", {}).items():
            shown += told(inner, below, context)
        return shown

    return "\n".join(told(get_command(app), "distsim", None))


def names() -> str:
    """Return a page of every public name, from its docstring."""
    import inspect

    import distsim

    page = ["# Python", ""]
    for name in sorted(distsim.__all__):
        value = getattr(distsim, name)
        if callable(value):
            is_error = isinstance(value, type) and issubclass(value, Exception)
            taken = "" if is_error else inspect.signature(value)
            page += [f"## {name}", "", "```text", f"{name}{taken}", ""]
            page += [inspect.getdoc(value) or "", "```", ""]
    return "\n".join(page)
