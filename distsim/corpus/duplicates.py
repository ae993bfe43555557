"""Texts that are known already: equal ones by digests, near-duplicates by MinHash."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import in_range, whole_number
from distsim.base.errors import ArtifactError, ParameterError, counted
from distsim.corpus.kernels import count_common, hash_shingles, min_hashes
from distsim.corpus.sources import Source, open_source
from distsim.corpus.vocabulary import GrowingArray
from distsim.kernels.compiled import frozen

_READ_BYTES = 1 << 20


class TextDigest(NamedTuple):
    """Digest of a text: SHA-256 of the uncompressed bytes in hexadecimal, and their number."""

    digest: str
    n_bytes: int


class RunningDigest:
    """Digest of a text that is read in pieces."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._n_bytes = 0

    def add(self, piece: bytes) -> None:
        """Add the next piece of the text to the digest.

        Arguments:
            piece: bytes of the text; consecutive pieces may be cut anywhere.
        """
        self._hash.update(piece)
        self._n_bytes += len(piece)

    def digest(self) -> TextDigest:
        """Return the digest of the pieces added so far."""
        return TextDigest(self._hash.hexdigest(), self._n_bytes)


class Repeated(NamedTuple):
    """A file whose text is in the index already, under the name `known_as`.

    label: its name.
    """

    label: str
    known_as: str


class Grown(NamedTuple):
    """A file that begins with an indexed text of the same name, of `n_bytes` bytes.

    label: its name.
    """

    label: str
    n_bytes: int


class KnownTexts:
    """The texts of an index, in the order of its sources; None where a digest is not known.

    Arguments:
        names: of the sources.
        digests: of their texts.
    """

    def __init__(self, names: Sequence[str], digests: Sequence[TextDigest | None]) -> None:
        self._lengths: dict[str, set[int]] = {}
        self._names: dict[TextDigest, str] = {}
        for name, digest in zip(names, digests, strict=True):
            if digest is not None:
                self._names.setdefault(digest, name)
                self._lengths.setdefault(name, set()).add(digest.n_bytes)

    def find(self, source: Source) -> Repeated | Grown | None:
        """Return how a source's text is known (Repeated, Grown), None for a new text; all is read.

        Arguments:
            source: a file that is read in full.

        Raises:
            InputError: as open_source.
        """
        digest, beginnings = _digests(source, self._lengths.get(source.name, ()))
        if digest in self._names:
            return Repeated(source.label, self._names[digest])
        known = [beginning.n_bytes for beginning in beginnings if beginning in self._names]
        return Grown(source.label, max(known)) if known else None

    def __bool__(self) -> bool:
        return bool(self._names)


def digests_to_manifest(digests: Sequence[TextDigest | None]) -> list[list[Any] | None]:
    """Return the values that are stored in a manifest.

    Arguments:
        digests: of the sources' texts, in order.
    """
    return [None if digest is None else list(digest) for digest in digests]


def digests_from_manifest(kept: Any, n_sources: int) -> list[TextDigest | None]:
    """Return the digests stored in a manifest; None for each source of an older manifest.

    Arguments:
        kept: the stored value, None in an older manifest.

    Raises:
        ValueError, TypeError: the stored value is not a list of digests.
    """
    if kept is None:
        return [None] * n_sources
    digests: list[TextDigest | None] = []
    for entry in kept:
        if entry is None:
            digests.append(None)
            continue
        digest, n_bytes = entry
        if not isinstance(digest, str) or type(n_bytes) is not int:
            raise ValueError(f"{entry!r} is no digest of a text")
        digests.append(TextDigest(digest, n_bytes))
    if len(digests) != n_sources:
        raise ValueError(
            f"{counted(len(digests), 'digest')} of texts for {counted(n_sources, 'source')}"
        )
    return digests


def digest_of(source: Source) -> TextDigest:
    """Return the digest of a source's text; all is read.

    Arguments:
        source: a file that is read in full.
    """
    return _digests(source, ())[0]


