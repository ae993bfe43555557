"""Answers from the text alone: concordances, collocates, keywords, frequencies.

`opened` has the artifacts; the other arguments are those of the endpoints (server/endpoints.py).
"""

import re
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from distsim.base.arguments import AssociationMeasure, KeywordMeasure, Layer
from distsim.base.errors import ParameterError, counted
from distsim.corpus.documents import ID_FIELD
from distsim.indexes.collocation import Documents
from distsim.indexes.collocation import collocates as found_collocates
from distsim.indexes.concordance import Sample, parse_context
from distsim.indexes.corpus_index import ORDERS, CorpusIndex, sort_places
from distsim.indexes.grouping import counts_by
from distsim.indexes.phrase_lists import keywords as found_keywords
from distsim.indexes.phrase_lists import list_phrases
from distsim.indexes.queries import gapped_query
from distsim.indexes.query_language import GAP
from distsim.indexes.shard import Shard
from distsim.indexes.sketches import sketch as found_sketch
from distsim.indexes.sketches import sketch_difference
from distsim.indexes.written import find_words
from distsim.server.answers import (
    Collocates,
    Concordance,
    Dispersion,
    DispersionPart,
    Frequency,
    Keywords,
    Line,
    Passage,
    PhraseList,
    PhraseListRow,
    Sentence,
    Share,
    Sketch,
    SketchPair,
)
from distsim.server.session import NotServedError, Opened
from distsim.server.worker_queues import LIMITS, shortened

_BEFORE, _AFTER = 3, 4  # sentences
_MOST_WORDS = 120  # of one sentence, on either side of what was looked for


def passage(index: CorpusIndex, at: int, n_words: int) -> Passage:
    """Return the sentence of a position and its neighbours in the same document.

    Arguments:
        at: a position in the corpus, sentence boundaries counted. n_words: of what is there.

    Raises:
        ParameterError: there is no such place.
    """
    for shard in index.shards:
        here = at - shard.first_position
        if 0 <= here < shard.tokens.size and shard.tokens[here]:
            break
    else:
        raise ParameterError(f"`at` {at}: no word is there: take the place from a concordance")
    starts = shard.sentence_starts
    mine = int(np.searchsorted(starts, starts.dtype.type(here), "right")) - 1
    low, high = 0, starts.size
    for begins in (shard.source_starts, shard.document_starts):  # a document may begin earlier
        after = int(np.searchsorted(begins, begins.dtype.type(mine), "right"))
        low = max(low, *begins[max(0, after - 1) : after].tolist(), 0)
        high = min(high, *begins[after : after + 1].tolist(), starts.size)
    rows = []
    for number in range(max(low, mine - _BEFORE), min(high, mine + _AFTER + 1)):
        begin = int(starts[number])
        end = int(starts[number + 1]) if number + 1 < starts.size else int(shard.tokens.size)
        first = here - begin if number == mine else None
        tokens, line = shard.tokens[begin : end - 1], int(shard.sentence_lines[number])
        pieces = _as_written(index, shard, number, tokens, first, n_words)
        rows.append(
            _sentence(index, tokens, line, first, n_words)
            if pieces is None
            else Sentence(line, pieces, *((None, None) if first is None else (1, 2)))
        )
    source, _ = shard.places(np.array([here]))
    fields = {}
    if index.home and index.metadata.fields:
        number = int(np.searchsorted(index.document_edges, at, "right")) - 1
        fields = index.metadata.rows(number, number + 1)[0][1]
    return Passage(
        at,
        index.source(int(source[0])),
        {name: shortened(str(value)) for name, value in fields.items()},
        tuple(rows),
        mine - _BEFORE > low,
        mine + _AFTER + 1 < high,
    )


def _as_written(
    index: CorpusIndex, shard: Shard, number: int, tokens: np.ndarray, first: int | None, n: int
) -> tuple[str, ...] | None:
    """Return a sentence as it was written, cut before and behind n words; None if unknown.

    Arguments:
        number: of the sentence in the shard.
        tokens: uint32, its words.
        first, n: the words that were looked for; None: no word.
    """
    if shard.written is None or not 0 < tokens.size <= 2 * _MOST_WORDS:
        return None
    text, _ = shard.written.passage(number, number + 1)
    located = find_words(text, index.vocabulary.words(tokens), index.options)
    if located is None:
        return None
    written, places = located
    if first is None:
        return (" ".join(written.split()),)
    begin, end = places[first][0], places[min(first + n, len(places)) - 1][1]
    return written[:begin].strip(), written[begin:end], written[end:].strip()


