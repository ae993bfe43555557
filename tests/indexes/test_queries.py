"""Queries by pattern: every span of a sentence tried by a regular expression over its words."""

import random
import re

import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError
from distsim.corpus.normaliser import Normaliser
from distsim.indexes.collocation import collocates
from distsim.indexes.queries import compile_query
from distsim.output.verification import find_faults
from tests.conftest import write_lines

SENTENCES = [
    line.split()
    for line in (
        "take it into account , take care", "Colour and color , Color and colour", "a a b a b b a",
        "running runs run ran café Cafe", "take note", "of (this) a*b",
    )
]  # fmt: skip


def naive(sentences: list[list[str]], query: str) -> list[tuple[int, int]]:
    """Return the spans whose words, each ended by a tab, a regular expression matches."""
    found, at = [], 0
    for sentence in sentences:
        for begin in range(len(sentence)):
            for end in range(begin + 1, len(sentence) + 1):
                if re.fullmatch(query, "".join(f"{word}\t" for word in sentence[begin:end])):
                    found.append((at + begin, at + end))
        at += len(sentence) + 1
    return found


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    folder = tmp_path_factory.mktemp("queries")
    text = write_lines(folder / "corpus.txt", SENTENCES)
    return CorpusIndex.build(
        [text], folder / "index", options=IndexOptions("lines", normaliser=Normaliser(lower=False))
    )


@pytest.mark.parametrize(
    ("query", "regex"),
    [
        ("take []{0,3} (account|care)", r"take\t(\S+\t){0,3}(account|care)\t"),
        ("run*", r"run\S*\t"),
        ("/colou?r/", r"colou?r\t"),
        ('"colou?r"%c and', r"[cC]olou?r\tand\t"),
        ("a{1,3} b{0,2}", r"(a\t){1,3}(b\t){0,2}"),
        ("[]{2} b []{0,2}", r"(\S+\t){2}b\t(\S+\t){0,2}"),
        ('[word="a|b" & word!="b"] a', r"a\ta\t"),
        ("cafe%cd", r"([cC]af[eé])\t"),
        ("a\\*b", r"a\*b\t"),
        ("nowhere a", r"nowhere\ta\t"),
    ],
)
def test_spans_are_those_of_a_regular_expression(index, query, regex):
    assert [tuple(span) for span in index.query(query).tolist()] == naive(SENTENCES, regex)


def test_random_queries_on_random_text_in_several_shards(tmp_path):
    rng = random.Random(7)
    sentences = [rng.choices("abcd", k=rng.randint(1, 9)) for _ in range(60)]
    text = write_lines(tmp_path / "text.txt", sentences)
    index = CorpusIndex.build([text], tmp_path / "index", options=IndexOptions(shard_tokens=100))
    assert len(index.shards) > 2
    for _ in range(40):
        parts = [
            (rng.choice(["a", "(b|c)", "[]", "d"]), rng.randint(0, 2))
            for _ in range(rng.randint(0, 3))
        ]
        parts.insert(rng.randint(0, len(parts)), (rng.choice("abcd"), 1))
        query = " ".join(f"{part}{{{least},{least + 1}}}" for part, least in parts)
        words = {"[]": r"\S+"}
        regex = "".join(
            f"({words.get(part, part)}\\t){{{least},{least + 1}}}" for part, least in parts
        )
        assert [tuple(span) for span in index.query(query).tolist()] == naive(sentences, regex)


def test_lines_and_collocates_take_a_query(index):
    assert [line.node for line in index.concordance("colo*", query=True)] == ["color", "colour"]
    found = collocates(index, "colo*", window=1, min_count=1, query=True)
    assert {one.word: one.together for one in found}["and"] == 2


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("", "can match no token"),
        ("a{0,2}", "can match no token"),
        ("[] []", "name one"),
        ('"a" [', "outside the query language"),
        ('[lemma="be"]', "no lemmas"),
        ('[pos="NN"]', "no 'pos'"),
        ('<s> "a"', "outside the query language"),
        ('"a" []*', "outside the query language"),
        ('1:"a"', "outside the query language"),
        ('1:[] "a"', "outside the query language"),
        ('"a" within <s/>', "'within <s/>' is outside the query language"),
        ('"a" containing "b"', "outside the query language"),
        ('(["a"]|["b"]) a', "outside the query language"),
        ('("a"|"b") a', "outside the query language"),
        ("a{3,1}", "upwards"),
        ("a{64}", "at most 63"),
        ("/(a+)+/", "forever"),
        ("\udcff*", "a phrase is not valid Unicode"),
        ("/[/", "no regular expression"),
    ],
)
def test_what_is_no_query_is_told(index, query, what):
    with pytest.raises(ParameterError, match=re.escape(what)):
        index.query(query)


