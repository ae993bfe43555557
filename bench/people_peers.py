"""Index -> word2vec and fastText vectors trained on the very tokens of the index.

The peers of bench/people.py. Needs gensim (not a dependency of distsim). Skip-gram, 200
dimensions, window 5, 3 epochs, words with 5 occurrences or more, one thread; all else is
gensim's default. Writes FOLDER/NAME.npy (float32), NAME.contexts.npy (the output vectors, for
bench/substitution.py), NAME.words.txt and NAME.json (CPU seconds, bytes), so that the
comparison can be repeated without training again.

    python bench/people_peers.py INDEX FOLDER word2vec|fasttext
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from distsim.indexes.corpus_index import CorpusIndex

SETTINGS = {"sg": 1, "vector_size": 200, "window": 5, "epochs": 3, "min_count": 5, "workers": 1}
BLOCK = 1 << 20


class Sentences:
    """The sentences of an index as lists of words, as often as they are asked for."""

    def __init__(self, index: CorpusIndex) -> None:
        self._index = index
        self._words = [index.vocabulary.word(number) for number in range(index.n_words)]

    def __iter__(self) -> Iterator[list[str]]:
        words = self._words
        for shard in self._index.shards:
            sentence: list[str] = []
            for begin in range(0, shard.tokens.size, BLOCK):
                for token in shard.tokens[begin : begin + BLOCK].tolist():
                    if token:
                        sentence.append(words[token])
                    else:
                        yield sentence
                        sentence = []


def main(index: str, folder: str, name: str) -> None:
    from gensim.models import FastText, Word2Vec

    model = {"word2vec": Word2Vec, "fasttext": FastText}[name]
    sentences = Sentences(CorpusIndex.open(index))
    before = os.times()
    trained = model(sentences=sentences, seed=1, **SETTINGS)
    after = os.times()
    vectors = trained.wv
    out = Path(folder)
    out.mkdir(exist_ok=True)
    np.save(out / f"{name}.npy", vectors.vectors.astype(np.float32))
    np.save(out / f"{name}.contexts.npy", trained.syn1neg.astype(np.float32))
    (out / f"{name}.words.txt").write_text("\n".join(vectors.index_to_key) + "\n", "utf-8")
    seconds = after.user + after.system - before.user - before.system
    facts = {"cpu_seconds": round(seconds, 1), "bytes_a_word": 4 * vectors.vector_size}
    facts |= {"words": len(vectors.index_to_key), "index_checksum": sentences._index.checksum}
    (out / f"{name}.json").write_text(json.dumps(facts | SETTINGS, indent=1) + "\n", "utf-8")
    print(facts)


if __name__ == "__main__":
    main(*sys.argv[1:])
