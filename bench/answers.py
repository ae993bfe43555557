"""Answers of the main commands, 500 questions each, in a file, to compare two versions by.

    python bench/answers.py INDEX QUESTIONS OUT --other INDEX [--questions 500]
    python bench/answers.py INDEX QUESTIONS OUT --compare BEFORE

QUESTIONS is a folder: it is made where it is not there, and both versions are given the same one,
each with an index that it reads. OUT has a JSON line for each row of an answer, with its command.
With --compare the rows of BEFORE and OUT are compared command by command instead: how many
questions have the same rows, how many other numbers alone, and the first that differ; columns that
one version lacks are left out.
"""

import io
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any

from frame import parser, print_table

LISTS = {  # of all questions in one run
    "count": ("{index}", "-i", "{phrases}"),
    "similarity": ("{index}", "--pairs", "{pairs}"),
    "neighbours": ("{index}", "-i", "{phrases}", "-k", "10"),
    "paraphrase": ("{index}", "-i", "{phrases}", "-k", "10"),
    "substitute": ("{index}", "-i", "{sentences}", "-k", "10"),
    "kwic": ("{index}", "-i", "{phrases}", "--limit", "5"),
    "ngrams": ("{index}", "-n", "1-4", "--limit", "2000"),
    "keywords": ("{index}", "--against", "{other}", "--limit", "1000"),
}
SINGLE = ("collocates", "contexts")  # one phrase in a run
COMMANDS = (*LISTS, *SINGLE, "score")
KEYS = {  # the columns that tell the question of a row
    "count": ("phrase",),
    "similarity": ("a", "b"),
    "neighbours": ("phrase",),
    "paraphrase": ("phrase",),
    "substitute": ("line",),
    "kwic": ("phrase",),
    "ngrams": ("phrase",),
    "keywords": ("answer",),
    "score": ("rule",),
}
TOLERANCE = 1e-6
LEVELS = ("same", "other numbers", "other rows", "in one file alone")
FORMER_NAMES = {  # of columns, by names that versions before November 26 had
    "word": "answer", "feature": "answer", "substitute": "answer", "together": "count",
    "in_corpus": "corpus_count", "here": "count", "there": "reference_count",
    "strength": "count", "evidence": "shared_contexts",
}  # fmt: skip


def answers_of(*arguments: str) -> str:
    """Return what a command prints; its message, where it fails."""
    import typer

    from distsim.base.errors import DistsimError
    from distsim.cli.main import app

    output = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    program = typer.main.get_command(app)
    with redirect_stdout(output), redirect_stderr(io.StringIO()):
        try:
            program(list(arguments), prog_name="distsim", standalone_mode=False)
        except (DistsimError, SystemExit) as error:
            return json.dumps({"error": str(error)}) + "\n"
    output.flush()
    buffer = output.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


def rows_of(lines: str) -> Iterator[Any]:
    return map(json.loads, lines.splitlines())


