"""Reads two files with a sentence a line as retained pairs (word ids) and counts of the rest."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from distsim.base.arguments import (
    InlineTags,
    PairDedup,
    TextFormat,
    check_types,
    one_of,
    plain_count,
)
from distsim.base.errors import InputError, ParameterError, counted
from distsim.base.parallel import Run, ordered_map
from distsim.bitext.bitext import MAX_TOKENS
from distsim.corpus.documents import Document
from distsim.corpus.kernels import hash_lines
from distsim.corpus.lines import Block, decoded, read_blocks, read_lines
from distsim.corpus.normaliser import Normaliser, undo_moses_escapes
from distsim.corpus.readers.markup import Characters, End, Start, xml_events
from distsim.corpus.sources import (
    STANDARD_INPUT,
    Source,
    file_label,
    find_file,
    find_sources,
    find_texts,
    in_encoding,
    is_address,
)
from distsim.corpus.tokeniser import TEXT_FORMATS, cut
from distsim.corpus.vocabulary import DROPPED, VocabularyBuilder, WordNumbering
from distsim.kernels.compiled import frozen

_SIDE = re.compile(r"(.+\.(tmx|tsv|tab|txt)(?:\.(?:gz|bz2|xz|zst))?):([^:/]+)", re.IGNORECASE)
_PIECE_LINES = 5_000
_CODES = frozenset(("bpt", "ept", "it", "ph", "ut"))  # their text is markup of another program
_SPACED = frozenset(("it", "ph", "ut"))  # which may stand for a line end


def pair_sources(
    english: str | Path, other: str | Path, inline_tags: InlineTags = "drop"
) -> list[Source] | None:
    """Return the sources of two sides such as `memory.tmx:en`; None where they are plain files.

    Arguments:
        english, other: as given.
        inline_tags: whether the text of inline tags of TMX is kept.

    Raises:
        InputError: one is a side and the other is none, a file is missing, both sides are one.
    """
    names = f"{file_label(english)} and {file_label(other)}"
    sides = [
        None if Path(path).exists() else _SIDE.fullmatch(str(path)) for path in (english, other)
    ]
    if not any(sides):
        return None
    if sides[0] is None or sides[1] is None:
        raise InputError(
            f"{names}: give two sides of one file, such as memory.tmx:en and "
            "memory.tmx:de, or two files"
        )
    english_side, other_side = sides[0], sides[1]
    if english_side[1] != other_side[1] or english_side[3] == other_side[3]:
        raise InputError(
            f"{names}: give two sides of one file, such as memory.tmx:en and "
            "memory.tmx:de; to join texts of several files give two files"
        )
    file = find_file(
        english_side[1], f"a file with both sides, {english_side[3]} and {other_side[3]}"
    )
    sources = []
    for mine, against in ((english_side[3], other_side[3]), (other_side[3], english_side[3])):
        if english_side[2].lower() == "tmx":
            lines = partial(_tmx_lines, mine=mine, against=against, keeps=inline_tags == "keep")
        else:
            lines = partial(_column_lines, mine=mine, against=against)
        read = partial(_pieces, lines=lines)
        side = f"{file.path}:{mine}"
        sources.append(replace(file, name=side, shown_as=side, documents=read))
    return sources


def _pieces(source: Source, lines: partial[Iterator[str]]) -> Iterator[Document]:
    """Yield the lines of a side, some thousand in a document."""
    plain = replace(source, shown_as="", documents=None)
    piece: list[str] = []
    for line in lines(plain):
        piece.append(line)
        if len(piece) >= _PIECE_LINES:
            yield Document("\n".join(piece))
            piece = []
    if piece:
        yield Document("\n".join(piece))


def _column_lines(source: Source, mine: str, against: str) -> Iterator[str]:
    """Yield one column of each line; columns are numbers, or names of the first line."""
    rows = (
        (number, decoded(data, source.label, number).rstrip("\r\n").split("\t"))
        for number, data in read_lines(source)
    )
    columns = [plain_count(column) for column in (mine, against)]
    if columns == [None, None]:
        names = [name.strip() for name in next(rows, (1, [""]))[1]]
        columns = [names.index(name) + 1 if name in names else None for name in (mine, against)]
    if None in columns or 0 in columns:
        raise InputError(
            f"{source.label}: {mine} and {against}: name columns by numbers from 1, as "
            f"{source.path}:1 and {source.path}:2, or both as its first line does"
        )
    wanted = max(column or 0 for column in columns)
    for number, cells in rows:
        if cells == [""]:
            continue
        if len(cells) < wanted:
            raise InputError(
                f"{source.label}, line {number}: {counted(len(cells), 'column')}, wanted {wanted} "
                "separated by tabs: correct the line"
            )
        yield " ".join(cells[(columns[0] or 1) - 1].split())


def _tmx_lines(source: Source, mine: str, against: str, keeps: bool) -> Iterator[str]:
    """Yield the segments of a language that have one in the other language, too."""
    seen: set[str] = set()
    n_units = 0
    for segments in _units(source, keeps):
        seen |= segments.keys()
        text, other = (_of_language(segments, language) for language in (mine, against))
        if text is not None and other is not None:
            n_units += 1
            yield text
    if not n_units:
        known = ", ".join(sorted(seen)) or "none"
        raise InputError(
            f"{source.label}: no unit has both {mine} and {against}; its languages are {known}: "
            "name two of them"
        )


def _of_language(segments: Mapping[str, str], language: str) -> str | None:
    """Return the segment of a language: of `en` also that of `en-GB`."""
    wanted = language.lower().replace("_", "-")
    for name, text in segments.items():
        folded = name.lower().replace("_", "-")
        if folded == wanted or folded.startswith(f"{wanted}-"):
            return text
    return None


def _units(source: Source, keeps: bool) -> Iterator[dict[str, str]]:
    """Yield the segments of each unit by language, the first one of each.

    keeps: the text of inline tags is kept.
    """
    unit: dict[str, str] = {}
    language, codes, inside = "", 0, False
    pieces: list[str] = []
    for event in xml_events(source):
        if isinstance(event, Characters):
            if inside and (keeps or not codes):
                pieces.append(event.text)
        elif isinstance(event, Start):
            if event.name == "tu":
                unit, language = {}, ""
            elif event.name == "tuv":
                language = event.attributes.get("lang", "")
            elif event.name == "seg":
                pieces, codes, inside = [], 0, True
            elif inside and event.name in _CODES:
                codes += 1
                pieces.append(" " if event.name in _SPACED else "")
        elif isinstance(event, End):
            if event.name == "seg" and inside:
                unit.setdefault(language, " ".join("".join(pieces).split()))
                inside = False
            elif inside and event.name in _CODES:
                codes -= 1
            elif event.name == "tuv":
                language = ""
            elif event.name == "tu":
                yield unit


PAIR_DEDUPS: tuple[str, ...] = get_args(PairDedup)


@dataclass(frozen=True)
class BitextOptions:
    """Settings by which two files become a bitext; stored in its manifest.

    Arguments:
        text_format: `lines` (tokenised) or `text` (running text); in either a line of one
            file is the translation of the same line of the other.
        normaliser: what happens to every token.
        dedup: `exact` drops a pair whose two lines were together before.
        as_is: take text that looks like HTML, XML, JSON or a table, which is refused otherwise.
        inline_tags: of a translation memory: `drop` leaves out the text of inline tags (`<b>` in a
            `bpt`, `{1}` in a `ph`), `keep` takes it.
        unescape: undo the entities of Moses' tokenizer (`&apos;`) before anything else.
        encoding: of both texts, such as cp1252, or of each: `utf-8,cp1251`; UTF-8 where None.

    >>> BitextOptions(dedup="exact").text_format
    'lines'
    """

    text_format: TextFormat = "lines"
    _: KW_ONLY
    normaliser: Normaliser = field(default_factory=Normaliser)
    dedup: PairDedup = "off"
    unescape: bool = False
    inline_tags: InlineTags = "drop"
    as_is: bool = False
    encoding: str | None = None

    def __post_init__(self) -> None:
        check_types(self)
        one_of(self.text_format, TEXT_FORMATS, "format")
        one_of(self.dedup, PAIR_DEDUPS, "dedup")
        one_of(self.inline_tags, get_args(InlineTags), "inline_tags")

    def manifest(self) -> dict[str, Any]:
        """Return the values that are stored in a manifest."""
        return {
            "format": self.text_format,
            "normaliser": self.normaliser.manifest(),
            "dedup": self.dedup,
            "unescape": self.unescape,
            **({"as_is": True} if self.as_is else {}),
            **({"inline_tags": self.inline_tags} if self.inline_tags != "drop" else {}),
            **({"encoding": self.encoding} if self.encoding is not None else {}),
        }


@dataclass(frozen=True)
class PairCounts:
    """Counts of retained pairs, and of omitted ones by the first reason that applies.

    Attributes:
        pairs: that were read.
        kept: that were retained.
        empty_english, empty_other: that side has no token.
        long: a side has more than 255.
        repeated: occurred before (dedup `exact`).
    """

    pairs: int
    kept: int
    empty_english: int
    empty_other: int
    long: int
    repeated: int

    def manifest(self) -> dict[str, int]:
        """Return the values that are stored in a manifest."""
        return asdict(self)


class ReadSide(NamedTuple):
    """One side of the retained pairs.

    Attributes:
        tokens: uint32, of all sentences end to end.
        lengths: int64[n], tokens of each sentence.
        vocabulary: the words, in order of first appearance.
    """

    tokens: np.ndarray
    lengths: np.ndarray
    vocabulary: VocabularyBuilder


class Pairs(NamedTuple):
    """The retained pairs.

    Attributes:
        english, other: their sides.
        rows: int64[pairs read], which retained pair each one became, -1 where it was left out.
        lengths_read: int64[pairs read, 2], tokens of both sides.
        counts: of pairs retained and omitted.
    """

    english: ReadSide
    other: ReadSide
    rows: np.ndarray
    lengths_read: np.ndarray
    counts: PairCounts

    @property
    def lines(self) -> np.ndarray:
        """The line of every retained pair, from 1, uint32."""
        return (np.flatnonzero(self.rows >= 0) + 1).astype(np.uint32)


def read_pairs(
    english: str | Path,
    other: str | Path,
    options: BitextOptions | None = None,
    run: Run = Run(),
) -> Pairs:
    """Return the sentence pairs of two files; one may be standard input (`-`).

    Arguments:
        english, other: the files.
        options: BitextOptions() where None.
        run: threads and progress.

    Raises:
        InputError: a file cannot be read, is not UTF-8 or contains a NUL; their numbers of lines
            differ; both are one file or one text; no pair is left.
    """
    options = options or BitextOptions()
    sources = find_texts(
        find_pair(english, other, options.inline_tags, options.encoding), options.as_is
    )
    left, right = (
        _read_side(source, f"reading {name}", options, run)
        for source, name in zip(sources, ("english", "other"), strict=True)
    )
    names = [source.shown_as or source.path for source in sources]
    if left.lengths.size != right.lengths.size:
        raise InputError(
            f"{names[0]} has {counted(left.lengths.size, 'line')}, {names[1]} has "
            f"{right.lengths.size:,}: "
            "give two files in which each line translates the same line of the other"
        )
    hashes = [
        hash_lines(
            frozen(side.tokens), frozen(np.cumsum(side.lengths)),
            frozen(side.vocabulary.hashes()), np.uint32(DROPPED),
        )
        for side in (left, right)
    ]  # fmt: skip
    if left.tokens.size and np.array_equal(hashes[0], hashes[1]):
        raise InputError(
            f"{names[0]} and {names[1]} hold the same text: give a text and its translation"
        )
    rows, counts = _sort_out(left.lengths, right.lengths, hashes, options.dedup)
    if not counts.kept:
        raise InputError(
            f"{names[0]} and {names[1]}: no pair is left of {counts.pairs:,} "
            f"({describe_left_out(counts) or 'the files are empty'}): give files with text"
        )
    lengths_read = np.column_stack([left.lengths, right.lengths])
    return Pairs(_kept(left, rows >= 0), _kept(right, rows >= 0), rows, lengths_read, counts)


def describe_left_out(counts: PairCounts) -> str:
    """Return the numbers of omitted pairs by reason, as text; empty if there are none.

    Arguments:
        counts: of the pairs read.

    >>> describe_left_out(PairCounts(9, 5, 1, 0, 2, 1))
    '1 without English, 2 with over 255 tokens, 1 repeated'
    """
    reasons = (
        (counts.empty_english, "without English"),
        (counts.empty_other, "without the other side"),
        (counts.long, f"with over {MAX_TOKENS} tokens"),
        (counts.repeated, "repeated"),
    )
    return ", ".join(f"{n:,} {reason}" for n, reason in reasons if n)


def find_pair(
    english: str | Path,
    other: str | Path,
    inline_tags: InlineTags = "drop",
    encoding: str | None = None,
) -> list[Source]:
    """Return the two files, checked to be two, or two sides of one file: `memory.tmx:en`.

    Arguments:
        english, other: paths of the files.
        inline_tags: of a translation memory.
        encoding: of both files, or of each: `utf-8,cp1251`; UTF-8 where None.

    Raises:
        InputError: one is missing or a folder, or both are one.
        ParameterError: Python knows no such encoding, or there are more than two.
    """
    sides = pair_sources(english, other, inline_tags)
    if sides is not None:
        if encoding is not None:
            raise ParameterError(
                "`encoding` is of two files of text: a table of pairs is UTF-8, and a translation "
                "memory names its own: leave it out"
            )
        return sides
    for path in (english, other):
        find_file(path, "a file with a sentence a line")
    sources = find_sources([english, other])
    if _is_same_file(*sources):
        raise InputError(
            f"{sources[1].label}: is both sides of the bitext: give a text and its translation"
        )
    encodings = (encoding or "").split(",")
    if len(encodings) > 2:
        raise ParameterError(f"`encoding` is {encoding!r}: name one, or one for each of two files")
    first, last = encodings[0].strip() or None, encodings[-1].strip() or None
    return in_encoding(sources[:1], first) + in_encoding(sources[1:], last)


def _is_same_file(left: Source, right: Source) -> bool:
    if is_address(left.path) or is_address(right.path):
        return (left.path, left.secret_address) == (right.path, right.secret_address)
    return STANDARD_INPUT not in (left.path, right.path) and Path(left.path).samefile(right.path)


def refuse_nul(block: Block, path: str) -> None:
    """Raise an InputError where a text contains a NUL; file and line are named.

    Arguments:
        block: of the text.
        path: of its file, for the message.
    """
    place = block.text.find(b"\0")
    if place >= 0:
        line = block.first_line + block.text.count(b"\n", 0, place)
        raise InputError(f"{path}, line {line}: holds a NUL character: remove it")


def _read_side(source: Source, stage: str, options: BitextOptions, run: Run) -> ReadSide:
    vocabulary = VocabularyBuilder()
    numbering = WordNumbering(options.normaliser, vocabulary)
    tokens: list[np.ndarray] = []
    lengths: list[np.ndarray] = []
    n_tokens = 0

    def cut_block(block: Block) -> tuple[bytes, Any]:
        refuse_nul(block, source.path)
        text = undo_moses_escapes(block.text) if options.unescape else block.text
        return text, cut(text, options.text_format)

    blocks = read_blocks([source]) if source.documents is None else _blocks_of(source)
    for text, pieces in ordered_map(cut_block, blocks, run.jobs):
        words = numbering.number(text, pieces)
        stays = words != DROPPED
        stops = np.concatenate([[0], np.cumsum(stays)])[pieces.line_stops]
        tokens.append(words[stays])
        n_lines = text.count(b"\n") + (not text.endswith(b"\n"))
        lengths.append(np.diff(stops, prepend=0)[:n_lines])
        n_tokens += tokens[-1].size
        run.progress(stage, n_tokens, None)
    return ReadSide(_joined(tokens, np.uint32), _joined(lengths, np.int64), vocabulary)


def _blocks_of(source: Source) -> Iterator[Block]:
    """Yield the lines of one side of a file of pairs."""
    first = 1
    for piece in source.documents(source) if source.documents is not None else ():
        text = f"{piece.text}\n".encode(errors="replace")
        yield Block(text, 0, first)
        first += text.count(b"\n")


def _joined(pieces: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *pieces])


def _sort_out(
    english: np.ndarray, other: np.ndarray, hashes: list[np.ndarray], dedup: PairDedup
) -> tuple[np.ndarray, PairCounts]:
    """Return (row of each pair among the retained ones, -1 for the rest; counts by reason).

    Arguments:
        english, other: int64[n], tokens of each side.
        hashes: uint64[n] each, of the sentences of both sides.
        dedup: `off` or `exact`.
    """
    left = np.ones(english.size, bool)

    def leave_out(reason: np.ndarray) -> int:
        n = int(np.count_nonzero(left & reason))
        left[reason] = False
        return n

    empty_english = leave_out(english == 0)
    empty_other = leave_out(other == 0)
    long = leave_out((english > MAX_TOKENS) | (other > MAX_TOKENS))
    repeated = 0
    if dedup == "exact":
        here = np.flatnonzero(left)
        both = np.column_stack([side[here] for side in hashes])
        _, first = np.unique(both, axis=0, return_index=True)
        repeated = here.size - first.size
        left[:] = False
        left[here[first]] = True
    rows = np.where(left, np.cumsum(left) - 1, -1)
    kept = int(np.count_nonzero(left))
    return rows, PairCounts(english.size, kept, empty_english, empty_other, long, repeated)


def _kept(side: ReadSide, kept: np.ndarray) -> ReadSide:
    """Return a side without the omitted sentences, with words numbered as if they did not occur.

    Arguments:
        side: one side of all pairs.
        kept: bool[n], which pairs are retained.
    """
    if kept.all():
        return side
    tokens = side.tokens[np.repeat(kept, side.lengths)]
    first_seen = np.full(len(side.vocabulary), tokens.size)
    first_seen[tokens[::-1]] = np.arange(tokens.size)[::-1]  # of repeated ones the last stays
    words = np.argsort(first_seen, kind="stable")[: np.count_nonzero(first_seen < tokens.size)]
    number = np.zeros(len(side.vocabulary), np.uint32)
    number[words] = np.arange(1, words.size + 1)
    texts = side.vocabulary.texts(1)
    vocabulary = VocabularyBuilder()
    vocabulary.add([texts[word - 1] for word in words.tolist()])
    return ReadSide(number[tokens], side.lengths[kept], vocabulary)
