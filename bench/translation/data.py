"""The help of LibreOffice in two languages -> held-out pairs, training pairs, English text.

The held-out lines are drawn from the English of all the bitexts, so that one index of English
serves every pair of languages and holds none of their development or test sentences.
"""

import gzip
import random
from dataclasses import dataclass
from pathlib import Path

from distsim.corpus.tokeniser import tokens_of

PAIRS = ("en-de", "en-es", "en-fr")
_HELD_OUT = 5_000
_SHORTEST = 4

Pair = tuple[list[str], list[str]]


@dataclass(frozen=True)
class Bitext:
    """Sentence pairs, lower-cased: for weights, for the test, and all others, in random order."""

    dev: list[Pair]
    test: list[Pair]
    rest: list[Pair]

    def drawn(self, size: int, draw: int) -> list[Pair]:
        """Return `size` of the other pairs; each number of a draw gives others."""
        return random.Random(draw).sample(self.rest, size)


def read_bitext(folder: Path, pair: str, longest: int, n_dev: int, n_test: int) -> Bitext:
    """Return the pairs of at most `longest` source tokens (half as many more in the target)."""
    held_out = held_out_lines(folder)
    groups: tuple[list[Pair], list[Pair]] = ([], [])
    lines = sorted(set(zip(*(_lines(folder, pair, side) for side in pair.split("-")), strict=True)))
    random.Random(6).shuffle(lines)
    for line, other in lines:
        source, target = tokens(line), tokens(other)
        if _SHORTEST <= len(source) <= longest and 1 <= len(target) <= longest * 3 // 2:
            groups[line in held_out].append((source, target))
    rest, held = groups
    if len(held) < n_dev + n_test:
        raise SystemExit(f"{len(held)} pairs are held out: ask for fewer with --dev and --test")
    return Bitext(held[:n_dev], held[n_dev : n_dev + n_test], rest)


def english_lines(folder: Path) -> list[str]:
    """Return the English of all bitexts, without held-out lines and repetitions."""
    held_out = held_out_lines(folder)
    return [line for line in _all_english(folder) if line not in held_out]


def held_out_lines(folder: Path) -> set[str]:
    """Return the English lines that neither an index nor a translation model may know."""
    lines = _all_english(folder)
    return set(random.Random(5).sample(lines, min(_HELD_OUT, len(lines) // 3)))


def tokens(line: str) -> list[str]:
    """Return the tokens of a line as an index of running text cuts them, lower-cased."""
    return [token.lower() for token in tokens_of(line, "text")]


def _all_english(folder: Path) -> list[str]:
    lines: dict[str, None] = {}
    for pair in PAIRS:
        lines |= dict.fromkeys(_lines(folder, pair, "en"))
    return list(lines)


def _lines(folder: Path, pair: str, side: str) -> list[str]:
    return gzip.decompress((folder / f"lohelp.{pair}.{side}.gz").read_bytes()).decode().split("\n")
