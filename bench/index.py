"""Speed and memory of indexing, signing and counting, beside infini-gram and pydivsufsort.

Each piece of work runs in a process of its own; CPU seconds are user and system, memory is the
peak of resident bytes. Start-up is taken off build, sign and infini-gram's indexing.

    python bench/index.py [--data ../shared/data/wiki-en-2015] [--millions 1 4 14 38]

infini-gram (2.6.0) serves this comparison alone: `pip install infini-gram==2.6.0`; without it its
rows are left out. Its ids have 16 bits here, so words beyond the 65,000 first are one id for both.
"""

import json
import lzma
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from frame import SHARED, Cost, distsim, parser, print_machine, print_table, run

RARE = 65_000  # stands for every id from here on where ids have 16 bits
BYTES_A_TOKEN = 5.55  # of this corpus's text, to cut it to size
BATCH = 20_000
MIDDLE = 14e6  # tokens whose suffixes are sorted and whose phrases are counted
HAS_INFINI = find_spec("infini_gram") is not None


def stage(name: str, *arguments: object) -> Cost:
    """Run a function of this file in a process of its own."""
    return run(sys.executable, __file__, "--stage", name, *arguments)


def answer(cost: Cost) -> Any:
    return json.loads(cost.output)


def cut_text(data: Path, output: Path, millions: float) -> None:
    """Write about so many million tokens of the corpus's running text."""
    left = int(millions * 1e6 * BYTES_A_TOKEN)
    with open(output, "wb") as out:
        for file in sorted(data.glob("*.txt.xz")):
            with lzma.open(file) as lines:
                for line in lines:
                    left -= len(line)
                    if left < 0:
                        return
                    out.write(line)


# Stages: each runs alone in its process ------------------------------------------------------


def write_ids(index: str, folder: str) -> None:
    """Write an index's tokens as infini-gram reads them, and as an array."""
    import numpy as np

    from distsim import CorpusIndex

    tokens = np.concatenate([shard.tokens for shard in CorpusIndex.open(index).shards])
    tokens = np.minimum(tokens, RARE)
    for name in ("none", "infini"):
        os.makedirs(f"{folder}/{name}")
    np.save(f"{folder}/tokens.npy", tokens)
    tokens.astype("<u2").tofile(f"{folder}/infini/tokenized.0")
    np.zeros(1, "<u8").tofile(f"{folder}/infini/offset.0")


def sort_suffixes(how: str, file: str) -> None:
    """Sort the suffixes of saved tokens; how: ours, plain, or nothing (what loading takes)."""
    import numpy as np

    from distsim.indexes.shard import build_suffix_array

    build_suffix_array(np.array([1, 2, 0], np.uint32))  # loads the compiled kernels
    tokens = np.load(file)
    begun = time.process_time()
    if how == "ours":
        build_suffix_array(tokens)
    elif how == "plain":
        from pydivsufsort import divsufsort

        divsufsort(tokens)
    print(json.dumps({"cpu": time.process_time() - begun, "tokens": tokens.size}))


def draw_phrases(index: str, output: str) -> None:
    """Write a batch of phrases of 1 to 4 words that occur, as texts and as ids."""
    import numpy as np

    from distsim import CorpusIndex

    opened = CorpusIndex.open(index)
    tokens = opened.shards[0].tokens
    draw = np.random.default_rng(1)
    phrases: list[str] = []
    ids: list[list[int]] = []
    while len(ids) < BATCH:
        at, length = int(draw.integers(tokens.size - 4)), int(draw.integers(1, 5))
        words = tokens[at : at + length]
        if words.min() > 0 and words.max() < RARE:
            ids.append(words.tolist())
            phrases.append(" ".join(opened.vocabulary.words(words)))
    Path(output).write_text(json.dumps({"phrases": phrases, "ids": ids}))


def count_ours(index: str, batch: str) -> None:
    """Time counting, a batch at once and phrase by phrase; and opening, in milliseconds."""
    from distsim import CorpusIndex, SignatureTable

    phrases = json.loads(Path(batch).read_text())["phrases"]
    opened = CorpusIndex.open(index)
    opened.count(phrases[:100])
    found = {
        "batch": best(lambda: opened.count(phrases)) / len(phrases),
        "single": best(lambda: [opened.count(phrase) for phrase in phrases]) / len(phrases),
        "index": best(lambda: CorpusIndex.open(index), 20),
        "table": best(lambda: SignatureTable.open(index), 20),
        "counts": opened.count(phrases).tolist(),
    }
    print(json.dumps(found))


def count_infini(folder: str, batch: str) -> None:
    """Time infini-gram's counting, phrase by phrase: it has no batch."""
    from infini_gram.engine import InfiniGramEngine

    ids = json.loads(Path(batch).read_text())["ids"]
    engine = InfiniGramEngine(index_dir=folder, eos_token_id=65_534, token_dtype="u16")
    single = best(lambda: [engine.count(input_ids=one) for one in ids]) / len(ids)
    counts = [engine.count(input_ids=one)["count"] for one in ids]
    print(json.dumps({"single": single, "counts": counts}))


def best(work: Callable[[], object], times: int = 3) -> float:
    """Return the least CPU seconds that work takes in this process."""
    found = []
    for _ in range(times):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


