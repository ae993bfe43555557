"""Scoring speed: rules a CPU second, files included, beside merely unpacking and splitting them.

Measured on a million rules made from the pivoted Bengali-English SAMT grammar: its rules
repeated, each time with their words exchanged for others of like frequency, so that phrases
looked up stay real words and differ from copy to copy. Four files: gappy rules and rules
without gaps, each with word links and without (these are aligned, too). The yardstick beside
each: the same file read by Python's gzip module and every line split at ` ||| `, nothing else.
The run must stay under 1.5 GB beside the mapped tables, keep the order, and give the same bytes
for one job and for two; all three are checked here. That the work is shared shows in the busiest
thread's share of the CPU time: on a machine with other work, wall time says nothing.

    python bench/score.py TABLE [--rules 1000000] [--jobs 2] [--grammar PIVOTED.gz]

Run it in a quiet hour: two jobs share the caches. Peak memory is that of the process without
mapped files (RssAnon of /proc/self/status).
"""

import argparse
import gzip
import hashlib
import os
import re
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

SAMT = Path(__file__).parents[1] / "../shared/data/grammars/joshua.bn-en.samt.grammar.gz"
GAP = re.compile(rb"\[.+,\d+\]\Z")


def pivoted(folder, grammar):
    from distsim.grammar.pivot import PivotOptions, pivot_grammar

    path = folder / "pivoted"
    pivot_grammar(grammar, path, options=PivotOptions(features={"p(e|f)": "12", "p(f|e)": "10"}))
    return path


def with_links(path, table):
    """Return (line with links between words, line as it is, has gaps) for every rule."""
    from distsim.bitext.link_model import LinkModel
    from distsim.corpus.lines import read_line_blocks
    from distsim.grammar.alignment import RuleAligner, TrainingSample
    from distsim.grammar.block import parse_block
    from distsim.grammar.formats.rules import RULES

    sample = TrainingSample(20_000)
    blocks = [parse_block(lines, RULES) for lines in read_line_blocks(path)]
    for block in blocks:
        sample.add(block, RuleAligner().wanted(block)[1])
    aligner = RuleAligner("missing", learnt=LinkModel(*sample.pairs()))
    for block in blocks:
        stops, links, _, _ = aligner.align(block)
        begin = 0
        for number, stop in enumerate(stops.tolist()):
            line = block.line(number)
            joined = b" ".join(
                b"%d-%d" % tuple(link) for link in sorted(links[begin:stop].tolist())
            )
            source, target = block.sides(number)
            gappy = bool((block.gaps[source.start : target.stop] >= 0).any())
            yield line.rsplit(b"|||", 1)[0] + b"||| " + joined + b"\n", line, gappy
            begin = stop


def exchanger(table):
    """Return f(word, copy): the word `copy` places further among the table's frequent words."""
    counts = table.token_counts()
    rows = [r for r in (counts == 1).nonzero()[0].tolist()]
    rows.sort(key=lambda row: -int(table.strengths[row]))
    ranked = [w for w in (table.text(row) for row in rows[:60_000]) if w.isalpha()]
    rank = {word.encode(): n for n, word in enumerate(ranked)}
    encoded = [word.encode() for word in ranked]

    def exchange(word, copy):
        at = rank.get(word)
        if at is None or at < 200 or copy == 0:  # function words stay
            return word
        return encoded[min(len(encoded) - 1, at + copy)]

    return exchange


def write_copies(lines, exchange, n_rules, path):
    with gzip.open(path, "wb", 6) as file:
        written = copy = 0
        while written < n_rules:
            for line in lines:
                fields = line.split(b" ||| ")
                for side in (1, 2):
                    fields[side] = b" ".join(
                        word if GAP.match(word) else exchange(word, copy)
                        for word in fields[side].split(b" ")
                    )
                file.write(b" ||| ".join(fields))
                written += 1
                if written == n_rules:
                    break
            copy += 1


def split_only(path):
    begun = time.process_time()
    n = 0
    with gzip.open(path, "rb") as file:
        for line in file:
            n += len(line.split(b" ||| ")) > 3
    return time.process_time() - begun


def thread_ticks():
    found = {}
    for stat in Path("/proc/self/task").glob("*/stat"):
        with suppress(OSError):  # the thread has ended
            used = stat.read_text().rpartition(")")[2].split()[11:13]
            found[stat.parent.name] = sum(map(int, used))
    return found


class Watch:
    """Peak memory without mapped files, and the CPU seconds of every thread."""

    def __enter__(self):
        self.peak, self.threads, self._over = 0, {}, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _watch(self):
        while not self._over.wait(0.05):
            text = Path("/proc/self/status").read_text()
            self.peak = max(self.peak, int(re.search(r"RssAnon:\s+(\d+)", text)[1]))
            self.threads |= thread_ticks()

    def busiest(self, before):
        """Return the largest share of the CPU time that one thread used."""
        used = [ticks - before.get(thread, 0) for thread, ticks in self.threads.items()]
        return max(used, default=0) / max(1, sum(used))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--rules", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--grammar")
    given = parser.parse_args()
    from distsim import SignatureTable
    from distsim.grammar.score_file import score_grammar
    from distsim.grammar.scoring import RuleScorer

    table = SignatureTable.open(given.table)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rules = list(with_links(given.grammar or pivoted(folder, SAMT), table))
        exchange = exchanger(table)
        print(
            "rules\tlinks\trules a CPU s\tof it splitting\tbusiest thread\tscored\tpeak MB\torder"
        )
        for gappy in (False, True):
            for linked in (True, False):
                lines = [one[0] if linked else one[1] for one in rules if one[2] == gappy]
                path, out = folder / "in.gz", folder / "out.gz"
                n = given.rules if gappy else given.rules // 2
                write_copies(lines, exchange, n, path)
                split = split_only(path)
                if gappy or linked:  # compile before the clock runs
                    write_copies(lines[:50], exchange, 50, folder / "warm.gz")
                    score_grammar(folder / "warm.gz", out, RuleScorer([("sim_ngram", table)]))
                before_threads = thread_ticks()
                with Watch() as watch:
                    before = os.times()
                    report = score_grammar(
                        path, out, RuleScorer([("sim_ngram", table)]), jobs=given.jobs
                    )
                    after = os.times()
                cpu = after.user + after.system - before.user - before.system
                ordered = in_order(path, out)
                print(
                    "gappy" if gappy else "no gaps", "given" if linked else "made",
                    f"{n / cpu:,.0f}", f"{split / cpu:.2f}", f"{watch.busiest(before_threads):.2f}",
                    f"{report.tables[0].scored / n:.2f}", f"{watch.peak >> 10:,}",
                    "kept" if ordered else "LOST", sep="\t", flush=True,
                )  # fmt: skip
        once = hashlib.sha256(out.read_bytes()).hexdigest()
        score_grammar(path, out, RuleScorer([("sim_ngram", table)]), jobs=1)
        same = hashlib.sha256(out.read_bytes()).hexdigest() == once
        print(f"one job and {given.jobs} jobs: {'the same bytes' if same else 'DIFFERENT BYTES'}")


def in_order(path, out):
    with gzip.open(path, "rb") as before, gzip.open(out, "rb") as after:
        for one, two in zip(before, after, strict=True):
            if one.split(b" ||| ")[:3] != two.split(b" ||| ")[:3]:
                return False
    return True


if __name__ == "__main__":
    sys.exit(main())
