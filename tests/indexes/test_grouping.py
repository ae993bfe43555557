"""Counts by groups against a plain count of annotated text: every grouping, crossed, in shards."""

import random
from collections import Counter

import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError
from distsim.indexes.grouping import counts_by
from tests.indexes.test_layers import COLUMN, FORMS

FIELDS = [
    {"year": 1851, "day": "1851-02-03", "genre": "novel"},
    {"year": 1859, "day": "1859-02-11", "genre": "play"},
    {"year": 1860, "day": "1851-02-28", "genre": "novel"},
    {"genre": "play"},
    {"year": 1851, "day": "1851-12-01"},
]


def _documents():
    draw = random.Random(5)
    return [
        [[draw.choice(FORMS) for _ in range(draw.randint(1, 7))] for _ in range(8)] for _ in FIELDS
    ]


@pytest.fixture(params=[10_000, 30])
def index(request, tmp_path):
    lines = []
    for fields, document in zip(FIELDS, _documents(), strict=True):
        lines.append("# newdoc\n" + "".join(f"# meta::{k} = {v}\n" for k, v in fields.items()))
        for sentence in document:
            lines += [
                f"{n}\t{form}\t{lemma}\tX\t{tag}\t_\t0\troot\t_\t_\n"
                for n, (form, lemma, tag) in enumerate(sentence, 1)
            ]
            lines.append("\n")
    (tmp_path / "a.conllu").write_text("".join(lines))
    options = IndexOptions(file_format="conllu", shard_tokens=request.param)
    return CorpusIndex.build([tmp_path / "a.conllu"], tmp_path / "index", options=options)


def _value(by, fields, sentence, begin, end):
    """The value of a grouping, found in the text."""
    folded = [(form.lower(), lemma, tag) for form, lemma, tag in sentence]
    if by in ("match", "lemma", "tag"):
        column = COLUMN["word" if by == "match" else by]
        return " ".join(one[column] for one in folded[begin:end])
    if by[0].isdigit():
        place, _, layer = by.partition(".")
        at = begin - int(place[:-1]) if place[-1] == "L" else end - 1 + int(place[:-1])
        return folded[at][COLUMN[layer or "word"]] if 0 <= at < len(folded) else None
    name, _, part = by.partition("/")
    value = fields.get(name)
    if value is None or not part:
        return value if name != "day" or value is None else value[:4]
    if name == "day":
        return (
            value[:7] if part == "month" else value if part == "day" else int(value[:4]) // 10 * 10
        )
    return value // int(part) * int(part)


GROUPINGS = ["match", "lemma", "tag", "1L", "2R", "1R.tag", "3L.lemma", "year", "year/10", "genre",
             "day", "day/month", "day/day", "day/10"]  # fmt: skip
CROSSED = ["year,1R", "1R,year", "genre,year/10", "match,genre", "lemma,1L.tag", "day/month,genre"]


@pytest.mark.parametrize("by", GROUPINGS + CROSSED)
@pytest.mark.parametrize("query", ["king", '[lemma="run"] []{0,2} [tag="NN.*"]'])
def test_groups_are_those_of_a_plain_count_and_add_up(index, by, query):
    spans = index.spans(query, query=query != "king", matching="all")
    names = by.split(",")
    wanted = Counter()
    for fields, document in zip(FIELDS, _documents(), strict=True):
        for sentence in document:
            for begin, end in _matches(sentence, query):
                wanted[tuple(_value(one, fields, sentence, begin, end) for one in names)] += 1
    rows = counts_by(index, spans, by)
    found = {(one.value, one.second)[: len(names)]: one.times for one in rows}
    assert {key: n for key, n in found.items() if n} == dict(wanted)
    assert sum(one.times for one in rows) == len(spans) == wanted.total() > 0
    sizes = Counter()
    are_fields = [one.partition("/")[0] in ("year", "day", "genre") for one in names]
    for fields, document in zip(FIELDS, _documents(), strict=True):
        key = tuple(_value(one, fields, [], 0, 0) if is_field else None
                    for one, is_field in zip(names, are_fields, strict=True))  # fmt: skip
        sizes[key] += sum(map(len, document))
    for one in rows:
        key = tuple(value if is_field else None for value, is_field in
                    zip((one.value, one.second), are_fields, strict=False))  # fmt: skip
        assert one.n_tokens == sizes[key]
        assert one.per_million == pytest.approx(one.times / sizes[key] * 1e6)
    if all(are_fields):
        assert set(found) == set(sizes)  # also those without an occurrence


def _matches(sentence, query):
    if query == "king":
        return [(n, n + 1) for n, one in enumerate(sentence) if one[0] == "king"]
    return [
        (a, b + 1) for a, one in enumerate(sentence) if one[1] == "run"
        for b in range(a + 1, min(len(sentence), a + 4)) if sentence[b][2].startswith("NN")
    ]  # fmt: skip


def test_of_some_documents_only_these_are_groups(index):
    novels = index.select(where="genre=novel")
    rows = counts_by(novels, "king", "year")
    assert [one.value for one in rows] == [1851, 1860]
    assert sum(one.times for one in rows) == novels.count("king")
    assert sum(one.n_tokens for one in rows) == novels.n_tokens


def test_order_is_by_value_or_by_count_and_none_is_last(index):
    years = counts_by(index, "king", "year")
    assert [one.value for one in years] == [1851, 1859, 1860, None]
    words = counts_by(index, "king", "1R")
    counts = [one.times for one in words if one.value is not None]
    assert counts == sorted(counts, reverse=True) and words[-1].value is None


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("author", "the documents have no field 'author'"),
        ("genre/10", "genre is of type text; a number or a date has parts such as /10"),
        ("year/month", "year is of type int"),
        ("year/0", "year is of type int"),
        ("year,genre,1L", "give one grouping, or two with a comma"),
        ("year,", "give one grouping, or two with a comma"),
    ],
)
def test_what_is_no_grouping_is_refused(index, by, told):
    with pytest.raises(ParameterError, match=told):
        counts_by(index, "king", by)


def test_the_command_prints_groups(index, run):
    out, _ = run("count", index.path, "king", "--by", "year/10,1R.tag", "-k", "3", "--header")
    head, *lines = out.splitlines()
    assert head.split("\t")[:4] == ["phrase", "value", "second", "count"]
    rows = counts_by(index, "king", "year/10,1R.tag")[:3]
    assert [line.split("\t")[1:4] for line in lines] == [
        [str(one.value), one.second or "NA", str(one.times)] for one in rows
    ]
    out, _ = run("count", index.path, "--query", '[lemma="run"]', "--by", "match")
    assert {line.split("\t")[1] for line in out.splitlines()} == {"run", "ran"}