ANNOTATED = [  # word, lemma, tag of each token
    [("He", "he", "PRP"), ("takes", "take", "VBZ"), ("the", "the", "DT"), ("cars", "car", "NNS")],
    [("Take", "take", "VB"), ("cars", "car", "NNS"), ("take", "take", "NN")],
    [("took", "take", "VBD"), ("it", "it", "PRP"), ("to", "to", "IN"), ("car", "car", "NN")],
    [("cars", "cars", "NNP"), ("He", "he", "PRP")],
]  # fmt: skip


def conllu(sentences) -> str:
    return "\n".join(
        "".join(
            f"{n}\t{word}\t{lemma}\tX\t{tag}\t_\t{0 if n == 1 else 1}\tdep\t_\t_\n"
            for n, (word, lemma, tag) in enumerate(sentence, 1)
        )
        for sentence in sentences
    )


@pytest.fixture(scope="module", params=["at once", "added", "in shards"])
def annotated(request, tmp_path_factory) -> CorpusIndex:
    folder = tmp_path_factory.mktemp("layers")
    options = IndexOptions("lines", file_format="conllu")
    if request.param == "in shards":
        options = IndexOptions("lines", file_format="conllu", shard_tokens=6)
    cut = 2 if request.param == "added" else 4
    (folder / "a.conllu").write_text(conllu(ANNOTATED[:cut]))
    index = CorpusIndex.build(folder / "a.conllu", folder / "index", options=options)
    if request.param == "added":
        (folder / "b.conllu").write_text(conllu(ANNOTATED[cut:]))
        index = index.add(folder / "b.conllu")
    return index


@pytest.mark.parametrize(
    ("query", "regex"),
    [
        ('[lemma="take"]', r"\S+/take/\S+\t"),
        ('[lemma="take"] []{0,2} [tag="NN.*"]', r"\S+/take/\S+\t(\S+\t){0,2}\S+/NN\S*\t"),
        ('[tag="VB.?" & lemma="take"]', r"\S+/take/VB.?\t"),
        ('[word="cars" & tag!="NNS"]', r"cars/\S+/(?!NNS\t)\S+\t"),
        ('cars [tag="PRP"]?', r"cars/\S+\t(\S+/PRP\t)?"),
        ('[lemma="TAKE"][tag="DT"]', r"\S+/take/\S+\t\S+/DT\t"),
        ('[tag="nn"]', r"never"),
        ('[tag="nn"%c]', r"\S+/NN\t"),
        ('[lemma!="he" & tag="PRP"] to', r"\S+/(?!he/)\S+/PRP\tto/\S+\t"),
    ],
)
def test_lemmas_and_tags_are_those_of_a_regular_expression(annotated, query, regex):
    sentences = [["/".join([w.lower(), lemma, t]) for w, lemma, t in one] for one in ANNOTATED]
    assert [tuple(span) for span in annotated.query(query).tolist()] == naive(sentences, regex)
    assert not find_faults(annotated.path)


def test_layers_of_dropped_lines(annotated, tmp_path):
    (tmp_path / "a.conllu").write_text(conllu([*ANNOTATED, *ANNOTATED]))
    options = IndexOptions("lines", file_format="conllu", dedup="exact")
    once = CorpusIndex.build(tmp_path / "a.conllu", tmp_path / "index", options=options)
    assert once.n_tokens == annotated.n_tokens
    query = '[lemma="take"] []{0,2} [tag="NN.*"]'
    assert once.query(query).tolist() == annotated.query(query).tolist()


def test_a_query_is_compiled_once(annotated, monkeypatch):
    asked = ("tak*", "tak*", "c*", "tak*", "he", "tak*")
    wanted = [annotated.query(query).tolist() for query in asked]
    compiled = []

    def counted(index, query):
        compiled.append(query)
        return compile_query(index, query)

    monkeypatch.setattr("distsim.indexes.corpus_index.compile_query", counted)
    index = CorpusIndex.open(annotated.path)
    assert [index.query(query).tolist() for query in asked] == wanted
    assert compiled == ["tak*", "c*", "he", "tak*"]  # the last two are kept
    with pytest.raises(ParameterError):
        index.query(["tak*"])
