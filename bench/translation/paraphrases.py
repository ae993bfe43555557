"""Do rules of paraphrases help a small translation system (Marton 2013, tables VII to IX)?

Phrases of the development and test sets that the phrase table lacks are paraphrased from
monolingual text (`paraphrase --preset marton`), and `augment --paraphrases` adds the translations
of their paraphrases, by each way of combining the scores of several paths. The control has the
paraphrases of other phrases. BLEU and chrF of the decoder here, weights tuned as experiment.py
does: shared with the baseline but for those of copying and of the added score.

    python bench/translation/paraphrases.py DATA WORK [--pair en-fr] [--size 2000] [--words 1]
                                            [--text FILE]

DATA: the folder bitext-lohelp. WORK: a folder for the index of the source sides of one half of
the sentence pairs, and of a further text, a tokenised sentence a line, and for the tables; what is
there is not made again.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from data import Bitext, read_bitext
from experiment import Setting, end_to_end, quality_rows
from frame import distsim, parser, print_machine, print_table
from language_model import LanguageModel
from phrase_extraction import align, write_phrase_table

from distsim import CorpusIndex, IndexOptions
from distsim.paraphrase import Monolingual

UPDATE = "update"
METHODS = ("none", "best", "add", "average", UPDATE)
LENGTHS = "update, scores of lengths"
OTHERS = "update, paraphrases of other phrases"


def of_others(answers: Path, out: Path) -> None:
    """Write answers whose phrases have each other's paraphrases."""
    head, *lines = answers.read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["paraphrases"]]
    turned = [row["paraphrases"] for row in rows[1:] + rows[:1]]
    text = [head] + [
        json.dumps(row | {"paraphrases": others}) for row, others in zip(rows, turned, strict=True)
    ]
    out.write_text("".join(f"{line}\n" for line in text), "utf-8")


def paths(table: Path, old: Path) -> list[int]:
    """Return how many new rules have 1, 2 ... paths, of a table by the method `none`."""
    known = set(old.read_text("utf-8").splitlines())
    rules = Counter(
        tuple(line.split(" ||| ")[:2])
        for line in table.read_text("utf-8").splitlines()
        if line not in known
    )
    old_rules = {tuple(line.split(" ||| ")[:2]) for line in known}
    counts = Counter(number for rule, number in rules.items() if rule not in old_rules)
    return [counts[number] for number in range(1, max(counts, default=0) + 1)]


def augmented(bitext: Bitext, index: Path, given: argparse.Namespace) -> list[Path]:
    """Return the baseline's table, then those of METHODS, of LENGTHS and of OTHERS."""
    folder = given.work
    table, asked, answers = folder / "table", folder / "asked", folder / "answers.jsonl"
    if not answers.exists():
        write_phrase_table(bitext.drawn(given.size, 1), table)
        asked.write_text("".join(" ".join(s) + "\n" for s, _ in bitext.dev + bitext.test))
        distsim(
            "paraphrase", index, "--input", asked, "--known", table, "--preset", "marton", "--set",
            f"phrase_length={given.words}", "-o", answers,
        )  # fmt: skip
    of_others(answers, folder / "others.jsonl")
    tables = [table]
    for name in (*METHODS, LENGTHS, OTHERS):
        method = name if name in METHODS else UPDATE
        source = folder / "others.jsonl" if name == OTHERS else answers
        features = "lengths" if name == LENGTHS else "one"
        tables.append(folder / f"{source.stem}.{method}.{features}")
        if not tables[-1].exists():
            distsim(
                "augment", table, "--paraphrases", source, "-o", tables[-1], "--set",
                f"method={method}", "--set", f"features={features}",
            )  # fmt: skip
    return tables


def main() -> None:
    options = parser(__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("work", type=Path)
    options.add_argument("--pair", default="en-fr", choices=["en-es", "en-de", "en-fr"])
    options.add_argument("--size", type=int, default=2000)
    options.add_argument("--words", type=int, default=1, help="of the longest phrase paraphrased")
    options.add_argument("--text", type=Path)
    options.add_argument("--tunings", type=int, default=1)
    options.add_argument("--dev", type=int, default=300)
    options.add_argument("--test", type=int, default=1000)
    options.add_argument("--longest", type=int, default=30, help="source tokens of a sentence")
    options.add_argument("--rounds", nargs=2, type=int, default=[3, 2], metavar=("FIRST", "MORE"))
    given = options.parse_args()
    bitext = read_bitext(given.data, given.pair, given.longest, given.dev, given.test)
    given.work.mkdir(parents=True, exist_ok=True)
    half = len(bitext.rest) // 2
    text, index = given.work / "text", given.work / "index"
    if not (index / "manifest.json").exists():
        more = given.text.read_text("utf-8") if given.text else ""
        lines = "".join(" ".join(source) + "\n" for source, _ in bitext.rest[:half])
        text.write_text(lines + more, "utf-8")
        CorpusIndex.build(text, index, options=IndexOptions("lines"))
    links = align([*bitext.rest, *bitext.dev, *bitext.test])[-len(bitext.test) :]
    model = LanguageModel(target for _, target in bitext.rest[half:])
    setting = Setting(
        bitext, model, links, Monolingual(source=index, target=index), 4, tuple(given.rounds)
    )
    references = [target for _, target in bitext.test]
    tables = augmented(bitext, index, given)
    print(f"new rules with 1, 2 ... paths: {paths(tables[1], tables[0])}")
    words = {line.split(" ||| ", 1)[0] for line in tables[0].read_text("utf-8").splitlines()}
    unknown = {word for source, _ in bitext.test for word in source} - words
    wanted = setting.wanted({word: [] for word in unknown})
    outcomes = end_to_end(setting, tables, wanted, given.tunings)
    systems = ("baseline", *METHODS, LENGTHS, OTHERS)
    print_table(
        ["pairs", "system", "BLEU", "difference", "chrF", "difference", "recall"],
        quality_rows(given.size, outcomes, references, systems),
    )
    print_machine()


if __name__ == "__main__":
    main()
