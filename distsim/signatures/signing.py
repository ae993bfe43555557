"""Signs a source by a recipe: the only place where a table is made.

Phrases' counted contexts are weighed, projected, composed, cut to bits and written, in one
creation: a learned projection is learned inside it and belongs to the table, whole or not there.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np

from distsim import storage
from distsim.base.arguments import one_path
from distsim.base.errors import DistsimError, ParameterError, counted
from distsim.base.parallel import Progress, memory_to_use, no_progress
from distsim.contexts.ngram import NgramModel
from distsim.contexts.phrase_store import Selection
from distsim.contexts.sources.index import IndexSource
from distsim.contexts.sources.source import (
    CountedText,
    PhraseBatch,
    PhraseSource,
    ThreadTask,
    Work,
    batch_results,
)
from distsim.indexes.corpus_index import CorpusIndex
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.signatures.composition import OwnVectors, PartVectors
from distsim.signatures.gathered_rows import GatheredRows
from distsim.signatures.kernels.projection import cut_bits
from distsim.signatures.layout import StreamedRows, TableRowWriter
from distsim.signatures.projections.training import TrainingRows
from distsim.signatures.recipe import DEFAULT, USUAL, Recipe, ResolvedRecipe
from distsim.signatures.signer import SignedBatch, Signer
from distsim.signatures.stores import (
    FeatureWriter,
    ProjectionStore,
    clear_projections,
    has_features,
    only_its_own,
)
from distsim.signatures.sums import SumsStream
from distsim.storage.manifest import signatures_inside

# What a word takes while the vectors of words are learned: 1.3 GB for 116,154 of 512 dimensions.
_BYTES_A_WORD = 11_500
_PARTS_OF_MEMORY = 8  # the rows of the table take one while they are put in order


class Signed(NamedTuple):
    """A table that was signed.

    Attributes:
        path: its folder.
        unchanged: whether this very table was there already.
    """

    path: Path
    unchanged: bool


@dataclass(frozen=True)
class SignOptions:
    """Arrays that a table stores beside its signatures, and resources for making it.

    Arguments:
        keep_parts: store the vectors of words, by which longer phrases are composed.
        keep_features: store the weighted features of each phrase, for exact cosines.
        keep_sums: store the sums of all phrases, however rare, so that the table can be merged.
        force: replace a table that exists.
        memory: working memory in bytes; None: half of the memory that is free.
        jobs: number of threads; None: one for each core. The result does not depend on it.
        progress: called with (stage, done, total).
    """

    keep_parts: bool = True
    keep_features: bool = False
    keep_sums: bool = False
    force: bool = False
    memory: int | None = None
    jobs: int | None = None
    progress: Progress = no_progress


class SignOptionNames(TypedDict, total=False):
    """The types of SignOptions, for keyword arguments."""

    keep_parts: bool
    keep_features: bool
    keep_sums: bool
    force: bool
    memory: int | None
    jobs: int | None
    progress: Progress


def sign(
    source: PhraseSource | CorpusIndex,
    path: str | Path | None,
    recipe: Recipe | None,
    selection: Selection | None,
    projection: str | Path | None,
    options: SignOptions,
) -> Signed:
    """Return the folder of the table of a source's phrases, after writing it.

    Arguments:
        source: an index or another source of phrases.
        path: the table's folder; inside the index where None.
        recipe: how contexts become bits; the source's usual one where None.
        selection: which phrases; those of 1 to 4 tokens that occur 5 times where None.
        projection: a learned projection, or a table that has one; learned where None.
        options: what the table keeps, and how the work is done.

    Raises:
        ArtifactError: something that is no table, or another table, is at `path`.
        IncompatibleError: the projection was learned from other contexts or weights.
        InputError: what the source reads is at fault.
        ParameterError: the source cannot give what the recipe wants, there is too little text to
            learn a projection from, no phrase is frequent enough, or the vectors of an index's
            words alone take more memory.
    """
    home = source.home if isinstance(source, CorpusIndex) else None
    may_replace = options.force or path is None or not storage.holds_artifact(path)
    recipe = recipe or (DEFAULT if isinstance(source, CorpusIndex) else USUAL[source.usual_model])
    selection = selection or Selection()
    if isinstance(source, CorpusIndex):
        _require_memory(source, recipe, selection, options.memory)
        source = IndexSource(source)
    if path is None and home is None:
        raise ParameterError(
            "`path`: give the folder of the table; only a whole index holds its own"
        )
    path = one_path(path) if path is not None else signatures_inside(Path(str(home)))
    _require_possible(recipe, selection, projection, options)
    known = [path] if home is None else [path, signatures_inside(home)]
    try:
        with storage.create(path, storage.SIGNATURES) as writer, only_its_own(writer.folder):
            work = Work(writer.folder, _bytes(options.memory), options.jobs, options.progress)
            with source.counted(recipe.model, selection, work) as text:
                if options.keep_features and not text.is_sorted:
                    raise ParameterError(
                        "`keep_features` works with annotated text alone: an index holds the "
                        "contexts itself, word vectors have none: leave it out"
                    )
                store = ProjectionStore(writer.folder, work, projection, known, may_replace)
                resolved = recipe.resolve(text, store.projection)
                signing = Signing(text, resolved, selection, options, work)
                if not store.is_new and signing.made_before(path):
                    raise _UnchangedError
                storage.require_free(path, may_replace)
                signing.write(writer, training_rows=store.training_rows)
                if not options.keep_sums:  # to be added to those of others
                    require_rows(writer.parameters)
    except _UnchangedError:
        return Signed(path, unchanged=True)
    clear_projections(path)
    return Signed(path, unchanged=False)


def source_to_sign(
    source: PhraseSource | CorpusIndex | Iterable[Any],
    path: str | Path | None,
    options: SignOptions,
) -> PhraseSource | CorpusIndex:
    """Return what is given, or the index of it where it is texts.

    Arguments:
        source: an index, another source of phrases, or texts.
        path: folder of the index of texts.
        options: how the work is done.

    Raises:
        ParameterError: there is no path for the index.
    """
    if isinstance(source, CorpusIndex | PhraseSource):
        return source
    if path is None:
        raise ParameterError("`path`: give the folder of the index that is made of the texts")
    return CorpusIndex.from_texts(
        source, path, force=options.force, jobs=options.jobs, progress=options.progress,
        memory=options.memory,
    )  # fmt: skip


def learn(
    source: PhraseSource | CorpusIndex,
    path: str | Path,
    *,
    recipe: Recipe | None = None,
    force: bool = False,
    memory: int | None = None,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Path:
    """Return the folder of a projection that is learned from a source's frequent words.

    Arguments:
        source: an index, or another source of phrases.
        path: the projection's folder.
        recipe: which contexts, weights and bits; PRESETS["learned"] where None.
        force: replace an artifact at `path`.
        memory: bytes for what is put in order, half of what is free where None; what does not fit
            goes through files. An index, which is in order, needs none.
        jobs: threads; as many as the machine has cores where None.
        progress: is told the stage, the units done and their total.

    Raises:
        ArtifactError: an artifact is at `path`, without `force`, or is being written there.
        InputError: what the source reads is at fault.
        ParameterError: the recipe's projection is not learned, or there is too little text.

    >>> from distsim import SignatureTable, learn, sign
    >>> path = learn(index, folder / "my.projection")
    >>> sign(index, folder / "my.table", projection=path).projection.n_bits
    256
    """
    recipe = recipe or DEFAULT
    if isinstance(source, CorpusIndex):
        source = IndexSource(source)
    storage.require_free(path, force)
    with storage.create(path, storage.PROJECTION) as writer:
        work = Work(writer.folder, _bytes(memory), jobs, progress)
        with source.counted(recipe.model, Selection(), work) as text:
            recipe.training(text).learn(writer, work)
    return Path(path)


def _bytes(memory: int | None) -> int:
    return memory_to_use() if memory is None else memory


def _require_memory(
    index: CorpusIndex, recipe: Recipe, selection: Selection, memory: int | None
) -> None:
    """Refuse memory that the vectors of an index's words alone exceed."""
    if memory is None or recipe.composition is None:
        return
    n_frequent = int((index.word_counts()[1:] >= selection.min_count).sum())
    n_words = min(recipe.composition.most_words, n_frequent)
    least = n_words * _BYTES_A_WORD
    if memory < least:
        raise ParameterError(
            f"`memory`: the vectors of {counted(n_words, 'word')} take {least / 1e6:,.0f}M: "
            "give at least "
            "this much, or make them fewer by a higher `min_count` or `composition.most_words`"
        )


