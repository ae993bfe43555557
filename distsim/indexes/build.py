"""Builds indexes: vocabulary, shards of sorted suffixes, sources."""

import json
import pickle
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, get_args
from warnings import warn

import numpy as np

from distsim import storage
from distsim.base.arguments import (
    AnyPath,
    Dedup,
    FieldType,
    FileFormat,
    Paths,
    TextFormat,
    check_types,
    one_or_many_paths,
    one_path,
    whole_number,
)
from distsim.base.errors import InputError, ParameterError, counted
from distsim.base.parallel import Run, memory_to_use, ordered_map
from distsim.corpus.documents import (
    FORM,
    FORM_ENDS,
    ID_FIELD,
    NO_ID,
    FileFields,
    document_blocks,
    read_file_fields,
    without_id,
)
from distsim.corpus.duplicates import (
    Duplicate,
    Grown,
    HashedTexts,
    KnownTexts,
    NearDuplicates,
    NearOptions,
    Repeated,
    RunningDigest,
    TextDigest,
    digest_of,
    digests_from_manifest,
    digests_to_manifest,
)
from distsim.corpus.kernels import hash_lines, lay_sentences
from distsim.corpus.lines import TEXT_LINE_BYTES, Block, read_blocks
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.plain_text import format_doubts
from distsim.corpus.readers import READERS, find_documents
from distsim.corpus.readers.reader import ReadOptions
from distsim.corpus.sources import (
    Source,
    find_sources,
    find_texts,
    is_regular,
    spooled_sources,
)
from distsim.corpus.tokeniser import TEXT_FORMATS, Cut, cut
from distsim.corpus.vocabulary import (
    DROPPED,
    HashNumbering,
    Vocabulary,
    VocabularyBuilder,
    WordNumbering,
)
from distsim.indexes.layers import (
    ALWAYS,
    ANNOTATED,
    LAYERS,
    Layers,
    LayersBuilder,
    folded_distances,
)
from distsim.indexes.metadata import ARRAY as DOCUMENTS
from distsim.indexes.metadata import Metadata, MetadataWriter
from distsim.indexes.shard import MAX_TOKENS, build_suffix_array
from distsim.indexes.written import WrittenText, WrittenTextWriter
from distsim.kernels.arrays import each_once
from distsim.kernels.compiled import frozen
from distsim.kernels.suffixes import count_words, hash_sentences
from distsim.storage import checksum_of_settings

