"""The help of LibreOffice, or Europarl and news, in two languages -> pairs, English text.

The held-out lines are drawn from the English of all the bitexts, so that one index of English
serves every pair of languages and holds none of their development or test sentences.
"""

import gzip
import html
import lzma
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

    def turned(self) -> "Bitext":
        """Return the same pairs, from the second language to the first."""
        return Bitext(*([(b, a) for a, b in part] for part in (self.dev, self.test, self.rest)))


def read_bitext(folder: Path, pair: str, longest: int, n_dev: int, n_test: int) -> Bitext:
    """Return the pairs of at most `longest` source tokens (half as many more in the target)."""
    held_out = held_out_lines(folder)
    lines = set(zip(*(_lines(folder, pair, side) for side in pair.split("-")), strict=True))
    found = _pairs(lines, longest)
    rest = [pair for line, pair in found if line not in held_out]
    return _parted([pair for line, pair in found if line in held_out], rest, n_dev, n_test)


def is_news(folder: Path) -> bool:
    """Return whether a folder has Europarl and news, and not the help."""
    return (folder / "newstest2012.en.xz").exists()


def read_news(folder: Path, pair: str, longest: int, n_dev: int, n_test: int) -> Bitext:
    """Return pairs as `read_bitext`: held out from newstest2012, the others from Europarl."""
    europarl, news = (
        [pair for _, pair in _pairs(_news(folder, name, pair), longest)]
        for name in ("europarl-v7.fr-en", "newstest2012")
    )
    return _parted(news, europarl, n_dev, n_test)


def _news(folder: Path, name: str, pair: str) -> set[tuple[str, str]]:
    sides = []
    for side in pair.split("-"):
        text = lzma.decompress((folder / f"{name}.{side}.xz").read_bytes()).decode()
        sides.append(html.unescape(text).splitlines())  # Moses writes &apos;
    return set(zip(*sides, strict=True))


def _pairs(lines: set[tuple[str, str]], longest: int) -> list[tuple[str, Pair]]:
    """Return (source line, its tokens and the other's) of lines short enough, in drawn order."""
    ordered = sorted(lines)
    random.Random(6).shuffle(ordered)
    found = []
    for line, other in ordered:
        source, target = tokens(line), tokens(other)
        if _SHORTEST <= len(source) <= longest and 1 <= len(target) <= longest * 3 // 2:
            found.append((line, (source, target)))
    return found


def _parted(held: list[Pair], rest: list[Pair], n_dev: int, n_test: int) -> Bitext:
    if len(held) < n_dev + n_test:
        raise SystemExit(f"{len(held)} pairs are held out: ask for fewer with --dev and --test")
    return Bitext(held[:n_dev], held[n_dev : n_dev + n_test], rest)


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
