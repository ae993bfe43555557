"""Data for tiny runs, made of the packaged texts so that the answers are known.

Gold sets in the layouts of ../shared/data, whose scores are the library's own real-valued cosines
(so agreement with them is 1), antonyms told by likeness, substitutes weighed by likeness and rank,
links by hand that are those of `align`, annotated text whose parts of speech are the words' first
letters, judged rules whose judgement is their own probability, and what rewriting/prepare.py
leaves. No measurement: for `bench/tables.py --tiny`.
"""

import gzip
import lzma
import shutil
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from frame import PROJECT, WORD_SETS, distsim

from distsim import CorpusIndex, SignatureTable
from distsim.comparison import LearnedCosine
from distsim.corpus.tokeniser import tokens_of

N_WORDS, N_PHRASES, N_SENTENCES = 120, 60, 30
N_LINKED, N_BY_HAND, N_NEWS, N_HELP = 360, 100, 60, 300  # pairs
N_REWRITTEN, N_GRAMMAR = 6, 60
PACKAGED = PROJECT / "distsim" / "data"
PARTS = ("adjective", "noun", "verb")
Scores = dict[tuple[str, str], float]


def write_data(folder: Path, index_path: Path) -> Path:
    """Write all that is in ../shared/data otherwise, once; return the folder."""
    if (folder / "done").exists():
        return folder
    index, table = CorpusIndex.open(index_path), SignatureTable.open(index_path)
    draw = np.random.default_rng(1)
    order = np.argsort(-table.strengths.astype(np.int64), kind="stable")
    phrases = [text for text in map(table.text, order.tolist()) if text.replace(" ", "").isalpha()]
    words = [one for one in phrases if " " not in one and len(one) > 3][:N_WORDS]
    longer = [one for one in phrases if " " in one][:N_PHRASES]
    real = LearnedCosine(index, table)
    word_pairs, phrase_pairs = drawn(words, draw), drawn(longer, draw)
    of_words = dict(zip(word_pairs, real.similarities(word_pairs), strict=True))
    of_phrases = dict(zip(phrase_pairs, real.similarities(phrase_pairs), strict=True))
    write_gold(folder, of_words, of_phrases)
    write_opposites(folder / "gold-antsyn", of_words)
    write_substitutes(folder / "gold-lexsub-dev", index, real, words)
    write_help(folder / "bitext-lohelp")
    write_links(folder)
    write_annotated(folder / "gum-annotated", index, words)
    (folder / "grammars").mkdir()
    for kind in ("samt", "hiero"):
        shared = folder / "grammars" / f"joshua.bn-en.{kind}.grammar.gz"
        shutil.copy(PACKAGED / "grammars/bengali-english.samt.gz", shared)
    (folder / "done").touch()
    return folder