DEDUPS: tuple[str, ...] = get_args(Dedup)
FILE_FORMATS: tuple[str, ...] = get_args(FileFormat)
DEFAULT_SHARD_TOKENS = 128_000_000
_SUM = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True)
class IndexOptions:
    """Settings of an index; stored in its manifest and reused by `index add`.

    Arguments:
        text_format: `lines` (tokenised, a sentence a line) or `text` (running text).
        normaliser: what happens to every token.
        dedup: `exact` drops a line whose words were seen before in the same order; `near` a
            document that shares most of its runs of words with an earlier one, `near-lines` such a
            line.
        near: when documents or lines are near-duplicates.
        as_is: take text that looks like HTML, XML, JSON or a table, which is refused otherwise.
        file_format: of the files, one of the choices of `--format`; `text` and `lines` are plain
            text, `auto` each file's own.
        columns: names of the columns of vertical files, such as word,tag,lemma; guessed where None.
        document_name: the structure of vertical files that is a document; guessed where None.
        leave_out: elements of XML that are not read, in place of the usual ones.
        encoding: of the text, such as cp1252; UTF-8 where None.
        text_field, id_field: the fields of a record that have its text and its id.
        skip_broken: leave out broken records and count them, instead of stopping.
        shard_tokens: a shard is closed before it would grow past this number of tokens; more
            tokens a shard take more memory to sort (24 bytes each) and answer faster.
        text: keep the text as it was written, which concordances show; 2 bytes a token.
        types: of the fields of documents, by name: `int`, `float`, `date` or `text`; others are
            inferred from all values. A value that does not fit is missing.
        metadata: path of a table of the fields of files, a row each; each file is then one
            document. It is read while the index is built.

    Raises:
        ParameterError: a value is not one of the choices, or options exclude each other.

    >>> IndexOptions("text", dedup="exact").dedup
    'exact'
    """

    text_format: TextFormat = "lines"
    _: KW_ONLY
    normaliser: Normaliser = field(default_factory=Normaliser)
    dedup: Dedup = "off"
    near: NearOptions = field(default_factory=NearOptions)
    shard_tokens: int = DEFAULT_SHARD_TOKENS
    as_is: bool = False
    file_format: FileFormat = "text"
    text_field: str | None = None
    id_field: str | None = None
    skip_broken: bool = False
    columns: str | None = None
    document_name: str | None = None
    leave_out: str | None = None
    encoding: str | None = None
    text: bool = True
    types: Mapping[str, FieldType] = field(default_factory=dict)
    metadata: str | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if self.text_format not in TEXT_FORMATS:
            raise ParameterError(f"`text_format` is {self.text_format!r}, choose lines or text")
        if self.file_format not in FILE_FORMATS:
            raise ParameterError(
                f"`file_format` is {self.file_format!r}, choose one of {', '.join(FILE_FORMATS)}"
            )
        reader = READERS.get(self.file_format)
        if reader is not None and self.text_format not in reader.text_formats:
            raise ParameterError("`text_format` is 'text', annotated text wants lines")
        if self.dedup not in DEDUPS:
            raise ParameterError(f"`dedup` is {self.dedup!r}, choose one of {', '.join(DEDUPS)}")
        for name, field_name in (("text_field", self.text_field), ("id_field", self.id_field)):
            if field_name == "":
                raise ParameterError(f"`{name}` is empty: name a field, or leave it out")
        whole_number(self.shard_tokens, "`shard_tokens`", 2, MAX_TOKENS)

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a manifest."""
        return {
            "format": self.text_format,
            "normaliser": self.normaliser.manifest(),
            "dedup": self.dedup,
            **({"near": self.near.manifest()} if self.dedup in NEAR else {}),
            "shard_tokens": self.shard_tokens,
            **self._reading(),
            **({"text": True} if self.text else {}),
            **({"types": dict(self.types)} if self.types else {}),
        }

    def _reading(self) -> dict[str, Any]:
        """Return the settings of reading that are not the usual ones."""
        values = {name: getattr(self, name) for name in _READING}
        return {name: value for name, value in values.items() if value not in (None, False, "text")}

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "IndexOptions":
        """Return the options that a manifest describes.

        Arguments:
            values: as `manifest` returns them.
        """
        return cls(
            values["format"],
            normaliser=Normaliser.from_manifest(values["normaliser"]),
            # Earlier versions had another `near`, without settings: repeated lines they drop too.
            dedup=values["dedup"] if "near" in values or values["dedup"] not in NEAR else "exact",
            near=NearOptions(**values.get("near", {})),
            shard_tokens=values["shard_tokens"],
            text=bool(values.get("text", False)),
            types=values.get("types", {}),
            **{name: values[name] for name in _READING if name in values},
        )

    def sources(
        self, corpus: Sequence[str | Path | Source], path: Path, read: ReadOptions
    ) -> list[Source]:
        """Return the files of a corpus, those that are not plain text with their documents.

        Arguments:
            corpus: paths. path: of the index, which is passed over in a folder. read: how
                documents are read, as `reading` returns it.
        """
        return find_documents(corpus, self.file_format, read, self.as_is, [path])

    def reading(self) -> ReadOptions:
        """Return the settings of the readers of documents, for one run."""
        return ReadOptions(
            self.text_field, self.id_field, self.skip_broken, self.text_format, self.columns,
            self.document_name, self.leave_out, self.encoding,
        )  # fmt: skip

    @property
    def is_annotated(self) -> bool:
        """Whether the index has lemmas and tags."""
        reader = READERS.get(self.file_format)
        return reader is not None and reader.annotates and self.text_format == "lines"


NEAR = ("near", "near-lines")
_READING = (
    "as_is", "file_format", "text_field", "id_field", "skip_broken", "columns", "document_name",
    "leave_out", "encoding",
)  # fmt: skip
OF_SENTENCES = "sentences:"  # how the checksum of an index's text begins
# What is counted while building; kept in the manifest, summed over `index add`.
COUNTS = ("tokens", "sentences", "documents", "lines", "dropped_lines", "dropped_tokens")
_SORTING_BYTES = 24  # a token, while a shard is sorted


@dataclass(frozen=True)
class BuildReport:
    """Result of building an index or adding to it.

    added: files that were read. repeated: files that were passed over, because their text is in
    the index already. read: how documents were read, with counts of those that were left out.
    duplicates: near-duplicates that were dropped, with what they nearly repeat.
    """

    added: int = 0
    repeated: tuple[Repeated, ...] = ()
    read: ReadOptions = field(default_factory=ReadOptions)
    duplicates: tuple[Duplicate, ...] = ()


def build_index(
    corpus: Sequence[str | Path | Source],
    path: AnyPath,
    options: IndexOptions | None = None,
    *,
    force: bool = False,
    run: Run = Run(),
    notice: Callable[[str], object] = warn,
) -> BuildReport:
    """Return the report of indexing paths, or sources with names of their own.

    Arguments:
        corpus: the paths and sources.
        path: folder of the index.
        options: how the text becomes an index.
        force: replace an index that exists at `path`, and what was signed into it.
        run: a shard is closed before sorting it would take more memory; half of what is free where
            None.
        notice: called with a sentence where the text does not fit `options`.

    Raises:
        InputError: a source is missing, unreadable or not UTF-8, or there is no token in all.
        ArtifactError: something is at `path` already, or it is being written.
    """
    path = one_path(path)
    options = options or IndexOptions()
    read = options.reading()
    sources = options.sources(corpus, path, read)
    storage.require_free(path, force)
    with storage.create(path, storage.INDEX, continues=True) as writer:
        builder = IndexBuilder(writer, options, run, notice)
        builder.read(sources)
        builder.finish()
        report = BuildReport(len(sources), read=read, duplicates=tuple(builder.duplicates))
    for inside in path.iterdir():  # signed into the index that was replaced
        if inside.is_dir():
            storage.remove_artifact(inside)
    return report


def build_part(corpus: Paths, path: AnyPath, options: IndexOptions, seen_lines: np.ndarray) -> None:
    """Build the index of a part of a text that is indexed in parts, in this thread.

    Arguments:
        corpus: paths of plain text.
        path: folder of the index.
        options: how the text becomes an index.
        seen_lines: uint64, of `line_hashes`: lines of earlier parts, which are dropped here.

    Raises:
        InputError: a source is missing, unreadable or not UTF-8, or there is no token in all.
        ArtifactError: something is at `path` already, or it is being written.
    """
    path = one_path(path)
    sources = find_texts(one_or_many_paths(corpus, "corpus"), options.as_is, [path])
    with storage.create(path, storage.INDEX) as writer:
        options = replace(options, text=False)
        builder = IndexBuilder(writer, options, Run(jobs=1), lambda doubt: None)
        builder.drop_lines(seen_lines)
        builder.read(sources)
        builder.finish()


def line_hashes(corpus: Paths, options: IndexOptions) -> np.ndarray:
    """Return the hash of every line that has a word, each once, uint64, ascending.

    Lines whose words are the same in the same order have one hash: that by which `dedup` drops.

    Arguments:
        corpus: files and folders.
        options: how they are read, cut and normalised.

    Raises:
        InputError: a source is missing, unreadable or not UTF-8.
    """
    vocabulary = VocabularyBuilder()
    numbering = WordNumbering(options.normaliser, vocabulary)
    hashes_of_shards = [np.empty(0, np.uint64)]
    sources = find_sources(one_or_many_paths(corpus, "corpus"))
    for block in read_blocks(sources, longest=TEXT_LINE_BYTES):
        tokens = cut(block.text, options.text_format)
        words = numbering.number(block.text, tokens)
        hashes = hash_lines(
            frozen(words), frozen(tokens.line_stops), frozen(vocabulary.hashes()),
            np.uint32(DROPPED),
        )  # fmt: skip
        hashes_of_shards.append(each_once(hashes[hashes != 0]))
    return each_once(np.concatenate(hashes_of_shards))


def add_to_index(
    path: AnyPath,
    corpus: Paths,
    *,
    again: bool = False,
    as_is: bool = False,
    run: Run = Run(),
    notice: Callable[[str], object] = warn,
) -> BuildReport:
    """Return the report of adding text to an index, as new shards, with the options of the index.

    A file whose text the index has already, under whatever name, is passed over; where no
    other is left, nothing changes. Of what was built or added before digests were kept, and
    within one call, nothing is passed over.

    Arguments:
        path: of the index.
        corpus: files and folders.
        again: add what the index has already, too.
        as_is: take text that looks like HTML, XML, JSON or a table; an index that was built so
            takes all text so.
        run: a shard is closed before sorting it would take more memory; half of what is free where
            None.
        notice: called with a sentence where the text does not fit the index's options.

    Raises:
        InputError: a source is missing, unreadable or not UTF-8; or a file begins with all of the
            text that the index has under its name: it has grown, and would be counted twice.
        ArtifactError: there is no index at `path`, or it is being written.
    """
    path = one_path(path)
    paths = one_or_many_paths(corpus, "corpus")
    with storage.change(path, storage.INDEX, continues=True) as writer, ExitStack() as stack:
        with storage.understood(path):
            options = IndexOptions.from_manifest(writer.parameters)
            names = read_names(writer.read("sources"))
            digests = digests_from_manifest(writer.parameters.get("texts"), len(names))
        read = options.reading()
        sources = replace(options, as_is=as_is or options.as_is).sources(paths, path, read)
        known = KnownTexts(names, digests)
        repeated: list[Repeated] = []
        if known and not again:
            sources = stack.enter_context(spooled_sources(sources))
            sources, repeated = _parted(known, sources)
            if not sources:
                writer.keep_as_it_is()
                return BuildReport(0, tuple(repeated))
        builder = IndexBuilder(writer, options, run, notice)
        builder.read(sources)
        builder.finish()
        return BuildReport(len(sources), tuple(repeated), read, tuple(builder.duplicates))


def _parted(known: KnownTexts, sources: list[Source]) -> tuple[list[Source], list[Repeated]]:
    """Return (sources to be read, sources whose text is in the index already)."""
    new, repeated = [], []
    for source in sources:
        known_text = known.find(source)
        if isinstance(known_text, Grown):
            raise InputError(
                f"{known_text.label}: has grown: its first {known_text.n_bytes:,} bytes are in the "
                f"index already: add only what is new (tail -c +{known_text.n_bytes + 1} of the "
                "unpacked text), or ask for the whole once more with `again`"
            )
        if known_text is None:
            new.append(source)
        else:
            repeated.append(known_text)
    return new, repeated


def read_names(values: np.ndarray) -> list[str]:
    """Return the names of an index's sources, stored as a JSON list.

    Arguments:
        values: uint8, the bytes.

    Raises:
        ValueError: it is something else.
    """
    try:
        names = json.loads(values.tobytes())
    except RecursionError:
        raise ValueError("the sources' names are nested") from None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("the sources' names are no list of names")
    return names


def corpus_fingerprint(
    hashes: np.ndarray, counts: np.ndarray, n_tokens: int, n_sentences: int
) -> str:
    """Return the fingerprint of a corpus: a checksum of its words with counts, and of the totals.

    It depends neither on shards nor on the order of the text, and a list of the corpus's
    n-grams tells as much: the sentences are the single words less the pairs of words.

    Arguments:
        n_tokens, n_sentences: of the corpus.
        hashes: uint64, of the words. counts: uint64, occurrences of each; words that do not
            occur (all their lines were dropped) count for nothing.
    """
    words = WordsChecksum()
    order = np.argsort(hashes)
    words.add(hashes[order], counts[order])
    return words.fingerprint(n_tokens, n_sentences)


def text_checksum(of_sentences: int) -> str:
    """Return the checksum of a text, whatever the order of its sentences.

    Arguments:
        of_sentences: the sum of the hashes of all sentences, by kernels.suffixes.hash_sentences.
    """
    return f"{OF_SENTENCES}{of_sentences % (1 << 64):016x}"


def sum_of_sentences(checksum: str) -> int | None:
    """Return the sum of sentence hashes in a checksum, modulo 2^64; None in another checksum.

    Arguments:
        checksum: a checksum in a manifest.
    """
    digits = checksum.removeprefix(OF_SENTENCES)
    return int(digits, 16) if digits != checksum and _SUM.fullmatch(digits) else None


class WordsChecksum:
    """Running corpus fingerprint of words in ascending order of their hashes."""

    def __init__(self) -> None:
        self._checksum = storage.RunningChecksum()

    def add(self, hashes: np.ndarray, counts: np.ndarray) -> None:
        """Add the next words and their counts.

        hashes, counts: unsigned[n].
        """
        occur = counts > 0
        self._checksum.add(np.column_stack([hashes[occur], counts[occur].astype(np.uint64)]))

    def fingerprint(self, n_tokens: int, n_sentences: int) -> str:
        """Return the fingerprint of a corpus of these words.

        Arguments:
            n_tokens, n_sentences: of the corpus.
        """
        return checksum_of_settings([str(self._checksum), n_tokens, n_sentences])


class IndexBuilder:
    """Builder of an index from blocks of text in order: writes shards, then their shared arrays.

    Arguments:
        writer: of the index.
        options: how the text becomes an index.
        notice: called with a sentence where the text does not fit `options`.
    """

    def __init__(
        self,
        writer: storage.ArtifactWriter,
        options: IndexOptions,
        run: Run,
        notice: Callable[[str], object],
    ) -> None:
        self._notice = notice
        self._jobs = run.jobs
        self._writer = writer
        self._options = options
        self._progress = run.progress
        known = None
        self._sources: list[str] = []
        self.digests: list[TextDigest | None] = []
        self._earlier: list[str] = []
        self._counts = dict.fromkeys(COUNTS, 0)
        self._n_shards = 0
        self._seen_lines = HashNumbering()
        self._text_sum: int | None = 0  # of the shards' sentences; None where it is not known
        self.metadata = MetadataWriter(options.types)
        self._file_fields = (
            FileFields({}) if options.metadata is None else read_file_fields(options.metadata)
        )
        if writer.entries:  # an index to be added to
            if DOCUMENTS in writer.entries:
                writer.read(DOCUMENTS)  # which checks it
            self.metadata.add_all(Metadata(writer.folder, writer.parameters, writer.entries))
            known = Vocabulary(*(writer.read(f"vocabulary/{part}") for part in Vocabulary.ARRAYS))
            self._sources = read_names(writer.read("sources"))
            self.digests = digests_from_manifest(writer.parameters.get("texts"), len(self._sources))
            self._earlier = [*writer.parameters.get("earlier", ()), writer.parameters["corpus"]]
            self._counts = dict(writer.parameters["counts"])
            self._n_shards = writer.parameters["shards"]
            self._text_sum = sum_of_sentences(writer.made_from)
            if options.dedup == "exact":
                self._seen_lines.number(writer.read("seen_lines"))
        memory = memory_to_use() if run.memory is None else run.memory
        self._near: NearDuplicates | None = None
        self.duplicates: list[Duplicate] = []
        self._dropped: dict[int, set[int]] = {}  # numbers of documents or lines, by source
        if options.dedup in NEAR:
            parts = NearDuplicates.PARTS if writer.entries else ()
            stored = {part: writer.read(f"near/{part}") for part in parts}
            self._near = NearDuplicates(options.near, memory, stored or None)
        self._shard_tokens = max(2, min(options.shard_tokens, memory // _SORTING_BYTES))
        self._vocabulary = VocabularyBuilder(known)
        self._numbering = WordNumbering(options.normaliser, self._vocabulary)
        self._layers: LayersBuilder | None = None
        if options.is_annotated:
            layers = Layers(writer.read, writer.entries.__contains__) if writer.entries else None
            if layers is not None or READERS[options.file_format].has_dependencies:
                self._layers = LayersBuilder(options.normaliser.characters, LAYERS, layers)
        self._shard: _ShardWriter | None = None
        self._names_documents = False  # plain text beside documents with ids
        self._named = -1  # the last source one of whose documents has its name
        self._document = -1  # number in the present source of that of the last sentence laid
        self._source = -1
        self._numbers = _NumbersOfLines(self._fields_of, by_line=False)
        self._units = _NumbersOfLines(self._fields_of, by_line=options.dedup == "near-lines")

    def drop_lines(self, hashes: np.ndarray) -> None:
        """Treat lines with these hashes as repeated.

        Arguments:
            hashes: uint64, hashes of lines.
        """
        self._seen_lines.number(hashes)

    def read(self, sources: Sequence[Source]) -> None:
        """Index the sources' text.

        Arguments:
            sources: the files.

        Raises:
            InputError: the files have no token.
        """
        first_source = len(self._sources)
        self._sources += [source.name for source in sources]

        def cut_block(block: Block) -> tuple[Block, Cut]:
            return block, cut(block.text, self._options.text_format)

        with_documents = {source.documents is not None for source in sources}
        self._names_documents = len(with_documents) == 2 and self._options.id_field != NO_ID
        before = self._tokens_read()
        digests = [RunningDigest() for _ in sources]
        blocks = self._looked_at(_blocks_of(sources, digests), sources)
        with ExitStack() as stack:
            if self._near is not None:
                spool = stack.enter_context(tempfile.TemporaryFile(dir=self._writer.folder))
                cut_blocks = ordered_map(cut_block, _spooled(blocks, spool), self._jobs)
                self._find_near(self._near, cut_blocks, first_source)
                blocks = _spooled_blocks(spool)
            for block, tokens in ordered_map(cut_block, blocks, self._jobs):
                self._add(block, tokens, first_source + block.source)
                self._progress("reading", self._counts["tokens"], None)
        self.digests += [
            digest_of(source)
            if source.documents and source.path and is_regular(source.path)
            else digest.digest()
            for source, digest in zip(sources, digests, strict=True)
        ]
        if self._tokens_read() == before:
            names = ", ".join(source.label for source in sources[:3])
            raise InputError(
                f"{names}{', …' if len(sources) > 3 else ''}: no token in the corpus: "
                "nothing to index; name files with text"
            )

    def _find_near(
        self,
        near: NearDuplicates,
        blocks: Iterator[tuple[Block, Cut]],
        first_source: int,
    ) -> None:
        """Find the near-duplicates of all text, which are dropped when it is read again."""
        units = _UnitBatches(
            _NumbersOfLines(self._fields_of, by_line=self._options.dedup == "near-lines"),
            self._sources, first_source,
        )  # fmt: skip

        def hashed(batch: "_UnitBatch") -> tuple["_UnitBatch", HashedTexts]:
            hashes = self._vocabulary.hashes()
            return batch, near.hashed(batch.names, batch.words, batch.stops, hashes)

        numbered = (
            (block, tokens, self._numbering.number(block.text, tokens)) for block, tokens in blocks
        )
        n_tokens = 0
        for batch, texts in ordered_map(hashed, units.batches(numbered), self._jobs):
            for place, duplicate in zip(batch.places, near.find(texts), strict=True):
                if duplicate is not None:
                    self.duplicates.append(duplicate)
                    self._dropped.setdefault(place[0], set()).add(place[1])
            n_tokens += batch.words.size
            self._progress("near-duplicates", n_tokens, None)

    def _fields_of(self, source: int) -> Mapping[str, Any] | None:
        """Return the fields of a file that is one document; None of others."""
        return self._file_fields.of(self._sources[source])

    def _looked_at(self, blocks: Iterator[Block], sources: Sequence[Source]) -> Iterator[Block]:
        """Yield the blocks; `notice` is called once where a source does not fit the text format."""
        is_noticed = False
        seen = -1
        for block in blocks:
            if not is_noticed and block.source != seen:
                seen = block.source
                for doubt in format_doubts(block.text, self._options.text_format):
                    is_noticed = True
                    if sources[block.source].documents is None:
                        doubt = doubt.replace("`text_format`", "`file_format`")
                    self._notice(f"{sources[block.source].label}: {doubt}")
            yield block

    def finish(self) -> None:
        """Write the last shard and the shared arrays."""
        self._close_shard(last=True)
        vocabulary = self._vocabulary.arrays()
        for name, values in vocabulary.items():
            self._writer.add(f"vocabulary/{name}", values)
        # Names are bytes: those that are no UTF-8 come and go as surrogates.
        names = json.dumps(self._sources, ensure_ascii=False).encode(errors="surrogatepass")
        self._writer.add("sources", np.frombuffer(names, np.uint8))
        if self._options.dedup == "exact":
            self._writer.add("seen_lines", self._seen_lines.hashes())
        if self._near is not None:
            for name, values in self._near.arrays().items():
                self._writer.add(f"near/{name}", values)
        if self._layers is not None:
            counts = self._analysis_counts(len(self._layers))
            for name, values in self._layers.arrays(counts).items():
                self._writer.add(name, values)
        self._file_fields.tell_unused(self._notice)
        documents = self.metadata.write(self._writer)
        self._writer.version = 2 if documents is not None or self._options.text else 1
        word_counts = self._word_counts()[1:]
        self._writer.parameters = {
            **self._options.manifest(),
            "counts": self._counts,
            "shards": self._n_shards,
            "words": int(np.count_nonzero(word_counts)),
            "corpus": corpus_fingerprint(
                self._vocabulary.hashes()[1:],
                word_counts,
                self._counts["tokens"],
                self._counts["sentences"],
            ),
            "texts": digests_to_manifest(self.digests),
            "earlier": self._earlier,
            **({} if documents is None else {"documents": documents}),
        }
        if self._text_sum is not None:
            self._writer.made_from = text_checksum(self._text_sum)

    def _word_counts(self) -> np.ndarray:
        counts = np.zeros(len(self._vocabulary), np.uint64)
        for number in range(self._n_shards):
            starts = self._writer.read(f"shard-{number}/word_starts")
            counts[: starts.size - 1] += np.diff(starts)
        return counts

    def _analysis_counts(self, n: int) -> np.ndarray:
        """Return how many tokens have each analysis, uint64[n]."""
        counts = np.zeros(n, np.uint64)
        for number in range(self._n_shards):
            analyses = self._writer.read(f"shard-{number}/analyses")
            counts += np.bincount(analyses, minlength=n).astype(np.uint64)
        return counts

    def _add(self, block: Block, tokens: Cut, source: int) -> None:
        words = self._numbering.number(block.text, tokens)
        line_lengths = np.diff(tokens.line_stops, prepend=0)
        self._counts["lines"] += int(np.count_nonzero(line_lengths))
        repeats = None
        if self._options.dedup == "exact":
            repeats = self._seen(words, tokens)
        elif self._near is not None:
            dropped = np.array(sorted(self._dropped.get(source, ())), np.int64)
            units = self._units.of(block, line_lengths, source)
            repeats = np.isin(units, dropped) & (line_lengths > 0)
        if repeats is not None:
            words = self._drop(repeats, words, line_lengths)
        laid, kept, starts = lay_sentences(
            frozen(words), frozen(tokens.sentence_stops), np.uint32(DROPPED)
        )
        about = block.documents
        text, text_starts = self._written(block, tokens, kept, repeats)
        annotated: tuple[np.ndarray, ...] = ()
        if self._options.is_annotated and about is not None:
            annotated = self._analyses(words, about.annotations, tokens.sentence_stops)
        lines = tokens.sentence_lines[kept]
        line_numbers = lines + block.first_line if about is None else about.lines[lines]
        begins_document = self._begin_documents(block, lines, line_lengths, source)
        self._counts["tokens"] += laid.size - starts.size
        self._counts["sentences"] += starts.size
        self._counts["documents"] += int(np.count_nonzero(begins_document))
        self._lay(
            _SourceSentences(
                laid, starts, line_numbers, begins_document, source, annotated, text, text_starts
            )
        )

    def _written(
        self, block: Block, tokens: Cut, kept: np.ndarray, repeats: np.ndarray | None
    ) -> tuple[bytes, np.ndarray | None]:
        """Return (the text to be kept, repeated lines left out; where each sentence begins).

        Arguments:
            tokens: the block, cut.
            kept: int64, the sentences that have a token.
            repeats: bool by line, lines to leave out; None where none is.
        """
        if not self._options.text:
            return b"", None
        first_tokens = np.concatenate([[0], tokens.sentence_stops])[kept]
        starts: np.ndarray = tokens.starts[first_tokens]
        text = block.text
        if block.written is not None:
            text = block.written
            signs = np.frombuffer(text, np.uint8)
            ends = signs == ord(FORM_ENDS)
            of_words = ~ends & (np.cumsum(signs == ord(FORM)) == np.cumsum(ends))
            places = np.append(-1, np.flatnonzero(of_words))  # of each byte of the words, from 1
            starts = places[starts] + 1  # behind the byte before, so that a form is in it
        if repeats is None or not repeats.any():
            return text, starts
        ends = np.frombuffer(text, np.uint8) == ord("\n")
        stays = ~repeats[np.cumsum(ends) - ends]
        return np.frombuffer(text, np.uint8)[stays].tobytes(), (np.cumsum(stays) - 1)[starts]

    def _analyses(
        self, words: np.ndarray, annotations: Sequence[tuple[Any, ...]], stops: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return the analysis and perhaps the head of each token that is laid, 0 behind sentences.

        Arguments:
            words: uint32, ids of the block's tokens, DROPPED for some.
            annotations: of each token.
            stops: int64, tokens up to the end of each sentence.
        """
        if len(annotations) != words.size:
            raise InputError(
                f"{counted(len(annotations), 'token')} are annotated, {words.size:,} found: "
                "a token has "
                "white space that is not known here: report it"
            )
        kept = np.flatnonzero(words != DROPPED)
        if self._layers is None:  # the first tokens show which there are
            names = LAYERS[: len(annotations[0])] if annotations else ALWAYS
            self._layers = LayersBuilder(self._options.normaliser.characters, names)
        n_layers = len(self._layers.names)
        rows = [annotations[number][:n_layers] for number in kept.tolist()]
        if rows and min(map(len, rows)) < n_layers:  # of another file
            rows = [(*row, *["_"] * (n_layers - len(row))) for row in rows]
        columns = [self._layers.number(words[kept], rows)]
        if n_layers == len(LAYERS):
            heads = np.array(
                [annotation[n_layers] for annotation in annotations], np.int64
            ) + np.arange(words.size)
            ranks = np.cumsum(words != DROPPED) - 1
            distances = np.where(words[heads] == DROPPED, 0, ranks[heads] - ranks)
            columns.append(folded_distances(distances[kept]))
        laid = []
        for column in columns:
            values = np.full(words.size, DROPPED, np.uint32)
            values[kept] = column
            laid.append(lay_sentences(frozen(values), frozen(stops), np.uint32(DROPPED))[0])
        return tuple(laid)

    def _begin_documents(
        self, block: Block, lines: np.ndarray, line_lengths: np.ndarray, source: int
    ) -> np.ndarray:
        """Return whether each sentence, on `lines` of the block, begins a document; keep those.

        Arguments:
            lines: int64, of the sentences.
            line_lengths: int64, tokens of each line.
            source: its number.
        """
        if source != self._source:
            self._source = source
            self._document = -1
        fields, about = self._fields_of(source), block.documents
        of_sentences = self._numbers.of(block, line_lengths, source)[lines]
        begins: np.ndarray = np.diff(of_sentences, prepend=self._document) != 0
        if of_sentences.size:
            self._document = int(of_sentences[-1])
        if about is not None:
            for number in about.of_lines[lines[begins]].tolist():
                document = about.documents[number]
                self.metadata.add(document.id, {**(fields or {}), **document.fields})
        elif fields is not None and begins.any():
            self.metadata.add(*self._id_of_file(self._sources[source], fields))
        elif self._names_documents:
            self._name_documents(source, (lines[begins] + block.first_line).tolist())
        else:
            self.metadata.add_without(int(np.count_nonzero(begins)))
        return begins

    def _name_documents(self, source: int, lines: Sequence[int]) -> None:
        """Give documents of plain text, which begin on lines, the name of their file as id."""
        name = self._sources[source]
        for line in lines:
            self.metadata.add(f"{name}:{line}" if self._named == source else name, {})
            self._named = source

    def _id_of_file(
        self, name: str, fields: Mapping[str, Any]
    ) -> tuple[str | None, Mapping[str, Any]]:
        """Return (the id of a file that is a document, its other fields)."""
        column = self._options.id_field or ID_FIELD
        others = dict(fields)
        id_value = others.pop(column, None)
        if column == NO_ID:
            return None, without_id(others)
        return (name if id_value in (None, "") else str(id_value)), others

    def _tokens_read(self) -> int:
        return self._counts["tokens"] + self._counts["dropped_tokens"]

    def _seen(self, words: np.ndarray, tokens: Cut) -> np.ndarray:
        """Return for each line whether its words were seen before in the same order, bool."""
        hashes = hash_lines(
            frozen(words), frozen(tokens.line_stops), frozen(self._vocabulary.hashes()),
            np.uint32(DROPPED),
        )  # fmt: skip
        filled = np.flatnonzero(hashes)
        _, new = self._seen_lines.number(hashes[filled])
        repeats: np.ndarray = hashes != 0
        repeats[filled[new]] = False
        return repeats

    def _drop(self, repeats: np.ndarray, words: np.ndarray, line_lengths: np.ndarray) -> np.ndarray:
        """Return the words with those of the repeated lines DROPPED, and counted.

        Arguments:
            repeats: bool by line.
            words: uint32, ids of the block's tokens.
            line_lengths: int64, tokens of each line.
        """
        repeated = np.repeat(repeats, line_lengths)
        self._counts["dropped_lines"] += int(np.count_nonzero(repeats))
        self._counts["dropped_tokens"] += int(np.count_nonzero(repeated & (words != DROPPED)))
        return np.where(repeated, np.uint32(DROPPED), words)

    def _lay(self, sentences: "_SourceSentences") -> None:
        """Append sentences to the current shard; it is closed where it is full."""
        for part in sentences.parts(
            lambda: self._shard_tokens - (self._shard.n_tokens if self._shard else 0)
        ):
            if part is None:
                self._close_shard()
                continue
            if self._shard is None:
                self._shard = _ShardWriter(
                    self._writer, self._n_shards, len(part.annotated), self._options.text
                )
            self._shard.append(part)

    def _close_shard(self, last: bool = False) -> None:
        if self._shard is not None:
            self._progress("sorting", self._counts["tokens"], None)
            tokens = self._shard.close(last)
            if self._text_sum is not None:
                hashes = frozen(self._vocabulary.hashes())
                self._text_sum += int(hash_sentences(frozen(tokens), hashes))
            self._shard = None
            self._n_shards += 1


