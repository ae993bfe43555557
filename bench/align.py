"""Links made for phrase pairs against those that the phrase table gives.

Measured on the 165,000 aligned French-English (in part identical-language) pairs of a Moses
phrase table: precision, recall and F1 of single links, for what distsim does (`--align all`),
for like words and gaps alone, and for the same model without its threshold for words that hardly
go together. Most pairs have one source word and three target words of which one is linked, so what
is left unlinked decides. The threshold .05 was chosen on the same pairs, for an earlier aligner, so
the figures are those of a fit, not of a blind test.

    python bench/align.py [PHRASE-TABLE] [--sample 20000]
"""

import argparse
import time
from pathlib import Path

TABLE = Path(__file__).parents[1] / "../shared/data/grammars/joshua.moses.fr-en.rules.1.gz"


def per_rule(stops, links):
    begin = 0
    for stop in stops.tolist():
        yield {(i, j) for i, j in links[begin:stop].tolist()}
        begin = stop


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table", nargs="?", default=TABLE)
    parser.add_argument("--sample", type=int, default=20_000)
    given = parser.parse_args()
    from distsim.bitext.link_model import LinkModel
    from distsim.corpus.lines import read_line_blocks
    from distsim.grammar.alignment import RuleAligner, TrainingSample
    from distsim.grammar.block import parse_block
    from distsim.grammar.formats.phrase_table import PHRASE_TABLE

    blocks = [parse_block(lines, PHRASE_TABLE) for lines in read_line_blocks(given.table)]
    begun = time.process_time()
    sample = TrainingSample(given.sample)
    for block in blocks:
        sample.add(block, RuleAligner("all").wanted(block)[1])
    learnt = LinkModel(*sample.pairs())
    trained = time.process_time() - begun
    plain = LinkModel(*sample.pairs(), least_posterior=0.5, least_chance=0.0)
    print(f"trained on {len(sample):,} pairs in {trained:.1f} CPU seconds")
    print("links\tprecision\trecall\tF1\tpairs alike\tpairs a CPU s")
    for name, aligner in (
        ("distsim", RuleAligner("all", learnt=learnt)),
        ("like words only", RuleAligner("all")),
        ("learnt, by place alone", RuleAligner("all", learnt=plain)),
    ):
        begun = time.process_time()
        both = made = given_links = alike = n = 0
        for block in blocks:
            stops, links, _, _ = aligner.align(block)
            for mine, theirs in zip(
                per_rule(stops, links), per_rule(block.link_stops, block.links), strict=True
            ):
                both += len(mine & theirs)
                made += len(mine)
                given_links += len(theirs)
                alike += mine == theirs
                n += 1
        seconds = time.process_time() - begun
        print(
            name, f"{both / made:.3f}", f"{both / given_links:.3f}",
            f"{2 * both / (made + given_links):.3f}", f"{alike / n:.3f}", f"{n / seconds:,.0f}",
            sep="\t", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
