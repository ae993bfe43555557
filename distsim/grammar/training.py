"""A grammar's rules without links -> the aligner that links them."""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import get_args

import numpy as np

from distsim.base.choices import Aligner
from distsim.base.errors import ParameterError
from distsim.base.parallel import ordered_map
from distsim.bitext.link_model import LinkModel
from distsim.corpus.lines import LineBlock, read_line_blocks
from distsim.grammar.alignment import RuleAligner, TrainingSample
from distsim.grammar.block import RuleBlock, parse_block
from distsim.grammar.formats import find_format


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """How links are learnt for rules without any.

    Arguments:
        aligner: `learnt`, or `evidence`: like words and gaps only.
        sample: at most so many rules are learnt from.

    >>> TrainingOptions(sample=1000).aligner
    'learnt'
    """

    aligner: Aligner = "learnt"
    sample: int = 20_000

    def __post_init__(self) -> None:
        if self.aligner not in get_args(Aligner):
            raise ParameterError(f"`aligner` {self.aligner!r}: choose learnt or evidence")
        TrainingSample(self.sample)  # refuses what cannot be


def learns(aligner: RuleAligner, training: TrainingOptions) -> bool:
    """Tell whether a grammar has to be read for links before it is scored."""
    return aligner.mode != "none" and aligner.learnt is None and training.aligner == "learnt"


def trained(
    path: str | Path,
    aligner: RuleAligner,
    training: TrainingOptions,
    grammar_format: str | None,
    jobs: int | None,
) -> tuple[RuleAligner, int | None]:
    """Return the aligner with a model, where rules need one, and how many it has seen."""
    if not learns(aligner, training):
        return aligner, None
    blocks = read_line_blocks(path)
    first = next(blocks, None)
    if first is None:
        return aligner, None
    known = find_format(grammar_format, first.text)

    def parsed(block: LineBlock) -> tuple[RuleBlock, np.ndarray]:
        rules = parse_block(block, known)
        return rules, aligner.wanted(rules)[1]

    sample = TrainingSample(training.sample)
    for rules, wanted in ordered_map(parsed, chain([first], blocks), jobs):
        if wanted.any():
            sample.add(rules, wanted)
    if not len(sample):
        return aligner, None
    return RuleAligner(aligner.mode, learnt=LinkModel(*sample.pairs(), jobs=jobs)), len(sample)
