"""Parses bracketed constituency trees, one a line."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from distsim.corpus.annotation import Node, fault
from distsim.corpus.blocks import read_blocks
from distsim.corpus.sources import Source

_PIECE = re.compile(r"\(\s*([^\s()]*)|([^\s()]+)|\)")
_CATEGORY = re.compile(r"[^-=]+")  # without what follows it in NP-SBJ-1, NP=2; not of -LRB-
_ROOTS = frozenset(("", "ROOT", "TOP"))
_TRACE = "-NONE-"


class Tree(NamedTuple):
    """A parsed constituency tree.

    nodes: constituents from the top down, the root left out. leaves, tags: of each token.
    """

    nodes: list[Node]
    leaves: list[str]
    tags: list[str]


class TreeReader:
    """Parser of bracketed trees.

    >>> TreeReader().parse("(ROOT (NP-SBJ (DT the) (NN end)))").nodes
    [Node(start=0, stop=2, label='NP'), Node(start=0, stop=1, label='DT'), Node(start=1, stop=2, label='NN')]
    """  # noqa: E501

    def __init__(self) -> None:
        self._categories: dict[str, str] = {}

    def parse(self, text: str) -> Tree:
        """Return the tree in a line; labels end before - or =; traces (-NONE-) are left out.

        Arguments:
            text: the line.

        Raises:
            ValueError: the brackets do not match, or there is more or less than one tree.
        """
        nodes: list[list[Any]] = []  # [start, stop, label] from the top down
        open_nodes: list[list[Any]] = []
        leaves: list[str] = []
        tags: list[str] = []
        categories = self._categories
        for piece in _PIECE.finditer(text):
            label, leaf = piece.groups()
            if label is not None:
                if nodes and not open_nodes:
                    raise ValueError("text follows the tree: write one tree a line")
                node = [len(leaves), 0, label]
                nodes.append(node)
                open_nodes.append(node)
            elif leaf is not None:
                if not open_nodes:
                    raise ValueError(f"{leaf!r} is outside the brackets: write (ROOT ...)")
                if open_nodes[-1][2] != _TRACE:
                    tags.append(open_nodes[-1][2])
                    leaves.append(leaf)
            else:
                if not open_nodes:
                    raise ValueError("a ) too many: balance the brackets")
                open_nodes.pop()[1] = len(leaves)
        if open_nodes:
            raise ValueError(f"{len(open_nodes)} ) missing: balance the brackets")
        if not nodes:
            raise ValueError("no tree: write (ROOT ...)")
        kept = []
        for number, (start, stop, label) in enumerate(nodes):
            if start == stop or (number == 0 and label in _ROOTS):
                continue
            category = categories.get(label)
            if category is None:
                found = _CATEGORY.match(label)
                category = categories[label] = found[0] if found else label
            kept.append(Node(start, stop, category))
        return Tree(kept, leaves, tags)


def read_trees(sources: Sequence[Source]) -> Iterator[tuple[Tree | None, str, int]]:
    """Yield (tree, file, line) for every line of the files; None where the line is blank.

    Arguments:
        sources: the files.

    Raises:
        InputError: a file cannot be read or a tree is broken; file and line are named.
    """
    reader = TreeReader()
    for block in read_blocks(sources):
        file = sources[block.source].path
        for line, text in enumerate(block.lines(), block.first_line):
            if not text.strip():
                yield None, file, line
                continue
            try:
                tree = reader.parse(text)
            except ValueError as error:
                raise fault(file, line, f"the tree is broken: {error}") from None
            yield tree, file, line
