"""What a sentence of 20 words costs: `python bench/rewriting/speed.py PACK INDEX SENTENCES`.

CPU seconds of opening, of rewriting with ten results, free and to .75 of the words, of finding the
rules that match.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np

from distsim import CorpusIndex
from distsim.grammar.packs import GrammarIndex
from distsim.paraphrase.rewriting import RewriteOptions, Rewriter
from distsim.paraphrase.rewriting.language_model import IndexModel
from distsim.paraphrase.rewriting.sentence import Sentence


def main(pack: str, index: str, sentences: str) -> None:
    begun = time.process_time()
    rewriter = Rewriter(GrammarIndex.open(pack), IndexModel(CorpusIndex.open(index)))
    opened = time.process_time() - begun
    grammar, span = rewriter.grammar, rewriter.options.span
    lines = Path(sentences).read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if len(line.split()) == 20][:12]
    short = Rewriter(
        rewriter.grammar.index, rewriter.model, options=RewriteOptions(length=0.75),
        grammar=grammar,
    )  # fmt: skip
    for one in (rewriter, short):
        one.rewrite(lines[0])  # compiled
    whole, shortened, found = [], [], []
    for line in lines[1:]:
        begun = time.process_time()
        rewriter.rewrite(line, k=10)
        whole.append(time.process_time() - begun)
        begun = time.process_time()
        made = short.rewrite(line, k=10)
        shortened.append(time.process_time() - begun)
        assert {len(one.sentence.split()) for one in made[:1]} == {15}
        sentence = Sentence(line)
        possible = np.zeros((len(sentence), span + 1, len(grammar.labels)), bool)
        if grammar.x >= 0:
            possible[:, :, grammar.x] = True
        begun = time.process_time()
        grammar.matches(grammar.codes(sentence.tokens), possible, 100)
        found.append(time.process_time() - begun)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{len(grammar.index):,} rules opened in {opened:.2f} s, {gigabytes:.2f} GB at the end")
    print(f"a sentence: {np.mean(whole):.3f} s, the slowest {max(whole):.3f}")
    print(f"to .75 of its words: {np.mean(shortened):.3f} s, the slowest {max(shortened):.3f}")
    print(f"its rules found: {1000 * np.mean(found):.2f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
