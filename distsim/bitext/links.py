"""Reads and writes links of sentence pairs as Pharaoh lines (`0-0 1-2 3-2-P`)."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.errors import InputError, counted
from distsim.bitext.bitext import Bitext
from distsim.bitext.kernels.links import MOST_POSITION, format_links, parse_links
from distsim.bitext.sentence_pairs import Pairs, refuse_nul
from distsim.corpus.lines import read_blocks
from distsim.corpus.sources import find_file
from distsim.kernels.compiled import frozen


class Links(NamedTuple):
    """Links of many sentence pairs.

    pairs: integers[m, 2], (English position, other position), ascending within a pair of sentences
    and each once. starts: int64[n + 1] into it. possible: bool[m], marked -P.
    """

    pairs: np.ndarray
    starts: np.ndarray
    possible: np.ndarray

    def of(self, sentence: int) -> list[tuple[int, int]]:
        """Return the links of a pair of sentences.

        Arguments:
            sentence: its number, from 0.
        """
        return [(i, j) for i, j in self.pairs[self.starts[sentence] : self.starts[sentence + 1]]]


def parse_pharaoh(text: bytes, name: str = "links", first_line: int = 1) -> Links:
    """Return the links in Pharaoh lines, one sentence pair a line.

    A link that occurs twice is one, possible only where it never occurs without its mark.

    Arguments:
        first_line: the number of the first line.

    Raises:
        InputError: a piece is no link; `name`, the line and the piece are named.

    >>> links = parse_pharaoh(b"0-0 2-1-P 1-2\\n\\n0-0\\n")
    >>> links.pairs.tolist(), links.starts.tolist(), links.possible.tolist()
    ([[0, 0], [1, 2], [2, 1], [0, 0]], [0, 3, 3, 4], [False, False, True, False])
    """
    pairs, possible, stops, fault = parse_links(frozen(np.frombuffer(text, np.uint8)))
    if fault >= 0:
        line = first_line + text.count(b"\n", 0, fault)
        piece = text[fault : fault + 40].split()[0].decode(errors="replace")
        raise InputError(
            f"{name}, line {line}: {piece!r} is no link: write pairs of positions from 0 such as "
            "0-0 1-2, possible ones 1-2-P"
        )
    return in_order(pairs.astype(np.int64), np.concatenate([[0], stops]), possible)


def in_order(pairs: np.ndarray, starts: np.ndarray, possible: np.ndarray | None = None) -> Links:
    """Return links sorted within each sentence pair, without repeats.

    Arguments:
        pairs: unsigned[m, 2], positions.
        starts: uint64[n + 1], the first link of each sentence pair.
        possible: bool[m], which links are only possible; None: no link.
    """
    if possible is None:
        possible = np.zeros(len(pairs), bool)
    owners = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    order = np.lexsort((possible, pairs[:, 1], pairs[:, 0], owners))
    key = np.column_stack([owners, pairs])[order]
    first = np.ones(len(key), bool)
    first[1:] = np.any(key[1:] != key[:-1], axis=1)
    kept = order[first]
    n_links = np.bincount(owners[kept], minlength=starts.size - 1)
    return Links(pairs[kept], np.concatenate([[0], np.cumsum(n_links)]), possible[kept])


def read_pharaoh(path: str | Path) -> Links:
    """Return the links in a file of Pharaoh lines.

    Raises:
        InputError: it cannot be read, or a piece is no link; file and line are named.
    """
    return _joined(list(_parts(path)), np.int64)


def _parts(path: str | Path) -> Iterator[Links]:
    """Yield the links of some lines of a file at a time."""
    source = find_file(path)
    for block in read_blocks([source]):
        refuse_nul(block, source.path)
        yield parse_pharaoh(block.text, source.path, block.first_line)


def _joined(parts: list[Links], dtype: type) -> Links:
    pairs = np.concatenate([np.empty((0, 2), dtype), *(part.pairs for part in parts)])
    sizes = np.concatenate([[0], *(np.diff(part.starts) for part in parts)])
    possible = np.concatenate([np.empty(0, bool), *(part.possible for part in parts)])
    return Links(pairs, np.cumsum(sizes, dtype=np.int64), possible)


def links_for(path: str | Path, pairs: Pairs, reversed_links: bool = False) -> Links:
    """Return the links in a file for the retained pairs, whose `pairs` are uint8.

    reversed_links: the file's links are (other, English).

    Raises:
        InputError: as read_pharaoh; the number of lines is not that of the pairs that were
            read; a link of a kept pair leads out of a sentence.
    """
    n_lines, parts, fault = 0, [], ""
    for part in _parts(path):
        if reversed_links:
            part = in_order(part.pairs[:, ::-1], part.starts, part.possible)
        first, n_lines = n_lines, n_lines + part.starts.size - 1
        rows, lengths = pairs.rows[first:n_lines], pairs.lengths_read[first:n_lines]
        if fault or rows.size < n_lines - first:
            continue  # only the number of lines is wanted
        line = np.repeat(np.arange(rows.size), np.diff(part.starts))
        kept = rows[line] >= 0
        outside = kept & np.any(part.pairs >= lengths[line], axis=1)
        if outside.any():
            at = int(np.flatnonzero(outside)[0])
            fault = _fault(first + line[at] + 1, part.pairs[at], lengths[line[at]], reversed_links)
        sizes = np.diff(part.starts)[rows >= 0]
        stays = part.pairs[kept].astype(np.uint8)  # here, since many links take much memory
        parts.append(Links(stays, np.concatenate([[0], np.cumsum(sizes)]), part.possible[kept]))
    if n_lines != pairs.rows.size:
        raise InputError(
            f"{path} has {counted(n_lines, 'line')}, the bitext has "
            f"{counted(pairs.rows.size, 'pair')}: "
            "give a line of links for every pair that was read"
        )
    if fault:
        raise InputError(f"{path}, {fault}")
    return _joined(parts, np.uint8)


def _fault(line: int, link: np.ndarray, lengths: np.ndarray, is_reversed: bool) -> str:
    """Return what is wrong with a link that leads out of its pair of sentences."""
    shown = "-".join(
        str(p) if p < MOST_POSITION else f"{MOST_POSITION} (or more)"
        for p in link[:: -1 if is_reversed else 1]
    )
    return (
        f"line {line}: the link {shown} leads out of the pair "
        f"({lengths[0]} English tokens, {lengths[1]} of the other side): positions "
        "count from 0, English first; cut both sides as the links were made"
    )


def pharaoh_text(bitext: Bitext) -> bytes:
    """Return a bitext's links as Pharaoh lines, `English-other`, from 0.

    Line n is pair n of the files that were read; it is empty where that pair was left out.
    """
    rows = np.full(bitext.parameters["counts"]["pairs"], -1, np.int64)
    rows[bitext.lines.astype(np.int64) - 1] = np.arange(len(bitext))
    text: bytes = format_links(
        frozen(bitext.links), frozen(bitext.link_starts), frozen(rows)
    ).tobytes()
    return text
