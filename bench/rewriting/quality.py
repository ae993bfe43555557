"""Whole sentences rewritten, beside what anybody can have without a system.

    python bench/rewriting/quality.py simplify FOLDER [--weights FILE...]
    python bench/rewriting/quality.py shorten FOLDER [--weights FILE...]
    python bench/rewriting/quality.py news FOLDER [--programme 60]

FOLDER was made by prepare.py; all sentences of TurkCorpus's held-back half, or their longest
variants. `simplify`: against TurkCorpus's eight references, then against ASSET's ten, corpus-level
SARI and its parts, the mean SARI of sentences, BLEU, the share of words kept; the difference of
SARI from the packaged weights' row. One person is judged against the others. `shorten`: to .75 of
the words, PRECIS and its difference from truncation's. `news`: broadcast news to .75 of the words,
every system as long as ours sentence by sentence: F1 of kept words and BLEU, which is PRECIS at
equal lengths, mean over three people, documents resampled; with --programme of so many of every
sixth sentence of 8 to 22 words, with the integer programme beside truncation. --weights: more
systems, with these weights instead of the packaged ones. 95% intervals and p by the paired
bootstrap.
"""

import json
import math
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import numpy as np
from frame import SHARED, distsim, parser, print_machine, print_table
from prepare import ASSET, REFERENCES, lines_of, opened

from distsim.corpus.inflections import Inflections
from distsim.evaluation.rewriting_scores import Bleu, corpus_bleu
from distsim.evaluation.rewritings import (
    Evaluation,
    System,
    SystemRow,
    integer_compression,
    one_person,
    shortened,
    truncated,
    with_nonsense,
)
from distsim.paraphrase import IndexModel

SEARCH = ("--set", "span=5", "--set", "pops=15", "--set", "rules=15")
SAMPLES, PHI = 1000, 0.75
PEOPLE, FEWEST_WORDS = 3, 8  # who compressed the news; words of a sentence
MOST_WORDS, EVERY = 22, 6  # of sentences for the integer programme, some seconds each
PACKAGED = "packaged weights"
_ENDINGS = re.compile(r" (n't|'s|'re|'ve|'ll|'d|'m)\b")
_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "``": '"', "''": '"'}


def controls(lines: list[str]) -> Iterator[System]:
    """Yield what needs no decoder."""
    draw = random.Random(1)
    sentences = [line.split() for line in lines]

    rows = {
        "copy": sentences,
        "truncated to .8": [truncated(s, max(1, int(0.8 * len(s.split())))).split() for s in lines],
        "the last token dropped": [s[:-1] for s in sentences],
        "a fifth deleted": [[t for t in s if draw.random() > 0.2] for s in sentences],
        "the longest word replaced by nonsense": [with_nonsense(s).split() for s in lines],
    }
    for name, made in rows.items():
        yield System(name, [" ".join(one) for one in made])


def rewritten(folder: Path, source: str, weights: list[Path], *more: object) -> Iterator[System]:
    """Yield a file of FOLDER rewritten with each of some weights, the packaged ones last."""
    for one in (*weights, None):
        name = one.name if one else PACKAGED
        out = folder / f"{name.replace(' ', '_')}.{source}.lines"
        distsim(
            "rewrite", folder / "joint", folder / source, "-n", 1, "-o", out,
            "--index", folder / "wiki.index", *SEARCH, *more,
            *(("--weights", one) if one else ()),
        )  # fmt: skip
        rows = [line.split("\t") for line in lines_of(out)]
        yield System(name, [row[3] for row in rows if not row[0].startswith("#")])


def as_written(text: str) -> str:
    """Return a sentence of TurkCorpus with ASSET's brackets, quotation marks and endings."""
    return _ENDINGS.sub(r"\1", " ".join(_BRACKETS.get(token, token) for token in text.split()))


def simplify(folder: Path, weights: list[Path]) -> None:
    lines = lines_of(folder / "held.norm")
    systems = [*controls(lines), *rewritten(folder, "held.norm", weights)]
    columns = ("SARI", "add", "keep", "delete", "sentence-SARI", "BLEU", "ratio", "kept")
    for names, written in (
        ([f"held.{k}" for k in REFERENCES], str),
        ([f"held.asset.{k}" for k in ASSET], as_written),
    ):
        references = [lines_of(folder / name) for name in names]
        source = list(map(written, lines))
        some = [System(one.name, list(map(written, one.sentences))) for one in systems]
        show(Evaluation(source, references), some, columns, "SARI", systems[-1].name)
        person = one_person(source, references)
        values = ", ".join(f"{name} {person.values[name]:.2f}" for name in columns)
        print(f"\n{person.name}: {values}\n")


def programmed(index: Path, both: list[tuple[str, int]]) -> Iterator[str]:
    """Yield compressions by Clarke and Lapata's integer programme, without dependencies.

    Significance is the rarity of a word of letters; function words have none.
    """
    model, function = IndexModel(index), Inflections.open("english").function_words
    for source, words in both:
        tokens = source.split()
        rarity = model.rarity([token.lower() for token in tokens]).tolist()
        worth = [
            value if token.isalpha() and token.lower() not in function else 0.0
            for token, value in zip(tokens, rarity, strict=True)
        ]

        def trigram(*of_three: str) -> float:
            known = [word.lower() for word in of_three if word not in ("<s>", "</s>")]
            if of_three[-1] == "</s>":
                return 0.0
            return model.log_probability(known) - model.log_probability(known[:-1])

        yield " ".join(integer_compression(tokens, words, trigram, significance=worth))