def _sentence(
    index: CorpusIndex, tokens: np.ndarray, line: int, first: int | None, n_words: int
) -> Sentence:
    cut = 0 if first is None else max(0, first - _MOST_WORDS)
    stop = (first or 0) + n_words + _MOST_WORDS
    words = [shortened(index.vocabulary.word(word)) for word in tokens[cut:stop].tolist()]
    words = ["…"] * (cut > 0) + words + ["…"] * (stop < tokens.size)
    if first is None:
        return Sentence(line, tuple(words))
    begin = first - cut + (cut > 0)
    return Sentence(line, tuple(words), begin, min(begin + n_words, len(words)))


# What a query by pattern has and a phrase of a text hardly ever has.
_PATTERN = re.compile(
    r"\w\*|\*\w|\w\?+\w|\[[^\]]*\]|(?<!\S)/\S+/|\"[^\"]+\"|\([^()]+\|[^()]+\)|\{,?\d[\d,]*\}"
    r"|(?<!\S)</?\w+[^<>]*>|(?<!\S)near\(|\S \| \S"
)
_QUOTED = re.compile(r'"([\w\s\'’-]*\s[\w\s\'’-]*)"')
_SAMPLE = re.compile(r"(\d{1,6})(?::(\d{1,9}))?")
_COUNTED = 200_000
_WIDEST = 50  # tokens on a side within a sentence
_LONGEST_SIDE = 5_000  # characters of a paragraph on one side
_MOST_FIELDS = 20


class LineContents(TypedDict):
    """What a concordance line has beside the occurrence.

    width: tokens on either side within the sentence; or across sentences `s`, `p`, `5:10`. fields:
    names of fields of documents, `author,year`; "" takes all, `-` none.
    """

    width: str
    fields: str


class Asked(NamedTuple):
    """A phrase or query as it is looked up.

    kind: `phrase`, `gapped` (a phrase with gaps, `take _ into`) or `query`. text: its text.
    """

    kind: str
    text: str

    def as_query(self) -> str:
        """Return the query by pattern with the same matches as a gapped phrase."""
        return self.text if self.kind == "query" else gapped_query(self.text)


def asked(index: CorpusIndex, text: str) -> Asked:
    """Return a typed text classified as phrase, gapped phrase or query.

    A text with signs of the query language is a query, unless it has no `*` and occurs as it is.
    A text between quotation marks is a phrase.

    Arguments:
        index: the corpus index.
        text: as typed.

    >>> asked(index, "mock turt*").kind, asked(index, '"in spite of"').text
    ('query', 'in spite of')
    """
    quoted = _QUOTED.fullmatch(text.strip())
    if quoted:
        return Asked("phrase", quoted[1])
    if _PATTERN.search(text) and ("*" in text or not index.count(text)):
        return Asked("query", text)
    return Asked("gapped" if GAP in text.split() else "phrase", text)


def spans(
    index: CorpusIndex, question: Asked, order: str = "corpus", k: int | None = None,
    sample: Sample | None = None, width: int = 10,
) -> np.ndarray:  # fmt: skip
    """Return the spans of the occurrences of a phrase or query, int64[n, 2], half-open, in order.

    Arguments:
        index: the corpus.
        question: the phrase or query.
        order: `corpus`, `left`, `right`, or up to three places such as 1L,2L.
        k: maximum number of spans, the first of the order; None: all.
        sample: the occurrences that are sorted; None: all.
        width: context in tokens that is compared in sorting.
    """
    return index.spans(
        question.text, k=k, width=width, order=order, sample=sample,
        gapped=question.kind == "gapped", query=question.kind == "query",
    )  # fmt: skip


def count_of(index: CorpusIndex, question: Asked) -> int:
    """Return the number of occurrences.

    Arguments:
        index: the corpus.
        question: the phrase or query.
    """
    return index.count(question.text) if question.kind == "phrase" else len(spans(index, question))


def shown_phrase(opened: Opened, question: Asked) -> str:
    """Return a phrase as the index has it, or a pattern as typed.

    Arguments:
        opened: the artifacts.
        question: the phrase or query.
    """
    plain = " ".join(question.text.split())
    if question.kind != "phrase":
        return shortened(plain)
    return shortened(" ".join(opened.index.words(question.text)) or plain)