class _NumbersOfLines:
    """Numbers of the documents of lines in their source, for blocks in order; or of the lines.

    Arguments:
        fields_of: returns the fields of a source that is one document, None of others.
        by_line: each line has its own number.
    """

    def __init__(self, fields_of: Callable[[int], Mapping[str, Any] | None], by_line: bool) -> None:
        self._fields_of = fields_of
        self._by_line = by_line
        self._source = -1
        self._n_read = 0  # blank lines, or lines

    def of(self, block: Block, line_lengths: np.ndarray, source: int) -> np.ndarray:
        """Return the number of each line's document, or of each line, int64.

        Arguments:
            block: the next one.
            line_lengths: int64, tokens of each line.
            source: number of the block's source.
        """
        if source != self._source:
            self._source, self._n_read = source, 0
        if self._by_line:
            self._n_read += line_lengths.size
            return np.arange(self._n_read - line_lengths.size, self._n_read)
        about = block.documents
        if about is not None:
            return np.asarray(about.ordinals[about.of_lines])
        if self._fields_of(source) is not None:
            return np.zeros(line_lengths.size, np.int64)
        # a document is numbered by the blank lines before it
        numbers: np.ndarray = np.cumsum(line_lengths == 0) + self._n_read
        self._n_read = int(numbers[-1])
        return numbers


