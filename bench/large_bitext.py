"""Makes a large bitext of the shared French-English ones, by copies with changed words.

    python -m bench.large_bitext ../shared/data --pairs 1e6 --work FOLDER

The first copy are the real pairs (Europarl, newstest, news, help) in a random order, which
`align` links: FOLDER/real.bitext. In the others linked words are changed together, so that the
sides stay translations of each other: a word with one link, and the word at its other end, become
two others that are linked somewhere, mostly two of the text, drawn by their frequency, sometimes
two that the text does not have, one in seven of all words. New words enter on each side by Heaps'
law, as in bench/large_text.py; where one side grows faster, its new words go with known ones of the
other. FOLDER/PAIRS.en.zst and FOLDER/PAIRS.fr.zst have a sentence a line, in tokens;
FOLDER/PAIRS.links.zst has the links of the real pairs, which those of the copies are, too. The same
data give the same files, and fewer pairs are the first of more.
"""

import argparse
import html
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from bench.frame import distsim
from bench.large_text import CHANGED, MADE, SEED, GrowingWords, early_ones
from distsim.bitext.bitext import Bitext, Side
from distsim.bitext.links import pharaoh_text
from distsim.corpus.sources import find_file, open_source
from distsim.storage.files import open_output

EUROPARL = "bitext-europarl-fr-en"
# English and French, a line a pair; of one file both sides are on a line, French first.
TEXTS = (
    (f"{EUROPARL}/europarl-v7.fr-en.en.xz", f"{EUROPARL}/europarl-v7.fr-en.fr.xz"),
    (f"{EUROPARL}/newstest2012.en.xz", f"{EUROPARL}/newstest2012.fr.xz"),
    ("bitext-cdec-newscomm-fr-en/corpus.fr-en",),
    ("bitext-lohelp/lohelp.en-fr.en.gz", "bitext-lohelp/lohelp.en-fr.fr.gz"),
)
LANGUAGES = ("en", "fr")
FILES = (*LANGUAGES, "links")
PAIRS_AT_ONCE = 20_000


def real_pairs(data: Path) -> list[tuple[str, str]]:
    """Return the real pairs, English first, in a random order that is always the same."""
    pairs: list[tuple[str, str]] = []
    for names in TEXTS:
        sides = [_lines(data / name) for name in names]
        if len(sides) == 1:
            columns = [line.split(" ||| ", 1) for line in sides[0]]
            sides = [[english for _, english in columns], [french for french, _ in columns]]
        pairs += zip(*sides, strict=True)
    order = np.random.default_rng(SEED).permutation(len(pairs))
    return [pairs[number] for number in order.tolist()]


def _lines(path: Path) -> list[str]:
    with open_source(find_file(path)) as lines:
        return [" ".join(html.unescape(line.decode()).split()) for line in lines]


