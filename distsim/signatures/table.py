"""The signature table: phrase -> bits and strength, memory-mapped and sorted by hash."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from distsim import storage
from distsim.contexts.phrase_store import DEFAULT_MEMORY
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.query import split_phrase
from distsim.corpus.vocabulary import hash_blob
from distsim.errors import ArtifactError, ParameterError
from distsim.indexes.corpus_index import CorpusIndex, signatures_inside
from distsim.kernels.compiled import frozen
from distsim.kernels.projection import cut_bits
from distsim.kernels.tables import find_texts
from distsim.parallel import Progress, no_progress
from distsim.signatures.composition import PartVectors
from distsim.signatures.recipe import Recipe
from distsim.signatures.rows import BLOCK_ROWS
from distsim.signatures.sign import Selection, sign_index


class SignatureTable:
    """Phrases with their signatures; arrays are mapped, not read.

    hashes: uint64[n], sorted. bits: uint64[n, n_bits / 64]. strengths: uint32[n], the
    occurrences behind each signature. parameters: what the table was made with. parts: the
    words' real vectors, of which other phrases can be composed; None where not kept. longest: the
    most tokens that a phrase has.
    """

    def __init__(self, artifact: storage.Artifact) -> None:
        self.artifact = artifact
        self.path = artifact.path
        self.parameters = artifact.parameters
        with storage.understood(artifact.path):
            self.fingerprint: dict[str, Any] = artifact.parameters["fingerprint"]
            self.n_bits: int = self.fingerprint["projection"]["bits"]
            self.normaliser = Normaliser.from_manifest(self.fingerprint["normaliser"])
            self._running_text = artifact.parameters["format"] == "text"
            self.longest = int(artifact.parameters["max_length"])
        self.hashes = frozen(artifact.array("hashes", np.uint64))
        self.bits = frozen(artifact.array("bits", np.uint64, ndim=2))
        self.strengths = frozen(artifact.array("strengths", np.uint32))
        self._text = frozen(artifact.array("text", np.uint8))
        self._blocks = frozen(artifact.array("text_blocks", np.uint64))
        self._ends = frozen(artifact.array("text_ends", np.uint32))
        self.parts = PartVectors.read(artifact)
        n = self.hashes.size
        if not (
            len(self.bits) == self.strengths.size == self._ends.size == n
            and self.bits.shape[1] * 64 == self.n_bits
            and self._blocks.size == -(-n // BLOCK_ROWS)
            and bool(np.all(self._blocks <= self._text.size))
        ):
            raise ArtifactError(
                f"{self.path}: the table's arrays contradict each other: restore it or "
                "sign it again"
            )

    @classmethod
    def open(cls, path: str | Path) -> "SignatureTable":
        """Open a table, or the table that was signed into an index.

        Raises:
            ArtifactError: there is no table of a readable version at `path`.
        """
        path = Path(path)
        artifact = storage.Artifact(path)
        if artifact.kind is storage.INDEX:
            inside = signatures_inside(path)
            if not inside.exists():
                raise ArtifactError(
                    f"{path}: the index was not signed yet: run distsim sign {path}"
                )
            return cls(storage.Artifact(inside, storage.SIGNATURES))
        return cls(storage.Artifact(path, storage.SIGNATURES))

    @classmethod
    def build(
        cls,
        index: CorpusIndex,
        path: str | Path | None = None,
        recipe: Recipe | None = None,
        selection: Selection | None = None,
        jobs: int | None = None,
        progress: Progress = no_progress,
        keep_sums: bool = False,
        memory_bytes: int = DEFAULT_MEMORY,
        projection_path: str | Path | None = None,
        keep_parts: bool = True,
    ) -> "SignatureTable":
        """Sign the phrases of an index into the folder `path`, or into the index, and open it.

        Raises: as distsim.signatures.sign.sign_index.
        """
        return cls.open(
            sign_index(
                index,
                path,
                recipe,
                selection,
                jobs,
                progress,
                keep_sums,
                memory_bytes,
                projection_path,
                keep_parts,
            )
        )

    def __len__(self) -> int:
        return self.hashes.size

    def normal_form(self, phrase: str) -> str:
        """Return the phrase as it stands in the table, if it does.

        Raises:
            ParameterError: the phrase is empty.
        """
        return " ".join(split_phrase(phrase, self.normaliser, self.is_whole))

    def find(self, phrases: Sequence[str]) -> np.ndarray:
        """Return the row of every phrase, -1 where it has no signature; int64.

        Raises:
            ParameterError: a phrase is empty.
        """
        return self.find_normal([self.normal_form(phrase) for phrase in phrases])

    def composed_bits(self, phrase: str) -> np.ndarray | None:
        """Return bits composed of the words of a phrase that has no row, uint64[n_bits / 64].

        None where the table keeps no parts or none of the words is among them.

        Raises:
            ParameterError: the phrase is empty.
        """
        if self.parts is None:
            return None
        vector = self.parts.compose(split_phrase(phrase, self.normaliser, self.is_whole))
        if vector is None:
            return None
        bits = np.empty((1, self.n_bits // 64), np.uint64)
        cut_bits(frozen(vector[None, :]), bits)
        return bits[0]

    def text(self, row: int) -> str:
        """Return the phrase of a row."""
        block = row // BLOCK_ROWS
        base = int(self._blocks[block])
        start = base + (int(self._ends[row - 1]) if row % BLOCK_ROWS else 0)
        return bytes(self._text[start : base + int(self._ends[row])]).decode(errors="replace")

    def texts(self) -> Iterator[str]:
        """Yield all phrases in row order."""
        return (self.text(row) for row in range(len(self)))

    def token_counts(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Return the number of tokens of the phrases of all rows or of some, int64."""
        spaces = np.concatenate([[0], np.cumsum(self._text == ord(" "))])
        blocks = np.repeat(self._blocks.astype(np.int64), BLOCK_ROWS)[: len(self)]
        ends = np.minimum(blocks + self._ends, self._text.size)
        starts = np.concatenate([[0], ends[:-1]])
        counts = spaces[ends] - spaces[starts] + 1
        return counts if rows is None else counts[rows]

    def is_whole(self, piece: str) -> bool:
        """Tell whether a piece of a phrase is a word of the table, not to be cut further."""
        return not self._running_text or bool(self.find_normal([piece])[0] >= 0)

    def find_normal(self, texts: Sequence[str]) -> np.ndarray:
        """Return the row of every phrase given in its normal form, -1 where there is none."""
        try:
            data = [text.encode() for text in texts]
        except UnicodeEncodeError:
            raise ParameterError("a phrase is not valid Unicode: give it in UTF-8") from None
        offsets = np.cumsum([0, *map(len, data)])
        return self.find_rendered(np.frombuffer(b"".join(data), np.uint8), offsets)

    def find_rendered(self, text: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Return the row of every text[offsets[i]:offsets[i + 1]], -1 where there is none.

        text: uint8, phrases in their normal form as UTF-8, end to end. Millions a second.
        """
        return find_texts(
            self.hashes, self._text, self._blocks, self._ends, BLOCK_ROWS,
            frozen(hash_blob(text, offsets)), frozen(text), frozen(offsets),
        )  # fmt: skip