def _require_possible(
    recipe: Recipe, selection: Selection, projection: str | Path | None, options: SignOptions
) -> None:
    """Refuse a projection without use, and sums that do not add up to those of a whole."""
    if projection is not None and not recipe.is_learned:
        raise ParameterError(
            f"`projection` {str(projection)!r} with a recipe of random vectors: choose the "
            "projection spectral in the recipe, or leave it out"
        )
    if not options.keep_sums:
        return
    if recipe.is_learned:
        raise ParameterError(
            "`keep_sums` with a learned projection: another text has learned another one, so such "
            "tables cannot be merged: use the preset thesis"
        )
    if not isinstance(recipe.model, NgramModel):
        raise ParameterError("`keep_sums` with the syntactic model: leave it out")
    if not recipe.is_raw:
        scheme = recipe.weighting.scheme
        raise ParameterError(
            f"`keep_sums` with `weights` {scheme}: the {scheme} weights of a whole are not the sum "
            "of its parts' weights, so such tables cannot be merged: use raw, or sign the whole "
            "text at once"
        )
    if selection.max_phrases is not None:
        raise ParameterError(
            "`keep_sums` with `max_phrases`: the most frequent phrases of a part are not those of "
            "the whole: use `min_count`"
        )


def require_rows(parameters: dict[str, Any]) -> None:
    """Raise for a table without rows, and name the limit that emptied it.

    Arguments:
        parameters: of the table's manifest.

    Raises:
        ParameterError: it has none.
    """
    if parameters["phrases"]:
        return
    least, max_phrases = parameters["min_count"], parameters["max_phrases"]
    lone = parameters["phrases_without_context"]
    if lone:
        limits = (
            f"`min_count` {least}"
            if max_phrases is None
            else f"`min_count` {least}, `max_phrases` {max_phrases}"
        )
        raise ParameterError(
            f"no phrase has a signature: {limits}: of the {lone:,} left none has a context that "
            "has a weight: change the limits, or give more text"
        )
    raise ParameterError(
        f"no phrase of 1 to {parameters['max_length']} tokens occurs `min_count` "
        f"{counted(least, 'time')}: "
        "lower it, or give more text"
    )


