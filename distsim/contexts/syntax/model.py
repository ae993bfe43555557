"""The syntactic model: its switches (families, kinds, window) and templates."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from distsim.base.arguments import check_types, in_range, one_of
from distsim.base.errors import ParameterError
from distsim.contexts.kernels import syntax as kernel
from distsim.contexts.syntax import templates
from distsim.contexts.syntax.templates import KINDS, Place, Template
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import hash_states

FAMILIES = (
    templates.NGRAM, templates.CONSTITUENT, templates.SLASHES, *templates.DEPENDENCIES,
    templates.HEAD,
)  # fmt: skip
WIDEST = 4  # the toolkit's own default; the thesis's text has 3
LONGEST = 8  # tokens of a phrase: three bits of a packed occurrence


@dataclass(frozen=True, kw_only=True)
class SyntaxModel:
    """Syntactic model: the families and kinds of features that a phrase has.

    Arguments:
        families: names out of FAMILIES; fewer families, fewer features and less time.
        kinds: of lex, lem, pos, ner: what tokens are named by.
        window: tokens on either side in which n-grams are features, 1 to 4.

    Raises:
        ParameterError: a name is not known, nothing is left, or the window is out of range.

    >>> SyntaxModel(families=("dep", "head"), window=2).kinds
    ('lex', 'lem', 'pos', 'ner')
    """

    name: ClassVar[str] = "syntax"
    families: tuple[str, ...] = FAMILIES
    kinds: tuple[str, ...] = KINDS
    window: int = 3

    def __post_init__(self) -> None:
        check_types(self)
        object.__setattr__(self, "families", _chosen("features", self.families, FAMILIES))
        object.__setattr__(self, "kinds", _chosen("kinds", self.kinds, KINDS))
        in_range(self.window, "window", 1, WIDEST)

    @cached_property
    def _placed(self) -> dict[str, dict[Place, int]]:
        """Where each template is, by the kernel's name for the array."""
        return {
            array: {place: number for number, (name, place, _) in self._numbered if name == array}
            for array in ("ngrams", "spans", "slashes", "arcs", "heads")
        }

    @cached_property
    def _numbered(self) -> list[tuple[int, tuple[str, Place, Template]]]:
        found: list[tuple[str, Place, Template]] = []
        if templates.NGRAM in self.families:
            found += [("ngrams", *t) for t in templates.ngram_templates(self.kinds, self.window)]
        if templates.CONSTITUENT in self.families:
            found += [("spans", *t) for t in templates.constituent_templates()]
        if templates.SLASHES in self.families:
            found += [("slashes", *t) for t in templates.slash_templates()]
        graphs = [name for name in templates.DEPENDENCIES if name in self.families]
        found += [("arcs", *t) for t in templates.dependency_templates(graphs, self.kinds)]
        if templates.HEAD in self.families:
            found += [("heads", *t) for t in templates.head_templates(self.kinds)]
        return list(enumerate(found))

    @cached_property
    def templates(self) -> list[Template]:
        """All templates; a feature's family, when it is weighed, is the number of its own."""
        return [template for _, (_, _, template) in self._numbered]

    def kernel_templates(self, root_text: int) -> kernel.Templates:
        """Return the templates as arrays for the kernel.

        Arguments:
            root_text: the number of the text of the root.
        """
        middles = [template.middle.encode() for template in self.templates]
        suffixes = [template.suffix.encode() for template in self.templates]
        pieces = [piece for pair in zip(middles, suffixes, strict=True) for piece in pair]
        ends = np.cumsum([0, *map(len, pieces)])
        prefixes = [template.prefix.encode() for template in self.templates]
        prefix_ends = np.cumsum([0, *map(len, prefixes)])
        shapes: dict[str, tuple[int, ...]] = {
            "ngrams": (2, len(KINDS), 2, self.window),
            "arcs": (len(templates.DEPENDENCIES), 2, 2, len(KINDS)),
            "spans": (1,),
            "slashes": (4,),
            "heads": (len(KINDS),),
        }
        arrays = {}
        for name, shape in shapes.items():
            numbers = np.full(shape, kernel.OFF, np.int16)
            for place, number in self._placed[name].items():
                numbers[place] = number
            arrays[name] = frozen(numbers)
        return kernel.Templates(
            **arrays,
            root=frozen(np.array([root_text], np.int32)),
            states=frozen(
                hash_states(
                    frozen(np.frombuffer(b"".join(prefixes), np.uint8)), frozen(prefix_ends)
                )
            ),
            text=frozen(np.frombuffer(b"".join(pieces), np.uint8)),
            offsets=frozen(np.stack([ends[:-1:2], ends[1::2], ends[2::2]], axis=1)),
        )

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a fingerprint."""
        return {
            "name": "syntax",
            "window": self.window,
            "families": list(self.families),
            "kinds": list(self.kinds),
        }

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "SyntaxModel":
        """Return the model that a manifest describes.

        Arguments:
            values: as `manifest` returns them.
        """
        return cls(
            families=tuple(values["families"]),
            kinds=tuple(values["kinds"]),
            window=values["window"],
        )


def _chosen(what: str, names: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in their canonical order.

    Raises:
        ParameterError: one is not known, or there are none.
    """
    for name in names:
        one_of(name, known, what)
    if not names:
        raise ParameterError(f"{what}: none chosen: choose of {', '.join(known)}")
    return tuple(name for name in known if name in names)
