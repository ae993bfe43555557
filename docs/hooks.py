"""Pages that the project has or makes itself: README, ARCHITECTURE, FORMAT; commands; names."""

import re
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parent.parent
_PAGES = {"README.md": "index.md"} | {
    name: name for name in ("ARCHITECTURE.md", "FORMAT.md", "CHANGELOG.md")
}
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)]*)\)")
# The folders of the library -> the pages of its reference, in order; what is in none is left over.
_PARTS = {
    "Corpus and index": ("corpus", "indexes"),
    "Signatures": ("contexts", "signatures"),
    "Similarity": ("comparison", "evaluation"),
    "Grammars": ("bitext", "grammar"),
    "Paraphrases": ("paraphrase",),
    "The rest": ("",),
}


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
    """Return a page of every public name, by the part of the library that it belongs to."""
    import distsim

    left = distsim.home_of_names()
    page = ["# Python", "", "All of these are imported from `distsim`.", ""]
    for title, folders in _PARTS.items():
        page += [f"## {title}", ""]
        for name in sorted(left, key=str.lower):
            if folders == ("",) or left[name].split(".")[0] in folders:
                page += [f"::: distsim.{left[name]}.{name}", ""]
        left = {n: home for n, home in left.items() if f"::: distsim.{home}.{n}" not in page}
    return "\n".join(page)
