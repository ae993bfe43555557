"""Reads annotated files, with or without separate files of trees.

The line format of the thesis's toolkit has one sentence a line: `parse ||| lemmas ||| token/NER
... ||| basic ||| collapsed ||| collapsed-propagated`; a dependency is `dependent-governor-type`,
in a newer version `type-governor-dependent`, tokens counted from 1, 0 the root. Words and parts of
speech are those of the parse.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import unescape

from distsim.base.arguments import one_or_many_paths
from distsim.base.errors import InputError, counted, how_to_install
from distsim.corpus import annotators
from distsim.corpus.annotation import (
    NO_HEAD,
    ROOT,
    AnnotatedSentence,
    Arc,
    Normalised,
    TreeReader,
    check_tree,
    fault,
    read_trees,
)
from distsim.corpus.conllu import first_text, read_conllu
from distsim.corpus.lines import Block, read_blocks
from distsim.corpus.sources import Source, find_sources
from distsim.storage.files import open_output

SEPARATOR = " ||| "
_FIELDS = 6
_ENTITIES = {"&quot;": '"', "&apos;": "'"}


def read_toolkit(blocks: Iterable[Block], sources: Sequence[Source]) -> Iterator[AnnotatedSentence]:
    """Yield the annotated sentences in the blocks of files in the toolkit's line format.

    A token that no basic dependency mentions (punctuation, in Stanford's) has no head.

    Arguments:
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
        raise ValueError(
            f"{counted(len(fields), 'field')}, wanted {_FIELDS} separated by |||: mend the line"
        )
    tree = trees.parse(fields[0])
    n = len(tree.leaves)
    lemmas = fields[1].split()
    entities = fields[2].split()
    if not len(lemmas) == len(entities) == n:
        raise ValueError(
            f"{counted(n, 'leaf', 'leaves')}, {counted(len(lemmas), 'lemma')} and "
            f"{counted(len(entities), 'entity class', 'entity classes')}: "
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


def read_annotated(
    paths: str | Path | Sequence[str | Path], *, trees: str | Path | Sequence[str | Path] = ()
) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of annotated files, in order.

    Arguments:
        paths: files or folders of CoNLL-U or of the toolkit's line format, distinguished by
            their first line, plain or compressed.
        trees: files of bracketed trees; line i of all of them together is the tree of
            sentence i, a blank line that of a sentence without one.

    Raises:
        InputError: a file cannot be read, a line is invalid, there is no sentence, or trees
            and sentences do not match; file and line are named.

    >>> _ = (folder / "r.conllu").write_text("1\\tHi\\thi\\tX\\tUH\\t_\\t0\\troot\\t_\\t_\\n\\n")
    >>> [sentence.words for sentence in read_annotated(folder / "r.conllu")]
    [['hi']]
    """
    sources = find_sources(one_or_many_paths(paths))
    sentences = _sentences(sources)
    tree_files = one_or_many_paths(trees, "trees") if trees else []
    if tree_files:
        sentences = _with_trees(sentences, find_sources(tree_files))
    has_sentences = False
    for sentence in sentences:
        has_sentences = True
        yield sentence
    if not has_sentences:
        names = ", ".join(source.path for source in sources)
        raise InputError(f"{names}: no annotated sentence: give CoNLL-U with tokens")


def _sentences(sources: Sequence[Source]) -> Iterator[AnnotatedSentence]:
    for source in sources:
        blocks = read_blocks([source])
        seen = []
        text, line = "", 0
        for block in blocks:
            seen.append(block)
            text, line = first_text(block)
            if text:
                break
        lines_of_toolkit = SEPARATOR in text and "\t" not in text
        if text and "\t" not in text and not lines_of_toolkit:
            raise fault(source.label, line, _plain_text())
        reader = read_toolkit if lines_of_toolkit else read_conllu
        yield from reader(chain(seen, blocks), [source])


def _plain_text() -> str:
    """Return the message on plain text given as annotated text, with the remedy."""
    if find_spec("stanza") or find_spec("spacy"):
        install = ""
    else:
        install = f"{how_to_install('stanza')} (or the extra spacy); "
    return (
        "plain text, wanted CoNLL-U (10 columns separated by tabs) or the toolkit's lines. To "
        f"annotate it: {install}{annotators.FETCH_STANZA}, or, --with spacy, "
        f"{annotators.FETCH_SPACY}, to "
        "`distsim annotate FILE -o FILE.conllu.gz`"
    )


def _with_trees(
    sentences: Iterator[AnnotatedSentence], tree_sources: Sequence[Source]
) -> Iterator[AnnotatedSentence]:
    trees = read_trees(tree_sources)
    number = 0
    for number, sentence in enumerate(sentences, 1):
        tree, file, line = next(trees, (None, "", 0))
        if not line:
            raise fault(
                sentence.file, sentence.line,
                f"sentence {number} has no tree, the files of trees hold {number - 1}: "
                "give a tree for each sentence",
            )  # fmt: skip
        if tree is not None:
            if len(tree.leaves) != len(sentence.words):
                raise fault(
                    file, line,
                    f"a tree of {counted(len(tree.leaves), 'leaf', 'leaves')} for the sentence of "
                    f"{counted(len(sentence.words), 'token')} at {sentence.file}, line "
                    f"{sentence.line}: "
                    "give each token one leaf",
                )  # fmt: skip
            sentence.nodes = tree.nodes
        yield sentence
    for tree, file, line in trees:
        if tree is not None:
            raise fault(
                file,
                line,
                f"a tree too many after {counted(number, 'sentence')}: give one for each sentence",
            )


_TREE = "# constituency = "


class Written(NamedTuple):
    """Numbers of lines written, and of those with words but without a tree (`treeless`)."""

    lines: int
    treeless: int


def write_line_files(
    annotated: str | Path,
    trees: str | Path | None = None,
    tags: str | Path | None = None,
    lines_of: Sequence[str | Path | Source] = (),
) -> Written:
    """Return the numbers of lines written: trees and part-of-speech tags of an annotated file.

    Arguments:
        trees, tags: the files to write, compressed where their names end in .gz; tags are XPOS, or
            UPOS where that is missing, separated by spaces.
        lines_of: the tokenised text that was annotated, a sentence a line: line n of trees and
            tags then stands for its line n, an empty line for one without tokens.

    A sentence without a tree that fits its words has an empty line.

    Raises:
        InputError: the text is not the one that was annotated.
    """
    sentences = _tokens_of_sentences(annotated)
    written = treeless = 0
    with ExitStack() as stack:
        out = [stack.enter_context(open_output(path)) if path else None for path in (trees, tags)]
        for tree, line_tags in _by_line(sentences, lines_of) if lines_of else sentences:
            for writer, line in zip(out, (tree, " ".join(line_tags)), strict=True):
                if writer is not None:
                    writer.write(line.encode() + b"\n")
            written += 1
            treeless += bool(line_tags and not tree)
    return Written(written, treeless)


def _tokens_of_sentences(annotated: str | Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (bracketed tree or nothing, tags) of every sentence."""
    tree, tags = "", []
    for block in read_blocks(find_sources([annotated])):
        for line in block.lines():
            if line.startswith(_TREE):
                tree = line[len(_TREE) :]
            elif line and line[0] != "#":
                columns = line.split("\t")
                if columns[0].isdecimal():
                    tags.append(columns[4] if columns[4] != "_" else columns[3])
            elif not line and tags:
                yield tree, tags
                tree, tags = "", []


def _by_line(
    sentences: Iterator[tuple[str, list[str]]], lines_of: Sequence[str | Path | Source]
) -> Iterator[tuple[str, list[str]]]:
    sources = find_sources(lines_of)
    for block in read_blocks(sources):
        for number, line in enumerate(block.lines(), block.first_line):
            n_tokens = len(line.split())
            annotated = next(sentences, ("", [])) if n_tokens else ("", [])
            if len(annotated[1]) != n_tokens:
                raise InputError(
                    f"{sources[block.source].label}, line {number}: {counted(n_tokens, 'token')}, "
                    f"{len(annotated[1])} were annotated: annotate the text anew"
                )
            yield annotated