class _UnitBatch(NamedTuple):
    """Whole documents, or lines.

    names: their ids, or source:line. places: source and number in it. words: uint32, ids end to
    end. stops: int64, where each ends in `words`.
    """

    names: list[str]
    places: list[tuple[int, int]]
    words: np.ndarray
    stops: np.ndarray


class _UnitBatches:
    """Cutter of numbered blocks into whole documents, or lines.

    Arguments:
        numbers: of lines.
        sources: names by number.
        first_source: the number of the first source of the blocks.
    """

    def __init__(self, numbers: _NumbersOfLines, sources: list[str], first_source: int) -> None:
        self._numbers = numbers
        self._sources = sources
        self._first_source = first_source

    def batches(self, blocks: Iterator[tuple[Block, Cut, np.ndarray]]) -> Iterator[_UnitBatch]:
        """Yield the documents, or lines, of blocks; those that go on in the next one with it.

        Arguments:
            blocks: with their tokens and the ids of these, DROPPED for some.
        """
        names: list[str] = []
        places: list[tuple[int, int]] = []
        pieces: list[list[np.ndarray]] = []
        for block, tokens, words in blocks:
            source = self._first_source + block.source
            lengths = np.diff(tokens.line_stops, prepend=0)
            lines = np.flatnonzero(lengths)
            units = self._numbers.of(block, lengths, source)[lines]
            firsts = np.flatnonzero(np.diff(units, prepend=-1))
            edges = np.append(np.append(0, tokens.line_stops)[lines[firsts]], words.size)
            for unit, line, begin, end in zip(
                units[firsts].tolist(), lines[firsts].tolist(), edges[:-1], edges[1:], strict=True
            ):
                if not places or places[-1] != (source, unit):
                    names.append(self._name(block, line, source))
                    places.append((source, unit))
                    pieces.append([])
                piece = words[begin:end]
                pieces[-1].append(piece[piece != DROPPED])
            if len(places) > 1:
                yield _unit_batch(names[:-1], places[:-1], pieces[:-1])
                del names[:-1], places[:-1], pieces[:-1]
        if places:
            yield _unit_batch(names, places, pieces)

    def _name(self, block: Block, line: int, source: int) -> str:
        about, number = block.documents, block.first_line + line
        if about is not None:
            id_ = about.documents[about.of_lines[line]].id
            if id_ is not None:
                return str(id_)
            number = int(about.lines[line])
        return f"{self._sources[source]}:{number}"


