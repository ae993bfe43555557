"""Builds bitexts from two files and files of links, trees and tags."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.errors import ParameterError
from distsim.base.parallel import Progress, no_progress
from distsim.bitext.aligner import AlignerOptions, Sentences, learn_links
from distsim.bitext.annotation import tags_for, trees_for
from distsim.bitext.bitext import Bitext
from distsim.bitext.links import links_for
from distsim.bitext.reading import BitextOptions, Pairs, ReadSide, find_pair, read_pairs
from distsim.corpus.sources import find_file
from distsim.kernels.compiled import frozen


class Given(NamedTuple):
    """Files of links, trees and tags, a line a pair.

    links: Pharaoh's, `English-other` from 0, or `other-English` where reversed_links; without
    them links are learned.
    trees: bracketed, of the English side. tags: of each English token.
    """

    links: str | Path | None = None
    trees: str | Path | None = None
    tags: str | Path | None = None
    reversed_links: bool = False


def build_bitext(
    english: str | Path,
    other: str | Path,
    path: str | Path,
    *,
    options: BitextOptions | None = None,
    given: Given | None = None,
    aligner: AlignerOptions | None = None,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Bitext:
    """Return the bitext made of two files and written to `path`.

    Arguments:
        english, other: files with a sentence a line; one may be standard input (`-`).
        path: folder of the bitext.
        options: how lines become tokens.
        given: files of links, trees and tags.
        aligner: how links are learned where none are given; they are learned of lower-case words.
        jobs: threads, all cores where None; the result does not depend on it.
        progress: called with the stage and the number of tokens or sweeps.

    Raises:
        InputError: a file is missing, unreadable or not UTF-8; the files do not go together;
            links, trees or tags are not those of the pairs.
        ArtifactError: something that is no bitext exists at `path`, or it is being written.
        ParameterError: the normaliser drops tokens, and there are links, trees or tags.

    >>> _ = (folder / "en").write_text("the house\\nthe cat\\na cat\\n")
    >>> _ = (folder / "de").write_text("das haus\\ndie katze\\neine katze\\n")
    >>> bitext = build_bitext(folder / "en", folder / "de", folder / "en-de.bitext")
    >>> len(bitext), bitext.lines.tolist()
    (3, [1, 2, 3])
    """
    options = options or BitextOptions()
    given = given or Given()
    if options.normaliser.drops and (given.links or given.trees or given.tags):
        raise ParameterError(
            "links, trees and tags are of the tokens as read: a normaliser that drops tokens "
            "cannot go with them; keep punctuation and digits"
        )
    find_pair(english, other)
    for file in (given.links, given.trees, given.tags):
        if file is not None:
            find_file(file)
    with storage.create(path, storage.BITEXT) as writer:
        pairs = read_pairs(english, other, options, jobs=jobs, progress=progress)
        writer.parameters = {**options.manifest(), "counts": pairs.counts.manifest()}
        _write_side(writer, "english", pairs.english)
        _write_side(writer, "other", pairs.other)
        writer.add("lines", pairs.lines)
        if given.trees is not None:
            _write_trees(writer, given.trees, pairs, options)
        if given.tags is not None:
            _write_tags(writer, given.tags, pairs)
        if given.links is not None:
            _write_given_links(writer, given.links, pairs, given.reversed_links)
        else:
            _write_learnt_links(writer, aligner or AlignerOptions(), pairs, jobs, progress)
    return Bitext.open(path)


def _write_side(writer: storage.ArtifactWriter, name: str, side: ReadSide) -> None:
    writer.add(f"{name}/tokens", side.tokens)
    writer.add(f"{name}/starts", _starts(side.lengths))
    for part, values in side.vocabulary.arrays().items():
        writer.add(f"{name}/vocabulary/{part}", values)


def _write_given_links(
    writer: storage.ArtifactWriter, path: str | Path, pairs: Pairs, reversed_links: bool
) -> None:
    links = links_for(path, pairs, reversed_links)
    writer.add("links/pairs", links.pairs.astype(np.uint8))
    writer.add("links/starts", links.starts.astype(np.uint64))
    writer.parameters["links"] = {
        "from": "file",
        "links": len(links.pairs),
        "possible": int(np.count_nonzero(links.possible)),
    }


def _write_learnt_links(
    writer: storage.ArtifactWriter, aligner: AlignerOptions, pairs: Pairs, jobs: int | None,
    progress: Progress,
) -> None:  # fmt: skip
    english, other = _in_lower_case(pairs.english), _in_lower_case(pairs.other)
    links = learn_links(english, other, aligner, jobs=jobs, progress=progress)
    writer.add("links/pairs", links.pairs)
    writer.add("links/starts", links.starts)
    writer.parameters["links"] = {
        "from": "aligner",
        "links": len(links.pairs),
        **aligner.manifest(),
    }


def _in_lower_case(side: ReadSide) -> Sentences:
    """Return a side for the aligner, with words folded to lower case."""
    numbers: dict[str, int] = {}
    words = [numbers.setdefault(t.decode().lower(), len(numbers)) for t in side.vocabulary.texts(1)]
    renumbered = np.array([0, *words], np.uint32)
    starts = np.concatenate([[0], np.cumsum(side.lengths)])
    return Sentences(frozen(renumbered[side.tokens]), frozen(starts), len(numbers))


def _write_trees(
    writer: storage.ArtifactWriter, path: str | Path, pairs: Pairs, options: BitextOptions
) -> None:
    trees = trees_for(path, pairs, options.normaliser)
    writer.add("trees/text", np.frombuffer(trees.text, np.uint8))
    writer.add("trees/starts", _starts(trees.lengths))
    labels = json.dumps(trees.labels, ensure_ascii=False).encode()
    writer.add("trees/labels", np.frombuffer(labels, np.uint8))
    writer.add("trees/span_labels", trees.span_labels)
    writer.add("trees/span_bounds", trees.span_bounds)
    writer.add("trees/span_starts", _starts(trees.span_lengths))
    writer.parameters["trees"] = {
        "trees": len(trees.lengths) - trees.missing - trees.unlike,
        "missing": trees.missing,
        "unlike": trees.unlike,
    }


def _write_tags(writer: storage.ArtifactWriter, path: str | Path, pairs: Pairs) -> None:
    tags = tags_for(path, pairs)
    writer.add("tags/numbers", tags.numbers)
    for part, values in tags.vocabulary.arrays().items():
        writer.add(f"tags/vocabulary/{part}", values)
    writer.parameters["tags"] = {"missing": tags.missing, "unlike": tags.unlike}


def _starts(lengths: Any) -> np.ndarray:
    """Return the start of each item by its length, and the end of the last, uint64[n + 1]."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))]).astype(np.uint64)
