"""What came out of one draw of training data <-> a file, so that no draw is run twice."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ceilings import Ceilings

from distsim.storage.files import open_output


@dataclass(frozen=True)
class Outcome:
    """What came out of one system: the test set's translations, scores, how many rules are new."""

    translations: list[str]
    dev: float
    recall: float
    rules: int


@dataclass(frozen=True)
class Draw:
    """What came out of all systems, by their names.

    unknown: test tokens that the training data do not know. ceilings: of the augmented tables of
    words, by the names of their systems.
    """

    unknown: int
    outcomes: dict[str, Outcome]
    ceilings: dict[str, Ceilings]


def write_draw(draw: Draw, settings: Mapping[str, object], path: Path) -> None:
    """Write a draw and the settings that it was run with."""
    path.parent.mkdir(parents=True, exist_ok=True)
    told = {"settings": dict(settings), **asdict(draw)}
    with open_output(path) as out:
        out.write(json.dumps(told, ensure_ascii=False, indent=1).encode())


def read_draw(path: Path, settings: Mapping[str, object], systems: Collection[str]) -> Draw | None:
    """Return a draw that was written, none if there is none or one of the systems is not in it.

    Raises:
        SystemExit: it was run with other settings.
    """
    if not path.exists():
        return None
    told = json.loads(path.read_text(encoding="utf-8"))
    other = [name for name, value in settings.items() if told["settings"].get(name) != value]
    if other:
        raise SystemExit(f"{path}: was run with another {', '.join(other)}: take another folder")
    if not set(systems) <= set(told["outcomes"]):
        return None
    outcomes = {name: Outcome(**values) for name, values in told["outcomes"].items()}
    bounds = {name: Ceilings(*values) for name, values in told["ceilings"].items()}
    return Draw(told["unknown"], outcomes, bounds)
