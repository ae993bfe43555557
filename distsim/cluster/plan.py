"""Plans a run: the parts of the corpus, the ranges of hashes, and the folders of the run.

The plan is one file in a folder that all machines share. Everything else in there is named after
its stage and the number of its part or range, so that the next run with the same plan continues a
run that was killed.

    SHARED/text-CHECKSUM/   the parts' indexes, for every table of this text
    SHARED/sign-CHECKSUM/   plan.json, what the stages wrote, what they report (done/)

Settings (nested frozen dataclasses) are converted to and from JSON values: a dataclass becomes
{"is": its name, its fields}; the types of fields say which names there can be. So a recipe travels
whatever its settings are.
"""

import dataclasses
import json
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from distsim.base.errors import ArtifactError, InputError, ParameterError
from distsim.contexts.ngram import NgramModel
from distsim.contexts.phrase_store import Selection
from distsim.corpus.inflections import AUTO, Inflections
from distsim.corpus.sources import (
    FileState,
    Source,
    file_state,
    find_texts,
    is_address,
    require_files,
    require_no_secrets,
)
from distsim.indexes.build import NEAR, IndexOptions
from distsim.signatures.recipe import DEFAULT, Recipe
from distsim.storage import checksum_of_settings
from distsim.storage.files import raw_bytes
from distsim.storage.resumption import replacing

_HEAD_BYTES = 4096