def drawn(phrases: list[str], draw: np.random.Generator) -> list[tuple[str, str]]:
    """Return each phrase with one that comes later, so that no pair comes twice."""
    last = len(phrases) - 1
    return [(one, phrases[draw.integers(n + 1, last + 1)]) for n, one in enumerate(phrases[:last])]


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, compressed as the name says."""
    path.parent.mkdir(exist_ok=True, parents=True)
    data = "".join(f"{line}\n" for line in lines).encode()
    compress = {".xz": lzma.compress, ".gz": gzip.compress}.get(path.suffix, bytes)
    path.write_bytes(compress(data))


def write_gold(folder: Path, of_words: Scores, of_phrases: Scores) -> None:
    lines = [f"{a}\t{b}\t{score:.6f}" for (a, b), score in of_words.items()]
    for number, name in enumerate(WORD_SETS):
        write_lines(folder / f"gold-wordsim-shared/EN-{name}.txt", lines[number :: len(WORD_SETS)])
    judged = [(a, b, 3 + 2 * score) for (a, b), score in (of_words | of_phrases).items()]
    write_judgements(folder, judged)


def write_judgements(folder: Path, judged: Iterable[tuple[str, str, float]]) -> None:
    lines = (f"{score:.6f}\t[NP]\t{a}\t{b}\t{score:.6f}" for a, b, score in judged)
    write_lines(folder / "gold-paraphrase-shared/judgements.tsv", lines)


def write_judged(folder: Path, paraphrases: Path) -> Path:
    """Write rules as judged pairs, by the probabilities of both directions; return the folder."""
    rows = []
    with paraphrases.open(encoding="utf-8") as file:
        for line in islice(file, 400):
            _, source, target, features, *_ = line.split(" ||| ")
            named = dict(one.split("=") for one in features.split())
            rows.append((source, target, -float(named["p(e|f)"]) - float(named["p(f|e)"])))
    least = min(score for *_, score in rows)
    write_judgements(folder, ((a, b, score - least) for a, b, score in rows))
    return folder


def write_opposites(folder: Path, scores: Scores) -> None:
    middle = float(np.median(list(scores.values())))
    lines = [f"{a}\t{b}\t{int(score > middle)}" for (a, b), score in scores.items()]
    for part in PARTS:
        for number, of in enumerate(("train", "val")):
            write_lines(folder / f"{part}-pairs.{of}", lines[number::2])


def write_substitutes(
    folder: Path, index: CorpusIndex, real: LearnedCosine, words: list[str]
) -> None:
    """Write two sets of sentences: people's weight on a candidate grows with its likeness."""
    sets: dict[str, dict[str, list[str]]] = {
        name: {"sentences": [], "gold": [], "candidates": []}
        for name in ("semeval-trial", "coinco-dev")
    }
    for number, word in enumerate(words[:N_SENTENCES]):
        target = list(sets.values())[number % 2]
        others = [one for one in words if one != word][number : number + 8]
        likeness = real.similarities([(word, one) for one in others])
        ranks = np.argsort(np.argsort(likeness)) + 1
        for line in index.lines(index.spans(word, sample=3), width=8)[:2]:
            key = f"{number}{len(target['gold'])}"
            left = line.left.split()
            sentence = " ".join([*left, word, line.right])
            target["sentences"].append(f"{word}.n\t{key}\t{len(left)}\t{sentence}")
            named = "".join(f"{one} {n};" for one, n in zip(others, ranks.tolist(), strict=True))
            target["gold"].append(f"{word}.n {key} :: {named}")
        target["candidates"].append(f"{word}.n::{';'.join(others)}")
    for name, files in sets.items():
        for kind, lines in files.items():
            write_lines(folder / f"{name}.{kind}.xz", lines)


def packaged_pairs() -> tuple[list[str], list[str]]:
    english, german = (
        lzma.decompress((PACKAGED / f"bitext/help.{side}.xz").read_bytes()).decode().splitlines()
        for side in ("en", "de")
    )
    return english, german


def help_pairs(most: int) -> tuple[list[list[str]], list[list[str]]]:
    """Return the first packaged pairs of 6 to 25 English tokens, lower-cased."""
    cut = ([[one.lower() for one in tokens_of(line, "text")] for line in pair]
           for pair in zip(*packaged_pairs(), strict=True))  # fmt: skip
    chosen = list(islice((pair for pair in cut if 6 <= len(pair[0]) <= 25 and pair[1]), most))
    return [english for english, _ in chosen], [german for _, german in chosen]


def write_help(folder: Path) -> None:
    """Write packaged pairs as bitexts with three languages, all of them German."""
    for n, other in ((N_HELP, "de"), (-1, "es"), (N_HELP, "fr")):
        for name, lines in zip(("en", other), packaged_pairs(), strict=True):
            write_lines(folder / f"lohelp.en-{other}.{name}.gz", lines[:n])


def write_links(folder: Path) -> None:
    """Write texts with the links that `align` makes of them, by the names of bench/alignment.py."""
    english, german = (list(map(" ".join, side)) for side in help_pairs(N_LINKED))
    write_lines(folder / "linked.en", english)
    write_lines(folder / "linked.de", german)
    links = folder / "linked.links"
    distsim("align", folder / "linked.en", folder / "linked.de", "-o", folder / "linked.bitext",
            "--write-links", links)  # fmt: skip
    turned = [
        " ".join("-".join(reversed(link.split("-"))) for link in line.split())
        for line in links.read_text().splitlines()
    ]
    hansards, europarl = folder / "bitext-hansards-fr-en", folder / "bitext-europarl-fr-en"
    first, last = N_BY_HAND, N_LINKED - N_NEWS
    for side, lines in (("en", english), ("fr", german)):
        write_lines(hansards / f"gold.{side}.xz", lines[:first])
        write_lines(hansards / f"train.{side}.xz", lines[first : 2 * first])
        write_lines(europarl / f"europarl-v7.fr-en.{side}.xz", lines[2 * first : last])
    for name, lines in (("gold", english[:first]), ("train", english[first : 2 * first])):
        write_lines(hansards / f"{name}.en.ptb.xz", (tree(line.split()) for line in lines))
    write_lines(hansards / "gold.align.xz", turned[:first])
    news = folder / "bitext-cdec-newscomm-fr-en"
    both = zip(german[last:], english[last:], strict=True)
    write_lines(news / "corpus.fr-en", (f"{one} ||| {other}" for one, other in both))
    write_lines(news / "corpus.al", turned[last:])