def concordance(
    opened: Opened,
    phrase: str,
    order: str,
    k: int,
    skip: int,
    sample: str,
    where: str,
    **contents: Unpack[LineContents],
) -> Concordance:
    """Return concordance lines of a phrase or query.

    Arguments:
        opened: the artifacts that are served.
        phrase: words separated by spaces, or a query in the query language.
        order: `corpus`, `left`, `right`, or up to three places such as 1L,2L.
        k: maximum number of lines.
        skip: number of lines that are left out at the beginning.
        sample: number of evenly spaced occurrences that are taken, `50:7` random ones by the seed
            7; 0 takes all, or where they are sorted as many as the server's limit.
        where: filter of documents by their fields; "" takes all documents.
        contents: of a line.
    """
    index, question = opened.documents(where), asked(opened.index, phrase)
    _require_order(order)
    fields_of(opened, contents["fields"])
    total = count_of(index, question)
    n, seed = _sample(sample)
    among = min(total, n or LIMITS.sorted_occurrences)
    if order == "corpus" and not n:
        among = total
    taken = Sample(among, seed) if 0 < among < total else None
    positions = spans(index, question, order, skip + k, taken)
    rows = lines(opened, positions[skip:], **contents)
    return Concordance(shown_phrase(opened, question), total, order, among, skip, rows)


def _sample(text: str) -> tuple[int, int | None]:
    """Return (number of occurrences, seed) of `50` or `50:7`."""
    numbers = _SAMPLE.fullmatch(text.strip())
    if numbers is None or int(numbers[1]) > LIMITS.sorted_occurrences:
        raise ParameterError(
            f"`sample` {text[:20]!r}: give a number up to {LIMITS.sorted_occurrences:,}, or one "
            "with a seed: 50:7"
        )
    return int(numbers[1]), int(numbers[2]) if numbers[2] else None


def width_of(text: str) -> int | str:
    """Return how much text is shown: a number of tokens in the sentence, or across sentences."""
    if text.isascii() and text.isdigit() and int(text) <= _WIDEST:
        return int(text)
    wanted = parse_context(text)
    is_wide = wanted.unit == "tokens" and max(wanted.before, wanted.after) > 4 * _WIDEST
    if text.isdigit() or is_wide:
        raise ParameterError(
            f"`width` {text[:20]!r}: give up to {_WIDEST} words on a side of the sentence, s, p, "
            f"or up to {4 * _WIDEST}:{4 * _WIDEST} across sentences"
        )
    return text


def fields_of(opened: Opened, text: str) -> tuple[str, ...]:
    """Return the fields that lines have beside them: those in a list, or all.

    Raises:
        ParameterError: documents have no field of a name, or there are too many names.
    """
    if not text.strip():
        return opened.fields[:_MOST_FIELDS]
    names = dict.fromkeys(name.strip() for name in text.split(",") if name.strip(" -"))
    for name in names:
        if name not in (ID_FIELD, *opened.fields):
            known = ", ".join((ID_FIELD, *opened.fields))
            raise ParameterError(f"`fields` {name[:40]!r}: choose among {known}, or - for none")
    if len(names) > _MOST_FIELDS:
        raise ParameterError(
            f"`fields` has {counted(len(names), 'name')}: give {_MOST_FIELDS} at most"
        )
    return tuple(names)


def lines(opened: Opened, places: np.ndarray, **contents: Unpack[LineContents]) -> tuple[Line, ...]:
    """Return the concordance lines of spans of tokens.

    Arguments:
        opened: the artifacts that are served.
        places: int64[n, 2], half-open spans of positions in the corpus.
        contents: of a line.
    """
    index, width = opened.index, width_of(contents["width"])
    shown = index.lines(places, width=width)
    fields: list[dict[str, Any]] = [{} for _ in shown]
    names = fields_of(opened, contents["fields"])
    if names and shown:
        documents = np.searchsorted(index.document_edges, places[:, 0], "right") - 1
        fields = index.metadata.values(names, documents)
    max_characters = 300 if isinstance(width, int) else _LONGEST_SIDE
    return tuple(
        Line(
            at, line.source, line.line, shortened(line.left, max_characters), shortened(line.node),
            shortened(line.right, max_characters), line.document, stop - at, values,
        )
        for (at, stop), line, values in zip(places.tolist(), shown, fields, strict=True)
    )  # fmt: skip


def whole_concordance(
    opened: Opened, phrase: str, order: str, where: str, **contents: Unpack[LineContents]
) -> np.ndarray:
    """Return the spans of all occurrences of a phrase or query, int64[n, 2], half-open, sorted.

    Arguments:
        opened: the artifacts that are served.
        phrase: words separated by spaces, or a query in the query language.
        order: `corpus`, `left`, `right`, or up to three places such as 1L,2L.
        where: filter of documents by their fields; "" takes all documents.
        contents: of the lines, checked here.

    Raises:
        ParameterError: there are more occurrences than the server exports.
    """
    index, question = opened.documents(where), asked(opened.index, phrase)
    _require_order(order)
    width_of(contents["width"])
    fields_of(opened, contents["fields"])
    total = count_of(index, question)
    if total > LIMITS.exported_lines:
        raise ParameterError(
            f"{phrase!r} occurs {counted(total, 'time')}: {LIMITS.exported_lines:,} lines "
            "are exported at "
            "most; distsim kwic --limit 0 prints all"
        )
    return spans(index, question, order, width=5)


