"""The spine against its peers: index, suffix array, counting, neighbours, error, growth.

Measured in one run on one machine, each piece of work in a process of its own: CPU seconds
(user and system, children included) and peak resident memory, as the system accounts them.
Against: infini-gram 2.6.0 (an index of the same kind; 16-bit ids, so every word beyond the
65,000 first is one id, for both sides), plain pydivsufsort on 32-bit tokens, faiss's own
brute force over binary vectors, and the theory of random projections.

    python bench/peers.py [--data ../shared/data/wiki-en-2015] [--millions 1 4 14 38]

faiss and infini-gram serve this comparison alone: `pip install -e '.[bench]' infini-gram==2.6.0`.
Without infini-gram its lines are skipped and say so. The last table is the design's section 12.
"""

import argparse
import json
import lzma
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

RARE = 65_000  # stands for every id from here on where ids have 16 bits
BYTES_A_TOKEN = 5.55  # of this corpus's text, to cut it to size
BATCH = 20_000
ERROR_BITS = (64, 128, 256, 512, 1024)
SCHEMES = ("raw", "log", "ppmi", "llr")


class Spent(NamedTuple):
    """What a process gave, and what it took: CPU seconds, bytes at the peak."""

    answer: Any
    cpu: float
    peak: int


def spend(arguments: list[str]) -> Spent:
    """Run a program; its answer is the JSON on its last line of output, if it is any."""
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    output, said = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(arguments)}: {said[-2000:]}")
    last = output.strip().rsplit("\n", 1)[-1]
    answer = json.loads(last) if last.startswith(("{", "[")) else None
    return Spent(answer, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def distsim(*arguments: object) -> Spent:
    """Run a command of distsim."""
    return spend([sys.executable, "-m", "distsim.cli.start", *map(str, arguments)])


def stage(name: str, *arguments: object) -> Spent:
    """Run a function of this file, by its name, in a process of its own."""
    return spend([sys.executable, __file__, "--stage", name, *map(str, arguments)])


def table(title: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table in Markdown."""
    columns = list(columns)
    print(f"\n{title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    sys.stdout.flush()


# Stages: each runs alone in its process and prints JSON ----------------------------------


def cut_text(data: str, output: str, millions: str) -> None:
    """Write about so many million tokens of the corpus's running text."""
    left = int(float(millions) * 1e6 * BYTES_A_TOKEN)
    with open(output, "wb") as out:
        for file in sorted(Path(data).glob("*.txt.xz")):
            with lzma.open(file) as lines:
                for line in lines:
                    left -= len(line)
                    if left < 0:
                        return
                    out.write(line)


def write_lines(index: str, output: str) -> None:
    """Write an index's sentences, tokens parted by spaces, one a line."""
    import numpy as np

    from distsim import CorpusIndex
    from distsim.corpus.kernels.text import render_phrases
    from distsim.kernels.compiled import frozen

    opened = CorpusIndex.open(index)
    with open(output, "wb") as out:
        for shard in opened.shards:
            starts = shard.sentence_starts.astype(np.int64)
            lengths = shard.sentence_lengths()
            for first in range(0, starts.size, 1 << 16):
                some = slice(first, first + (1 << 16))
                text, ends = render_phrases(
                    shard.tokens, frozen(starts[some]), frozen(lengths[some]),
                    opened.vocabulary.text, opened.vocabulary.offsets,
                )  # fmt: skip
                data, stops = text.tobytes(), ends.tolist()
                out.write(b"\n".join(data[a:b] for a, b in pairwise(stops)) + b"\n")


def write_ids(index: str, folder: str) -> None:
    """Write an index's tokens as infini-gram reads them, and the same for the others."""
    import numpy as np

    from distsim import CorpusIndex

    tokens = np.concatenate([shard.tokens for shard in CorpusIndex.open(index).shards])
    Path(folder).mkdir()
    np.save(f"{folder}/full.npy", tokens)
    tokens = np.minimum(tokens, RARE)
    np.save(f"{folder}/mapped.npy", tokens)
    os.makedirs(f"{folder}/none")
    os.makedirs(f"{folder}/infini")
    tokens.astype("<u2").tofile(f"{folder}/infini/tokenized.0")
    np.zeros(1, "<u8").tofile(f"{folder}/infini/offset.0")


def sort_suffixes(how: str, file: str) -> None:
    """Sort the suffixes of saved tokens; how: ours, plain, or nothing (what loading takes)."""
    import numpy as np

    from distsim.indexes.suffix_array import build_suffix_array

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
    """Time counting, a batch at once and phrase by phrase."""
    from distsim import CorpusIndex

    phrases = json.loads(Path(batch).read_text())["phrases"]
    opened = CorpusIndex.open(index)
    opened.count(phrases[:100])
    first = _best(lambda: CorpusIndex.open(index).count(phrases), 1) / len(phrases)
    again = _best(lambda: opened.count(phrases)) / len(phrases)
    single = _best(lambda: [opened.count(phrase) for phrase in phrases]) / len(phrases)
    counts = opened.count(phrases).tolist()
    print(json.dumps({"first": first, "batch": again, "single": single, "counts": counts}))


def count_infini(folder: str, batch: str) -> None:
    """Time infini-gram's counting, phrase by phrase: it has no batch."""
    from infini_gram.engine import InfiniGramEngine

    ids = json.loads(Path(batch).read_text())["ids"]
    engine = InfiniGramEngine(index_dir=folder, eos_token_id=65_534, token_dtype="u16")
    single = _best(lambda: [engine.count(input_ids=one) for one in ids]) / len(ids)
    counts = [engine.count(input_ids=one)["count"] for one in ids]
    print(json.dumps({"single": single, "counts": counts}))


def search_neighbours(index: str) -> None:
    """Time the ten nearest phrases, ours and faiss's, on one core.

    Ours as neighbours gives them, and the ten of nearest bits alone, which are faiss's.
    """
    import faiss
    import numpy as np

    from distsim import SignatureTable, neighbours
    from distsim.comparison import NeighbourSearch

    faiss.omp_set_num_threads(1)
    opened = SignatureTable.open(index)
    search = NeighbourSearch(opened)
    every = NeighbourSearch(opened, min_strength=0, distinct=False, estimate="bits")
    rows = np.random.default_rng(1).integers(len(opened), size=100)
    phrases = [opened.text(row) for row in rows.tolist()]
    flat = faiss.IndexBinaryFlat(opened.n_bits)
    flat.add(np.ascontiguousarray(opened.bits).view(np.uint8))
    queries = np.ascontiguousarray(opened.bits[rows]).view(np.uint8)
    found: dict[str, float] = {"rows": len(opened)}
    for name, work in (
        ("function", lambda: [neighbours(opened, phrase) for phrase in phrases]),
        ("ours", lambda: [search.nearest(phrase) for phrase in phrases]),
        ("every", lambda: [every.nearest(phrase) for phrase in phrases]),
        ("single", lambda: [flat.search(query[None], 11) for query in queries]),
        ("batch", lambda: flat.search(queries, 11)),
    ):
        work()
        found[name] = _best(work) / len(phrases)
    distances = flat.search(queries, 11)[0]
    found["agree"] = sum(
        abs(near[-1].similarity - math.cos(math.pi * int(row[-1]) / opened.n_bits)) < 1e-9
        for near, row in zip((every.nearest(one) or [] for one in phrases), distances, strict=True)
    )
    print(json.dumps(found))


def lsh_error(index: str, scratch: str) -> None:
    """Compare estimated with exact cosines for every weight and several sizes."""
    from distsim import CorpusIndex, ExactCosine, Recipe, Selection, SignatureTable, similarities
    from distsim.comparison import NeighbourSearch
    from distsim.contexts import Weighting

    opened = CorpusIndex.open(index)
    selection = Selection(min_count=20, max_phrases=20_000)
    found = []
    for scheme in SCHEMES:
        weighting = Weighting(scheme)

        def sign(n_bits: int, seed: int, weighting: Weighting = weighting) -> SignatureTable:
            recipe = Recipe(weighting=weighting, n_bits=n_bits, seed=seed)
            return SignatureTable.build(
                opened, Path(scratch) / "t", recipe=recipe, selection=selection, force=True
            )

        # Near pairs are chosen by another seed's bits, so that the choice favours no error.
        chooser = sign(256, 99)
        draw = random.Random(1)
        phrases = draw.sample(list(chooser.texts()), 150)
        search = NeighbourSearch(chooser)
        pairs = [(one, draw.choice(phrases)) for one in phrases for _ in range(10)]
        for one in phrases:
            nearest = search.nearest(one, k=300) or []
            pairs += [(one, near.phrase) for near in nearest[:10] + draw.sample(nearest, 10)]
        pairs = [(a, b) for a, b in pairs if a != b]
        exact = ExactCosine(opened, chooser).similarities(pairs)
        for n_bits in ERROR_BITS:
            estimated = similarities(sign(n_bits, 1), pairs)
            both = [(e, x) for e, x in zip(estimated, exact, strict=True) if None not in (e, x)]
            error = math.sqrt(statistics.fmean((e - x) ** 2 for e, x in both))
            bias = statistics.fmean(e - x for e, x in both)
            theory = math.sqrt(statistics.fmean(_variance(x) for _, x in both) / n_bits)
            found.append([scheme, n_bits, len(both), error, theory, bias])
    print(json.dumps(found))


def _variance(cosine: float) -> float:
    """Return the variance of cos(pi d / b), times b, by the delta method."""
    share = math.acos(max(-1.0, min(1.0, cosine))) / math.pi
    return (math.pi * math.sin(math.pi * share)) ** 2 * share * (1 - share)


def opening(index: str) -> None:
    """Time opening an index and the table inside it, modules loaded."""
    from distsim import CorpusIndex, SignatureTable

    print(
        json.dumps(
            {
                "index": _best(lambda: CorpusIndex.open(index), 20),
                "table": _best(lambda: SignatureTable.open(index), 20),
            }
        )
    )


def _best(work: Callable[[], object], times: int = 3) -> float:
    """Return the least CPU seconds that work takes in this process."""
    found = []
    for _ in range(times):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


STAGES = {
    function.__name__: function
    for function in (cut_text, write_lines, write_ids, sort_suffixes, draw_phrases, count_ours,
                     count_infini, search_neighbours, lsh_error, opening)
}  # fmt: skip


# The run -----------------------------------------------------------------------------------


def run(data: Path, millions: list[float], scratch: Path) -> None:
    """Measure everything and print the tables."""
    reached: list[tuple[str, str, str, bool]] = []
    has_infini = find_spec("infini_gram") is not None
    _warm(data, scratch)
    start = distsim("info", scratch / "warm.index").cpu
    growth, largest = _growth(data, millions, scratch, start)
    tokens = growth[-1]["tokens"]
    table(
        "Growth: CPU seconds (million tokens a CPU second; peak bytes a token)",
        (
            "tokens",
            "build `text`",
            "build `lines`",
            "sign raw, window 1",
            "sign learnt",
            "count 20,000",
        ),
        [_growth_row(row) for row in growth],
    )
    last = growth[-1]
    for what, goal in (("lines", 1.5), ("text", 1.0), ("sign", 1.5)):
        rate = tokens / last[what].cpu / 1e6
        name = {"lines": "build `lines`", "text": "build `text`", "sign": "sign raw"}[what]
        reached.append((f"{name}, million tokens a CPU second", f"{goal}", f"{rate:.2f}",
                        rate >= goal))  # fmt: skip
    peak = max(last["lines"].peak, last["text"].peak) / tokens
    reached.append(("peak of a build, bytes a token", "50", f"{peak:.1f}", peak <= 50))

    middle = min(growth, key=lambda row: abs(row["tokens"] - 14e6))
    _sorting(middle["index"], scratch, has_infini, reached)
    _counting(middle["index"], scratch, has_infini, reached)
    _neighbours("raw, window 1", largest)
    _neighbours("learnt", last["learnt_table"])
    _errors(min(growth, key=lambda row: abs(row["tokens"] - 2e6))["index"], scratch)
    _sizes(growth)
    opened = stage("opening", largest).answer
    helped = min(distsim("--help").cpu for _ in range(5))
    reached.append(("`distsim --help`, CPU s", ".4", f"{helped:.2f}", helped < 0.4))
    for what in ("index", "table"):
        took = opened[what] * 1e3
        reached.append((f"opening an {what} of {tokens / 1e6:.0f} M tokens, ms".replace(
            "an table", "a table"), "50", f"{took:.1f}", took < 50))  # fmt: skip
    table("Section 12", ("work", "reach", "measured", ""),
          [(*row[:3], "reached" if row[3] else "MISSED") for row in reached])  # fmt: skip


def _warm(data: Path, scratch: Path) -> None:
    """Let every kernel be compiled before anything is timed."""
    stage("cut_text", data, scratch / "warm.txt", 0.02)
    for text_format in ("lines", "text"):
        distsim("index", "build", "--force", "--format", text_format, scratch / "warm.txt", "-o",
                scratch / "warm.index")  # fmt: skip
    distsim("sign", scratch / "warm.index", "--preset", "thesis")
    distsim("sign", scratch / "warm.index", "-o", scratch / "warm.learnt")
    distsim("count", scratch / "warm.index", "of the")


def _growth(
    data: Path, millions: list[float], scratch: Path, start: float
) -> tuple[list[dict[str, Any]], Path]:
    rows = []
    for size in millions:
        text, lines = scratch / "corpus.txt", scratch / "corpus.lines"
        index = scratch / f"{size:g}.index"
        stage("cut_text", data, text, size)
        row: dict[str, Any] = {"index": index}
        row["text"] = _less(distsim("index", "build", "--format", "text", text, "-o", index), start)
        described = distsim("info", index, "--json").answer
        row["tokens"] = described["parameters"]["counts"]["tokens"]
        row["index_bytes"] = described["bytes"]
        stage("write_lines", index, lines)
        row["lines"] = _less(distsim("index", "build", lines, "-o", scratch / "lines.index"), start)
        shutil.rmtree(scratch / "lines.index")
        row["sign"] = _less(distsim("sign", index, "--preset", "thesis"), start)
        signed = distsim("info", index, "--json").answer["signatures"]
        row["phrases"] = signed["parameters"]["phrases"]
        row["table_bytes"] = signed["bytes"]
        row["learnt_table"] = scratch / f"{size:g}.learnt"
        row["learnt"] = _less(distsim("sign", index, "-o", row["learnt_table"]), start)
        stage("draw_phrases", index, scratch / "phrases.json")
        row["count"] = stage("count_ours", index, scratch / "phrases.json")
        rows.append(row)
        print(f"{row['tokens']:,} tokens done", file=sys.stderr, flush=True)
    text.unlink()
    lines.unlink()
    return rows, index


def _less(spent: Spent, start: float) -> Spent:
    """Take off what starting the program and importing takes."""
    return spent._replace(cpu=spent.cpu - start)


def _growth_row(row: dict[str, Any]) -> list[str]:
    tokens = row["tokens"]
    cells = [f"{tokens:,}"]
    for what in ("text", "lines", "sign", "learnt"):
        spent = row[what]
        cells.append(f"{spent.cpu:.2f} ({tokens / spent.cpu / 1e6:.2f}; {spent.peak / tokens:.0f})")
    count = row["count"]
    cells.append(f"{count.answer['batch'] * BATCH:.3f} (peak {count.peak / 1e6:.0f} MB)")
    return cells


def _sorting(index: Path, scratch: Path, has_infini: bool, reached: list[Any]) -> None:
    folder = scratch / "ids"
    stage("write_ids", index, folder)
    nothing = stage("sort_suffixes", "nothing", folder / "mapped.npy")
    tokens = nothing.answer["tokens"]
    rows = []
    for name, how, file in (
        ("ours, ids of 16 bits", "ours", "mapped.npy"),
        ("ours, all ids", "ours", "full.npy"),
        ("pydivsufsort on 32-bit tokens", "plain", "mapped.npy"),
        ("pydivsufsort on 32-bit tokens, all ids", "plain", "full.npy"),
    ):
        spent = stage("sort_suffixes", how, folder / file)
        above = (spent.peak - nothing.peak) / tokens + 4
        rows.append((name, spent.answer["cpu"], f"{above:.0f}"))
    if has_infini:
        indexing = [sys.executable, "-m", "infini_gram.indexing"]
        start = spend([*indexing, "--help"]).cpu
        spent = spend(
            [*indexing, "--data_dir", str(folder / "none"), "--save_dir", str(folder / "infini"),
             "--token_dtype", "u16", "--cpus", "1", "--mem", "8", "--ulimit", "1024"]
        )  # fmt: skip
        spent = _less(spent, start)
        rows.append(
            ("infini-gram 2.6.0, ids of 16 bits, its files included", spent.cpu,
             f"{spent.peak / tokens:.0f}")
        )  # fmt: skip
        ratio = rows[0][1] / spent.cpu
        reached.append(("suffix array, CPU against infini-gram's", ".6", f"{ratio:.2f}",
                        ratio <= 0.6))  # fmt: skip
    else:
        print("\ninfini-gram is not installed: its lines are left out")
    ours = rows[0][1]
    table(
        f"Suffix array of {tokens:,} tokens, sentence ends included",
        ("by", "CPU s", "ratio to ours", "peak bytes a token, tokens included"),
        [(name, f"{cpu:.2f}", f"{cpu / ours:.2f}", peak) for name, cpu, peak in rows],
    )


def _counting(index: Path, scratch: Path, has_infini: bool, reached: list[Any]) -> None:
    stage("draw_phrases", index, scratch / "phrases.json")
    ours = stage("count_ours", index, scratch / "phrases.json").answer
    rows = [
        (f"ours, a batch of {BATCH:,} texts", ours["batch"]),
        ("ours, the batch on an index just opened", ours["first"]),
        ("ours, single Python calls", ours["single"]),
    ]
    single = ours["single"] * 1e6
    if has_infini:
        theirs = stage("count_infini", scratch / "ids" / "infini", scratch / "phrases.json").answer
        rows.append(("infini-gram, single Python calls (it has no batch), ids", theirs["single"]))
        equal = sum(a == b for a, b in zip(ours["counts"], theirs["counts"], strict=True))
        print(f"\ncounts that agree with infini-gram's: {equal:,} of {BATCH:,}")
        ratio = theirs["single"] / ours["batch"]
        reached.append(("`count` in a batch, times infini-gram's rate", "50", f"{ratio:.0f}",
                        ratio >= 50))  # fmt: skip
    reached.append(("`count`, a single Python call, microseconds", "15", f"{single:.1f}",
                    single < 15))  # fmt: skip
    table(
        "Counting phrases of 1 to 4 words",
        ("by", "microseconds a phrase", "ratio"),
        [(name, f"{cpu * 1e6:.2f}", f"{cpu / ours['batch']:.1f}") for name, cpu in rows],
    )


def _neighbours(name: str, index: Path) -> None:
    found = stage("search_neighbours", index).answer
    rows = found["rows"] / 1e6
    table(
        f"Ten nearest among {found['rows']:,} phrases of the {name} table, one core "
        f"({found['agree']} of 100 have faiss's distance)",
        ("by", "ms a query", "ms a query and million phrases", "ratio"),
        [
            (by, f"{found[key] * 1e3:.2f}", f"{found[key] * 1e3 / rows:.2f}",
             f"{found[key] / found['single']:.2f}")
            for by, key in (("neighbours(table, phrase)", "function"),
                            ("a NeighbourSearch, its defaults", "ours"),
                            ("all rows, ties resolved and named", "every"),
                            ("faiss IndexBinaryFlat, query by query", "single"),
                            ("faiss IndexBinaryFlat, 100 queries at once", "batch"))
        ],
    )  # fmt: skip


def _errors(index: Path, scratch: Path) -> None:
    found = stage("lsh_error", index, scratch).answer
    table(
        "Error of the estimated cosine: root mean square beside theory's",
        ("weights", *(f"{bits} bits" for bits in ERROR_BITS)),
        [
            (scheme, *(f"{error:.4f} / {theory:.4f}" for name, _, _, error, theory, _ in found
                       if name == scheme))
            for scheme in SCHEMES
        ],
    )  # fmt: skip
    biases = [abs(row[5]) for row in found]
    print(f"\npairs a cell: {min(row[2] for row in found):,} or more; "
          f"largest mean error: {max(biases):.4f}")  # fmt: skip


def _sizes(growth: list[dict[str, Any]]) -> None:
    table(
        "On disk",
        ("tokens", "index, bytes a token", "phrases", "table, bytes a phrase"),
        [
            (f"{row['tokens']:,}", f"{row['index_bytes'] / row['tokens']:.1f}",
             f"{row['phrases']:,}", f"{row['table_bytes'] / row['phrases']:.1f}")
            for row in growth
        ],
    )  # fmt: skip


def main() -> None:
    if sys.argv[1:2] == ["--stage"]:
        STAGES[sys.argv[2]](*sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    here = Path(__file__).resolve().parent.parent
    parser.add_argument("--data", type=Path, default=here / "../shared/data/wiki-en-2015")
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 4, 14, 38])
    options = parser.parse_args()
    if not list(options.data.glob("*.txt.xz")):
        sys.exit(f"{options.data}: no *.txt.xz there: name the corpus with --data")
    with tempfile.TemporaryDirectory(prefix="distsim-peers-") as scratch:
        run(options.data, options.millions, Path(scratch))


if __name__ == "__main__":
    main()
