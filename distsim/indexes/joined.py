"""Several indexes queried as one index of all their text, in the given order.

Counts and positions are asked index by index and added; vocabularies are joined, by the words'
hashes, when words are to be distinguished or shown. No array is copied.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from distsim.base.errors import IncompatibleError, ParameterError
from distsim.corpus.vocabulary import HashNumbering, Vocabulary
from distsim.indexes import phrase_walk
from distsim.indexes.build import corpus_fingerprint, sum_of_sentences, text_checksum
from distsim.indexes.indexed_text import IndexedText, NoDocumentError
from distsim.indexes.metadata import Metadata
from distsim.indexes.queries import CompiledQuery
from distsim.indexes.shard import FirstWords, Shard
from distsim.kernels.tables import permute_texts
from distsim.storage import checksum_of_settings


class JoinedText(IndexedText):
    """The text of several indexes as one; used by `CorpusIndex.open` of several paths.

    Words are numbered as an index of all the text numbers them. What walks a suffix array itself
    (paraphrases, fluency) needs an index in one folder and says so.

    Raises:
        IncompatibleError: two were built with different options; both are named.
    """

    def __init__(self, members: Sequence[IndexedText]) -> None:
        first = members[0]
        for other in members[1:]:
            a, b = first.options.manifest(), other.options.manifest()
            for name in ("format", "normaliser"):
                if a[name] != b[name]:
                    raise IncompatibleError(
                        f"{first.path} and {other.path} were not built alike: {name} is {a[name]} "
                        f"and {b[name]}: build both with the same options"
                    )
        self.members = list(members)
        self.path = first.path
        self.options = first.options
        self.checksum = checksum_of_settings([member.checksum for member in members])
        self.n_tokens = sum(member.n_tokens for member in members)
        self._ids_of_piece: dict[str, tuple[int, ...]] = {}
        self._known_to_all = None
        for member in members:
            member.ask_with_others(self.has_piece)

    def __reduce__(self) -> tuple[Any, ...]:
        return JoinedText, (self.members,)

    def __repr__(self) -> str:
        return f"of {self.n_tokens:,} tokens in {len(self.members)} folders"

    def close(self) -> None:
        """Release the arrays of all indexes."""
        for member in self.members:
            member.close()
        self.__dict__.pop("shards", None)

    @property
    def home(self) -> None:
        """None: a table of several indexes has a folder of its own."""

    @cached_property
    def sources(self) -> list[str]:
        """The names of all files, in order."""
        return [name for member in self.members for name in member.sources]

    @cached_property
    def shards(self) -> list[Shard]:
        """The shards of all indexes, with joint word ids."""
        found: list[Any] = []
        position = source = 0
        for number, member in enumerate(self.members):
            for shard in member.shards:
                found.append(_JoinedShard(self, number, shard, position, source))
            position += _length(member)
            source += len(member.sources)
        return found

    @cached_property
    def _joint(self) -> tuple[Vocabulary, list[np.ndarray]]:
        """(Vocabulary of all words, the joint id of each word of each index, uint32)."""
        numbering = HashNumbering(first=1)
        numbers, texts, lengths, hashes = [], [], [np.zeros(1, np.int64)], []
        for member in self.members:
            vocabulary = member.vocabulary
            own = vocabulary.word_hashes()
            ids, new = numbering.number(own[1:])
            numbers.append(np.concatenate([np.zeros(1, np.uint32), ids]))
            text, ends = permute_texts(
                vocabulary.text, vocabulary.offsets.astype(np.int64), new + 1
            )
            texts.append(text)
            lengths.append(np.diff(ends))
            hashes.append(own[1:][new])
        all_hashes = np.concatenate(hashes)
        order = np.argsort(all_hashes, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.uint64)
        joint = Vocabulary(
            np.concatenate(texts), offsets, all_hashes[order], (order + 1).astype(np.uint32)
        )
        return joint, numbers

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of all indexes, in order of their first appearance."""
        return self._joint[0]

    def numbers(self, member: int) -> np.ndarray:
        """Return the joint number of each word of an index, uint32 by id."""
        return self._joint[1][member]

    @property
    def layers(self) -> None:
        """Raise ParameterError: several indexes do not answer by lemma and tag as one."""
        raise ParameterError("several indexes together have no lemmas and tags: ask each alone")

    @cached_property
    def text_checksum(self) -> str:
        """The sum of the checksums of all members: that of an index of all the text."""
        return text_checksum(sum(sum_of_sentences(one.text_checksum) or 0 for one in self.members))

    @cached_property
    def corpus(self) -> str:  # type: ignore[override]
        """The fingerprint of all the text."""
        counts = self.parameters["counts"]
        words = self.vocabulary
        occurrences = phrase_walk.word_counts(self.shards, len(words))
        return corpus_fingerprint(
            words.word_hashes()[1:], occurrences[1:], counts["tokens"], counts["sentences"]
        )

    @cached_property
    def parameters(self) -> dict[str, Any]:  # type: ignore[override]
        """The parameters of the indexes, added up."""
        first = dict(self.members[0].parameters)
        counts = {
            name: sum(int(member.parameters["counts"].get(name, 0)) for member in self.members)
            for name in first["counts"]
        }
        shards = sum(int(member.parameters["shards"]) for member in self.members)
        return first | {"counts": counts, "shards": shards, "earlier": []}

    @property
    def metadata(self) -> Metadata:
        """The documents: ids and fields, by number."""
        raise ParameterError("documents of several indexes: ask one index")

    @property
    def kept_documents(self) -> np.ndarray | None:
        """Which documents count, bool; None where all do."""
        kept = [member.kept_documents for member in self.members]
        if all(one is None for one in kept):
            return None
        return np.concatenate([
            np.ones(member.document_edges.size - 1, bool) if one is None else one
            for member, one in zip(self.members, kept, strict=True)
        ])  # fmt: skip

    def select(self, filters: Sequence[str], documents: Any) -> IndexedText:
        """Return the text of some documents; see CorpusIndex.select.

        The documents of each index that fit; ids are looked up in each.
        """
        sizes = [member.document_edges.size - 1 for member in self.members]
        of_each: list[Any] = [documents] * len(self.members)
        if documents is not None:
            given = np.asarray(documents)
            if given.dtype != bool or given.size != sum(sizes):
                raise ParameterError(
                    f"`documents` of several indexes is a mask of all {sum(sizes):,} documents: "
                    "give one, or ask one index"
                )
            of_each = np.split(given, np.cumsum(sizes)[:-1])
        found, last = [], None
        for member, some in zip(self.members, of_each, strict=True):
            try:
                found.append(member.select(filters, some))
            except NoDocumentError as error:
                last = error
        if not found:
            assert last is not None
            raise last
        return found[0] if len(found) == 1 else JoinedText(found)

    def field_groups(self, field: str) -> tuple[list[Any], np.ndarray]:
        """Return (values of a field, ascending, a date's year; for each document which, or -1)."""
        of_each = [member.field_groups(field) for member in self.members]
        try:
            values = sorted({value for some, _ in of_each for value in some})
        except TypeError:
            raise ParameterError(f"{field}: is of different types in these indexes") from None
        place = {value: number for number, value in enumerate(values)}
        joint = [
            np.array([*(place[value] for value in some), -1])[groups] for some, groups in of_each
        ]
        return values, np.concatenate(joint)

    @property
    def has_ids(self) -> bool:
        """Whether documents were given ids."""
        return any(member.has_ids for member in self.members)

    def document_ids(self, numbers: np.ndarray) -> list[str]:
        """Return the ids of documents, by number.

        Where none was given, the number among all.
        """
        if not self.has_ids:
            return [str(number + 1) for number in numbers.tolist()]
        starts = np.cumsum([0, *(member.document_edges.size - 1 for member in self.members)])
        owners = np.searchsorted(starts, numbers, "right") - 1
        ids = np.empty(numbers.size, object)
        for owner in np.unique(owners).tolist():
            mine = owners == owner
            ids[mine] = self.members[owner].document_ids(numbers[mine] - starts[owner])
        return list(ids)

    def others(self) -> IndexedText:
        """Return the text of the documents that are not selected."""
        raise ParameterError("several indexes have no other documents: ask one, or give `against`")

    def has_piece(self, piece: str) -> bool:
        """Return whether a piece of a phrase is a word of any of them."""
        return any(member.has_piece(piece) for member in self.members)

    def counts(self, phrases: Sequence[str]) -> np.ndarray:
        """Return how often each phrase occurs, int64."""
        total: np.ndarray = np.sum([member.counts(phrases) for member in self.members], axis=0)
        return total

    def positions(self, phrase: str, first: int | None = None) -> np.ndarray:
        """Return the positions of a phrase, int64, ascending; only the `first` ones if given."""
        return self._placed([member.positions(phrase, first) for member in self.members])[:first]

    def gapped(self, pattern: str, longest_gap: int) -> np.ndarray:
        """Return the spans that match a phrase with gaps; see CorpusIndex.gapped."""
        return self._placed([member.gapped(pattern, longest_gap) for member in self.members])

    def _placed(self, found: list[np.ndarray]) -> np.ndarray:
        starts = np.cumsum([0, *map(_length, self.members)])
        return np.concatenate([one + start for one, start in zip(found, starts, strict=False)])


