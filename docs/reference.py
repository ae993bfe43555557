"""The reference of all commands and settings: docs/reference/cli.md and docs/reference/settings.md.

`python docs/reference.py` writes both anew; a test compares them with the program.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import settings

FOLDER = Path(__file__).parent / "reference"


def pages() -> dict[Path, str]:
    """Return the text of each page of the reference."""
    return {
        FOLDER / "cli.md": command_line() + "\n",
        FOLDER / "settings.md": settings.page() + "\n",
    }


def command_line() -> str:
    """Return a page with the help of every command."""
    from typer.main import get_command

    from distsim.cli.main import app

    def described(command: Any, name: str, parent: Any) -> list[str]:
        context = command.context_class(command, info_name=name, parent=parent, terminal_width=88)
        path = context.command_path
        title = "# Command line" if parent is None else f"## {path}"
        shown = [title, "", "```text", command.get_help(context), "```", ""]
        if any("--set" in one.opts for one in command.params):
            if path.removeprefix("distsim ") not in settings.commands():
                raise KeyError(f"docs/settings.py has no table for {path}")
            shown += [f"[Settings of `{path}`](settings.md#{path.replace(' ', '-')})", ""]
        for below in command.list_commands(context) if hasattr(command, "list_commands") else ():
            shown += described(command.get_command(context, below), below, context)
        return shown

    return "\n".join(described(get_command(app), "distsim", None))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
