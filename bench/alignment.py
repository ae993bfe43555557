"""Word links against links made by hand, beside eflomal and sil-thot's models.

Measured on the 237 gold pairs of bitext-hansards-fr-en: their text is aligned together with its
training part (2,620 pairs), and with the 20,000 pairs of Europarl and the 1,001 news pairs
(23,621), in lower case, Moses' escapes undone; no aligner sees any link. Every aligner's two
directions go through the same symmetrisation. A guard against settings that suit those 237 pairs:
the links that come with the news pairs (of another aligner, so agreement, not truth). CPU seconds
are of a process of its own, reading and start-up included, both directions.

    python bench/alignment.py [--pairs 2620 23621] [--rows ours eflomal fast-align hmm ibm1]
                              [--data FOLDER]
    python bench/alignment.py --road wiki.index [--rows ...] [--keep FOLDER]

The second judges each aligner by the paraphrases that it leads to: the French texts that come
tokenised (Europarl, newstest2012, Hansards, news: 26,624 pairs) are linked as one, taken in by
`align --links`, `extract --preset phrases`, pivoted and held against people's judgements as in
grammar_road.py: by the pairs that an aligner covers, that all cover, that any covers (those that it
lacks come last), and that it shares with ours. The index has its table. --keep: links and rules
that stand in FOLDER are not made again.

eflomal and sil-thot are for this benchmark only: pip install eflomal sil-thot (eflomal is GPL and
needs a compiler). A row whose aligner is not installed is passed over.
"""

import argparse
import lzma
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from grammar_road import GOLD, Pivot, covered_pairs, read_gold, spearman
from scipy.stats import rankdata

from distsim import SignatureTable, similarities
from distsim.bitext.error_rate import compare_links
from distsim.bitext.kernels.alignment import NONE, symmetrise
from distsim.bitext.links import Links, in_order, parse_pharaoh
from distsim.corpus.escapes import undo_moses_escapes

SHARED = Path(__file__).parents[1] / "../shared/data"
THOT_ROUNDS = 5
ROWS = ("ours", "eflomal", "fast-align", "hmm", "ibm1")
LAST = ("ours once more (another seed)", "ours, a third of the sweeps")


class Judged(NamedTuple):
    """Links that are known: of the first pairs by hand, of the last ones by another aligner.

    small, whole: how many pairs there are without and with Europarl and news.
    """

    gold: Links
    news: Links
    small: int
    whole: int


def unpacked(path):
    return lzma.decompress(path.read_bytes()).decode().splitlines()


def gather(data, folder):
    """Write the texts without and with Europarl and news (2,620 and 23,621 pairs)."""
    hansards, europarl = data / "bitext-hansards-fr-en", data / "bitext-europarl-fr-en"
    given = data / "bitext-cdec-newscomm-fr-en"
    news = [line.split(" ||| ") for line in (given / "corpus.fr-en").read_text().splitlines()]
    for column, side in ((1, "en"), (0, "fr")):
        lines = unpacked(hansards / f"gold.{side}.xz") + unpacked(hansards / f"train.{side}.xz")
        small = len(lines)
        write(folder / f"{small}.{side}", lines)
        lines += unpacked(europarl / f"europarl-v7.fr-en.{side}.xz")
        lines += [pair[column] for pair in news]
        write(folder / f"{len(lines)}.{side}", lines)
    # Both files are written French first.
    gold = turned(parse_pharaoh("\n".join(unpacked(hansards / "gold.align.xz")).encode()))
    other = turned(parse_pharaoh((given / "corpus.al").read_bytes()))
    return Judged(gold, other, small, len(lines))


def write(path, lines):
    text = undo_moses_escapes("\n".join(lines).lower().encode())
    path.write_bytes(text + b"\n")


def turned(links):
    return in_order(links.pairs[:, ::-1], links.starts, links.possible)


def some(links, first, stop):
    a, b = links.starts[first], links.starts[stop]
    return Links(links.pairs[a:b], links.starts[first : stop + 1] - a, links.possible[a:b])


def one_way(folder, name, n):
    """Run an aligner that writes Pharaoh lines of both directions; return both."""
    made = folder / "there", folder / "back"
    files = [str(folder / f"{n}.{side}") for side in ("en", "fr")]
    if name == "eflomal":
        command = ["eflomal-align", "--overwrite", "-s", files[0], "-t", files[1],
                   "-f", made[0], "-r", made[1]]  # fmt: skip
    else:
        command = [sys.executable, __file__, "--thot", name, *files, *made]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL)
    return [parse_pharaoh(path.read_bytes()) for path in made]


