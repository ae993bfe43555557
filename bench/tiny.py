"""What benchmarks are judged by, made of the packaged texts: answers that must come out are known.

    folder = tiny.made(FOLDER, INDEX, BITEXT)
    folder = tiny.rewriting_folder(FOLDER, INDEX, MADE)

Gold sets in the layouts of ../shared/data, whose scores are the library's own real-valued cosines
(so agreement with them is 1), substitutes weighed by likeness (so likeness orders them best),
people's substitutes that are the nearest words, antonyms told by likeness, a phrase table with the
links of `extract`, links by hand that are those of `align`, pivoted rules judged by their own
probability, annotated text whose parts of speech are the words' first letters, and what
rewriting/prepare.py leaves. No measurement: for `bench/tables.py --tiny`.
"""

import gzip
import lzma
import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from distsim import CorpusIndex, SignatureTable, similarities
from distsim.comparison import LearntCosine, NeighbourSearch
from distsim.corpus.tokeniser import tokens_of

N_WORDS, N_PHRASES, N_SENTENCES = 120, 60, 30
N_LINKED, N_BY_HAND, N_NEWS = 360, 100, 60  # pairs: linked, by hand the first, by others the last
N_REWRITTEN, N_TWEETS, N_GRAMMAR = 10, 120, 90
PROGRAM = [sys.executable, "-m", "distsim.cli.start"]
SETS = ("WS-353-SIM", "WS-353-REL", "MTurk-771", "RG-65", "VERB-143")  # of bench/kinds.py
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
    write_kinds(folder / "gold-kinds", table, words)
    write_rules(folder, bitext)
    write_sentences(folder, index, words, longer)
    write_help(folder / "bitext-lohelp")
    write_links(folder)
    write_annotated(folder / "gum-annotated", index, words)
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
        for line in index.lines(spans, width=8)[:2]:
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
        for word in words[:10] for line in index.concordance(word, k=2, width=12)
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
    numeric, rules = folder / "all.rules", folder / "rules"
    distsim("extract", bitext, "--preset", "phrases", "--numeric", numeric)
    distsim("extract", bitext, "--preset", "phrases", "-o", rules)
    distsim("pivot", numeric, "-o", folder / "pivoted")
    samt = PACKAGED / "grammars/bengali-english.samt.gz"
    distsim("pivot", samt, "--columns", "joint", "-o", folder / "samt.para")
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


def distsim(*arguments: object) -> None:
    """Run a command of distsim."""
    subprocess.run([*PROGRAM, *map(str, arguments)], check=True)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, packed as the name says."""
    path.parent.mkdir(exist_ok=True, parents=True)
    data = "".join(f"{line}\n" for line in lines).encode()
    pack = {".xz": lzma.compress, ".gz": gzip.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(data))


def help_pairs(most: int) -> tuple[list[list[str]], list[list[str]]]:
    """Return the first packaged pairs of 6 to 25 English tokens, lower-cased."""
    sides = [
        lzma.decompress((PACKAGED / f"bitext/help.{side}.xz").read_bytes()).decode().splitlines()
        for side in ("en", "de")
    ]
    cut = ([[one.lower() for one in tokens_of(line, "text")] for line in pair]
           for pair in zip(*sides, strict=True))  # fmt: skip
    chosen = list(islice((pair for pair in cut if 6 <= len(pair[0]) <= 25 and pair[1]), most))
    return [english for english, _ in chosen], [german for _, german in chosen]


def write_kinds(folder: Path, table: SignatureTable, words: list[str]) -> None:
    """Write judgements that are the table's, and substitutes that are its nearest words."""
    half = list(zip(words[:16:2], words[1:16:2], strict=True))
    scores = [
        f"{a}\t{b}\t{s:.6f}" for (a, b), s in zip(half, similarities(table, half), strict=True) if s
    ]
    for name in SETS:
        write_lines(folder / f"EN-{name}.txt", scores)
    search = NeighbourSearch(table)
    nearest = {word: [one.phrase for one in search.nearest(word) or ()] for word in words[:30]}
    gold = [
        f"{word}.n 1 :: {''.join(f'{one} 1;' for one in near)}" for word, near in nearest.items()
    ]
    write_lines(folder / "substitutes.xz", gold)


def write_help(folder: Path) -> None:
    """Write the packaged pairs as bitexts with three languages, all of them German."""
    for other in ("de", "es", "fr"):
        for side, name in (("en", "en"), ("de", other)):
            packed = (PACKAGED / f"bitext/help.{side}.xz").read_bytes()
            text = lzma.decompress(packed).decode().splitlines()
            write_lines(folder / f"lohelp.en-{other}.{name}.gz", text)


