"""`distsim kwic`, `document` and `trace`: places of the text, as it was written."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.errors import InputError
from distsim.base.results import Results
from distsim.cli.console import (
    InputOption,
    QueryOption,
    asked_phrases,
    read_lines,
    say,
    visible,
)
from distsim.cli.options import AsIsOption, DocumentOptions, SetOption, chosen, grouped, split_names
from distsim.cli.rows import (
    field_value,
    lists_rows,
    prints_json,
    put_object,
    put_row,
    say_rest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distsim.indexes.corpus_index import ConcordanceLine, CorpusIndex


ContextOption = Annotated[
    str | None,
    typer.Option(
        metavar="s|p|N|N:M", help="Across sentences: sentence, paragraph, or so many tokens."
    ),
]
SortOption = Annotated[
    str,
    typer.Option(
        metavar="ORDER", help="corpus, left, right, or up to three places such as 1L,2L,1R."
    ),
]
SeedOption = Annotated[
    int | None, typer.Option(min=0, help="Draw the --sample at random, by this seed.")
]
_COLUMNS = ("place", "left", "node", "right", "phrase", "source", "line", "document", "position")


@lists_rows
@grouped
def kwic(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    phrases: Annotated[list[str] | None, typer.Argument(metavar="PHRASE...")] = None,
    file: InputOption = None,
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="Lines a phrase at most; 0: all.")
    ] = 20,
    skip: Annotated[int, typer.Option(min=0, help="Lines to leave out first: the next page.")] = 0,
    width: Annotated[int, typer.Option(min=0, help="Tokens on either side.")] = 10,
    context: ContextOption = None,
    sort: SortOption = "corpus",
    sample: Annotated[
        int | None, typer.Option(min=1, help="So many occurrences, evenly spaced.")
    ] = None,
    seed: SeedOption = None,
    thin: Annotated[int, typer.Option(min=1, help="Only each so many-th occurrence.")] = 1,
    gapped: Annotated[
        bool, typer.Option("--gapped", help="Each _ stands for 1 to 6 tokens.")
    ] = False,
    query: QueryOption = False,
    show: Annotated[
        str | None,
        typer.Option(metavar="FIELDS", help="Fields of documents behind each line: author,year."),
    ] = None,
    settings: SetOption = None,
) -> None:
    """Show phrases in their contexts, one after another.

    Prints file:line<TAB>left<TAB>node<TAB>right, as written where the index keeps the text; where
    documents have ids of their own, the id in place of file:line. Of the matches of a --query with
    the same first token the shortest is shown; --set matching=longest or all shows others.
    """
    from distsim.indexes.concordance import Sample
    from distsim.indexes.corpus_index import ORDERS, sort_places
    from distsim.indexes.queries import QuerySettings

    (how,) = chosen(QuerySettings(), settings=settings)
    if sort not in ORDERS and sort_places(sort) is None:
        raise typer.BadParameter(
            f"{sort!r}: give {', '.join(ORDERS)}, or up to three places such as 1L,2L,1R",
            param_hint="--sort",
        )
    if seed is not None and sample is None:
        raise typer.BadParameter("give the size of the sample with --sample", param_hint="--seed")
    taken = Sample(sample, seed, thin) if sample is not None or thin > 1 else None
    asked = [argument.phrase for argument in asked_phrases(phrases, file) if not argument.empty]
    corpus = part.opened(index)
    for phrase in asked:
        lines = corpus.concordance(
            phrase, k=limit + skip if limit else None, width=context or width, order=sort,
            sample=taken, gapped=gapped, query=query, matching=how.matching,
        )  # fmt: skip
        if not lines:
            say(f"{phrase}: does not occur")
        _print_lines(corpus, phrase, lines[skip:], show)
        if not (gapped or query or taken):
            say_rest(len(lines[skip:]), corpus.count(phrase))


def _print_lines(
    index: "CorpusIndex", phrase: str, lines: "Sequence[ConcordanceLine]", show: str | None
) -> None:
    """Print lines of a concordance, with fields of their documents beside."""
    fields_of_lines = _fields_beside(index, [line.document for line in lines], show)
    for line, fields in zip(lines, fields_of_lines, strict=True):
        has_id = index.has_ids and line.document != line.source
        place = line.document if has_id else f"{line.source}:{line.line}"
        sides = {"left": line.left, "node": line.node, "right": line.right}
        put_row({"place": place, **sides, **fields}, **{"phrase": phrase, **line._asdict()})


def _fields_beside(
    index: "CorpusIndex", ids: list[str], show: str | None
) -> list[dict[str, object]]:
    """Return the fields to be shown beside each line, by the names of their columns."""
    names = split_names(show or "")
    if not names or not ids:
        return [{} for _ in ids]
    columns = {name: f"document.{name}" if name in _COLUMNS else name for name in names}
    rows = index.metadata.values(names, index.metadata.numbers(ids))
    return [{columns[name]: field_value(value) for name, value in row.items()} for row in rows]


@lists_rows
@grouped
def document(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID|FILE:LINE...")] = None,
    around: Annotated[
        str | None,
        typer.Option(metavar="PHRASE", help="Only the passages around a phrase, one a line."),
    ] = None,
    sentences: Annotated[
        int, typer.Option(min=0, help="Of a passage, on either side of the phrase.")
    ] = 2,
) -> None:
    """Print documents as they were written.

    A document is named by its id, or by a place in it as kwic prints it; without names all
    documents of --where and --in are printed. Its id and fields are printed to standard error, or
    in the JSON object.
    """
    from distsim.indexes.stored_documents import passage, read_document

    if not (ids or part.given()):
        raise typer.BadParameter("name documents, or choose them by --where or --in")
    corpus = part.opened(index)
    for document_id in ids or corpus.documents_at(
        corpus.document_edges[:-1][corpus.kept_documents]
    ):
        document_read = read_document(corpus, document_id)
        passages = None
        if around is not None:
            begins = corpus.select(documents=[document_read.id]).positions(around)
            passages = [passage(corpus, begin, sentences) for begin in begins.tolist()]
            if not passages:
                say(f"{around}: does not occur in {document_read.id}")
        if prints_json():
            shown = document_read._asdict()
            if passages is not None:
                shown["passages"] = passages
                del shown["text"]
            put_object(**shown)
            continue
        fields = "".join(f", {name} {value}" for name, value in document_read.fields.items())
        say(f"{document_read.id}: {document_read.source}:{document_read.line}{fields}")
        if passages is None:
            print(document_read.text)
        for text in passages or ():
            print(visible(" ".join(text.split()), sys.stdout))


@lists_rows
@grouped
def trace(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    texts: Annotated[str, typer.Argument(metavar="TEXTS", help="A file; - for stdin.")],
    part: DocumentOptions,
    jsonl: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Each line is a JSON object with a text in FIELD."),
    ] = None,
    min_tokens: Annotated[int, typer.Option(min=1, help="Leave out shorter spans.")] = 6,
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="The longest spans of each text; 0: all.")
    ] = 0,
    as_is: AsIsOption = False,
) -> None:
    """Find the longest spans of texts that occur in an index.

    Prints a line for each text: text<TAB>number<TAB>tokens<TAB>share of its 8-grams found<TAB>of
    its 13-grams; then one for each span: span<TAB>first token<TAB>tokens<TAB>count<TAB>the span,
    normalised<TAB>some of its places<TAB>verbatim or normalised. Spans and n-grams end where a
    sentence ends.
    """
    from distsim.indexes.tracing import trace as traced

    corpus = part.opened(index)
    for place, text in enumerate(_texts(texts, jsonl, as_is), 1):
        traced_text = traced(corpus, text, min_tokens=min_tokens)
        n_spans = len(traced_text.spans)
        longest = sorted(traced_text.spans, key=lambda span: -span.n_tokens)[: limit or None]
        traced_text = traced_text._replace(
            spans=Results(sorted(longest, key=lambda span: span.first))
        )
        if prints_json():
            spans = [span._asdict() for span in traced_text.spans]
            for span in spans:
                span["count"] = span.pop("times")
            put_object(number=place, **(traced_text._asdict() | {"spans": spans}))
            continue
        shares = {"share_8": traced_text.share_8, "share_13": traced_text.share_13}
        put_row({"row": "text", "number": place, "tokens": traced_text.n_tokens, **shares})
        for traced_span in traced_text.spans:
            places = " ".join(traced_span.places)
            mark = {True: "verbatim", False: "normalised", None: "NA"}[traced_span.verbatim]
            extent = {"row": "span", "first": traced_span.first, "tokens": traced_span.n_tokens}
            columns = {"count": traced_span.times, "text": traced_span.text, "places": places}
            put_row({**extent, **columns, "as": mark})
        say_rest(len(longest), n_spans)


def _texts(path: str, field: str | None, as_is: bool) -> Iterator[str]:
    """Yield the text of a file, or those of its lines in JSON.

    Raises:
        InputError: the file looks like something else than plain text and is not taken `as_is`, or
            a line is not an object in JSON with a text in the field.
    """
    from distsim.corpus.lines import read_text_lines

    if field is None:
        yield b"".join(line for _, line in read_text_lines(path, as_is)).decode(errors="replace")
        return
    for place, line in enumerate(read_lines(path), 1):
        try:
            record = json.loads(line)
            text = record[field]
        except (ValueError, KeyError, TypeError, RecursionError):
            text = None
        if not isinstance(text, str):
            raise InputError(
                f"{path}, line {place}: is no JSON object with a text in the field {field!r}: "
                "correct the line, or name another field with --jsonl"
            )
        yield text