def both_made_one(folder, name, there, back, grow):
    """Symmetrise links that both directions found."""
    n = len(there.starts) - 1
    starts, rows = [], []
    for side, links, column in (("en", back, 0), ("fr", there, 1)):
        lengths = [len(line.split()) for line in (folder / f"{name}.{side}").open()]
        starts.append(np.cumsum([0, *lengths]))
        row = np.full(sum(lengths), NONE, np.uint8)
        owner = np.repeat(np.arange(n), np.diff(links.starts))
        row[starts[-1][owner] + links.pairs[:, column]] = links.pairs[:, 1 - column]
        rows.append(row)
    pairs, stops = symmetrise(*starts, rows[1], rows[0], grow)
    return Links(pairs.astype(np.int64), stops.astype(np.int64), np.zeros(len(pairs), bool))


def align_with_thot(name, english, other, there, back):
    """Write the links of both directions of one of sil-thot's models."""
    import thot.alignment

    model_of = {
        "ibm1": thot.alignment.Ibm1AlignmentModel, "hmm": thot.alignment.HmmAlignmentModel,
        "fast-align": thot.alignment.FastAlignModel,
    }  # fmt: skip
    sides = [
        [line.split() for line in Path(path).read_text().splitlines()] for path in (english, other)
    ]
    for path, turn in ((there, 1), (back, -1)):
        sources, targets = sides[::turn]
        model = model_of[name]()
        for source, target in zip(sources, targets, strict=True):
            model.add_sentence_pair(source, target, 1.0)
        model.start_training()
        for _ in range(THOT_ROUNDS):
            model.train()
        model.end_training()
        with open(path, "w") as file:
            for source, target in zip(sources, targets, strict=True):
                matrix = np.zeros((0, 0))
                if source and target:
                    matrix = model.get_best_alignment(source, target)[1].to_numpy()
                links = np.argwhere(matrix)[:, ::turn]
                file.write(" ".join(f"{i}-{j}" for i, j in links) + "\n")


def distsim(*command):
    program = [sys.executable, "-m", "distsim.cli.start", *map(str, command)]
    subprocess.run(program, check=True, stderr=subprocess.DEVNULL)


def align_with_ours(folder, n, *options):
    distsim("align", folder / f"{n}.en", folder / f"{n}.fr", "-o", folder / "bitext",
            "--write-links", folder / "links", *options)  # fmt: skip
    return parse_pharaoh((folder / "links").read_bytes())


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(name, how, n, links, judged, seconds):
    by_hand = compare_links(some(links, 0, len(judged.gold.starts) - 1), judged.gold)
    columns = [
        f"{n:,}", name, how, f"{by_hand.error_rate:.3f}", f"{by_hand.precision:.3f}",
        f"{by_hand.sure_precision:.3f}", f"{by_hand.recall:.3f}",
    ]  # fmt: skip
    given = "-"
    if n > judged.small:
        last = some(links, n - len(judged.news.starts) + 1, n)
        given = f"{1 - compare_links(last, judged.news).error_rate:.3f}"
    print("", *columns, given, f"{seconds / n * 1e5:,.0f}", "", sep=" | ", flush=True)


def gather_french(data, folder):
    """Write the French texts that come tokenised as one; return how many pairs it has."""
    europarl, hansards = data / "bitext-europarl-fr-en", data / "bitext-hansards-fr-en"
    given = data / "bitext-cdec-newscomm-fr-en" / "corpus.fr-en"
    news = [line.split(" ||| ") for line in given.read_text().splitlines()]
    for column, side in ((1, "en"), (0, "fr")):
        lines = [pair[column] for pair in news]
        for kind in ("gold", "train"):
            lines += unpacked(hansards / f"{kind}.{side}.xz")
        for kind in ("newstest2012", "europarl-v7.fr-en"):
            lines += unpacked(europarl / f"{kind}.{side}.xz")
        write(folder / f"all.{side}", lines)
    return len(lines)


def write_pharaoh(path, links):
    with open(path, "w") as file:
        for sentence in range(len(links.starts) - 1):
            file.write(" ".join(f"{i}-{j}" for i, j in links.of(sentence)) + "\n")


def linked(folder, name):
    """Return the links of all French texts by an aligner, as grown ones and as sure ones."""
    files = {how: folder / f"{name}.{how}" for how in ("grown", "sure")}
    if not all(path.exists() for path in files.values()):
        if name == ROWS[0]:
            for how, option in (("grown", "grow-diag-final-and"), ("sure", "intersection")):
                links = align_with_ours(folder, "all", "--set", f"symmetrisation={option}")
                write_pharaoh(files[how], links)
        else:
            there, back = one_way(folder, name, "all")
            for how, path in files.items():
                write_pharaoh(path, both_made_one(folder, "all", there, back, how == "grown"))
    return files


