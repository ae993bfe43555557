"""Trains the link model of an aligner on the rules of a grammar that have no links."""

from itertools import chain
from pathlib import Path

import numpy as np

from distsim.base.parallel import ordered_map
from distsim.bitext.link_model import LinkModel
from distsim.corpus.lines import LineBlock, read_line_blocks
from distsim.grammar.alignment import RuleAligner, TrainingSample
from distsim.grammar.block import RuleBlock, parse_block
from distsim.grammar.formats import find_format


def trained(
    path: str | Path, aligner: RuleAligner, grammar_format: str | None, jobs: int | None
) -> tuple[RuleAligner, int | None]:
    """Return the aligner with a link model, and the number of rules that it was trained on.

    The aligner as it is, and None, where it needs no model or no rule lacks links.

    Arguments:
        path: a grammar. grammar_format: a name in distsim.grammar.formats.FORMATS; inferred from
            the first lines where None. jobs: threads, all cores where None.
        aligner: aligner of rules without links.

    Raises:
        InputError: the grammar cannot be read.
        ParameterError: there is no such format.
    """
    if not aligner.needs_training:
        return aligner, None
    blocks = read_line_blocks(path)
    first = next(blocks, None)
    if first is None:
        return aligner, None
    known = find_format(grammar_format, first.text)

    def parsed(block: LineBlock) -> tuple[RuleBlock, np.ndarray]:
        rules = parse_block(block, known)
        return rules, aligner.wanted(rules)[1]

    sample = TrainingSample(aligner.training.sample)
    for rules, wanted in ordered_map(parsed, chain([first], blocks), jobs):
        if wanted.any():
            sample.add(rules, wanted)
    if not len(sample):
        return aligner, None
    model = LinkModel(*sample.pairs(), jobs=jobs)
    return RuleAligner(aligner.mode, learned=model, training=aligner.training), len(sample)