class LargeBitext:
    """A bitext and its changed copies.

    Attributes:
        words: of either side, English first.
    """

    def __init__(self, bitext: Bitext) -> None:
        self._n_pairs = len(bitext)
        lines = pharaoh_text(bitext).splitlines(keepends=True)
        self._link_lines = [lines[line - 1] for line in bitext.lines.tolist()]
        sides = (bitext.english, bitext.other)
        self._starts = [
            side.starts.astype(np.int64) + np.arange(side.starts.size) for side in sides
        ]
        self.words = [GrowingWords(_with_ends(side), side.vocabulary) for side in sides]
        owner = np.repeat(np.arange(self._n_pairs), np.diff(bitext.link_starts.astype(np.int64)))
        places = np.column_stack(
            [starts[owner] + bitext.links[:, k] for k, starts in enumerate(self._starts)]
        )
        alone = [np.bincount(column)[column] == 1 for column in places.T]
        self._links = places[alone[0] & alone[1]]
        self._pairs = np.column_stack(
            [words.ids[column] for words, column in zip(self.words, self._links.T, strict=True)]
        ).astype(np.int64)
        n_tokens = sum(side.tokens.size for side in sides) / 2
        self._share = n_tokens / CHANGED / len(self._links)
        self._made = np.empty((0, 2), np.int64)  # pairs of which at least one word is made
        self._random = np.random.default_rng(SEED)

    def blocks(self, n_pairs: int) -> Iterator[list[bytes]]:
        """Yield lines of the pairs and their copies, `n_pairs` in all: English, French, links."""
        done, n_tokens = 0, np.zeros(2, np.int64)
        while done < n_pairs:
            for first in range(0, self._n_pairs, PAIRS_AT_ONCE):
                stop = min(first + PAIRS_AT_ONCE, self._n_pairs)
                bounds = [(int(starts[first]), int(starts[stop])) for starts in self._starts]
                ids = [
                    words.ids[a:b].copy() for words, (a, b) in zip(self.words, bounds, strict=True)
                ]
                n_tokens += [side.size for side in ids]
                if done >= self._n_pairs:
                    self._change(ids, bounds, n_tokens)
                n = min(stop - first, n_pairs - done)
                done += n
                texts = [
                    words.text(side[: int(starts[first + n]) - a]).removesuffix(b" \n") + b"\n"
                    for words, side, starts, (a, _) in zip(
                        self.words, ids, self._starts, bounds, strict=True
                    )
                ]
                yield [*texts, b"".join(self._link_lines[first : first + n])]
                if done == n_pairs:
                    return

    def _change(
        self, ids: list[np.ndarray], bounds: list[tuple[int, int]], n_tokens: np.ndarray
    ) -> None:
        """Change linked words of a block in place; `n_tokens` of either side end with it."""
        random = self._random
        first, stop = np.searchsorted(self._links[:, 0], bounds[0])
        links = self._links[first:stop]
        links = links[random.random(len(links)) < self._share]
        random.shuffle(links)
        drawn = self._pairs[random.integers(0, len(self._pairs), len(links))]
        most = len(links) // MADE
        n_new = [words.n_new(int(n), most) for words, n in zip(self.words, n_tokens, strict=True)]
        again = drawn[max(n_new) : most]
        if len(self._made) and len(again):
            again[:] = self._made[early_ones(len(self._made), len(again), random)]
        for k, (words, n) in enumerate(zip(self.words, n_new, strict=True)):
            drawn[:n, k] = words.make(drawn[:n, k])
            ids[k][links[:, k] - bounds[k][0]] = drawn[:, k]
        self._made = np.concatenate([self._made, drawn[: max(n_new)]])


def _with_ends(side: Side) -> np.ndarray:
    """Return the words of a side with 0 at the end of each sentence."""
    return np.insert(side.tokens, side.starts[1:].astype(np.int64), 0)


def make_bitext(data: Path, n_pairs: int, work: Path) -> list[Path]:
    """Return the files of a large bitext (FILES), made if they are not there."""
    files = [work / f"{n_pairs}.{name}.zst" for name in FILES]
    if all(file.exists() for file in files):
        return files
    real = work / "real.bitext"
    if not real.exists():
        sides = [work / f"real.{language}.zst" for language in LANGUAGES]
        for side, lines in zip(sides, zip(*real_pairs(data), strict=True), strict=True):
            with open_output(side) as out:
                out.write("\n".join([*lines, ""]).encode())
        distsim("align", *sides, "--format", "text", "--set", "dedup=exact", "-o", real)
    bitext = LargeBitext(Bitext.open(real))
    with ExitStack() as opened:
        outputs = [opened.enter_context(open_output(file)) for file in files]
        for texts in bitext.blocks(n_pairs):
            for out, text in zip(outputs, texts, strict=True):
                out.write(text)
    for language, words in zip(LANGUAGES, bitext.words, strict=True):
        print(
            f"{language}: {words.n_words:,} words in {words.ids.size:,} tokens, exponent "
            f"{words.exponent:.3f}; {len(words.spelled):,} words in all"
        )
    return files


def main() -> None:
    """Write the bitext."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="the folder of shared data")
    parser.add_argument("--pairs", type=float, default=1e6)
    parser.add_argument("--work", type=Path, required=True)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    make_bitext(given.data, int(given.pairs), given.work)


if __name__ == "__main__":
    main()
