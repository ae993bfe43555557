"""Pages that the project has elsewhere or generates: README, commands, settings, names."""

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import settings

PROJECT = Path(__file__).parent.parent
_PAGES = {
    "README.md": "index.md",
    "bench/README.md": "benchmarks.md",
    **{name: name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "FORMAT.md", "CHANGELOG.md")},
}
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)]*)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are no file of docs/."""
    from mkdocs.structure.files import File

    made = {
        "reference/cli.md": command_line(),
        "reference/settings.md": settings.page(),
        "reference/api.md": names(),
    }
    for source, page in _PAGES.items():
        made[page] = linked((PROJECT / source).read_text(encoding="utf-8"))
    for page, content in made.items():
        files.append(File.generated(config, page, content=content))
    return files


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Replace links to pages in a notebook, which are right beside its file, by the site's."""
    if page.file.src_path.endswith(".ipynb"):
        html = re.sub(r'href="(guides/[\w-]+)\.md"', r'href="../../\1/"', html)
    return html


def linked(text: str) -> str:
    """Return text with links to pages of the site; of links to other files only the words."""

    def replaced(link: re.Match[str]) -> str:
        words, whole = link[1], link[0]
        target, _, place = link[2].removeprefix("../").removeprefix("docs/").partition("#")
        if target == "bench/":
            target = "bench/README.md"
        page = _PAGES.get(target, target)
        if page in _PAGES.values() or (PROJECT / "docs" / page).is_file():
            return f"[{words}]({page}{'#' + place if place else ''})"
        return words if not whole.startswith("!") else whole

    return _LINK.sub(replaced, text)


def command_line() -> str:
    """Return a page with the help of every command."""
    import click
    from typer.main import get_command

    from distsim.cli.main import app

    def described(command: Any, name: str, parent: Any) -> list[str]:
        context = click.Context(command, info_name=name, parent=parent, terminal_width=88)
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


def names() -> str:
    """Return a page of every public name, by topic."""
    from distsim.public_names import TOPICS, modules_of_names

    root = modules_of_names()
    page = ["# Python", "", f"`distsim` itself has {', '.join(f'`{name}`' for name in root)}.", ""]
    page += ["The topics below have these and the others.", ""]
    for topic in TOPICS:
        page += [f"## distsim.{topic}", "", import_module(f"distsim.{topic}").__doc__, ""]
        for name, module in modules_of_names(topic).items():
            page += [f"::: {module}.{name}", ""]
    return "\n".join(page)
