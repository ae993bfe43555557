"""Writes the trees and the tags of an annotated file, a line a sentence, for a bitext."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from distsim.base.errors import InputError
from distsim.corpus.blocks import read_blocks
from distsim.corpus.sources import Source, find_sources
from distsim.storage.files import open_output

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
        annotated: CoNLL-U as `annotate` writes it.
        trees, tags: the files to write, compressed where their names end in .gz; tags are XPOS, or
            UPOS where that is missing, separated by spaces.
        lines_of: the tokenised text that was annotated, a sentence a line: line n of trees and
            tags then stands for its line n, an empty line for one without tokens.

    A sentence without a tree that fits its words has an empty line.

    Raises:
        InputError: the text is not the one that was annotated.
    """
    sentences = _sentences(annotated)
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


def _sentences(annotated: str | Path) -> Iterator[tuple[str, list[str]]]:
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
            found = next(sentences, ("", [])) if n_tokens else ("", [])
            if len(found[1]) != n_tokens:
                raise InputError(
                    f"{sources[block.source].label}, line {number}: {n_tokens} tokens, "
                    f"{len(found[1])} were annotated: annotate the text anew"
                )
            yield found
