"""What the measurements of rewriting need, made once: some 4 CPU minutes.

    python bench/rewriting/prepare.py FOLDER [SHARED] [--europarl 9000]

SHARED, ../shared where not given, has the data. What is in FOLDER is not made again: a signed
index of Wikipedia without TurkCorpus's sentences (a language model that holds them rewards
copying), two packs (`phrases` of Europarl and newstest2012; `joint`, the same rules and PPDB's
pairs of words, without rules of function words), both halves of TurkCorpus, the odd lines to tune
on and the even ones held back, the even ones with ASSET's references, too; of the held-back ones
the longest and the shortest variant where the shortest has more than half and at most .8 of its
words (thesis 4.3).
"""

import gzip
import itertools
import lzma
import math
import re
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from frame import SHARED, distsim, parser

from distsim.evaluation.rewritings import length_pairs

REFERENCES, ASSET = range(8), range(10)
HALVES = ("tune", "held")
RUN = 6  # words in a row
_SYMBOL = re.compile(r"[^\s\[\]|]+")
_WORD = re.compile(r"[^\W_]+")
_BRACKETS = {"lrb", "rrb", "lsb", "rsb"}


def opened(path: Path):
    kinds = {".xz": lzma.open, ".gz": gzip.open}
    return kinds.get(path.suffix, open)(path, "rt", encoding="utf-8")


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def halves(data: Path, folder: Path) -> None:
    """Write TurkCorpus's odd lines as `tune.*`, its even ones as `held.*`."""
    turk = data / "gold-turkcorpus-tune"
    names = {"norm": "norm"} | {f"turk.{k}": str(k) for k in REFERENCES}
    for name, short in names.items():
        lines = (turk / f"tune.8turkers.tok.{name}").read_text(encoding="utf-8").splitlines(True)
        (folder / f"tune.{short}").write_text("".join(lines[0::2]), encoding="utf-8")
        (folder / f"held.{short}").write_text("".join(lines[1::2]), encoding="utf-8")


def asset(data: Path, folder: Path) -> None:
    """Write ASSET's references of the held-back sentences as `held.asset.*`."""
    for k in ASSET:
        with opened(data / "gold-asset-valid" / f"asset.valid.simp.{k}.xz") as lines:
            text = "".join(list(lines)[1::2])
        (folder / f"held.asset.{k}").write_text(text, encoding="utf-8")


def runs(text: str) -> list[tuple[str, ...]]:
    words = [word for word in _WORD.findall(text.lower()) if word not in _BRACKETS]
    return [tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)]


def without_sentences(text: Path, out: Path, files: Iterable[Path]) -> None:
    """Write a text without lines that share two runs of words with a line of the files.

    Lines of under five words and repeated short ones are left out, too.
    """
    known = {run for path in files for line in lines_of(path) for run in runs(line)}
    repeated = set()
    with opened(text) as lines, out.open("w", encoding="utf-8") as kept:
        for line in lines:
            few = len([one for one in _WORD.findall(line.lower()) if one not in _BRACKETS]) < 5
            if few or line in repeated or sum(run in known for run in runs(line)) >= 2:
                continue
            if len(line) < 400:
                repeated.add(line)
            kept.write(line)


def bitext(data: Path, folder: Path, europarl: int) -> None:
    """Write some Europarl and all of newstest2012 as one pair of texts."""
    source = data / "bitext-europarl-fr-en"
    for language in ("en", "fr"):
        with (folder / f"bitext.{language}").open("w", encoding="utf-8") as out:
            with opened(source / f"europarl-v7.fr-en.{language}.xz") as lines:
                out.writelines(itertools.islice(lines, europarl))
            with opened(source / f"newstest2012.{language}.xz") as lines:
                out.writelines(lines)


def plain(word: str) -> str:
    """Return the letters and digits of a word: `no.` and `no` are no rule."""
    return "".join(filter(str.isalnum, word))


