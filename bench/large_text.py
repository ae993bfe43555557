"""Makes a large text from an index: copies of its text in which one word in seven is changed.

    python -m bench.large_text wiki.index --tokens 1e9 -o large.txt.zst

The first copy is the text itself, a sentence a line. In the others one word in seven becomes
another one: mostly a word of the text, drawn by its frequency, sometimes a word that the text does
not have. New words enter so that the vocabulary grows by Heaps' law, fitted to the text at a
million tokens and at its end; words that were made come again, the early ones more often. The same
index and number of tokens give the same file.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from distsim import CorpusIndex
from distsim.storage.files import open_output

CHANGED = 7  # one word in so many
MADE = 6  # of the changed ones, one in so many is a word that the text does not have
FITTED_FROM = 1_000_000  # tokens
TOKENS_AT_ONCE = 4_000_000
SEED = 1


class LargeText:
    """A text and its changed copies.

    Attributes:
        ids: uint32, the text's words; 0 ends a sentence.
        spelled: the word of each id; words that are made join it.
        exponent: of the vocabulary's growth.
    """

    def __init__(self, index: CorpusIndex) -> None:
        self.ids = np.concatenate([np.asarray(shard.tokens) for shard in index.shards])
        self._running = self.ids[self.ids > 0]
        vocabulary = index.vocabulary
        self.spelled = ["\n", *map(vocabulary.word, range(1, len(vocabulary)))]
        self._n_words = len(self.spelled)
        early = min(FITTED_FROM, self.ids.size // 2)
        growth = self._n_words / np.unique(self.ids[:early]).size
        self.exponent = float(np.log(growth) / np.log(self.ids.size / early))
        self._random = np.random.default_rng(SEED)

    def blocks(self, n_tokens: int) -> Iterator[bytes]:
        """Yield lines of the text and its copies, `n_tokens` tokens with the ends of sentences."""
        done = 0
        while done < n_tokens:
            for first in range(0, self.ids.size, TOKENS_AT_ONCE):
                ids = self.ids[first : first + TOKENS_AT_ONCE][: n_tokens - done].copy()
                done += ids.size
                if done > self.ids.size:
                    size = self._n_words * (done / self.ids.size) ** self.exponent
                    self._change(ids, int(size) - len(self.spelled))
                words = [self.spelled[one] for one in ids.tolist()]
                yield " ".join(words).replace(" \n ", "\n").encode()
                if done >= n_tokens:
                    break
        yield b"\n"

    def _change(self, ids: np.ndarray, n_new: int) -> None:
        """Change one word in seven in place; `n_new` of them are words never seen before."""
        random = self._random
        places = np.flatnonzero((random.integers(0, CHANGED, ids.size) == 0) & (ids > 0))
        random.shuffle(places)
        n_new = max(0, min(n_new, places.size // MADE))
        drawn = self._running[random.integers(0, self._running.size, places.size)]
        n_made = len(self.spelled) - self._n_words
        again = places.size // MADE - n_new
        if n_made and again:
            ranks = (n_made ** random.random(again)).astype(np.int64)
            drawn[n_new : n_new + again] = self._n_words - 1 + np.minimum(ranks, n_made)
        first = len(self.spelled)
        self.spelled += [
            f"{self.spelled[one % self._n_words]}x{first + i}"
            for i, one in enumerate(drawn[:n_new].tolist())
        ]
        drawn[:n_new] = np.arange(first, first + n_new)
        ids[places] = drawn


def main() -> None:
    """Write the text."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("index", help="of the text that is copied")
    parser.add_argument("--tokens", type=float, default=1e9)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    text = LargeText(CorpusIndex.open(given.index))
    n_words = len(text.spelled)
    with open_output(given.output) as out:
        for block in text.blocks(int(given.tokens)):
            out.write(block)
    print(
        f"{text.ids.size:,} tokens and {n_words:,} words in the text, exponent "
        f"{text.exponent:.3f}; {len(text.spelled):,} words in all"
    )


if __name__ == "__main__":
    main()
