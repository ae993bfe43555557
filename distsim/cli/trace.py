"""`distsim trace INDEX TEXTS`: the longest spans of texts that occur in an index."""

import json
from collections.abc import Iterator
from typing import Annotated

import typer

from distsim.base.errors import InputError
from distsim.cli.console import read_lines
from distsim.cli.groups import grouped
from distsim.cli.options import AsIsOption, DocumentOptions
from distsim.cli.rows import lists_rows, prints_json, put_object, put_row


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
    as_is: AsIsOption = False,
) -> None:
    """Find the longest spans of texts that occur in an index.

    Prints a line for each text: text<TAB>number<TAB>tokens<TAB>share of its 8-grams found<TAB>of
    its 13-grams; then one for each span: span<TAB>first token<TAB>tokens<TAB>count<TAB>the span,
    normalised<TAB>some of its places<TAB>verbatim or normalised. Spans and n-grams end where a
    sentence ends.
    """
    from distsim.indexes.tracing import trace as traced

    opened = part.opened(index)
    for place, text in enumerate(_texts(texts, jsonl, as_is), 1):
        found = traced(opened, text, min_tokens=min_tokens)
        if prints_json():
            spans = [one._asdict() for one in found.spans]
            for span in spans:
                span["count"] = span.pop("times")
            put_object(number=place, **(found._asdict() | {"spans": spans}))
            continue
        shares = {"share_8": found.share_8, "share_13": found.share_13}
        put_row({"row": "text", "number": place, "tokens": found.n_tokens, **shares})
        for one in found.spans:
            places = " ".join(one.places)
            mark = {True: "verbatim", False: "normalised", None: "NA"}[one.verbatim]
            extent = {"row": "span", "first": one.first, "tokens": one.n_tokens}
            put_row({**extent, "count": one.times, "text": one.text, "places": places, "as": mark})


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
