"""Word sketches: collocates of a word by grammatical relation, in text with dependencies.

The score is logDice over the pairs of one relation: 14 + log2(2 f(w, R, c) / (f(w, R, *) +
f(*, R, c))) (Rychlý 2008), w the word, c the collocate.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from distsim.base.arguments import AnyPath, RelationSide, one_path, one_text, whole_number
from distsim.base.errors import InputError, ParameterError
from distsim.base.results import Results
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.indexes.layers import Layers, head_positions
from distsim.indexes.selected_shard import SelectedShard
from distsim.indexes.shard import Shard, damaged

_CASE = "case"  # relation of a preposition to its noun, in Universal Dependencies


class SketchRelation(NamedTuple):
    """A relation of a word sketch, as a file of relations describes it.

    name: as listed; `*` is the preposition where `case`. word: `head`, `dependent` or `either`.
    relation: regular expression over labels. upos, other: over coarse tags of the word and of the
    collocate. case: a list for each preposition. through: regular expression over the label of a
    preposition that stands between the two, as in the scheme of spaCy's English models.

    >>> SketchRelation("objects", "head", "obj").case
    False
    """

    name: str
    word: RelationSide
    relation: str
    upos: str = ".*"
    other: str = ".*"
    case: bool = False
    through: str = ""


class SketchRow(NamedTuple):
    r"""A collocate of a word in a relation.

    relation: its name. word: lemma of the collocate. times: pairs. of_word, of_collocate: pairs of
    this relation that the word has, and the collocate. score: logDice.

    >>> from distsim import CorpusIndex, IndexOptions
    >>> tea = "1\tking\tking\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tran\trun\tVERB\t_\t_\t0\troot\t_\t_\n"
    >>> _ = (folder / "row.conllu").write_text(tea)
    >>> sketched = CorpusIndex.build(folder / "row.conllu", folder / "row.index",
    ...                              options=IndexOptions(file_format="conllu"))
    >>> sketch(sketched, "king", min_count=1)[0]
    SketchRow(relation='subject_of', word='run', times=1, of_word=1, of_collocate=1, score=14.0)
    """

    relation: str
    word: str
    times: int
    of_word: int
    of_collocate: int
    score: float


class SketchDifference(NamedTuple):
    r"""A collocate of two words in a relation.

    times, score: of the first word; score is None where they are no pair. other_times, other_score:
    of the second one.

    >>> from distsim import CorpusIndex, IndexOptions
    >>> tea = "1\tking\tking\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tran\trun\tVERB\t_\t_\t0\troot\t_\t_\n"
    >>> _ = (folder / "difference.conllu").write_text(tea)
    >>> sketched = CorpusIndex.build(folder / "difference.conllu", folder / "difference.index",
    ...                              options=IndexOptions(file_format="conllu"))
    >>> sketch_difference(sketched, "run", "king", min_count=1)[0].other_score is None
    True
    """

    relation: str
    word: str
    times: int
    other_times: int
    score: float | None
    other_score: float | None


def read_relations(*, path: AnyPath | None = None) -> list[SketchRelation]:
    """Return the relations of a TOML file, those for Universal Dependencies where None.

    Raises:
        InputError: there is no such file, it is no TOML, or an entry has other keys or values.

    >>> read_relations()[0].name
    'objects'
    """
    if path is None:
        text, name = (files("distsim") / "data" / "relations" / "ud.toml").read_text("utf-8"), "ud"
    else:
        file = one_path(path)
        name = str(file)
        try:
            text = Path(file).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{name}: cannot be read as a file of relations: {error}") from None
    try:
        table = tomllib.loads(text)
        return [_relation(entry, values) for entry, values in table.items()]
    except (tomllib.TOMLDecodeError, TypeError, ValueError, re.error) as error:
        raise InputError(
            f"{name}: {error}: a relation has word (head, dependent or either), relation, and "
            "perhaps upos, other, case"
        ) from None


def _relation(name: str, values: Any) -> SketchRelation:
    if not isinstance(values, dict):
        raise ValueError(f"{name} is no table")
    relation = SketchRelation(name, **values)
    if relation.word not in get_args(RelationSide):
        raise ValueError(f"{name}: word is {relation.word!r}")
    for pattern in (relation.relation, relation.upos, relation.other, relation.through):
        re.compile(pattern)
    if not isinstance(relation.case, bool) or (relation.through and not relation.case):
        raise ValueError(f"{name}: case is {relation.case!r}")
    return relation


def sketch(
    index: CorpusIndex | AnyPath,
    phrase: str,
    *,
    query: bool = False,
    relations: Sequence[SketchRelation] | None = None,
    min_count: int = 2,
    k: int | None = 10,
) -> Results[SketchRow]:
    r"""Return the collocates of a word by grammatical relation, of each the highest scores first.

    Arguments:
        index: of text with dependencies.
        phrase: a lemma, or several; where they do not occur, words. Of several words the relations
            are those of the one whose head is outside, the last of such.
        query: the phrase is a query by pattern.
        relations: from `read_relations`; those of Universal Dependencies where None.
        min_count: leave out rarer pairs.
        k: maximum number of collocates of each relation; None: all.

    Raises:
        ParameterError: the text has no dependencies, or a number is out of range.

    >>> from distsim import CorpusIndex, IndexOptions
    >>> tea = "1\tking\tking\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tran\trun\tVERB\t_\t_\t0\troot\t_\t_\n"
    >>> _ = (folder / "sketch.conllu").write_text(tea)
    >>> sketched = CorpusIndex.build(folder / "sketch.conllu", folder / "sketch.index",
    ...                              options=IndexOptions(file_format="conllu"))
    >>> [(row.relation, row.word) for row in sketch(sketched, "run", min_count=1)]
    [('subjects', 'king')]
    """
    index = opened_index(index)
    whole_number(min_count, "`min_count`", 1)
    if k is not None:
        whole_number(k, "`k`", 0)
    rows: Results[SketchRow] = Results()
    nodes = _nodes(index, phrase, query)
    for relation in relations or read_relations():
        frequent_rows = [row for row in _rows(index, relation, nodes) if row.times >= min_count]
        lists: dict[str, list[SketchRow]] = {}
        for row in frequent_rows:
            lists.setdefault(row.relation, []).append(row)
        for listed in sorted(lists.values(), key=lambda rows: -rows[0].of_word):
            rows += sorted(listed, key=lambda row: (-row.score, row.word))[:k]
    return rows


def sketch_difference(
    index: CorpusIndex | AnyPath,
    phrase: str,
    other: str,
    *,
    relations: Sequence[SketchRelation] | None = None,
    min_count: int = 2,
    k: int | None = 10,
) -> Results[SketchDifference]:
    r"""Return the collocates that two words have, by relation; those of the first word come first.

    Arguments:
        index: of text with dependencies.
        phrase, other: lemmas.
        relations: as in `sketch`.
        min_count: leave out collocates with fewer pairs with both words together.
        k: maximum number of each relation: those whose scores differ most; None: all.

    >>> from distsim import CorpusIndex, IndexOptions
    >>> tea = "1\tking\tking\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tran\trun\tVERB\t_\t_\t0\troot\t_\t_\n"
    >>> _ = (folder / "two.conllu").write_text(tea)
    >>> sketched = CorpusIndex.build(folder / "two.conllu", folder / "two.index",
    ...                              options=IndexOptions(file_format="conllu"))
    >>> [row.relation for row in sketch_difference(sketched, "run", "king", min_count=1)]
    ['subjects', 'subject_of']
    """
    index = opened_index(index)
    both: dict[tuple[str, str], list[SketchRow | None]] = {}
    for place, word in enumerate((phrase, other)):
        for row in sketch(index, word, relations=relations, min_count=1, k=None):
            both.setdefault((row.relation, row.word), [None, None])[place] = row
    lists: dict[str, list[SketchDifference]] = {}
    for (relation, word), (of_first, of_second) in both.items():
        times = of_first.times if of_first else 0, of_second.times if of_second else 0
        if sum(times) >= min_count:
            scores = of_first.score if of_first else None, of_second.score if of_second else None
            lists.setdefault(relation, []).append(SketchDifference(relation, word, *times, *scores))
    rows: Results[SketchDifference] = Results()
    for listed in lists.values():
        kept = sorted(listed, key=lambda row: (-abs(_difference(row)), row.word))[:k]
        rows += sorted(kept, key=lambda row: (-_difference(row), row.word))
    return rows


def _difference(row: SketchDifference) -> float:
    return (row.score or 0.0) - (row.other_score or 0.0)


def sketch_spans(
    index: CorpusIndex | AnyPath,
    phrase: str,
    relation: str,
    collocate: str,
    *,
    query: bool = False,
    relations: Sequence[SketchRelation] | None = None,
) -> np.ndarray:
    r"""Return the spans of a word where it has a collocate in a relation: what is behind a row.

    int64[n, 2], half-open, ascending; `CorpusIndex.lines` shows them.

    Arguments:
        phrase, query, relations: as in `sketch`.
        relation, collocate: of the row.

    Raises:
        ParameterError: there is no such relation.

    >>> from distsim import CorpusIndex, IndexOptions
    >>> tea = "1\tking\tking\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tran\trun\tVERB\t_\t_\t0\troot\t_\t_\n"
    >>> _ = (folder / "spans.conllu").write_text(tea)
    >>> sketched = CorpusIndex.build(folder / "spans.conllu", folder / "spans.index",
    ...                              options=IndexOptions(file_format="conllu"))
    >>> sketch_spans(sketched, "run", "subjects", "king").tolist()
    [[1, 2]]
    """
    index = opened_index(index)
    nodes = _nodes(index, phrase, query)
    known = list(relations or read_relations())
    spans = [np.empty((0, 2), np.int64)]
    fitting = [known_relation for known_relation in known if _named(known_relation, relation)]
    if not fitting:
        names = ", ".join(known_relation.name for known_relation in known)
        raise ParameterError(f"there is no relation {relation!r}: choose one of {names}")
    lemmas = _layers(index).texts["lemma"]
    for fitting_relation in fitting:
        for pairs in _pairs(index, fitting_relation, nodes):
            numbers = [
                number
                for number in np.flatnonzero(pairs.spans[:, 0] >= 0).tolist()
                if lemmas[pairs.lemmas[number]] == collocate
                and _name(fitting_relation, lemmas[pairs.cases[number]]) == relation
            ]
            spans.append(pairs.spans[numbers])
    return np.unique(np.concatenate(spans), axis=0)


class _RelationPairs(NamedTuple):
    """Pairs of one relation in a shard.

    lemmas: int64, lemma of the collocate. cases: int64, lemma of the preposition, 0 of other
    relations. spans: int64[n, 2], of the word that is sketched; -1 where it is another word.
    """

    lemmas: np.ndarray
    cases: np.ndarray
    spans: np.ndarray


def _layers(index: CorpusIndex) -> Layers:
    layers = index.layers
    if layers is None or "relation" not in layers.names:
        raise ParameterError(
            f"{index.path}: has no dependencies: build the index of CoNLL-U, as distsim annotate "
            "writes it"
        )
    return layers


def _nodes(index: CorpusIndex, phrase: str, query: bool) -> np.ndarray:
    """Return the spans of what is sketched."""
    _layers(index)
    one_text(phrase, "phrase")
    if query:
        return index.spans(phrase, query=True)
    spans = index.of_layer("lemma").spans(phrase)
    return spans if len(spans) else index.spans(phrase)


def _named(relation: SketchRelation, name: str) -> bool:
    if not relation.case:
        return relation.name == name
    return re.fullmatch(re.escape(relation.name).replace(r"\*", ".+"), name) is not None


def _name(relation: SketchRelation, case: str) -> str:
    return relation.name.replace("*", case) if relation.case else relation.name


def _rows(index: CorpusIndex, relation: SketchRelation, nodes: np.ndarray) -> Iterator[SketchRow]:
    """Yield the collocates of some spans in one relation."""
    n_lemmas = len(_layers(index).vocabularies["lemma"])
    every, mine = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for pairs in _pairs(index, relation, nodes):
        keys = pairs.cases * n_lemmas + pairs.lemmas
        every.append(keys)
        mine.append(keys[pairs.spans[:, 0] >= 0])
    keys, counts = np.unique(np.concatenate(mine), return_counts=True)
    all_keys, all_counts = np.unique(np.concatenate(every), return_counts=True)
    of_collocate = all_counts[np.searchsorted(all_keys, keys)]
    cases, numbers = np.unique(keys // n_lemmas, return_inverse=True)
    of_word = np.bincount(numbers, counts, minlength=cases.size)[numbers]
    dice = 2 * counts / (of_word + of_collocate)
    words = _layers(index).vocabularies["lemma"]
    for key, n, word, other, score in zip(
        keys.tolist(), counts.tolist(), of_word.tolist(), of_collocate.tolist(),
        (14 + np.log2(dice)).tolist(),
        strict=True,
    ):  # fmt: skip
        name = _name(relation, words.word(key // n_lemmas))
        yield SketchRow(name, words.word(key % n_lemmas), n, int(word), other, score)


def _pairs(
    index: CorpusIndex, relation: SketchRelation, nodes: np.ndarray
) -> Iterator[_RelationPairs]:
    """Yield all pairs of a relation, by shard."""
    layers = _layers(index)
    fit = {
        layer: _matching(layers, layer, pattern)
        for layer, pattern in (("relation", relation.relation), ("upos", relation.upos))
    }
    fits_other = _matching(layers, "upos", relation.other)
    lemmas = layers.of("lemma").astype(np.int64)
    is_case = _matching(layers, "relation", _CASE)
    for shard in index.shards:
        analyses = shard.analyses
        if analyses is None or shard.heads is None or analyses.max() >= lemmas.size:
            raise damaged(index.path)
        heads = head_positions(shard.heads)
        if heads.min() < 0 or heads.max() >= heads.size:
            raise damaged(index.path)
        span_of = _spans_of(shard, heads, nodes)
        dependents = np.flatnonzero(fit["relation"][analyses])
        dependents = dependents[heads[dependents] != dependents]
        if isinstance(shard, SelectedShard):
            dependents = dependents[shard.inside[dependents]]
        of_case = np.zeros(heads.size if relation.case else 1, np.int64)
        if relation.case:
            cases = np.flatnonzero(is_case[analyses])[::-1]  # of several the first one
            of_case[heads[cases]] = lemmas[analyses[cases]]
            heads = _through(layers, relation.through, analyses, heads, dependents, of_case)
            dependents = dependents[of_case[dependents] > 0]
        for side in ("head", "dependent") if relation.word == "either" else (relation.word,):
            words, others = heads[dependents], dependents
            if side == "dependent":
                words, others = others, words
            stays = fit["upos"][analyses[words]] & fits_other[analyses[others]]
            words, others, deps = words[stays], others[stays], dependents[stays]
            spans = np.full((words.size, 2), -1, np.int64)
            numbers = span_of[words]
            inside = nodes[numbers] - shard.first_position if len(nodes) else spans
            is_mine = (numbers >= 0) & ((others < inside[:, 0]) | (others >= inside[:, 1]))
            spans[is_mine] = nodes[numbers[is_mine]]
            of_deps = of_case[deps] if relation.case else np.zeros(deps.size, np.int64)
            yield _RelationPairs(lemmas[analyses[others]], of_deps, spans)


def _through(
    layers: Layers, pattern: str, analyses: np.ndarray, heads: np.ndarray,
    dependents: np.ndarray, of_case: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return the heads where those of dependents of a preposition are the heads of that.

    of_case: int64 by token, to which the lemma of such a preposition is written.
    """
    if not pattern:
        return heads
    between = heads[dependents]
    jumps = _matching(layers, "relation", pattern)[analyses[between]] & (heads[between] != between)
    at, between = dependents[jumps], between[jumps]
    of_case[at] = layers.of("lemma")[analyses[between]]
    heads = heads.copy()
    heads[at] = heads[between]
    return heads


