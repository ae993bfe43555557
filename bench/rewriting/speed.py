"""What a sentence of 20 words costs: CPU seconds of rewriting it with ten results.

    python bench/rewriting/speed.py PACK INDEX SENTENCES

Of the first eleven such sentences after one that compiles: any length, and .75 of the words.
"""

import resource
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from frame import Cpu, parser, print_machine, print_table

from distsim import CorpusIndex, GrammarIndex, RewriteOptions, Rewriter
from distsim.paraphrase import IndexModel

N_WORDS, N_RESULTS = 20, 10


def main() -> None:
    options = parser(__doc__)
    options.add_argument("pack")
    options.add_argument("index")
    options.add_argument("sentences", type=Path)
    given = options.parse_args()
    with Cpu() as opening:
        rewriter = Rewriter(
            GrammarIndex.open(given.pack), IndexModel(CorpusIndex.open(given.index))
        )
    short = Rewriter(
        rewriter.grammar.index, rewriter.model, options=RewriteOptions(length=0.75),
        grammar=rewriter.grammar,
    )  # fmt: skip
    lines = given.sentences.read_text(encoding="utf-8").splitlines()
    first, *others = [line for line in lines if len(line.split()) == N_WORDS][:12]

    def row(name: str, one: Rewriter) -> list[str]:
        one.rewrite(first, k=N_RESULTS)
        times = []
        for line in others:
            with Cpu() as cpu:
                one.rewrite(line, k=N_RESULTS)
            times.append(cpu.seconds)
        return [name, f"{np.mean(times):.3f}", f"{max(times):.3f}"]

    rows = [row("any length", rewriter), row(".75 of the words", short)]
    print_table([f"{len(rewriter.grammar.index):,} rules", "CPU s, mean", "slowest"], rows)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\nopened in {opening.seconds:.1f} CPU s, {gigabytes:.2f} GB at the end")
    print_machine()


if __name__ == "__main__":
    main()
