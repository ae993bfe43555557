"""Reads the line format of the thesis's toolkit as annotated sentences.

One sentence a line: `parse ||| lemmas ||| token/NER ... ||| basic ||| collapsed |||
collapsed-propagated`; a dependency is `dependent-governor-type`, in a newer version
`type-governor-dependent`, tokens counted from 1, 0 the root. Words and parts of speech are
those of the parse.
"""

from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import unescape

from distsim.corpus.annotation import (
    NO_HEAD,
    ROOT,
    AnnotatedSentence,
    Arc,
    Normalised,
    check_tree,
    fault,
)
from distsim.corpus.blocks import Block
from distsim.corpus.sources import Source
from distsim.corpus.trees import TreeReader

SEPARATOR = " ||| "
_FIELDS = 6
_ENTITIES = {"&quot;": '"', "&apos;": "'"}


def read_toolkit(blocks: Iterable[Block], sources: Sequence[Source]) -> Iterator[AnnotatedSentence]:
    """Yield the annotated sentences in the blocks of files in the toolkit's line format.

    A token that no basic dependency mentions (punctuation, in Stanford's) has no head.

    Arguments:
        blocks: of whole lines.
        sources: the files; a block's `source` is an index into it.

    Raises:
        InputError: a line is not in this format; file and line are named.
    """
    normal = Normalised()
    trees = TreeReader()
    for block in blocks:
        file = sources[block.source].path
        for line, text in enumerate(block.lines(), block.first_line):
            if text.strip():
                try:
                    yield _sentence(text.rstrip("\r"), normal, trees, file, line)
                except ValueError as error:
                    raise fault(file, line, str(error)) from None


def _sentence(
    text: str, normal: Normalised, trees: TreeReader, file: str, line: int
) -> AnnotatedSentence:
    fields = [field.strip() for field in unescape(text, _ENTITIES).split("|||")]
    if len(fields) < _FIELDS:
        raise ValueError(f"{len(fields)} fields, wanted {_FIELDS} separated by |||: mend the line")
    tree = trees.parse(fields[0])
    n = len(tree.leaves)
    lemmas = fields[1].split()
    entities = fields[2].split()
    if not len(lemmas) == len(entities) == n:
        raise ValueError(
            f"{n} leaves, {len(lemmas)} lemmas and {len(entities)} entity classes: "
            "give each token one of each"
        )
    heads = [NO_HEAD] * n
    types = ["_"] * n
    for arc in _arcs(fields[3], n):
        if heads[arc.dependent] != NO_HEAD:
            raise ValueError(f"token {arc.dependent + 1} has two basic heads: leave one")
        heads[arc.dependent] = arc.governor
        types[arc.dependent] = arc.type
    if heads.count(NO_HEAD) < n and (wrong := check_tree(heads)):
        raise ValueError(wrong)
    return AnnotatedSentence(
        [normal[leaf] for leaf in tree.leaves],
        [normal[lemma] for lemma in lemmas],
        tree.tags,
        [normal[entity.rpartition("/")[2]] for entity in entities],
        heads,
        types,
        collapsed=_arcs(fields[4], n),
        propagated=_arcs(fields[5], n),
        nodes=tree.nodes,
        file=file,
        line=line,
    )


def _arcs(field: str, n: int) -> list[Arc]:
    arcs = []
    for entry in field.split():
        first, _, rest = entry.partition("-")
        if first.isdecimal():
            dependent = first
            governor, _, kind = rest.partition("-")
        else:
            rest, _, dependent = entry.rpartition("-")
            kind, _, governor = rest.rpartition("-")
        try:
            arc = Arc(int(dependent) - 1, int(governor) - 1, kind)
        except ValueError:
            raise ValueError(
                f"dependency {entry!r}: write dependent-governor-type or type-governor-dependent"
            ) from None
        if not (kind and 0 <= arc.dependent < n and ROOT <= arc.governor < n):
            raise ValueError(
                f"dependency {entry!r}, wanted tokens of 1 to {n}, or 0 for the root: mend it"
            )
        if arc.dependent == arc.governor:
            raise ValueError(f"dependency {entry!r} of a token on itself: mend it")
        arcs.append(arc)
    return arcs
