"""Opens sources: files and folders, plain or compressed, addresses of stores, standard input."""

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from distsim.base.arguments import real_path
from distsim.base.errors import InputError, ParameterError, how_to_install
from distsim.corpus.decompression import (
    DEFAULT_UNPACK_LIMIT,
    LARGEST_RATIO,
    DamagedArchiveError,
    OtherEncodingError,
    UnpackLimitError,
    decompressed,
    peeked,
    recoded,
)
from distsim.corpus.plain_text import HEAD_BYTES, looks_like, remedy

STANDARD_INPUT = "-"
_SPOOL_BYTES = 1 << 20
# What can be read but once and whose head was read: by path, (sys.stdin of then, the whole stream).
_read_ahead: dict[str, tuple[Any, io.BufferedReader]] = {}
_CLOSED = "is closed: give it something to read, or name a file"
_unpack_limit = DEFAULT_UNPACK_LIMIT


@dataclass(frozen=True)
class Source:
    """One file to read. name: as concordances show it. path: its location, empty in memory.

    shown_as: what messages call it, where that is not its path: it was copied from there.
    encoding: of its text; UTF-8 where it is empty.
    is_text: it is refused, when it is opened, where it looks like markup, JSON or a table.
    documents: returns its documents (distsim.corpus.documents.Document), where it is not read as
    plain text.
    secret_address: where its bytes are, if that holds a password or a query, which `path` hides.
    """

    name: str
    path: str
    shown_as: str = ""
    encoding: str = ""
    is_text: bool = False
    documents: Callable[["Source"], Iterable[Any]] | None = None
    secret_address: str = field(default="", repr=False)

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.shown_as or file_label(self.path)


def file_label(path: str | Path) -> str:
    """Return the name of a file in messages.

    Arguments:
        path: as given; `-` for standard input.
    """
    return "standard input" if str(path) == STANDARD_INPUT else without_secrets(str(path))


def printable(name: str) -> str:
    r"""Return a file's name for a line of a UTF-8 file, with unprintable characters escaped.

    What cannot be printed is escaped: line ends, control characters, bytes that are not UTF-8.

    >>> printable("a\nb"), printable("caf\udce9")
    ('a\\nb', 'caf\\xe9')
    """
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else _escaped(c) for c in name)


def _escaped(character: str) -> str:
    byte = ord(character) - 0xDC00  # of a surrogate, as os.fsdecode makes them
    if 0x80 <= byte <= 0xFF:
        return f"\\x{byte:02x}"
    return character.encode("unicode_escape").decode()


def find_sources(
    paths: Sequence[str | Path | Source], written: Sequence[str | Path] = ()
) -> list[Source]:
    """Return the files of `paths`: a file itself, a folder's files by name, `-` as standard input.

    A source that was found already stays as it is. An address `scheme://...` is one of a file, of
    a folder, or a pattern with `*`; fsspec reads it.

    Names are the file's own, within a folder the path from that folder, so that the same
    corpus gives the same index wherever it is. Hidden files in folders are passed over.

    Arguments:
        written: files and folders that are made of these: passed over in a folder, so that
            nothing reads its own output when it is run again.

    Raises:
        InputError: a path is empty, does not exist or is one of those `written`, a folder contains
            no file, standard input is named twice.
    """
    outputs = {real_path(path) for path in written}
    sources: list[Source] = []
    for path_given in paths:
        if isinstance(path_given, Source):
            sources.append(path_given)
            continue
        if path_given == "":
            raise InputError("an empty text, wanted a path: name a file or folder")
        if str(path_given) == STANDARD_INPUT:
            if any(source.path == STANDARD_INPUT for source in sources):
                raise InputError("standard input (-) was named twice: name it once")
            sources.append(Source("stdin", STANDARD_INPUT))
            continue
        if is_address(path_given):
            sources.extend(_find_at(str(path_given)))
            continue
        path = Path(re.sub(r"^file:(//)?(?=/)", "", str(path_given)))
        if real_path(path) in outputs and not path.is_dir():
            raise InputError(f"{path}: is read and written at once: name another output")
        if path.is_dir():
            home = real_path(path)
            inner = {output for output in outputs if home in output.parents}
            inside = [
                Source(file.relative_to(path).as_posix(), str(file))
                for file in sorted(path.rglob("*"))
                if file.is_file()
                and not any(part.startswith(".") for part in file.relative_to(path).parts)
                and not (inner and _is_part_of(home / file.relative_to(path), inner))
            ]
            if not inside:
                raise InputError(f"{path}: the folder holds no files: name one that does")
            sources.extend(inside)
        elif path.exists():
            sources.append(Source(path.name, str(path)))
        else:
            raise InputError(f"{path}: no such file or folder: check the path")
    return sources


