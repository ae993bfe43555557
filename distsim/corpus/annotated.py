"""Reads annotated files, with or without separate files of trees."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from distsim.base.arguments import one_or_many_paths
from distsim.base.distribution import how_to_install
from distsim.base.errors import InputError
from distsim.corpus import spacy_text, stanza_text
from distsim.corpus.annotation import AnnotatedSentence, fault
from distsim.corpus.blocks import read_blocks
from distsim.corpus.conllu import first_text, read_conllu
from distsim.corpus.sources import Source, find_sources
from distsim.corpus.toolkit import SEPARATOR, read_toolkit
from distsim.corpus.trees import read_trees


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
    some = False
    for sentence in sentences:
        some = True
        yield sentence
    if not some:
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
        f"annotate it: {install}{stanza_text.FETCH}, or, --with spacy, {spacy_text.FETCH}, to "
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
                    f"a tree of {len(tree.leaves)} leaves for the sentence of "
                    f"{len(sentence.words)} tokens at {sentence.file}, line {sentence.line}: "
                    "give each token one leaf",
                )  # fmt: skip
            sentence.nodes = tree.nodes
        yield sentence
    for tree, file, line in trees:
        if tree is not None:
            raise fault(
                file, line, f"a tree too many after {number} sentences: give one for each sentence"
            )
