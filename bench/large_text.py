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
from distsim.corpus.vocabulary import Vocabulary
from distsim.storage.files import open_output

CHANGED = 7  # one word in so many
MADE = 6  # of the changed ones, one in so many is a word that the text does not have
FITTED_FROM = 1_000_000  # tokens
TOKENS_AT_ONCE = 4_000_000
SEED = 1


class GrowingWords:
    """The words of a text, and those made for its copies, as many as Heaps' law wants.

    Attributes:
        ids: uint32, the text's words; 0 ends a sentence.
        spelled: the word of each id; words that are made join it.
        n_words: of the text.
        exponent: of the vocabulary's growth.
    """

    def __init__(self, ids: np.ndarray, vocabulary: Vocabulary) -> None:
        self.ids = ids
        self.spelled = ["\n", *map(vocabulary.word, range(1, len(vocabulary)))]
        self.n_words = len(self.spelled)
        early = min(FITTED_FROM, ids.size // 2)
        growth = self.n_words / np.unique(ids[:early]).size
        self.exponent = float(np.log(growth) / np.log(ids.size / early))

    def n_new(self, n_tokens: int, most: int) -> int:
        """Return how many words a text of `n_tokens` still lacks, up to `most`."""
        size = self.n_words * (n_tokens / self.ids.size) ** self.exponent
        return max(0, min(int(size) - len(self.spelled), most))

    def make(self, like: np.ndarray) -> np.ndarray:
        """Return the ids of new words, each named after one that there is."""
        first = len(self.spelled)
        self.spelled += [
            f"{self.spelled[word % self.n_words]}x{first + i}"
            for i, word in enumerate(like.tolist())
        ]
        return np.arange(first, first + like.size)

    def text(self, ids: np.ndarray) -> bytes:
        """Return words as text, a sentence a line."""
        words = [self.spelled[word] for word in ids.tolist()]
        return " ".join(words).replace(" \n ", "\n").encode()


def early_ones(n: int, size: int, random: np.random.Generator) -> np.ndarray:
    """Return `size` numbers below n, the small ones more often, by Zipf's law."""
    return np.minimum((n ** random.random(size)).astype(np.int64), n) - 1


class LargeText:
    """A text and its changed copies."""

    def __init__(self, index: CorpusIndex) -> None:
        ids = np.concatenate([np.asarray(shard.tokens) for shard in index.shards])
        self.words = GrowingWords(ids, index.vocabulary)
        self._running = ids[ids > 0]
        self._random = np.random.default_rng(SEED)

    def blocks(self, n_tokens: int) -> Iterator[bytes]:
        """Yield lines of the text and its copies, `n_tokens` tokens with the ends of sentences."""
        done, text = 0, self.words.ids
        while done < n_tokens:
            for first in range(0, text.size, TOKENS_AT_ONCE):
                ids = text[first : first + TOKENS_AT_ONCE][: n_tokens - done].copy()
                done += ids.size
                if done > text.size:
                    self._change(ids, done)
                yield self.words.text(ids)
                if done >= n_tokens:
                    break
        yield b"\n"

    def _change(self, ids: np.ndarray, done: int) -> None:
        """Change one word in seven in place; `done` tokens of the whole text end with these."""
        random, words = self._random, self.words
        places = np.flatnonzero((random.integers(0, CHANGED, ids.size) == 0) & (ids > 0))
        random.shuffle(places)
        n_new = words.n_new(done, places.size // MADE)
        drawn = self._running[random.integers(0, self._running.size, places.size)]
        n_made = len(words.spelled) - words.n_words
        again = places.size // MADE - n_new
        if n_made and again:
            drawn[n_new : n_new + again] = words.n_words + early_ones(n_made, again, random)
        drawn[:n_new] = words.make(drawn[:n_new])
        ids[places] = drawn


def main() -> None:
    """Write the text."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("index", help="of the text that is copied")
    parser.add_argument("--tokens", type=float, default=1e9)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    text = LargeText(CorpusIndex.open(given.index))
    with open_output(given.output) as out:
        for block in text.blocks(int(given.tokens)):
            out.write(block)
    print(
        f"{text.words.ids.size:,} tokens and {text.words.n_words:,} words in the text, exponent "
        f"{text.words.exponent:.3f}; {len(text.words.spelled):,} words in all"
    )


if __name__ == "__main__":
    main()
