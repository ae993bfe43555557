"""`distsim substitute INDEX 'the bright [boy] read'`: substitutes of a word in its sentence."""

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.errors import InputError, counted
from distsim.cli.console import (
    NOT_AVAILABLE,
    JobsOption,
    contrast_label,
    say,
    say_no_finder,
    say_opposites,
    say_shares,
)
from distsim.cli.options import DocumentOptions, OptionGroup, SetOption, chosen, grouped
from distsim.cli.rows import NOTE, leave_out_question, lists_rows, put_row, say_ends

if TYPE_CHECKING:
    from distsim.base.results import Results
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.substitution.occurrence import SubstitutionTask
    from distsim.paraphrase.substitution.substitute_candidates import Mix
    from distsim.paraphrase.substitution.substituter import Substitute, Substituter

_SHOWN_WORDS = 5
_DEFAULT_K = 10


@dataclass
class CandidateOptions(OptionGroup):
    """The sources of candidates."""

    candidates: Annotated[
        str | None,
        typer.Option(metavar="A;B;...", help="With a SENTENCE: rank only these."),
    ] = None
    grammar: Annotated[
        str | None,
        typer.Option(metavar="RULES|PACK", help="Paraphrase rules: evidence for their targets."),
    ] = None
    table: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Signatures; default: those inside the index."),
    ] = None


@dataclass(frozen=True)
class SubstituteSettings:
    """Settings of the command beside the weights.

    Arguments:
        neighbours: the number of nearest words that are candidates.
        inflections: `auto`, as the table has them, a language that ships (`english`), `none`, or a
            file of rules.
        weights: of what `sign` stored to find words: `substitutes`, which ship, or a TOML file.
        opposites: put words found that are opposites of the target below the others.
    """

    neighbours: int = 200
    inflections: str = "auto"
    weights: str = "substitutes"
    opposites: bool = True


@lists_rows
@grouped
def substitute(
    index: Annotated[str, typer.Argument(metavar="INDEX", help="A signed index.")],
    candidate_options: CandidateOptions,
    part: DocumentOptions,
    sentence: Annotated[
        str | None,
        typer.Argument(metavar="SENTENCE", help="With the target in brackets: the [boy] read."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--input",
            "-i",
            metavar="FILE",
            help="Lines left<TAB>target<TAB>right[<TAB>candidate;candidate...]; - for stdin.",
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", "--limit", min=0, help="How many; 0: all.  [default: 10, or all candidates named]"
        ),
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Leave out answers with a lower score.")
    ] = None,
    why: Annotated[
        bool,
        typer.Option("--why", help="Also print the evidence, context words and two examples."),
    ] = False,
    settings: SetOption = None,
    jobs: JobsOption = None,
) -> None:
    """Find replacements of a word or phrase in its sentence.

    Prints line<TAB>rank<TAB>substitute<TAB>score; lines from 1. Candidates without a word that
    the corpus contains come last, with NA. A last column says `opposite` of opposites of the
    target and `contrasted` of other words that the text contrasts with it, which come last.
    --why adds similarity, fit, fluency, count, where it was found (with --grammar ln p of its rule
    in both directions), context words with their part of the fit, and two examples. `--set fit=0`
    leaves out a kind of evidence of named candidates.
    """
    from distsim.base.parallel import ordered_map
    from distsim.cli.opened import examples

    mixes = _mixes(settings)
    tasks = _tasks(sentence, file, candidate_options.candidates)
    corpus = part.opened(index)
    _require_targets(corpus, tasks, file or "the sentence")
    substituter = _substituter(corpus, index, candidate_options, tasks, mixes)
    answers = ordered_map(partial(_answer, substituter, k), tasks, jobs)
    leave_out_question("line", len(tasks))
    n_below = n_cut = 0
    labels: list[str] = []
    sizes: list[int] = []
    for task, substitutes in zip(tasks, answers, strict=True):
        shown = [row for row in substitutes if min_score is None or _reaches(row.score, min_score)]
        n_cut += len(substitutes) - len(shown)
        n_below += substitutes.opposites
        sizes.append(len(shown))
        labels += [name for row in shown for name in contrast_label(row)]
        lines = [examples(corpus, row.substitute) for row in shown] if why else None
        _put_answers(task, substitutes, shown, lines)
    say_ends(_limit(k, tasks[0]) if tasks else None, sizes)
    say_opposites(labels, n_below)
    if n_cut:
        say(f"{counted(n_cut, 'answer')} with a score below {min_score:g} left out")


def _mixes(settings: list[str] | None) -> "tuple[Mix, Mix, SubstituteSettings]":
    """Return the weights of candidates that are named, of those that are found, and the rest."""
    from distsim.paraphrase.substitution.substitute_candidates import FINDING, RANKING

    ranking, how = chosen(RANKING, SubstituteSettings(), settings=settings)
    changes = {
        name: value for name, value in asdict(ranking).items() if value != getattr(RANKING, name)
    }
    return ranking, replace(FINDING, **changes), how


