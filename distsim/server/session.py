"""The opened artifacts and the objects that questions need, made once and cached.

Each piece is made when it is first asked for, once, whichever thread asks, and kept.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from distsim.base.errors import ArtifactError, ParameterError
from distsim.comparison.measures import CosineName, Similarity, cosine
from distsim.comparison.nearest import NeighbourSearch, usual_strength
from distsim.comparison.table import SignatureTable
from distsim.contexts.ngram import PhraseWeigher
from distsim.contexts.weights import Weighting
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.saved_filters import FILE as SUBCORPORA
from distsim.storage.files import MANIFEST
from distsim.storage.manifest import signatures_inside

if TYPE_CHECKING:
    from distsim.comparison.finder.word_neighbours import WordNeighbours
    from distsim.grammar.packs.grammar_index import GrammarIndex
    from distsim.paraphrase.paraphraser import Paraphraser
    from distsim.paraphrase.rewriting.rewriter import Rewriter
    from distsim.paraphrase.substitution.substituter import Substituter


_TRIED = 400
_FOLLOWERS = 20_000
_PREFIX_BYTES = 8  # bytes


class Completer:
    """Completes words by their text and phrases by their next word, from an index alone.

    Keeps the words' order by their first eight bytes, and those: 20 bytes a word.

    Arguments:
        index: of the text.
        counts: int64[n_words], occurrences by id.
    """

    def __init__(self, index: CorpusIndex, counts: np.ndarray) -> None:
        self._index = index
        self._counts = counts
        heads = _heads(index.vocabulary.text, index.vocabulary.offsets.astype(np.int64))
        self._order = np.argsort(heads, kind="stable").astype(np.uint32)
        self._heads = heads[self._order]

    def complete(self, text: str, k: int) -> list[tuple[str, int]]:
        """Return up to k phrases that begin with a text and occur, with their counts.

        The last word is taken as unfinished, unless a blank is behind it: then the words
        that follow most often are added, counted among 20,000 occurrences at most.

        Arguments:
            k: maximum number of phrases.
        """
        normal = self._index.options.normaliser.characters(text)
        begun, _, last = (
            normal.rstrip().rpartition(" ") if normal[-1:].strip() else (normal, "", "")
        )
        begun = " ".join(begun.split())
        if not begun and not last:
            return []
        if not begun:
            best = self._most_frequent(self._beginning(last), k)
            return [(self._index.vocabulary.word(word), int(self._counts[word])) for word in best]
        if not last:
            words = self._followers(begun)[:_TRIED]
        else:
            words = self._most_frequent(self._beginning(last), _TRIED)
        phrases = [f"{begun} {self._index.vocabulary.word(word)}" for word in words]
        if not phrases:
            return []
        counts = self._index.count(phrases).tolist()
        completions = [
            (completion, count) for completion, count in zip(phrases, counts, strict=True) if count
        ]
        return sorted(completions, key=lambda completion: (-completion[1], completion[0]))[:k]

    def _beginning(self, prefix: str) -> np.ndarray:
        """Return the words that begin with a prefix."""
        wanted = prefix.encode(errors="replace")
        head = wanted[:_PREFIX_BYTES]
        low = np.searchsorted(self._heads, _number(head.ljust(_PREFIX_BYTES, b"\0")), "left")
        high = np.searchsorted(self._heads, _number(head.ljust(_PREFIX_BYTES, b"\xff")), "right")
        words = self._order[low:high]
        if len(wanted) <= _PREFIX_BYTES:
            return words
        word = self._index.vocabulary.word
        return np.array([w for w in words.tolist() if word(w).startswith(prefix)], np.uint32)

    def _most_frequent(self, words: np.ndarray, k: int) -> list[int]:
        words = words[self._counts[words] > 0]
        words = words[words > 0]
        best: list[int] = words[np.argsort(-self._counts[words], kind="stable")[:k]].tolist()
        return best

    def _followers(self, phrase: str) -> list[int]:
        """Return the words that follow a phrase, the most frequent first."""
        spans = self._index.spans(phrase, sample=_FOLLOWERS)
        if not len(spans):
            return []
        words, counts = np.unique(self._index.following(spans), return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return [word for word in words[order].tolist() if word]


def _number(head: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(head, "big"))


def _heads(text: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the first eight bytes of every word as one number in their order, uint64.

    Arguments:
        text, offsets: uint8 and int64[n + 1], the words end to end.
    """
    heads = np.zeros(offsets.size - 1, np.uint64)
    for place in range(_PREFIX_BYTES):
        at = offsets[:-1] + place
        inside = at < offsets[1:]
        heads[inside] |= text[at[inside]].astype(np.uint64) << np.uint64(
            8 * (_PREFIX_BYTES - 1 - place)
        )
    return heads