def save(path: Path, values: np.ndarray) -> None:
    """Write an array, whole or not at all.

    Arguments:
        path: of the file, in numpy's format.
    """
    values = np.ascontiguousarray(values)
    with replacing(path) as part, open(part, "wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(values))
        file.write(raw_bytes(values))  # np.save does not say what a full disk is


def mapped(path: Path) -> np.ndarray:
    """Return a memory-mapped array; processes of one machine share its pages."""
    if path.stat().st_size <= _HEAD_BYTES:  # perhaps nothing behind the head, which has no map
        small: np.ndarray = np.load(path)
        return small
    array = np.load(path, mmap_mode="r")
    plain: np.ndarray = np.ndarray(array.shape, array.dtype, buffer=array)
    plain.flags.writeable = False
    return plain


def to_plain(value: Any) -> Any:
    """Return the JSON value of a setting.

    Arguments:
        value: a setting.

    >>> from distsim import Selection
    >>> to_plain(Selection(min_count=2))
    {'is': 'Selection', 'min_count': 2, 'max_length': 4, 'max_phrases': None}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
        return {"is": type(value).__name__} | fields
    if isinstance(value, list | tuple):
        return [to_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {name: to_plain(entry) for name, entry in value.items()}
    return value


def from_plain(kind: Any, value: Any) -> Any:
    """Return the value of type `kind` from its JSON value; the inverse of `to_plain`.

    Arguments:
        kind: a dataclass or another type that `to_plain` can take.
        value: as json.loads returns it.

    Raises:
        ArtifactError: it is of another version of distsim.

    >>> from distsim import Selection
    >>> from_plain(Selection, to_plain(Selection(max_length=2))).max_length
    2
    """
    if isinstance(value, dict) and "is" in value:
        kind_named = {dataclass.__name__: dataclass for dataclass in _dataclasses_in(kind)}.get(
            value["is"]
        )
        if kind_named is not None:
            hints = typing.get_type_hints(kind_named)
            values = {name: entry for name, entry in value.items() if name != "is"}
            if values.keys() <= hints.keys():
                return kind_named(
                    **{name: from_plain(hints[name], entry) for name, entry in values.items()}
                )
        raise ArtifactError(
            f"the plan holds the settings {value['is']!r} of another version of distsim: start "
            "anew with another folder"
        )
    if isinstance(value, list):
        inside = typing.get_args(kind)
        read = [from_plain(inside[0] if inside else Any, entry) for entry in value]
        return tuple(read) if tuple in (kind, typing.get_origin(kind)) else read
    return value


def _dataclasses_in(kind: Any) -> list[type]:
    if dataclasses.is_dataclass(kind):
        return [typing.cast(type, kind)]
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return [
            argument for inside in typing.get_args(kind) for argument in _dataclasses_in(inside)
        ]
    return []


PLAN = "plan.json"
_VERSION = 3
_PACKED = {".gz": 3, ".bz2": 4, ".xz": 4, ".zst": 3}
BYTES_A_TOKEN = 5
_RANGE_TOKENS = 2_000_000
_FEWEST_PARTS = 4  # where there are as many files
_MOST_RANGES = 4096
_SPARE_BITS = 8
_FEWEST_KEY_BITS = 24


@dataclass(frozen=True, kw_only=True)
class Division:
    """How the work is divided into tasks.

    Arguments:
        memory: bytes that a task holds at most for what it sorts.
        part_bytes: a task reads consecutive files until they have this many bytes together, or
            a quarter of all bytes, so that small texts use several executors, too.
        n_ranges: ranges of hashes; by the size of the text where None.

    >>> Division(n_ranges=64).memory
    268435456
    """

    memory: int = 256 << 20
    part_bytes: int = 16 << 20
    n_ranges: int | None = None


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Texts, recipe and division of a run.

    Arguments:
        recipe: how contexts become bits; the preset `learned` where None.
        selection: which phrases are signed.
        index: how text becomes an index.
        division: how the work is divided into tasks.
        finder: whether the finder of substitutes is stored beside a learned table.
        inflections: of the finder: `auto`, by the language of the text, one that ships, `none`,
            or a file of rules, which the driver reads.

    >>> PlanOptions(division=Division(n_ranges=64)).selection.min_count
    5
    """

    recipe: Recipe | None = None
    selection: Selection = field(default_factory=Selection)
    index: IndexOptions = field(default_factory=IndexOptions)
    division: Division = field(default_factory=Division)
    finder: bool = True
    inflections: str = AUTO


@dataclass(frozen=True)
class TextPart:
    """Consecutive files that one task reads.

    Arguments:
        paths: of the files. names: what concordances show. size: of all files, in bytes.
        stamp: checksum of the files' sizes and times.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    size: int
    stamp: str

    @property
    def unpacked_size(self) -> int:
        """Bytes of text in the files, estimated from their sizes where they are compressed."""
        by_kind = [_PACKED.get(Path(path).suffix.lower(), 1) for path in self.paths]
        return self.size * max(by_kind, default=1)

    @property
    def sources(self) -> list[Source]:
        """The files.

        Raises:
            InputError: one has changed since the run was planned.
        """
        sources = [Source(name, path) for name, path in zip(self.names, self.paths, strict=True)]
        if self.stamp != _stamp(list(map(file_state, sources))):
            raise InputError(
                f"{self.paths[0]}{', …' if len(self.paths) > 1 else ''}: was changed since the run "
                "was planned: plan it again"
            )
        return sources


@dataclass(frozen=True)
class Plan:
    """Everything on which a run depends.

    Arguments:
        parts: in order of the corpus.
        recipe: how contexts become bits.
        selection: which phrases are signed.
        options: how text becomes an index.
        n_ranges: the number of ranges of hashes.
        key_bits: leading bits of a phrase's hash by which phrases are counted; phrases that share
            them are separated later.
        memory_bytes: that a task holds at most for what it sorts.
        text: checksum of the parts with their sizes and times.
        inflections: of the finder of substitutes: a name or a file of rules.
        rules: checksum of these; empty where the text chooses them.
        finder: whether there will be one.
    """

    parts: tuple[TextPart, ...]
    recipe: Recipe
    selection: Selection
    options: IndexOptions
    n_ranges: int
    key_bits: int
    memory_bytes: int
    text: str
    inflections: str
    rules: str
    finder: bool

    @property
    def model(self) -> NgramModel:
        """The model of contexts: which words beside a phrase are features."""
        assert isinstance(self.recipe.model, NgramModel)
        return self.recipe.model

    @property
    def name(self) -> str:
        """The checksum that identifies the run, 12 hexadecimal digits."""
        return checksum_of_settings([_VERSION, to_plain(replace(self, memory_bytes=0))])[:12]

    def folder(self, shared: Path) -> Path:
        """Return the folder of the run inside the shared folder.

        Arguments:
            shared: path of the folder that all machines share.
        """
        return shared / f"sign-{self.name}"


def make_plan(
    paths: Sequence[str | Path],
    options: PlanOptions | None = None,
    *,
    written: Sequence[str | Path] = (),
) -> Plan:
    """Return the plan by which a corpus is signed.

    Arguments:
        paths: text files or folders of them, or their addresses `scheme://...`, in the order of
            the corpus. All machines see them under the same paths.
        options: what is signed, and how; the defaults where None.
        written: files and folders that the run writes; they are left out of folders of text.

    Raises:
        InputError: a file is missing, empty of bytes or looks like something else, or
            standard input is named.
        ParameterError: the recipe does not count words beside phrases.
    """
    how = options or PlanOptions()
    selection = how.selection
    part_bytes = how.division.part_bytes
    recipe = how.recipe or DEFAULT
    _require_possible(recipe, how.index)
    require_files(paths)
    located = [file if is_address(file) else Path(file).resolve() for file in paths]
    sources = find_texts(located, how.index.as_is, written)
    require_no_secrets(sources)
    for source in sources:
        if not source.path.isprintable():
            raise InputError(
                f"{source.label!a}: a cluster needs names of printable UTF-8: rename the file"
            )
    states = list(map(file_state, sources))
    parts = tuple(_text_parts(sources, states, part_bytes))
    known = [
        # By `changed` a text that was changed and given its old time again is told, too.
        [source.path, *state]
        for source, state in zip(sources, states, strict=True)
    ]
    n_tokens = sum(part.unpacked_size for part in parts) // BYTES_A_TOKEN + 1
    has_finder = how.finder and recipe.is_learned and recipe.composition is not None
    named = how.inflections if has_finder else AUTO
    key_bits = max(_FEWEST_KEY_BITS, n_tokens.bit_length() + 2 + _SPARE_BITS)
    if selection.max_phrases is not None or key_bits > 40:
        key_bits = 64
    return Plan(
        parts, recipe, selection, how.index,
        how.division.n_ranges or min(_MOST_RANGES, 1 + n_tokens // _RANGE_TOKENS), key_bits,
        how.division.memory, checksum_of_settings([known, part_bytes, how.index.manifest()]),
        named, "" if named == AUTO else Inflections.open(named).checksum, has_finder,
    )  # fmt: skip


def write_plan(plan: Plan, shared: Path) -> Path:
    """Write a plan into its folder, where there is none yet, and return the folder.

    Arguments:
        plan: the work.
        shared: folder that all machines see.
    """
    folder = plan.folder(shared)
    if not (folder / PLAN).exists():
        with replacing(folder / PLAN) as part:
            part.write_text(json.dumps(to_plain(plan)), encoding="utf-8")
    return folder


def read_plan(folder: Path) -> Plan:
    """Return the plan of a run's folder.

    Arguments:
        folder: folder of the run.

    Raises:
        ArtifactError: there is none, or it is of another version.
    """
    try:
        values = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ArtifactError(
            f"{folder}: no plan can be read there ({error}): `work` must be a folder that every "
            "machine sees under this name"
        ) from None
    plan = from_plain(Plan, values)
    if not isinstance(plan, Plan) or plan.name != folder.name.removeprefix("sign-"):
        raise ArtifactError(
            f"{folder}: its plan is of another version of distsim: the driver and all workers "
            "need the same"
        )
    return plan


def _require_possible(recipe: Recipe, options: IndexOptions) -> None:
    model = recipe.model
    if not isinstance(model, NgramModel):
        raise ParameterError(
            "a cluster signs words beside phrases only: use a recipe of an NgramModel"
        )
    if options.dedup in NEAR:
        raise ParameterError(
            f"`dedup` {options.dedup} compares all text on one machine: choose exact or off on a "
            "cluster"
        )


def _stamp(states: Sequence[FileState]) -> str:
    return checksum_of_settings([[state.size, state.version] for state in states])


def _text_parts(sources: list[Source], states: list[FileState], part_bytes: int) -> list[TextPart]:
    total = sum(state.size for state in states)
    part_bytes = min(part_bytes, -(-total // _FEWEST_PARTS))
    parts, first, held = [], 0, 0
    for number, state in enumerate(states):
        size = state.size
        if number > first and held + size > part_bytes:
            parts.append((first, number))
            first, held = number, 0
        held += size
    parts.append((first, len(states)))
    return [
        TextPart(
            tuple(source.path for source in sources[a:b]),
            tuple(source.name for source in sources[a:b]),
            sum(state.size for state in states[a:b]),
            _stamp(states[a:b]),
        )
        for a, b in parts
    ]