def _is_part_of(path: Path, outputs: Collection[Path]) -> bool:
    return any(output in outputs for output in (path, *path.parents))


def find_file(path: str | Path, wanted: str = "a file") -> Source:
    """Return the one file at `path`; `-` is standard input.

    Arguments:
        wanted: what the message says of the file that is wanted in place of a folder.
        path: of the file, or `-`.

    Raises:
        InputError: nothing is there, or a folder.
    """
    if path != "" and str(path) != STANDARD_INPUT and Path(path).is_dir():
        raise InputError(f"{path}: is a folder, wanted {wanted}: name one")
    sources = find_sources([path])
    if len(sources) > 1:
        raise InputError(f"{file_label(path)}: holds several files, wanted {wanted}: name one")
    return sources[0]


def find_texts(
    paths: Sequence[str | Path | Source], as_is: bool = False, written: Sequence[str | Path] = ()
) -> list[Source]:
    """Return the files of `paths`, which must be plain text.

    What looks like HTML, XML, JSON or a table is refused: files here, before any work, what can
    be read but once when it is opened.

    Arguments:
        as_is: take them as they are, whatever they look like.
        written: files and folders that are made of these, which are passed over.

    Raises:
        InputError: as find_sources; a file looks like something else; it cannot be read.
    """
    sources = find_sources(paths, written)
    if as_is:
        return sources
    for number, source in enumerate(sources):
        if source.documents is not None:
            continue
        text = replace(source, is_text=True)
        if not is_regular(source.path):
            sources[number] = text
        else:
            require_readable(source)
            with open_source(text):
                pass
    return sources


@contextmanager
def open_source(source: Source) -> Iterator[BinaryIO]:
    """Yield the bytes of a source as a stream: uncompressed, without a byte order mark.

    Raises:
        InputError: the file cannot be opened, or is compressed and damaged, cut short or
            suspiciously large (found while reading, inside the `with` block).
    """
    label = source.label
    try:
        raw = _opened(source)
    except OSError as error:
        raise InputError(f"{label}: cannot be opened: {error.strerror}") from None
    with raw:
        try:
            text = decompressed(raw, _unpack_limit)
            if source.encoding:
                text = recoded(text, source.encoding)
            yield _required_plain(text, label) if source.is_text else text
        except OtherEncodingError as error:
            raise InputError(
                f"{label}: is not {source.encoding} ({error}): name its encoding with `encoding`"
            ) from None
        except EOFError:
            raise InputError(
                f"{label}: the archive is cut short: fetch or pack the file again"
            ) from None
        except DamagedArchiveError as error:
            raise InputError(
                f"{label}: the archive is damaged ({error}): fetch or pack the file again"
            ) from None
        except UnpackLimitError:
            raise InputError(f"{label}: {_too_large()}") from None
        except OSError as error:
            if error.errno == errno.EBADF:
                raise InputError(f"{label}: {_CLOSED}") from None
            reason = error.strerror or error
            raise InputError(
                f"{label}: cannot be read: {reason}: check the file and the disk"
            ) from None


def _opened(source: Source) -> io.BufferedReader:
    of_stdin, stream = _read_ahead.pop(source.path, (None, None))
    if stream is not None and (source.path != STANDARD_INPUT or of_stdin is sys.stdin):
        return stream
    if source.path != STANDARD_INPUT:
        return file_opened(source)
    if sys.stdin is None or sys.stdin.buffer.closed:
        raise InputError(f"{source.label}: {_CLOSED}")
    return cast(io.BufferedReader, sys.stdin.buffer)


