"""Annotated sentences, and the checks that every reader of them makes."""

from dataclasses import dataclass, field
from typing import NamedTuple

from distsim.base.errors import InputError
from distsim.corpus.normaliser import Normaliser

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


class Node(NamedTuple):
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
    nodes: list[Node] = field(default_factory=list)
    file: str = ""
    line: int = 0


class Normalised(dict[str, str]):
    """Normal forms by text as written; each distinct text is normalised once."""

    def __missing__(self, text: str) -> str:
        normal = self[text] = NORMALISER.token(text)
        return normal


def fault(file: str, line: int, what: str) -> InputError:
    """Return the InputError for an invalid line; `what` names the fault and the remedy.

    Arguments:
        file, line: the place.
        what: the fault and the remedy.
    """
    return InputError(f"{file}, line {line}: {what}")


def check_tree(heads: list[int]) -> str | None:
    """Return the fault of basic dependencies, None if they are a tree with one root.

    Tokens with NO_HEAD are passed over. A head out of range is not looked for here.

    Arguments:
        heads: the head of each token, from 0; ROOT or NO_HEAD.
    """
    roots = heads.count(ROOT)
    if roots != 1:
        return f"{roots} roots, wanted one: give exactly one token the head 0"
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
