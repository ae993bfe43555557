"""Copies of a parsed sentence in which one phrase is replaced by its label.

ParaMeTer (Madsen 2006, section 6): noun phrases, prepositional phrases, relative and complement
clauses; one at a time, since two labels alike could not be told apart afterwards.
"""

from collections.abc import Iterator
from typing import NamedTuple

from distsim.corpus.trees import Tree
from distsim.paraphrase.rewriting.sentence import Sentence

KINDS = ("NP", "PP", "SBAR")  # relative and complement clauses are both SBAR


class Hidden(NamedTuple):
    """A copy of a sentence; place: of the label among its tokens; words: what it hides."""

    sentence: Sentence
    place: int
    words: tuple[str, ...]


def hidden(sentence: Sentence) -> Iterator[Hidden]:
    """Yield a copy of a sentence for each phrase of two tokens or more; none without a tree.

    >>> tree = "(S (NP (DT the) (NN king)) (VP (VBD slept)))"
    >>> for one in hidden(Sentence("the king slept", tree)):
    ...     print(one.sentence.tokens, one.words, sorted(one.sentence.labels[0, 1]))
    ['[NP]', 'slept'] ('the', 'king') ['NP', 'S/VBD', 'S/VP']
    """
    tree = sentence.tree
    if tree is None:
        return
    spans = dict.fromkeys((a, b, label) for a, b, label in tree.nodes if label in KINDS)
    for start, stop, label in spans:
        if stop - start < 2 or stop - start == len(sentence):
            continue
        token = f"[{label}]"
        tokens = [*sentence.tokens[:start], token, *sentence.tokens[stop:]]
        if tokens.count(token) > 1:
            continue
        copy = Sentence(" ".join(tokens), _shrunk(tree, start, stop, token, label))
        copy.escapes = sentence.escapes
        yield Hidden(copy, start, tuple(sentence.tokens[start:stop]))


def _shrunk(tree: Tree, start: int, stop: int, token: str, label: str) -> Tree:
    """Return a tree in which the tokens start..stop are one."""

    def place(at: int) -> int:
        return at if at <= start else max(at - (stop - start - 1), start + 1)

    nodes = [
        node._replace(start=place(node.start), stop=place(node.stop))
        for node in tree.nodes
        if not (start <= node.start and node.stop <= stop)
        or (node.start, node.stop) == (start, stop)
    ]
    leaves = [*tree.leaves[:start], token, *tree.leaves[stop:]]
    tags = [*tree.tags[:start], label, *tree.tags[stop:]]
    return Tree(nodes, leaves, tags)
