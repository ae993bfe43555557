"""Shared by all benchmarks: the data's folder, cost of a process, statistics, Markdown tables."""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parent.parent
SHARED = PROJECT / "../shared/data"
# The sets of word pairs that are averaged; the others are the whole or a part of these.
WORD_SETS = ("MTurk-287", "MTurk-771", "RG-65", "VERB-143", "WS-353-REL", "WS-353-SIM", "YP-130")
SAMPLES = 500  # of a bootstrap


class Cost(NamedTuple):
    """What a process wrote to standard output and error, its CPU seconds and peak bytes."""

    output: str
    log: str
    cpu: float
    peak: int


def run(
    *command: object,
    environment: dict[str, str] | None = None,
    started: Callable[[int], object] | None = None,
) -> Cost:
    """Return the cost of a process with its children; exit where it fails.

    started: is called with the process's number.
    """
    words = list(map(str, command))
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(words, stdout=out, stderr=log, env=environment)
        if started is not None:
            started(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        log.seek(0)
        output, errors = out.read(), log.read()
    if process.returncode:
        sys.exit(f"{' '.join(words)}: status {process.returncode}\n{errors[-3000:]}")
    return Cost(output, errors, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def distsim(*arguments: object, started: Callable[[int], object] | None = None) -> Cost:
    """Return the cost of a command of distsim."""
    return run(sys.executable, "-m", "distsim.cli.start", *arguments, started=started)


class Cpu:
    """Context manager; `seconds`: CPU seconds spent inside, by all threads."""

    seconds = 0.0

    def __enter__(self) -> "Cpu":
        self._begun = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.process_time() - self._begun


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help is a module's docstring."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def print_table(columns: Iterable[object], rows: Iterable[Iterable[object]]) -> None:
    """Print a Markdown table, each row as soon as it is there."""
    columns = list(columns)
    print(f"\n| {' | '.join(map(str, columns))} |\n{'|---' * len(columns)}|")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def print_machine() -> None:
    """Print the date, the processor, the cores and the load."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next((one.split(": ")[1] for one in lines if one.startswith("model name")), model)
    load = os.getloadavg()[0]
    print(f"\n{date.today()}, {model}, {os.cpu_count()} cores, load {load:.0f}")


# Statistics ---------------------------------------------------------------------------------
# The library's modules are imported inside: a script that measures processes must stay small,
# since the peak memory of a child begins with its parent's.


def floats(values: Iterable[float | None]) -> Any:
    """Return values as an array, NaN for None."""
    import numpy as np

    return np.array([np.nan if one is None else one for one in values], float)


class Estimate(NamedTuple):
    """A statistic and its 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def correlation(values: Any, scores: Any, groups: Sequence[str]) -> Estimate:
    """Return Spearman's correlation; of the bootstrap, groups are resampled."""
    from distsim.evaluation.correlations import spearman, spearman_interval

    interval = spearman_interval(values, scores, groups, SAMPLES, 1)
    return Estimate(spearman(values, scores), *interval)


def area(good: Any, bad: Any) -> Estimate:
    """Return the area under the curve."""
    from distsim.evaluation.correlations import area_interval, area_under_curve

    return Estimate(area_under_curve(good, bad), *area_interval(good, bad, SAMPLES, 1))


def mean_of(estimates: Iterable[Estimate]) -> str:
    values = [one.value for one in estimates]
    return f"{sum(values) / len(values):.3f}"


def gold_sets(data: Path) -> list[Any]:
    """Return the sets of word pairs, judged words, judged phrases, those that share no word."""
    from distsim import read_gold

    sets = [read_gold(data / "gold-wordsim-shared" / f"EN-{name}.txt") for name in WORD_SETS]
    judged = read_gold(data / "gold-paraphrase-shared" / "judgements.tsv")
    longer = [{" " in phrase for phrase in pair} for pair in judged.pairs]
    words = [n for n, one in enumerate(longer) if one == {False}]
    phrases = [n for n, one in enumerate(longer) if one == {True}]
    apart = [n for n in phrases if not set.intersection(*map(words_of, judged.pairs[n]))]
    return [
        *sets, judged.subset("judged words", words), judged.subset("judged phrases", phrases),
        judged.subset("phrases, no word shared", apart),
    ]  # fmt: skip


def words_of(phrase: str) -> set[str]:
    return set(phrase.split())
