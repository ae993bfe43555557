"""Settings of signatures, and their resolution into a plan for one text."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

from distsim.base.arguments import SignPreset, check_types, in_range, one_of
from distsim.base.errors import IncompatibleError, ParameterError
from distsim.base.settings import presets
from distsim.contexts.ngram import NgramModel
from distsim.contexts.sources.source import CountedText
from distsim.contexts.syntax.model import SyntaxModel
from distsim.contexts.weights import VectorModel, Weigher, Weighting
from distsim.corpus.inflections import chosen_inflections
from distsim.signatures.composition import Composer, Composition, PartVectors
from distsim.signatures.projections.learn import learn_projection
from distsim.signatures.projections.projection import (
    CHECKSUM_KEY,
    GAUSSIAN,
    ROTATION,
    SPECTRAL,
    Projection,
)
from distsim.signatures.projections.random_projections import GaussianProjection, learn_rotation
from distsim.signatures.projections.training import Learn, Learning, Training
from distsim.signatures.signer import Signer
from distsim.storage import checksum_of_settings


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
        settings_of_parts = {
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
        return {name.replace("_", "-"): _shown(value) for name, value in settings_of_parts.items()}

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


FEWEST_BITS, MOST_BITS = 64, 1024
_MODELS: dict[str, Any] = {model.name: model for model in (NgramModel, SyntaxModel, VectorModel)}


@dataclass(frozen=True)
class ResolvedRecipe:
    """A recipe applied to one text: all that turns counted contexts into bits.

    Attributes:
        weigher: computes the weights of counted features.
        projection: vectors of features.
        composition: how phrases are composed of their words; None where they are not.
        fingerprint: of the table, without its composition.
    """

    weigher: Weigher
    projection: Projection
    composition: Composition | None
    fingerprint: Fingerprint

    def signer(self, parts: PartVectors | None = None) -> Signer:
        """Return the signer of batches of phrases.

        Arguments:
            parts: vectors of the words of which phrases are composed; where None phrases have
                the vectors of their own contexts.
        """
        centre, composer = self.projection.centre, None
        if centre is not None:
            composer = Composer(centre, self.composition, parts)
        return Signer(self.weigher, self.projection, composer)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a phrase's counted contexts become its bits.

    Arguments:
        model: which contexts: an NgramModel, a SyntaxModel for annotated text, or a VectorModel.
        weighting: how counts become weights.
        projection: `gaussian`, random vectors from a pool, or `spectral`, learned ones.
        n_bits: 64 to 1024, a multiple of 64; the error of a similarity falls with its root.
        seed: of the Gaussian pool, or of the projection that is learned.
        learning: how a learned projection is learned.
        composition: mix a phrase's vector with those of its words; needs a learned projection.

    Raises:
        ParameterError: a setting is of the wrong type, out of range, or does not go with another.

    >>> Recipe(weighting=Weighting("log"), n_bits=128).model
    NgramModel(window=1, by_side=False, narrow=0)
    """

    model: NgramModel | SyntaxModel | VectorModel = field(default_factory=NgramModel)
    weighting: Weighting = field(default_factory=Weighting)
    projection: str = GAUSSIAN
    n_bits: int = 256
    seed: int = 1
    learning: Learning = field(default_factory=Learning)
    composition: Composition | None = None

    def __post_init__(self) -> None:
        check_types(self)
        wanted = {
            "model": (NgramModel, SyntaxModel, VectorModel),
            "weighting": (Weighting,),
            "n_bits": (int,),
            "seed": (int,),
            "learning": (Learning,),
            "composition": (Composition, type(None)),
        }
        for name, types in wanted.items():
            value = getattr(self, name)
            if not isinstance(value, types) or isinstance(value, bool):
                names = " or ".join(type_.__name__ for type_ in types)
                raise ParameterError(
                    f"`{name}` {value!r}: give {names.replace('NoneType', 'None')}"
                )
        find_kind(self.projection)
        if self.composition is not None and not self.is_learned:
            raise ParameterError(
                "phrases are composed in a learned space only: choose the `projection` spectral, "
                "or no composition"
            )
        of_vectors = isinstance(self.model, VectorModel)
        if of_vectors != (self.projection == ROTATION) or (of_vectors and not self.is_raw):
            raise ParameterError(
                "a VectorModel goes with the `weights` raw and the `projection` rotation, and that "
                "with no other model: start from VECTORS"
            )
        if self.n_bits % 64 or not FEWEST_BITS <= self.n_bits <= MOST_BITS:
            raise ParameterError(
                f"`n_bits` {self.n_bits}: choose a multiple of 64 from {FEWEST_BITS} to {MOST_BITS}"
            )
        in_range(self.seed, "`seed`", 0)

    def resolve(
        self, text: CountedText, learned: Callable[[Training], Projection]
    ) -> ResolvedRecipe:
        """Return the plan of signing a text; nothing reads the recipe after it.

        Arguments:
            text: that is to be signed.
            learned: finds or learns the projection of a training set.
        """
        weigher = Weigher(self.weighting, text.marginals)
        kind = find_kind(self.projection)
        if kind.make is not None:
            projection = kind.make(self.n_bits, self.seed)
        else:
            projection = learned(self.training(text))
        fingerprint = Fingerprint(
            text.model, weigher.manifest, text.normaliser.manifest(), projection.manifest()
        )
        composition = self.composition
        if composition is not None:
            composition = composition.in_language(chosen_inflections(composition.inflections, text))
        return ResolvedRecipe(weigher, projection, composition, fingerprint)

    def training(self, text: CountedText) -> Training:
        """Return the training set of the projection, with how it is learned.

        Arguments:
            text: from which it is learned.

        Raises:
            ParameterError: the projection is not learned.
        """
        learn = find_kind(self.projection).learn
        if learn is None:
            raise ParameterError(
                f"`projection` {self.projection!r} is not learned: choose another recipe"
            )
        weigher = Weigher(self.weighting, text.marginals)
        return Training(learn, text, weigher, self.learning, self.n_bits, self.seed)

    @property
    def is_learned(self) -> bool:
        """Whether the projection is learned from the text."""
        return find_kind(self.projection).learn is not None

    @property
    def is_raw(self) -> bool:
        """Whether the counts are used as weights without a weighting scheme."""
        return self.weighting.scheme == "raw"

    @classmethod
    def from_fingerprint(cls, fingerprint: Fingerprint) -> "Recipe":
        """Return the recipe behind a table; how its projection was learned is not in there.

        Arguments:
            fingerprint: of the table.
        """
        projection, composition = fingerprint.projection, fingerprint.composition
        model: dict[str, Any] = fingerprint.model
        return cls(
            model=_MODELS[model["name"]].from_manifest(model),
            weighting=fingerprint.weighting(),
            projection=projection["kind"],
            n_bits=projection["bits"],
            seed=projection["seed"],
            composition=Composition.from_manifest(composition) if composition else None,
        )


# What `distsim sign --preset NAME` starts from: data/recipes/sign/NAME.toml.
PRESETS = presets("sign", get_args(SignPreset), Recipe())
DEFAULT = PRESETS["learned"]
SYNTAX = PRESETS["syntax"]
VECTORS = PRESETS["vectors"]
# By the model that a source names, where nothing is said.
USUAL: dict[Any, Recipe] = {type(recipe.model): recipe for recipe in (DEFAULT, SYNTAX, VECTORS)}
