"""How fast rules as numbers become paraphrases: links a CPU second, text told apart.

    python bench/pivot.py RULES [--times 3]

RULES: from `distsim extract --numeric`. Kernels are compiled, and the rules read once, before the
clock starts; one thread. What makes lines of text, and what writes them, is told apart.
"""

import argparse
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from distsim.grammar.extraction.pivoting import pivot_rules
from distsim.grammar.kernels import pivot as kernel
from distsim.storage.files import LineWriter

spent: Counter[str] = Counter()


def timed(owner, name):
    """Let a function add the CPU seconds of its calls to `spent`."""
    function = getattr(owner, name)

    def call(*arguments):
        begun = time.thread_time()
        answer = function(*arguments)
        spent[name] += time.thread_time() - begun
        return answer

    setattr(owner, name, call)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rules")
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    timed(kernel, "render_rules")
    timed(LineWriter, "write")
    with TemporaryDirectory() as folder:
        for turn in range(given.times + 1):
            spent.clear()
            begun = time.process_time()
            report = pivot_rules(given.rules, Path(folder, "out"), jobs=1)
            seconds = time.process_time() - begun
            if turn:
                lines, writing = spent["render_rules"], spent["write"]
                links = report.links / 1e6
                print(
                    f"{report.read:,} rules, {report.links:,} links, {report.written:,} "
                    f"paraphrases: {seconds:.2f} CPU s, of which {lines:.2f} make lines and "
                    f"{writing:.2f} write them; {links / (seconds - lines):.2f} M links/s without "
                    f"making lines, {links / (seconds - lines - writing):.2f} without either",
                    flush=True,
                )


if __name__ == "__main__":
    main()
