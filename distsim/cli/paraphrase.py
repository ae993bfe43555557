"""`distsim paraphrase INDEX PHRASE...`: paraphrases of phrases, with evidence."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.choices import ParaphrasePreset as Preset
from distsim.cli.console import (
    NOT_AVAILABLE,
    Asked,
    InputOption,
    JobsOption,
    JsonOption,
    asked_phrases,
    contrast_label,
    counted,
    number,
    progress_bar,
    put,
    put_json,
    say,
    say_no_finder,
    say_opposites,
    say_shares,
)
from distsim.cli.groups import OptionGroup, grouped
from distsim.cli.options import AsIsOption, HeldMemoryOption, SetOption, chosen

if TYPE_CHECKING:
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.options import ParaphraseOptions
    from distsim.paraphrase.paraphraser import Paraphrase, Paraphraser

    _Listed = list[Paraphrase]


@dataclass
class UnknownOptions(OptionGroup):
    """Options for paraphrasing the unknown phrases of a text."""

    known: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="Phrase table or vocabulary: paraphrase the phrases of the --input text that it "
            "lacks.",
        ),
    ] = None
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT", help="With --known: the file to write."),
    ] = None
    as_is: AsIsOption = False


@dataclass
class AnswerOptions(OptionGroup):
    """How many paraphrases are printed, and how."""

    k: Annotated[
        int | None, typer.Option("-k", help="At most this many paraphrases.  [default: 20]")
    ] = None
    why: Annotated[
        bool, typer.Option("--why", help="Also where it was found, shared contexts, two examples.")
    ] = False
    as_json: JsonOption = False


@dataclass(frozen=True)
class CommandSettings:
    """Settings of the command beside those of the search.

    Arguments:
        phrase_length: with --known, the longest unknown phrases, in tokens.
    """

    phrase_length: int = 1


@grouped
def paraphrase(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    answers: AnswerOptions,
    unknown: UnknownOptions,
    phrases: Annotated[list[str] | None, typer.Argument(metavar="PHRASE...")] = None,
    file: InputOption = None,
    preset: Annotated[
        Preset,
        typer.Option(
            help="thorough: larger screens, longer lists; marton: the paper, all compared."
        ),
    ] = "default",
    table: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Signatures; default: those inside the index."),
    ] = None,
    settings: SetOption = None,
    memory: HeldMemoryOption = None,
    jobs: JobsOption = None,
) -> None:
    """Print focal<TAB>rank<TAB>paraphrase<TAB>score<TAB>count<TAB>evidence."""
    from distsim.paraphrase.options import PRESETS

    options, how = chosen(PRESETS[preset], CommandSettings(), settings=settings, k=answers.k)
    if unknown.known is not None or unknown.output is not None:
        if unknown.known is None or unknown.output is None or file is None or phrases:
            raise typer.BadParameter(
                "--known TABLE goes with a text, --input FILE, and with --output OUT"
            )
        found = _unknown_phrases(file, unknown.known, how.phrase_length, unknown.as_is)
        comparable = replace(options, finder=False, opposites="ranked")
        _batch(_opened(index, table, comparable), found, unknown.output, jobs)
        return
    asked = asked_phrases(phrases, file)
    _put_answers(_opened(index, table, options), asked, answers, jobs)


def _put_answers(
    paraphraser: "Paraphraser", asked: list[Asked], printed: AnswerOptions, jobs: int | None
) -> None:
    from distsim.base.parallel import ordered_map

    as_json, n_opposites, labels = printed.as_json, 0, list[str]()
    wanted = [one.phrase for one in asked if not one.empty]
    answers = ordered_map(paraphraser.answer, wanted, jobs)
    for one in asked:
        if one.empty:
            _put_nothing(one.phrase, 0, "empty", as_json)
            continue
        answer = next(answers)
        if not answer.paraphrases:
            _put_nothing(one.phrase, answer.count, str(answer.reason), as_json)
            say(f"NA: {one.phrase!r}: {answer.reason}")
            continue
        n_opposites += answer.n_opposites
        labels += [name for row in answer.paraphrases for name in contrast_label(row)]
        of = paraphraser.index if printed.why else None
        _put_paraphrases(one.phrase, answer.count, answer.paraphrases, of, as_json)
    if paraphraser.options.opposites == "out" and n_opposites:
        say(f"{counted(n_opposites, 'answer')} left out: opposites, or contrasted in the text")
    else:
        say_opposites(labels, n_opposites)


def _put_paraphrases(
    phrase: str, count: int, listed: "_Listed", index: "CorpusIndex | None", as_json: bool
) -> None:
    """Print the paraphrases of a phrase, with --why also passages of the index."""
    from dataclasses import asdict

    from distsim.cli.opened import examples

    for rank, found in enumerate(listed, 1):
        lines = () if index is None else examples(index, found.phrase)
        if as_json:
            told = asdict(found) | ({} if index is None else {"examples": lines})
            put_json(focal=phrase, focal_count=count, rank=rank, **told)
            continue
        reasons = []
        if index is not None:
            contexts = "; ".join(found.contexts) or NOT_AVAILABLE
            reasons = [",".join(found.origin), contexts, " | ".join(lines) or NOT_AVAILABLE]
        reasons += contrast_label(found)
        put(phrase, rank, found.phrase, number(found.score), found.count, found.evidence, *reasons)


def _opened(index: str, table: str | None, options: "ParaphraseOptions") -> "Paraphraser":
    """Return the paraphraser of an index, with its own signatures where they are current."""
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.places import signatures_inside
    from distsim.paraphrase.paraphraser import Paraphraser

    opened = CorpusIndex.open(index)
    signatures = None
    if table is not None:
        signatures = SignatureTable.open(table)
    elif options.neighbours and signatures_inside(index).exists():
        signatures = SignatureTable.open(index)
        if not signatures.is_of(opened):
            say(f"the signatures inside are older than the text: run distsim sign {index}")
    elif options.neighbours:
        say(f"no signatures in {index}: fewer candidates are found; distsim sign {index} adds them")
    if signatures is not None and options.finder:
        say_no_finder(signatures)
    paraphraser = Paraphraser(opened, options=options, table=signatures)
    if paraphraser.is_calibrated is False:
        say_shares()
    return paraphraser


def _unknown_phrases(text: str, known: str, longest: int, as_is: bool) -> dict[str, int]:
    from distsim.paraphrase.unknown import unknown_phrases

    phrases = unknown_phrases(text, known, longest, as_is)
    say(f"{len(phrases):,} unknown phrases of 1 to {longest} tokens in {text}")
    return phrases


def _batch(
    paraphraser: "Paraphraser", phrases: dict[str, int], output: str, jobs: int | None
) -> None:
    import signal

    from distsim.base.parallel import Interrupted
    from distsim.paraphrase.batch import paraphrase_phrases

    try:
        with progress_bar("phrases") as bar:
            report = paraphrase_phrases(paraphraser, phrases, output, jobs=jobs, progress=bar)
    except (Interrupted, KeyboardInterrupt) as error:
        say(f"distsim: interrupted; {output}.part keeps what is done: run the same to continue")
        signum = error.args[0] if isinstance(error, Interrupted) else signal.SIGINT
        raise typer.Exit(128 + signum) from None
    if report.resumed:
        say(f"{report.resumed:,} of them were done before")
    say(f"{report.answered:,} of {report.phrases:,} have paraphrases: {output}")


def _put_nothing(phrase: str, count: int, reason: str, as_json: bool) -> None:
    if as_json:
        put_json(focal=phrase, focal_count=count, rank=None, reason=reason)
    else:
        put(phrase, *[NOT_AVAILABLE] * 3, count, 0)