def shorten(folder: Path, weights: list[Path]) -> None:
    lines = lines_of(folder / "held.long")
    references = [lines_of(folder / "held.short")]
    both = [(one, max(1, math.floor(PHI * len(one.split())))) for one in lines]
    draw = random.Random(1)
    systems = [
        System("copy", lines),
        System("truncation", [truncated(*one) for one in both]),
        System("random deletion", [shortened(*one, draw) for one in both]),
        System("integer programme", list(programmed(folder / "wiki.index", both))),
        *rewritten(folder, "held.long", weights, "--length", PHI),
        System("the reference itself", references[0]),
    ]
    columns = ("BLEU", "PRECIS", "ratio", "kept")
    show(Evaluation(lines, references, phi=PHI), systems, columns, "PRECIS", "truncation")


def news(folder: Path, programme: int) -> None:
    with opened(SHARED / "gold-compression-dev" / "broadcast-dev.jsonl.xz") as lines:
        rows = [one for one in map(json.loads, lines) if len(one["text"].split()) >= FEWEST_WORDS]
    if programme:
        short = [one for one in rows if len(one["text"].split()) <= MOST_WORDS]
        rows = short[::EVERY][:programme]
    source = [one["text"].lower() for one in rows]
    (folder / "news").write_text("".join(f"{one}\n" for one in source), "utf-8")
    (ours,) = rewritten(folder, "news", [], "--length", PHI)
    lengths, draw = [len(one.split()) for one in ours.sentences], random.Random(1)
    both = list(zip(source, lengths, strict=True))
    systems = [
        ours,
        System("truncation", [truncated(*one) for one in both]),
        System("random deletion", [shortened(*one, draw) for one in both]),
    ]
    if programme:
        compressed = list(programmed(folder / "wiki.index", both))
        systems.insert(1, System("integer programme", compressed))
    people = [[one.lower().split() for one in row["summaries"]] for row in rows]
    made = [[sentence.split() for sentence in one.sentences] for one in systems]
    kept = [list(map(mean_f1, one, people)) for one in made]
    counts = [
        [
            [Bleu([of_one[k]]).counts(tokens) for tokens, of_one in zip(one, people, strict=True)]
            for k in range(PEOPLE)
        ]
        for one in made
    ]

    def scores(system: int, places: np.ndarray) -> tuple[float, float]:
        bleu = [corpus_bleu(np.array(one)[places].sum(axis=0))[0] for one in counts[system]]
        return float(np.mean(np.array(kept[system])[places])), 100 * float(np.mean(bleu))

    every, documents = np.arange(len(rows)), defaultdict(list)
    for place, one in enumerate(rows):
        documents[one["id"].rpartition(".")[0]].append(place)
    random_documents, names = np.random.default_rng(1), list(documents)
    gaps = []
    for _ in range(SAMPLES):
        drawn = random_documents.integers(0, len(names), len(names))
        places = np.concatenate([documents[names[i]] for i in drawn.tolist()])
        gaps.append(np.subtract(scores(0, places), scores(1, places)))
    print_table(
        [f"{len(rows)} sentences, {len(names)} documents", "F1 of kept words", "PRECIS"],
        ((one.name, *map("{:.3f}".format, scores(n, every))) for n, one in enumerate(systems)),
    )
    for name, ends in zip(
        ("F1", "PRECIS"), np.quantile(gaps, (0.025, 0.975), axis=0).T, strict=True
    ):
        print(f"{name}, ours less {systems[1].name}: {ends[0]:.3f} to {ends[1]:.3f}")


def mean_f1(tokens: list[str], references: list[list[str]]) -> float:
    """Return the mean F1 of a sentence's words by several references."""
    shared = [(Counter(tokens) & Counter(one)).total() for one in references]
    sizes = [len(tokens) + len(one) for one in references]
    return sum(2 * n / size for n, size in zip(shared, sizes, strict=True)) / len(references)


def show(
    evaluation: Evaluation, systems: list[System], columns: tuple[str, ...], by: str, baseline: str
) -> None:
    def row(one: SystemRow) -> list[str]:
        cells = [one.name, *(f"{one.values[name]:.2f}" for name in columns)]
        if by not in one.differences or one.name == baseline:
            return [*cells, "", ""]
        gap, low, high, p = one.differences[by]
        return [*cells, f"{gap:.2f} ({low:.2f} to {high:.2f})", f"{p:.3f}"]

    heads = [f"{len(systems[0].sentences):,} sentences", *columns, f"{by} less {baseline}'s", "p"]
    print_table(heads, map(row, evaluation.rows(systems, baseline=baseline, samples=SAMPLES)))


def main() -> None:
    options = parser(__doc__)
    options.add_argument("task", choices=["simplify", "shorten", "news"])
    options.add_argument("folder", type=Path)
    options.add_argument("--weights", type=Path, nargs="*", metavar="FILE", default=[])
    options.add_argument("--programme", type=int, default=0, metavar="SENTENCES")
    given = options.parse_args()
    if given.task == "news":
        news(given.folder, given.programme)
    else:
        {"simplify": simplify, "shorten": shorten}[given.task](given.folder, given.weights)
    print_machine()


if __name__ == "__main__":
    main()
