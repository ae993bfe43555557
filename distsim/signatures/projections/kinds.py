"""The table of projections: how each is made, or learned from the text."""

from collections.abc import Callable
from typing import NamedTuple

from distsim.base.arguments import one_of
from distsim.signatures.projections.learn import learn_projection
from distsim.signatures.projections.projection import GAUSSIAN, ROTATION, SPECTRAL, Projection
from distsim.signatures.projections.random_projections import GaussianProjection, learn_rotation
from distsim.signatures.projections.training import Learn


class ProjectionKind(NamedTuple):
    """A kind of projection; one of `make` and `learn` is given.

    Attributes:
        make: (n_bits, seed) -> the projection, the same for any text.
        learn: writes what it learns from a text as an artifact, as
            distsim.signatures.projections.learn.learn_projection does.
    """

    make: Callable[[int, int], Projection] | None = None
    learn: Learn | None = None


KINDS = {
    GAUSSIAN: ProjectionKind(make=GaussianProjection),
    SPECTRAL: ProjectionKind(learn=learn_projection),
    ROTATION: ProjectionKind(learn=learn_rotation),
}


def find_kind(name: str) -> ProjectionKind:
    """Return the kind of projection of this name.

    Raises:
        ParameterError: there is none; those that there are are named.
    """
    one_of(name, KINDS, "`projection`")
    return KINDS[name]
