"""The page of all keys of `--set`, by command, with defaults and meanings from the docstrings."""

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Any

from distsim.base.settings import NONE, _classes, _settable

# The options that each command reads settings into, as MODULE:NAME or MODULE:PRESETS[PRESET].
SOURCES = {
    "count": "indexes.queries:QuerySettings",
    "kwic": "indexes.queries:QuerySettings",
    "collocates": "indexes.queries:QuerySettings",
    "sign": "signatures.recipe:PRESETS[learned] contexts.phrase_store:Selection "
    "cli.sign:StoredSettings cli.sign:FinderSettings",
    "sign --from counts": "cli.sign:CountSettings",
    "sign --from vectors": "cli.sign:VectorSettings",
    "sign --from annotated": "signatures.recipe:PRESETS[syntax] cli.sign:AnnotatedSettings",
    "map": "comparison.mapping:MapOptions",
    "learn": "signatures.recipe:PRESETS[learned] contexts.phrase_store:Selection",
    "contexts": "signatures.recipe:PRESETS[thesis] contexts.phrase_store:Selection",
    "compare": "signatures.recipe:PRESETS[thesis] contexts.phrase_store:Selection",
    "index build": "indexes.build:IndexOptions",
    "cluster sign": "signatures.recipe:PRESETS[learned] contexts.phrase_store:Selection "
    "indexes.build:IndexOptions cluster.plan:Division cli.cluster:WorkSettings "
    "cli.sign:FinderSettings",
    "cluster plan": "signatures.recipe:PRESETS[learned] contexts.phrase_store:Selection "
    "indexes.build:IndexOptions cluster.plan:Division cli.sign:FinderSettings",
    "evaluate": "cli.evaluate:EvaluateSettings",
    "evaluate-sentences": "cli.evaluate:SentenceSettings",
    "judge forms": "evaluation.judging:FormSettings",
    "align": "bitext.sentence_pairs:BitextOptions bitext.aligner:AlignerOptions",
    "extract": "grammar.extraction.instances:PRESETS[phrases] "
    "grammar.extraction.features:FeatureChoice",
    "pivot": "grammar.pairing:PivotOptions",
    "score": "cli.score:RuleSettings grammar.scoring:ScoreOptions "
    "grammar.score_writer:OutputOptions grammar.alignment:TrainingOptions",
    "rank": "cli.rank:Validation",
    "rerank": "grammar.rerank:Ranking",
    "make-grammar": "grammar.pipeline:MakeOptions",
    "pack": "grammar.packs.pack:PackOptions",
    "paraphrase": "paraphrase.paraphrasing_options:PRESETS[default] "
    "cli.paraphrase:ParaphraseSettings",
    "neighbours": "cli.neighbours:NeighbourSettings",
    "augment": "paraphrase.augment:AugmentOptions",
    "augment --unknown": "paraphrase.unknown_words.translator:UnknownWordOptions",
    "substitute": "paraphrase.substitution.substitute_candidates:RANKING "
    "cli.substitute:SubstituteSettings",
    "rewrite": "paraphrase.rewriting.rewriting_options:RewriteOptions",
    "tune": "paraphrase.rewriting.tuning:TuneOptions "
    "paraphrase.rewriting.rewriting_options:RewriteOptions",
}
_OTHERS = {  # meanings that no docstring of a dataclass has
    "scheme": "raw, log, ppmi, llr or log-llr",
    "keep_parts": "store the words' vectors, of which rare phrases are composed",
    "keep_features": "store the weighted features, for `similarity --exact` without an index",
    "text_format": "lines: tokenised; text: running text",
    "phrases": "a file of phrases, one a line, that get a row too",
    "index": "an index that gives counts and phrases",
    "most_words": "at most so many words of the file",
    "trees": "files of bracketed trees, one tree a line",
    "keep_work": "keep the parts' indexes in the shared folder",
    "align": "which rules are linked: missing, all or none",
    "names": "names of written features: distsim or ppdb",
    "on_error": "invalid lines: stop, keep or drop",
    "grammar_format": "the format; found from the file where none",
    "folds": "parts for cross-validation",
    "samples": "bootstrap samples for intervals",
    "seed": "of the random generator",
}
_ARGUMENT = re.compile(r"(?:^|(?<=[.:] )|(?<=\n))((?:\w+, )*\w+): ", re.M)


def page() -> str:
    """Return the page."""
    lines = [
        "# Settings",
        "",
        "Keys of `--set KEY=VALUE` by command, with their defaults. In a file for `--recipe` a key",
        "with a dot is a key of a TOML table. `none` means: no value.",
        "",
    ]
    for command, sources in SOURCES.items():
        lines += [f"## distsim {command}", "", "| key | default | meaning |", "|---|---|---|"]
        for source in sources.split():
            for key, value, meaning in _rows(_options(source)):
                lines.append(f"| `{key}` | {_cell(value)} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def commands() -> set[str]:
    """Return the commands that have a table."""
    return {command.split(" --")[0] for command in SOURCES}


def _options(source: str) -> Any:
    module, _, name = source.partition(":")
    name, _, key = name.rstrip("]").partition("[")
    found = getattr(import_module(f"distsim.{module}"), name)
    return found[key] if key else found


def _rows(options: Any, above: str = "") -> Iterator[tuple[str, Any, str]]:
    cls = options if isinstance(options, type) else type(options)
    meanings = _meanings(cls)
    defaults = {field.name: field for field in fields(cls)}
    for name, hint in _settable(cls).items():
        field = defaults[name]
        value = getattr(options, name, field.default)
        if value is MISSING and field.default_factory is not MISSING:
            value = field.default_factory()
        inner = value if is_dataclass(value) else next((one() for one in _classes(hint)), None)
        if inner is not None:
            yield from _rows(inner, f"{above}{name}.")
        else:
            yield f"{above}{name}", value, meanings.get(name) or _OTHERS.get(name, "")


def _meanings(cls: type) -> dict[str, str]:
    """Return what the docstrings of a dataclass and of its bases say of each argument."""
    found: dict[str, str] = {}
    for one in reversed(cls.__mro__[:-1]):
        text = re.split(r"\n\s*(?:Raises|Returns):|\n\s*>>>", one.__doc__ or "")[0]
        text = text.partition("Arguments:")[2] or text
        parts = _ARGUMENT.split(re.sub(r"\n\s+", "\n", text))
        for names, meaning in zip(parts[1::2], parts[2::2], strict=True):
            told = " ".join(meaning.split()).replace("|", "\\|").rstrip(".")
            found |= dict.fromkeys(names.split(", "), told)
    return found


def _cell(value: Any) -> str:
    if value is None:
        return f"`{NONE}`"
    if value is MISSING:
        return "required"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        value = ",".join(map(str, value))
    return f"`{value}`" if str(value) not in ("", "{}") else ""