def tree(tokens: Sequence[str]) -> str:
    """Return a bracketed tree of phrases of two tokens."""
    leaves = [f"(N{'N' if n % 2 else 'P'} {one})" for n, one in enumerate(tokens)]
    pairs = (f"(NP {' '.join(leaves[n : n + 2])})" for n in range(0, len(leaves), 2))
    return f"(S {' '.join(pairs)})"


def write_annotated(folder: Path, index: CorpusIndex, words: list[str]) -> None:
    """Write sentences of the index; a word hangs on the one before, its tag is its first letter."""
    lines = dict.fromkeys(
        f"{line.left} {line.node} {line.right}"
        for word in words[:40] for line in index.concordance(word, k=9, width=20)
    )  # fmt: skip
    rows = []
    for line in lines:
        for n, one in enumerate(filter(str.isalpha, line.split()), 1):
            tag, relation = one[0].upper(), "dep" if n > 1 else "root"
            fields = (n, one, one, tag, tag, "_", n - 1, relation, f"{n - 1}:{relation}", "_")
            rows.append("\t".join(map(str, fields)))
        rows.append("")
    write_lines(folder / "gum-free.conllu.gz", rows)


def write_rewriting(folder: Path, index: Path) -> Path:
    """Make what bench/rewriting/prepare.py leaves, of the packaged bitext, with made-up trees.

    The grammar with labels stands for both; sentences are those that it was made of, people's
    rewritings lack a word each.
    """
    if (folder / "done").exists():
        return folder
    english, german = help_pairs(N_GRAMMAR)
    for name, lines in (("en", english), ("de", german)):
        write_lines(folder / f"bitext.{name}", map(" ".join, lines))
    write_lines(folder / "bitext.trees", map(tree, english))
    (folder / "wiki.index").symlink_to(index.resolve(), target_is_directory=True)
    distsim(
        "make-grammar", "--bitext", folder / "bitext.en", folder / "bitext.de", "--index", index,
        "--trees", folder / "bitext.trees", "--set", "preset=ppdb", "--set", "sizes=XXXL",
        "-o", folder / "labels",
    )  # fmt: skip
    (folder / "hiero").symlink_to("labels", target_is_directory=True)
    rules = gzip.decompress((folder / "labels" / "scored.gz").read_bytes())
    (folder / "joint.rules").write_bytes(rules)
    distsim("pack", folder / "joint.rules", "-o", folder / "joint", "-w", "sim_ngram=1",
            "--set", "missing=0", "--set", "sizes=XXXL")  # fmt: skip
    for half, some in (("tune", english[::2]), ("held", english[1::2])):
        some = some[:N_REWRITTEN]
        write_lines(folder / f"{half}.norm", map(" ".join, some))
        write_lines(folder / f"{half}.trees", map(tree, some))
        for k in range(8):
            lacking = (" ".join(s[:k] + s[k + 1 :] if k < len(s) else s) for s in some)
            write_lines(folder / f"{half}.{k}", lacking)
        for k in range(10):
            write_lines(folder / f"{half}.asset.{k}", (" ".join(s[k % 2 :]) for s in some))
        short = (" ".join(tokens[: round(0.75 * len(tokens))]) for tokens in some)
        write_lines(folder / f"{half}.long", map(" ".join, some))
        write_lines(folder / f"{half}.short", short)
        write_lines(folder / f"{half}.long.trees", map(tree, some))
    (folder / "done").touch()
    return folder
