"""Do paraphrases of unknown words help a small translation system? (Marton 2013, table IX)

English to Spanish on LibreOffice help. For each size of training data: phrase table from
sil-thot alignments, weights tuned on the development set, test set translated; then the same
with the unknown words of development and test set paraphrased from monolingual English (the
English of all the bitexts without the lines of development and test set, and any further text
given), the table augmented with paraphrases of at least each least score, and the weights tuned
further from the baseline's, which are tuned further for as many rounds. BLEU by sacrebleu on
lower-cased tokens, difference by paired bootstrap (2,000 samples, 95% interval). The language
model is the Spanish side of the training pairs.

    python bench/translation/experiment.py DATA INDEX-FOLDER [--text FILE...] [--sizes 500 2000]

DATA: the folder bitext-lohelp. INDEX-FOLDER: where the index of English is built, or is already.
"""

import argparse
import gzip
import random
import tempfile
import time
from pathlib import Path

import numpy as np
from decoder import Decoder, Table
from language_model import LanguageModel
from phrase_extraction import write_phrase_table
from tuning import bleu, bleu_statistics, tune

from distsim import (
    CorpusIndex,
    IndexOptions,
    ParaphraseOptions,
    Paraphraser,
    SignatureTable,
    augment_phrase_table,
)
from distsim.corpus.tokeniser import tokens_of
from distsim.paraphrase.batch import paraphrase_phrases
from distsim.paraphrase.records import read_paraphrases
from distsim.paraphrase.unknown import unknown_phrases

MOST_TOKENS = 20
FIRST = [0.5, 0.3, -0.2, 0.0]


