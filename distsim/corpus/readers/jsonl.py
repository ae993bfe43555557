"""Reads JSON lines: an object a line."""

import json
from collections.abc import Iterator

from distsim.base.errors import InputError
from distsim.corpus.documents import Document
from distsim.corpus.lines import TEXT_LINE_BYTES, decoded, read_lines
from distsim.corpus.readers.reader import Reader, ReadOptions
from distsim.corpus.sources import Source


def _read(source: Source, options: ReadOptions) -> Iterator[Document]:
    for number, line in read_lines(source, TEXT_LINE_BYTES):
        if not line.strip():
            continue
        place = f"{source.label}, line {number}"
        try:
            values = json.loads(decoded(line, source.label, number))
        except InputError as error:
            options.skip(error)
            continue
        except (ValueError, RecursionError) as error:  # also a number of thousands of digits
            what = getattr(error, "msg", "a number or a nesting is too large")
            options.skip(InputError(f"{place}: is no JSON ({what}): correct the line"))
            continue
        if not isinstance(values, dict):
            options.skip(InputError(f"{place}: is no JSON object: give an object a line"))
            continue
        found = options.document(values, place, number)
        if found is not None:
            yield found


JSONL = Reader((".jsonl", ".ndjson"), ("JSON lines",), _read)
