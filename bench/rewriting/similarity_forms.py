"""Forms for judges: compressions with and without similarity, of equal length (thesis 4.3.2, 5.3).

    python bench/rewriting/similarity_forms.py FOLDER OUT [--sentences 36] [--weight 3]
    distsim judge read OUT/forms/key.csv READER.csv READER.csv --baseline pivot

FOLDER was made by prepare.py. Broadcast news cut to .75 of the words by the packaged weights
without those of similarities, and by the same with `sim_ngram` WEIGHT. Only sentences whose two
outputs differ and have as many words are drawn; beside them a person's compression, the nearest in
length, and random deletion to that length. OUT/forms is made by `distsim judge forms`.
"""

import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from frame import SHARED, distsim, parser
from prepare import lines_of, opened
from quality import FEWEST_WORDS, PHI, SEARCH

from distsim.paraphrase.rewriting import Weights
from distsim.paraphrase.rewriting.rewriting_options import SHORTEN

MOST_WORDS, SEED = 40, 53


def compressed(folder: Path, out: Path, name: str, weights: Weights) -> dict[int, str]:
    """Return the rewriting of each line of OUT/news that has one, by line from 0."""
    weights.write(out / f"{name}.weights")
    distsim(
        "rewrite", folder / "joint", out / "news", "-n", 1, "-o", out / f"{name}.lines",
        "--index", folder / "wiki.index", *SEARCH, "--length", PHI,
        "--weights", out / f"{name}.weights",
    )  # fmt: skip
    rows = [line.split("\t") for line in lines_of(out / f"{name}.lines")]
    return {int(row[0]) - 1: row[3] for row in rows if not row[0].startswith("#")}


def main(folder: Path, out: Path, sentences: int, weight: float) -> None:
    out.mkdir(exist_ok=True)
    with opened(SHARED / "gold-compression-dev" / "broadcast-dev.jsonl.xz") as lines:
        rows = list(map(json.loads, lines))
    rows = [row for row in rows if FEWEST_WORDS <= len(row["text"].split()) <= MOST_WORDS]
    source = [row["text"].lower() for row in rows]
    (out / "news").write_text("".join(f"{one}\n" for one in source), "utf-8")
    packaged = Weights.default(SHORTEN).values
    plain = {name: value for name, value in packaged.items() if "sim_" not in name}
    pivot = compressed(folder, out, "pivot", Weights(plain))
    similar = compressed(folder, out, "similarity", Weights(plain | {"sim_ngram": weight}))
    differ = [place for place in pivot if pivot[place] != similar.get(place, pivot[place])]
    alike = [n for n in differ if len(pivot[n].split()) == len(similar[n].split())]
    print(f"{len(pivot)} sentences, {len(differ)} differ, {len(alike)} of them are equally long")
    random.Random(SEED).shuffle(alike)

    def nearest(place: int) -> str:
        wanted = len(pivot[place].split())
        people: list[str] = rows[place]["summaries"]
        return min(people, key=lambda one: abs(len(one.split()) - wanted)).lower()

    drawn = sorted(alike[:sentences])
    for name, of in (
        ("source", source.__getitem__), ("pivot", pivot.__getitem__),
        ("similarity", similar.__getitem__), ("person", nearest),
    ):  # fmt: skip
        (out / name).write_text("".join(f"{of(place)}\n" for place in drawn), "utf-8")
    names = ("source", "pivot", "similarity", "person")
    distsim(
        "judge", "forms", *(out / name for name in names), "-o", out / "forms",
        "--set", f"seed={SEED}",
    )  # fmt: skip


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("out", type=Path)
    options.add_argument("--sentences", type=int, default=36)
    options.add_argument("--weight", type=float, default=3.0, help="of sim_ngram")
    main(**vars(options.parse_args()))
