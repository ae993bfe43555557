"""Writes extracted phrase pairs as a Moses phrase table, in either direction.

`source ||| target ||| p(f|e) lex(f|e) p(e|f) lex(e|f) ||| 0-0 1-1 ||| n(e) n(f) n(f,e) |||`, where
f is the source; the lines are sorted by their bytes, as Moses' tools want them.
"""

import heapq
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from distsim.base.choices import TargetText
from distsim.base.errors import ParameterError
from distsim.corpus.escapes import escape_separators
from distsim.grammar.extraction.extract_options import ExtractOptions
from distsim.grammar.kernels.rule_text import C_E, C_F, LEX_EF, LEX_FE, C

_FLOOR = 1e-7  # of a lexical weight that is written
_AT_ONCE = 1 << 16  # bytes read of each sorted run


def require_phrases(options: ExtractOptions) -> None:
    """Check that extracted rules are phrase pairs without gaps and labels.

    Arguments:
        options: of the extraction.

    Raises:
        ParameterError: they are not.
    """
    if options.most_gaps or options.labels != "none":
        raise ParameterError(
            "a Moses phrase table has neither gaps nor labels: choose the preset moses or phrases, "
            "or `most_gaps` 0 and `labels` none"
        )


def moses_lines(
    lines: bytes, features: np.ndarray, counts: np.ndarray, target: TargetText
) -> list[bytes]:
    """Return the lines of rules in a Moses phrase table.

    Arguments:
        lines: of the rules, without features: `[X] ||| other ||| first |||  ||| links`.
        features: float64[n, 32], by features_of. counts: int64[n, 7], columns as in
            kernels.rule_text.
        target: the side of the bitexts that is the target.
    """
    other, first = (C_F, LEX_FE), (C_E, LEX_EF)
    (source_count, source_lex), (target_count, target_lex) = (
        (other, first) if target == "first" else (first, other)
    )
    joint, n_source, n_target = (counts[:, k] for k in (C, source_count, target_count))
    lexical = np.maximum(np.exp(-features[:, [source_lex, target_lex]]), _FLOOR)
    columns = zip(
        (joint / n_target).tolist(), lexical[:, 0].tolist(), (joint / n_source).tolist(),
        lexical[:, 1].tolist(), n_target.tolist(), n_source.tolist(), joint.tolist(), strict=True,
    )  # fmt: skip
    out = []
    for line, (p_source, lex_source, p_target, lex_target, *numbers) in zip(
        lines.splitlines(), columns, strict=True
    ):
        _, text_of_other, text_of_first, _, links = line.split(b" ||| ")
        sides = [escape_separators(text_of_other), escape_separators(text_of_first)]
        if target != "first":
            sides.reverse()
            pairs = sorted(tuple(map(int, link.split(b"-")))[::-1] for link in links.split())
            links = b" ".join(b"%d-%d" % pair for pair in pairs)
        scores = f"{p_source:.6g} {lex_source:.6g} {p_target:.6g} {lex_target:.6g}".encode()
        counted = b" ".join(b"%d" % number for number in numbers)
        out.append(b" ||| ".join([*sides, scores, links, counted]) + b" |||\n")
    return out


def sorted_lines(blocks: Iterable[list[bytes]], folder: Path, memory: int) -> Iterator[bytes]:
    """Yield all lines in the order of their bytes.

    Arguments:
        blocks: lists of lines.
        folder: for sorted runs, files of what memory does not hold.
        memory: bytes of lines that are held.
    """
    held: list[bytes] = []
    size = 0
    paths: list[Path] = []
    for block in blocks:
        held += block
        size += sum(map(len, block)) + 64 * len(block)
        if size > memory:
            paths.append(folder / f"run{len(paths)}")
            paths[-1].write_bytes(b"".join(sorted(held)))
            held, size = [], 0
    held.sort()
    with ExitStack() as opened:
        runs = [opened.enter_context(open(path, "rb", buffering=_AT_ONCE)) for path in paths]
        yield from heapq.merge(*runs, held)
