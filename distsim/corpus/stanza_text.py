"""Annotation of plain text by stanza, as CoNLL-U (the extra `stanza`)."""

import importlib.util
import json
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

from distsim.base.errors import ParameterError, how_to_install
from distsim.corpus.annotating import Annotated, Report, refuse
from distsim.corpus.annotation import TreeReader
from distsim.storage.checksums import checksum_of_file

FETCH = "fetch models with stanza.download('en', model_dir=DIR) and name DIR as `models`"
PROCESSORS = ("tokenize", "mwt", "pos", "lemma", "depparse", "ner", "constituency")


@dataclass(frozen=True)
class StanzaAnnotator:
    """Annotation by stanza.

    Arguments:
        models: stanza's folder of models, with its resources.json; nothing is downloaded.
        processors: out of PROCESSORS; None: all that the models have.
        pretokenised: lines are sentences, tokens separated by white space.

    Raises:
        ParameterError: stanza is not installed, or a model is not there; all is said at once.

    >>> StanzaAnnotator("stanza_resources", processors=("tokenize", "pos"))  # doctest: +SKIP
    StanzaAnnotator(models='stanza_resources', processors=('tokenize', 'pos'), pretokenised=False)
    """

    models: str | None
    _: KW_ONLY
    processors: tuple[str, ...] | None = None
    pretokenised: bool = False

    def __post_init__(self) -> None:
        missing = []
        if importlib.util.find_spec("stanza") is None:
            missing.append(f"stanza is not installed: {how_to_install('stanza')}")
        if self.models is None:
            missing.append(f"no models: {FETCH}")
        else:
            try:
                packages = self._packages()
            except ParameterError as error:
                missing.append(str(error))
            else:
                missing += self._missing_processors(packages)
        refuse(missing)

    def _missing_processors(self, packages: tuple[str, ...]) -> Iterator[str]:
        for name in self.processors or ():
            if name not in PROCESSORS:
                yield f"processor {name!r}: choose of {', '.join(PROCESSORS)}"
            elif name not in packages:
                yield (
                    f"{self.models}: has no model for {name!r}: fetch one, or choose `processors` "
                    f"of {', '.join(packages)}"
                )

    @property
    def chosen(self) -> tuple[str, ...]:
        """The processors that run, in stanza's order."""
        wanted = self.processors or self._packages()
        left_out = ("mwt",) if self.pretokenised else ()
        return tuple(p for p in PROCESSORS if p in wanted and p not in left_out)

    @property
    def models_folder(self) -> Path:
        """The folder of the models."""
        return Path(str(self.models))

    @property
    def language(self) -> str:
        """The language of the models."""
        return self._resources()[0]

    def _packages(self) -> tuple[str, ...]:
        packages = self._resources()[1].get("packages", {}).get("default", {})
        return tuple(name for name in PROCESSORS if name in packages)

    def _resources(self) -> tuple[str, dict[str, Any]]:
        folder = Path(str(self.models))
        file = folder / "resources.json"
        try:
            resources = json.loads(file.read_text(encoding="utf-8"))
        except OSError:
            raise ParameterError(f"{self.models}: no models of stanza there: {FETCH}") from None
        except ValueError:
            raise ParameterError(f"{file}: is damaged: {FETCH}") from None
        present = [
            name for name in resources
            if isinstance(resources[name], dict) and (folder / name).is_dir()
        ]  # fmt: skip
        if len(present) != 1:
            found = ", ".join(present) or "none"
            raise ParameterError(
                f"{self.models}: models of {found}, wanted those of one language: {FETCH}"
            )
        return present[0], resources[present[0]]

    def settings(self) -> dict[str, Any]:
        """Return the settings on which the result depends, beside the text."""
        folder = self.models_folder
        models = {
            file.relative_to(folder).as_posix(): checksum_of_file(file)
            for file in sorted(folder.rglob("*.pt"))
        }
        return {
            "processors": self.chosen,
            "pretokenised": self.pretokenised,
            "models": models,
        }

    def moved(self, models: str) -> "StanzaAnnotator":
        """Return the annotator with its models in another folder.

        Arguments:
            models: the folder.
        """
        return replace(self, models=models)

    def load(self) -> Callable[[list[str]], Annotated]:
        """Return a function that annotates a piece."""
        pipeline = self.pipeline()
        parsed = "depparse" in self.chosen

        def annotated(lines: list[str]) -> Annotated:
            cut = self.pretokenised
            document = pipeline([line.split() for line in lines] if cut else "\n\n".join(lines))
            return conllu_text(format(document, "C"), parsed)

        return annotated

    def pipeline(self) -> Any:
        """Return stanza's pipeline."""
        import stanza
        import torch

        torch.set_num_threads(1)
        return stanza.Pipeline(
            lang=self.language,
            dir=self.models,
            download_method=None,
            use_gpu=False,
            processors=",".join(self.chosen),
            tokenize_pretokenized=self.pretokenised,
            logging_level="ERROR",
        )


def conllu_text(text: str, parsed: bool = True) -> Annotated:
    """Return stanza's CoNLL-U in the form that distsim stores, with counts of words and sentences.

    The entity class of a multiword token is given to its words. Character offsets are dropped, as
    is a tree whose leaves are not the words. Where no dependencies were asked for, the default
    heads that stanza writes are dropped too.

    Arguments:
        text: CoNLL-U written by stanza.
    """
    kept: list[str] = []
    reader = TreeReader()
    words = sentences = treeless = 0
    for sentence in text.strip("\n").split("\n\n"):
        tree = ""
        rows: list[list[str]] = []
        inherited: dict[int, str] = {}
        for line in sentence.split("\n"):
            if line.startswith("# constituency = "):
                tree = line
            elif line.startswith("# text = "):
                kept.append(line)
            elif line and line[0] != "#":
                rows.append(_kept_row(line.split("\t"), inherited, parsed))
        if not rows:
            continue
        n = sum("-" not in row[0] for row in rows)
        if tree:
            try:
                fits = len(reader.parse(tree.partition("= ")[2]).leaves) == n
            except ValueError:
                fits = False
            if fits:
                kept.append(tree)
            else:
                treeless += 1
        kept += ["\t".join(row) for row in rows]
        kept.append("")
        words += n
        sentences += 1
    return Annotated("\n".join([*kept, ""]) if kept else "", Report(words, sentences, treeless))


def _kept_row(columns: list[str], inherited: dict[int, str], parsed: bool) -> list[str]:
    if not parsed:
        columns[6] = columns[7] = "_"
    items = [
        item for item in columns[9].split("|")
        if item != "_" and not item.startswith(("start_char=", "end_char="))
    ]  # fmt: skip
    first, _, last = columns[0].partition("-")
    classes = [item for item in items if item.startswith("ner=")]
    if last:
        if classes:
            inherited.update(dict.fromkeys(range(int(first), int(last) + 1), classes[0]))
    elif not classes and int(first) in inherited:
        items.append(inherited[int(first)])
    return [*columns[:9], "|".join(items) or "_"]
