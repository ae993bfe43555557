"""Pages that the project has or makes itself: README, ARCHITECTURE, FORMAT; commands; names."""

import re
from importlib import import_module
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
        made[page] = linked((PROJECT / source).read_text(encoding="utf-8"))
    for page, content in made.items():
        files.append(File.generated(config, page, content=content))
    return files


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Turn the notebook's links to pages, which are right beside its file, into the site's."""
    if page.file.src_path.endswith(".ipynb"):
        html = re.sub(r'href="(guides/\w+)\.md"', r'href="../\1/"', html)
    return html


def linked(text: str) -> str:
    """Return text with links to pages of the site; to other files, their words alone."""

    def replaced(link: re.Match[str]) -> str:
        words, _, target = link[1], link[0], link[2].removeprefix("docs/")
        page = _PAGES.get(target, target)
        is_page = page in _PAGES.values() or (PROJECT / "docs" / page).is_file()
        return f"[{words}]({page})" if is_page else words

    return _LINK.sub(replaced, text)


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
