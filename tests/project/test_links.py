"""Links of the guides lead to files of the project, and on the site to pages of it."""

import re
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

PROJECT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:|#)([^)#\s]+)")
PAGES = [*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md"), *PROJECT.glob("bench/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_lead_to_files(page):
    links = _LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


DOCS = PROJECT / "docs"


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_pages_of_the_site_link_to_nothing_outside_it(page):
    """A guide may link to any file of the clone: the site has a page for it, or its words alone."""
    hooks = run_path(str(DOCS / "hooks.py"))
    file = SimpleNamespace(file=SimpleNamespace(src_path=page.relative_to(DOCS).as_posix()))
    made = hooks["on_page_markdown"](page.read_text(encoding="utf-8"), file, None, None)
    pages = {DOCS / name for name in hooks["_PAGES"].values()} | {DOCS / "reference" / "api.md"}
    targets = [(page.parent / link).resolve() for link in _LINK.findall(made)]
    known = [one for one in targets if one in pages or (one.is_relative_to(DOCS) and one.exists())]
    assert [str(one) for one in targets if one not in known] == []
