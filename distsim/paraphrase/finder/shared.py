"""Objects of an index and its table that finders of words and phrases have in common."""

from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, TypeVar, cast

from distsim.comparison.opposites.opposites import Opposites
from distsim.corpus.inflections import Inflections
from distsim.indexes.corpus_index import CorpusIndex
from distsim.signatures.table import StoredTable

T = TypeVar("T")
_LOCK = RLock()


def shared(
    index: CorpusIndex, table: StoredTable | None, key: Hashable, make: Callable[[], T]
) -> T:
    """Return the result of `make`, made once for an index and a table; always without a table.

    It is kept with the table, for the index that was asked for last.

    Arguments:
        index, table: those that it is made from.
        make: called without arguments.
    """
    if table is None:
        return make()
    with _LOCK:
        of, made = cast(tuple[Any, dict[Hashable, Any]], table.kept.get("shared", (None, {})))
        if of is not index:
            made = {}
            table.kept["shared"] = index, made
        if key not in made:
            made[key] = make()
        return cast(T, made[key])


def inflections_of(index: CorpusIndex, table: StoredTable) -> Inflections:
    """Return the inflections by which a table's finder was made, or those of the text's language.

    Arguments:
        index: of the text.
        table: signed from it.
    """

    def opened() -> Inflections:
        return Inflections.open(table.inflections or index.language)

    return shared(index, table, "inflections", opened)


def opposites_of(
    index: CorpusIndex, table: StoredTable, inflections: Inflections | None = None
) -> Opposites:
    """Return the detector of opposites, the same object each time for the table's inflections.

    Arguments:
        inflections: the rules of the language; those of the table where None.
    """
    if inflections is not None:
        return Opposites(index, table, inflections=inflections)
    rules = inflections_of(index, table)
    return shared(index, table, "opposites", lambda: Opposites(index, table, inflections=rules))
