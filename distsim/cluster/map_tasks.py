"""Map tasks: score the parts of a grammar or annotate the parts of a text, one task each.

No part needs another, so nothing is shuffled. Outputs are called as the inputs and are whole from
the start; what a killed run has made is passed over by the next one with the same settings.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from distsim.base.choices import OnError
from distsim.base.errors import ArtifactError, InputError
from distsim.cluster.files import attempt_name, remove_abandoned_attempts, replacing
from distsim.comparison.table import SignatureTable
from distsim.corpus.annotating import Annotator, annotate
from distsim.corpus.sources import Source, find_sources, find_texts, require_files
from distsim.grammar.alignment import RuleAligner, TrainingOptions
from distsim.grammar.score_file import score_grammar
from distsim.grammar.score_writer import OutputOptions
from distsim.grammar.scoring import RuleScorer, ScoreOptions
from distsim.grammar.training import trained
from distsim.storage import checksum_of_settings
from distsim.storage.checksums import checksum_of_file

_NOTE = ".distsim-parts.json"
_PACKED = (".gz", ".bz2", ".xz", ".zst")


class PartTask(Protocol):
    """Interface of a task on one part; it can be pickled."""

    def settings(self) -> Any:
        """Return the settings on which the result depends, for JSON."""

    def find(self, parts: Sequence[Path], folder: Path) -> list[Source]:
        """Return the files of parts, whose outputs go into a folder, checked."""

    def output_name(self, name: str) -> str:
        """Return the name of the output of a part."""

    def run(self, part: str, output: Path) -> dict[str, int]:
        """Write the output of a part and return its totals by name."""


@dataclass(frozen=True)
class ScoreTask:
    """Scores a part of a grammar.

    tables: (name, path) each, mapped once a machine. aligner: with what it has learnt.
    """

    tables: tuple[tuple[str, str], ...]
    aligner: RuleAligner
    options: ScoreOptions
    written: OutputOptions
    on_error: OnError = "stop"
    grammar_format: str | None = None

    @classmethod
    def of(
        cls, parts: Sequence[str], tables: Sequence[tuple[str, str]], *, align: Any = "missing",
        options: ScoreOptions | None = None, written: OutputOptions | None = None,
        training: TrainingOptions | None = None, on_error: OnError = "stop",
        grammar_format: str | None = None,
    ) -> "ScoreTask":  # fmt: skip
        """Return the task, with an aligner trained on the first part that has links.

        So all parts are linked by one model, whatever machine scores them.
        """
        aligner = RuleAligner(align, training=training)
        for part in parts:
            aligner, seen = trained(part, aligner, grammar_format, 1)
            if seen:
                break
        if aligner.needs_training:  # no rule lacks links here; later parts must not differ
            aligner = RuleAligner(align, training=TrainingOptions(aligner="evidence"))
        named = tuple((name, str(Path(path).resolve())) for name, path in tables)
        return cls(
            named, aligner, options or ScoreOptions(), written or OutputOptions(), on_error,
            grammar_format,
        )  # fmt: skip

    def settings(self) -> Any:
        """See PartTask."""
        tables = [[name, SignatureTable.open(path).artifact.checksum] for name, path in self.tables]
        learned = self.aligner.learned.checksum if self.aligner.learned is not None else None
        return ["score", tables, self.aligner.mode, learned, repr(self.options), repr(self.written),
                self.on_error, self.grammar_format]  # fmt: skip

    def find(self, parts: Sequence[Path], folder: Path) -> list[Source]:
        """See PartTask."""
        return find_sources(parts, [folder])

    def output_name(self, name: str) -> str:
        """See PartTask; only gz is written compressed."""
        stem, suffix = os.path.splitext(name)
        return stem + ".gz" if suffix in _PACKED else name

    def run(self, part: str, output: Path) -> dict[str, int]:
        """See PartTask."""
        scorer = RuleScorer(
            _opened(self.tables), options=self.options, exact=None, aligner=self.aligner
        )
        report = score_grammar(
            part, output, scorer, options=self.written,
            on_error=self.on_error,
            grammar_format=self.grammar_format, jobs=1,
        )  # fmt: skip
        return {"rules": report.read}


@lru_cache(maxsize=4)
def _opened(tables: tuple[tuple[str, str], ...]) -> list[tuple[str, SignatureTable]]:
    return [(name, SignatureTable.open(path)) for name, path in tables]


@dataclass(frozen=True)
class AnnotateTask:
    """Annotates a part of a text. as_is: also text that looks like HTML or a table."""

    annotator: Annotator
    as_is: bool = False

    def settings(self) -> Any:
        """See PartTask."""
        return ["annotate", self.annotator.settings()]

    def find(self, parts: Sequence[Path], folder: Path) -> list[Source]:
        """See PartTask."""
        return find_texts(parts, self.as_is, [folder])

    def output_name(self, name: str) -> str:
        """See PartTask."""
        stem, suffix = os.path.splitext(name)
        return (stem if suffix in _PACKED else name) + ".conllu.gz"

    def run(self, part: str, output: Path) -> dict[str, int]:
        """See PartTask."""
        report = annotate([part], output, self.annotator, jobs=1, as_is=self.as_is)
        for left in output.parent.glob(f"{output.name}.*"):
            left.unlink()
        return {"words": report.words, "sentences": report.sentences}


def _read_note(folder: Path, settings: str) -> dict[str, str]:
    """Return the checksums of the parts whose outputs a folder may hold, by the outputs' names.

    Raises:
        ArtifactError: they were made with other settings.
    """
    try:
        note = json.loads((folder / _NOTE).read_text())
        if note["settings"] == settings:
            return dict(note["parts"])
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError):
        pass
    raise ArtifactError(
        f"{folder}: holds parts that were made otherwise: remove it or name another folder"
    )


@dataclass(frozen=True)
class PartMap:
    """A task on each of several parts, whose outputs are in one folder.

    parts: paths. names: of the outputs, one each.
    """

    parts: tuple[str, ...]
    names: tuple[str, ...]
    folder: Path
    task: PartTask

    @classmethod
    def plan(cls, parts: Sequence[str | Path], folder: str | Path, task: PartTask) -> "PartMap":
        """Return the parts with their outputs; make the folder of outputs.

        An output whose part has changed since is removed, to be made again.

        Raises:
            InputError: a part is missing or is no plain text where that is wanted, or two have one
                name.
            ArtifactError: the folder holds outputs that were made with other settings, or of
                other parts.
        """
        require_files(parts)
        sources = task.find([Path(part).resolve() for part in parts], Path(folder))
        names = tuple(task.output_name(source.name.replace("/", "-")) for source in sources)
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise InputError(f"two parts would be written as {min(twice)}: rename one")
        folder = Path(folder).resolve()
        settings = checksum_of_settings(task.settings())
        now = {
            name: checksum_of_file(Path(source.path))
            for name, source in zip(names, sources, strict=True)
        }
        folder.mkdir(parents=True, exist_ok=True)
        known = _read_note(folder, settings)
        others = sorted(name for name in known.keys() ^ now.keys() if (folder / name).exists())
        if others:  # of a part that is not given any more, or of nobody knows what
            raise ArtifactError(
                f"{folder}: holds {others[0]}, which was not made of these parts: remove it or "
                "name another folder"
            )
        for name in known:
            if known[name] != now.get(name):  # of the part as it was; gone before the note changes
                (folder / name).unlink(missing_ok=True)
        for name in names:
            remove_abandoned_attempts(folder / name)
        with replacing(folder / _NOTE) as part:
            part.write_text(json.dumps({"settings": settings, "parts": now}))
        return cls(tuple(source.path for source in sources), names, folder, task)

    def __len__(self) -> int:
        return len(self.parts)

    def open_numbers(self) -> list[int]:
        """Return the numbers of parts that are not done."""
        return [n for n, name in enumerate(self.names) if not (self.folder / name).exists()]

    def run(self, number: int) -> dict[str, int]:
        """Write the output of a part; return its totals.

        Raises:
            ArtifactError: this machine does not see the folder.
        """
        if not (self.folder / _NOTE).exists():
            raise ArtifactError(
                f"{self.folder}: is not seen: the output must be a folder that all machines share"
            )
        output = self.folder / self.names[number]
        hidden = attempt_name(output)
        attempt = hidden.with_name(hidden.name + "".join(output.suffixes[-1:]))
        try:
            came_to = self.task.run(self.parts[number], attempt)
            os.replace(attempt, output)
        finally:
            attempt.unlink(missing_ok=True)
        return came_to