def judge_paraphrases(given, folder):
    """Print a table of aligners by their paraphrases: tight edges of grown links, loose of sure."""
    n = len((folder / "all.en").open().readlines()) if (folder / "all.en").exists() else 0
    n = n or gather_french(given.data, folder)
    gold = read_gold(GOLD)
    engine = dict(zip([row[:2] for row in gold], similarities(
        SignatureTable.open(given.road), [row[:2] for row in gold]), strict=True))  # fmt: skip
    edges = {
        "grown": ("tight", ()),
        "sure": ("loose", ("--set", "loose=true", "--set", "longest=5")),
    }
    names = [name for name in ROWS if name in given.rows and is_there(name)]
    print(f"{n:,} pairs, {len(gold):,} judged pairs\n")
    for how, (edge, options) in edges.items():
        found = {}
        for name in names:
            rules = folder / f"{name}.{how}.rules"
            if not rules.exists():
                distsim("align", folder / "all.en", folder / "all.fr", "--links",
                        linked(folder, name)[how], "-o", folder / "bitext")  # fmt: skip
                distsim("extract", folder / "bitext", "--preset", "phrases", *options,
                        "--numeric", rules)  # fmt: skip
            rows, values = covered_pairs(Pivot(rules), gold)
            found[name] = {
                row: np.log(p) + np.log(q) for row, (p, q, _) in zip(rows, values, strict=True)
            }
        known = {row for row in gold if engine[row[:2]] is not None}
        common = known.intersection(*found.values())
        union = sorted(known.intersection(set().union(*found.values())))
        print(f"{edge}: {len(common):,} judged pairs with signatures that all cover, "
              f"{len(union):,} that any covers\n")  # fmt: skip
        heads = ["aligner", "covered", "pivot", "engine", "both", "all cover: pivot", "both",
                 "any covers: pivot", "both", "with ours", "pivot", "ours there"]  # fmt: skip
        print("", *heads, "", sep=" | ")
        print("|---" * len(heads) + "|")
        for name in names:
            own = found[name]
            there = sorted(known.intersection(own))
            cells = [name, f"{len(own):,} ({len(there):,})", *judged_by(there, own, engine, True)]
            cells += judged_by(sorted(common), own, engine)
            cells += judged_by(union, own, engine)
            shared = sorted(known.intersection(own, found[names[0]]))
            cells += [f"{len(shared):,}", judged_by(shared, own, engine)[0]]
            cells.append(judged_by(shared, found[names[0]], engine)[0])
            print("", *cells, "", sep=" | ", flush=True)
        print()


def judged_by(rows, own, engine, is_own=False):
    """Return cells: pivot (pairs that it lacks come last), the engine if is_own, both."""
    last = min(own.values()) - 1.0
    pivoted = np.array([own.get(row, last) for row in rows])
    alike = np.array([engine[row[:2]] for row in rows])
    cells = [rated(rows, pivoted)] + [rated(rows, alike)] * is_own
    return [*cells, rated(rows, rankdata(pivoted) + rankdata(alike))]


def rated(rows, values):
    """Return a correlation and its interval, the same samples drawn for all aligners."""
    if len(rows) < 3:
        return "too few"
    rho, low, high = spearman(rows, values, np.random.default_rng(1))
    return f"{rho:.3f} ({low:.3f} to {high:.3f})"


def is_there(name):
    """Tell whether an aligner is installed."""
    if name == "eflomal":
        return shutil.which("eflomal-align") is not None
    return name not in ROWS[2:] or find_spec("thot") is not None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, nargs="*", help="of both sizes, this one")
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--rows", nargs="*", default=[*ROWS, *LAST])
    parser.add_argument("--road", metavar="INDEX", help="judge aligners by their paraphrases")
    parser.add_argument("--keep", type=Path, help="where links and rules stay")
    parser.add_argument("--thot", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.thot:
        align_with_thot(*given.thot)
        return
    if given.road:
        with tempfile.TemporaryDirectory() as own:
            folder = given.keep or Path(own)
            folder.mkdir(exist_ok=True)
            judge_paraphrases(given, folder)
        return
    folder = Path(tempfile.mkdtemp())
    judged = gather(given.data, folder)
    heads = ["pairs", "aligner", "links", "AER", "precision", "precision, sure", "recall, sure",
             "F1 of news links", "CPU s per 100,000 pairs"]  # fmt: skip
    print("", *heads, "", sep=" | ")
    print("|---" * len(heads) + "|")
    ways = ("grow-diag-final-and", "intersection")
    align_with_ours(folder, judged.small, "--set", "iterations=0.01")  # compiled once, kept
    for n in given.pairs or (judged.small, judged.whole):
        for name in given.rows:
            if not is_there(name):
                continue
            begun = children_seconds()
            if name == ROWS[0]:
                for how in ways:
                    begun = children_seconds()
                    links = align_with_ours(folder, n, "--set", f"symmetrisation={how}")
                    report(name, how, n, links, judged, children_seconds() - begun)
            elif name in LAST:
                changed = ("--set", "seed=2") if name == LAST[0] else ("--set", "iterations=0.333")
                links = align_with_ours(folder, n, *changed)
                report(name, ways[0], n, links, judged, children_seconds() - begun)
            else:
                there, back = one_way(folder, name, n)
                seconds = children_seconds() - begun
                for how in ways:
                    links = both_made_one(folder, n, there, back, how == ways[0])
                    report(name, how, n, links, judged, seconds)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
