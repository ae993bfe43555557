"""`distsim paraphrase INDEX PHRASE...`: what else could be said, and why."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from distsim.base.choices import Entailment
from distsim.base.choices import ParaphrasePreset as Preset
from distsim.cli.console import (
    NOT_AVAILABLE,
    InputOption,
    JobsOption,
    JsonOption,
    asked_phrases,
    number,
    progress_bar,
    put,
    put_json,
    say,
)
from distsim.cli.in_sentence import AMONG, InSentenceOption, ranked_in
from distsim.cli.options import AsIsOption, Weights

if TYPE_CHECKING:
    from distsim.paraphrase.options import ParaphraseOptions
    from distsim.paraphrase.paraphraser import Paraphrase, Paraphraser

    _Listed = list[Paraphrase]


def paraphrase(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    phrases: Annotated[list[str] | None, typer.Argument(metavar="PHRASE...")] = None,
    file: InputOption = None,
    preset: Annotated[
        Preset, typer.Option(help="thorough: larger screens; marton: the paper, all compared.")
    ] = "default",
    k: Annotated[int | None, typer.Option("-k", help="Paraphrases at most.  [default: 20]")] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Leave out lower scores.  [default: .05]")
    ] = None,
    window: Annotated[
        int | None, typer.Option(help="Tokens on either side in a profile.  [default: 6]")
    ] = None,
    places: Annotated[
        int | None,
        typer.Option(help="Nearest words a side that count again, by place.  [default: 2]"),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Occurrences in a profile at most.  [default: 10000]")
    ] = None,
    mcc: Annotated[
        int | None, typer.Option(help="Most occurrences of a context's side.  [default: 512]")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(help="Longest paraphrases, in tokens.  [default: 6]")
    ] = None,
    length_difference: Annotated[
        int | None,
        typer.Option(help="Tokens longer or shorter at most; -1: any.  [default: 2]"),
    ] = None,
    weights: Annotated[
        Weights | None,
        typer.Option(help="Strength of association.  [default: log-llr; marton: llr]"),
    ] = None,
    entailment: Annotated[
        Entailment | None,
        typer.Option(help="Leave out what is contained in the phrase, or contains it, in order."),
    ] = None,
    substrings: Annotated[
        bool | None,
        typer.Option("--drop-pieces/--keep-pieces", help="What holds the phrase or is part of it."),
    ] = None,
    collapsed: Annotated[
        bool | None,
        typer.Option("--drop-collapsed/--keep-collapsed", help="Two paraphrases run together."),
    ] = None,
    overlapping: Annotated[
        bool | None,
        typer.Option(
            "--drop-overlapping/--keep-overlapping",
            help="What mostly stands across the phrase's edge.",
        ),
    ] = None,
    one_sided: Annotated[
        int | None, typer.Option(help="Candidates from one-sided contexts; 0: none.")
    ] = None,
    neighbours: Annotated[
        int | None, typer.Option(help="Candidates from signatures; 0: none.")
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Signatures; default: those inside the index."),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Paraphrase the unknown phrases of a tokenised text."),
    ] = None,
    known: Annotated[
        str | None, typer.Option(metavar="TABLE", help="Phrase table or vocabulary: not unknown.")
    ] = None,
    phrase_length: Annotated[
        int, typer.Option(help="With --text: longest unknown phrases, in tokens.")
    ] = 1,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT", help="With --text: the file to write."),
    ] = None,
    as_is: AsIsOption = False,
    drop_opposites: Annotated[
        bool,
        typer.Option("--drop-opposites", help="Leave out what is the phrase's opposite."),
    ] = False,
    sentence: InSentenceOption = None,
    why: Annotated[
        bool, typer.Option("--why", help="Also print where it was found, and shared contexts.")
    ] = False,
    as_json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Print focal<TAB>rank<TAB>paraphrase<TAB>score<TAB>count<TAB>evidence.

    With --in the score is that of `distsim substitute`.
    """
    from dataclasses import replace

    from distsim.base.parallel import ordered_map

    batch = (text, known, output)
    if any(one is not None for one in batch) and not all(one is not None for one in batch):
        raise typer.BadParameter("--text, --known and --output go together: give all three")
    if text is not None and (phrases or file is not None):
        raise typer.BadParameter("give phrases, or a text with --text, not both")
    if text is not None and drop_opposites:
        raise typer.BadParameter("--drop-opposites goes with phrases, without --text")
    asked = [] if text is not None else asked_phrases(phrases, file)
    if sentence is not None and (file is not None or len(asked) != 1):
        raise typer.BadParameter("--in goes with one phrase")
    changes: dict[str, Any] = {
        "k": k, "min_score": min_score, "window": window, "places": places, "sample": sample,
        "mcc": mcc, "max_length": max_length, "length_difference": length_difference,
        "entailment": entailment, "substrings": substrings,
        "collapsed": collapsed, "overlapping": overlapping, "one_sided": one_sided,
        "neighbours": neighbours,
    }  # fmt: skip
    options = _options(preset, changes, weights)
    most = options.k
    if sentence is not None or drop_opposites:
        options = replace(options, k=AMONG, depth=AMONG)
    paraphraser = _opened(index, table, options)
    if text is not None and known is not None and output is not None:
        unknown = _unknown_phrases(text, known, phrase_length, as_is)
        _batch(paraphraser, unknown, output, jobs)
        return
    opposites = _Opposites(index, table) if drop_opposites else None
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
        listed = answer.paraphrases
        if sentence is not None:
            listed = _in_sentence(listed, index, table or index, sentence, one.phrase)[:most]
        if opposites is not None:
            listed = opposites.left_out(one.phrase, listed, most)
        _put_paraphrases(one.phrase, answer.count, listed, why, as_json)
    if opposites is not None and opposites.n_dropped:
        say(f"left out as opposites: {opposites.n_dropped:,}")