def collocates(
    opened: Opened,
    phrase: str,
    window: int,
    measure: AssociationMeasure,
    min_count: int,
    k: int,
    where: str,
) -> Collocates:
    """Return the collocates of a phrase or query, highest association first.

    Arguments:
        opened: the artifacts that are served.
        phrase: words separated by spaces, or a query in the query language.
        window: distance of a collocate on either side, in tokens at most.
        measure: association measure that orders the collocates.
        min_count: minimum number of co-occurrences.
        k: maximum number of collocates.
        where: filter of documents by their fields; "" takes all documents.
    """
    question = asked(opened.index, phrase)
    is_phrase = question.kind == "phrase"
    words = found_collocates(
        opened.documents(where), question.text if is_phrase else question.as_query(), window=window,
        measure=measure, min_count=min_count, words_only=True, query=not is_phrase, k=k,
    )  # fmt: skip
    rows = (row._replace(word=shortened(row.word)) for row in words)
    return Collocates(shown_phrase(opened, question), window, measure, tuple(rows))


def keywords(
    opened: Opened, measure: KeywordMeasure, direction: str, min_count: int, k: int, where: str
) -> Keywords:
    """Return the words that are more or less frequent than in the reference corpus.

    Where `where` selects documents, these are compared with all other documents of the index.

    Arguments:
        opened: the artifacts that are served.
        measure: keyness measure that orders the words.
        direction: `less` returns words that are less frequent than in the reference; any other
            text returns those that are more frequent.
        min_count: minimum number of occurrences.
        k: maximum number of words.
        where: filter of documents by their fields; "" takes all documents.

    Raises:
        NotServedError: no reference corpus is served and `where` selects no documents.
    """
    index = opened.documents(where)
    reference = opened.reference if index is opened.index else index.other_documents()
    if reference is None:
        raise NotServedError(
            "no reference corpus is served: name one with serve --against INDEX, or documents "
            "that are compared with the others"
        )
    words = found_keywords(
        index, reference, measure=measure, negative=direction == "less", min_count=min_count,
        words_only=True, k=k,
    )  # fmt: skip
    rows = (row._replace(word=shortened(row.word)) for row in words)
    return Keywords(measure, index.n_tokens, reference.n_tokens, tuple(rows))