class _UnchangedError(Exception):
    """Raised where the table is there already; leaves a creation without a trace."""


class Signing:
    """One text being signed.

    Arguments:
        text: its phrases are signed.
        resolved: the recipe for this text.
        selection: which phrases.
        options: what the table keeps.
        work: temporary folder, threads and progress.
    """

    def __init__(
        self,
        text: CountedText,
        resolved: ResolvedRecipe,
        selection: Selection,
        options: SignOptions,
        work: Work,
    ) -> None:
        self._text = text
        self._resolved = resolved
        self._selection = selection
        self._options = options
        self._work = work
        self._lowest_count = 1 if options.keep_sums else text.lowest_count(selection)

    def made_before(self, path: Path) -> bool:
        """Return whether the table that would be written already exists, undamaged.

        Arguments:
            path: of the table.
        """
        with suppress(DistsimError, LookupError, TypeError):
            artifact = storage.Artifact(path, storage.SIGNATURES)
            if not self._text.content or artifact.made_from != self._text.content:
                return False
            present = dict(artifact.parameters)
            for name in ("phrases", "phrases_without_context"):
                present.pop(name)
            fingerprint = dict(present.pop("fingerprint"))
            composition = dict(fingerprint.pop("composition", {}))
            parts = composition.pop("parts", None)
            wanted = self._resolved.composition
            return (
                present == self._chosen() | self._text_parameters()
                and fingerprint == self._resolved.fingerprint.manifest()
                and composition == (wanted.manifest() if wanted else {})
                and ("part_hashes" in artifact) == (parts is not None and self._options.keep_parts)
                and has_features(artifact) == self._options.keep_features
                and not artifact.damaged()
            )
        return False

    def write(
        self,
        writer: storage.ArtifactWriter,
        parts: PartVectors | None = None,
        training_rows: TrainingRows | None = None,
        keep_own: bool | None = None,
    ) -> None:
        """Write the table.

        Arguments:
            writer: of the table's artifact.
            parts: vectors of the words of a larger text, of which phrases are composed; those of
                the text itself where None.
            training_rows: the words that the projection was learned from just now.
            keep_own: keep the vectors of phrases with contexts of their own; None: where the words'
                are kept.
        """
        resolved, options = self._resolved, self._options
        if resolved.weigher.uses_marginals:
            self._text.gather_marginals()
        rows = self._rows(writer)
        longer, composition = None, resolved.composition
        if parts is None and composition is not None:
            parts, longer = self._sign_words(rows, training_rows)
        own: list[OwnVectors] = []
        for batch in self._sign_phrases(writer, rows, resolved.signer(parts), longer):
            if batch.own is not None:
                own.append(batch.own)
        n_rows, fingerprint = rows.finish(), resolved.fingerprint
        if composition is not None and parts is not None:
            made_of = composition.manifest() | {"parts": parts.checksum()}
            fingerprint = replace(fingerprint, composition=made_of)
            if options.keep_parts:
                parts.write(writer)
            if options.keep_parts if keep_own is None else keep_own:
                OwnVectors.joined(own, resolved.projection.n_dimensions).write(writer)
        writer.made_from = self._text.content
        writer.parameters = {
            "fingerprint": fingerprint.manifest(),
            **self._chosen(),
            "phrases": n_rows,
            "phrases_without_context": rows.n_without_context,
            **self._text_parameters(),
        }

    def _rows(self, writer: storage.ArtifactWriter) -> TableRowWriter:
        n_bits, keep = self._resolved.projection.n_bits, self._selection.max_phrases
        composed = self._resolved.composition is not None
        if keep is None and (self._text.is_sorted or self._options.keep_sums):
            return StreamedRows(writer, n_bits, composed)
        memory = self._work.memory // _PARTS_OF_MEMORY
        return GatheredRows(writer, n_bits, memory, keep, composed=composed)

    def _sign_words(
        self, rows: TableRowWriter, training_rows: TrainingRows | None
    ) -> tuple[PartVectors, Iterator[ThreadTask] | None]:
        """Return the words of which phrases are composed, and the phrases that are left to sign.

        None for the latter: all phrases; words are signed again with the others.
        """
        composition = self._resolved.composition
        assert composition is not None
        longer = self._text.longer_parts(
            self._lowest_count, self._selection.max_length, composition.min_own_count
        )
        signed: list[SignedBatch] = []
        signer = self._resolved.signer()
        words = signer.word_vectors(
            self._text, self._selection.min_count, self._work,
            None if longer is None else training_rows,
            None if longer is None else signed.append,
        )  # fmt: skip
        parts = PartVectors.gather(words, composition, self._work.jobs)
        for batch in signed:
            kept = batch.where(batch.phrases.strengths >= self._lowest_count)
            rows.add(_cut_again(kept, parts))
        return parts, longer

    def _sign_phrases(
        self,
        writer: storage.ArtifactWriter,
        rows: TableRowWriter,
        signer: Signer,
        chosen: Iterator[ThreadTask] | None,
    ) -> Iterator[SignedBatch]:
        """Sign some phrases, or all of them where None, and yield them."""
        text, options = self._text, self._options
        parts = chosen or text.parts(self._lowest_count, self._selection.max_length)
        total = text.total()
        if options.keep_sums:
            total, parts = None, self._parts_with_kept_sums(writer, signer)
        features = FeatureWriter(writer) if options.keep_features else None

        def signed(
            batch: PhraseBatch,
        ) -> tuple[SignedBatch, tuple[np.ndarray, np.ndarray] | None]:
            return signer.sign(batch), signer.named_weights(batch) if features else None

        for batch, weights in batch_results(text, parts, signed, self._work, "signing", total):
            rows.add(batch)
            if features is not None and weights is not None:
                features.add(batch.phrases.hashes, batch.phrases.contexts.starts, *weights)
            yield batch

    def _parts_with_kept_sums(
        self, writer: storage.ArtifactWriter, signer: Signer
    ) -> Iterator[ThreadTask]:
        """Write the sums of all phrases; yield those that are frequent enough."""
        sums, text, selection = SumsStream(writer), self._text, self._selection
        for task in text.sorted_parts(selection.max_length, self._work):
            batch: PhraseBatch = task.content
            sums.add(batch, signer.offsets(batch.space))
            yield ThreadTask(batch.where(batch.strengths >= selection.min_count), task.size)

    def _text_parameters(self) -> dict[str, Any]:
        """Return the manifest's entries on the size of the text, of tables that need them."""
        text, parameters = self._text, dict(self._text.parameters)
        if self._options.keep_sums:
            parameters["sums"] = {"tokens": text.n_tokens, "sentences": text.n_sentences}
        return parameters

    def _chosen(self) -> dict[str, Any]:
        """Return the manifest's entries on the text and the limits of phrases."""
        text, selection = self._text, self._selection
        return {
            "format": text.text_format,
            "corpus": text.corpus,
            "min_count": selection.min_count,
            "max_length": selection.max_length,
            "max_phrases": selection.max_phrases,
        }


def _cut_again(words: SignedBatch, parts: PartVectors) -> SignedBatch:
    """Return words with the bits of the vectors that they have as parts."""
    places_of_parts = find_sorted(frozen(parts.hashes), frozen(words.phrases.hashes))
    is_known = places_of_parts >= 0
    vectors = parts.vectors[places_of_parts[is_known]].astype(np.float64)
    bits = np.empty((len(vectors), words.bits.shape[1]), np.uint64)
    cut_bits(frozen(vectors), bits)
    words.bits[is_known] = bits
    return words
