"""Counts of occurrences by groups: by what matched, by a word beside, by a field of documents.

Each way of grouping gives a number to each occurrence, and a label to each number; two of them
are crossed by pairs of numbers.
"""

import re
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import AnyPath
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.indexes.layers import LAYERS

_BESIDE = re.compile(rf"([1-9]\d?)([LR])(?:\.({'|'.join(('word', *LAYERS))}))?")


class GroupCount(NamedTuple):
    """A phrase in one group.

    value: of the group, None where there is none: a document without the field, the edge of the
    sentence. times: occurrences. per_million: the same per million tokens of the documents with
    this value, of all where the group is no field. n_tokens, documents: of these documents.
    second: value of the second grouping where two are crossed.

    >>> from distsim import CorpusIndex
    >>> rows = [{"text": "tea", "year": 1850}, {"text": "more tea", "year": 1860}]
    >>> counts_by(CorpusIndex.from_texts(rows, folder / "by.index"), "tea", "year")[0].value
    1850
    """

    value: int | float | str | None
    times: int
    per_million: float
    n_tokens: int
    documents: int
    second: int | float | str | None = None


class _Grouping(NamedTuple):
    """Groups of occurrences.

    labels: of each group, in the order in which they are listed. numbers: int64, the group of each
    occurrence. of_documents: int64, the group of each document; None: groups are no fields.
    """

    labels: list[Any]
    numbers: np.ndarray
    of_documents: np.ndarray | None = None


def counts_by(
    index: CorpusIndex | AnyPath, spans: np.ndarray | str, by: str
) -> Results[GroupCount]:
    """Return the counts of a phrase by groups; their sum is its count.

    Values of fields are ascending, and have a row without occurrences, too; matches and words come
    by falling count. Rows without a value are the last.

    Arguments:
        index: the corpus.
        spans: a phrase, or int64[n, 2], half-open positions.
        by: `match`; `lemma` or `tag` of the match; `1L`, `2R.tag`: a word before or behind; a field
            of documents; `year/10` for decades; `day/month` of a date; or two of them: `year,1R`.

    Raises:
        ParameterError: there is no such field, no such layer, or there are three.

    >>> from distsim import CorpusIndex
    >>> rows = [{"text": "tea", "year": 1850}, {"text": "more tea", "year": 1860}]
    >>> counted = CorpusIndex.from_texts(rows, folder / "counted.index")
    >>> [(one.value, one.times) for one in counts_by(counted, "tea", "year")]
    [(1850, 1), (1860, 1)]
    >>> [(one.value, one.second) for one in counts_by(counted, "tea", "year,1L")]
    [(1850, None), (1860, 'more')]
    """
    index = opened_index(index)
    if isinstance(spans, str):
        spans = index.spans(spans)
    names = [by] if by in index.metadata.fields else [name.strip() for name in by.split(",")]
    if len(names) > 2 or not all(names):
        raise ParameterError(f"`by` {by!r}: give one grouping, or two with a comma: year,1R")
    parts = [_grouping(index, spans, name) for name in names]
    if len(parts) == 1:
        parts.append(_Grouping([None], np.zeros(len(spans), np.int64)))
    width = len(parts[1].labels)
    counts: dict[int, int] = dict(
        zip(
            *(
                column.tolist()
                for column in np.unique(
                    parts[0].numbers * width + parts[1].numbers, return_counts=True
                )
            ),
            strict=True,
        )
    )
    sizes = _sizes(index, parts, width)
    if all(part.of_documents is not None for part in parts[: len(names)]):
        counts = {key: counts.get(key, 0) for key in sizes}
    rows: Results[GroupCount] = Results()
    for key in sorted(counts):
        first_key, other = divmod(key, width)
        of_documents = (first_key if parts[0].of_documents is not None else 0) * width
        of_documents += other if parts[1].of_documents is not None else 0
        n_tokens, documents = sizes[of_documents]
        rate = counts[key] / n_tokens * 1e6
        labels = parts[0].labels[first_key], parts[1].labels[other]
        rows.append(GroupCount(labels[0], counts[key], rate, n_tokens, documents, labels[1]))
    return rows


def _sizes(index: CorpusIndex, parts: list[_Grouping], width: int) -> dict[int, tuple[int, int]]:
    """Return (tokens, documents) of the documents of each group, those of no field under 0."""
    lengths = index.document_lengths
    keys = np.zeros(lengths.size, np.int64)
    for part, step in zip(parts, (width, 1), strict=True):
        if part.of_documents is not None:
            keys += part.of_documents * step
    if index.kept_documents is not None:
        lengths, keys = lengths[index.kept_documents], keys[index.kept_documents]
    groups, numbers, documents = np.unique(keys, return_inverse=True, return_counts=True)
    tokens = np.zeros(groups.size, np.int64)
    np.add.at(tokens, numbers, lengths)
    columns = (groups.tolist(), tokens.tolist(), documents.tolist())
    return {key: (n_tokens, n) for key, n_tokens, n in zip(*columns, strict=True)}


def _grouping(index: CorpusIndex, spans: np.ndarray, by: str) -> _Grouping:
    """Return the groups of occurrences by one grouping."""
    beside = _BESIDE.fullmatch(by)
    if by == "match" or by in LAYERS:
        return _matched(index.of_layer("word" if by == "match" else by), spans)
    if beside is not None:
        layer = index.of_layer(beside[3] or "word")
        place = int(beside[1])
        before, behind = layer.around(spans, place)
        words = before[:, 0] if beside[2] == "L" else behind[:, place - 1]
        ids, numbers = np.unique(words, return_inverse=True)
        return _by_count(
            [layer.vocabulary.word(word_id) or None for word_id in ids.tolist()], numbers
        )
    values, of_documents = index.field_groups(by)
    of_documents = np.where(of_documents < 0, len(values), of_documents)
    owners = np.searchsorted(index.document_edges, spans[:, 0], "right") - 1
    whole = [
        int(value) if isinstance(value, float) and value.is_integer() else value for value in values
    ]
    return _Grouping([*whole, None], of_documents[owners], of_documents)


def _matched(index: CorpusIndex, spans: np.ndarray) -> _Grouping:
    """Return the groups of spans by their tokens."""
    numbers = np.empty(len(spans), np.int64)
    labels: dict[str, int] = {}
    lengths = spans[:, 1] - spans[:, 0]
    for length in np.unique(lengths).tolist():
        mine = np.flatnonzero(lengths == length)
        begins = spans[mine, :1]
        words = index.around(np.hstack([begins, begins]), length)[1]
        forms, of_form = np.unique(words, axis=0, return_inverse=True)
        texts = (" ".join(index.vocabulary.words(form)) for form in forms)
        places = np.array([labels.setdefault(text, len(labels)) for text in texts], np.int64)
        numbers[mine] = places[of_form.reshape(-1)]
    return _by_count(list(labels), numbers)


def _by_count(labels: list[str | None], numbers: np.ndarray) -> _Grouping:
    """Return groups by falling count, equal ones by label, those without a label last."""
    counts = np.bincount(numbers, minlength=len(labels)).tolist()
    order = sorted(
        range(len(labels)), key=lambda n: (labels[n] is None, -counts[n], labels[n] or "")
    )
    places = np.empty(len(labels), np.int64)
    places[order] = np.arange(len(labels))
    return _Grouping([labels[n] for n in order], places[numbers])