def read(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def tokens(line: str) -> list[str]:
    return [token.lower() for token in tokens_of(line, "text")]


def english_index(data: Path, folder: Path, held_out: set[str], more: list[str]) -> CorpusIndex:
    if not (folder / "manifest.json").exists():
        lines: dict[str, None] = {}
        for pair in ("en-de", "en-es", "en-fr"):
            lines |= dict.fromkeys(read(data / f"lohelp.{pair}.en.gz"))
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "lohelp.txt"
            path.write_text("\n".join(line for line in lines if line not in held_out) + "\n")
            options = IndexOptions("text", dedup="exact")
            index = CorpusIndex.build([path, *more], folder, options)
        SignatureTable.build(index)
    return CorpusIndex.open(folder)


def translate(table: Table, model: LanguageModel, weights: np.ndarray, sentences, n_best: int):
    decoder = Decoder(table, model, weights)
    return [decoder.translate(words, n_best) for words in sentences]


def run(table_path: Path, model, dev, test, rounds: int, start, seed: int):
    sentences = [source for source, _ in dev + test]
    table = Table(table_path, sentences)
    weights = start if start.size == 4 + table.n_scores else np.append(start, 0.1)
    weights = tune(
        lambda tried: translate(table, model, tried, [s for s, _ in dev], 20),
        [target for _, target in dev], weights, rounds, seed, fixed=(3,),
    )  # fmt: skip
    best = [found[0].words for found in translate(table, model, weights, [s for s, _ in test], 1)]
    return weights, best


def interval(a, b, references, samples: int = 2000) -> tuple[float, float, float]:
    """Return (difference of BLEU, ends of its 95% interval), Koehn's paired bootstrap."""
    rng = np.random.default_rng(1)
    first = np.array([bleu_statistics(x, r) for x, r in zip(a, references, strict=True)])
    second = np.array([bleu_statistics(x, r) for x, r in zip(b, references, strict=True)])
    drawn = rng.integers(0, len(a), (samples, len(a)))
    gaps = 100 * (bleu(second[drawn].sum(axis=1)) - bleu(first[drawn].sum(axis=1)))
    low, high = np.percentile(gaps, [2.5, 97.5])
    return 100 * float(bleu(second.sum(axis=0)) - bleu(first.sum(axis=0))), low, high


def main() -> None:
    import sacrebleu

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("--text", nargs="*", default=[])
    parser.add_argument("--sizes", nargs="*", type=int, default=[500, 2000])
    parser.add_argument("--dev", type=int, default=200)
    parser.add_argument("--test", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--min-scores", nargs="*", type=float, default=[0.05, 0.3])
    given = parser.parse_args()
    raw = list(zip(
        read(given.data / "lohelp.en-es.en.gz"), read(given.data / "lohelp.en-es.es.gz"),
        strict=True,
    ))  # fmt: skip
    random.Random(5).shuffle(raw)
    kept = [(line, (tokens(line), tokens(other))) for line, other in raw]
    kept = [
        (line, pair) for line, pair in kept
        if 4 <= len(pair[0]) <= MOST_TOKENS and 1 <= len(pair[1]) <= MOST_TOKENS + 10
    ]  # fmt: skip
    n_held = given.dev + given.test
    dev = [pair for _, pair in kept[: given.dev]]
    test = [pair for _, pair in kept[given.dev : n_held]]
    held_out = {line for line, _ in kept[:n_held]}
    index = english_index(given.data, given.index, held_out, given.text)
    signatures = SignatureTable.open(given.index)
    paraphraser = Paraphraser(index, ParaphraseOptions(), signatures)
    references = [target for _, target in test]
    print(f"{index.n_tokens:,} tokens of English; {len(dev)} + {len(test)} held out")
    print("pairs\tsystem\tBLEU\tdifference [95%]\tparaphrased\tnew rules")

    def score(found: list[tuple[str, ...]]) -> float:
        joined = [" ".join(words) for words in references]
        texts = [" ".join(words) for words in found]
        return sacrebleu.corpus_bleu(texts, [joined], tokenize="none", force=True).score

    for size in given.sizes:
        begun = time.process_time()
        train = [pair for _, pair in kept[n_held : n_held + size]]
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write_phrase_table(train, folder / "table")
            model = LanguageModel(target for _, target in train)
            start = np.array([*FIRST, 0.2, 0.2, 0.2, 0.2])
            start, _ = run(folder / "table", model, dev, test, given.rounds, start, 1)
            _, base = run(folder / "table", model, dev, test, given.rounds, start, 2)
            (folder / "text").write_text("\n".join(" ".join(s) for s, _ in dev + test) + "\n")
            (folder / "test").write_text("\n".join(" ".join(s) for s, _ in test) + "\n")
            in_test = unknown_phrases(folder / "test", folder / "table", 1)
            n_tokens = sum(len(words) for words, _ in test)
            print(
                f"{size}\tbaseline\t{score(base):.2f}\t\t{sum(in_test.values())} unknown of "
                f"{n_tokens} test tokens", flush=True,
            )  # fmt: skip
            unknown = unknown_phrases(folder / "text", folder / "table", 1)
            unknown = {w: n for w, n in unknown.items() if any(c.isalpha() for c in w)}
            paraphrase_phrases(paraphraser, unknown, folder / "out")
            found = read_paraphrases(folder / "out").phrases
            for least in given.min_scores:
                rows = [
                    f"{one.phrase}\t1\t{text}\t{value}\n"
                    for one in found
                    for text, value in one.paraphrases
                    if value >= least
                ]
                (folder / "columns").write_text("".join(rows))
                report = augment_phrase_table(
                    folder / "table", folder / "columns", folder / "augmented"
                )
                further = np.append(start, 0.05)
                _, augmented = run(folder / "augmented", model, dev, test, given.rounds, further, 2)
                gap, low, high = interval(base, augmented, references)
                print(
                    f"{size}\taugmented, from {least} on\t{score(augmented):.2f}"
                    f"\t{gap:+.2f} [{low:+.2f}, {high:+.2f}]"
                    f"\t{report.new_phrases} of {len(unknown)}\t{report.new_entries}",
                    flush=True,
                )
        print(f"{size}\tCPU seconds\t{time.process_time() - begun:.0f}", flush=True)


if __name__ == "__main__":
    main()
