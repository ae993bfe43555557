"""Fingerprint of a table: its settings, by which tables are compared, in one line."""

from dataclasses import dataclass
from typing import Any

from distsim.base.errors import IncompatibleError
from distsim.contexts.weights import Weighting
from distsim.signatures.projections.projection import CHECKSUM_KEY
from distsim.storage import checksum_of_settings


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """Everything on which the bits of a phrase depend beside its counts.

    Attributes:
        model: the context model's name and settings.
        weights: the scheme with its settings, and the checksum of the marginals where they matter.
        normaliser: how words were normalised.
        projection: its kind, bits, seed and checksum.
        composition: how phrases were composed, and the checksum of their words' vectors; None
            where they were not.

    `str` gives all of it in one line, `short` a name of 12 hexadecimal digits.

    >>> table.fingerprint.short == str(table.fingerprint).rpartition(":")[2]
    True
    >>> str(table.fingerprint).split("|")[:3]
    ['model:ngram', 'window:1', 'families:l1,r1']
    """

    model: dict[str, Any]
    weights: dict[str, Any]
    normaliser: dict[str, Any]
    projection: dict[str, Any]
    composition: dict[str, Any] | None = None

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "Fingerprint":
        """Return the fingerprint that a table's manifest keeps.

        Arguments:
            values: as `manifest` returns them.
        """
        return cls(
            dict(values["model"]),
            dict(values["weights"]),
            dict(values["normaliser"]),
            dict(values["projection"]),
            values.get("composition"),
        )

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a manifest."""
        values = {
            "model": self.model,
            "weights": self.weights,
            "normaliser": self.normaliser,
            "projection": self.projection,
        }
        return values if self.composition is None else values | {"composition": self.composition}

    @property
    def short(self) -> str:
        """A name, 12 hexadecimal digits."""
        return checksum_of_settings(self.manifest())[:12]

    @property
    def n_bits(self) -> int:
        """Bits of a signature."""
        return int(self.projection["bits"])

    @property
    def is_learned(self) -> bool:
        """Whether bits were cut in a space that was learned."""
        return CHECKSUM_KEY in self.projection

    @property
    def is_syntactic(self) -> bool:
        """Whether contexts come from annotation."""
        return bool(self.model["name"] == "syntax")

    @property
    def is_of_vectors(self) -> bool:
        """Whether phrases were made of word vectors from elsewhere."""
        return bool(self.model["name"] == "vectors")

    def weighting(self) -> Weighting:
        """Return how counts became weights."""
        return Weighting.from_manifest(self.weights)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fingerprint) and self.manifest() == other.manifest()

    def __hash__(self) -> int:
        return hash(self.short)

    def __str__(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self.fields().items())

    def fields(self) -> dict[str, str]:
        """Return every setting as text, by name, and the short name last."""
        composition = {f"compose-{name}": v for name, v in (self.composition or {}).items()}
        found = {
            "model": self.model["name"],
            **{name: value for name, value in self.model.items() if name != "name"},
            "weights": self.weights["scheme"],
            **{name: value for name, value in self.weights.items() if name != "scheme"},
            **self.normaliser,
            "projection": self.projection["kind"],
            **{name: value for name, value in self.projection.items() if name != "kind"},
            **composition,
            "fingerprint": self.short,
        }
        return {name.replace("_", "-"): _shown(value) for name, value in found.items()}

    def require_same(self, other: "Fingerprint", name: str, other_name: str) -> None:
        """Refuse to compare signatures that were made differently.

        Arguments:
            other: the other fingerprint.
            name: what error messages call the table of this one.
            other_name: what they call the table of the other.

        Raises:
            IncompatibleError: the fingerprints differ; both and the first difference are named.
        """
        difference = _first_difference(self.manifest(), other.manifest())
        if difference:
            raise IncompatibleError(
                f"{name} (fingerprint {self.short}) and {other_name} (fingerprint {other.short}) "
                f"were not made alike: {difference}; sign both with the same settings"
            )


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _first_difference(a: Any, b: Any, path: str = "") -> str:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            where = f"{path}.{key}" if path else key
            difference = _first_difference(a.get(key), b.get(key), where)
            if difference:
                return difference
        return ""
    return "" if a == b else f"{path} is {a!r} and {b!r}"
