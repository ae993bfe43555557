"""Named subcorpora of an index: filters and ids of documents under a name, in a small file.

Filters are applied whenever a subcorpus is asked for: documents that are added later belong to it
where they fit.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from distsim.base.arguments import AnyPath, one_or_many_texts, one_path, one_text
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.saved_filters import filters_named, read_filters, write_filters
from distsim.storage import INDEX, Artifact
from distsim.storage.folders import locked

_NAME = re.compile(r"\w[\w.-]{0,99}")


class Subcorpus(NamedTuple):
    """A named part of an index.

    name: by which it is asked for. where: filters, all of which hold. ids: of documents; none where
    the filters alone choose. documents, tokens: how many fit now.

    >>> from distsim import CorpusIndex
    >>> rows = [{"text": "tea", "year": 1850}, {"text": "more tea", "year": 1860}]
    >>> part = CorpusIndex.from_texts(rows, folder / "part.index")
    >>> save_subcorpus(part, "late", where="year=1860..").tokens
    2
    """

    name: str
    where: tuple[str, ...]
    ids: tuple[str, ...]
    documents: int
    tokens: int


def save_subcorpus(
    index: CorpusIndex, name: str, *, where: str | Iterable[str] = (), ids: Iterable[str] = ()
) -> Subcorpus:
    """Save a part of an index under a name, in place of an earlier one of that name.

    Arguments:
        index: the whole index.
        name: letters, digits, `_`, `.` and `-`.
        where: filters on the fields of documents.
        ids: of documents.

    Raises:
        ParameterError: the name has other characters, nothing is chosen, or no document fits.

    >>> save_subcorpus(index, "first", ids=["1"]).documents
    1
    """
    if _NAME.fullmatch(one_text(name, "name")) is None:
        raise ParameterError(f"{name!r}: a name has letters, digits, _, . and - alone")
    filters, chosen = one_or_many_texts(where, "where"), list(ids)
    if not (filters or chosen):
        raise ParameterError("a subcorpus is chosen by `where` or `ids`: give one of them")
    part = index.whole.select(where=filters, documents=chosen or None)
    chosen_by = {"where": list(filters), "ids": chosen}
    saved = _described(part, name, chosen_by)
    with locked(index.path, index.path):
        write_filters(index.path, read_filters(index.path) | {name: chosen_by})
    return saved


def list_subcorpora(index: CorpusIndex) -> Results[Subcorpus]:
    """Return the subcorpora of an index by name; of one that no document fits any more, 0.

    >>> _ = save_subcorpus(index, "first", ids=["1"])
    >>> [one.name for one in list_subcorpora(index)]
    ['first']
    """
    subcorpora = []
    for name, saved in read_filters(index.path).items():
        try:
            part = index.whole.select(subcorpus=name)
        except ParameterError:
            subcorpora.append(Subcorpus(name, tuple(saved["where"]), tuple(saved["ids"]), 0, 0))
        else:
            subcorpora.append(_described(part, name, saved))
    return Results(subcorpora)


def remove_subcorpus(path: AnyPath, name: str) -> None:
    """Remove a name from an index; its documents stay.

    Raises:
        ParameterError: there is no such name.

    >>> _ = save_subcorpus(index, "first", ids=["1"])
    >>> remove_subcorpus(index.path, "first")
    """
    folder = one_path(path)
    Artifact(folder, INDEX)
    with locked(folder, folder):
        known = read_filters(folder)
        filters_named(folder, known, name)
        del known[name]
        write_filters(folder, known)


def _described(part: CorpusIndex, name: str, saved: Mapping[str, Any]) -> Subcorpus:
    kept = part.kept_documents
    n = 0 if kept is None else int(kept.sum())
    return Subcorpus(name, tuple(saved["where"]), tuple(saved["ids"]), n, part.n_tokens)
