"""`distsim sign SOURCE`: every frequent phrase's contexts -> a table of bit signatures."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distsim.base.choices import SignPreset as Preset
from distsim.base.choices import TextFormat, Tool
from distsim.cli.annotate import chosen_annotator, say_annotated
from distsim.cli.console import ForceOption, JobsOption, may_replace, progress_bar, say
from distsim.cli.groups import OptionGroup, grouped
from distsim.cli.options import (
    GAUSSIAN,
    SPECTRAL,
    WITH_SYNTAX,
    AsIsOption,
    DropDigitsOption,
    DropPunctuationOption,
    FeaturesOption,
    FoldNumbersOption,
    KeepCaseOption,
    KeepSumsOption,
    KindsOption,
    MemoryOption,
    ModelOption,
    ModelsOption,
    ProcessorsOption,
    SidesOption,
    TreesOption,
    WeightingOptions,
    WindowOption,
)

if TYPE_CHECKING:
    from distsim.comparison.table import SignatureTable
    from distsim.contexts.sources.annotated import AnnotatedText
    from distsim.contexts.sources.counts import CountFiles
    from distsim.contexts.sources.source import PhraseSource
    from distsim.contexts.sources.vectors import VectorFile
    from distsim.corpus.normaliser import Normaliser
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.signatures.recipe import Recipe


@dataclass
class RecipeOptions(OptionGroup):
    """How contexts become bits."""

    heading = "Contexts and bits"

    preset: Annotated[
        Preset | None,
        typer.Option(
            help="learnt: ppmi, both sides to 5 words, learnt bits, composed phrases; "
            "thesis: raw counts, window 1, 256 random bits. Default: learnt; thesis where "
            "--weights, --window, --projection gaussian, --from-counts or --keep-sums is given "
            "without it."
        ),
    ] = None
    window: WindowOption = None
    sides: SidesOption = None
    projection: Annotated[
        str | None,
        typer.Option(
            metavar="gaussian|spectral|FILE",
            help="How weights become bits; spectral learns it first, FILE was learnt before, "
            "alone or with a table.",
        ),
    ] = None
    compose: Annotated[
        bool | None,
        typer.Option("--compose/--no-compose", help="Mix a phrase's vector with its words'."),
    ] = None
    bits: Annotated[int | None, typer.Option(help="64 to 1024, in steps of 64.")] = None
    seed: Annotated[int | None, typer.Option(help="Of the random projection.")] = None

    @property
    def projection_file(self) -> str | None:
        """The projection that was learnt before, where one was named."""
        from distsim.signatures.projections.kinds import KINDS

        return None if self.projection is None or self.projection in KINDS else self.projection

    def changes(self) -> dict[str, Any]:
        """Return what of a recipe was given: bits, seed and kind of projection."""
        given = {"n_bits": self.bits, "seed": self.seed, "projection": self.projection}
        if self.projection_file is not None:
            given["projection"] = SPECTRAL
        return {name: value for name, value in given.items() if value is not None}


@dataclass
class PhraseOptions(OptionGroup):
    """Which phrases are signed."""

    heading = "Phrases"

    min_count: Annotated[int, typer.Option(help="Leave out rarer phrases.")] = 5
    max_length: Annotated[int, typer.Option(help="Longest phrases, in tokens.")] = 4
    max_phrases: Annotated[
        int | None, typer.Option(help="Keep only the most frequent so many.")
    ] = None


@dataclass
class KeepingOptions(OptionGroup):
    """What a table keeps beside its bits."""

    heading = "What is kept"

    parts: Annotated[
        bool, typer.Option("--parts/--no-parts", help="Keep the words' vectors in the table.")
    ] = True
    keep_sums: KeepSumsOption = False
    keep_features: Annotated[
        bool,
        typer.Option("--keep-features", help="syntax, --from-counts: keep them, for --exact."),
    ] = False


@dataclass
class CountOptions(OptionGroup):
    """What goes with count files."""

    heading = "With --from-counts or --from-vectors"

    text_format: Annotated[
        TextFormat | None,
        typer.Option("--format", help="How phrases are asked for."),
    ] = None
    keep_case: KeepCaseOption = False
    fold_numbers: FoldNumbersOption = False
    drop_punctuation: DropPunctuationOption = False
    drop_digits: DropDigitsOption = False


@dataclass
class SyntaxOptions(OptionGroup):
    """What goes with annotated text."""

    heading = WITH_SYNTAX

    trees: TreesOption = None
    features: FeaturesOption = None
    kinds: KindsOption = None
    tool: Annotated[
        Tool | None, typer.Option("--with", help="What annotates plain text.  [default: stanza]")
    ] = None
    models: ModelsOption = None
    processors: ProcessorsOption = None
    as_is: AsIsOption = False


@dataclass
class VectorOptions(OptionGroup):
    """What goes with word vectors from elsewhere."""

    heading = "With --from-vectors"

    words: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The words of a .npy, one a line."),
    ] = None
    phrases: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Sign these phrases too, one a line."),
    ] = None
    index: Annotated[
        str | None,
        typer.Option(metavar="INDEX", help="Sign its phrases too, counted."),
    ] = None
    counts: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Lines `w1 .. wn<TAB>count`."),
    ] = None
    most_words: Annotated[
        int | None,
        typer.Option(min=1, help="Read only so many words, the first."),
    ] = None
    centre: Annotated[
        bool | None,
        typer.Option(
            "--centre/--no-centre",
            help="Take the words' mean vector off and turn them so that cutting "
            "bits loses little, or turn them at random, so that bits estimate their own cosines. "
            "Default: --centre.",
        ),
    ] = None


@grouped
def sign(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="An index; count files with --from-counts; annotated ones with --model syntax; "
            "a file of word vectors with --from-vectors.",
        ),
    ],
    made: RecipeOptions,
    weighed: WeightingOptions,
    phrases: PhraseOptions,
    keeping: KeepingOptions,
    counts: CountOptions,
    syntax: SyntaxOptions,
    given: VectorOptions,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="TABLE", help="Its folder; default: in the index."),
    ] = None,
    from_counts: Annotated[
        bool,
        typer.Option("--from-counts", help="Sources are files of lines `w1 .. wn<TAB>count`."),
    ] = False,
    from_vectors: Annotated[
        bool,
        typer.Option(
            "--from-vectors", help="The source is a file of word vectors, of any usual format."
        ),
    ] = False,
    model: ModelOption = "ngram",
    force: ForceOption = False,
    memory: MemoryOption = "4G",  # type: ignore[assignment]
    jobs: JobsOption = None,
) -> None:
    """Sign phrases into a table.

    The table goes into the index where no -o is given. --from-counts takes n-gram count files
    or folders instead, plain or packed; --format, --keep-case, --fold-numbers and --drop-...
    then say what they say of an index. --model syntax takes annotated files (CoNLL-U or the lines
    of the thesis's toolkit, with --trees FILE for trees), or plain text that stanza or spaCy
    annotates (--with, --models). --from-vectors takes word vectors made elsewhere (word2vec, text
    or binary, GloVe, fastText's .vec, .npy with --words), and signs their words, and the phrases
    of --phrases or --index, made of their words.
    """
    from distsim.base.errors import ArtifactError
    from distsim.base.malloc_tuning import keep_freed
    from distsim.comparison.table import SignatureTable
    from distsim.contexts.selection import Selection
    from distsim.storage import holds_artifact

    keep_freed()
    selection = Selection(phrases.min_count, phrases.max_length, phrases.max_phrases)
    source: PhraseSource | CorpusIndex
    told: Callable[[], None] | None = None
    if not from_vectors:
        _refuse("without --from-vectors", given.given())
    if from_vectors:
        _refuse(
            "with --from-vectors", from_counts and ["--from-counts"],
            model == "syntax" and ["--model syntax"], weighed.given(), syntax.given(),
            keeping.given(), made.other_than("bits", "seed"),
        )  # fmt: skip
        recipe = _vector_recipe(made, given)
        source = vectors = _vector_file(sources, output, given, counts)
        told = partial(_report_vectors, vectors)
    elif model == "syntax":
        if from_counts:
            raise typer.BadParameter("give --from-counts or --model syntax, not both")
        _refuse("with --model syntax", keeping.keep_sums and ["--keep-sums"], counts.given())
        recipe = _syntax_recipe(made, weighed, syntax)
        force = output is None or may_replace(output, force)
        source = text = _annotated_text(sources, output, syntax)
        told = partial(_report_annotated, text)
    elif from_counts:
        _refuse("without --model syntax", syntax.given())
        recipe = chosen_recipe(made, weighed, plain=True)
        force = output is None or may_replace(output, force)
        source = count_files = _count_files(sources, output, counts)
        told = partial(_report_counts, count_files, phrases.max_length)
    else:
        _refuse("without --model syntax", syntax.given())
        _refuse("with an index: they were settled when it was built", counts.given())
        if keeping.keep_features:
            raise typer.BadParameter(
                "--keep-features goes with --model syntax or --from-counts: an index holds the "
                "contexts of its own table"
            )
        recipe = chosen_recipe(made, weighed, plain=keeping.keep_sums)
        source = _index(sources)

    def signed(force: bool) -> SignatureTable:
        with progress_bar() as bar:
            return SignatureTable.build(
                source, output, recipe, selection,
                projection=made.projection_file, keep_parts=keeping.parts,
                keep_sums=keeping.keep_sums, keep_features=keeping.keep_features,
                force=force, memory=memory, jobs=jobs, progress=bar,
            )  # fmt: skip

    try:
        table = signed(force)
    except ArtifactError:  # another table stands there: its user may give it up
        if force or output is None or not holds_artifact(output):
            raise
        table = signed(may_replace(output, force))
    if told is not None:
        told()
    _report(table, phrases)


def _refuse(where: str, *flags: Any) -> None:
    """Refuse options that do not go with what is signed."""
    given = [flag for some in flags for flag in some or ()]
    if given:
        raise typer.BadParameter(f"{', '.join(given)} {where}: leave out")


def chosen_recipe(made: RecipeOptions, weighed: WeightingOptions, plain: bool) -> "Recipe":
    """Return the recipe of an n-gram table; plain: from plain counts where no preset is named."""
    from distsim.contexts.ngram import NgramModel
    from distsim.signatures.composition import Composition
    from distsim.signatures.recipe import PRESETS

    preset = made.preset
    if preset is None:
        plain = plain or bool(made.projection is None and (weighed.weights or made.window))
        preset = "thesis" if plain or made.projection == GAUSSIAN else "learnt"
    usual = PRESETS[preset]
    assert isinstance(usual.model, NgramModel)
    changes = made.changes()
    learnt = replace(usual, composition=None, **changes).is_learnt
    composition = usual.composition if learnt else None
    if made.compose is not None:
        composition = Composition() if made.compose else None
    return replace(
        usual,
        model=NgramModel(
            usual.model.window if made.window is None else made.window,
            usual.model.sides if made.sides is None else made.sides,
        ),
        weighting=weighed.changed(usual.weighting),
        composition=composition,
        **changes,
    )


def _syntax_recipe(
    made: RecipeOptions, weighed: WeightingOptions, syntax: SyntaxOptions
) -> "Recipe":
    from distsim.cli.syntax import syntax_model
    from distsim.signatures.composition import Composition
    from distsim.signatures.recipe import SYNTAX

    for flag, value in (("--preset", made.preset), ("--sides", made.sides)):
        if value is not None:
            raise typer.BadParameter(f"{flag} is for n-gram tables: leave it out")
    changes = made.changes()
    composes = replace(SYNTAX, **changes).is_learnt if made.compose is None else made.compose
    return replace(
        SYNTAX,
        model=syntax_model(syntax.features, syntax.kinds, made.window),
        weighting=weighed.changed(SYNTAX.weighting),
        composition=Composition() if composes else None,
        **changes,
    )


def _vector_recipe(made: RecipeOptions, given: VectorOptions) -> "Recipe":
    from distsim.contexts.vectors import VectorModel
    from distsim.signatures.recipe import VECTORS

    return replace(VECTORS, model=VectorModel(given.centre is not False), **made.changes())


def _index(sources: list[str]) -> "CorpusIndex":
    from distsim.indexes.corpus_index import CorpusIndex

    if len(sources) > 1:
        raise typer.BadParameter("give one index, or count files with --from-counts")
    return CorpusIndex.open(sources[0])


def _count_files(sources: list[str], output: str | None, counts: CountOptions) -> "CountFiles":
    from distsim.contexts.sources.counts import CountFiles

    if output is None:
        raise typer.BadParameter("--from-counts needs the table's folder: give -o TABLE")
    running_text = counts.text_format == "text"
    return CountFiles(
        sources, normaliser=_normaliser(counts), text_format="text" if running_text else "lines"
    )


def _normaliser(counts: CountOptions) -> "Normaliser":
    from distsim.corpus.normaliser import Normaliser

    return Normaliser(
        not counts.keep_case, counts.fold_numbers, counts.drop_punctuation, counts.drop_digits
    )


def _vector_file(
    sources: list[str], output: str | None, given: VectorOptions, counts: CountOptions
) -> "VectorFile":
    from distsim.contexts.sources.vectors import VectorFile
    from distsim.indexes.corpus_index import CorpusIndex

    if output is None:
        raise typer.BadParameter("--from-vectors needs the table's folder: give -o TABLE")
    if len(sources) > 1:
        raise typer.BadParameter("give one file of word vectors")
    index = None
    if given.index is not None:
        _refuse("with --index: they were settled when it was built", counts.given())
        index = CorpusIndex.open(given.index)
    running_text = counts.text_format == "text"
    return VectorFile(
        sources[0], words=given.words, phrases=given.phrases, index=index, counts=given.counts,
        normaliser=None if index else _normaliser(counts), most_words=given.most_words,
        text_format="text" if running_text else "lines",
    )  # fmt: skip


def _annotated_text(
    sources: list[str], output: str | None, syntax: SyntaxOptions
) -> "AnnotatedText":
    from distsim.contexts.sources.annotated import AnnotatedText, PlainText

    if output is None:
        raise typer.BadParameter("--model syntax needs the table's folder: give -o TABLE")
    if syntax.tool is None and syntax.models is None and syntax.processors is None:
        if syntax.as_is:
            raise typer.BadParameter("--as-is goes with plain text: name --with or --models too")
        return AnnotatedText(sources, trees=syntax.trees or ())
    if syntax.trees:
        raise typer.BadParameter("--trees goes with annotated files: leave it or --models out")
    tool = syntax.tool or "stanza"
    annotator = chosen_annotator(tool, syntax.models, syntax.processors, False)
    return PlainText(sources, annotator, output.rstrip("/") + ".conllu.gz", as_is=syntax.as_is)


def _report_annotated(source: "AnnotatedText") -> None:
    from distsim.contexts.sources.annotated import PlainText

    if isinstance(source, PlainText):
        say_annotated(source.report, str(source.annotated))


def _report_counts(source: "CountFiles", max_length: int) -> None:
    report = source.report
    say(
        f"{report.lines:,} lines; nothing taken from {report.special:,} with <unk>, <s> or "
        f"</s>, {report.vanished:,} with dropped words, {report.too_long:,} longer than "
        f"{max_length + 1} words"
    )
    if report.without_line:
        say(
            f"{report.without_line:,} phrases inside longer lines have no line of their own, "
            "so no count, and are left out"
        )


def _report_vectors(source: "VectorFile") -> None:
    report = source.report
    if report.alike or report.spaces:
        say(
            f"{report.words:,} words with vectors; left out {report.alike:,} like an earlier one "
            f"but for their case or form, {report.spaces:,} with white space inside or dropped"
        )


def _report(table: "SignatureTable", phrases: PhraseOptions) -> None:
    if table.unchanged:
        say(f"{Path(table.path)}: is this very table already: nothing was to be done")
    if not len(table):
        say(f"no phrase occurs {phrases.min_count} times with a context; its sums are kept")
    say(
        f"{len(table):,} phrases of 1 to {table.longest} tokens, {table.n_bits} bits, "
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
        say(f"{left_out:,} more phrases have no {why} and so no signature")