T = TypeVar("T")
_FILTERS = re.compile(r"(?<!\\);")  # \; is a semicolon in a value
_USUAL_COUNT, _WORDS_A_COUNT = 20, 100_000
_PARAPHRASES_COUNT = 20  # ParaphraseOptions' neighbour_strength
_KEPT_VECTORS = 4
_SHORTENED = 0.75  # of the words stay
_PARAPHRASES_BYTES = 8 << 20
MAIN, SYNTAX = "words", "syntax"


@dataclass(frozen=True)
class Places:
    """The paths of the served artifacts.

    table: signatures; those inside the index where None. syntax: a second table, of syntactic
    contexts. grammar: rules, packed or as text. against: the index of a reference corpus.
    """

    index: str
    table: str | None = None
    syntax: str | None = None
    grammar: str | None = None
    against: str | None = None

    def state(self) -> tuple[tuple[int, int, int] | None, ...]:
        """Return a value that changes when an artifact is written again."""
        tables = [self.table or signatures_inside(self.index)]
        tables += [path for path in (self.syntax, self.against) if path]
        files = [Path(path) / MANIFEST for path in (self.index, *tables)]
        return tuple(_state(file) for file in (*files, Path(self.index) / SUBCORPORA))


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


class NotServedError(ParameterError):
    """A question needs a table or a grammar that is not served."""