def _substituter(
    opened: "CorpusIndex",
    index: str,
    candidate_options: CandidateOptions,
    tasks: "list[SubstitutionTask]",
    mixes: "tuple[Mix, Mix, SubstituteSettings]",
) -> "Substituter":
    """Return the substituter with the options and settings of the command."""
    from distsim.cli.opened import rules_of_words
    from distsim.comparison.finder.word_finder import FinderWeights, WordOptions
    from distsim.comparison.table import SignatureTable
    from distsim.corpus.inflections import AUTO, Inflections
    from distsim.paraphrase.substitution.substitute_candidates import FINDING
    from distsim.paraphrase.substitution.substituter import Substituter

    ranking, finding, how = mixes
    table = SignatureTable.open(candidate_options.table or index)
    say_no_finder(table)
    targets = [task.target for task in tasks if task.candidates is None]
    rules = (
        None
        if candidate_options.grammar is None
        else rules_of_words(candidate_options.grammar, opened, targets)
    )
    substituter = Substituter(
        opened, table, ranking=ranking, finding=finding,
        inflections=None if how.inflections == AUTO else Inflections.open(how.inflections),
        neighbours=how.neighbours, grammar=rules,
        words=WordOptions(FinderWeights.open(how.weights), how.opposites),
    )  # fmt: skip
    if targets and substituter.is_calibrated is False:
        say_shares()
    if targets and finding != FINDING and table.finder is not None:
        say("words are ordered by the weights that were set, not by those of `--set weights`")
    return substituter


def _put_answers(
    task: "SubstitutionTask",
    substitutes: "list[Substitute]",
    shown: "list[Substitute]",
    examples: list[tuple[str, ...]] | None,
) -> None:
    if not substitutes:
        say(f"line {task.line}: nothing can replace {task.target!r}: no candidates")
    for rank, row in enumerate(shown, 1):
        lines = () if examples is None else examples[rank - 1]
        _put(task.line, rank, row, lines, examples is not None)


def _reaches(score: float | None, least: float) -> bool:
    return score is not None and score >= least


def _require_targets(index: "CorpusIndex", tasks: "list[SubstitutionTask]", where: str) -> None:
    """Refuse a target of which normalising leaves nothing.

    Raises:
        InputError: there is one; the message names its line.
    """
    for task in tasks:
        if not index.words(task.target):
            raise InputError(
                f"{where}, line {task.line}: nothing is left of the target "
                f"{task.target!r} after normalising: name another"
            )


def _answer(
    substituter: "Substituter", k: int | None, task: "SubstitutionTask"
) -> "Results[Substitute]":
    return substituter.substitutes(
        task.left, task.target, task.right, k=_limit(k, task), candidates=task.candidates
    )


def _limit(k: int | None, task: "SubstitutionTask") -> int | None:
    """Return how many answers a sentence gets, None for all."""
    return _DEFAULT_K if k is None and task.candidates is None else k or None


def _tasks(
    sentence: str | None, file: str | None, candidates: str | None
) -> "list[SubstitutionTask]":
    """Return the tasks: one for a sentence, or one for each line of a file."""
    from distsim.paraphrase.substitution.occurrence import (
        SubstitutionTask,
        read_tasks,
        split_marked,
    )

    if file is not None and candidates is not None:
        raise typer.BadParameter("--candidates goes with a sentence: a file has its own column")
    if sentence is not None and file is None:
        named = None if candidates is None else tuple(_split(candidates))
        return [SubstitutionTask(1, *split_marked(sentence), named)]
    if sentence is not None or file is None:
        raise typer.BadParameter("give a sentence, or a file of lines with --input")
    return list(read_tasks(file))


def _put(line: int, rank: int, row: "Substitute", examples: tuple[str, ...], why: bool) -> None:
    values = row._asdict()
    values["because"] = [word._asdict() for word in row.because[:_SHOWN_WORDS]]
    values["examples"] = examples
    more = {
        name: value
        for name, value in values.items()
        if name in ("opposite", "contrasted", "article")
        or (why and name not in ("substitute", "occurrences"))
    }
    columns: dict[str, object] = {
        "line": line, "rank": rank, "answer": row.substitute, "score": row.score
    }  # fmt: skip
    if why:
        words = "; ".join(
            f"{w.word}@{w.place:+d} {w.share:.3f}" for w in row.because[:_SHOWN_WORDS]
        )
        cosines = {"likeness": row.likeness, "fit": row.fit, "fluency": row.fluency}
        origin = row.origin
        if row.rule:
            origin += "" if origin.endswith("grammar") else ",grammar"
            origin += f" ({' '.join(f'{value:.3f}' for value in row.rule)})"
        columns |= {**cosines, "count": row.occurrences, "origin": origin}
        columns["because"] = words or NOT_AVAILABLE
        columns["examples"] = " | ".join(examples) or NOT_AVAILABLE
    label = [*contrast_label(row), *([row.article] if row.article else [])]
    put_row({**columns, NOTE: ",".join(label)}, **more)


def _split(candidates: str) -> list[str]:
    return [candidate.strip() for candidate in candidates.split(";") if candidate.strip()]
