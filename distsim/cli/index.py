"""`distsim index build/add`: builds and extends an index."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.arguments import Dedup, FileFormat, TextFormat
from distsim.base.errors import Interrupted, counted
from distsim.base.parallel import Progress
from distsim.cli.console import (
    ForceOption,
    JobsOption,
    WhereOption,
    in_flags,
    may_replace,
    progress_bar,
    read_lines,
    say,
    say_format,
)
from distsim.cli.costs import INDEX, say_cost, tokens_in
from distsim.cli.options import (
    AsIsOption,
    EncodingOption,
    FreeMemoryOption,
    KeepCaseOption,
    RecipeOption,
    SetOption,
    chosen,
)
from distsim.cli.rows import lists_rows, put_row

if TYPE_CHECKING:
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.subcorpora import Subcorpus


Index = Annotated[str, typer.Argument(metavar="INDEX")]
Name = Annotated[str, typer.Argument(metavar="NAME")]


@lists_rows
def save_subcorpus(
    index: Index,
    name: Name,
    where: WhereOption = None,
    ids: Annotated[
        str | None, typer.Option(metavar="FILE", help="Ids of documents, one a line; - for stdin.")
    ] = None,
) -> None:
    """Save a part of an index under a name, which --in takes.

    Prints name<TAB>documents<TAB>tokens<TAB>filters. Filters are applied when it is asked for:
    documents that are added later belong to it where they fit.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.subcorpora import save_subcorpus

    chosen = () if ids is None else [line for line in read_lines(ids) if line]
    _print(save_subcorpus(CorpusIndex.open(index), name, where=where or (), ids=chosen))