def read_head(source: Source) -> bytes:
    """Return the first HEAD_BYTES of a file, uncompressed; fewer where it ends.

    What can be read but once, such as standard input, can still be opened and read whole; of a
    compressed one the head may be shorter.

    Raises:
        InputError: as open_source.
    """
    if is_regular(source.path):
        with open_source(source) as stream:
            return peeked(cast(io.BufferedReader, stream), HEAD_BYTES)[0]
    try:
        packed, stream = peeked(_opened(source), HEAD_BYTES)
    except OSError as error:
        if error.errno == errno.EBADF:
            raise InputError(f"{source.label}: {_CLOSED}") from None
        raise InputError(f"{source.label}: cannot be opened: {error.strerror}") from None
    _read_ahead[source.path] = sys.stdin, stream
    head = b""
    with suppress(
        EOFError, DamagedArchiveError, OtherEncodingError, UnpackLimitError
    ):  # told when it is read
        text = decompressed(io.BufferedReader(io.BytesIO(packed)), _unpack_limit)
        if source.encoding:
            text = recoded(text, source.encoding)
        while len(head) < HEAD_BYTES and (piece := text.read1(HEAD_BYTES)):  # type: ignore[attr-defined]
            head += piece
    return head[:HEAD_BYTES]


def refuse_bomb(source: Source, n_bytes: int, size: int) -> None:
    """Raise where a file of `size` bytes has unpacked to `n_bytes` and that is suspicious.

    Arguments:
        size: bytes of the file.

    Raises:
        InputError: it is more than any text would.
    """
    if n_bytes > max(_unpack_limit, LARGEST_RATIO * size):
        raise InputError(f"{source.label}: {_too_large()}")


def _too_large() -> str:
    return (
        f"unpacks to more than {LARGEST_RATIO:,} times its size and more than "
        f"{_unpack_limit / 2**20:,.0f} MB: if that is meant, raise the limit with "
        "distsim --unpack-limit SIZE, or set_unpack_limit"
    )


def _required_plain(text: BinaryIO, label: str) -> BinaryIO:
    head, text = peeked(cast(io.BufferedReader, text), HEAD_BYTES)
    format_name = looks_like(head, len(head) < HEAD_BYTES)
    if format_name is not None:
        raise InputError(
            f"{label}: looks like {format_name}, wanted plain text: {remedy(format_name)}"
        )
    return text


def require_readable(source: Source) -> None:
    """Raise, before any work, where a file cannot be opened.

    Raises:
        InputError: its permissions forbid it.
    """
    if source.path == STANDARD_INPUT or is_address(source.path):
        return
    if not os.access(source.path, os.R_OK):
        raise InputError(f"{source.label}: cannot be read: change its permissions or leave it out")


def require_files(paths: Sequence[str | Path]) -> None:
    """Raise where other machines could not read a path: standard input, pipes.

    Raises:
        InputError: one of them is no file or folder.
    """
    for path in paths:
        if not is_regular(path):
            raise InputError(f"{file_label(path)} cannot be read on many machines: name files")


def in_encoding(sources: Sequence[Source], encoding: str | None) -> list[Source]:
    """Return sources whose text is of an encoding; as they are where it is None.

    Arguments:
        sources: files.
        encoding: such as cp1252, as Python names it.

    Raises:
        ParameterError: Python knows no such encoding of text.
    """
    if encoding is None:
        return list(sources)
    try:
        "".encode(encoding)
    except LookupError:
        raise ParameterError(
            f"`encoding` is {encoding!r}: name one that Python knows, such as cp1252, latin-1, "
            "utf-16, gb18030, shift-jis"
        ) from None
    return [replace(source, encoding=encoding) for source in sources]


def set_unpack_limit(n_bytes: int) -> None:
    """Set the largest uncompressed size of an archive in this process, in bytes.

    One that unpacks to more is refused if it is more than a thousand times its size.
    """
    global _unpack_limit  # noqa: PLW0603 (a setting of the process)
    _unpack_limit = n_bytes


