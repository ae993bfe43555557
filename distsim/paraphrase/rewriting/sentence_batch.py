"""Rewrites the sentences of files, in order; a stopped run continues in its output."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from distsim.base.arguments import TextFormat, one_path
from distsim.base.errors import InputError, ParameterError, counted
from distsim.base.parallel import ordered_map
from distsim.corpus.lines import decoded_line, read_lines, read_tokenised
from distsim.corpus.sources import file_label
from distsim.paraphrase.rewriting.rewriter import Rewriter, Rewriting
from distsim.storage import checksum_of_settings, is_finished, resumable_lines

NOT_AVAILABLE = "NA"
_MOST_SENTENCES = 2_000_000  # they are kept in memory, some 700 bytes each


class RewritingTask(NamedTuple):
    """A sentence of the input.

    line: its number, from 1. text: the sentence. where: its file, for messages. tree: bracketed,
    empty or None where it has none.
    """

    line: int
    text: str
    where: str
    tree: str | None


class RewritingRecord(NamedTuple):
    """The rewritings of a sentence.

    task: the sentence. rewritings: of it. fault: the reason why it has none, else None.
    """

    task: RewritingTask
    rewritings: list[Rewriting]
    fault: str | None


def read_tasks(
    paths: Iterable[str | Path],
    trees: str | Path | None,
    as_is: bool = False,
    text_format: TextFormat | None = None,
    report: Callable[[TextFormat], None] | None = None,
) -> list[RewritingTask]:
    """Return the sentences of files (`-`: standard input), with their trees line by line.

    Arguments:
        trees: path of their trees; None: no trees.
        as_is: take what looks like another format, too.
        text_format: `lines` for tokenised sentences, kept as they are; `text` for running text,
            which is cut into tokens; where None `text` if marks stand at words in the beginning
            of a file, and there are no trees.
        report: called with the format of each file.

    Raises:
        InputError: a file cannot be read, is not UTF-8, looks like something else than plain text
            and is not to be taken `as_is`, there are more than 2,000,000 sentences, or there
            are more or fewer trees.
    """
    if trees is not None:
        text_format = text_format or "lines"
    tasks: list[RewritingTask] = []
    for path in paths:
        tokenised = read_tokenised(path, as_is, text_format)
        if report is not None:
            report(tokenised.text_format)
        for number, text in tokenised.lines:
            where = f"{file_label(path)}, line {number}"
            if len(tasks) == _MOST_SENTENCES:
                raise InputError(
                    f"{where}: is sentence {_MOST_SENTENCES + 1:,}: rewrite at most "
                    f"{_MOST_SENTENCES:,} at a time, in several runs"
                )
            tasks.append(RewritingTask(len(tasks) + 1, text, where, None))
    if trees is None:
        return tasks
    texts = [decoded_line(raw, f"{trees}, line {number}") for number, raw in read_lines(trees)]
    if len(texts) != len(tasks):
        raise InputError(
            f"{trees}: {counted(len(texts), 'line')} for {counted(len(tasks), 'sentence')}: "
            "give a tree a line, an "
            "empty line where there is none"
        )
    return [task._replace(tree=text) for task, text in zip(tasks, texts, strict=True)]


def answers(
    rewriter: Rewriter, tasks: Iterable[RewritingTask], n: int, jobs: int | None = None
) -> Iterator[RewritingRecord]:
    """Yield the rewritings of every line, in order; a line that fails does not stop the others.

    Arguments:
        n: rewritings of each.
        jobs: threads; as many as the machine has cores where None.
    """

    def answer(task: RewritingTask) -> RewritingRecord:
        try:
            rewritings = rewriter.rewrite(task.text, k=n, tree=task.tree)
        except ParameterError as error:
            return RewritingRecord(task, [], f"{task.where}: {error}")
        if not rewritings:
            reason = "the line is empty" if not task.text.strip() else "nothing was found"
            return RewritingRecord(task, [], f"{task.where}: {reason}")
        return RewritingRecord(task, rewritings, None)

    yield from ordered_map(answer, tasks, jobs)


def answer_lines(answer: RewritingRecord, *, why: bool = False, as_json: bool = False) -> list[str]:
    """Return the output lines of an answer: line, rank, score, sentence; NA where it has none.

    why: each is followed by lines `line rank why before after label score features`.

    Arguments:
        as_json: a JSON object a line instead.
    """
    task = answer.task
    if as_json:
        return [
            json.dumps({
                "line": task.line,
                "rewritings": [_record(rewriting, why) for rewriting in answer.rewritings],
                "fault": answer.fault,
            }, ensure_ascii=False)
        ]  # fmt: skip
    if not answer.rewritings:
        return [_row(task.line, 1, NOT_AVAILABLE, task.text.strip())]
    lines = []
    for rank, rewriting in enumerate(answer.rewritings, 1):
        lines.append(_row(task.line, rank, f"{rewriting.score:.6f}", rewriting.sentence))
        for step in rewriting.steps if why else ():
            counted = " ".join(f"{name}={value:.6g}" for name, value in step.features.items())
            lines.append(
                _row(task.line, rank, "why", step.before, step.after, step.label,
                     f"{step.score:.6f}", counted)
            )  # fmt: skip
        if why:
            counted = " ".join(f"{name}={value:.6g}" for name, value in rewriting.features.items())
            lines.append(_row(task.line, rank, "sum", counted))
    return lines


def _record(rewriting: Rewriting, why: bool) -> dict[str, object]:
    record: dict[str, object] = {"sentence": rewriting.sentence, "score": round(rewriting.score, 6)}
    if why:
        record["features"] = rewriting.features
        record["steps"] = [step._asdict() for step in rewriting.steps]
    return record


def _row(*columns: object) -> str:
    return "\t".join(str(column).replace("\t", " ") for column in columns)


def rewrite_file(
    rewriter: Rewriter,
    tasks: list[RewritingTask],
    path: str | Path,
    n: int,
    *,
    why: bool = False,
    as_json: bool = False,
    jobs: int | None = None,
) -> Iterator[RewritingRecord]:
    """Write the rewritings of all sentences to `path`; yield the answers made in this run.

    What is finished is kept in `<path>.part`, also when the run is killed; the same call goes on
    there and ends with the same bytes, whatever the number of jobs. To a pipe or a device all are
    written.

    Arguments:
        n: maximum number of rewritings of each.
        why: write the rules and features of each rewriting, too.
        jobs: threads; as many as the machine has cores where None.

    Raises:
        InputError: `path` or its part was begun with other settings; its folder does not exist.
    """
    path = one_path(path)
    settings = {
        "pack": rewriter.grammar.index.artifact.checksum,
        "model": rewriter.model.checksum,
        "weights": dict(rewriter.weights.values),
        "options": dict(rewriter.options.manifest()),
        "written": [n, why, as_json],
        "sentences": checksum_of_settings([[task.text, task.tree] for task in tasks]),
    }
    head = f"# distsim rewrite {checksum_of_settings(settings)}\n".encode()
    if is_finished(path, head):
        return
    with resumable_lines(path, head, _line_of_json if as_json else _line_of_row) as out:
        for answer in answers(rewriter, tasks[out.done :], n, jobs):
            lines = answer_lines(answer, why=why, as_json=as_json)
            out.write("".join(f"{line}\n" for line in lines).encode(errors="replace"))
            yield answer


def _line_of_json(line: bytes) -> int:
    return int(json.loads(line)["line"])


def _line_of_row(line: bytes) -> int:
    return int(line.partition(b"\t")[0])
