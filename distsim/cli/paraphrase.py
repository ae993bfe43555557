"""`distsim paraphrase INDEX PHRASE...`: paraphrases of phrases, with evidence."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.arguments import ParaphrasePreset as Preset
from distsim.base.arguments import TextFormat
from distsim.base.errors import counted
from distsim.cli.console import (
    NOT_AVAILABLE,
    InputOption,
    JobsOption,
    PhraseArgument,
    asked_phrases,
    contrast_label,
    progress_bar,
    say,
    say_no_finder,
    say_opposites,
    say_shares,
)
from distsim.cli.options import (
    AsIsOption,
    DocumentOptions,
    HeldMemoryOption,
    OptionGroup,
    SetOption,
    chosen,
    grouped,
    limit_memory,
)
from distsim.cli.rows import (
    ALL_ROWS,
    NOTE,
    leave_out_question,
    lists_rows,
    prints_csv,
    put_object,
    put_row,
    say_ends,
)

if TYPE_CHECKING:
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.paraphraser import Paraphrase, Paraphraser
    from distsim.paraphrase.paraphrasing_options import ParaphraseOptions

    _Listed = list[Paraphrase]


@dataclass
class UnknownTextOptions(OptionGroup):
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
class RuleOptions(OptionGroup):
    """Options for a grammar's paraphrases."""

    grammar: Annotated[
        str | None,
        typer.Option(
            metavar="PACKS",
            help="Packed rules, by pack or make-grammar: their targets are candidates too.",
        ),
    ] = None
    tree: Annotated[
        str | None,
        typer.Option(
            metavar="TREE", help="Of the phrase's sentence, bracketed: only rules with its labels."
        ),
    ] = None


@dataclass
class AnswerOptions(OptionGroup):
    """How many paraphrases are searched for, and how they are printed."""

    k: Annotated[
        int | None,
        typer.Option(
            "-k", "--limit", min=0, help="At most this many paraphrases; 0: all.  [default: 20]"
        ),
    ] = None
    why: Annotated[
        bool, typer.Option("--why", help="Also where it was found, shared contexts, two examples.")
    ] = False
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Answer each line of --input, or standard input, by a JSON line, at once.",
        ),
    ] = False


@dataclass(frozen=True)
class ParaphraseSettings:
    """Settings of the command beside those of the search.

    Arguments:
        phrase_length: with --known, the longest unknown phrases, in tokens.
        text_format: of the text for --known: `lines` for tokenised text, `text` for running text;
            where None `text` if marks stand at words in its beginning.
    """

    phrase_length: int = 1
    text_format: TextFormat | None = None