def _length(text: IndexedText) -> int:
    """Return the tokens of an index, sentence boundaries counted."""
    last = text.shards[-1]
    return last.first_position + int(last.tokens.size)


class _JoinedShard:
    """A shard with joint word ids; it has the methods of Shard, without its arrays."""

    def __init__(
        self, text: JoinedText, member: int, shard: Shard, position: int, source: int
    ) -> None:
        self._text = text
        self._member = member
        self._shard = shard
        self._source = source
        self.first_position = position + shard.first_position

    def __getattr__(self, name: str) -> Any:
        if name in ("sentence_starts", "document_starts", "n_positions", "written"):
            return getattr(self._shard, name)
        if name in Shard.ARRAYS:
            raise ParameterError(
                "several indexes together answer counts, positions, contexts, concordances and "
                "n-grams: for this build one index of all the text"
            )
        raise AttributeError(name)

    @cached_property
    def _joint(self) -> np.ndarray:
        return self._text.numbers(self._member)

    @cached_property
    def _own(self) -> np.ndarray:
        """The shard's id of each joint number, int64, -1 where it has none."""
        own = np.full(len(self._text.vocabulary), -1, np.int64)
        own[self._joint] = np.arange(self._joint.size)
        return own

    def word_counts(self, n_words: int) -> np.ndarray:
        """Return how often each word occurs, uint64[n_words]; the boundary's counts sentences."""
        counts = np.zeros(n_words, np.uint64)
        counts[self._joint] = self._shard.word_counts(self._joint.size)
        return counts

    def intervals(self, ids: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each phrase's half-open interval of suffixes, (lows, highs) int64."""
        return self._shard.intervals(self._translated(ids), stops)

    def positions(self, ids: np.ndarray) -> np.ndarray:
        """Return the positions of one phrase, int64; see Shard."""
        return self._shard.positions(self._translated(ids))

    def occurrences(self, ids: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (positions of many phrases end to end, number of the phrase of each), int64."""
        return self._shard.occurrences(self._translated(ids), stops)

    def gapped(self, parts: list[np.ndarray], longest_gap: int) -> np.ndarray:
        """Return the matches of `parts` with a gap between neighbours, int64[m, 2] spans."""
        return self._shard.gapped([self._translated(part) for part in parts], longest_gap)

    def query(self, query: CompiledQuery, most: int) -> np.ndarray:
        """Return the spans that match a query, int64[m, 2]; m is above `most` if there are more."""
        own = query._replace(
            anchor_words=query.anchor_words[self._joint], bits=query.bits[self._joint]
        )
        return self._shard.query(own, most)

    def neighbourhoods(
        self, suffixes: np.ndarray, before: int, after: int, n_words: int
    ) -> np.ndarray:
        """Return the tokens around positions, uint32[len(suffixes), before + after]."""
        rows = self._shard.neighbourhoods(suffixes, before, after, self._joint.size)
        found: np.ndarray = self._joint[rows]
        return found

    def beside(
        self, ids: np.ndarray, window: int, sides: bool, n_words: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return one phrase's counted features: (features uint32, ascending; counts uint32)."""
        own_words = self._joint.size
        own, counts = self._shard.beside(self._translated(ids), window, sides, own_words)
        families, words = np.divmod(own.astype(np.int64), own_words)
        features = (families * n_words + self._joint[words]).astype(np.uint32)
        order = np.argsort(features)
        return features[order], counts[order]

    def beside_words(
        self, words: np.ndarray, window: int, sides: bool, n_words: int, seen: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the counted features of many words as sparse rows; ids below 0 have empty rows."""
        own_words = self._joint.size
        starts, own, counts = self._shard.beside_words(
            self._translated(words), window, sides, own_words, seen
        )
        families, found = np.divmod(own, np.uint32(own_words))
        return starts, families * np.uint32(n_words) + self._joint[found].astype(np.uint32), counts

    def rows_of_words(
        self,
        words: FirstWords,
        before: int,
        longest: int,
        after: int,
        n_words: int,
    ) -> np.ndarray:
        """Return the neighbourhoods of all suffixes that begin with some words.

        Rows are put in the order of joint numbers, which is not that of suffixes.
        """
        suffixes = self.suffixes_of_words(words)
        rows = self.neighbourhoods(suffixes, before, longest + after, n_words)
        order = np.lexsort(rows[:, before : before + longest].T[::-1])
        found: np.ndarray = rows[order]
        return found

    def suffixes_of_words(self, words: FirstWords) -> np.ndarray:
        """Return the suffixes that begin with some words, uint32, in no particular order."""
        own = self._own[words.first : words.stop]
        shard = self._shard
        own = own[(own >= 0) & (own < shard.word_starts.size - 1)]
        starts, stops = shard.word_starts.astype(np.int64)[own], shard.word_starts[own + 1]
        pieces = [shard.suffixes[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
        suffixes = np.concatenate([np.empty(0, np.uint32), *pieces])
        if words.is_whole:
            return suffixes
        seconds = self.words_after(suffixes)
        kept = (seconds >= words.second) & (seconds < words.second_stop)
        found: np.ndarray = suffixes[kept]
        return found

    def words_after(self, positions: np.ndarray) -> np.ndarray:
        """Return the words that follow positions, 0 at the end of a sentence, uint32."""
        found: np.ndarray = self._joint[self._shard.words_after(positions)]
        return found

    def words_at(self, first: int, stop: int) -> np.ndarray:
        """Return the words at positions, uint32."""
        found: np.ndarray = self._joint[self._shard.words_at(first, stop)]
        return found

    def sentence_lengths(self) -> np.ndarray:
        """Return the tokens in each sentence, int64."""
        return self._shard.sentence_lengths()

    def places(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (number of the source, line) of each position."""
        sources, lines = self._shard.places(positions)
        return sources + np.uint32(self._source), lines

    def _translated(self, ids: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.where(ids < 0, -1, self._own[ids])
        return found