@lists_rows
def list_subcorpora(index: Index) -> None:
    """List the named parts of an index.

    Prints name<TAB>documents<TAB>tokens<TAB>filters.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.subcorpora import list_subcorpora

    subcorpora = list_subcorpora(CorpusIndex.open(index))
    if not subcorpora:
        say(f"{index}: has no subcorpora: distsim subcorpus save makes one")
    for subcorpus in subcorpora:
        _print(subcorpus)


def remove_subcorpus(index: Index, name: Name) -> None:
    """Remove a name; the documents stay in the index."""
    from distsim.indexes.subcorpora import remove_subcorpus

    remove_subcorpus(index, name)


def _print(subcorpus: "Subcorpus") -> None:
    filters = [*subcorpus.where, *([counted(len(subcorpus.ids), "id")] if subcorpus.ids else [])]
    row = {"name": subcorpus.name, "documents": subcorpus.documents, "tokens": subcorpus.tokens}
    put_row({**row, "filters": "; ".join(filters)}, where=subcorpus.where, ids=subcorpus.ids)


_SHOWN_REPEATED = 5
_SORTING = 2  # times the time of reading

Corpus = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS...", help="Files, folders, s3://...; plain or gz, bz2, xz, zst; - is stdin."
    ),
]


MetadataOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Fields of the files: CSV, TSV or JSONL, a column `file`."),
]
TypesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type", metavar="FIELD=TYPE", help="int, float, date or text, where not inferred."
    ),
]


DedupOption = Annotated[
    Dedup | None,
    typer.Option(
        help="Drop lines seen before (exact), documents or lines that nearly repeat an earlier "
        "one (near, near-lines).  [default: off]"
    ),
]
DuplicatesOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Write near-duplicates: id kept, id dropped, their Jaccard index."
    ),
]


def build(
    corpus: Corpus,
    output: Annotated[str, typer.Option("--output", "-o", metavar="INDEX", help="Its folder.")],
    file_format: Annotated[
        FileFormat,
        typer.Option(
            "--format",
            help="lines: tokenised, a sentence a line; text: running text; auto: by name and "
            "first bytes of each file.",
        ),
    ] = "auto",
    text: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="Field with the text.  [default: text, content or body]"
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="Field with the document's id; - numbers them.  [default: id]"
        ),
    ] = None,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave out broken records and count them.")
    ] = False,
    dedup: DedupOption = None,
    duplicates: DuplicatesOption = None,
    keep_case: KeepCaseOption = False,
    metadata: MetadataOption = None,
    types: TypesOption = None,
    as_is: AsIsOption = False,
    encoding: EncodingOption = None,
    recipe: RecipeOption = None,
    settings: SetOption = None,
    force: ForceOption = False,
    memory: FreeMemoryOption = None,
    jobs: JobsOption = None,
) -> None:
    """Index a corpus; --memory limits the size of shards.

    --set and --recipe change shard_tokens and how words are normalised (normaliser.fold_numbers,
    normaliser.drop_punctuation, normaliser.drop_digits, normaliser.turkish).
    """
    from distsim.corpus.normaliser import Normaliser
    from distsim.indexes.build import IndexOptions
    from distsim.indexes.corpus_index import CorpusIndex

    chosen(IndexOptions(), recipe=recipe, settings=settings)  # before anything is opened
    of_files, cut = _settled(file_format, corpus, as_is, encoding)
    (options,) = chosen(
        IndexOptions(cut, normaliser=Normaliser(lower=not keep_case)), recipe=recipe,
        settings=[*(settings or ()), *(f"types.{named_type}" for named_type in types or ())],
        dedup=dedup, as_is=as_is or None, file_format=of_files, text_field=text, id_field=id,
        skip_broken=skip_broken or None, metadata=metadata, encoding=encoding,
    )  # fmt: skip
    force = may_replace(output, force)
    say_cost(tokens_in(corpus), [INDEX], jobs)
    with _kept_sorted(output), progress_bar(expected=tokens_in(corpus)) as bar:
        index = CorpusIndex.build(
            corpus, output, options=options, force=force, jobs=jobs, progress=_read_and_sorted(bar),
            memory=memory, notice=lambda doubt: say(in_flags(doubt)),
        )  # fmt: skip
    _report(index)
    _write_duplicates(duplicates, index)


def add(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    corpus: Corpus,
    duplicates: DuplicatesOption = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also files whose text the index has already.")
    ] = False,
    as_is: AsIsOption = False,
    memory: FreeMemoryOption = None,
    jobs: JobsOption = None,
) -> None:
    """Append text to an index, read as the index was built.

    Files whose text the index has already are skipped.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.storage.manifest import signatures_inside

    opened = CorpusIndex.open(index)
    expected = opened.n_tokens + tokens_in(corpus)
    with _kept_sorted(index), progress_bar(expected=expected) as bar:
        extended = opened.add(
            corpus,
            again=again,
            as_is=as_is,
            jobs=jobs,
            progress=_read_and_sorted(bar, opened.n_tokens),
            memory=memory,
            notice=lambda doubt: say(in_flags(doubt)),
        )
    repeated = extended.report.repeated
    for known in repeated[:_SHOWN_REPEATED]:
        known_as = "" if Path(known.label).name == known.known_as else f", as {known.known_as}"
        say(f"{known.label}: its text is in the index already{known_as}")
    if len(repeated) > _SHOWN_REPEATED:
        say(f"and that of {len(repeated) - _SHOWN_REPEATED:,} more files")
    if not extended.report.added:
        say("nothing new: the index stays as it is (--again adds the text once more)")
        return
    _report(extended)
    _write_duplicates(duplicates, extended)
    if signatures_inside(index).exists():
        say(f"the signatures inside do not know the new text yet: run distsim sign {index}")


def remove(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    ids: Annotated[
        str, typer.Option(metavar="FILE", help="Ids of documents, one a line; - for stdin.")
    ],
    memory: FreeMemoryOption = None,
    jobs: JobsOption = None,
) -> None:
    """Take documents out of an index.

    It is built again from the stored text of the other documents, whose ids stay. Signatures inside
    it are removed.
    """
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.stored_documents import remove_documents
    from distsim.storage.manifest import signatures_inside

    named = [line for line in read_lines(ids) if line.strip()]
    had_signatures = signatures_inside(index).exists()
    with progress_bar() as bar:
        remove_documents(index, named, jobs=jobs, progress=bar, memory=memory)
    _report(CorpusIndex.open(index))
    if had_signatures and not signatures_inside(index).exists():
        say(f"the signatures inside knew these documents and are gone: run distsim sign {index}")