class Opened:
    """The opened artifacts: index, tables, rules.

    index; tables by name, `words` the usual one; notes: what a visitor should know, such as
    that the signatures are older than the text.

    Arguments:
        places: paths of the artifacts.
        rules: the grammar, where it was opened before; it is read but once.

    Raises:
        ArtifactError: an artifact is not there or damaged.
    """

    def __init__(self, places: Places, rules: "GrammarIndex | None" = None) -> None:
        self.places = places
        self.index = CorpusIndex.open(places.index)
        self.tables: dict[str, SignatureTable] = {}
        self.notes: list[str] = []
        self._kept: dict[Any, Any] = {}
        self._locks: dict[Any, Lock] = {}
        self._lock = Lock()
        if places.table is not None:
            self.tables[MAIN] = SignatureTable.open(places.table)
        elif signatures_inside(places.index).exists():
            try:
                self.tables[MAIN] = SignatureTable.open(places.index)
            except ArtifactError:
                if not _was_of_another_text(places.index):
                    raise
                self.notes.append("The signatures inside the index are of another text.")
        if places.syntax is not None:
            self.tables[SYNTAX] = SignatureTable.open(places.syntax)
        if MAIN in self.tables and not self.is_current(MAIN):
            self.notes.append(
                "The signatures are older than the text: counts, concordances and contexts know "
                "all of it, neighbours what was there when it was signed."
            )
        self.reference = CorpusIndex.open(places.against) if places.against else None
        self.rules = rules
        if rules is None and places.grammar:
            from distsim.grammar.packs.grammar_index import GrammarIndex

            if Path(places.grammar).is_file():
                raise ParameterError(
                    f"{places.grammar}: is a file, wanted the folder of a packed grammar: pack it "
                    "first (distsim pack FILE -o FOLDER)"
                )
            self.rules = GrammarIndex.open(places.grammar)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of documents."""
        return tuple(self.index.metadata.fields) if self.index.home else ()

    def documents(self, where: str) -> CorpusIndex:
        """Return the index of the documents that fit filters, separated by semicolons.

        Arguments:
            where: filters, and names of subcorpora; all documents where empty.

        Raises:
            ParameterError: there is no such field or value, or no document fits.
        """
        filters = [condition.strip() for condition in _FILTERS.split(where) if condition.strip()]
        if not filters:
            return self.index
        names = [condition for condition in filters if "=" not in condition]
        filters = [condition for condition in filters if "=" in condition]
        if filters and not self.fields:
            raise ParameterError("`where`: the documents of this corpus have no fields")
        index = self.index.select(where=filters)
        for name in names:
            index = index.select(subcorpus=name)
        return index

    def table(self, name: str = MAIN) -> SignatureTable:
        """Return the table of a name.

        Arguments:
            name: name of a table that is served.

        Raises:
            NotServedError: there is none of this name.
        """
        if name not in self.tables:
            raise NotServedError(
                "the index was not signed: distsim sign INDEX makes the signatures that this needs"
                if name == MAIN
                else f"no table of {name} is served: name one with distsim serve --syntax TABLE"
            )
        return self.tables[name]

    def is_current(self, name: str = MAIN) -> bool:
        """Return whether a table was signed from the index's current text.

        Arguments:
            name: name of a table that is served.
        """
        return self.tables[name].is_of(self.index)

    def require_current(self) -> SignatureTable:
        """Return the usual table.

        Raises:
            NotServedError: it was signed before the index grew.
        """
        table = self.table()
        if not self.is_current():
            raise NotServedError(
                "the signatures are older than the text: distsim sign INDEX brings them up to date"
            )
        return table

    def search(self, name: str, lengths: range | None, min_count: int = 0) -> NeighbourSearch:
        """Return the search for neighbours in a table; searches share their data.

        Arguments:
            lengths: tokens of an answer; any where None.
            min_count: only phrases so frequent. 0: as `NeighbourSearch` has it where the table
                composes phrases; else those of 20 occurrences, fewer in a text of less than two
                million words, since the rarest of a plain table are mostly noise.

        Raises:
            ParameterError: min_count is below what 0 stands for.
        """
        usual, search = self._once(("search", name), lambda: self._searching(name))
        if 0 < min_count < usual:
            raise ParameterError(f"`min_count` {min_count}: choose 0, or {usual} and more here")
        return search.within(min_strength=max(min_count, usual), lengths=lengths)

    def _searching(self, name: str) -> tuple[int, NeighbourSearch]:
        """Return (the usual least count, a search); paraphrases search the same part."""
        table = self.table(name)
        if table.fingerprint.composition is None:
            usual = min(_USUAL_COUNT, self.index.n_tokens // _WORDS_A_COUNT)
            return usual, NeighbourSearch(table, min_strength=usual)
        usual = usual_strength(table)
        return usual, NeighbourSearch(table, min_strength=min(usual, _PARAPHRASES_COUNT))

    def word_neighbours(self, name: str) -> "WordNeighbours | None":
        """Return what lists words that can stand in a word's place; None where none is stored.

        Arguments:
            name: of the table.
        """
        from distsim.comparison.finder.word_neighbours import WordNeighbours

        if name != MAIN or not self.is_current():
            return None
        table, index = self.table(), self.index
        return self._once("words", lambda: WordNeighbours.open(table, index=index))

    def word_counts(self) -> np.ndarray:
        """Return how often each word occurs, int64 by id."""
        return self._once("counts", lambda: self.index.word_counts().astype(np.int64))

    def counts_of_length(self, n_words: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return (counts that phrases of so many words have, how many phrases have at least each).

        Both int64, counts ascending; None where not known. Of single words those of the index, of
        others those that the table has.
        """
        if n_words == 1:
            return self._once("words' counts", lambda: _tallied(self.word_counts()[1:]))
        if MAIN not in self.tables or not self.is_current() or n_words > self.table().longest:
            return None
        return self._once("phrases' counts", self._phrases_counts)[n_words - 2]

    def _phrases_counts(self) -> list[tuple[np.ndarray, np.ndarray]]:
        table = self.table()
        tokens = table.token_counts()
        return [_tallied(table.strengths[tokens == n]) for n in range(2, table.longest + 1)]

    def completer(self) -> Completer:
        """Return the object that completes beginnings of phrases; it is made at the first call."""
        return self._once("completer", lambda: Completer(self.index, self.word_counts()))

    def weigher(self, window: int, scheme: str) -> PhraseWeigher:
        """Return the weighting of the context words of phrases; it is cached.

        Arguments:
            window: context words on either side, in tokens.
            scheme: name of the weighting scheme, such as `ppmi`.
        """
        key = ("weigher", window, scheme)
        counts = self.word_counts()
        return self._once(
            key, lambda: PhraseWeigher(self.index, window, Weighting(scheme), counts=counts)
        )

    def cosine(self, name: str, how: CosineName | None = None) -> Similarity:
        """Return a measure of the cosines of a table's phrases.

        Arguments:
            name: of the table. how: as in `distsim.comparison.cosine`.
        """
        if how is None:
            return self._once((how, name), lambda: cosine(self.table(name)))
        table, index = self.require_current(), self.index
        return self._once(
            (how, name), lambda: cosine(table, how=how, index=index, cached=_KEPT_VECTORS)
        )

    def paraphraser(self) -> "Paraphraser":
        """Return the paraphraser, with candidates of the table where there is one."""
        from distsim.paraphrase.paraphraser import Paraphraser
        from distsim.paraphrase.paraphrasing_options import ParaphraseOptions

        table = self.tables.get(MAIN)
        if table is not None and table.normaliser != self.index.options.normaliser:
            table = None
        return self._once(
            "paraphraser",
            lambda: Paraphraser(
                self.index, options=ParaphraseOptions(k=30), table=table, memory=_PARAPHRASES_BYTES
            ),
        )

    def rewriter(self, aim: str) -> "Rewriter":
        """Return the rewriter that simplifies or shortens.

        Arguments:
            aim: `simplify` or `shorten`.

        Raises:
            NotServedError: no grammar is served.
        """
        pack = self.rules
        if pack is None:
            raise NotServedError(
                "rewriting needs a packed grammar: name a folder of distsim make-grammar or pack "
                "with distsim serve --grammar"
            )
        return self._once(("rewriter", aim), lambda: self._rewriter(pack, aim))

    def _rewriter(self, pack: "GrammarIndex", aim: str) -> "Rewriter":
        from distsim.paraphrase.rewriting.grammar import Grammar
        from distsim.paraphrase.rewriting.language_model import IndexModel
        from distsim.paraphrase.rewriting.rewriter import Rewriter
        from distsim.paraphrase.rewriting.rewriting_options import RewriteOptions

        options = RewriteOptions(length=_SHORTENED if aim == "shorten" else None)
        model = self._once("model", lambda: IndexModel(self.index))
        grammar = self._once("grammar", lambda: Grammar(pack, model, options.span))
        return Rewriter(pack, model, options=options, grammar=grammar)

    def substituter(self) -> "Substituter":
        """Return the substituter."""
        from distsim.paraphrase.substitution.substituter import Substituter

        return self._once("substituter", lambda: Substituter(self.index, self.require_current()))

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """Return the cached result of `make` for this name; the first call computes it.

        Arguments:
            make: function without arguments that computes the result.
        """
        return self._once(("kept", name), make)

    def _once(self, key: Any, make: Callable[[], T]) -> T:
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._kept:
                self._kept[key] = make()
            return cast(T, self._kept[key])


def _tallied(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, times = np.unique(counts[counts > 0].astype(np.int64), return_counts=True)
    return values, np.cumsum(times[::-1])[::-1]


def _was_of_another_text(index: str) -> bool:
    """Return whether an index's own table is valid but made from another text."""
    try:
        SignatureTable.open(signatures_inside(index))
    except ArtifactError:
        return False
    return True