class _Opposites:
    """Leaves opposites out, and counts those of the first `most` that fell."""

    def __init__(self, index: str, table: str | None) -> None:
        from distsim.cli.opened import opened_opposites

        self._opposites = opened_opposites(index, table)
        self.n_dropped = 0

    def left_out(self, phrase: str, listed: "_Listed", most: int) -> "_Listed":
        told = self._opposites.evidence([(phrase, found.phrase) for found in listed])
        opposite = [bool(said and said.opposite) for said in told]
        self.n_dropped += sum(opposite[:most])
        return [one for one, out in zip(listed, opposite, strict=True) if not out][:most]


def _in_sentence(
    listed: "_Listed", index: str, table: str, sentence: str, phrase: str
) -> "_Listed":
    from dataclasses import replace

    ranked = ranked_in(index, table, sentence, phrase, [found.phrase for found in listed])
    return [replace(listed[place], score=score) for place, score in ranked]


def _put_paraphrases(phrase: str, count: int, listed: "_Listed", why: bool, as_json: bool) -> None:
    from dataclasses import asdict

    for rank, found in enumerate(listed, 1):
        if as_json:
            put_json(focal=phrase, focal_count=count, rank=rank, **asdict(found))
            continue
        reasons = [",".join(found.origin), "; ".join(found.contexts)] if why else []
        put(phrase, rank, found.phrase, number(found.score), found.count, found.evidence, *reasons)


def _options(preset: str, changes: dict[str, Any], weights: str | None) -> "ParaphraseOptions":
    from dataclasses import replace

    from distsim.contexts.weights import Weighting
    from distsim.paraphrase.options import PRESETS

    given = {name: value for name, value in changes.items() if value is not None}
    if given.get("length_difference") == -1:
        given["length_difference"] = None
    if weights is not None:
        given["weighting"] = Weighting(str(weights))
    return replace(PRESETS[preset], **given)


def _opened(index: str, table: str | None, options: "ParaphraseOptions") -> "Paraphraser":
    """Open what is needed; an index's own signatures are used where they know all its text."""
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex, signatures_inside
    from distsim.paraphrase.paraphraser import Paraphraser

    opened = CorpusIndex.open(index)
    signatures = None
    if table is not None:
        signatures = SignatureTable.open(table)
    elif options.neighbours and signatures_inside(index).exists():
        signatures = SignatureTable.open(index)
        if signatures.parameters["corpus"] != opened.parameters["corpus"]:
            say(f"the signatures inside are older than the text: run distsim sign {index}")
    elif options.neighbours:
        say(f"no signatures in {index}: fewer candidates are found; distsim sign {index} adds them")
    return Paraphraser(opened, options, table=signatures)


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
