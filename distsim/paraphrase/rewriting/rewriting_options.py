"""Limits of the search for rewritings, constraints on its result, weights and their files."""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from distsim.base.arguments import check_types, in_range, plain_number
from distsim.base.errors import InputError, ParameterError
from distsim.corpus.lines import read_lines
from distsim.corpus.sources import file_label, printable
from distsim.storage import open_output

MOST_TOKENS = 2000
LONGEST = 10  # times a sentence's words


@dataclass(frozen=True, kw_only=True)
class RewriteOptions:
    """Limits of the search for rewritings, and constraints on its result.

    Arguments:
        span: maximum number of tokens that a rule covers; higher allows larger reorderings and
            takes longer.
        pops: maximum number of combinations tried for a span in cube pruning (Chiang 2007); higher
            finds better sentences and takes longer.
        rules: maximum number of rules of a source side that are used, the best by their weights.
        ranked_again: number of a sentence's best rewritings that are ranked again by features
            of the whole sentence, where these have weights.
        looked_at: maximum number of rules of a source side that are scored, in the pack's order.
        deletes: whether sentences may be split, wordy phrases be said plainer, and words and
            constituents be deleted.
        length: maximum share of the sentence's words that is kept, 0 to 1, rounded down; None sets
            no limit.
        keep: words that must not be changed or deleted.
        avoid: words that must not be used.

    Raises:
        ParameterError: a value is outside its range.
    """

    span: int = 10
    pops: int = 50
    rules: int = 20
    looked_at: int = 100
    ranked_again: int = 50
    deletes: bool = True
    length: float | None = None
    keep: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_types(self)
        for name, low, high in (
            ("span", 1, 50), ("pops", 1, None), ("rules", 1, None), ("looked_at", 1, None),
            ("ranked_again", 1, None),
        ):  # fmt: skip
            in_range(getattr(self, name), f"`{name}`", low, high)
        if self.length is not None and not 0 < self.length <= LONGEST:
            raise ParameterError(
                f"`length` {self.length}: choose a share above 0, such as .7, {LONGEST} at most"
            )
        both = sorted(set(self.keep) & set(self.avoid))
        if both:
            raise ParameterError(f"{both[0]!r} is to be kept and to be avoided: choose one")

    @property
    def shortens(self) -> bool:
        """Whether fewer words than the sentence has are wanted."""
        return self.length is not None and self.length < 1

    def manifest(self) -> Mapping[str, Any]:
        """Return the settings as plain values."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
        }


SIMPLIFY, SHORTEN = "simplify", "shorten"  # what comes with the package


@dataclass(frozen=True)
class Weights:
    """Weights by feature name, 0 for features not named; higher scores are better.

    values: weight by feature name. notes: lines on what they were tuned on. file: path, for
    messages. lines: line of each in the file.

    >>> Weights.default().get("LM") > 0
    True
    """

    values: Mapping[str, float]
    _: KW_ONLY
    notes: tuple[str, ...] = ()
    file: str | None = None
    lines: Mapping[str, int] = field(default_factory=dict)

    def get(self, name: str) -> float:
        """Return the weight of a feature, 0 where it has none.

        Arguments:
            name: of the feature.
        """
        return self.values.get(name, 0.0)

    @classmethod
    def read(cls, path: str | Path) -> "Weights":
        """Return the weights of a file of lines `feature<TAB>weight`; lines with # are notes.

        Arguments:
            path: of the file.

        Raises:
            InputError: a line is something else, or names a feature twice.
        """
        values: dict[str, float] = {}
        lines: dict[str, int] = {}
        notes: list[str] = []
        for number, raw in read_lines(path):
            where = f"{file_label(path)}, line {number}"
            text = raw.decode(errors="replace").strip()
            if text.startswith("#"):
                notes.append(text.lstrip("# "))
                continue
            if not text:
                continue
            name, _, value = (part.strip() for part in text.rpartition("\t"))
            if not name:
                name, _, value = (part.strip() for part in text.rpartition(" "))
            weight = plain_number(value)
            if not name or weight is None:
                raise InputError(f"{where}: {text!r} is no weight: write feature<TAB>number")
            if name in values:
                raise InputError(
                    f"{where}: {name} has a weight already (line {lines[name]}): leave one out"
                )
            values[name], lines[name] = weight, number
        if not values:
            raise InputError(f"{file_label(path)}: has no weights: write lines feature<TAB>number")
        return cls(values, notes=tuple(notes), file=file_label(path), lines=lines)

    @classmethod
    def default(cls, name: str = SIMPLIFY) -> "Weights":
        """Return the default weights of the package.

        Arguments:
            name: SIMPLIFY, or SHORTEN for --length.
        """
        with_data = files("distsim") / "data" / "weights" / f"{name}.weights"
        read = cls.read(str(with_data))
        return cls(read.values, notes=read.notes)

    def write(self, path: str | Path) -> None:
        """Write the notes, then a line for each weight in order of the names.

        Arguments:
            path: of the file.
        """
        text = "".join(f"# {printable(note)}\n" for note in self.notes)
        text += "".join(
            f"{name}\t{self.values[name]:.6g}\n"
            for name in sorted(self.values)
            if self.values[name] != 0.0
        )
        with open_output(path) as out:
            out.write(text.encode())

    def require(self, known: Iterable[str], owner: str) -> None:
        """Check that all features exist; weights of the package may name others.

        Arguments:
            known: names of features that exist.
            owner: what has these features, for the message.

        Raises:
            InputError: it names file, line and feature.
        """
        if self.file is None:
            return
        known_names = set(known)
        for name in self.values:
            if name not in known_names:
                raise InputError(
                    f"{self.file}, line {self.lines.get(name, 0)}: {name} is no feature of {owner} "
                    "nor of sentences: remove the line, or name the grammar it was tuned with"
                )