@contextmanager
def spooled(path: str | Path, again: bool = True) -> Iterator[str | Path]:
    """Yield a path whose text can be read again.

    A regular file is its own; standard input, a pipe and whatever else can be read but once
    is copied, unpacked, into a temporary file that goes at the end.

    Arguments:
        path: of a file, or `-`.
        again: whether it is read more than once.

    Raises:
        InputError: as open_source.
    """
    if not again or is_regular(path):
        yield path
        return
    with spooled_sources([Source("", str(path))]) as sources:
        yield sources[0].path


@contextmanager
def spooled_sources(sources: Sequence[Source]) -> Iterator[list[Source]]:
    """Yield sources that can be read again, with the same names and labels."""
    with ExitStack() as stack:
        sources_on_disk = []
        for source in sources:
            if not is_regular(source.path):
                from distsim.storage import scratch_folder  # with numpy: not before it is wanted

                copy = stack.enter_context(scratch_folder()) / "spooled"
                with open_source(source) as stream, open(copy, "wb") as file:
                    while piece := stream.read(_SPOOL_BYTES):
                        file.write(piece)
                source = replace(source, path=str(copy), shown_as=source.label)
            sources_on_disk.append(source)
        yield sources_on_disk


def is_regular(path: str | Path) -> bool:
    """Return whether a path can be opened again; True where it does not exist."""
    if str(path) == STANDARD_INPUT:
        return False
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


# Addresses: what fsspec reads ------------------------------------------------------------------

_ADDRESS = re.compile(r"(?i)([a-z][a-z0-9+.-]*):/")
_VERSIONS = ("ETag", "etag", "md5Hash", "content_md5", "mtime", "LastModified", "last_modified",
             "modificationTime", "created")  # fmt: skip
_REASON_CHARACTERS = 200
_STORE_READ_BYTES = 1 << 20
_AHEAD_BYTES = 4 << 20  # of a request; libraries ask for up to 50 MB, where a head may do


def is_address(path: str | Path) -> bool:
    """Return whether a path is the address of a store or a web page, `scheme://...`.

    A file of such a name is none, and `file://` is a path.

    >>> is_address("s3://corpus/texts"), is_address("texts"), is_address("file:///texts")
    (True, False, False)
    """
    match = _ADDRESS.match(str(path))
    return match is not None and match[1].lower() != "file" and not Path(path).exists()


def without_secrets(address: str) -> str:
    """Return an address with `...` in place of user and password, and of a query; else a path.

    >>> without_secrets("ftp://me:secret@host/a.txt"), without_secrets("https://host/a?sig=key")
    ('ftp://...@host/a.txt', 'https://host/a?...')
    """
    if not _ADDRESS.match(address):
        return address
    scheme, slashes, rest = re.split(r"(:/+)", address, maxsplit=1)
    plain, query, _ = rest.partition("?")
    user, at, host = plain.partition("/")[0].rpartition("@")
    if not at and re.match(r"[^/:]*:(?!\d*(?:/|$))", plain):  # a password with a slash
        user, at, host = plain.rpartition("@")
        plain = f"...@{host}" if at else "..."
    elif ":" in user or (user and scheme.lower().startswith("http")):
        plain = f"...@{plain[len(user) + 1 :]}"
    return scheme + slashes + plain + ("?..." if query else "")


def _find_at(address: str) -> list[Source]:
    """Return the files at an address: the file, a folder's files by name, those of a pattern."""
    shown, (before_query, question, query) = without_secrets(address), address.partition("?")
    before_query = before_query.rstrip("/")
    scheme, _, rest = before_query.partition("://")
    host, _, pattern = rest.partition("/")
    home = before_query
    with _store_errors(address):
        if first_sign := re.search(r"[*\[]", pattern):
            inner = pattern[: first_sign.start()].rpartition("/")[0]
            home = f"{scheme}://{host}/{inner}".rstrip("/")
        system, place = _store(before_query + question + query)
        if first_sign:
            entries = system.glob(place, detail=True)
        elif system.info(place)["type"] == "file":
            name = before_query.rpartition("/")[2]
            return [_source_at(name, before_query, question + query)]
        else:
            entries = system.find(place, detail=True)
        start = _store(home)[1].rstrip("/")
    names = [
        path[len(start) :].strip("/")
        for path, info in entries.items()
        if info["type"] == "file" and not path.endswith("/")
    ]
    names = [name for name in names if not re.search(r"(^|/)\.", name)]
    if not names:
        raise InputError(f"{shown}: no file is there: check the address")
    return [
        _source_at(name, f"{home}/{name}", question + query)
        for name in sorted(names, key=lambda name: name.split("/"))
    ]


