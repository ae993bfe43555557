"""What the experiments on whole sentences need.

`python bench/rewriting/prepare.py FOLDER [SHARED] [--europarl 9000]`. SHARED, ../shared where not
given, has the data and the small stanza models; `--europarl 0` makes rules of newstest2012 alone,
in a third of the time. What stands in FOLDER is not made again: an index without
TurkCorpus's sentences, a table of syntax, three packs (`hiero`; `labels`, of trees; `joint`,
labels and PPDB's pairs of words), both halves of TurkCorpus with trees, the odd lines to tune on
and the even ones held back. Some 25 CPU minutes.
"""

import argparse
import gzip
import itertools
import lzma
import re
import subprocess
import sys
from pathlib import Path

REFERENCES = range(8)
_SYMBOL = re.compile(r"[^\s\[\]|]+")
HERE = Path(__file__).parent


def distsim(*arguments: object) -> None:
    """Run a command of this interpreter's distsim; stop with it."""
    subprocess.run([Path(sys.executable).parent / "distsim", *map(str, arguments)], check=True)


def opened(path: Path):
    kinds = {".xz": lzma.open, ".gz": gzip.open}
    return kinds.get(path.suffix, open)(path, "rt", encoding="utf-8")


def halves(shared: Path, folder: Path) -> None:
    """Write TurkCorpus's odd lines as `tune.*`, its even ones as `held.*`."""
    turk = shared / "data" / "gold-turkcorpus-tune"
    names = {"norm": "norm"} | {f"turk.{k}": str(k) for k in REFERENCES}
    for name, short in names.items():
        lines = (turk / f"tune.8turkers.tok.{name}").read_text(encoding="utf-8").splitlines(True)
        (folder / f"tune.{short}").write_text("".join(lines[0::2]), encoding="utf-8")
        (folder / f"held.{short}").write_text("".join(lines[1::2]), encoding="utf-8")


def bitext(shared: Path, folder: Path, europarl: int) -> None:
    """Write some Europarl and all of newstest2012 as one pair of texts."""
    from_where = shared / "data" / "bitext-europarl-fr-en"
    for language in ("en", "fr"):
        with (folder / f"bitext.{language}").open("w", encoding="utf-8") as out:
            with opened(from_where / f"europarl-v7.fr-en.{language}.xz") as lines:
                out.writelines(itertools.islice(lines, europarl))
            with opened(from_where / f"newstest2012.{language}.xz") as lines:
                out.writelines(lines)


def ppdb(shared: Path, path: Path) -> None:
    """Write PPDB's pairs of words, XL's neighbours and XXXL's pairs, as rules."""
    pairs = set()
    with opened(shared / "data" / "ppdb-derived" / "ppdb-xl.neighbours.txt.gz") as lines:
        for line in lines:
            first, *others = line.lower().split()
            pairs.update((first, other) for other in others)
    with opened(shared / "data" / "grammars" / "ppdb-1.0-xxxl-lexical.mwa.pairs.tsv.gz") as lines:
        pairs.update(tuple(line.lower().rstrip("\n").split("\t")) for line in lines)
    with path.open("w", encoding="utf-8") as out:
        for one, other in sorted(pairs):
            if one != other and _SYMBOL.fullmatch(one) and _SYMBOL.fullmatch(other):
                out.write(f"[X] ||| {one} ||| {other} ||| Lexical=1\n")


def main(folder: Path, shared: Path, europarl: int) -> None:
    folder.mkdir(exist_ok=True)
    index, syntax = folder / "wiki.index", folder / "syntax.table"
    models = shared / "models" / "tiny-en"

    def needs(name: str) -> bool:
        return not (folder / name).exists()

    if needs("held.7"):
        halves(shared, folder)
    if needs("wiki.index"):
        subprocess.run([
            sys.executable, HERE / "without_sentences.py",
            shared / "data" / "wiki-en-2015" / "AA.txt.xz", folder / "wiki.txt",
            *(folder / f"{half}.{name}" for half in ("tune", "held")
              for name in ("norm", *REFERENCES)),
        ], check=True)  # fmt: skip
        distsim("index", "build", folder / "wiki.txt", "--format", "text", "-o", index)
    if needs("wiki.index/signatures"):
        distsim("sign", index)
    if needs("syntax.table"):
        spacy = shared / "data" / "wiki-spacy" / "wiki-spacy.conllu.xz"
        distsim("sign", spacy, "--from", "annotated", "-o", syntax)
    if needs("bitext.en"):
        bitext(shared, folder, europarl)
    for text, name in (("tune.norm", "tune"), ("held.norm", "held"), ("bitext.en", "bitext")):
        if needs(f"{name}.trees"):
            distsim(
                "annotate", folder / text, "-o", folder / f"{name}.conllu", "--with", "stanza",
                "--models", models, "--format", "lines", "--trees", folder / f"{name}.trees",
            )  # fmt: skip
    for name, more in (("hiero", []), ("labels", ["--trees", folder / "bitext.trees"])):
        if needs(f"{name}/packs"):
            distsim(
                "make-grammar", "--bitext", folder / "bitext.en", folder / "bitext.fr",
                "--index", index, "--syntax", syntax,
                "--set", "text.unescape=true", "--set", "min_sum=0.001",
                "--set", f"preset={'ppdb' if more else 'hiero'}", *more, "--set", "sizes=XXXL",
                "-o", folder / name,
            )  # fmt: skip
    if needs("joint"):
        ppdb(shared, folder / "ppdb.rules")
        scored = folder / "ppdb.scored"
        distsim("score", folder / "ppdb.rules", "--ngram", index, "--syntax", syntax, "-o", scored)
        with (folder / "joint.rules").open("w", encoding="utf-8") as out:
            for part in (folder / "labels" / "scored.gz", scored):
                with opened(part) as lines:
                    out.writelines(lines)
        distsim(
            "pack", folder / "joint.rules", "-o", folder / "joint", "-w", "sim_ngram=1",
            "--set", "missing=0", "--set", "sizes=XXXL",
        )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("shared", type=Path, nargs="?", default=Path("../shared"))
    parser.add_argument("--europarl", type=int, default=9000, help="pairs of Europarl")
    main(**vars(parser.parse_args()))
