"""How fast rules are extracted, counted and written: CPU seconds by stage, bytes, peak memory.

    python bench/extraction.py NAME.bitext ... [--preset hiero] [--repeat N] [--memory 1G] [--text]

Beside Thrax's published figures (thesis table 6.9, French-English, Hiero: 357 million rules,
101 GB of intermediate files, 81 minutes on 52 mappers and 26 reducers). --repeat joins each bitext
with itself so many times, its words changed from copy to copy, for want of a larger one. Kernels
are compiled before the clock starts.
"""

import argparse
import os
import resource
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from distsim.bitext.bitext import Bitext
from distsim.cli.options import memory_bytes
from distsim.corpus.vocabulary import hash_texts
from distsim.grammar.extraction.extract import write_rules
from distsim.grammar.extraction.features import FeatureChoice
from distsim.grammar.extraction.instances import extract_instances
from distsim.grammar.extraction.linked_text import LinkedSide, LinkedText, Words
from distsim.grammar.extraction.margins import count_all
from distsim.grammar.extraction.options import PRESETS
from distsim.kernels.compiled import frozen

EVERY = 7  # of so many words one is another word in each copy


def repeated(text, times):
    """Return a text so many times over; one word of EVERY is a word of the copy's own."""
    if times == 1:
        return text

    def starts(old):
        return frozen(np.append(0, np.cumsum(np.tile(np.diff(old), times))))

    def side(old):
        tokens, n = [], old.words.lengths.size
        for copy in range(times):
            own = (np.arange(n) % EVERY == 0) & (np.arange(n) > 0) & (copy > 0)
            tokens.append(np.where(own, np.arange(n) + copy * n, np.arange(n))[old.tokens])
        raw = old.words.text.tobytes()
        bounds = old.words.offsets.tolist()
        words = [raw[a:b] for a, b in pairwise(bounds)]
        texts = [word + b"%d" % copy * (copy > 0) for copy in range(times) for word in words]
        tokens = frozen(np.concatenate(tokens).astype(np.uint32))
        return LinkedSide(tokens, starts(old.starts), Words.of(texts, hash_texts(texts)))

    return LinkedText(
        side(text.foreign), side(text.english), frozen(np.tile(text.links, (times, 1))),
        starts(text.link_starts), frozen(np.tile(text.nodes, (times, 1))),
        starts(text.node_starts), text.labels, frozen(np.array([0, len(text) * times])),
        text.has_trees,
    )  # fmt: skip


def cut(text, n):
    """Return the first sentence pairs of a text."""

    def side(old):
        return LinkedSide(old.tokens[: old.starts[n]], old.starts[: n + 1], old.words)

    return replace(
        text, foreign=side(text.foreign), english=side(text.english),
        links=text.links[: text.link_starts[n]], link_starts=text.link_starts[: n + 1],
        nodes=text.nodes[: text.node_starts[n]], node_starts=text.node_starts[: n + 1],
        bounds=frozen(np.array([0, n])),
    )  # fmt: skip


class Clock:
    def __init__(self):
        self.cpu = time.process_time()

    def __call__(self):
        before, self.cpu = self.cpu, time.process_time()
        return self.cpu - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bitexts", nargs="+")
    parser.add_argument("--preset", default="hiero")
    parser.add_argument("--loose", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--text", action="store_true", help="write text, too")
    parser.add_argument("--numeric", action="store_true", help="write numbers, too")
    given = parser.parse_args()
    options = PRESETS[given.preset]
    if given.loose:
        options = replace(options, loose=True)
    memory = memory_bytes(given.memory)
    text = repeated(LinkedText.join([Bitext.open(one) for one in given.bitexts]), given.repeat)
    words = text.english.tokens.size
    small = LinkedText.join([Bitext.open(given.bitexts[0])])
    with TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        small = cut(small, 200)
        write_rules(small, folder / "warm", options, FeatureChoice(), jobs=1,
                    numeric=folder / "warm.rules")  # fmt: skip
        (folder / "scratch").mkdir()
        clock = Clock()
        runs = extract_instances(text, options, folder / "scratch", memory, given.jobs)
        extracting = clock()
        disk = sum(path.stat().st_size for path in runs.files)
        counted = count_all(text, runs, folder / "scratch", memory, given.jobs)
        counting = clock()
        files = sum(path.stat().st_size for path in (folder / "scratch").iterdir())
        n = runs.instances
        print(f"{len(text):,} pairs, {words:,} English words, preset {given.preset}")
        print(f"{n:,} instances, {counted.size:,} rules, {counted.codes.size:,} labels")
        print(f"extracting and adding up: {extracting:.1f} CPU s, {n / extracting / 1e6:.2f} M/s")
        total = extracting + counting
        print(f"with all margins: {total:.1f} CPU s, {n / total / 1e6:.2f} M/s")
        print(f"per million words: {total / words * 1e6:.1f} CPU s")
        print(f"files: {disk / 1e6:.0f} MB of instances, {files / 1e6:.0f} MB of counted rules")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"peak memory {peak / 1024:.0f} MB")
        for wanted, what in ((given.text, "text"), (given.numeric, "numeric")):
            if wanted:
                clock()
                out = folder / what
                write_rules(text, out if what == "text" else None, options, FeatureChoice(), memory,
                            given.jobs, numeric=None if what == "text" else out)  # fmt: skip
                took = clock() - total
                size = sum(p.stat().st_size for p in ([out] if out.is_file() else out.iterdir()))
                print(f"writing {what}: {took:.1f} CPU s more, {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
