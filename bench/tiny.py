"""What benchmarks are judged by, made of the packaged texts: answers that must come out are known.

    folder = tiny.made(FOLDER, INDEX, BITEXT)

Gold sets in the layouts of ../shared/data, whose scores are the library's own real-valued cosines
(so agreement with them is 1), substitutes weighed by likeness (so likeness orders them best),
antonyms told by it, a phrase table with the links of `extract`, pivoted rules judged by their own
probability. No measurement: for `bench/tables.py --tiny`.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

from distsim import CorpusIndex, LearntCosine, SignatureTable

N_WORDS, N_PHRASES, N_SENTENCES = 120, 60, 30
PACKAGED = Path(__file__).resolve().parent.parent / "distsim" / "data"
PARTS = ("adjective", "noun", "verb")


def made(folder: Path, index_path: Path, bitext: Path) -> Path:
    """Write all of it into a folder, once, and return it."""
    if (folder / "done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    index = CorpusIndex.open(index_path)
    table = SignatureTable.open(index_path)
    draw = np.random.default_rng(1)
    order = np.argsort(-table.strengths.astype(np.int64), kind="stable")
    phrases = [text for text in map(table.text, order.tolist()) if text.replace(" ", "").isalpha()]
    words = [one for one in phrases if " " not in one and len(one) > 3][:N_WORDS]
    longer = [one for one in phrases if " " in one][:N_PHRASES]
    real = LearntCosine(index, table)
    word_pairs, phrase_pairs = drawn(words, draw), drawn(longer, draw)
    scores = dict(zip(word_pairs, real.similarities(word_pairs), strict=True))
    scores |= dict(zip(phrase_pairs, real.similarities(phrase_pairs), strict=True))
    write_gold(folder, scores)
    write_opposites(folder / "gold-antsyn", scores, word_pairs)
    write_substitutes(folder / "gold-lexsub-dev", index, real, words)
    write_rules(folder, bitext)
    write_sentences(folder, index, words, longer)
    (folder / "done").touch()
    return folder


def drawn(phrases: list[str], draw: np.random.Generator) -> list[tuple[str, str]]:
    """Return each phrase with one that comes later, so that no pair comes twice."""
    last = len(phrases) - 1
    return [(one, phrases[draw.integers(n + 1, last + 1)]) for n, one in enumerate(phrases[:last])]


def write_gold(folder: Path, scores: dict[tuple[str, str], float | None]) -> None:
    (folder / "gold-wordsim-shared").mkdir(exist_ok=True)
    (folder / "gold-paraphrase-shared").mkdir(exist_ok=True)
    words = [f"{a}\t{b}\t{s:.6f}\n" for (a, b), s in scores.items() if " " not in a + b and s]
    (folder / "gold-wordsim-shared/EN-TINY.txt").write_text("".join(words))
    judged = [
        f"{3 + 2 * s:.6f}\t[NP]\t{a}\t{b}\t{3 + 2 * s:.6f}\n" for (a, b), s in scores.items() if s
    ]
    (folder / "gold-paraphrase-shared/judgements.tsv").write_text("".join(judged))


def write_opposites(folder: Path, scores: dict, pairs: list[tuple[str, str]]) -> None:
    folder.mkdir(exist_ok=True)
    middle = float(np.median([scores[pair] for pair in pairs]))
    for part in PARTS:
        for number, of in enumerate(("train", "val")):
            lines = [f"{a}\t{b}\t{int(scores[a, b] > middle)}\n" for a, b in pairs[number::2]]
            (folder / f"{part}-pairs.{of}").write_text("".join(lines))


def write_substitutes(
    folder: Path, index: CorpusIndex, real: LearntCosine, words: list[str]
) -> None:
    """Write two sets of sentences: people's weight on a candidate grows with its likeness."""
    folder.mkdir(exist_ok=True)
    sets = {name: {"sentences": [], "gold": [], "candidates": []} for name in ("one", "two")}
    for number, word in enumerate(words[:N_SENTENCES]):
        target = sets["one" if number % 2 else "two"]
        others = [one for one in words if one != word][number : number + 8]
        likeness = real.similarities([(word, one) for one in others])
        ranks = np.argsort(np.argsort(likeness)) + 1
        spans = index.spans(word, sample=3)
        for line in index.lines(spans, 8)[:2]:
            key = f"{number}{len(target['gold'])}"
            left = line.left.split()
            sentence = " ".join([*left, word, line.right])
            target["sentences"].append(f"{word}.n\t{key}\t{len(left)}\t{sentence}\n")
            named = "".join(f"{one} {n};" for one, n in zip(others, ranks.tolist(), strict=True))
            target["gold"].append(f"{word}.n {key} :: {named}\n")
        target["candidates"].append(f"{word}.n::{';'.join(others)}\n")
    for name, files in sets.items():
        for kind, lines in files.items():
            (folder / f"{name}.{kind}").write_text("".join(lines), encoding="utf-8")


