"""Picture of an index's text and a table's phrases: frequencies, growth, lengths."""

import numpy as np

from distsim.base.arguments import AnyPath
from distsim.base.errors import ParameterError
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.output.pictures.charts import bars, curve
from distsim.output.pictures.drawing import Drawing, Text
from distsim.output.pictures.settings import index_settings, table_settings
from distsim.signatures.table import TableLike, opened_table

_WIDTH, _HEIGHT, _MARGIN, _PART = 1180.0, 460.0, 24.0, 360.0
_POINTS = 200


def spectrum(counts: np.ndarray) -> list[tuple[float, float]]:
    """Return (rank, count) of words by descending count, at ranks spaced evenly by logarithm.

    >>> spectrum(np.array([1, 8, 2, 0]))
    [(1.0, 8.0), (2.0, 2.0), (3.0, 1.0)]
    """
    ordered = np.sort(counts[counts > 0])[::-1]
    if not ordered.size:
        return []
    ranks = np.unique(np.geomspace(1, ordered.size, _POINTS).round().astype(np.int64))
    return [(float(rank), float(ordered[rank - 1])) for rank in ranks.tolist()]


def growth(index: CorpusIndex) -> list[tuple[float, float]]:
    """Return (tokens read, distinct words among them) at about 200 places of the text.

    Exact: words are numbered in order of first appearance, so those seen so far are as many as
    the largest number.

    >>> read, words = growth(index)[-1]
    >>> int(words) == len(index)
    True
    """
    points = [(0.0, 0.0)]
    read = largest = 0
    total = sum(shard.tokens.size for shard in index.shards)
    step = max(1, total // _POINTS)
    for shard in index.shards:
        for begin in range(0, shard.tokens.size, step):
            piece = shard.tokens[begin : begin + step]
            read += int(np.count_nonzero(piece))
            largest = max(largest, int(piece.max(initial=0)))
            points.append((float(read), float(largest)))
    return points


def corpus_picture(
    index: CorpusIndex | AnyPath | None, *, table: TableLike | None = None
) -> Drawing:
    """Return a picture of an index, of a table, or of both.

    Word frequencies by rank and the growth of the vocabulary, of an index; the phrases of a
    table by their number of tokens.

    Raises:
        ParameterError: there is neither, or nothing in them.

    >>> corpus_picture(index, table=table).label
    'Words and phrases of a text'
    """
    index = None if index is None else opened_index(index)
    table = None if table is None else opened_table(table)
    settings = [index_settings(index)] if index is not None else []
    settings += [table_settings(table)] if table is not None else []
    drawing = Drawing(
        _WIDTH, _HEIGHT, "Words and phrases of a text", settings="\n".join(settings)
    )  # fmt: skip
    x = _MARGIN
    if index is not None and index.n_tokens:
        drawing.put(
            Text(_MARGIN, 38, f"{index.n_tokens:,} tokens, {len(index):,} words", 20, bold=True)
        )
        ranked = spectrum(index.word_counts()[1:])
        curve(drawing, ranked, (x, 66, _PART, 360), ("Frequencies", "rank", "occurrences"), True)
        x += _PART + _MARGIN
        curve(drawing, growth(index), (x, 66, _PART, 360),
              ("Growth of the vocabulary", "tokens read", "distinct words"))  # fmt: skip
        x += _PART + _MARGIN
    if table is not None and len(table):
        if index is None:
            drawing.put(Text(_MARGIN, 38, f"{len(table):,} phrases", 20, bold=True))
        tokens = table.token_counts()
        counts = [(n, int((tokens == n).sum())) for n in range(1, table.longest + 1)]
        rows = [(f"{n} token{'s' * (n > 1)}", float(count), f"{count:,}") for n, count in counts]
        drawing.put(Text(x, 80, "Phrases of the table", 15, bold=True))
        bars(drawing, rows, x, 100, _PART)
    if not drawing.shapes:
        raise ParameterError("there are no words and no phrases: there is nothing to draw")
    return drawing