def _spans_of(shard: Shard, heads: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return for each token the number of the span whose head it is, -1 of all others; int64."""
    span_of = np.full(heads.size, -1, np.int64)
    numbers = np.flatnonzero(
        (nodes[:, 0] >= shard.first_position)
        & (nodes[:, 0] < shard.first_position + shard.n_positions)
    )
    begins, ends = (nodes[numbers] - shard.first_position).T
    for offset in range(int((ends - begins).max(initial=0))):  # later ones replace earlier ones
        at = begins + offset
        within = at < ends
        at, low, high, number = at[within], begins[within], ends[within], numbers[within]
        head = heads[at]
        leaves = (head < low) | (head >= high) | (head == at)
        span_of[at[leaves]] = number[leaves]
    return _only_last(span_of)


def _only_last(span_of: np.ndarray) -> np.ndarray:
    """Return the numbers of spans at the last token of each alone."""
    at = np.flatnonzero(span_of >= 0)
    _, last = np.unique(span_of[at][::-1], return_index=True)
    kept = np.full(span_of.size, -1, np.int64)
    kept[at[::-1][last]] = span_of[at[::-1][last]]
    return kept


def _matching(layers: Layers, layer: str, pattern: str) -> np.ndarray:
    """Return which analyses have a text of a layer that a regular expression matches, bool."""
    if pattern == ".*":
        return np.ones(layers.counts.size, np.bool_)
    texts = layers.texts[layer]
    fits = np.array([bool(text) and re.fullmatch(pattern, text) is not None for text in texts])
    is_fitting: np.ndarray = fits[layers.of(layer)]
    return is_fitting