def write_sentences(folder: Path, index: CorpusIndex, words: list[str], phrases: list[str]) -> None:
    """Write sentences with two rewritings each, and what a batch of paraphrases asks."""
    lines = [
        f"{line.left} {line.node} {line.right}".strip()
        for word in words[:10] for line in index.concordance(word, limit=2, width=12)
    ]  # fmt: skip
    (folder / "source").write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    for number in range(2):
        cut = [" ".join(one.split()[: -1 - number]) for one in lines]
        text = "".join(f"{one}\n" for one in cut)
        (folder / f"reference.{number}").write_text(text, encoding="utf-8")
    (folder / "asked").write_text("".join(f"{one}\n" for one in lines[:6]), encoding="utf-8")
    (folder / "known").write_text("".join(f"{one}\n" for one in phrases[:5]), encoding="utf-8")


def write_rules(folder: Path, bitext: Path) -> None:
    """Write rules of the packaged bitext, the same as a phrase table, and pivoted ones."""
    program = [sys.executable, "-m", "distsim.cli.start"]
    numeric, rules = folder / "all.rules", folder / "rules"
    extract = [*program, "extract", bitext, "--preset", "phrases"]
    subprocess.run([*extract, "--numeric", numeric], check=True)
    subprocess.run([*extract, "-o", rules], check=True)
    subprocess.run([*program, "pivot", numeric, "-o", folder / "pivoted"], check=True)
    samt = [PACKAGED / "grammars/bengali-english.samt.gz", "--columns", "joint"]
    subprocess.run([*program, "pivot", *samt, "-o", folder / "samt.para"], check=True)
    write_pivoted(folder, (folder / "pivoted").read_text(encoding="utf-8").splitlines())
    lines = rules.read_text(encoding="utf-8").splitlines()
    entries = []
    for line in lines[:: max(1, len(lines) // 3000)]:
        _, source, target, _, links = line.split(" ||| ")
        entries.append(f"{source} ||| {target} ||| 0.5 0.5 0.5 0.5 ||| {links}\n")
    (folder / "phrase-table").write_text("".join(sorted(entries)), encoding="utf-8")


def write_pivoted(folder: Path, lines: list[str]) -> None:
    """Write rules as judged pairs: the judgement is the probability of the paraphrase."""
    (folder / "gold-pivoted").mkdir(exist_ok=True)
    rows = []
    for line in lines:
        _, source, target, features, *_ = line.split(" ||| ")
        named = dict(one.split("=") for one in features.split() if "=" in one)
        p = float(np.exp(-float(named["p(e|f)"])))
        if source != target:
            rows.append(f"{p:.9f}\t[X]\t{source}\t{target}\t{p:.9f}\n")
    (folder / "gold-pivoted/judgements.tsv").write_text("".join(rows[:400]), encoding="utf-8")