def _source_at(name: str, address: str, query: str) -> Source:
    shown = without_secrets(address + query)
    return Source(name, shown, secret_address="" if shown == address else address + query)


def _store(address: str) -> tuple[Any, str]:
    """Return (fsspec's file system of an address, the path in it)."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise InputError(
            f"{without_secrets(address)}: an address is read by fsspec, which is not installed: "
            f"{how_to_install('stores')}"
        ) from None
    scheme, slashes, rest = address.partition("://")
    if not slashes:
        raise InputError(f"{without_secrets(address)}: wanted an address as a text, scheme://...")
    system, place = url_to_fs(f"{scheme.lower()}://{rest}")
    return system, place


@contextmanager
def _store_errors(address: str) -> Iterator[None]:
    """Raise what a store's library raises as an InputError, without the secrets of the address."""
    shown = without_secrets(address)
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{shown}: no such file or folder: check the address") from None
    except ImportError as error:
        raise InputError(
            f"{shown}: {_reason(error, address)}: install that with pip; for s3 "
            f"{how_to_install('stores')}"
        ) from None
    except Exception as error:
        raise InputError(
            f"{shown}: cannot be read ({_reason(error, address)}): check the address, and the "
            "keys that its library finds in the environment"
        ) from None


def _reason(error: Exception, address: str) -> str:
    """Return kind and message of an error in a line, without what is secret in an address."""
    text = f"{type(error).__name__}: {error}".partition("\n")[0]
    text = re.sub(r"[a-zA-Z][\w+.-]*://[^\s'\"]+", lambda url: without_secrets(url[0]), text)
    _, _, rest = address.partition("://")
    plain, _, query = rest.partition("?")
    hidden = re.split(r"[&=]", query) + re.split(r"[:@/]", plain if "@" in plain else "")
    for secret in sorted({query, *hidden}, key=len, reverse=True):
        if len(secret) > 2:
            text = text.replace(secret, "...")
    return text[:_REASON_CHARACTERS].rstrip(".: ")


class _StoredFile(io.RawIOBase):
    """Stream of the bytes of a file in a store; what goes wrong is an InputError."""

    def __init__(self, address: str) -> None:
        self._address = address
        with _store_errors(address):
            system, place = _store(address)
            self._file = system.open(place, "rb", block_size=_AHEAD_BYTES)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _store_errors(self._address):
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def file_opened(source: Source) -> io.BufferedReader:
    """Return a stream of the bytes of a file, as they are stored.

    Arguments:
        source: a file, which may be at an address.
    """
    address = source.secret_address or source.path
    if is_address(address):
        return io.BufferedReader(_StoredFile(address), _STORE_READ_BYTES)
    return open(source.path, "rb")


class FileState(NamedTuple):
    """Size of a file in bytes, and what changes when its text does.

    version: of a store its checksum or time; else the time at which it was written, in ns.
    changed: the time at which its text or its name was changed, in ns; 0 in a store.
    """

    size: int
    version: str | int
    changed: int


def file_state(source: Source) -> FileState:
    """Return the state of a file.

    Arguments:
        source: the file.

    Raises:
        InputError: it is at an address and cannot be read there.
        OSError: it is not there.
    """
    address = source.secret_address or source.path
    if not is_address(address):
        stat_ = os.stat(address)
        return FileState(stat_.st_size, stat_.st_mtime_ns, stat_.st_ctime_ns)
    with _store_errors(address):
        system, place = _store(address)
        info = system.info(place)
    version = next((str(info[name]) for name in _VERSIONS if info.get(name)), "")
    return FileState(int(info.get("size") or 0), version, 0)


def require_no_secrets(sources: Sequence[Source]) -> None:
    """Raise where an address holds what may not be written down: a password or a query.

    Raises:
        InputError: one does.
    """
    for source in sources:
        if source.secret_address:
            raise InputError(
                f"{source.label}: holds a password or a query, which would be written into the "
                "run's folder: put keys into the environment of all machines"
            )