@lists_rows
@grouped
def paraphrase(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    limits: AnswerOptions,
    unknown: UnknownTextOptions,
    rules: RuleOptions,
    part: DocumentOptions,
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
    """Print phrase<TAB>rank<TAB>answer<TAB>score<TAB>count<TAB>shared_contexts<TAB>note."""
    from distsim.paraphrase.paraphrasing_options import PRESETS

    limit_memory(memory)
    wanted = ALL_ROWS if limits.k == 0 else limits.k
    options, fine = chosen(PRESETS[preset], ParaphraseSettings(), settings=settings, k=wanted)
    if unknown.known is not None or unknown.output is not None:
        if unknown.known is None or unknown.output is None or file is None or phrases:
            raise typer.BadParameter(
                "--known TABLE goes with a text, --input FILE, and with --output OUT"
            )
        unknown_phrases = _unknown_phrases(file, unknown, fine)
        comparable = replace(options, finder=False, opposites="ranked")
        paraphraser = _opened(index, part, table, comparable)
        _batch(paraphraser, unknown_phrases, unknown.output, jobs)
        return
    if limits.stream:
        if phrases or rules.tree is not None or prints_csv():
            raise typer.BadParameter("--stream reads lines of --input or standard input, and "
                                     "writes JSON: leave out phrases, --tree, --csv")  # fmt: skip
        paraphraser = _opened(index, part, table, options, rules.grammar)
        _stream(paraphraser, file or "-", limits.why, jobs)
        return
    asked = asked_phrases(phrases, file)
    if rules.tree is not None and rules.grammar is None:
        raise typer.BadParameter("--tree chooses among rules: give --grammar PACKS too")
    paraphraser = _opened(index, part, table, options, rules.grammar)
    leave_out_question("phrase", len(asked))
    _put_answers(paraphraser, asked, limits, jobs, rules.tree)


def _put_answers(
    paraphraser: "Paraphraser",
    asked: list[PhraseArgument],
    printed: AnswerOptions,
    jobs: int | None,
    tree: str | None,
) -> None:
    from distsim.base.parallel import ordered_map

    n_opposites, labels, sizes = 0, list[str](), list[int]()
    wanted = [argument.phrase for argument in asked if not argument.empty]
    answers = ordered_map(partial(paraphraser.answer, tree=tree), wanted, jobs)
    for argument in asked:
        if argument.empty:
            _put_nothing(argument.phrase, 0, "empty")
            continue
        answer = next(answers)
        if not answer.paraphrases:
            _put_nothing(argument.phrase, answer.count, str(answer.reason))
            say(f"NA: {argument.phrase!r}: {answer.reason}")
            continue
        n_opposites += answer.n_opposites
        sizes.append(len(answer.paraphrases))
        labels += [name for row in answer.paraphrases for name in contrast_label(row)]
        of = paraphraser.index if printed.why else None
        _put_paraphrases(argument.phrase, answer.count, answer.paraphrases, of)
    say_ends(paraphraser.options.k, sizes)
    if paraphraser.options.opposites == "out" and n_opposites:
        say(f"{counted(n_opposites, 'answer')} left out: opposites, or contrasted in the text")
    else:
        say_opposites(labels, n_opposites)


def _stream(paraphraser: "Paraphraser", file: str, why: bool, jobs: int | None) -> None:
    """Answer each line of a file by a JSON line, before the next is read."""
    import sys
    from contextlib import nullcontext

    from distsim.corpus.sources import file_label, find_file, open_source
    from distsim.paraphrase.records import ParaphraseStream

    stream = ParaphraseStream(paraphraser, contexts=why, jobs=jobs)
    n_faulty = 0
    standard = nullcontext(sys.stdin.buffer)
    with standard if file == "-" else open_source(find_file(file)) as lines:
        for number, answer in enumerate(stream.answer_lines(lines), 1):
            put_object(**answer)
            sys.stdout.flush()
            if "error" in answer:
                n_faulty += 1
                say(f"{file_label(file)}, line {number}: {answer['error']}")
    if n_faulty:
        raise typer.Exit(1)


def _put_paraphrases(
    phrase: str, count: int, listed: "_Listed", index: "CorpusIndex | None"
) -> None:
    """Print the paraphrases of a phrase, with --why also passages of the index."""
    from dataclasses import asdict

    from distsim.cli.opened import examples

    for rank, row in enumerate(listed, 1):
        lines = () if index is None else examples(index, row.phrase)
        columns: dict[str, object] = {
            "phrase": phrase, "rank": rank, "answer": row.phrase, "score": row.score,
            "count": row.count, "shared_contexts": row.shared_contexts,
        }  # fmt: skip
        if index is not None:
            columns["origin"] = ",".join(row.origin)
            columns["contexts"] = "; ".join(row.contexts) or NOT_AVAILABLE
            columns["examples"] = " | ".join(lines) or NOT_AVAILABLE
        columns[NOTE] = ",".join(contrast_label(row))
        more = {name: value for name, value in asdict(row).items() if name != "phrase"}
        more |= {"phrase_count": count} | ({} if index is None else {"examples": lines})
        put_row(columns, **more)


def _opened(
    index: str,
    part: DocumentOptions,
    table: str | None,
    options: "ParaphraseOptions",
    grammar: str | None = None,
) -> "Paraphraser":
    """Return the paraphraser of an index, with its own signatures; older ones are told."""
    from distsim.comparison.table import SignatureTable
    from distsim.grammar.packs.grammar_index import GrammarIndex
    from distsim.paraphrase.paraphraser import Paraphraser
    from distsim.storage.manifest import signatures_inside

    corpus = part.opened(index)
    signatures = None
    if table is not None:
        signatures = SignatureTable.open(table)
    elif options.neighbours and signatures_inside(index).exists():
        signatures = SignatureTable.open(index)
        if not signatures.is_of_all(corpus):
            say(f"the signatures inside are older than the text: run distsim sign {index}")
    elif options.neighbours:
        say(f"no signatures in {index}: fewer candidates are found; distsim sign {index} adds them")
    if signatures is not None and options.finder:
        say_no_finder(signatures)
    rules = None if grammar is None else GrammarIndex.open(grammar)
    paraphraser = Paraphraser(corpus, options=options, table=signatures, grammar=rules)
    if paraphraser.is_calibrated is False:
        say_shares()
    return paraphraser


def _unknown_phrases(
    text: str, how: UnknownTextOptions, fine: ParaphraseSettings
) -> dict[str, int]:
    from distsim.paraphrase.unknown_words.words import unknown_phrases

    longest = fine.phrase_length
    unknown = unknown_phrases(text, str(how.known), longest, how.as_is, fine.text_format)
    if unknown.text_format == "text" and fine.text_format is None:
        say("read as running text; --set text_format=lines for tokenised text, a sentence a line")
    if unknown.lowered:
        say("its capitals were made small: what is known has none")
    say(f"{counted(len(unknown.counts), 'unknown phrase')} of 1 to {longest} tokens in {text}")
    return unknown.counts


def _batch(
    paraphraser: "Paraphraser", phrases: dict[str, int], output: str, jobs: int | None
) -> None:
    import signal

    from distsim.base.errors import Interrupted
    from distsim.paraphrase.records import paraphrase_phrases

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


def _put_nothing(phrase: str, count: int, reason: str) -> None:
    columns = {"phrase": phrase, **dict.fromkeys(("rank", "answer", "score"))}
    put_row({**columns, "count": count, "shared_contexts": 0}, phrase_count=count, reason=reason)