def make_questions(index: str, folder: Path, n: int) -> None:
    """Write phrases, pairs, sentences with a target, rules, and the text of a reference corpus."""
    folder.mkdir()
    listed = rows_of(answers_of("ngrams", index, "-n", "1-4", "--min-count", "40", "--json"))
    known = [one["phrase"] for one in listed if any(map(str.isalpha, one["phrase"]))]
    phrases = known[:: max(1, len(known) // n)][:n]
    (folder / "phrases").write_text("".join(f"{one}\n" for one in phrases))
    near: dict[str, list[str]] = defaultdict(list)
    asked = ("neighbours", index, "-i", str(folder / "phrases"), "-k", "3", "--json")
    for row in rows_of(answers_of(*asked)):
        near[row["phrase"]].append(row["answer"])
    pairs = [*((a, b) for a in phrases for b in near[a][:1]), *pairwise(phrases)]
    (folder / "pairs").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    rules = (
        f"[NP] ||| {a} [NN,1] ||| {b} [NN,1] ||| p=.5 ||| 0-0 {len(a.split())}-{len(b.split())}\n"
        for a, b in pairs
    )
    (folder / "rules").write_text("".join(rules))
    shown = rows_of(
        answers_of("kwic", index, "-i", str(folder / "phrases"), "--limit", "1", "--json")
    )
    sentences = [f"{one['left']}\t{one['node']}\t{one['right']}\n" for one in shown]
    (folder / "sentences").write_text("".join(sentences))


def all_answers(index: str, folder: Path, other: str, only: list[str]) -> Iterator[dict[str, Any]]:
    """Yield a row of each answer, with its command."""
    files = {name: str(folder / name) for name in ("phrases", "pairs", "sentences", "rules")}
    named = {"index": index, "other": other, **files}
    for command in only:
        if command in LISTS:
            given = [one.format(**named) for one in LISTS[command]]
            for row in rows_of(answers_of(command, *given, "--json")):
                yield {"command": command, **row}
        elif command in SINGLE:
            for phrase in Path(files["phrases"]).read_text().splitlines():
                for row in rows_of(answers_of(command, index, phrase, "--limit", "10", "--json")):
                    yield {"command": command, "question": phrase, **row}
        else:
            scored = answers_of(
                "score", files["rules"], "--ngram", index, "--opposites", index, "--gaps", index
            )
            for line in scored.splitlines():
                left, source, target, features, *_ = line.split(" ||| ")
                for name, value in (one.split("=") for one in features.split()):
                    rule = f"{left} ||| {source} ||| {target}"
                    yield {"command": command, "rule": rule, name: float(value)}
        print(command, file=sys.stderr, flush=True)


def named_as_today(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with the names that columns have today."""
    if "focal" in row:
        row["phrase"], row["answer"] = row.pop("focal"), row.pop("phrase")
    return {FORMER_NAMES.get(name, name): value for name, value in row.items()}


def by_question(path: str) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return the rows of each question of each command."""
    answers: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for line in Path(path).read_text().splitlines():
        row = named_as_today(json.loads(line))
        command = row.pop("command")
        keys = ("question",) if command in SINGLE else KEYS[command]
        question = " / ".join(str(row[key]) for key in keys if key in row)
        answers[command][question].append(row)
    return answers


def difference(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> str:
    """Return one of LEVELS: the first of them that is true of two answers' common columns."""
    numbers_differ = False
    if len(before) != len(after):
        return LEVELS[2 if before and after else 3]
    for a, b in zip(before, after, strict=True):
        for x, y in ((a[key], b[key]) for key in a if key in b):
            if isinstance(x, int | float) and isinstance(y, int | float):
                numbers_differ |= not math.isclose(x, y, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
            elif x != y:
                return LEVELS[2]
    return LEVELS[numbers_differ]


def compare(first: str, second: str) -> None:
    before, after = by_question(first), by_question(second)
    rows, examples = [], []
    for command in COMMANDS:
        asked = {**before[command], **after[command]}
        if not asked:
            continue
        levels: dict[str, list[str]] = defaultdict(list)
        for question in asked:
            levels[
                difference(before[command].get(question, []), after[command].get(question, []))
            ].append(question)
        rows.append((f"`{command}`", len(asked), *(len(levels[one]) for one in LEVELS)))
        changed = [question for one in LEVELS[:0:-1] for question in levels[one][:2]]
        for question in changed:
            examples += [f"{command}: {question}"]
            for name, answers in (("before", before), ("after", after)):
                shown = [json.dumps(one) for one in answers[command].get(question, [])[:3]]
                examples += [f"  {name}: {one[:300]}" for one in shown]
    print_table(("command", "questions", *LEVELS), rows)
    print("\n" + "\n".join(examples))


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("folder", type=Path)
    options.add_argument("out")
    options.add_argument("--questions", type=int, default=500)
    options.add_argument("--other", default="", help="reference corpus of keywords")
    options.add_argument("--only", nargs="+", choices=COMMANDS, default=COMMANDS)
    options.add_argument("--compare", metavar="BEFORE")
    given = options.parse_args()
    if given.compare:
        compare(given.compare, given.out)
        return
    if not given.folder.exists():
        make_questions(given.index, given.folder, given.questions)
    n_rows: Counter[str] = Counter()
    with open(given.out, "w") as out:
        for row in all_answers(given.index, given.folder, given.other, list(given.only)):
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            n_rows[row["command"]] += 1
    print_table(("command", "rows"), ((f"`{one}`", n) for one, n in n_rows.items()))


if __name__ == "__main__":
    main()
