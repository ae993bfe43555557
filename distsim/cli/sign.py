"""`distsim sign`, `learn`, `merge` and `map`: tables of signatures, and what joins them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distsim.base.arguments import MAX_LENGTH, MIN_COUNT, SignPreset, SourceKind, TextFormat
from distsim.base.errors import counted
from distsim.cli.console import (
    ForceOption,
    JobsOption,
    may_replace,
    progress_bar,
    say,
    say_finder,
)
from distsim.cli.costs import FINDER, LEARN, RANDOM, SIGN, say_cost
from distsim.cli.options import (
    DocumentOptions,
    FreeMemoryOption,
    RecipeOption,
    SetOption,
    chosen,
    grouped,
)
from distsim.corpus.normaliser import Normaliser

if TYPE_CHECKING:
    from distsim.comparison.table import SignatureTable
    from distsim.contexts.sources.counts import NgramCounts
    from distsim.contexts.sources.source import PhraseSource
    from distsim.contexts.sources.vectors import VectorFile
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.signatures.recipe import Recipe


@grouped
def learn(
    source: Annotated[str, typer.Argument(metavar="INDEX", help="An index.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PROJECTION", help="Its folder.")
    ],
    part: DocumentOptions,
    recipe: RecipeOption = None,
    settings: SetOption = None,
    force: ForceOption = False,
    jobs: JobsOption = None,
) -> None:
    """Learn a projection from an index's frequent words and the features around them.

    By the recipe of `sign --preset learned`; --recipe and --set change it as they do there.
    """
    from distsim.base.parallel import keep_freed
    from distsim.contexts.phrase_store import Selection
    from distsim.signatures.recipe import DEFAULT
    from distsim.signatures.signing import learn as learn_projection
    from distsim.storage import Artifact

    # A table's recipe also says which phrases were signed: nothing is learned from that.
    recipe_chosen, _ = chosen(DEFAULT, Selection(), recipe=recipe, settings=settings)
    keep_freed()
    force = may_replace(output, force)
    index = part.opened(source)
    say_cost(index.n_tokens, [LEARN], jobs)
    with progress_bar() as bar:
        path = learn_projection(
            index, output, recipe=recipe_chosen, force=force, jobs=jobs, progress=bar
        )
    parameters = Artifact(path).parameters
    say(
        f"{counted(parameters['rank'], 'direction')} for {parameters['bits']} bits, learned from "
        f"{counted(parameters['rows'], 'word')} by {counted(parameters['features'], 'feature')}, "
        f"{counted(parameters['cells'], 'cell')}"
    )


def map_tables(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A table, or an index that was signed.")
    ],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The same, of the other text.")],
    pairs: Annotated[
        str,
        typer.Option(
            metavar="DICTIONARY", help="Lines word<TAB>translation, perhaps with <TAB>weight."
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="MAP", help="Its folder.")],
    settings: SetOption = None,
    force: ForceOption = False,
) -> None:
    """Learn a linear map from the word vectors of one table to those of another.

    By ridge regression, or with --set method=orthogonal by orthogonal Procrustes.
    """
    from distsim.comparison.mapping import MapOptions, VectorMap

    (options,) = chosen(MapOptions(), settings=settings)
    force = may_replace(output, force)
    vector_map = VectorMap.learn(
        source, target, pairs, output, options=options, force=force, notice=say
    )
    say(
        f"{counted(vector_map.parameters['pairs'], 'pair')}, {vector_map.matrix.shape[0]} by "
        f"{vector_map.matrix.shape[1]} "
        f"dimensions, {counted(len(vector_map.target.words), 'target word')}"
    )


USUAL: dict[str, SignPreset] = {
    "index": "learned", "counts": "learned", "annotated": "syntax", "vectors": "vectors",
}  # fmt: skip


@dataclass(frozen=True)
class StoredSettings:
    """Parts that a table stores beside its signatures.

    keep_parts: the vectors of words. keep_features: the weighted features of each phrase.
    """

    keep_parts: bool = True
    keep_features: bool = False


@dataclass(frozen=True)
class FinderSettings:
    """Whether the finder of substitutes is stored beside a learned table of an index.

    Arguments:
        finder: whether it is stored.
        inflections: the forms of words: `auto`, by the language of the text, `english`, `german`,
            `french`, `spanish`, `none`, or a file of rules.
    """

    finder: bool = True
    inflections: str = "auto"


@dataclass(frozen=True)
class CountSettings:
    """Settings of `sign --from counts`, which NgramCounts takes.

    Arguments:
        text_format: how the counted text was cut into words: lines, tokenised; text, running text
        normaliser: what happens to every word.
    """

    text_format: TextFormat = "lines"
    normaliser: Normaliser = field(default_factory=Normaliser)


@dataclass(frozen=True)
class VectorSettings:
    """Settings of `sign --from vectors`, which VectorFile takes.

    Arguments:
        text_format: lines: tokenised; text: running text
        normaliser: what happens to every word and phrase.
        phrases: a file of phrases, one a line, that get a row too
        index: an index that gives counts and phrases
    """

    text_format: TextFormat = "lines"
    normaliser: Normaliser = field(default_factory=Normaliser)
    phrases: str | None = None
    index: str | None = None


@dataclass(frozen=True)
class AnnotatedSettings:
    """Files that go with annotated text: its trees."""

    trees: tuple[str, ...] = ()


FromOption = Annotated[
    SourceKind,
    typer.Option(
        "--from",
        help="What the sources are: an index; n-gram counts (`w1 .. wn<TAB>count`); annotated "
        "text (CoNLL-U); a file of word vectors.",
    ),
]
KeepSumsOption = Annotated[
    bool,
    typer.Option("--keep-sums", help="Store the sums of all phrases, for merge; --preset thesis."),
]
PresetOption = Annotated[
    SignPreset | None,
    typer.Option(
        help="The recipe to start from.  [default: learned; --from annotated: syntax; "
        "vectors: vectors]"
    ),
]
MinCountOption = Annotated[
    int | None, typer.Option(help=f"Leave out rarer phrases.  [default: {MIN_COUNT}]")
]


_SETTINGS_OF: dict[str, tuple[Any, ...]] = {  # of --set, by --from
    "index": (StoredSettings(), FinderSettings()),
    "counts": (StoredSettings(), CountSettings()),
    "annotated": (StoredSettings(), AnnotatedSettings()),
    "vectors": (VectorSettings(),),
}


@grouped
def sign(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="An index, or files as --from says."),
    ],
    part: DocumentOptions,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="TABLE", help="Its folder; default: in the index."),
    ] = None,
    kind: FromOption = "index",
    preset: PresetOption = None,
    recipe: RecipeOption = None,
    settings: SetOption = None,
    min_count: MinCountOption = None,
    max_length: Annotated[
        int | None, typer.Option(help=f"Longest phrases, in tokens.  [default: {MAX_LENGTH}]")
    ] = None,
    projection: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A projection that was learned before, alone or with a table."
        ),
    ] = None,
    keep_sums: KeepSumsOption = False,
    force: ForceOption = False,
    memory: FreeMemoryOption = None,
    jobs: JobsOption = None,
) -> None:
    """Sign phrases into a table.

    The table goes into the index where no -o is given. A preset says how contexts become bits;
    --recipe and --set change it: model.window, weighting.scheme, n_bits, max_phrases and
    others, all of which `distsim info TABLE --recipe` prints and an unknown one names.
    """
    from distsim.base.parallel import keep_freed
    from distsim.contexts.phrase_store import Selection
    from distsim.signatures.recipe import PRESETS

    if projection is not None and kind == "vectors":
        raise typer.BadParameter("--projection: is learned from the vectors themselves: leave out")
    recipe_chosen, selection, *about_source = chosen(
        PRESETS[preset or USUAL[kind]], Selection(), *_SETTINGS_OF[kind], recipe=recipe,
        settings=settings, min_count=min_count, max_length=max_length,
        projection=None if projection is None else "spectral",
    )  # fmt: skip
    if memory is None:
        keep_freed()
    if output is None and kind != "index":
        raise typer.BadParameter(f"--from {kind} needs the table's folder: give -o TABLE")
    source, report = _source(kind, sources, about_source[-1], part)
    _say_cost(source, recipe_chosen, about_source[-1], jobs)
    if output is not None and kind in ("counts", "annotated"):  # which take long to read
        force = may_replace(output, force)
    kept = about_source[0] if kind != "vectors" else StoredSettings()
    table = _signed(
        source, output, force, recipe=recipe_chosen, selection=selection, projection=projection,
        keep_sums=keep_sums, memory=memory, jobs=jobs, **vars(kept),
    )  # fmt: skip
    report(table)
    _report(table)
    _store_finder(source, table, about_source[-1], jobs)


def _say_cost(source: Any, recipe: "Recipe", settings: Any, jobs: int | None) -> None:
    """Print the expected cost of signing a large index."""
    if isinstance(settings, FinderSettings):
        costs = [SIGN, FINDER] if settings.finder else [SIGN]
        say_cost(source.n_tokens, costs if recipe.is_learned else [RANDOM], jobs)


def _signed(
    source: "PhraseSource | CorpusIndex", output: str | None, force: bool, **how: Any
) -> "SignatureTable":
    """Return the table; on a terminal the user may agree to replace an existing one."""
    from distsim.base.errors import ArtifactError
    from distsim.comparison.table import SignatureTable
    from distsim.storage import holds_artifact

    def built(force: bool) -> SignatureTable:
        with progress_bar() as bar:
            return SignatureTable.build(source, output, force=force, progress=bar, **how)

    try:
        return built(force)
    except ArtifactError:
        if force or output is None or not holds_artifact(output):
            raise
        return built(may_replace(output, force))


def _store_finder(source: Any, table: "SignatureTable", settings: Any, jobs: int | None) -> None:
    """Store the finder of substitutes beside a table, if the recipe has one, and print its size."""
    from distsim.base.errors import ArtifactError, ParameterError
    from distsim.comparison.finder.space import open_space
    from distsim.comparison.finder.word_profiles import build_finder
    from distsim.corpus.inflections import Inflections, chosen_inflections
    from distsim.storage import remove_artifact
    from distsim.storage.manifest import finder_inside

    if (
        not isinstance(settings, FinderSettings)
        or not settings.finder
        or open_space(source, table) is None
    ):
        remove_artifact(finder_inside(table.path))
        return
    inflections = chosen_inflections(settings.inflections, source)
    rules = Inflections.open(inflections).checksum
    try:
        stored = table.finder
    except ArtifactError as error:
        say(f"{error}: it is built again")
        stored = None
    if stored is None or not table.unchanged or stored.parameters.get("rules") != rules:
        try:
            with progress_bar("done") as bar:
                build_finder(source, table, inflections=inflections, jobs=jobs, progress=bar)
        except ParameterError as error:
            say(f"no finder of substitutes: {error}")
            return
    say_finder(table)


def _source(
    kind: SourceKind, sources: list[str], settings: Any, part: DocumentOptions
) -> "tuple[PhraseSource | CorpusIndex, Callable[[SignatureTable], None]]":
    """Return the source of phrases, and the function that reports how it was read."""
    from distsim.contexts.sources.annotated import AnnotatedText
    from distsim.contexts.sources.counts import NgramCounts
    from distsim.contexts.sources.vectors import VectorFile
    from distsim.indexes.corpus_index import CorpusIndex

    if part.given() and kind != "index" and (kind != "counts" or part.within is not None):
        years = ", or years of counts" if part.where else ""
        raise typer.BadParameter(f"{part.given()[0]} selects documents of an index{years}")
    if len(sources) > 1 and kind in ("index", "vectors"):
        raise typer.BadParameter(f"--from {kind} takes one source")
    if kind == "counts":
        counts = NgramCounts(sources, **vars(settings), where=part.where or ())
        return counts, lambda table: _report_counts(counts, table)
    if kind == "annotated":
        return AnnotatedText(sources, trees=settings.trees), lambda table: None
    if kind == "index":
        return part.opened(sources[0]), lambda table: None
    fields_of_file = vars(settings)
    if settings.index is not None:
        if (settings.text_format, settings.normaliser) != ("lines", Normaliser()):
            raise typer.BadParameter("--set index=INDEX settles text_format and normaliser")
        fields_of_file = fields_of_file | {
            "index": CorpusIndex.open(settings.index),
            "normaliser": None,
        }
    vectors = VectorFile(sources[0], **fields_of_file)
    return vectors, lambda table: _report_vectors(vectors)


def _report_counts(source: "NgramCounts", table: "SignatureTable") -> None:
    report, window = source.report, table.fingerprint.model["window"]
    reach = table.parameters["max_length"] + window
    say(
        f"{counted(report.lines, 'line')}; nothing taken from {report.special:,} with "
        "<unk>, <s>, </s> or "
        f"tags, {report.vanished:,} with dropped words, {report.too_long:,} longer than {reach} "
        f"words, {report.other_years:,} of other years"
    )
    if report.longest_line < reach:
        say(
            f"the longest n-grams have {report.longest_line} words: contexts of a phrase of n "
            f"words reach {report.longest_line} - n words away, not {window}"
        )
    if report.without_line:
        say(
            f"{counted(report.without_line, 'phrase')} inside longer lines have no line of "
            "their own, "
            "so no count, and are left out"
        )


def _report_vectors(source: "VectorFile") -> None:
    report = source.report
    if report.alike or report.spaces:
        say(
            f"{counted(report.words, 'word')} with vectors; left out {report.alike:,} like "
            "an earlier one "
            f"but for their case or form, {report.spaces:,} with white space inside or dropped"
        )


def _report(table: "SignatureTable") -> None:
    if table.unchanged:
        say(f"{Path(table.path)}: is this very table already: nothing was to be done")
    if not len(table):
        say(f"no phrase occurs {counted(table.parameters['min_count'], 'time')} with a context")
    say(
        f"{counted(len(table), 'phrase')} of 1 to {table.longest} tokens, {table.n_bits} bits, "
        f"fingerprint {table.fingerprint.short}"
    )
    if table.parts is not None:
        say(
            f"{len(table.parts.hashes):,} words' vectors kept beside them, "
            f"{table.parts.vectors.nbytes / 1e6:,.0f} MB, to compose phrases that are not there"
        )
    left_out = table.parameters["phrases_without_context"]
    if left_out:
        why = "word with a vector" if table.fingerprint.is_of_vectors else "weighted context"
        say(f"no signature for {counted(left_out, 'phrase')} more, without a {why}")


def merge(
    tables: Annotated[
        list[str], typer.Argument(metavar="TABLE...", help="Signed with --keep-sums.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="TABLE", help="Its folder.")],
    min_count: Annotated[
        int | None, typer.Option(min=1, help="Leave out phrases rarer in all; default: as signed.")
    ] = None,
    keep_sums: KeepSumsOption = False,
    force: ForceOption = False,
    jobs: JobsOption = None,
) -> None:
    """Merge tables of parts of a text into the table of the whole, without the text.

    They are signed with --preset thesis --keep-sums; the result is the table that signing the whole
    text gives, byte for byte.
    """
    from distsim.comparison.table import merge_tables

    force = may_replace(output, force)
    with progress_bar() as bar:
        table = merge_tables(
            tables,
            output,
            min_count=min_count,
            keep_sums=keep_sums,
            force=force,
            jobs=jobs,
            progress=bar,
        )
    say(
        f"{counted(len(table), 'phrase')} of {counted(len(tables), 'table')} that occur "
        f"{counted(table.parameters['min_count'], 'time')} in all, {table.n_bits} bits, "
        f"fingerprint {table.fingerprint.short}"
    )
