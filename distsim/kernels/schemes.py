"""Weighting schemes: names, codes in kernels, and the arrays and settings that they need.

A new scheme is an entry here and its line in kernels.contexts.weight (CONTRIBUTING.md).
"""

from typing import NamedTuple

RAW, LOG, PPMI, LLR, LOG_LLR = range(5)


class Scheme(NamedTuple):
    """A weighting scheme: its code and the statistics it needs.

    code: a number of its own. marginals: a weight depends on how often features occur in the
    corpus. probabilities: on ln P(f) too, and on the share of its counts with which a feature
    counts; 0 where ln(count / (row P(f))) is no larger than the shift. settings: the options of
    Weighting that matter to it, in the order of manifests.
    """

    code: int
    marginals: bool = False
    probabilities: bool = False
    settings: tuple[str, ...] = ()


SCHEMES = {
    "raw": Scheme(RAW),
    "log": Scheme(LOG),
    "ppmi": Scheme(
        PPMI,
        marginals=True,
        probabilities=True,
        settings=("alpha", "shift", "subsample", "discount", "min_weight"),
    ),
    "llr": Scheme(LLR, marginals=True),
    "log-llr": Scheme(LOG_LLR, marginals=True),
}
