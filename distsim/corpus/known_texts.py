"""Digests of uncompressed texts, by which a text is recognised under another name."""

import hashlib
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from distsim.corpus.sources import Source, open_source

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
        known = [one.n_bytes for one in beginnings if one in self._names]
        return Grown(source.label, max(known)) if known else None

    def __bool__(self) -> bool:
        return bool(self._names)


def digests_to_manifest(digests: Sequence[TextDigest | None]) -> list[list[Any] | None]:
    """Return the values that are stored in a manifest.

    Arguments:
        digests: of the sources' texts, in order.
    """
    return [None if one is None else list(one) for one in digests]


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
    for one in kept:
        if one is None:
            digests.append(None)
            continue
        digest, n_bytes = one
        if not isinstance(digest, str) or type(n_bytes) is not int:
            raise ValueError(f"{one!r} is no digest of a text")
        digests.append(TextDigest(digest, n_bytes))
    if len(digests) != n_sources:
        raise ValueError(f"{len(digests)} digests of texts for {n_sources} sources")
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
