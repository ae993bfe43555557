"""`distsim sign SOURCE`: every frequent phrase's contexts -> a table of bit signatures."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.index import TextFormat
from distsim.cli.options import (
    GAUSSIAN,
    SPECTRAL,
    AlphaOption,
    DiscountOption,
    DropDigitsOption,
    DropPunctuationOption,
    FeaturesOption,
    FoldNumbersOption,
    KeepCaseOption,
    KeepSumsOption,
    KindsOption,
    MemoryOption,
    Model,
    ModelOption,
    ModelsOption,
    ProcessorsOption,
    ShiftOption,
    SidesOption,
    SubsampleOption,
    TreesOption,
    WeightsOption,
    WindowOption,
    changed_weighting,
)

if TYPE_CHECKING:
    from distsim.signatures.table import SignatureTable


class Preset(StrEnum):
    """Named settings."""

    LEARNT = "learnt"
    THESIS = "thesis"


def sign(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="An index; count files with --from-counts; annotated ones with --model syntax.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="TABLE", help="Its folder; default: in the index."),
    ] = None,
    preset: Annotated[
        Preset | None,
        typer.Option(
            help="learnt: ppmi, both sides to 5 words, learnt bits, composed phrases; "
            "thesis: raw counts, window 1, 256 random bits. Default: learnt; thesis where "
            "--weights, --window, --projection gaussian, --from-counts or --keep-sums is given "
            "without it."
        ),
    ] = None,
    window: WindowOption = None,
    sides: SidesOption = None,
    weights: WeightsOption = None,
    alpha: AlphaOption = None,
    shift: ShiftOption = None,
    subsample: SubsampleOption = None,
    discount: DiscountOption = None,
    projection: Annotated[
        str | None,
        typer.Option(
            metavar="gaussian|spectral|FILE",
            help="How weights become bits; spectral learns it first, FILE was learnt before.",
        ),
    ] = None,
    compose: Annotated[
        bool | None,
        typer.Option("--compose/--no-compose", help="Mix a phrase's vector with its words'."),
    ] = None,
    parts: Annotated[
        bool, typer.Option("--parts/--no-parts", help="Keep the words' vectors in the table.")
    ] = True,
    bits: Annotated[int | None, typer.Option(help="64 to 1024, in steps of 64.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the random projection.")] = None,
    min_count: Annotated[int, typer.Option(help="Leave out rarer phrases.")] = 5,
    max_length: Annotated[int, typer.Option(help="Longest phrases, in tokens.")] = 4,
    max_phrases: Annotated[
        int | None, typer.Option(help="Keep only the most frequent so many.")
    ] = None,
    keep_sums: KeepSumsOption = False,
    from_counts: Annotated[
        bool,
        typer.Option("--from-counts", help="Sources are files of lines `w1 .. wn<TAB>count`."),
    ] = False,
    text_format: Annotated[
        TextFormat | None,
        typer.Option("--format", help="--from-counts: how phrases are asked for."),
    ] = None,
    keep_case: KeepCaseOption = False,
    fold_numbers: FoldNumbersOption = False,
    drop_punctuation: DropPunctuationOption = False,
    drop_digits: DropDigitsOption = False,
    model: ModelOption = Model.NGRAM,
    trees: TreesOption = None,
    features: FeaturesOption = None,
    kinds: KindsOption = None,
    keep_features: Annotated[
        bool,
        typer.Option("--keep-features", help="syntax, --from-counts: keep them, for --exact."),
    ] = False,
    models: ModelsOption = None,
    processors: ProcessorsOption = None,
    memory: MemoryOption = "4G",  # type: ignore[assignment]
    jobs: JobsOption = None,
) -> None:
    """Sign phrases into a table.

    The table goes into the index where no -o is given. --from-counts takes n-gram count files
    or folders instead, plain or packed; --format, --keep-case, --fold-numbers and --drop-...
    then say what they say of an index. --model syntax takes annotated files (CoNLL-U or the lines
    of the thesis's toolkit, with --trees FILE for trees), or plain text that stanza annotates
    (--models DIR).
    """
    from distsim.contexts.weights import Weighting
    from distsim.corpus.normaliser import Normaliser
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.signatures.composition import Composition
    from distsim.signatures.counts import sign_counts
    from distsim.signatures.recipe import PRESETS, Recipe
    from distsim.signatures.sign import Selection
    from distsim.signatures.table import SignatureTable

    normaliser = Normaliser(not keep_case, fold_numbers, drop_punctuation, drop_digits)
    selection = Selection(min_count, max_length, max_phrases)
    if model is Model.SYNTAX:
        from distsim.cli.syntax import sign_syntax

        if from_counts or keep_sums or text_format or normaliser != Normaliser():
            raise typer.BadParameter(
                "--from-counts, --keep-sums, --format, --keep-case, --fold-numbers and --drop-... "
                "do not go with --model syntax: leave them out"
            )
        if preset or sides is not None or compose is not None:
            raise typer.BadParameter(
                "--preset, --sides and --compose are for n-gram tables: leave them out with "
                "--model syntax"
            )
        if output is None:
            raise typer.BadParameter("--model syntax needs the table's folder: give -o TABLE")
        weighting = changed_weighting(Weighting(), weights, alpha, shift, subsample, discount)
        with progress_bar() as bar:
            table = sign_syntax(
                sources, output, trees or [], (features, kinds, window), weighting, bits, seed,
                selection, models, processors, memory, keep_features, jobs, bar, projection,
            )  # fmt: skip
        _report(table, min_count, max_length)
        return
    if trees or features or kinds or models or processors:
        raise typer.BadParameter(
            "--trees, --features, --kinds, --models and --processors go with --model syntax: give "
            "it too, or leave them out"
        )
    if keep_features and not from_counts:
        raise typer.BadParameter(
            "--keep-features goes with --model syntax or --from-counts: an index holds the "
            "contexts of its own table"
        )
    if not from_counts:
        if len(sources) > 1:
            raise typer.BadParameter("give one index, or count files with --from-counts")
        if text_format is not None or normaliser != Normaliser():
            raise typer.BadParameter(
                "--format, --keep-case, --fold-numbers and --drop-... were settled when the index "
                "was built: leave them out, or name count files with --from-counts"
            )
    elif output is None:
        raise typer.BadParameter("--from-counts needs the table's folder: give -o TABLE")
    if preset is None:
        plain = from_counts or keep_sums or (projection is None and (weights or window))
        preset = Preset.THESIS if plain or projection == GAUSSIAN else Preset.LEARNT
    recipe = PRESETS[preset.value]
    learnt = recipe.learnt if projection is None else projection != GAUSSIAN
    composition = recipe.composition if learnt else None
    if compose is not None:
        composition = Composition() if compose else None
    recipe = Recipe(
        window=recipe.window if window is None else window,
        weighting=changed_weighting(recipe.weighting, weights, alpha, shift, subsample, discount),
        n_bits=recipe.n_bits if bits is None else bits,
        seed=recipe.seed if seed is None else seed,
        sides=recipe.sides if sides is None else sides,
        learnt=learnt,
        composition=composition,
    )
    file = projection if projection not in (None, GAUSSIAN, SPECTRAL) else None
    with progress_bar() as bar:
        if from_counts and output is not None:
            report = sign_counts(
                sources, output, recipe, selection, normaliser,
                text_format.value if text_format else "lines", memory, keep_sums, jobs, bar,
                keep_features,
            )  # fmt: skip
            table = SignatureTable.open(output)
        else:
            index = CorpusIndex.open(sources[0])
            table = SignatureTable.build(
                index, output, recipe, selection, jobs, bar, keep_sums, memory, file, parts
            )
    if from_counts:
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
    _report(table, min_count, max_length)


def _report(table: "SignatureTable", min_count: int, max_length: int) -> None:
    from distsim.signatures.recipe import short_fingerprint

    if not len(table):
        say(f"no phrase occurs {min_count} times with a context: lower --min-count")
    say(
        f"{len(table):,} phrases of 1 to {max_length} tokens, {table.n_bits} bits, "
        f"fingerprint {short_fingerprint(table.fingerprint)}"
    )
    if table.parts is not None:
        say(
            f"{len(table.parts.hashes):,} words' vectors kept beside them, "
            f"{table.parts.vectors.nbytes / 1e6:,.0f} MB, to compose phrases that are not there"
        )
    left_out = table.parameters["phrases_without_context"]
    if left_out:
        say(f"{left_out:,} more phrases have no weighted context and so no signature")
