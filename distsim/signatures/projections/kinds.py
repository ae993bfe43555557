"""The table of projections: name -> how one is made, or learnt from the text."""

from collections.abc import Callable
from typing import NamedTuple

from distsim.base.errors import ParameterError
from distsim.signatures.projections.gaussian import GaussianProjection
from distsim.signatures.projections.learn import TaughtWords, learn_projection
from distsim.signatures.projections.projection import (
    GAUSSIAN,
    ROTATION,
    SPECTRAL,
    Projection,
)
from distsim.signatures.projections.rotation import learn_rotation


class Kind(NamedTuple):
    """A kind of projection; one of `make` and `learn` is there.

    make: (n_bits, seed) -> the projection, the same for any text. learn: writes what it learns
    from a text as an artifact, as distsim.signatures.projections.learn.learn_projection does, and
    returns the words it learnt from, or None.
    """

    make: Callable[[int, int], Projection] | None = None
    learn: Callable[..., TaughtWords | None] | None = None


KINDS = {
    GAUSSIAN: Kind(make=GaussianProjection),
    SPECTRAL: Kind(learn=learn_projection),
    ROTATION: Kind(learn=learn_rotation),
}


def find_kind(name: str) -> Kind:
    """Return the kind of this name.

    Raises:
        ParameterError: there is none; those that there are are named.
    """
    if name not in KINDS:
        raise ParameterError(f"`projection` {name!r}: choose one of {', '.join(KINDS)}")
    return KINDS[name]
