"""Annotated sentences and their checks, bracketed trees, `Entity=` brackets of CoNLL-U."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from distsim.base.errors import InputError, counted
from distsim.corpus.lines import read_blocks
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.sources import Source

ROOT = -1  # the governor of the sentence's root
NO_HEAD = -2  # a token that the basic dependencies leave out
OUTSIDE = "o"  # the entity class of a token in no entity

# Words, lemmas and entity classes pass through it, parts of speech and labels do not.
NORMALISER = Normaliser()


class Arc(NamedTuple):
    """A dependency arc between two tokens, counted from 0.

    dependent: the token that depends. governor: the other one, or ROOT. type: the relation.
    """

    dependent: int
    governor: int
    type: str


class Constituent(NamedTuple):
    """A constituent over the tokens start..stop, half-open, counted from 0.

    label: such as NP.
    """

    start: int
    stop: int
    label: str


@dataclass(slots=True)
class AnnotatedSentence:
    """One annotated sentence.

    words, lemmas, pos, ner: text of each token, its lemma, part of speech and entity class.
    heads, types: basic dependencies: the index of each token's governor, from 0, or ROOT or
        NO_HEAD, and the relation.
    enhanced, collapsed, propagated: further dependency graphs, empty where the corpus has none.
    nodes: all constituents from the top down, left to right, without the root node.
    file, line: path of the corpus file, and the line where the sentence begins, from 1.
    """

    words: list[str]
    lemmas: list[str]
    pos: list[str]
    ner: list[str]
    heads: list[int]
    types: list[str]
    enhanced: list[Arc] = field(default_factory=list)
    collapsed: list[Arc] = field(default_factory=list)
    propagated: list[Arc] = field(default_factory=list)
    nodes: list[Constituent] = field(default_factory=list)
    file: str = ""
    line: int = 0


class Normalised(dict[str, str]):
    """Normal forms by text as written; each distinct text is normalised once."""

    def __missing__(self, text: str) -> str:
        normal = self[text] = NORMALISER.token(text)
        return normal


def fault(file: str, line: int, message: str) -> InputError:
    """Return the InputError for an invalid line; `what` names the fault and the remedy."""
    return InputError(f"{file}, line {line}: {message}")


def check_tree(heads: list[int]) -> str | None:
    """Return the fault of basic dependencies, None if they are a tree with one root.

    Tokens with NO_HEAD are passed over. A head out of range is not looked for here.

    Arguments:
        heads: the head of each token, from 0; ROOT or NO_HEAD.
    """
    roots = heads.count(ROOT)
    if roots != 1:
        return f"{counted(roots, 'root')}, wanted one: give exactly one token the head 0"
    reached = bytearray(len(heads) + 2)  # the last two: ROOT is -1, NO_HEAD -2
    reached[ROOT] = reached[NO_HEAD] = 1
    for token, head in enumerate(heads):
        if reached[head]:
            reached[token] = 1
            continue
        path = [token]
        while not reached[head]:
            path.append(head)
            if len(path) > len(heads):
                return f"the heads run in a circle through token {head + 1}: mend one of them"
            head = heads[head]
        for step in path:
            reached[step] = 1
    return None


_TREE_PIECE = re.compile(r"\(\s*([^\s()]*)|([^\s()]+)|\)")
# Without what follows it in NP-SBJ-1, NP=2, NX:ON, NC##g=m##; not of -LRB-, :, #.
_CATEGORY = re.compile(r"[^-=:#]+")
_ROOTS = frozenset(("", "ROOT", "TOP"))
_TRACE = "-NONE-"


class Tree(NamedTuple):
    """A parsed constituency tree.

    nodes: constituents from the top down, the root left out. leaves, tags: of each token.
    """

    nodes: list[Constituent]
    leaves: list[str]
    tags: list[str]


class TreeReader:
    """Parser of bracketed trees.

    >>> TreeReader().parse("(ROOT (NP-SBJ (DT the) (NN end)))").nodes
    [Constituent(start=0, stop=2, label='NP'), Constituent(start=0, stop=1, label='DT'), Constituent(start=1, stop=2, label='NN')]
    """  # noqa: E501

    def __init__(self) -> None:
        self._categories: dict[str, str] = {}

    def parse(self, text: str) -> Tree:
        """Return the tree in a line; labels end before -, =, : or #; traces (-NONE-) are left out.

        Brackets without a label are no constituents, nor are ROOT and TOP around the whole.

        Raises:
            ValueError: the brackets do not match, or there is more or less than one tree.
        """
        nodes: list[list[Any]] = []  # [start, stop, label] from the top down
        open_nodes: list[list[Any]] = []
        leaves: list[str] = []
        tags: list[str] = []
        for piece in _TREE_PIECE.finditer(text):
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
                    tags.append(self._category(open_nodes[-1][2]))
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
        is_root = True  # of all nodes so far
        for start, stop, label in nodes:
            is_root = is_root and label in _ROOTS
            if start == stop or is_root or not label:
                continue
            kept.append(Constituent(start, stop, self._category(label)))
        return Tree(kept, leaves, tags)

    def _category(self, label: str) -> str:
        category = self._categories.get(label)
        if category is None:
            category_match = _CATEGORY.match(label)
            category = self._categories[label] = category_match[0] if category_match else label
        return category


def read_trees(sources: Sequence[Source]) -> Iterator[tuple[Tree | None, str, int]]:
    """Yield (tree, file, line) for every line of the files; None where the line is blank.

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


# An opening bracket with its fields, perhaps closed at once; or the end of a mention by id.
_ENTITY_PIECE = re.compile(r"\(([^()]+)(\)?)|([^()]+)\)")


class Mentions:
    """Open entity mentions, tracked from token to token.

    >>> mentions = Mentions()
    >>> mentions.innermost("(1-person-new(2-place-new)")
    'place'
    >>> mentions.innermost(None), mentions.innermost("1)"), mentions.innermost(None)
    ('person', 'person', 'o')
    """

    def __init__(self) -> None:
        self._open: list[tuple[str, str]] = []

    @property
    def open(self) -> bool:
        """Whether any mention is open."""
        return bool(self._open)

    def innermost(self, brackets: str | None) -> str:
        """Return the class of the innermost mention over the next token, `o` if there is none.

        brackets: the token's `Entity=` value, None where it has none. The class is the second
        field between hyphens.

        Raises:
            ValueError: the brackets do not match what is open, or a mention has no class.
        """
        if brackets is None:
            return self._open[-1][1] if self._open else OUTSIDE
        here: list[tuple[str, str]] = []  # mentions of this token alone
        ended = []
        place = 0
        for piece in _ENTITY_PIECE.finditer(brackets):
            if piece.start() != place:
                break
            place = piece.end()
            opened, closed, ends = piece.groups()
            if opened is None:
                ended.append(ends)
                continue
            fields = opened.split("-", 2)
            if len(fields) < 2 or not fields[1]:
                raise ValueError(f"the mention {opened!r} has no class: write (id-class-...")
            mention = (fields[0], fields[1])
            if closed:
                here.append(mention)
            else:
                self._open.append(mention)
        if place != len(brackets):
            raise ValueError(f"Entity={brackets} is not made of (id-class... and id): mend it")
        covering = here or self._open
        innermost_mention = covering[-1][1] if covering else OUTSIDE
        for ends in ended:
            for number in range(len(self._open) - 1, -1, -1):
                if self._open[number][0] == ends:
                    del self._open[number]
                    break
            else:
                raise ValueError(f"{ends}) closes a mention that is not open: open it before")
        return innermost_mention