def _unit_batch(
    names: list[str], places: list[tuple[int, int]], pieces: list[list[np.ndarray]]
) -> _UnitBatch:
    lengths = [sum(map(len, unit)) for unit in pieces]
    words = np.concatenate([piece for unit in pieces for piece in unit])
    return _UnitBatch(list(names), list(places), words, np.cumsum(lengths))


def _spooled(blocks: Iterator[Block], spool: IO[bytes]) -> Iterator[Block]:
    """Yield blocks after writing them to a file."""
    for block in blocks:
        pickle.dump(block, spool)
        yield block


def _spooled_blocks(spool: IO[bytes]) -> Iterator[Block]:
    """Yield the blocks of a file that `_spooled` wrote in this process."""
    spool.seek(0)
    with suppress(EOFError):
        while True:
            yield pickle.load(spool)


def _blocks_of(sources: Sequence[Source], digests: Sequence[RunningDigest]) -> Iterator[Block]:
    """Yield the sources' text in blocks; `digests` take the text as it is read."""
    for number, source in enumerate(sources):
        if source.documents is not None:
            yield from document_blocks(source, number, digests[number].add)
            continue
        watch = partial(_add_piece, digests[number])
        for block in read_blocks([source], watch=watch, longest=TEXT_LINE_BYTES):
            yield replace(block, source=number)