def _digests(source: Source, lengths: Collection[int]) -> tuple[TextDigest, list[TextDigest]]:
    """Return the digest of a source, and those of its beginnings of the given lengths."""
    running = RunningDigest()
    beginnings: list[TextDigest] = []
    done = 0
    marks = sorted(length for length in lengths if length > 0)
    with open_source(source) as stream:
        while True:
            size = min(_READ_BYTES, marks[0] - done) if marks else _READ_BYTES
            piece = stream.read(size)
            if not piece:
                return running.digest(), beginnings
            running.add(piece)
            done += len(piece)
            if marks and done == marks[0]:
                beginnings.append(running.digest())
                marks.pop(0)


N_PERMUTATIONS = 128
_SCHEME = "affine32"
# How much a missed pair counts against a pair that is compared in vain, where bands are chosen.
_MISSES, _VAIN = 0.9, 0.1
# What Python and datasketch hold for a text, with 128 hashes: measured on 30,000 of them.
_TEXT_BYTES = 6500


@dataclass(frozen=True)
class NearOptions:
    """When texts are near-duplicates.

    Arguments:
        threshold: the Jaccard index of two sets of shingles from which on they are; chosen by
            bench/near_duplicates.py.
        words: words of a shingle; a shorter text is one shingle.
        seed: of the hash functions.

    Raises:
        ParameterError: a value is out of range.
    """

    threshold: float = 0.6
    words: int = 5
    seed: int = 1

    def __post_init__(self) -> None:
        in_range(self.threshold, "`near.threshold`", 0.1, 1.0)
        whole_number(self.words, "`near.words`", 1, 100)
        whole_number(self.seed, "`near.seed`", 0, (1 << 32) - 1)

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a manifest."""
        return dict(vars(self))


class Duplicate(NamedTuple):
    """A text that was left out.

    kept, dropped: the ids of the earlier text and of this one. jaccard: of their shingles.
    """

    kept: str
    dropped: str
    jaccard: float


class HashedTexts(NamedTuple):
    """The shingles and MinHashes of texts.

    names: their ids. starts: int64[n + 1]. shingles: uint32. values: uint32[n, N_PERMUTATIONS].
    """

    names: list[str]
    starts: np.ndarray
    shingles: np.ndarray
    values: np.ndarray


class NearDuplicates:
    """Finder of texts that nearly repeat an earlier one; it stores the others.

    Arguments:
        options: when texts are near-duplicates.
        memory: bytes for the texts that are stored; more of them are refused.
        known: what `arrays` gave earlier.
    """

    PARTS = ("starts", "shingles", "minhashes", "names")

    def __init__(
        self, options: NearOptions, memory: int, known: dict[str, np.ndarray] | None = None
    ) -> None:
        from datasketch import MinHash, MinHashLSH

        self._options = options
        self._memory = memory
        self._lsh = MinHashLSH(
            threshold=options.threshold, num_perm=N_PERMUTATIONS, weights=(_VAIN, _MISSES)
        )
        self._permutations = MinHash(N_PERMUTATIONS, options.seed, scheme=_SCHEME).permutations
        self._minhash = MinHash
        self._starts = GrowingArray(np.int64)
        self._starts.append(np.zeros(1, np.int64))
        self._shingles = GrowingArray(np.uint32)
        self._values = GrowingArray(np.uint32)
        self._names: list[str] = []
        if known is not None:
            self._restore(**known)

    def __len__(self) -> int:
        return len(self._names)

    def hashed(
        self, names: list[str], words: np.ndarray, stops: np.ndarray, word_hashes: np.ndarray
    ) -> HashedTexts:
        """Return texts with their shingles and MinHashes; threads may call it together.

        Arguments:
            names: of the texts.
            words: uint32, word ids end to end.
            stops: int64, where each text ends in `words`.
            word_hashes: uint64 by id.
        """
        starts, shingles = hash_shingles(
            frozen(words), frozen(stops), frozen(word_hashes), self._options.words
        )
        factors, offsets = map(frozen, self._permutations)
        return HashedTexts(
            names, starts, shingles, min_hashes(frozen(starts), frozen(shingles), factors, offsets)
        )

    def find(self, texts: HashedTexts) -> list[Duplicate | None]:
        """Return of each text what it repeats, or None; those are stored.

        Arguments:
            texts: hashed; empty ones repeat nothing and are not stored.

        Raises:
            ParameterError: the stored texts take more memory than was given.
        """
        duplicates: list[Duplicate | None] = []
        for number, name in enumerate(texts.names):
            shingles = frozen(texts.shingles[texts.starts[number] : texts.starts[number + 1]])
            duplicate = None
            if shingles.size:
                minhash = self._as_minhash(texts.values[number])
                duplicate = self._repeated(name, minhash, shingles)
                if duplicate is None:
                    self._store(name, minhash, shingles)
            duplicates.append(duplicate)
        n_bytes = len(self) * _TEXT_BYTES + 4 * int(self._starts.view()[-1])
        if n_bytes > self._memory:
            raise ParameterError(
                f"`dedup` near stores {counted(len(self), 'different text')}, about "
                f"{n_bytes / 2**30:.1f} GB, and was given `memory` "
                f"{self._memory / 2**30:.1f}G: give more, or use `dedup` exact"
            )
        return duplicates

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays to be stored for the next run, by name."""
        names = json.dumps(self._names, ensure_ascii=False).encode(errors="surrogatepass")
        return {
            "starts": self._starts.view(),
            "shingles": self._shingles.view(),
            "minhashes": self._values.view().reshape(-1, N_PERMUTATIONS),
            "names": np.frombuffer(names, np.uint8),
        }

    def _as_minhash(self, values: np.ndarray) -> Any:
        return self._minhash(
            seed=self._options.seed, scheme=_SCHEME, hashvalues=values,
            permutations=self._permutations,
        )  # fmt: skip

    def _repeated(self, name: str, minhash: Any, shingles: np.ndarray) -> Duplicate | None:
        """Return the earliest stored text that one nearly repeats."""
        starts, stored = self._starts.view(), self._shingles.view()
        for other in sorted(self._lsh.query(minhash)):
            theirs = frozen(stored[starts[other] : starts[other + 1]])
            common = count_common(shingles, theirs)
            jaccard = common / (shingles.size + theirs.size - common)
            if jaccard >= self._options.threshold:
                return Duplicate(self._names[other], name, jaccard)
        return None

    def _store(self, name: str, minhash: Any, shingles: np.ndarray) -> None:
        self._lsh.insert(len(self._names), minhash, check_duplication=False)
        self._names.append(name)
        self._shingles.append(shingles)
        self._starts.append(np.array([self._starts.view()[-1] + shingles.size]))
        self._values.append(minhash.hashvalues)

    def _restore(
        self, starts: np.ndarray, shingles: np.ndarray, minhashes: np.ndarray, names: np.ndarray
    ) -> None:
        self._names = json.loads(names.tobytes().decode(errors="surrogatepass"))
        lengths = np.diff(starts)
        sound = (
            minhashes.ndim == 2
            and starts.size == len(minhashes) + 1 == len(self._names) + 1
            and minhashes.shape[1] == N_PERMUTATIONS
            and starts[0] == 0
            and starts[-1] == shingles.size
            and bool(np.all(lengths > 0))
        )
        if not sound:
            raise ArtifactError(
                "the texts stored to find near-duplicates are damaged: restore the index or build "
                "it again"
            )
        for number, values in enumerate(minhashes):
            self._lsh.insert(number, self._as_minhash(np.array(values)), check_duplication=False)
        self._shingles.append(shingles)
        self._starts.append(starts[1:])
        self._values.append(minhashes.reshape(-1))