def write_links(folder: Path) -> None:
    """Write texts with the links that `align` makes of them, by the names of bench/alignment.py."""
    english, german = (list(map(" ".join, side)) for side in help_pairs(N_LINKED))
    write_lines(folder / "linked.en", english)
    write_lines(folder / "linked.de", german)
    made = folder / "linked.links"
    distsim("align", folder / "linked.en", folder / "linked.de", "-o", folder / "linked.bitext",
            "--write-links", made)  # fmt: skip
    turned = [
        " ".join("-".join(reversed(link.split("-"))) for link in line.split())
        for line in made.read_text().splitlines()
    ]
    hansards, europarl = folder / "bitext-hansards-fr-en", folder / "bitext-europarl-fr-en"
    first, last = N_BY_HAND, N_LINKED - N_NEWS
    for side, lines in (("en", english), ("fr", german)):
        write_lines(hansards / f"gold.{side}.xz", lines[:first])
        write_lines(hansards / f"train.{side}.xz", lines[first : 2 * first])
        write_lines(europarl / f"europarl-v7.fr-en.{side}.xz", lines[2 * first : last])
    write_lines(hansards / "gold.align.xz", turned[:first])
    news = folder / "bitext-cdec-newscomm-fr-en"
    both = zip(german[last:], english[last:], strict=True)
    write_lines(news / "corpus.fr-en", (f"{one} ||| {other}" for one, other in both))
    write_lines(news / "corpus.al", turned[last:])


def tree(tokens: Sequence[str], telling: bool = False) -> str:
    """Return a bracketed tree of phrases of two tokens; telling: named by their first letter."""
    leaves = [f"(N{'N' if n % 2 else 'P'} {one})" for n, one in enumerate(tokens)]
    names = [f"{one[0].upper()}P" if telling else "NP" for one in tokens[::2]]
    pairs = [f"({name} {' '.join(leaves[2 * n : 2 * n + 2])})" for n, name in enumerate(names)]
    return f"(S {' '.join(pairs)})"


def write_annotated(folder: Path, index: CorpusIndex, words: list[str]) -> None:
    """Write sentences of the index; a word hangs on the one before, its tag is its first letter."""
    lines = dict.fromkeys(
        f"{line.left} {line.node} {line.right}"
        for word in words[:40] for line in index.concordance(word, k=9, width=20)
    )  # fmt: skip
    sentences = [[one for one in line.split() if one.isalpha()] for line in lines]
    sentences = [tokens for tokens in sentences if len(tokens) > 2]
    rows = []
    for tokens in sentences:
        for n, one in enumerate(tokens, 1):
            tag, relation = one[0].upper(), "dep" if n > 1 else "root"
            row = [
                str(n),
                one,
                one,
                tag,
                tag,
                "_",
                str(n - 1),
                relation,
                f"{n - 1}:{relation}",
                "_",
            ]
            rows.append("\t".join(row))
        rows.append("")
    write_lines(folder / "gum-free.conllu.gz", rows)
    write_lines(folder / "gum-free.ptb.gz", (tree(tokens, telling=True) for tokens in sentences))


def rewriting_folder(folder: Path, index: Path, data: Path) -> Path:
    """Make what bench/rewriting/prepare.py leaves, of the packaged bitext, with made-up trees.

    The grammar with labels stands for both; sentences are those that it was made of, people's
    rewritings lack a word each; `compression` has the pairs that its script would draw.
    """
    if (folder / "done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    english, german = help_pairs(N_GRAMMAR)
    for name, lines in (("en", english), ("de", german)):
        write_lines(folder / f"bitext.{name}", map(" ".join, lines))
    write_lines(folder / "bitext.trees", map(tree, english))
    if not (folder / "wiki.index").exists():
        (folder / "wiki.index").symlink_to(index.resolve(), target_is_directory=True)
    distsim(
        "make-grammar", "--bitext", folder / "bitext.en", folder / "bitext.de", "--index", index,
        "--trees", folder / "bitext.trees", "--set", "preset=ppdb", "--set", "sizes=XXXL",
        "-o", folder / "labels",
    )  # fmt: skip
    if not (folder / "hiero").exists():
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
        short = (" ".join(tokens[: round(0.75 * len(tokens))]) for tokens in some)
        write_lines(folder / "compression" / f"{half}.long", map(" ".join, some))
        write_lines(folder / "compression" / f"{half}.short", short)
        write_lines(folder / "compression" / f"{half}.trees", map(tree, some))
    two = (one + other for one, other in pairwise(english) if len(one + other) >= 20)
    write_lines(folder / "twenty", (" ".join(tokens[:20]) for tokens in islice(two, 4)))
    sources = [line for line in (data / "source").read_text().splitlines() if len(line) < 99]
    tweets = [
        f"False\t{('HillaryClinton', 'realDonaldTrump')[n % 2]}\t{sources[n % len(sources)]} {n}"
        for n in range(N_TWEETS)
    ]
    write_lines(folder / "tweets.tab", ["Retweet\tAuthor\tContent", "d\td\ts", "\t\t", *tweets])
    (folder / "done").touch()
    return folder
