"""Word alignment: links against links made by hand, beside eflomal and sil-thot's models.

The 237 gold pairs of Hansards are aligned together with its training part (2,620 pairs), and with
20,000 pairs of Europarl and 1,001 of news (23,621), in lower case, Moses' escapes undone; no
aligner sees any link. The two directions of every aligner go through the same symmetrisation.

    python bench/alignment.py [--pairs 2620 23621] [--rows ours eflomal fast-align hmm ibm1]
                              [--data FOLDER]

eflomal and sil-thot serve this benchmark alone: `pip install eflomal sil-thot` (eflomal is GPL and
needs a compiler); rows of what is not installed are left out. AER: alignment error rate, of grown
links (grow-diag-final-and) and of those that both directions have; news: F1 with the links that
come with the news pairs, of another aligner. CPU seconds of a process for 100,000 pairs.
"""

import lzma
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from frame import SHARED, distsim, parser, print_machine, print_table, run

from bench.published_measures import compare_links
from distsim.bitext.kernels.alignment import NONE, symmetrise
from distsim.bitext.links import Links, in_order, parse_pharaoh
from distsim.corpus.normaliser import undo_moses_escapes

ROWS = ("ours", "eflomal", "fast-align", "hmm", "ibm1")
WAYS = ("grow-diag-final-and", "intersection")
THOT_ROUNDS = 5


class Judged(NamedTuple):
    """Links that are known: of the first pairs by hand, of the last ones by another aligner.

    sizes: how many pairs there are without and with Europarl and news.
    """

    gold: Links
    news: Links
    sizes: tuple[int, int]


def unpacked(path: Path) -> list[str]:
    return lzma.decompress(path.read_bytes()).decode().splitlines()


def write(path: Path, lines: list[str]) -> None:
    path.write_bytes(undo_moses_escapes("\n".join(lines).lower().encode()) + b"\n")


def gather(data: Path, folder: Path) -> Judged:
    """Write the texts without and with Europarl and news; return what is known of them."""
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
    # Both files of links are written French first.
    gold = turned(parse_pharaoh("\n".join(unpacked(hansards / "gold.align.xz")).encode()))
    other = turned(parse_pharaoh((given / "corpus.al").read_bytes()))
    return Judged(gold, other, (small, len(lines)))


def turned(links: Links) -> Links:
    return in_order(links.pairs[:, ::-1], links.starts, links.possible)


def some(links: Links, first: int, stop: int) -> Links:
    a, b = links.starts[first], links.starts[stop]
    return Links(links.pairs[a:b], links.starts[first : stop + 1] - a, links.possible[a:b])


def by_ours(folder: Path, n: int) -> Iterator[tuple[str, Links, float]]:
    """Yield the links of each way of symmetrising, and CPU seconds."""
    for how in WAYS:
        cost = distsim(
            "align", folder / f"{n}.en", folder / f"{n}.fr", "-o", folder / "bitext",
            "--write-links", folder / "links", "--set", f"symmetrisation={how}",
        )  # fmt: skip
        yield how, parse_pharaoh((folder / "links").read_bytes()), cost.cpu


def by_peer(folder: Path, name: str, n: int) -> Iterator[tuple[str, Links, float]]:
    made = folder / "there", folder / "back"
    files = [folder / f"{n}.{side}" for side in ("en", "fr")]
    command = [sys.executable, __file__, "--thot", name, *files, *made]
    if name == "eflomal":
        command = [program("eflomal-align"), "--overwrite", "-s", files[0], "-t", files[1],
                   "-f", made[0], "-r", made[1]]  # fmt: skip
    cost = run(*command, environment={**os.environ, "OMP_NUM_THREADS": "1"})
    there, back = (parse_pharaoh(path.read_bytes()) for path in made)
    for how in WAYS:
        yield how, symmetrised(files, there, back, how == WAYS[0]), cost.cpu


def symmetrised(files: list[Path], there: Links, back: Links, grow: bool) -> Links:
    """Return one set of links of those that both directions found."""
    n = len(there.starts) - 1
    starts, rows = [], []
    for file, links, column in zip(files, (back, there), (0, 1), strict=True):
        lengths = [len(line.split()) for line in file.open()]
        starts.append(np.cumsum([0, *lengths]))
        row = np.full(sum(lengths), NONE, np.uint8)
        owner = np.repeat(np.arange(n), np.diff(links.starts))
        row[starts[-1][owner] + links.pairs[:, column]] = links.pairs[:, 1 - column]
        rows.append(row)
    pairs, stops = symmetrise(*starts, rows[1], rows[0], grow)
    return Links(pairs.astype(np.int64), stops.astype(np.int64), np.zeros(len(pairs), bool))


def align_with_thot(name: str, english: str, other: str, there: str, back: str) -> None:
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


def program(name: str) -> str | None:
    return shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")


def is_there(name: str) -> bool:
    if name == "eflomal":
        return program("eflomal-align") is not None
    return name == ROWS[0] or find_spec("thot") is not None


def row(name: str, n: int, judged: Judged, folder: Path) -> list[str]:
    found = list(by_ours(folder, n) if name == ROWS[0] else by_peer(folder, name, n))
    cells, n_gold = [], len(judged.gold.starts) - 1
    for _, links, _ in found:
        by_hand = compare_links(some(links, 0, n_gold), judged.gold)
        cells.append(f"{by_hand.error_rate:.3f}")
    grown = found[0][1]
    news = "-"
    if n > judged.sizes[0]:
        last = some(grown, n - len(judged.news.starts) + 1, n)
        news = f"{1 - compare_links(last, judged.news).error_rate:.3f}"
    by_hand = compare_links(some(grown, 0, n_gold), judged.gold)
    cells += [f"{by_hand.precision:.3f}", f"{by_hand.recall:.3f}", news]
    return [f"{n:,}", name, *cells, f"{found[0][2] / n * 1e5:,.0f}"]


def main() -> None:
    if sys.argv[1:2] == ["--thot"]:
        align_with_thot(*sys.argv[2:])
        return
    options = parser(__doc__)
    options.add_argument("--pairs", type=int, nargs="*", help="of both sizes, these")
    options.add_argument("--rows", nargs="*", default=ROWS, choices=ROWS)
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        judged = gather(given.data, folder)
        heads = ["pairs", "aligner", "AER", "AER, intersection", "precision", "recall, sure",
                 "F1 of news links", "CPU s per 100,000 pairs"]  # fmt: skip
        print_table(
            heads,
            (row(one, n, judged, folder) for n in given.pairs or judged.sizes
             for one in given.rows if is_there(one)),
        )  # fmt: skip
    print_machine()


if __name__ == "__main__":
    main()