@contextmanager
def _kept_sorted(index: str) -> Iterator[None]:
    """At an interruption, say that sorted shards are kept, where there are any."""
    from distsim.storage import keeps_pieces

    try:
        yield
    except (Interrupted, KeyboardInterrupt) as error:
        if not keeps_pieces(index):
            raise
        say("distsim: interrupted; sorted shards are kept: run the same to continue")
        signum = error.args[0] if isinstance(error, Interrupted) else signal.SIGINT
        raise typer.Exit(128 + signum) from None


def _read_and_sorted(bar: Progress, n_sorted: int = 0) -> Progress:
    """Return the progress of building by which a token is done when it is read and sorted.

    n_sorted: tokens that the index has before.
    """
    n_read = n_sorted

    def show_stage(stage: str, done: int, total: int | None) -> None:
        nonlocal n_read, n_sorted
        if stage == "sorting":
            n_read = done
        else:
            n_sorted = n_read
        bar("building", (done + _SORTING * n_sorted) // (1 + _SORTING), total)

    return show_stage


def _settled(
    file_format: FileFormat, corpus: list[str], as_is: bool, encoding: str | None
) -> tuple[FileFormat, TextFormat]:
    """Return (file format, text format) of all files, and print what was inferred."""
    from distsim.corpus.readers import settle_format

    if file_format in ("lines", "text"):
        return "text", file_format
    settled = settle_format(corpus, as_is, file_format, encoding)
    if file_format == "auto":
        say_format(*settled)
    return settled


def _write_duplicates(path: str | None, index: "CorpusIndex") -> None:
    """Write the near-duplicates that were dropped, if a file is named."""
    from distsim.storage.files import open_output

    if path is None:
        return
    with open_output(path) as file:
        for kept, dropped, jaccard in index.report.duplicates:
            file.write(f"{kept}\t{dropped}\t{jaccard:.6f}\n".encode(errors="surrogateescape"))


def _report(index: "CorpusIndex") -> None:
    parameters = index.parameters
    counts = parameters["counts"]
    documents = parameters.get("documents")
    if documents is not None:
        fields = ", ".join(f"{name} {kind}" for name, kind in documents["fields"].items())
        say(f"fields of documents: {fields or 'none but id'}")
        for name, n in documents["unfit"].items():
            kind = documents["fields"][name]
            say(f"{name}: {counted(n, 'value')} that are no {kind} are missing")
    say(
        ", ".join(
            (
                counted(counts["tokens"], "token"),
                counted(parameters["words"], "word"),
                counted(counts["sentences"], "sentence"),
                counted(counts["documents"], "document"),
                counted(parameters["shards"], "shard"),
            )
        )
    )
    if index.report.read.empty:
        say(
            f"{counted(index.report.read.empty, 'record')} without text left out; the first: "
            f"{index.report.read.first_empty}"
        )
    if index.report.read.skipped:
        say(
            f"{counted(index.report.read.skipped, 'broken record')} left out; the first: "
            f"{index.report.read.first_skipped}"
        )
    if parameters["dedup"] != "off":
        seen = counts["tokens"] + counts["dropped_tokens"]
        say(
            f"dedup {parameters['dedup']}: {counts['dropped_lines']:,} of "
            f"{counted(counts['lines'], 'line')} dropped "
            f"({counts['dropped_lines'] / max(1, counts['lines']):.1%}), "
            f"{counted(counts['dropped_tokens'], 'token')} "
            f"({counts['dropped_tokens'] / max(1, seen):.1%})"
        )
