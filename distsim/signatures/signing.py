"""A source and a recipe -> a signature table: the only place where a table comes to be.

Phrases' counted contexts are weighed, projected, composed, cut to bits and written, in one
creation: a learnt projection is learnt inside it and belongs to the table, whole or not there.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.arguments import one_path
from distsim.base.errors import DistsimError, InputError, ParameterError
from distsim.base.parallel import Progress, no_progress
from distsim.contexts.phrase_store import DEFAULT_MEMORY
from distsim.contexts.selection import Selection
from distsim.contexts.sources.index import IndexSource
from distsim.contexts.sources.source import (
    CountedText,
    Part,
    PhraseBatch,
    PhraseSource,
    WordsApart,
    Work,
    batch_results,
)
from distsim.contexts.syntax.model import SyntaxModel
from distsim.contexts.vectors import no_counts
from distsim.indexes.corpus_index import CorpusIndex, signatures_inside
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.signatures.composition import Composer, PartVectors, PartWords
from distsim.signatures.feature_store import FeatureWriter, has_features
from distsim.signatures.fingerprint import Fingerprint, weights_manifest
from distsim.signatures.kernels.projection import cut_bits
from distsim.signatures.layout import GatheredRows, Rows, StreamedRows
from distsim.signatures.own_projection import (
    choose_projection,
    clear_projections,
    learn_from,
    only_its_own,
)
from distsim.signatures.projections.learn import TaughtWords
from distsim.signatures.projections.projection import Projection
from distsim.signatures.projections.spectral import projection_inside
from distsim.signatures.recipe import DEFAULT, USUAL, Recipe
from distsim.signatures.signer import SignedBatch, Signer
from distsim.signatures.sums import SumsStream


class Signed(NamedTuple):
    """A table's folder; `unchanged` where this very table stood there already."""

    path: Path
    unchanged: bool


@dataclass(frozen=True)
class Keeping:
    """What a table keeps beside its bits.

    Arguments:
        parts: the real vectors of the words of which phrases were composed, so that phrases which
            are not in the table can be composed too.
        sums: the sums of all phrases, however rare, so that the table can be merged.
        features: all weighted features, 12 bytes each, for exact cosines without an index.
    """

    parts: bool = True
    sums: bool = False
    features: bool = False


