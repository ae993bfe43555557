"""Forms for judges: rewritings with and without similarity, of equal length (thesis 4.3.2, 5.3).

    python bench/rewriting/similarity_forms.py shorten FOLDER OUT [--sentences 36] [--weight 3]
    python bench/rewriting/similarity_forms.py simplify FOLDER OUT [--sentences 36] [--lines N]
    distsim judge read OUT/forms/key.csv READER.csv READER.csv --baseline pivot

FOLDER was made by prepare.py. `shorten`: broadcast news cut to .75 of the words by the packaged
weights without those of similarities, and by the same with `sim_ngram` WEIGHT; beside them a
person's compression, the nearest in length. `simplify`: the held-back lines of TurkCorpus by the
packaged weights, and by weights learned from the same edits without what the index tells of a
word and its substitute (OF_INDEX); beside them one of the eight people. Only sentences whose two
outputs differ and have as many words are drawn; to simplify both systems change as many words of
all drawn sentences together. Controls: random deletion, to the length of the outputs or, to
simplify, of as many words as they changed; copies; nonsense. OUT/forms is made by
`distsim judge forms`. Rewritings that are in OUT are not made again.
"""

import json
import random
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from frame import SHARED, distsim, parser
from prepare import REFERENCES, lines_of, opened
from quality import FEWEST_WORDS, PHI, SEARCH
from weights import learned

from distsim.evaluation.rewritings import edit_distance, shortened
from distsim.paraphrase.rewriting import Weights
from distsim.paraphrase.rewriting.rewriting_options import SHORTEN, SIMPLIFY

MOST_WORDS, SEED = 40, 53
PIVOT, SIMILARITY = "pivot", "similarity"
# Substitute and Company: the finder's; NotFound, Unlisted: what it does not know; Fit: signatures.
OF_INDEX = ("Substitute", "Company", "Fit", "NotFound", "Unlisted")


class Sources(NamedTuple):
    """Sentences, people's versions of each, and what `rewrite` is told."""

    sentences: list[str]
    people: list[list[str]]
    options: tuple[object, ...]


def news() -> Sources:
    with opened(SHARED / "gold-compression-dev" / "broadcast-dev.jsonl.xz") as lines:
        rows = list(map(json.loads, lines))
    rows = [row for row in rows if FEWEST_WORDS <= len(row["text"].split()) <= MOST_WORDS]
    people = [[summary.lower() for summary in row["summaries"]] for row in rows]
    return Sources([row["text"].lower() for row in rows], people, ("--length", PHI))


def held_back(folder: Path) -> Sources:
    versions = zip(*(lines_of(folder / f"held.{k}") for k in ("norm", *REFERENCES)), strict=True)
    rows = [row for row in versions if FEWEST_WORDS <= len(row[0].split()) <= MOST_WORDS]
    people = [[text for text in texts if text != source] or [source] for source, *texts in rows]
    return Sources([row[0] for row in rows], people, ())


def rewritten(
    folder: Path, out: Path, name: str, weights: Weights, options: tuple[object, ...]
) -> dict[int, str]:
    """Return the rewriting of each line of OUT/text that has one, by line from 0."""
    weights.write(out / f"{name}.weights")
    if not (out / f"{name}.lines").exists():
        distsim(
            "rewrite", folder / "joint", out / "text", "-n", 1, "-o", out / f"{name}.lines",
            "--index", folder / "wiki.index", *SEARCH, *options,
            "--weights", out / f"{name}.weights",
        )  # fmt: skip
    rows = [line.split("\t") for line in lines_of(out / f"{name}.lines")]
    return {int(row[0]) - 1: row[3] for row in rows if not row[0].startswith("#")}


def both_weights(task: str, weight: float) -> tuple[Weights, Weights]:
    """Return the weights without and with similarity."""
    packaged = Weights.default(task)
    if task == SIMPLIFY:
        return learned(OF_INDEX), packaged
    plain = {name: value for name, value in packaged.values.items() if "sim_" not in name}
    return Weights(plain), Weights(plain | {"sim_ngram": weight})


