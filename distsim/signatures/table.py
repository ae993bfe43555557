"""The signature table: bits and strength by phrase, memory-mapped, sorted by hash."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar, Union, cast, overload

import numpy as np
from numpy.typing import NDArray

from distsim import storage
from distsim.base.arguments import (
    AnyPath,
    Texts,
    Words,
    check_opened,
    one_or_many_texts,
    shown,
    utf8_phrase,
)
from distsim.base.errors import ArtifactError, IncompatibleError, ParameterError, counted
from distsim.contexts.phrase_store import Selection
from distsim.corpus.inflections import NONE, OF_LANGUAGE, Inflections
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.query import Lookup
from distsim.indexes.build import OF_SENTENCES
from distsim.indexes.corpus_index import CorpusIndex, knows_text_of, opened_index
from distsim.kernels.compiled import frozen
from distsim.signatures.composition import Composition, OwnVectors, PartVectors
from distsim.signatures.estimates import Estimator, estimate_by
from distsim.signatures.layout import PhraseColumns, rendered
from distsim.signatures.projections.projection import CHECKSUM_KEY
from distsim.signatures.projections.spectral import SpectralProjection
from distsim.signatures.projections.training import Learning
from distsim.signatures.recipe import Fingerprint, Recipe
from distsim.storage import StoredArray
from distsim.storage.manifest import finder_inside, signatures_inside
from distsim.storage.reading import Declaration

T = TypeVar("T")
_LOCK = RLock()
TableLike = Union["StoredTable", CorpusIndex, AnyPath]


Origin = Literal["stored", "composed", "unknown"]


class PhraseEvidence(NamedTuple):
    """What a table's vector of a phrase rests on.

    phrase: its normal form. occurrences: its count. own_share: the share of its own contexts in the
    vector, 0 to 1; the rest is of its words. origin: `stored`, in the table; `composed`, not in the
    table, made of its words; or `unknown`, without a vector.

    >>> learned.vector("king").evidence.origin
    'stored'
    """

    phrase: str
    occurrences: int
    own_share: float
    origin: Origin


class PhraseVector(NamedTuple):
    """The vector of a phrase, and what it rests on.

    values: float32[n_dimensions], of length 1; NaN where the phrase and all its words are unknown.
    evidence: whether it is stored, composed or unknown, by how many occurrences.

    >>> learned.vector("the old king").evidence.origin, learned.vector("king").values.shape
    ('composed', (512,))
    """

    values: NDArray[np.float32]
    evidence: PhraseEvidence


class StoredTable:
    """A signature table's arrays, mapped, not read; `SignatureTable` is one that compares phrases.

    Attributes:
        hashes: uint64[n], sorted.
        bits: uint64[n, n_bits / 64].
        strengths: uint32[n], the occurrences behind each signature.
        n_bits: bits of a signature.
        n_dimensions: of words' vectors; as many as bits where the table keeps none.
        fingerprint: how the table was made.
        parameters: the manifest: fingerprint and which phrases were signed.
        parts: the words' vectors, of which other phrases can be composed; None where not kept.
        longest: tokens of the longest phrases.
        unchanged: whether `build` found this very table there already.
        kept: objects made of the table, such as a search, each made once; by any key.

    Arguments:
        artifact: of the table.
    """

    ARRAYS: ClassVar[Declaration] = {
        "bits": StoredArray(np.uint64, "phrases", columns="words"),
        "own_shares": StoredArray(np.uint8, "phrases", optional=True),
    }

    def __init__(self, artifact: storage.Artifact) -> None:
        check_opened(artifact, storage.Artifact, self)
        self.artifact = artifact
        self.path = artifact.path
        self.parameters = artifact.parameters
        self.unchanged = False
        with storage.understood(artifact.path):
            self.fingerprint = Fingerprint.from_manifest(artifact.parameters["fingerprint"])
            self.n_bits = self.fingerprint.n_bits
            self.normaliser = Normaliser.from_manifest(self.fingerprint.normaliser)
            text_format = artifact.parameters["format"]
            self.longest = int(artifact.parameters["max_length"])
        self._phrases = PhraseColumns(artifact)
        self.hashes = self._phrases.hashes
        self.strengths = self._phrases.strengths
        own = artifact.arrays(
            self.ARRAYS, sizes={"phrases": self.hashes.size, "words": -(-self.n_bits // 64)}
        )
        self.bits = frozen(own["bits"])
        self.parts = PartVectors.read(artifact)
        self.n_dimensions = self.n_bits if self.parts is None else self.parts.n_dimensions
        self.own_vectors = OwnVectors.read(artifact)
        self.own_shares = frozen(own["own_shares"]) if "own_shares" in own else None
        self.kept: dict[Hashable, Any] = {}
        self._estimators: dict[str, Estimator] = {}
        self.lookup = Lookup(self.normaliser, text_format, self._has)
        if self.n_bits % 64 or self.n_bits > self.n_dimensions:
            raise artifact.contradiction("bits")

    @property
    def recipe(self) -> Recipe:
        """The recipe that made the table, with how its projection was learned.

        Raises:
            ArtifactError: the projection that belongs to it is not there.

        >>> from distsim import PRESETS
        >>> learned.recipe.composition == PRESETS["learned"].composition.in_language("english")
        True
        """
        of_fingerprint = Recipe.from_fingerprint(self.fingerprint)
        if not self.fingerprint.is_learned:
            return of_fingerprint
        learned = SpectralProjection.of_table(self.path, self.fingerprint.projection[CHECKSUM_KEY])
        with storage.understood(learned.path):
            learning = Learning.from_manifest(learned.parameters["learning"])
        if learning.rank == replace(learning, rank=None).directions(self.n_bits):
            learning = replace(learning, rank=None)
        return replace(of_fingerprint, learning=learning)

    @property
    def selection(self) -> Selection:
        """Which phrases were signed."""
        with storage.understood(self.path):
            return Selection(
                **{field.name: self.parameters[field.name] for field in fields(Selection)}
            )

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Return a table, opened, or the table that was signed into an index.

        Arguments:
            path: folder of the table or of the index.

        Raises:
            ArtifactError: there is no table of a readable version at `path`.
        """
        artifact = storage.Artifact(path)
        path = artifact.path
        if artifact.kind is storage.INDEX:
            inside = signatures_inside(path)
            if not inside.exists():
                raise ArtifactError(
                    f"{path}: the index was not signed yet: sign it (distsim sign {path})"
                )
            table = cls(storage.Artifact(inside, storage.SIGNATURES))
            if not knows_text_of(artifact, table.artifact):
                raise ArtifactError(
                    f"{inside}: was signed from another text than the index holds: run distsim "
                    f"sign {path} again"
                )
            return table
        return cls(storage.Artifact(path, storage.SIGNATURES))

    def is_of(self, index: CorpusIndex) -> bool:
        """Return whether the table was signed from an index's present text.

        Of tables that do not say from which sentences, the words and their counts are compared.

        Arguments:
            index: its text is read once, where the table was signed from an index.
        """
        made_from = self.artifact.made_from
        return self.parameters["corpus"] == index.corpus and (
            not made_from.startswith(OF_SENTENCES) or made_from == index.text_checksum
        )

    def is_of_all(self, index: CorpusIndex) -> bool:
        """Return whether the table was signed from an index's text, or from the whole text of which
        the index has some documents.

        Arguments:
            index: a corpus index, or a part of one.
        """
        return self.is_of(index) or (index.whole is not index and self.is_of(index.whole))

    def require_text(self, index: CorpusIndex) -> None:
        """Refuse an index whose present text is not the table's.

        Arguments:
            index: of the text.

        Raises:
            IncompatibleError: the table was signed from another text.
        """
        if not self.is_of(index):
            raise IncompatibleError(
                f"{self.path} was not signed from the present text of {index.path}: sign the "
                f"index again (distsim sign {index.path}) or name the one it was signed from"
            )

    @cached_property
    def projection(self) -> SpectralProjection:
        """The learned projection that the table was signed by.

        Raises:
            IncompatibleError: it was signed by none.
            ArtifactError: it is not there.
        """
        if not self.fingerprint.is_learned:
            raise IncompatibleError(
                f"{self.path}: was not signed by a learned projection and has no real vectors: "
                "sign it with the projection spectral"
            )
        return SpectralProjection.of_table(self.path, self.fingerprint.projection[CHECKSUM_KEY])

    @cached_property
    def around(self) -> CorpusIndex | None:
        """The index whose folder contains the table, opened once; None where it is in none."""
        folder = self.path.parent
        if signatures_inside(folder) != self.path or not storage.holds_artifact(folder):
            return None
        is_index = storage.Artifact(folder).kind is storage.INDEX
        return CorpusIndex.open(folder) if is_index else None

    def index_of_contexts(
        self, index: CorpusIndex | AnyPath | None, *, otherwise: str = ""
    ) -> CorpusIndex:
        """Return the index that is named, opened, or else the one that contains the table.

        Arguments:
            index: a corpus index or its path.
            otherwise: what else the user can do, for the message.

        Raises:
            ParameterError: no index is named and the table is in none.
        """
        if index is not None:
            return opened_index(index)
        if self.around is None:
            raise ParameterError(
                f"{self.path}: the table contains no contexts: name its index with `index`"
                + otherwise
            )
        return self.around

    def require_normaliser_of(self, index: CorpusIndex) -> None:
        """Refuse an index whose words were normalised in another way than this table's.

        Arguments:
            index: of any text.

        Raises:
            IncompatibleError: the normalisers differ; both paths are named.
        """
        if self.normaliser != index.options.normaliser:
            raise IncompatibleError(
                f"{self.path} normalises text in another way than {index.path}: name a table "
                f"that was signed from this index (distsim sign {index.path})"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.artifact,)

    def __len__(self) -> int:
        return len(self._phrases)

    def __contains__(self, phrase: object) -> bool:
        return isinstance(phrase, str) and bool(phrase.strip()) and self.find(phrase) >= 0

    def __iter__(self) -> Iterator[str]:
        return self.texts()

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self.path}: {counted(len(self), 'phrase')}, "
            f"{self.fingerprint.short}>"
        )

    def _repr_html_(self) -> str:
        rows = [("phrases", f"{len(self):,}"), *self.fingerprint.fields().items()]
        cells = "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in rows)
        return f"<table><caption>{escape(str(self.path))}</caption>{cells}</table>"

    def normal_form(self, phrase: str) -> str:
        """Return the normal form of a phrase, in which the table has it, if it does.

        Of several, the one with the most occurrences.

        Arguments:
            phrase: words separated by spaces.

        Raises:
            ParameterError: the phrase is empty.
        """
        if self.lookup.is_normal(phrase):
            return phrase
        readings = [" ".join(words) for words in self.lookup.readings(phrase)]
        if len(readings) == 1:
            return readings[0]
        rows = self.find_normal(readings)
        return readings[int(np.argmax(np.where(rows >= 0, self.strengths[rows].astype(int), -1)))]

    def normal_forms(self, phrases: Sequence[str]) -> list[str]:
        """Return `normal_form` of each phrase.

        Arguments:
            phrases: words separated by spaces.

        Raises:
            ParameterError: a phrase is empty.
        """
        are_normal = self.lookup.are_normal(phrases)
        return [
            phrase if is_normal else self.normal_form(phrase)
            for phrase, is_normal in zip(phrases, are_normal, strict=True)
        ]

    def words(self, phrase: str) -> list[str]:
        """Return the words of a phrase's normal form; none where the normaliser drops them all.

        Arguments:
            phrase: words separated by spaces.

        Raises:
            ParameterError: the phrase is empty.
        """
        return self.normal_form(phrase).split()

    @overload
    def find(self, phrases: str) -> int: ...
    @overload
    def find(self, phrases: Sequence[str]) -> NDArray[np.int64]: ...
    def find(self, phrases: str | Sequence[str]) -> int | NDArray[np.int64]:
        """Return the row of a phrase, or int64[n] of every phrase, -1 where it has no signature.

        Arguments:
            phrases: one or several, as typed.

        Raises:
            ParameterError: a phrase is empty.
        """
        if isinstance(phrases, str):
            return self.row(self.normal_form(phrases))
        return self.find_normal(self.normal_forms(phrases))

    def row(self, phrase: str) -> int:
        """Return the row of one phrase, -1 where it has none: in some microseconds.

        Arguments:
            phrase: in its normal form.
        """
        return self._phrases.row(utf8_phrase(phrase))

    def estimator(self, *, estimate: str | None = None) -> Estimator:
        """Return what estimates cosines of the table's phrases, the same object each time.

        Arguments:
            estimate: `bits` or `restored`; None: the table's default.

        Raises:
            ParameterError: there is no such estimate, or the table keeps no vectors for it.
        """
        estimate = estimate_by(self, estimate)
        if estimate not in self._estimators:
            self._estimators[estimate] = Estimator(self, estimate)
        return self._estimators[estimate]

    def vector(self, phrase: str) -> PhraseVector:
        """Return the vector of a phrase, stored or composed of its words, and what it rests on.

        Arguments:
            phrase: words separated by spaces.

        Raises:
            ParameterError: the phrase is empty.

        >>> learned.vector("zeppelin").evidence
        PhraseEvidence(phrase='zeppelin', occurrences=0, own_share=0.0, origin='unknown')
        """
        normal = self.normal_form(phrase)
        (values,), row = self.vectors(phrase), self.row(normal)
        if row < 0:
            origin: Origin = "unknown" if np.isnan(values[0]) else "composed"
            return PhraseVector(values, PhraseEvidence(normal, 0, 0.0, origin))
        share = 255 if self.own_shares is None else int(self.own_shares[row])
        evidence = PhraseEvidence(normal, int(self.strengths[row]), round(share / 255, 3), "stored")
        return PhraseVector(values, evidence)

    @overload
    def vectors(self, phrases: Texts) -> NDArray[np.float32]: ...
    @overload
    def vectors(
        self, phrases: Texts | Sequence[Words], *, of_words: Literal[True]
    ) -> NDArray[np.float64]: ...
    def vectors(
        self, phrases: Texts | Sequence[Words], *, of_words: bool = False
    ) -> NDArray[np.float32] | NDArray[np.float64]:
        """Return a unit vector for each phrase, float32[n, n_dimensions].

        For a word the stored vector, and for a phrase with contexts of its own; else the weighted
        mean of the words' vectors, of a rare word what its bits tell. Where the table keeps no
        words' vectors, the signs of the bits, float32[n, n_bits]. A row of NaN where neither the
        phrase nor any of its words is known.

        Arguments:
            phrases: one or several; with `of_words` also the words of each, in normal form.
            of_words: make every phrase of its words alone, also one that is in the table; float64.

        Raises:
            ParameterError: a phrase is empty.
            IncompatibleError: `of_words`, and the table keeps no vectors of words.

        >>> learned.vectors(["king", "the queen"]).shape, table.vectors("king").shape
        ((2, 512), (1, 256))
        """
        if of_words:
            in_words = isinstance(phrases, list) and all(
                isinstance(phrase, tuple) for phrase in phrases
            )
            words = (
                cast(Sequence[Words], phrases)
                if in_words
                else [
                    tuple(self.words(phrase)) for phrase in one_or_many_texts(cast(Texts, phrases))
                ]
            )
            return self.require_word_vectors().compose(words)
        known_phrases, numbers = self.estimator().look_up(one_or_many_texts(cast(Texts, phrases)))
        rows: NDArray[np.float32] = known_phrases.unit_vectors[numbers]
        rows[~known_phrases.known[numbers]] = np.nan
        return rows

    @property
    def finder(self) -> storage.Artifact | None:
        """The stored finder of substitutes that belongs to this very table; None without one."""
        folder = finder_inside(self.path)
        if not storage.holds_artifact(folder):
            return None
        artifact = storage.Artifact(folder, storage.FINDER)
        return artifact if artifact.parameters.get("table") == self.artifact.checksum else None

    @property
    def inflections(self) -> str | None:
        """Name of the inflections that ship by which the finder was made, or `none`; else None."""
        finder = self.finder
        name = "" if finder is None else str(finder.parameters["inflections"])
        return name if name in (*OF_LANGUAGE.values(), NONE) else None

    def require_word_vectors(self) -> PartVectors:
        """Return the vectors of words that the table keeps.

        Raises:
            IncompatibleError: it keeps none.
        """
        if self.parts is None:
            raise IncompatibleError(
                f"{self.path}: keeps no vectors of words: sign it with the preset learned, or from "
                "vectors, and keep its parts"
            )
        return self.parts

    def text(self, row: int) -> str:
        """Return the phrase of a row.

        Arguments:
            row: 0 to len(self) - 1.
        """
        return self._phrases.text(row)

    def texts(self) -> Iterator[str]:
        """Yield all phrases in row order."""
        return (self.text(row) for row in range(len(self)))

    @property
    def text_columns(self) -> tuple[np.ndarray, ...]:
        """Hashes and texts of the rows, as the kernel `find_texts` takes them."""
        return self._phrases.columns

    def edges(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the text of all phrases, UTF-8, and where some rows' begin and end in it.

        uint8, int64[n], int64[n].

        Arguments:
            rows: int64[n].
        """
        return self._phrases.edges(rows)

    def token_counts(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Return the number of tokens of phrases, uint16[n].

        Arguments:
            rows: int64[n]; all rows where None.
        """
        return self._phrases.token_counts(rows)

    def has_own_contexts(self, rows: np.ndarray) -> np.ndarray:
        """Return whether phrases have signatures of contexts of their own, bool[n].

        The others are so rare that their signatures are made of their words alone.

        Arguments:
            rows: int64[n], of the table.
        """
        composition = self.fingerprint.composition
        if self.parts is None or composition is None:
            return np.ones(rows.size, bool)
        least = Composition.from_manifest(composition).min_own_count
        own: NDArray[np.bool_] = (self.token_counts(rows) == 1) | (self.strengths[rows] >= least)
        return own

    def _has(self, token: str) -> bool:
        """Return whether a text is a word of the table."""
        return self.row(token) >= 0

    def find_normal(self, texts: Sequence[str]) -> np.ndarray:
        """Return the row of every phrase, int64[n], -1 where there is none.

        Arguments:
            texts: n phrases in their normal form.

        Raises:
            ParameterError: a phrase is not valid Unicode.
        """
        return self.find_rendered(*rendered(texts))

    def find_rendered(self, text: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Return the row of every phrase, int64[n], -1 where there is none; millions a second.

        Arguments:
            text: uint8, phrases in their normal form as UTF-8, end to end.
            offsets: int64[n + 1], where each begins in `text`.
        """
        return self._phrases.find(text, offsets)


def made_once(
    index: CorpusIndex, table: StoredTable | None, key: Hashable, make: Callable[[], T]
) -> T:
    """Return the result of `make`, made once for an index and a table; always without a table.

    It is kept with the table, for the index that was asked for last.

    Arguments:
        index, table: those that it is made from.
        make: called without arguments.
    """
    if table is None:
        return make()
    with _LOCK:
        of, by_key = cast(tuple[Any, dict[Hashable, Any]], table.kept.get("made once", (None, {})))
        if of is not index:
            by_key = {}
            table.kept["made once"] = index, by_key
        if key not in by_key:
            by_key[key] = make()
        return cast(T, by_key[key])


def inflections_of(index: CorpusIndex, table: StoredTable) -> Inflections:
    """Return the inflections by which a table's finder was made, or those of the text's language.

    Arguments:
        index: of the text.
        table: signed from it.
    """

    def opened() -> Inflections:
        return Inflections.open(table.inflections or index.language)

    return made_once(index, table, "inflections", opened)


def opened_table(table: TableLike, argument: str = "table") -> StoredTable:
    """Return the table that is meant: itself, the one signed into an index, or that at a path.

    Arguments:
        table: a table, an index that was signed, or the path of either.
        argument: its name, for messages.

    Raises:
        ArtifactError: there is no table.
        ParameterError: it is something else, or a selection of documents.

    >>> opened_table(index).path == opened_table(index.path).path == table.path
    True
    """
    if isinstance(table, StoredTable):
        return table
    if isinstance(table, CorpusIndex):
        if table.home is None:
            raise ParameterError(
                f"{argument}: is a selection of documents, which has no signatures: name the table"
            )
        return StoredTable.open(table.home)
    if isinstance(table, str | PathLike) and table != "":
        return StoredTable.open(Path(table))
    raise ParameterError(
        f"{argument}: is {shown(table)}, wanted a table, an index that was signed, or the path of "
        "either"
    )