def ppdb(data: Path) -> dict[tuple[str, str], str]:
    """Return the features of PPDB's pairs of words: XL's neighbours have Lexical=1, XXXL's 0.

    Rank(e|f) and Rank(f|e), of the first, are ln of the place that a word has in the other's list,
    whose best neighbours come first.
    """
    ranks: dict[tuple[str, str], float] = {}
    with opened(data / "ppdb-derived" / "ppdb-xl.neighbours.txt.gz") as lines:
        for line in lines:
            first, *others = line.lower().split()
            for place, other in enumerate(others, 1):
                ranks.setdefault((first, other), math.log(place))
    known = {
        pair: f"Lexical=1 Rank(e|f)={rank:.5f} Rank(f|e)={ranks.get(pair[::-1], rank):.5f}"
        for pair, rank in ranks.items()
    }
    with opened(data / "grammars" / "ppdb-1.0-xxxl-lexical.mwa.pairs.tsv.gz") as lines:
        for line in lines:
            first, other = line.lower().rstrip("\n").split("\t")
            known.setdefault((first, other), "Lexical=0")
    return {
        pair: told for pair, told in sorted(known.items())
        if plain(pair[0]) != plain(pair[1]) and all(map(_SYMBOL.fullmatch, pair))
    }  # fmt: skip


def joined(phrases: Path, pairs: dict[tuple[str, str], str], out: Path, more: Path) -> None:
    """Write the phrases' rules, with the features of those that are pairs, and the other pairs."""
    left = dict(pairs)
    with opened(phrases) as lines, out.open("w", encoding="utf-8") as joint:
        for line in lines:
            label, source, target, told, *rest = line.split(" ||| ")
            told = f"{told} {left.pop((source, target), '')}".rstrip()
            joint.write(" ||| ".join([label, source, target, told, *rest]))
    with more.open("w", encoding="utf-8") as words:
        for (one, other), told in left.items():
            words.write(f"[X] ||| {one} ||| {other} ||| {told}\n")


def longest_and_shortest(folder: Path) -> None:
    """Write the longest and the shortest of each held-back sentence's variants, as thesis 4.3."""
    variants = [lines_of(folder / f"held.{name}") for name in ("norm", *REFERENCES)]
    found = length_pairs(list(zip(*variants, strict=True)))
    for place, name in enumerate(("long", "short")):
        text = "".join(f"{one[place]}\n" for one in found)
        (folder / f"held.{name}").write_text(text, encoding="utf-8")


def main(folder: Path, shared: Path, europarl: int) -> None:
    folder.mkdir(exist_ok=True)
    index, data = folder / "wiki.index", shared / "data"

    def needs(name: str) -> bool:
        return not (folder / name).exists()

    if needs("held.7"):
        halves(data, folder)
    if needs(f"held.asset.{ASSET[-1]}"):
        asset(data, folder)
    if needs("wiki.index"):
        texts = [folder / f"{half}.{name}" for half in HALVES for name in ("norm", *REFERENCES)]
        without_sentences(data / "wiki-en-2015" / "AA.txt.xz", folder / "wiki.txt", texts)
        distsim("index", "build", folder / "wiki.txt", "--format", "text", "-o", index)
    if needs("wiki.index/signatures"):
        distsim("sign", index)
    if needs("bitext.en"):
        bitext(data, folder, europarl)
    if needs("held.long"):
        longest_and_shortest(folder)
    if needs("phrases/packs"):
        distsim(
            "make-grammar", "--bitext", folder / "bitext.en", folder / "bitext.fr",
            "--index", index, "--set", "text.unescape=true", "--set", "min_sum=0.001",
            "--set", "preset=phrases", "--set", "sizes=XXXL", "-o", folder / "phrases",
        )  # fmt: skip
    if needs("joint"):
        rules, words, scored = folder / "joint.rules", folder / "ppdb.rules", folder / "ppdb.scored"
        joined(folder / "phrases" / "scored.gz", ppdb(data), rules, words)
        distsim("score", words, "--ngram", index, "-o", scored)
        with rules.open("a", encoding="utf-8") as out, opened(scored) as lines:
            out.writelines(lines)
        distsim(
            "pack", rules, "-o", folder / "joint", "-w", "sim_ngram=1", "--kinds", "content",
            "--set", "missing=0", "--set", "sizes=XXXL",
        )  # fmt: skip


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("shared", type=Path, nargs="?", default=SHARED.parent)
    options.add_argument("--europarl", type=int, default=9000, help="pairs of Europarl")
    main(**vars(options.parse_args()))
