"""Annotation of plain text by spaCy, as CoNLL-U (the extra `spacy`)."""

import importlib.util
import json
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

from distsim.base.errors import how_to_install
from distsim.corpus.annotating import Annotated, Report, refuse
from distsim.corpus.annotation import check_tree
from distsim.storage.checksums import checksum_of_file

FETCH = "fetch models with python -m spacy download en_core_web_sm and name it as `models`"


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
            missing.append(f"no models: {FETCH}")
        elif self._meta() is None:
            missing.append(f"{self.models}: no models of spaCy there: {FETCH}")
        refuse(missing)

    @property
    def models_folder(self) -> Path:
        """The folder of the pipeline."""
        return Path(str(self._meta())).parent

    def settings(self) -> dict[str, Any]:
        """Return the settings on which the result depends, beside the text."""
        meta = json.loads(Path(str(self._meta())).read_text(encoding="utf-8"))
        told = ("lang", "name", "version", "spacy_version", "pipeline", "components", "vectors")
        folder = self.models_folder
        return {
            "with": "spacy",
            "models": {name: meta.get(name) for name in told},
            "files": {
                file.relative_to(folder).as_posix(): checksum_of_file(file)
                for file in sorted(folder.rglob("*"))
                if file.is_file() and "__pycache__" not in file.parts
            },
            "pretokenised": self.pretokenised,
        }

    def moved(self, models: str) -> "SpacyAnnotator":
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
            rows = [one for one in rows if one]
            text = "".join(["\n".join(one) + "\n\n" for one in rows])
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
        columns = (
            str(number), token.text, token.lemma_, token.pos_, token.tag_, str(token.morph),
            str(head + 1) if parsed else "", token.dep_ if parsed else "", "",
            name if token.ent_iob else "",
        )  # fmt: skip
        rows.append("\t".join(" ".join(column.split()) or "_" for column in columns))
    return rows


def _governor(token: Any, place: dict[int, int]) -> int:
    """Return the number of a token's head in its sentence, -1 for the root."""
    head = token.head
    while head.is_space and head.head.i != head.i:
        head = head.head
    return -1 if head.i == token.i or head.i not in place else place[head.i]
