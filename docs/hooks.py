"""Pages that the project has elsewhere or generates: README, names."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

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
        "reference/api.md": names(),
    }
    for source, page in _PAGES.items():
        made[page] = linked((PROJECT / source).read_text(encoding="utf-8"))
    for page, content in made.items():
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Replace links of a guide to files outside docs/: by the site's page, or by their words."""
    depth = page.file.src_path.count("/")
    outside = "../" * (depth + 1)

    def replaced(link: re.Match[str]) -> str:
        target, _, place = link[2].removeprefix(outside).partition("#")
        if not link[2].startswith(outside) or not (PROJECT / target).exists():
            return link[0]  # a link that leads nowhere is left for mkdocs to report
        if target in _PAGES:
            return f"[{link[1]}]({'../' * depth}{_PAGES[target]}{'#' + place if place else ''})"
        return link[1]

    return _LINK.sub(replaced, markdown)


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