def _add_piece(digest: RunningDigest, number: int, text: bytes) -> None:
    digest.add(text)


@dataclass(frozen=True)
class _SourceSentences:
    """Sentences of one source, in order.

    tokens: uint32, each sentence closed by 0. starts: int64, where each begins.
    lines: line numbers from 1. begins_document: bool. One entry a sentence.
    annotated: uint32, as tokens: analyses and heads of annotated text.
    text, text_starts: as it was written, where it is kept; int64, where each sentence begins.
    """

    tokens: np.ndarray
    starts: np.ndarray
    lines: np.ndarray
    begins_document: np.ndarray
    source: int
    annotated: tuple[np.ndarray, ...] = ()
    text: bytes = b""
    text_starts: np.ndarray | None = None

    def parts(self, room: Any) -> Iterator["_SourceSentences | None"]:
        """Yield the sentences in pieces that fit room() tokens, None where a shard is full.

        A sentence longer than a whole shard gets a shard to itself.
        """
        stops = np.append(self.starts[1:], self.tokens.size)
        first = 0
        while first < self.starts.size:
            begin = self.starts[first]
            last = int(np.searchsorted(stops, begin + room(), side="right"))
            if last <= first:
                yield None
                last = max(first + 1, int(np.searchsorted(stops, begin + room(), side="right")))
            text, text_starts = self._text_of(first, last)
            yield _SourceSentences(
                self.tokens[begin : stops[last - 1]],
                self.starts[first:last] - begin,
                self.lines[first:last],
                self.begins_document[first:last],
                self.source,
                tuple(column[begin : stops[last - 1]] for column in self.annotated),
                text,
                text_starts,
            )
            first = last

    def _text_of(self, first: int, last: int) -> tuple[bytes, np.ndarray | None]:
        """Return the text of sentences and where each begins; before the first is what precedes."""
        if self.text_starts is None:
            return b"", None
        begin = int(self.text_starts[first]) if first else 0
        end = int(self.text_starts[last]) if last < self.text_starts.size else len(self.text)
        return self.text[begin:end], self.text_starts[first:last] - begin