STAGES = {one.__name__: one for one in (write_ids, sort_suffixes, draw_phrases, count_ours,
                                        count_infini)}  # fmt: skip


# The run -------------------------------------------------------------------------------------


def grown(data: Path, millions: float, scratch: Path, start: float) -> dict[str, Any]:
    """Index and sign so many million tokens; return costs and sizes."""
    text, index = scratch / "corpus.txt", scratch / f"{millions:g}.index"
    cut_text(data, text, millions)
    row: dict[str, Any] = {"index": index}
    for work, *arguments in (
        ("build", "index", "build", "--format", "text", text, "-o", index),
        ("thesis", "sign", index, "--preset", "thesis"),
        ("learned", "sign", index, "-o", scratch / "learned.table", "--force"),
    ):
        cost = distsim(*arguments, "--jobs", 1)
        row[work] = cost._replace(cpu=cost.cpu - start)
    text.unlink()
    told = json.loads(distsim("info", index, "--json").output)
    row |= {"tokens": told["parameters"]["counts"]["tokens"], "bytes": told["bytes"]}
    row["phrases"] = told["signatures"]["parameters"]["phrases"]
    row["table"] = told["signatures"]["bytes"]
    return row


def growth_row(row: dict[str, Any]) -> list[str]:
    tokens = row["tokens"]
    cells = [f"{tokens:,}"]
    for work in ("build", "thesis", "learned"):
        cells.append(f"{row[work].cpu:.1f}")
        cells.append(f"{row[work].peak / 1e6:,.0f}")
    return [*cells, f"{row['bytes'] / tokens:.1f}", f"{row['table'] / row['phrases']:.1f}"]


def sorting(folder: Path) -> list[list[str]]:
    """Return rows of suffix sorting: by, CPU seconds, peak bytes a token."""
    file = folder / "tokens.npy"
    nothing = stage("sort_suffixes", "nothing", file)
    tokens = answer(nothing)["tokens"]
    rows = []
    for name, how in (("ours", "ours"), ("pydivsufsort", "plain")):
        cost = stage("sort_suffixes", how, file)
        rows.append((name, answer(cost)["cpu"], (cost.peak - nothing.peak) / tokens + 4))
    if HAS_INFINI:
        command = [sys.executable, "-m", "infini_gram.indexing"]
        start = run(*command, "--help").cpu
        cost = run(*command, "--data_dir", folder / "none", "--save_dir", folder / "infini",
                   "--token_dtype", "u16", "--cpus", 1, "--mem", 8, "--ulimit", 1024)  # fmt: skip
        rows.append(("infini-gram, its files included", cost.cpu - start, cost.peak / tokens))
    return [[name, f"{cpu:.2f}", f"{peak:.0f}"] for name, cpu, peak in rows]


def counting(index: Path, folder: Path) -> None:
    """Print microseconds a phrase, whether counts agree, and milliseconds of opening."""
    phrases = folder / "phrases.json"
    stage("draw_phrases", index, phrases)
    ours = answer(stage("count_ours", index, phrases))
    rows = [("ours, a batch of 20,000", ours["batch"]), ("ours, one by one", ours["single"])]
    if HAS_INFINI:
        theirs = answer(stage("count_infini", folder / "infini", phrases))
        rows.append(("infini-gram, one by one", theirs["single"]))
        same = sum(a == b for a, b in zip(ours["counts"], theirs["counts"], strict=True))
        print(f"\ncounts that agree with infini-gram's: {same:,} of {BATCH:,}")
    print_table(["count", "CPU µs a phrase"], [(name, f"{1e6 * cpu:.1f}") for name, cpu in rows])
    print(f"\nopening the index {1e3 * ours['index']:.1f} ms, its table {1e3 * ours['table']:.1f}")


def main() -> None:
    if sys.argv[1:2] == ["--stage"]:
        STAGES[sys.argv[2]](*sys.argv[3:])
        return
    options = parser(__doc__)
    options.add_argument("--data", type=Path, default=SHARED / "wiki-en-2015")
    options.add_argument("--millions", type=float, nargs="+", default=[1, 4, 14, 38])
    given = options.parse_args()
    if not list(given.data.glob("*.txt.xz")):
        sys.exit(f"{given.data}: no *.txt.xz there: name the corpus with --data")
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        grown(given.data, 0.02, scratch, 0.0)  # compiles the kernels
        start = distsim("info", scratch / "0.02.index").cpu
        rows = [grown(given.data, millions, scratch, start) for millions in given.millions]
        heads = [f"{work} {what}" for work in ("build", "sign thesis", "sign") for what in
                 ("CPU s", "MB")]  # fmt: skip
        heads = ["tokens", *heads, "index, bytes a token", "table, bytes a phrase"]
        print_table(heads, map(growth_row, rows))
        middle = min(rows, key=lambda row: abs(row["tokens"] - MIDDLE))
        folder = scratch / "ids"
        stage("write_ids", middle["index"], folder)
        heads = [f"suffix array of {middle['tokens']:,} tokens", "CPU s", "peak bytes a token"]
        print_table(heads, sorting(folder))
        counting(middle["index"], folder)
    print_machine()


if __name__ == "__main__":
    main()