def sign(
    source: PhraseSource | CorpusIndex,
    path: str | Path | None = None,
    recipe: Recipe | None = None,
    selection: Selection | None = None,
    *,
    projection: str | Path | None = None,
    keeping: Keeping | None = None,
    force: bool = False,
    memory: int = DEFAULT_MEMORY,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Signed:
    """Sign the phrases of a source into a table and return the table's folder.

    Where the very table stands at `path` already, sound, nothing is written.

    Arguments:
        source: an index, or another source of phrases (distsim.contexts.sources).
        path: the table's folder; inside the index where None.
        recipe: how contexts become bits; where None, the source's usual one: the learnt preset
            of an index and of counts, VECTORS of word vectors.
        selection: which phrases; those of 1 to 4 tokens that occur 5 times where None.
        projection: a learnt projection, or a table that has one, for a recipe that wants it; where
            None one is learnt, unless the table at `path` or the index's own has the same.
        keeping: what the table keeps beside its bits.
        force: replace another table that stands at `path`; an index's own is always replaced.
        memory: for putting phrases in order; less takes longer.

    Raises:
        ArtifactError: something that is no table, or another table, stands at `path` (see `force`),
            or it is being written.
        IncompatibleError: the projection was learnt from other contexts or weights.
        InputError: what the source reads is at fault.
        ParameterError: the source cannot give what the recipe wants, sums are to be kept and do not
            add up to those of a whole, there is too little text to learn a projection from, or no
            phrase is frequent enough.
    """
    home = source.home if isinstance(source, CorpusIndex) else None
    force = force or path is None or not storage.holds_artifact(path)
    if isinstance(source, CorpusIndex):
        source = IndexSource(source)
    if path is None and home is None:
        raise ParameterError("`path`: give the folder of the table; only an index holds its own")
    path = one_path(path) if path is not None else signatures_inside(Path(str(home)))
    recipe, selection = recipe or USUAL[source.usual_model], selection or Selection()
    keeping = keeping or Keeping()
    if keeping.sums:
        require_additive(recipe, selection)
    if projection is not None and not recipe.is_learnt:
        raise ParameterError(
            f"`projection` {str(projection)!r} with a recipe of random vectors: choose the "
            "projection spectral in the recipe, or leave it out"
        )
    known = [path] if home is None else [path, signatures_inside(home), projection_inside(home)]
    try:
        with storage.create(path, storage.SIGNATURES) as writer, only_its_own(writer.folder):
            work = Work(writer.folder, memory, jobs, progress)
            with source.counted(recipe.model, recipe.weighting, selection, work) as text:
                if keeping.features and not text.is_sorted:
                    raise ParameterError(
                        "`keep_features` with an index, which holds the contexts of its table, or "
                        "with word vectors: leave it out"
                    )
                chosen = choose_projection(
                    text, recipe, writer.folder, projection, known, work, new=force
                )
                signing = Signing(
                    text, recipe, chosen.projection, selection, keeping, work, taught=chosen.taught
                )
                if not chosen.is_new and signing.made_before(path):
                    raise _UnchangedError
                storage.require_free(path, force)
                signing.write(writer)
                if not keeping.sums:  # to be added to those of others
                    require_rows(writer.parameters)
    except _UnchangedError:
        return Signed(path, unchanged=True)
    clear_projections(path)
    return Signed(path, unchanged=False)


def learn(
    source: PhraseSource | CorpusIndex,
    path: str | Path,
    recipe: Recipe | None = None,
    *,
    force: bool = False,
    memory: int = DEFAULT_MEMORY,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Path:
    """Learn a projection for a recipe from a source's frequent words; return its folder.

    Arguments and what is raised: as of `sign`.

    >>> from distsim import SignatureTable, learn, sign
    >>> path = learn(index, folder / "my.projection")
    >>> sign(index, folder / "my.table", projection=path).projection.n_bits
    256
    """
    recipe, selection = recipe or DEFAULT, Selection()
    if isinstance(source, CorpusIndex):
        source = IndexSource(source)
    storage.require_free(path, force)
    with storage.create(path, storage.PROJECTION) as writer:
        work = Work(writer.folder, memory, jobs, progress)
        with source.counted(recipe.model, recipe.weighting, selection, work) as text:
            learn_from(text, recipe, writer, work)
    return Path(path)


def require_additive(recipe: Recipe, selection: Selection) -> None:
    """Refuse to keep sums where those of two halves do not make those of the whole.

    Raises:
        ParameterError: the projection is learnt, the weights are not raw counts, contexts are
            syntactic, or only the most frequent phrases are kept.
    """
    if recipe.is_learnt:
        raise ParameterError(
            "`keep_sums` with a learnt projection: another corpus has learnt another one, so such "
            "tables cannot be merged: use the preset thesis"
        )
    if isinstance(recipe.model, SyntaxModel):
        raise ParameterError("`keep_sums` with the syntactic model: leave it out")
    scheme = recipe.weighting.scheme
    if scheme != "raw":
        raise ParameterError(
            f"`keep_sums` with `weights` {scheme}: the {scheme} weights of a whole are not the sum "
            "of its parts' weights, so such tables cannot be merged: use raw, or sign the whole "
            "corpus at once"
        )
    if selection.max_phrases is not None:
        raise ParameterError(
            "`keep_sums` with `max_phrases`: the most frequent phrases of a part are not those of "
            "the whole: use `min_count`"
        )


def require_rows(parameters: dict[str, Any]) -> None:
    """Refuse a table that has no rows, and say which limit emptied it.

    Raises:
        ParameterError: it has none.
    """
    if parameters["phrases"]:
        return
    least, most = parameters["min_count"], parameters["max_phrases"]
    lone = parameters["phrases_without_context"]
    if lone:
        limits = (
            f"`min_count` {least}" if most is None else f"`min_count` {least}, `max_phrases` {most}"
        )
        raise ParameterError(
            f"no phrase has a signature: {limits}: of the {lone:,} left none has a context that "
            "has a weight: change the limits, or give more text"
        )
    raise ParameterError(
        f"no phrase of 1 to {parameters['max_length']} tokens occurs `min_count` {least} times: "
        "lower it, or give more text"
    )


class _UnchangedError(Exception):
    """What is to be made is there; leaves a creation without a trace."""


class Signing:
    """One text being signed.

    parts: vectors of the words of a larger text, of which its phrases are composed; the text's own
        where None. taught: the words that the projection was learnt from, just now.
    """

    def __init__(
        self,
        text: CountedText,
        recipe: Recipe,
        projection: Projection,
        selection: Selection,
        keeping: Keeping,
        work: Work,
        parts: PartVectors | None = None,
        taught: TaughtWords | None = None,
    ) -> None:
        self._text = text
        self._recipe = recipe
        self._selection = selection
        self._keeping = keeping
        self._work = work
        self._projection = projection
        self._parts = parts
        self._taught = taught
        self._least = 1 if keeping.sums else text.lowest_count(selection)

    def made_before(self, path: Path) -> bool:
        """Tell whether the very table that is to be written stands at `path`, sound."""
        with suppress(DistsimError, LookupError, TypeError):
            artifact = storage.Artifact(path, storage.SIGNATURES)
            present = dict(artifact.parameters)
            for name in ("phrases", "phrases_without_context"):
                present.pop(name)
            fingerprint = dict(present.pop("fingerprint"))
            composition = dict(fingerprint.pop("composition", {}))
            parts = composition.pop("parts", None)
            wanted_composition = self._recipe.composition
            return (
                present == self._chosen() | self._counted()
                and fingerprint == self._fingerprint().manifest()
                and composition == (wanted_composition.manifest() if wanted_composition else {})
                and ("part_hashes" in artifact) == (parts is not None and self._keeping.parts)
                and has_features(artifact) == self._keeping.features
                and not artifact.damaged()
            )
        return False

    def write(self, writer: storage.ArtifactWriter) -> None:
        """Write the table."""
        text, recipe, keeping = self._text, self._recipe, self._keeping
        projection, composition = self._projection, recipe.composition
        if recipe.weighting.uses_marginals:
            text.gather_marginals(self._least)
        rows = self._rows(writer)
        parts = self._parts
        longest, longer = self._selection.max_length, None
        signed_words: list[SignedBatch] = []
        if parts is None and composition is not None and projection.centre is not None:
            keep = None  # words are signed again, with the others
            if isinstance(text, WordsApart) and not keeping.sums:
                longer = text.longer_parts(self._least, longest, composition.own_from)
                keep = signed_words.append
            words = word_vectors(
                text, recipe, projection, self._selection, self._work, keep, self._taught
            )
            parts = PartVectors.gather(words, composition)
            for batch in signed_words:
                kept = batch.where(batch.phrases.strengths >= self._least)
                rows.add(_cut_again(kept, parts) if composition.spelling else kept)
        composer = None
        if projection.centre is not None:
            composer = Composer(projection.centre, composition, parts)
        signer = Signer(recipe.weighting, projection, composer, text.space)
        sums = SumsStream(writer) if keeping.sums else None
        features = FeatureWriter(writer) if keeping.features else None
        all_parts = longer or text.parts(self._least, longest, by_hash=keeping.sums)
        if sums is not None:
            all_parts = self._keeping_sums(all_parts, sums, signer)

        def signed(
            batch: PhraseBatch,
        ) -> tuple[SignedBatch, tuple[np.ndarray, np.ndarray] | None]:
            return signer.sign(batch), signer.named_weights(batch) if features else None

        total = None if keeping.sums else text.total()
        for batch, weights in batch_results(text, all_parts, signed, self._work, "signing", total):
            rows.add(batch)
            if features is not None and weights is not None:
                features.add(batch.phrases.hashes, batch.phrases.contexts.starts, *weights)
        n_rows = rows.finish()
        made_of = None
        if composition is not None and parts is not None:
            made_of = composition.manifest() | {"parts": parts.checksum()}
            if keeping.parts:
                parts.write(writer, projection.n_bits)
        writer.parameters = {
            "fingerprint": self._fingerprint(made_of).manifest(),
            **self._chosen(),
            "phrases": n_rows,
            "phrases_without_context": rows.n_without_context,
            **self._counted(),
        }

    def _rows(self, writer: storage.ArtifactWriter) -> Rows:
        n_bits, keep = self._projection.n_bits, self._selection.max_phrases
        if keep is None and (self._text.is_sorted or self._keeping.sums):
            return StreamedRows(writer, n_bits)
        return GatheredRows(writer, n_bits, keep)

    def _keeping_sums(
        self, parts: Iterator[Part], sums: SumsStream, signer: Signer
    ) -> Iterator[Part]:
        """Write the terms of all phrases; yield those that are frequent enough."""
        for part in parts:
            for batch in self._text.count(part):
                twice = batch.hashes[1:] == batch.hashes[:-1]
                if twice.any():
                    raise InputError(
                        f"two phrases have the hash {int(batch.hashes[np.argmax(twice)]):016x} and "
                        "their sums cannot be told apart: sign without `keep_sums`"
                    )
                sums.add(batch, signer.offsets(batch))
                yield Part(batch.where(batch.strengths >= self._selection.min_count), part.size)

    def _fingerprint(self, composition: dict[str, Any] | None = None) -> Fingerprint:
        return Fingerprint(
            self._text.model,
            weights_manifest(self._recipe.weighting, self._text.marginals),
            self._text.normaliser.manifest(),
            self._projection.manifest(),
            composition,
        )

    def _chosen(self) -> dict[str, Any]:
        """Return what the manifest keeps of the text and of which phrases were signed."""
        text, selection = self._text, self._selection
        return {
            "format": text.text_format,
            "corpus": text.corpus,
            "min_count": selection.min_count,
            "max_length": selection.max_length,
            "max_phrases": selection.max_phrases,
        }

    def _counted(self) -> dict[str, Any]:
        """Return what the manifest keeps of the text's size, for tables that need it."""
        text, counted = self._text, dict(self._text.parameters)
        if self._keeping.sums:
            counted["sums"] = {"tokens": text.n_tokens, "sentences": text.n_sentences}
        return counted


def _cut_again(words: SignedBatch, parts: PartVectors) -> SignedBatch:
    """Return words with the bits of the vectors that they have as parts."""
    found = find_sorted(frozen(parts.hashes), frozen(words.phrases.hashes))
    some = found >= 0
    vectors = parts.vectors[found[some]].astype(np.float64)
    bits = np.empty((len(vectors), words.bits.shape[1]), np.uint64)
    cut_bits(frozen(vectors), bits)
    words.bits[some] = bits
    return words


def word_vectors(
    text: CountedText,
    recipe: Recipe,
    projection: Projection,
    selection: Selection,
    work: Work,
    keep: Callable[[SignedBatch], None] | None = None,
    taught: TaughtWords | None = None,
) -> PartWords:
    """Return the words of a text with their vectors, of which phrases can be composed.

    Arguments:
        keep: is handed the words with their bits and without their contexts.
        taught: words that the projection was learnt from; they are not counted again.
    """
    assert projection.centre is not None
    signer = Signer(recipe.weighting, projection, Composer(projection.centre), text.space)

    words, known = text.parts(selection.min_count, 1), None
    if taught is not None and isinstance(text, WordsApart):
        words, known = text.words(selection.min_count, taught.least), taught

    def signed(batch: PhraseBatch) -> tuple[SignedBatch, np.ndarray]:
        sums = signer.sums(batch)
        if known is not None:
            known.fill_sums(batch.hashes, projection, sums)
        vectors = signer.composed(batch, sums)
        return signer.cut(batch, vectors), vectors.astype(np.float16)

    found = []
    for batch, vectors in batch_results(text, words, signed, work, "words", text.total()):
        phrases, shares = batch.phrases, batch.phrases.shares
        if shares is None:
            shares = phrases.strengths.astype(np.float64) / max(1, text.n_tokens)
        found.append(PartWords(
            phrases.hashes, shares, phrases.strengths, vectors, phrases.text, phrases.text_lengths
        ))  # fmt: skip
        if keep is not None:
            contexts = no_counts(phrases.hashes.size)
            keep(replace(batch, phrases=replace(phrases, contexts=contexts)))
    return PartWords.joined(found, projection.n_dimensions)
