"""Annotation of plain text as CoNLL-U by stanza or spaCy (extras of those names)."""

import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

from distsim.base.errors import ParameterError, how_to_install
from distsim.corpus.annotating import Annotated, Report, refuse
from distsim.corpus.annotation import TreeReader, check_tree
from distsim.storage.manifest import checksum_of_file

FETCH_SPACY = "fetch models with python -m spacy download en_core_web_sm and name it as `models`"


@dataclass(frozen=True)
class SpacyAnnotator:
    """Annotation by spaCy: tags, lemmas, dependencies and names, as far as the models have them.

    Arguments:
        models: the name of an installed package of models, or the folder of a pipeline.
        pretokenised: lines are sentences, tokens separated by white space.

    Sentences end where the pipeline says, or at full stops where it says nothing. A sentence
    whose dependencies are no tree is written without them.

    Raises:
        ParameterError: spaCy is not installed, or the models are not there; all is said at once.

    >>> SpacyAnnotator("en_core_web_sm", pretokenised=True)  # doctest: +SKIP
    SpacyAnnotator(models='en_core_web_sm', pretokenised=True)
    """

    models: str | None
    _: KW_ONLY
    pretokenised: bool = False

    def __post_init__(self) -> None:
        missing = []
        if importlib.util.find_spec("spacy") is None:
            missing.append(f"spaCy is not installed: {how_to_install('spacy')}")
        if self.models is None:
            missing.append(f"no models: {FETCH_SPACY}")
        elif self._meta() is None:
            missing.append(f"{self.models}: no models of spaCy there: {FETCH_SPACY}")
        refuse(missing)

    @property
    def models_folder(self) -> Path:
        """The folder of the pipeline."""
        return Path(str(self._meta())).parent

    def settings(self) -> dict[str, Any]:
        """Return the settings on which the result depends, beside the text."""
        meta = json.loads(Path(str(self._meta())).read_text(encoding="utf-8"))
        fields = ("lang", "name", "version", "spacy_version", "pipeline", "components", "vectors")
        folder = self.models_folder
        return {
            "with": "spacy",
            "models": {name: meta.get(name) for name in fields},
            "files": {
                file.relative_to(folder).as_posix(): checksum_of_file(file)
                for file in sorted(folder.rglob("*"))
                if file.is_file() and "__pycache__" not in file.parts
            },
            "pretokenised": self.pretokenised,
        }

    def with_models(self, models: str) -> "SpacyAnnotator":
        """Return the annotator with its models in another folder.

        Arguments:
            models: the folder.
        """
        return replace(self, models=models)

    def load(self) -> Callable[[list[str]], Annotated]:
        """Return a function that annotates a piece."""
        import spacy
        from spacy.tokens import Doc

        pipeline = spacy.load(str(self.models))
        ends_sentences = {"parser", "senter", "sentencizer"} & set(pipeline.pipe_names)
        if not self.pretokenised and not ends_sentences:
            pipeline.add_pipe("sentencizer", first=True)

        def tokenised(line: str) -> Doc:
            words = line.split()
            starts: list[Any] = [True] + [False] * (len(words) - 1)
            return Doc(pipeline.vocab, words=words, sent_starts=starts)

        def annotated(lines: list[str]) -> Annotated:
            texts: Sequence[Any] = [tokenised(li) for li in lines] if self.pretokenised else lines
            whole = self.pretokenised
            rows = [
                _rows(sentence)
                for document in pipeline.pipe(texts)
                for sentence in ([document[:]] if whole else document.sents)
            ]
            rows = [row for row in rows if row]
            text = "".join(["\n".join(row) + "\n\n" for row in rows])
            return Annotated(text, Report(sum(map(len, rows)), len(rows), 0))

        return annotated

    def _meta(self) -> Path | None:
        """Return the path of the models' meta.json, None where there is none."""
        meta = Path(str(self.models)) / "meta.json"
        if meta.is_file():
            return meta
        try:
            package = importlib.util.find_spec(str(self.models))
        except (ImportError, ValueError):
            return None
        if package is None or package.origin is None:
            return None
        metas = sorted(Path(package.origin).parent.glob("*/meta.json"))
        return metas[0] if metas else None


def _rows(sentence: Any) -> list[str]:
    """Return the CoNLL-U lines of a spaCy span, without its tokens of white space."""
    tokens = [token for token in sentence if not token.is_space]
    place = {token.i: number for number, token in enumerate(tokens)}
    heads = [_governor(token, place) for token in tokens]
    parsed = any(token.dep for token in tokens) and check_tree(heads) is None
    rows = []
    for number, (token, head) in enumerate(zip(tokens, heads, strict=True), 1):
        name = f"ner={token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "ner=O"
        misc = [name] if token.ent_iob else []
        if not token.whitespace_ and token.i + 1 in place:
            misc.append("SpaceAfter=No")
        columns = (
            str(number), token.text, token.lemma_, token.pos_, token.tag_, str(token.morph),
            str(head + 1) if parsed else "", token.dep_ if parsed else "", "",
            "|".join(misc),
        )  # fmt: skip
        rows.append("\t".join(" ".join(column.split()) or "_" for column in columns))
    return rows


def _governor(token: Any, place: dict[int, int]) -> int:
    """Return the number of a token's head in its sentence, -1 for the root."""
    head = token.head
    while head.is_space and head.head.i != head.i:
        head = head.head
    return -1 if head.i == token.i or head.i not in place else place[head.i]


FETCH_STANZA = "fetch models with stanza.download('en', model_dir=DIR) and name DIR as `models`"
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
            missing.append(f"no models: {FETCH_STANZA}")
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
            raise ParameterError(
                f"{self.models}: no models of stanza there: {FETCH_STANZA}"
            ) from None
        except ValueError:
            raise ParameterError(f"{file}: is damaged: {FETCH_STANZA}") from None
        present = [
            name for name in resources
            if isinstance(resources[name], dict) and (folder / name).is_dir()
        ]  # fmt: skip
        if len(present) != 1:
            languages = ", ".join(present) or "none"
            raise ParameterError(
                f"{self.models}: models of {languages}, wanted those of one language: "
                f"{FETCH_STANZA}"
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

    def with_models(self, models: str) -> "StanzaAnnotator":
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
