"""Simplified sentences for blind reading: systems and copies mixed.

    python bench/rewriting/reading.py make SOURCES OUT --system NAME FILE --system NAME FILE
    python bench/rewriting/reading.py evaluate KEY READER [READER]

SOURCES and each FILE: a sentence a line. OUT gets simplify.tsv, READ-ME.txt and key.tsv, which
readers must not see; of every fifth sentence a copy stands in it, too. A READER is a copy of
simplify.tsv with 1 or 0 in its last four columns. Prints how many outputs changed; of these the
shares that are grammatical, keep the meaning, are simpler, and all three, with 95% intervals
(Wilson); kappa of two readers over the outputs that both call changed.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from frame import parser, print_table
from prepare import lines_of
from rules_reading import kappa, number, table_of, wilson

MARKS = ("changed", "grammatical", "meaning kept", "simpler")
COPY, EVERY = "copy", 5
READ_ME = """Is the output a good, simpler version of the source?

simplify.tsv has a line for each output: an id, a source sentence from Wikipedia and an output.
Write 1 or 0 into the last four columns:
  changed       the output differs from the source in its words (else 0 here and in the others)
  grammatical   the output is correct English; faults that the source has as well do not count
  meaning kept  it says what the source says; what is left out is a side remark, nothing is false
  simpler       a child or a learner of English understands it more easily than the source
Texts are in lower case, with spaces around punctuation; -lrb- and -rrb- are brackets. Outputs come
from several systems in random order, some are copies; do not guess which. Judge each line by
itself, strictly: one wrong word makes the meaning 0. Save the whole table as simplify-READER.tsv,
READER your name.
"""


def make(given: argparse.Namespace) -> None:
    sources = lines_of(given.sources)
    systems = {name: lines_of(Path(path)) for name, path in given.system}
    rows: dict[tuple[str, str], list[str]] = {}
    for place, source in enumerate(sources):
        for name, outputs in systems.items():
            rows.setdefault((source, outputs[place]), []).append(name)
        if place % EVERY == 0:
            rows.setdefault((source, source), []).append(COPY)
    sheet, key = [("id", "source", "output", *MARKS)], [("id", "systems")]
    for place, pair in enumerate(sorted(rows, key=lambda pair: number("/".join(pair))), 1):
        sheet.append((str(place), *pair, *([""] * len(MARKS))))
        key.append((str(place), " ".join(rows[pair])))
    given.out.mkdir(parents=True, exist_ok=True)
    for name, lines in (("simplify.tsv", sheet), ("key.tsv", key)):
        text = "".join("\t".join(line) + "\n" for line in lines)
        (given.out / name).write_text(text, "utf-8")
    (given.out / "READ-ME.txt").write_text(READ_ME, "utf-8")


def marks_of(path: Path) -> dict[str, list[bool]]:
    """Return the marks of a reader by id; what was not changed is good in nothing."""
    found = {}
    for row in table_of(path):
        marks = row[-len(MARKS) :]
        if not set(marks) <= {"0", "1"}:
            sys.exit(f"{path}: id {row[0]} has the marks {marks}: wanted 0 or 1 in each")
        found[row[0]] = [one == "1" for one in marks]
    return found


def evaluate(given: argparse.Namespace) -> None:
    systems = {row[0]: row[1].split() for row in table_of(given.key)}
    read = [marks_of(path) for path in given.readers]
    for path, marks in zip(given.readers, read, strict=True):
        if marks.keys() != systems.keys():
            sys.exit(f"{path}: has {len(marks)} ids, the key {len(systems)}")
    rows = []
    for path, marks in zip(given.readers, read, strict=True):
        for name in dict.fromkeys(one for some in systems.values() for one in some):
            mine = [marks[i] for i, some in systems.items() if name in some]
            changed = [one for one in mine if one[0]]
            cells = [wilson(sum(one[k] for one in changed), len(changed)) for k in (1, 2, 3)]
            good = wilson(sum(all(one) for one in mine), len(mine))
            rows.append([path.stem, name, f"{len(changed)} of {len(mine)}", *cells, good])
    print_table(["reader", "system", *MARKS, "all four"], rows)
    if len(read) == 2:
        both = [i for i in systems if read[0][i][0] and read[1][i][0]]
        for k, name in enumerate(MARKS[1:], 1):
            print(f"kappa, {name}: {kappa(*([one[i][k] for i in both] for one in read)):.2f}")


def main() -> None:
    options = parser(__doc__)
    tasks = options.add_subparsers(required=True)
    one = tasks.add_parser("make")
    one.add_argument("sources", type=Path)
    one.add_argument("out", type=Path)
    one.add_argument("--system", nargs=2, action="append", required=True, metavar=("NAME", "FILE"))
    one.set_defaults(run=make)
    one = tasks.add_parser("evaluate")
    one.add_argument("key", type=Path)
    one.add_argument("readers", type=Path, nargs="+")
    one.set_defaults(run=evaluate)
    given = options.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
