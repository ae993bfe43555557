"""What examples in docstrings may use: `index`, `table`, `learned`, `folder`, made of a novel."""

import lzma
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

_OF_EXTRAS = ("api", "pages", "run")  # modules of the server that import one
collect_ignore = [
    f"distsim/server/{name}.py" for name in _OF_EXTRAS if find_spec("starlette") is None
]


@pytest.fixture(scope="session")
def alice() -> str:
    """Alice in Wonderland, as running text."""
    novel = files("distsim") / "data" / "novels" / "carroll-alice-in-wonderland-1865.txt.xz"
    return lzma.decompress(novel.read_bytes()).decode()


@pytest.fixture(scope="session")
def alice_index(alice: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An index of Alice in Wonderland, signed inside. Do not change it."""
    from distsim import CorpusIndex, IndexOptions, Recipe, Selection, sign

    folder = tmp_path_factory.mktemp("alice")
    (folder / "alice.txt").write_text(alice, encoding="utf-8")
    index = CorpusIndex.build(folder / "alice.txt", folder / "index", options=IndexOptions("text"))
    sign(index, recipe=Recipe(), selection=Selection(min_count=2))
    return index


@pytest.fixture(scope="session")
def example_names(alice_index: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that examples may use."""
    from distsim import Selection, SignatureTable, sign

    folder: Path = tmp_path_factory.mktemp("examples")
    learned = sign(alice_index, folder / "learned.table", selection=Selection(max_length=2))
    return {
        "index": alice_index,
        "table": SignatureTable.open(alice_index.path),
        "learned": learned,
    }


@pytest.fixture(autouse=True)
def _examples(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        doctest_namespace.update(request.getfixturevalue("example_names"))
        doctest_namespace["folder"] = request.getfixturevalue("tmp_path")
