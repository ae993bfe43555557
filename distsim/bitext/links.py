"""Reads and writes links of sentence pairs as Pharaoh lines (`0-0 1-2 3-2-P`)."""

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

    pairs: int64[m, 2], (English position, other position), ascending within a pair of sentences
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
    source = find_file(path)
    pairs, possible = [np.empty((0, 2), np.int64)], [np.empty(0, bool)]
    sizes = [np.zeros(1, np.uint32)]  # of a line each
    for block in read_blocks([source]):
        refuse_nul(block, source.path)
        part = parse_pharaoh(block.text, source.path, block.first_line)
        pairs.append(part.pairs)
        possible.append(part.possible)
        sizes.append(np.diff(part.starts).astype(np.uint32))
    starts = np.cumsum(np.concatenate(sizes), dtype=np.int64)
    return Links(np.concatenate(pairs), starts, np.concatenate(possible))


def links_for(path: str | Path, pairs: Pairs, reversed_links: bool = False) -> Links:
    """Return the links in a file for the retained pairs.

    reversed_links: the file's links are (other, English).

    Raises:
        InputError: as read_pharaoh; the number of lines is not that of the pairs that were
            read; a link of a kept pair leads out of a sentence.
    """
    links = read_pharaoh(path)
    if reversed_links:
        links = in_order(links.pairs[:, ::-1], links.starts, links.possible)
    n_lines = links.starts.size - 1
    if n_lines != pairs.rows.size:
        raise InputError(
            f"{path} has {counted(n_lines, 'line')}, the bitext has "
            f"{counted(pairs.rows.size, 'pair')}: "
            "give a line of links for every pair that was read"
        )
    line = np.repeat(np.arange(n_lines), np.diff(links.starts))
    kept = pairs.rows[line] >= 0
    lengths = pairs.lengths_read[line]
    outside = kept & np.any(links.pairs >= lengths, axis=1)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        shown = "-".join(
            str(p) if p < MOST_POSITION else f"{MOST_POSITION} (or more)"
            for p in links.pairs[at][:: -1 if reversed_links else 1]
        )
        raise InputError(
            f"{path}, line {line[at] + 1}: the link {shown} leads out of the pair "
            f"({lengths[at, 0]} English tokens, {lengths[at, 1]} of the other side): positions "
            "count from 0, English first; cut both sides as the links were made"
        )
    n_links = np.bincount(pairs.rows[line[kept]], minlength=pairs.counts.kept)
    starts = np.concatenate([[0], np.cumsum(n_links)])
    return Links(links.pairs[kept], starts, links.possible[kept])


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