def frequency(opened: Opened, phrase: str, by: str, k: int, where: str) -> Frequency:
    """Return a phrase's number of occurrences by form, by file or by a field of documents.

    Arguments:
        opened: the artifacts that are served.
        phrase: words separated by spaces, or a query in the query language.
        by: `form`, `file` or a field; "" is `file` for a phrase and `form` for a query.
        k: maximum number of rows.
        where: filter of documents by their fields; "" takes all documents.

    Raises:
        ParameterError: `by` is none of these.
    """
    index, question = opened.documents(where), asked(opened.index, phrase)
    by = by or ("file" if question.kind == "phrase" else "form")
    if by not in ("form", "file", *opened.fields):
        choices = ", ".join(("form", "file", *opened.fields))
        raise ParameterError(f"`by` {by!r}: choose one of {choices}")
    places = spans(index, question)
    total = len(places)
    if by == "form":
        places = places[np.arange(_COUNTED) * total // _COUNTED] if total > _COUNTED else places
        rows = [
            Share(shortened(str(row.value)), row.times, row.per_million)
            for row in counts_by(index, places, "match")
        ]
    elif by == "file":
        rows = _files(opened, places, index is opened.index)
    else:
        counted = counts_by(index, places, by)
        names = ("without a value" if row.value is None else str(row.value) for row in counted)
        rows = [
            Share(shortened(name), row.times, row.per_million)
            for name, row in zip(names, counted, strict=True)
        ]
    if by in ("form", "file"):  # values of a field are ascending
        rows.sort(key=lambda row: (-row.count, row.name))
    return Frequency(
        shown_phrase(opened, question), by, total, len(places), len(rows), tuple(rows[:k])
    )


def _files(opened: Opened, places: np.ndarray, whole: bool) -> list[Share]:
    """Return the counts of spans by the file that they are in; per million words of whole files.

    Arguments:
        places: int64[n, 2], half-open spans of positions.
        whole: the index is that of the whole corpus, no selection of documents.
    """
    rows: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for shard in opened.index.shards:
        last = shard.sentence_starts.size
        sentences = np.append(shard.source_starts.astype(np.int64), last)
        edges = shard.sentence_starts[np.minimum(sentences, last - 1)].astype(np.int64)
        edges[sentences == last] = shard.tokens.size
        tokens = np.diff(edges) - np.diff(sentences)
        for source, n in zip(shard.source_numbers.tolist(), tokens.tolist(), strict=True):
            name = opened.index.source(source)
            sizes[name] = sizes.get(name, 0) + n
        here = places[:, 0] - shard.first_position
        here = here[(here >= 0) & (here < shard.tokens.size)]
        sources, counts = np.unique(shard.places(here)[0], return_counts=True)
        for source, n in zip(sources.tolist(), counts.tolist(), strict=True):
            name = opened.index.source(source)
            rows[name] = rows.get(name, 0) + n
    return [Share(name, n, 1e6 * n / sizes[name] if whole else None) for name, n in rows.items()]


def _require_order(order: str) -> None:
    if order not in ORDERS and sort_places(order) is None:
        raise ParameterError(
            f"`order` {order[:40]!r}: choose one of {', '.join(ORDERS)}, or up to three places "
            "such as 1L,2L,1R"
        )


_LENGTHS = re.compile(r"([1-9])(?:-([1-9]))?")
_BINS = 100


def ngrams(
    opened: Opened, lengths: str, by: Layer, containing: str, min_count: int, k: int, where: str
) -> PhraseList:
    """Return the most frequent words or phrases.

    Arguments:
        lengths: words of a phrase, `2` or `1-3`.
        by: words, or of annotated text lemmas, tags and so on.
        containing: only phrases that contain this one; "" takes all.
        min_count: leave out rarer phrases.
        k: maximum number of phrases.
        where: filter of documents; "" takes all documents.

    Raises:
        ParameterError: `lengths` is no such range, or the text is not annotated.
    """
    range_of = _LENGTHS.fullmatch(lengths.strip())
    if range_of is None:
        raise ParameterError(f"`lengths` {lengths[:20]!r}: give 1 to 9 words, 2 or 1-3")
    phrases = list_phrases(
        opened.documents(where).of_layer(by),
        lengths=(int(range_of[1]), int(range_of[2] or range_of[1])), containing=containing or None,
        words_only=by in ("word", "lemma"), min_count=min_count, k=k,
    )  # fmt: skip
    rows = (
        PhraseListRow(shortened(row.phrase), row.times, row.per_million, row.documents, row.dp)
        for row in phrases
    )
    return PhraseList(by, tuple(rows))


def sketch(opened: Opened, phrase: str, other: str, min_count: int, k: int, where: str) -> Sketch:
    """Return the collocates of a lemma by grammatical relation, beside those of another one.

    Arguments:
        phrase: a lemma, or several.
        other: another lemma; "" asks for no difference.
        min_count: leave out rarer pairs.
        k: maximum number of collocates of each relation.
        where: filter of documents; "" takes all documents.
    """
    index = opened.documents(where)
    if other.strip():
        both = sketch_difference(index, phrase, other, min_count=min_count, k=k)
        pairs = (
            SketchPair(pair.relation, shortened(pair.word), pair.times, pair.score,
                       pair.other_times, pair.other_score)
            for pair in both
        )  # fmt: skip
    else:
        rows = found_sketch(index, phrase, min_count=min_count, k=k)
        pairs = (
            SketchPair(row.relation, shortened(row.word), row.times, row.score) for row in rows
        )
    return Sketch(shortened(phrase), shortened(other.strip()), tuple(pairs))


def dispersion(opened: Opened, phrase: str, where: str) -> Dispersion:
    """Return where a phrase or query occurs: counts in a hundred equal parts of the corpus.

    Arguments:
        phrase: words separated by spaces, or a query in the query language.
        where: filter of documents; "" takes all documents.
    """
    index, question = opened.documents(where), asked(opened.index, phrase)
    begins = spans(index, question)[:, 0]
    edges = index.document_edges
    bins, _ = np.histogram(begins, bins=_BINS, range=(0, int(edges[-1])))
    spread = Documents(index).of_positions(begins)
    document_numbers = index.kept_documents
    n_documents = edges.size - 1 if document_numbers is None else int(document_numbers.sum())
    return Dispersion(
        shown_phrase(opened, question), begins.size, spread.documents, n_documents, spread.dp,
        tuple(DispersionPart(number, n) for number, n in enumerate(bins.tolist(), 1)),
    )  # fmt: skip