def balanced(
    places: list[int], more: Callable[[int], int], sentences: int, draw: random.Random
) -> list[int]:
    """Return some places, at random, of which `more` is 0 in all, in order."""
    by_gap: dict[int, list[int]] = defaultdict(list)
    for place in draw.sample(places, len(places)):
        by_gap[more(place)].append(place)
    groups = [[place] for place in by_gap[0]]
    for gap in sorted(gap for gap in by_gap if gap > 0):
        groups += map(list, zip(by_gap[gap], by_gap.get(-gap, []), strict=False))
    drawn: list[int] = []
    for group in draw.sample(groups, len(groups)):
        if len(drawn) + len(group) <= sentences:
            drawn += group
    return sorted(drawn)


def main(
    task: str, folder: Path, out: Path, sentences: int, weight: float, lines: int | None
) -> None:
    out.mkdir(exist_ok=True)
    sources = news() if task == SHORTEN else held_back(folder)
    texts = sources.sentences[:lines]
    tokens = [text.split() for text in texts]
    (out / "text").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    pivot, similar = (
        rewritten(folder, out, name, weights, sources.options)
        for name, weights in zip((PIVOT, SIMILARITY), both_weights(task, weight), strict=True)
    )

    def edits(place: int, of: dict[int, str]) -> int:
        return edit_distance(tokens[place], of[place].split())

    def more(place: int) -> int:
        return edits(place, pivot) - edits(place, similar) if task == SIMPLIFY else 0

    shared = sorted(pivot.keys() & similar.keys())
    differ = [place for place in shared if pivot[place] != similar[place]]
    alike = [p for p in differ if len(pivot[p].split()) == len(similar[p].split())]
    print(f"{len(shared)} sentences, {len(differ)} differ, {len(alike)} of them are equally long")
    draw = random.Random(SEED)
    drawn = balanced(alike, more, sentences, draw)
    for name, of in ((PIVOT, pivot), (SIMILARITY, similar)):
        words = [edits(place, of) for place in shared]
        of_drawn = [edits(place, of) for place in drawn]
        print(
            f"{name}: {sum(map(bool, words))} changed, {sum(words)} words; of {len(drawn)} drawn "
            f"{sum(map(bool, of_drawn))}, {sum(of_drawn)} words"
        )

    def nearest(place: int) -> str:
        wanted = len(pivot[place].split())
        return min(sources.people[place], key=lambda text: abs(len(text.split()) - wanted))

    def deleted(place: int) -> str:
        fewer = max(edits(place, pivot), edits(place, similar))
        return shortened(texts[place], len(tokens[place]) - fewer, draw)

    made: dict[str, Callable[[int], str]] = {
        "source": texts.__getitem__, PIVOT: pivot.__getitem__,
        SIMILARITY: similar.__getitem__, "person": nearest,
    }  # fmt: skip
    if task == SIMPLIFY:  # its outputs are seldom shorter, so the form has no deletion of its own
        made["random"] = deleted
    for name, of_place in made.items():
        (out / name).write_text("".join(f"{of_place(place)}\n" for place in drawn), "utf-8")
    distsim(
        "judge", "forms", *(out / name for name in made), "-o", out / "forms",
        "--set", f"deletion={str('random' not in made).lower()}", "--set", f"seed={SEED}",
    )  # fmt: skip


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("task", choices=[SHORTEN, SIMPLIFY])
    options.add_argument("folder", type=Path)
    options.add_argument("out", type=Path)
    options.add_argument("--sentences", type=int, default=36)
    options.add_argument("--lines", type=int, help="the first of all sentences alone")
    options.add_argument("--weight", type=float, default=3.0, help="of sim_ngram, to shorten")
    main(**vars(options.parse_args()))
