"""How long answers from a large signed index take: median and 99th percentile, cold and warm.

    python -m bench.large_queries large.index --work /tmp/work

Phrases are drawn by a seed among those that occur 200 times and more. Warm: CPU seconds and
seconds of one answer in an open session. Cold: seconds of the first answer of a new process whose
files the system has been asked to put out of memory. Memory is the session's own, without mapped
files. At the end rules made of the table's phrases are scored by the command `score`.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bench.frame import distsim, parser, print_machine, print_table
from distsim import CorpusIndex, Paraphraser, SignatureTable
from distsim.comparison.nearest import NeighbourSearch
from distsim.paraphrase import Substituter

SEED = 1
MIN_COUNT = 200
RULES = 100_000
Answer = Callable[[str], object]


def jobs(path: str) -> Iterator[tuple[str, int, Callable[[], Answer]]]:
    """Yield each job's name, how many phrases are asked, and what opens its session."""
    yield "count", 1000, lambda: CorpusIndex.open(path).count
    yield "kwic, 10 lines", 1000, lambda: _kwic(CorpusIndex.open(path))
    yield "similarity", 1000, lambda: _similarity(SignatureTable.open(path))
    yield "neighbours", 300, lambda: NeighbourSearch(path).nearest
    yield "substitute", 100, lambda: _substitute(path)
    yield "paraphrase", 100, lambda: Paraphraser(path, table=path).answer


def _kwic(index: CorpusIndex) -> Answer:
    return lambda phrase: index.concordance(phrase, k=10)


def _similarity(table: SignatureTable) -> Answer:
    return lambda phrase: table.similarity(phrase, "the king")


def _substitute(path: str) -> Answer:
    index = CorpusIndex.open(path)
    substituter = Substituter(index, SignatureTable.open(path))

    def answer(phrase: str) -> object:
        line = index.concordance(phrase, k=1)[0]
        return substituter.substitutes(line.left, line.node, line.right, k=10)

    return answer


def drawn(path: str, n: int) -> list[str]:
    """Return n phrases of one to three words that occur MIN_COUNT times and more."""
    table = SignatureTable.open(path)
    rows = np.flatnonzero((table.strengths >= MIN_COUNT) & (table.token_counts() <= 3))
    chosen = np.random.default_rng(SEED).choice(rows, min(n, rows.size), replace=False)
    return [table.text(row) for row in chosen.tolist()]


def own_bytes() -> int:
    """Return the memory of this process that no file is behind."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def put_out(folder: Path) -> None:
    """Ask the system to put a folder's files out of memory."""
    for file in folder.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def ask(path: str, name: str) -> None:
    """Print the seconds and the CPU seconds of each answer to one job, then the memory."""
    for job, n, opened in jobs(path):
        if job == name:
            phrases = drawn(path, n + 5)
            answer = opened()
            for number, phrase in enumerate(phrases):
                begun, cpu = time.perf_counter(), time.process_time()
                answer(phrase)
                if number >= min(5, len(phrases) - 1):
                    print(time.perf_counter() - begun, time.process_time() - cpu)
            print(own_bytes())


def first(path: str, name: str) -> float:
    """Return the seconds of a new process until its first answer, its files out of memory."""
    phrase = drawn(path, 1)[0]
    put_out(Path(path))
    code = (
        f"from bench import large_queries as q\n"
        f"dict((n, o) for n, _, o in q.jobs({path!r}))[{name!r}]()({phrase!r})"
    )
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - begun


def row(path: str, name: str, begins_cold: bool) -> list[str]:
    """Return a row of the table."""
    cold = f"{first(path, name):.1f}" if begins_cold else ""
    code = f"from bench import large_queries as q\nq.ask({path!r}, {name!r})"
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    *lines, memory = result.stdout.splitlines()
    took, cpu = np.array([line.split() for line in lines], float).T * 1000
    shown = [f"{np.median(one):.3g} / {np.quantile(one, 0.99):.3g}" for one in (took, cpu)]
    return [name, *shown, cold, f"{int(memory) / 1e6:,.0f}"]


def score(path: str, work: Path) -> str:
    """Return what scoring rules of pairs of phrases takes."""
    phrases = np.array(drawn(path, RULES // 10))
    random = np.random.default_rng(SEED)
    pairs = zip(random.choice(phrases, RULES), random.choice(phrases, RULES), strict=True)
    grammar = work / "rules"
    lines = (f"[X] ||| {one} ||| {other} ||| p=0.5 ||| 0-0\n" for one, other in pairs)
    grammar.write_text("".join(lines), encoding="utf-8")
    cost = distsim("score", grammar, "--ngram", path, "-o", work / "scored")
    return f"{RULES:,} rules scored: {cost.cpu:.1f} CPU s, peak {cost.peak / 1e6:,.0f} MB"


def main() -> None:
    """Print the table and what scoring takes."""
    arguments = parser(__doc__)
    arguments.add_argument("index", help="an index that was signed")
    arguments.add_argument("--work", type=Path, required=True, help="folder for the rules")
    arguments.add_argument("--warm", action="store_true", help="leave the cold answers out")
    given = arguments.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    print_machine()
    columns = ("answer", "ms, median / 99%", "CPU ms", "cold, s", "own memory, MB")
    names = [name for name, _, _ in jobs(given.index)]
    print_table(columns, (row(given.index, name, not given.warm) for name in names))
    print(score(given.index, given.work))


if __name__ == "__main__":
    main()
