"""Paraphrases of a phrase under the labels that it has in its sentence (Callison-Burch 2008)."""

import math
from collections import defaultdict
from typing import get_args

from distsim.base.arguments import LabelChoice, one_of
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.corpus.annotation import Tree, TreeReader
from distsim.grammar.extraction.linked_text import labels_of_spans
from distsim.grammar.packs.grammar_index import GrammarIndex, PackedRule

_P = "p(e|f,LHS)"


def phrase_labels(tree: Tree | str, phrase: str) -> list[str]:
    """Return all labels of a phrase in a tree, sorted: X, X/Y, X\\Y, X+Y and X+Y+Z.

    Arguments:
        tree: of a sentence, bracketed. phrase: words of it, as the tree has them; upper and lower
            case are one.

    Raises:
        ParameterError: the tree is broken, or the phrase is not in it.

    >>> phrase_labels("(S (NP (DT the) (NN king)) (VP (VBD slept)))", "the king")
    ['DT+NN', 'NP', 'S/VBD', 'S/VP']
    """
    if isinstance(tree, str):
        try:
            tree = TreeReader().parse(tree)
        except ValueError as error:
            raise ParameterError(f"the tree is broken: {error}") from None
    words, leaves = phrase.lower().split(), [leaf.lower() for leaf in tree.leaves]
    labels, n = labels_of_spans(tree), len(words)
    starts = [k for k in range(len(leaves) - n + 1) if words and leaves[k : k + n] == words]
    if not starts:
        raise ParameterError(f"{phrase!r} is not in the tree: give words as the tree has them")
    return sorted({label for k in starts for label in labels.get((k, k + n), ())})


def labelled_rules(
    index: GrammarIndex,
    source: str,
    tree: Tree | str | None,
    choice: LabelChoice = "best",
    *,
    size: str = "XXXL",
) -> Results[PackedRule]:
    """Return the best rule of each target of a phrase, the most probable first; `cost` is -ln p.

    Arguments:
        source: the phrase; in lower case where the grammar lacks it as it is, since sentences begin
            with capitals. tree: of its sentence; None with `any`.
        choice: p of a target is the largest p(e2|e1,s) of the labels s of the phrase in its tree
            (`best`, equation 8), their mean (`average`, 9), or that of any label (`any`, 10).
        size: only rules of this pack.

    Raises:
        ParameterError: the tree is broken or lacks the phrase, or there is none.
    """
    one_of(choice, get_args(LabelChoice), "choice")
    rules = index.rules(source, size=size) or index.rules(source.lower(), size=size)
    n_labels = 1
    if choice != "any":
        if tree is None:
            raise ParameterError(f"the labels of {source!r} are those of a tree: give `tree`")
        labels = phrase_labels(tree, source)
        rules = Results(rule for rule in rules if rule.label in labels)
        n_labels = max(1, len(labels))
    by_target: dict[str, list[PackedRule]] = defaultdict(list)
    for rule in rules:
        if rule.target != rule.source and _P in rule.features:
            by_target[rule.target].append(rule)
    chosen = []
    for same in by_target.values():
        best = min(same, key=lambda rule: (rule.features[_P], rule.label))
        p = sum(math.exp(-rule.features[_P]) for rule in same) / n_labels
        cost = -math.log(p) if choice == "average" and p > 0 else best.features[_P]
        chosen.append(best._replace(cost=cost))
    return Results(sorted(chosen, key=lambda rule: (rule.cost, rule.target)))
