"""Documents of an index with their text: shown, passages of them, and taken out of the index."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.arguments import (
    AnyPath,
    one_or_many_texts,
    one_path,
    one_text,
    plain_count,
    whole_number,
)
from distsim.base.errors import ParameterError
from distsim.base.parallel import Progress, Run, no_progress
from distsim.corpus.documents import Document
from distsim.corpus.duplicates import digests_from_manifest
from distsim.corpus.sources import Source
from distsim.indexes.build import BuildReport, IndexBuilder
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.indexes.shard import Shard, damaged
from distsim.indexes.written import written_text
from distsim.kernels.arrays import each_once

_BATCH = 500  # documents whose fields are read at once


class StoredDocument(NamedTuple):
    """A document of an index.

    Attributes:
        id: its id, its number from 1 where none was given.
        fields: values by name.
        source, line: where it begins.
        text: as it was written, lines that were dropped as repeated left out; where the index does
            not keep it, the normalised words, a sentence a line.

    >>> read_document(index, "1").text[:22]
    'CHAPTER I. Down the Ra'
    """

    id: str
    fields: dict[str, Any]
    source: str
    line: int
    text: str


def read_document(index: CorpusIndex | AnyPath, id_: str) -> StoredDocument:
    """Return a document of an index.

    Arguments:
        id_: its id, or a place in it, FILE:LINE as a concordance prints it.

    Raises:
        ParameterError: there is none.

    >>> read_document(index, "1").source
    'alice.txt'
    """
    index = opened_index(index)
    (number,) = _document_numbers(index, [one_text(id_, "id_")])
    ((name, fields),) = index.metadata.rows(number, number + 1)
    if index.kept_documents is not None and not index.kept_documents[number]:
        raise ParameterError(f"{id_}: is not among the documents that `where` or `within` chooses")
    begin, end = index.document_edges[number : number + 2].tolist()
    pieces = list(_pieces(index, begin, end))
    sources, lines = pieces[0][0].places(np.array([begin - pieces[0][0].first_position]))
    text = "".join(_text(index, *piece)[0] for piece in pieces)
    return StoredDocument(
        name, fields, index.source(int(sources[0])), int(lines[0]), text.strip("\n")
    )


def passage(index: CorpusIndex | AnyPath, position: int, sentences: int = 2) -> str:
    """Return the text around a position in the corpus, within its document.

    >>> passage(index, index.positions("mock turtle")[0], 0)[:16]
    'The Mock Turtle’'
    """
    index = opened_index(index)
    whole_number(sentences, "`sentences`", 0)
    edges = index.document_edges
    position = whole_number(position, "`position`", 0, int(edges[-1]) - 1)
    number = int(np.searchsorted(edges, position, "right")) - 1
    pieces = list(_pieces(index, int(edges[number]), int(edges[number + 1])))
    before = sum(
        int(
            np.searchsorted(
                shard.sentence_starts[first:stop], position - shard.first_position, "right"
            )
        )
        for shard, first, stop in pieces
        if position >= shard.first_position
    )  # the sentences of the document up to that of the position
    low, high = before - 1 - sentences, before + sentences
    texts = []
    for shard, first, stop in pieces:
        positions = first + max(0, low), min(stop, first + high)
        if positions[0] < positions[1]:
            texts.append(_text(index, shard, *positions)[0])
        low, high = low - (stop - first), high - (stop - first)
    return "".join(texts).strip("\n")


def remove_documents(
    path: AnyPath,
    ids: Sequence[str],
    *,
    jobs: int | None = None,
    progress: Progress = no_progress,
    memory: int | None = None,
) -> BuildReport:
    """Return the report of building an index again from the stored text of all but some documents.

    Ids of the others stay. Tables inside the index, which know the documents, are removed.

    Arguments:
        ids: of the documents, or places in them, FILE:LINE.
        jobs: threads, all cores where None; the result does not depend on it.
        progress: called with the stage and the number of tokens.
        memory: bytes, half of what is free where None.

    Raises:
        ParameterError: there is no such document, no other one, or the text is not stored.
        ArtifactError: the index is being written.
    """
    path = one_path(path)
    with storage.change(path, storage.INDEX) as writer:
        index = CorpusIndex(storage.Artifact(path, storage.INDEX))
        numbers = _document_numbers(index, one_or_many_texts(ids, "ids"))
        kept = np.ones(len(index.metadata), bool)
        kept[numbers] = False
        without_text = not all(shard.written for shard in index.shards)
        if without_text or index.layers is not None or not kept.any():
            reason = (
                "the text as written is not stored" if without_text
                else "the lemmas and tags of other documents would be lost" if kept.any()
                else "no document would be left"
            )  # fmt: skip
            raise ParameterError(f"{path}: {reason}: build the index again without these documents")
        if kept.all():
            writer.keep_as_it_is()
            return BuildReport()
        digests = digests_from_manifest(writer.parameters.get("texts"), index.n_sources)
        sources, kept_digests = [], []
        for number, documents in _of_sources(index, kept):
            read = partial(_documents, index, documents)
            sources.append(Source(index.source(number), "", str(path), documents=read))
            kept_digests.append(digests[number])
        writer.entries.clear()
        writer.parameters, writer.made_from = {}, ""
        builder = IndexBuilder(
            writer, index.options, Run(jobs, memory, progress), lambda said: None
        )
        builder.metadata.needs_all_types = False  # of fields that were those of removed documents
        builder.read(sources)
        builder.digests = kept_digests
        builder.finish()
    for inside in path.iterdir():
        if inside.is_dir():
            storage.remove_artifact(inside)
    return BuildReport()


def _document_numbers(index: CorpusIndex, ids: Sequence[str]) -> list[int]:
    """Return the numbers of documents, by their ids or by places in them."""
    numbers = index.metadata.numbers(ids).tolist()
    return [
        _number_by_place(index, id_) if number < 0 else number
        for id_, number in zip(ids, numbers, strict=True)
    ]


def _number_by_place(index: CorpusIndex, id_: str) -> int:
    """Return the number of the document with a line of a file, FILE:LINE."""
    name, _, digits = id_.rpartition(":")
    line = plain_count(digits)
    if line is not None:
        for shard in index.shards:
            stops = np.append(shard.source_starts[1:], shard.sentence_starts.size).tolist()
            for source, first, stop in zip(
                shard.source_numbers.tolist(), shard.source_starts.tolist(), stops, strict=True
            ):
                sentences_of_line = np.flatnonzero(shard.sentence_lines[first:stop] == line)
                if sentences_of_line.size and index.source(source) == name:
                    at = (
                        int(shard.sentence_starts[first + sentences_of_line[0]])
                        + shard.first_position
                    )
                    return int(np.searchsorted(index.document_edges, at, "right")) - 1
    raise ParameterError(
        f"{index.path}: no document has the id {id_!r}, nor a sentence at such a FILE:LINE: "
        "take one of the last from a concordance"
    )


def _pieces(index: CorpusIndex, begin: int, end: int) -> Iterator[tuple[Shard, int, int]]:
    """Yield (shard, first sentence, sentence behind the last) of the text at positions."""
    for shard in index.shards:
        starts = shard.sentence_starts
        edges = np.clip(np.array([begin, end]) - shard.first_position, 0, shard.n_positions)
        first, stop = np.searchsorted(starts, edges.astype(starts.dtype)).tolist()
        if first < stop:
            yield shard, first, stop


def _text(index: CorpusIndex, shard: Shard, first: int, stop: int) -> tuple[str, np.ndarray]:
    """Return (the text of sentences, the number of the line of each of its lines)."""
    numbers = shard.sentence_lines[first:stop].astype(np.int64)
    if shard.written is None:
        sentences = [
            shard.words_at(int(begin), int(begin) + int(length))
            for begin, length in zip(
                shard.sentence_starts[first:stop].tolist(),
                shard.sentence_lengths()[first:stop].tolist(),
                strict=True,
            )
        ]
        words = (map(index.vocabulary.word, sentence.tolist()) for sentence in sentences)
        return "\n".join(map(" ".join, words)) + "\n", numbers
    try:
        written, starts = shard.written.passage(first, stop)
        text = written.decode()
        text = text if shard.analyses is None else written_text(text)
    except ValueError:
        raise damaged(index.path) from None
    ends = np.flatnonzero(np.frombuffer(written, np.uint8) == ord("\n"))
    of_sentences = np.searchsorted(ends, starts)
    lines = np.arange(ends.size + 1)
    at = np.searchsorted(of_sentences, lines, "right") - 1
    return text, numbers[at] + lines - of_sentences[at]


def _of_sources(index: CorpusIndex, kept: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (number of a source, numbers of its documents that are kept), in order."""
    edges = index.document_edges
    firsts = [shard.first_position for shard in index.shards]
    owners = np.searchsorted(firsts, edges[:-1], "right") - 1
    sources = np.empty(kept.size, np.int64)
    for number, shard in enumerate(index.shards):
        mine = owners == number
        sources[mine] = shard.places(edges[:-1][mine] - shard.first_position)[0]
    for source in each_once(sources[kept]).tolist():
        yield source, np.flatnonzero(kept & (sources == source))


def _documents(index: CorpusIndex, numbers: np.ndarray, source: Source) -> Iterator[Document]:
    """Yield documents of a source as they were read, with their ids.

    Arguments:
        numbers: int64, of the documents, ascending.
    """
    rows: list[tuple[str, dict[str, Any]]] = []
    first = 0
    for number in numbers.tolist():
        if not rows or number >= first + len(rows):
            first, rows = number, index.metadata.rows(number, number + _BATCH)
        begin, end = index.document_edges[number : number + 2].tolist()
        texts, lines = zip(
            *(_text(index, *piece) for piece in _pieces(index, begin, end)), strict=True
        )
        id_, fields = rows[number - first]
        # The last line of a piece, perhaps empty, goes on in the next one.
        joined = np.concatenate([*(ends[:-1] for ends in lines[:-1]), lines[-1]])
        text = "".join(texts).rstrip("\n")  # a blank line is put between documents
        yield Document(text, id_, fields, joined[: text.count("\n") + 1].tolist())
