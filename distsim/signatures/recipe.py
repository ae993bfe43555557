"""The settings that make a signature, and the fingerprint that tells whether two compare."""

from dataclasses import dataclass, field
from typing import Any

from distsim.contexts.ngram import family_names, is_sides
from distsim.contexts.weights import Weighting
from distsim.errors import IncompatibleError, ParameterError
from distsim.signatures.composition import Composition
from distsim.storage import checksum_of_settings

FEWEST_BITS, MOST_BITS = 64, 1024


@dataclass(frozen=True)
class Recipe:
    """What goes into the bits of an n-gram signature.

    Arguments:
        window: tokens on either side whose words are features, 1 to 3; 1 to 10 with `sides`.
        weighting: how counts become weights.
        n_bits: 64 to 1024, a multiple of 64; the error of a similarity falls with its root.
        seed: of the Gaussian pool, or of the projection that is learnt.
        sides: a family of features for either side and not for every place; see contexts.ngram.
        learnt: project by a learnt projection and not by the Gaussian pool.
        composition: mix a phrase's vector with those of its words; needs a learnt projection.
    """

    window: int = 1
    weighting: Weighting = field(default_factory=Weighting)
    n_bits: int = 256
    seed: int = 1
    sides: bool = False
    learnt: bool = False
    composition: Composition | None = None

    def __post_init__(self) -> None:
        family_names(self.window, self.sides)
        if self.composition is not None and not self.learnt:
            raise ParameterError(
                "phrases are composed in a learnt space only: choose the projection spectral, "
                "or no composition"
            )
        if self.n_bits % 64 or not FEWEST_BITS <= self.n_bits <= MOST_BITS:
            raise ParameterError(
                f"{self.n_bits} bits: choose a multiple of 64 from {FEWEST_BITS} to {MOST_BITS}"
            )
        if self.seed < 0:
            raise ParameterError(f"seed {self.seed}: choose 0 or more")

    @classmethod
    def from_fingerprint(cls, fingerprint: dict[str, Any]) -> "Recipe":
        """Return the recipe behind the fingerprint of an n-gram table."""
        projection = fingerprint["projection"]
        return cls(
            fingerprint["model"]["window"],
            Weighting.from_manifest(fingerprint["weights"]),
            projection["bits"],
            projection["seed"],
            is_sides(fingerprint["model"]),
            projection["kind"] == "spectral",
            Composition.from_manifest(fingerprint["composition"])
            if "composition" in fingerprint
            else None,
        )


# `learnt`: what agreed best with people (bench/people.py). `thesis`: 5.2.1, 5.2.3.
PRESETS = {
    "learnt": Recipe(
        window=5,
        weighting=Weighting("ppmi", subsample=1e-4, discount=1.5),
        sides=True,
        learnt=True,
        composition=Composition(),
    ),
    "thesis": Recipe(),
}


def make_fingerprint(
    model: dict[str, Any],
    weighting: Weighting,
    marginals_checksum: str,
    normaliser: dict[str, Any],
    projection: dict[str, Any],
    composition: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return everything on which the bits of a phrase depend beside its counts."""
    fingerprint = {
        "model": model,
        "weights": weights_manifest(weighting, marginals_checksum),
        "normaliser": normaliser,
        "projection": projection,
    }
    return fingerprint if composition is None else fingerprint | {"composition": composition}


def weights_manifest(weighting: Weighting, marginals_checksum: str) -> dict[str, Any]:
    """Return what a fingerprint keeps of the weights: with the marginals, where they matter."""
    weights = weighting.manifest()
    if weighting.uses_marginals:
        weights["marginals"] = marginals_checksum
    return weights


def short_fingerprint(fingerprint: dict[str, Any]) -> str:
    """Return a name for a fingerprint, 12 hexadecimal digits."""
    return checksum_of_settings(fingerprint)[:12]


def require_same(a: dict[str, Any], name_a: str, b: dict[str, Any], name_b: str) -> None:
    """Refuse to compare signatures that were made differently.

    Raises:
        IncompatibleError: the fingerprints differ; both and the first difference are named.
    """
    difference = _first_difference(a, b)
    if difference:
        raise IncompatibleError(
            f"{name_a} (fingerprint {short_fingerprint(a)}) and {name_b} (fingerprint "
            f"{short_fingerprint(b)}) were not made alike: {difference}; "
            "sign both with the same settings"
        )


def _first_difference(a: Any, b: Any, path: str = "") -> str:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            where = f"{path}.{key}" if path else key
            difference = _first_difference(a.get(key), b.get(key), where)
            if difference:
                return difference
        return ""
    return "" if a == b else f"{path} is {a!r} and {b!r}"