class _ShardWriter:
    """Writer of one shard: tokens as they are added, suffixes when it is closed."""

    def __init__(
        self, writer: storage.ArtifactWriter, number: int, n_annotated: int, text: bool
    ) -> None:
        self._writer = writer
        self._prefix = f"shard-{number}/"
        self.n_tokens = 0
        self._n_sentences = 0
        self._source = -1
        self._names = (
            "tokens", "sentence_starts", "sentence_lines", "document_starts",
            "source_starts", "source_numbers", *ANNOTATED[:n_annotated],
        )  # fmt: skip
        self._streams = {
            name: writer.stream(self._prefix + name, np.uint32) for name in self._names
        }
        self._text = WrittenTextWriter(writer, self._prefix) if text else None

    def append(self, sentences: _SourceSentences) -> None:
        """Append sentences."""
        streams = self._streams
        streams["tokens"].append(sentences.tokens)
        for name, values in zip(ANNOTATED, sentences.annotated, strict=False):
            streams[name].append(values)
        if self._text is not None and sentences.text_starts is not None:
            self._text.append(sentences.text, sentences.text_starts)
        streams["sentence_starts"].append(sentences.starts + self.n_tokens)
        streams["sentence_lines"].append(sentences.lines)
        documents = np.flatnonzero(sentences.begins_document)
        streams["document_starts"].append(documents + self._n_sentences)
        if sentences.source != self._source:
            self._source = sentences.source
            streams["source_starts"].append(np.array([self._n_sentences]))
            streams["source_numbers"].append(np.array([self._source]))
        self.n_tokens += sentences.tokens.size
        self._n_sentences += sentences.starts.size

    def close(self, last: bool) -> np.ndarray:
        """Sort the suffixes, finish the shard's arrays and return its tokens.

        last: no document goes on in another shard.
        """
        text_names: tuple[str, ...] = ()
        if self._text is not None:
            self._text.finish(last)
            text_names = tuple(WrittenText.ARRAYS)
        for name in (*self._names, *text_names):
            self._writer.close(self._prefix + name)
        tokens = self._writer.read(self._prefix + "tokens")
        suffixes, key = self._prefix + "suffixes", self._writer.checksum(self._prefix + "tokens")
        if not self._writer.take(suffixes, key):  # which a run that was killed has sorted
            self._writer.add(suffixes, build_suffix_array(tokens))
            self._writer.keep(suffixes, key)
        word_starts = count_words(frozen(tokens), int(tokens.max()) + 1)
        self._writer.add(self._prefix + "word_starts", word_starts)
        return tokens
