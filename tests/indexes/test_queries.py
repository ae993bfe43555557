"""Queries by pattern: every span of a sentence tried by a regular expression over its words."""

import random
import re
from unicodedata import normalize

import numpy as np
import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError
from distsim.corpus.normaliser import Normaliser
from distsim.indexes import corpus_index, query_compiler, shard, word_patterns
from distsim.indexes.collocation import collocates
from distsim.indexes.kernels import queries as kernel
from distsim.indexes.query_compiler import compile_query
from distsim.indexes.word_patterns import WordLines, bare
from distsim.output.verification import find_faults
from tests.conftest import write_lines
from tests.naive import queries

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
    assert [tuple(span) for span in index.query(query, matching="all").tolist()] == naive(
        SENTENCES, regex
    )


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
        assert [tuple(span) for span in index.query(query, matching="all").tolist()] == naive(
            sentences, regex
        )


def test_lines_and_collocates_take_a_query(index):
    assert [line.node for line in index.concordance("colo*", query=True)] == ["color", "colour"]
    found = collocates(index, "colo*", window=1, min_count=1, query=True)
    assert {one.word: one.together for one in found}["and"] == 2


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("", "can match no token"),
        ("a{0,2}", "can match no token"),
        ('"a"* []*', "can match no token"),
        ("[] []", "name one"),
        ('"a" [', "ends too early"),
        ('"a" ["b"', "ends too early"),
        ('[lemma="be"]', "no lemmas"),
        ('[pos="NN"]', "no tags"),
        ('[colour="red"]', "no 'colour': ask for word, lemma"),
        ('<np> "a"', "no structure 'np'"),
        ('"a" <s> "b"', "a match stays within a sentence"),
        ('"a" </s> "b"', "a match stays within a sentence"),
        ('<s colour="red"> "a"', "sentences and paragraphs have no fields"),
        ('<doc colour="red"> "a"', "the documents have no fields"),
        ("<doc/>", "stays within a sentence"),
        ('meet "a" [] 3', "outside the query language"),
        ('a:"a" b:"b" :: a.word = c.word', "no token has the label c"),
        ('a:"a" :: a.word', "ends too early"),
        ("(a|) b", "an alternative is empty"),
        ("near(a, b)", "outside the query language"),
        ("near(a, b, 0)", "near takes two patterns"),
        ("a{3,1}", "upwards"),
        ("a{65}", "at most 64"),
        ("(a|b|c){30}", "at most 64"),
        ("(" * 60 + "a" + ")" * 60, "brackets inside brackets"),
        ("/(?=a)b/", "lookahead"),
        ("/[a-z&&[^aeiou]]+/", "classes cannot be cut"),
        ('"[\\w--[a-c]]"', "classes cannot be cut"),
        (r"/(a)\1/", "back references"),
        ("/(?<!a)b/", "lookbehind"),
        ("[:alpha:]", "outside the query language"),
        ("/[:alpha:]/", "write [[:alpha:]]"),
        ("/(((a{99}){99}){99})/", "no regular expression"),
        ('"a" (?= "b")', "column 5: '(?= \"b\")' is outside"),
        ('(?! "b")', "brackets take no ?"),
        ("(?:a|b) c", "brackets take no ?"),
        ("lemma:be", 'write [lemma="be"]'),
        ("lemma=be", 'write [lemma="be"]'),
        ('tag:"NN"', "write [tag=...]"),
        ('"a" == "b"', "column 5: '== \"b\"' is outside the query language: write \\="),
        ('"a" = "b"', "write \\="),
        ("a & b", "column 3: '& b'"),
        ("! a", "write \\!"),
        ('"a"; "b"', "column 4: '; \"b\"'"),
        ("a, b", "write \\,"),
        ("a # b", "write \\#"),
        ("a+ b", "write (a)+"),
        ("a.* b", "write /run.*/"),
        ("take _ into", "write [] for one token"),
        ("a or/b/c", "put a blank behind a word"),
        ('"a"b', "column 4: 'b' is outside the query language: put a blank before"),
        ("/a/i", "put a blank before a word"),
        ('"a"%x', "flags are %c, %d and %l"),
        ("5%", "column 2: '%'"),
        ("“a” b", "write the signs of ASCII"),
        ("（a｜b）", "write the signs of ASCII"),
        ("rock 'n' roll", "may be a pattern or a written word"),
        ('"a b"', 'no word of this index has a blank: write "a" "b"'),
        ("'a b'", "has a blank"),
        ('"a" cut 5', "--limit"),
        ('"a" expand to s', "--context"),
        ('"a" not within s', "!within"),
        ("a* within 5", r"in slashes, as /run.*/ within 5, or \within 5 for words"),
        ("(a|b) c within s", "may be a filter or words"),
        ("<s>", "a match has a token"),
        ('<p> | "a"', "a match has a token"),
        ("<p/>", "stays within a sentence"),
        ('<p n="1"> "a"', "sentences and paragraphs have no fields"),
        ('[deprel="nsubj"]', "no relations"),
        ("\udcff*", "a phrase is not valid Unicode"),
        ("/[/", "no regular expression"),
    ],
)
def test_what_is_no_query_is_told(index, query, what):
    with pytest.raises(ParameterError, match=re.escape(what)):
        index.query(query)


@pytest.mark.parametrize(
    ("query", "nodes"),
    [
        (r"(\\|a) b", ["a b"] * 2),
        (r"/a\\b|\|/", ["|", "|", r"a\b"]),
        (r"a\|b", ["a|b"]),
        (r"(a\|b|\|)", ["a|b", "|", "|"]),
        (r'[word="a\|b"]', ["a|b"]),
        (r'[word="\""]', ['"']),
        ("/[[:alpha:]]+/ café", ["wein café"]),
        ("/[^[:alpha:]]/", ['"', "2", "|", "|"]),
        ("/[[:digit:]]/", ["2"]),
        ("/[[:punct:]]/", ['"', "|", "|"]),
        ("w?n", ["wen", "win"]),
        ("w??n", ["wein"]),
        ("?", ["a", "a", "a", "b", "b", '"', "2", "|", "|"]),
        ("/w.?n/", ["wen", "win"]),
        ("(wein|wen) (caf?)?", ["wein", "wen"]),
        ("'wein'", ["wein"]),
        ("'w.*' 'win'", ["wen win"]),
        (r"\'wein\'", []),
        ('[word="WEIN" %c] "cafe" %c %d', ["wein café"]),
        ("WEIN %c", ["wein"]),
        ("[word='wein'] | \"win\"", ["wein", "win"]),
        ('"WE.*"%c', ["wein", "wen"]),
        ("cafe%d", ["café"]),
        ('"cafe"%d', ["café"]),
        ('"a|b"%l', ["a|b"]),
        ('("win"|"2")+', ["2", "win"]),
    ],
)
def test_signs_classes_and_wildcards(tmp_path, query, nodes):
    lines = [r"a b a\b a|b | |", "wein café wen win", '" 2 a b a']
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n")
    options = IndexOptions("lines", normaliser=Normaliser(lower=False))
    index = CorpusIndex.build([tmp_path / "text.txt"], tmp_path / "index", options=options)
    assert sorted(line.node for line in index.concordance(query, query=True)) == sorted(nodes)


@pytest.mark.parametrize("matching", ["shortest", "longest", "all"])
def test_of_matches_with_one_first_token_the_shortest_the_longest_or_all(index, matching):
    found = naive(SENTENCES, r"a\t(\S+\t){0,9}b\t")
    wanted = {"shortest": queries.shortest, "longest": queries.longest, "all": list}[matching]
    spans = index.query("a []{0,9} b", matching=matching)
    assert [tuple(span) for span in spans.tolist()] == wanted(found)
    assert len(index.query("a []{0,9} b")) == len(queries.shortest(found))
    lines = index.concordance("a []{0,9} b", query=True, matching=matching)
    assert len(lines) == len(spans)


def test_no_match_of_a_long_line_takes_forever(tmp_path):
    (tmp_path / "text.txt").write_text("a " * 60_000 + "b\n")
    index = CorpusIndex.build([tmp_path / "text.txt"], tmp_path / "index")
    with pytest.raises(ParameterError, match="takes too long in this index"):
        index.query("a []* b")
    assert len(index.query("a{5} b")) == 1


ANNOTATED = [  # word, lemma, tag of each token
    [("He", "he", "PRP"), ("takes", "take", "VBZ"), ("the", "the", "DT"), ("cars", "car", "NNS")],
    [("Take", "take", "VB"), ("cars", "car", "NNS"), ("take", "take", "NN")],
    [("took", "take", "VBD"), ("it", "it", "PRP"), ("to", "to", "IN"), ("car", "car", "NN")],
    [("cars", "cars", "NNP"), ("He", "he", "PRP")],
]  # fmt: skip


def conllu(sentences) -> str:
    return "\n".join(
        "".join(
            f"{n}\t{word}\t{lemma}\tX\t{tag}\t_\t{int(n > 1)}\t{[*relation, 'dep'][0]}\t_\t_\n"
            for n, (word, lemma, tag, *relation) in enumerate(sentence, 1)
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
    spans = annotated.query(query, matching="all").tolist()
    assert [tuple(span) for span in spans] == naive(sentences, regex)
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


WORDS = ("ab", "ba", "b", "c")
TAGS = ("X", "Y", "XY")


@pytest.fixture(scope="module")
def random_text(tmp_path_factory):
    """Return (an index of several shards, its sentences as dicts of attributes)."""
    rng = random.Random(3)
    sentences = [
        [
            (rng.choice(WORDS), rng.choice("lmn"), rng.choice(TAGS), rng.choice(("obj", "nsubj")))
            for _ in range(rng.randint(1, 8))
        ]
        for _ in range(80)
    ]
    folder = tmp_path_factory.mktemp("random")
    (folder / "a.conllu").write_text(conllu(sentences))
    options = IndexOptions("lines", file_format="conllu", shard_tokens=150)
    index = CorpusIndex.build(folder / "a.conllu", folder / "index", options=options)
    assert len(index.shards) > 1
    names = ("word", "lemma", "tag", "deprel")
    return index, [[dict(zip(names, one, strict=True)) for one in row] for row in sentences]


def as_pairs(spans):
    return [tuple(span) for span in spans.tolist()]


@pytest.mark.parametrize("seed", range(6))
def test_random_queries_have_the_places_of_a_naive_matcher(random_text, seed):
    index, sentences = random_text
    values = {
        "word": [*WORDS, ".b", "a|b", "b.?"],
        "lemma": ["l", "[lm]"],
        "tag": ["X", "X.*", "Y"],
        "deprel": ["obj", "n?subj"],
    }
    source = queries.RandomQueries(random.Random(seed), values)
    answered = 0
    for _ in range(60):
        text, node = source.query()
        found = queries.spans(node, sentences)
        try:
            spans = index.query(text, matching="all")
        except ParameterError as error:
            assert re.search("can match no token|name one|more than 64", str(error)), text
            continue
        answered += 1
        assert as_pairs(spans) == found, text
        assert as_pairs(index.query(text)) == queries.shortest(found), text
        assert as_pairs(index.query(text, matching="longest")) == queries.longest(found), text
    assert answered > 30


def word(text):
    return queries.token(lambda one: one["word"] == text)


ANY = queries.token(lambda one: True)


def test_edges_of_sentences(random_text):
    index, sentences = random_text
    edges = {
        '<s> "b"': queries.sequence(queries.begins, word("b")),
        '"b" </s>': queries.sequence(word("b"), queries.ends),
        '(<s> | "c") "b"': queries.sequence(queries.either(queries.begins, word("c")), word("b")),
        '"b" (</s> | "c")': queries.sequence(word("b"), queries.either(queries.ends, word("c"))),
        '<s> []{2} </s>': queries.sequence(queries.begins, ANY, ANY, queries.ends),
        '<s/> containing "c"': queries.sequence(
            queries.begins, queries.repeat(ANY, 0, 9), word("c"), queries.repeat(ANY, 0, 9),
            queries.ends,
        ),
    }  # fmt: skip
    for text, node in edges.items():
        assert as_pairs(index.query(text, matching="all")) == queries.spans(node, sentences), text


def test_filters(random_text):
    index, sentences = random_text
    gap = queries.repeat(ANY, 0, 9)
    pairs = queries.spans(queries.sequence(word("b"), gap, word("c")), sentences)
    some = set(queries.spans(word("ab"), sentences))
    outer = queries.spans(queries.sequence(word("b"), gap, word("c")), sentences)

    def has(span):
        return any(span[0] <= begin and end <= span[1] for begin, end in some)

    text = '"b" []* "c"'
    for matching, chosen in (
        ("all", list),
        ("shortest", queries.shortest),
        ("longest", queries.longest),
    ):
        of = lambda query, matching=matching: as_pairs(index.query(query, matching=matching))  # noqa: E731
        assert of(f'{text} containing "ab"') == chosen([one for one in pairs if has(one)])
        assert of(f'{text} !containing "ab"') == chosen([one for one in pairs if not has(one)])
        assert of(f"{text} within 3") == chosen([one for one in pairs if one[1] - one[0] <= 3])
        assert of(f"{text} within s") == chosen(pairs)
        inside = [one for one in sorted(some) if any(b <= one[0] and one[1] <= e for b, e in outer)]
        assert of(f'"ab" within ({text})') == inside
        assert of(f'"ab" !within ({text})') == sorted(some - set(inside))
        near = as_pairs(index.query("near(b, c, 9)", matching="all"))
        short = chosen([one for one in near if one[1] - one[0] <= 3])
        assert of("near(b, c, 9) within 3") == short
        assert of(f"/ab/ within ({text})") == inside
        assert of("/ab/ containing a") == [] == of(r"/ab/ \within 3")


def test_labels(random_text):
    index, sentences = random_text
    labelled = {
        'a:[] "b" c:[] :: a.word = c.word': lambda s, at: s[at["a"]]["word"] == s[at["c"]]["word"],
        'a:[] "b" c:[] :: a.lemma != c.lemma & c.tag = "X.*"': lambda s, at: (
            s[at["a"]]["lemma"] != s[at["c"]]["lemma"] and s[at["c"]]["tag"][0] == "X"
        ),
        'a:[] "b" c:[] :: !(a.word = c.word | a.tag = "Y")': lambda s, at: not (
            s[at["a"]]["word"] == s[at["c"]]["word"] or s[at["a"]]["tag"] == "Y"
        ),
    }  # fmt: skip
    node = queries.sequence(
        queries.token(lambda one: True, "a"), word("b"), queries.token(lambda one: True, "c")
    )
    for text, holds in labelled.items():
        assert as_pairs(index.query(text)) == queries.spans(node, sentences, holds), text
    text = 'a:[]{1,2} []* c:[tag="X"] :: a.word = c.word'
    node = queries.sequence(
        queries.repeat(queries.token(lambda one: True, "a"), 1, 2), queries.repeat(ANY, 0, 9),
        queries.token(lambda one: one["tag"] == "X", "c"),
    )  # fmt: skip
    found = queries.spans(node, sentences, lambda s, at: s[at["a"]]["word"] == s[at["c"]]["word"])
    assert as_pairs(index.query(text, matching="all")) == found
    assert as_pairs(index.query(text)) == queries.shortest(found)


def test_edges_and_fields_of_documents(tmp_path):
    texts = ["b a\n\nc b", "a b", "b c. b a", "c"]
    rows = [{"text": text, "year": year} for text, year in zip(texts, (1, 2, 1, 3), strict=True)]
    options = IndexOptions("lines", shard_tokens=5)
    index = CorpusIndex.from_texts(rows, tmp_path / "index", options=options)
    assert len(index.shards) > 1
    nodes = lambda query: [line.document for line in index.concordance(query, query=True)]  # noqa: E731
    assert nodes('<doc> "b"') == ["1", "3"]
    assert nodes('"b" </doc>') == ["1", "2"]
    assert nodes('<doc year="1|2"> []') == ["1", "2", "3"]
    assert nodes('"b" within <doc year!="1"/>') == ["2"]
    assert nodes('"a" !within <text year="[2-9]"/>') == ["1", "3"]
    part = index.select(where="year=1")
    assert len(part.query('<doc> "b"')) == 2
    assert len(part.query('"b" within <doc year="2"/>')) == 0


def test_fields_in_queries_are_found_in_each_way_to_write_them(tmp_path):
    rows = [
        {"text": "tea", "author": "O’Brien", "day": "1850-02-03", "score": 1.0, "name": "Zoë"},
        {"text": "tea", "author": "O'Brien", "day": "1850-11-03", "score": 1.5, "name": "Zoe"},
    ]
    index = CorpusIndex.from_texts(rows, tmp_path / "index")
    documents = lambda field: [  # noqa: E731
        line.document for line in index.concordance(f"<doc {field}> []", query=True)
    ]
    for apostrophe in "'’ʼ":
        assert documents(f'author="O{apostrophe}B.*"') == ["1", "2"]
        assert documents(f'author!="O{apostrophe}Brien"') == []
    assert documents('day="1850"') == documents('day="18.."') == ["1", "2"]
    assert documents('day="1850-02"') == documents('day=".*-02-03"') == ["1"]
    assert documents('day!="1850-02-.*"') == ["2"]
    assert documents('score="1"') == documents('score="1.0"') == ["1"]
    assert documents(f'name="{normalize("NFD", "Zoë")}"') == ["1"]


def test_edges_of_paragraphs(tmp_path):
    (tmp_path / "a.txt").write_text("Birds sing. Cats sleep.\nBirds come. Birds go!\n")
    (tmp_path / "b.txt").write_text("Ants sleep. Birds eat.\n")
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for shard_tokens in (4, 1000):
        options = IndexOptions("text", shard_tokens=shard_tokens)
        index = CorpusIndex.build(files, tmp_path / f"{shard_tokens}.index", options=options)
        nodes = lambda query: [line.node for line in index.concordance(query, query=True)]  # noqa: E731, B023
        assert nodes("<p> birds []") == ["Birds sing", "Birds come"]
        assert nodes("sleep /[.]/ </p>") == ["sleep."]
        assert nodes("<p> []{3} </p>") == []
        assert nodes("birds []") == nodes("birds [] within p") == nodes("birds [] within <p/>")
        with pytest.raises(ParameterError, match="within a sentence"):
            index.query("birds !within p")
    (tmp_path / "c.txt").write_text(
        "Birds sing. Birds go.\nBirds come.\n\nBirds eat.\nBirds fly.\n"
    )
    options = IndexOptions("text")
    index = CorpusIndex.build(tmp_path / "c.txt", tmp_path / "c.index", options=options)
    assert [line.node for line in index.concordance("<p> birds []", query=True)] == [
        "Birds sing",
        "Birds eat",
    ]


@pytest.mark.parametrize("order", ["right", "left", "2R", "1L,2R", "3R,1L"])
def test_the_first_lines_of_an_order_are_those_of_all_lines(random_text, monkeypatch, order):
    index, _ = random_text
    monkeypatch.setattr("distsim.indexes.corpus_index._FEW_SPANS", 2)
    whole = index.spans("b", order=order).tolist()
    for k in (0, 1, 2, 3, 10, 50, len(whole) - 1, len(whole), len(whole) + 1):
        assert index.spans("b", order=order, k=k).tolist() == whole[:k]


@pytest.mark.parametrize("n_shards", [1, 7])
def test_the_work_of_a_query_is_limited_for_all_shards_together(tmp_path, monkeypatch, n_shards):
    text = write_lines(tmp_path / "text.txt", [["a", "b", "c", "d", "e", "f", "g"]] * 700)
    options = IndexOptions("lines", shard_tokens=5_700 // n_shards)
    index = CorpusIndex.build([text], tmp_path / "index", options=options)
    assert len(index.shards) >= n_shards
    query = '"a" []{0,6} "g"'  # 14 steps a sentence, 5 of which the tokens pay
    monkeypatch.setattr(corpus_index, "MATCHING_STEPS", 12_000)
    assert len(index.query(query)) == 700
    monkeypatch.setattr(corpus_index, "MATCHING_STEPS", 2_000)
    with pytest.raises(ParameterError, match="takes too long in this index"):
        index.query(query)


@pytest.mark.parametrize("n_shards", [1, 7])
def test_single_tokens_are_matched_without_reading_sentences(tmp_path, monkeypatch, n_shards):
    rng = random.Random(n_shards)
    sentences = [rng.choices(["a", "b", "ab", "ba", "c"], k=rng.randint(1, 9)) for _ in range(700)]
    text = write_lines(tmp_path / "text.txt", sentences)
    options = IndexOptions("lines", shard_tokens=4_000 // n_shards)
    index = CorpusIndex.build([text], tmp_path / "index", options=options)
    assert len(index.shards) >= n_shards
    monkeypatch.setattr(shard, "match_query", None)
    for query, regex in [
        ('[word="." | word="a.*"]', r"(\w|a\w*)\t"), ("ba", r"ba\t"), ("(b* | c)", r"(b\w*|c)\t"),
        ('[word!="a"]', r"(?!a\t)\w+\t"), ("nowhere", "d"),
    ]:  # fmt: skip
        wanted = naive(sentences, regex)
        for matching in ("shortest", "longest", "all"):
            assert as_pairs(index.query(query, matching=matching)) == wanted, query
    monkeypatch.setattr(corpus_index, "MAX_MATCHES", len(wanted := naive(sentences, r"\w\t")))
    assert len(index.query('"."')) == len(wanted)
    monkeypatch.setattr(corpus_index, "MAX_MATCHES", len(wanted) - 1)
    with pytest.raises(ParameterError, match="matches: name more words"):
        index.query('"."')


@pytest.mark.parametrize("n", [0, 1, 2, 3, 30])
def test_spans_are_ascending_where_no_order_changes_them(n):
    rng = np.random.default_rng(n)
    for _ in range(100):
        begins = np.sort(rng.integers(0, 4 * n + 1, n))
        spans = np.column_stack([begins, begins + rng.integers(1, 3, n)])
        pairs = as_pairs(spans)
        assert kernel.is_ascending(spans, False) == (pairs == sorted(set(pairs)))
        assert kernel.is_ascending(spans, True) == (pairs == queries.shortest(sorted(set(pairs))))


def test_words_without_diacritics_are_changed_all_at_once():
    words = ["café", "cafe", "Việt_Nam", "été", "a", "ﬁn", "ÅÄÖ", "日本", "e\u0301", "\u0301", "ñ"]
    encoded = [word.encode() for word in words]
    text = np.frombuffer(b"".join(encoded), np.uint8)
    lines = WordLines(text, np.cumsum([0, *map(len, encoded)])).changed("bare", bare)
    for word, changed in zip(words, map(bare, words), strict=True):
        wanted = [bool(changed) and bare(other) == changed for other in words]
        assert lines.matching(re.escape(changed) or "x").tolist() == wanted, word
    assert WordLines(text[:0], np.zeros(1, np.int64)).changed("bare", bare).matching("a").size == 0
    assert bare("Việt") == "Viet" and bare("e\u0301") == "e"


def test_patterns_that_take_too_long_together_are_told(index, monkeypatch):
    monkeypatch.setattr(query_compiler, "SEARCH_SECONDS", -1.0)
    monkeypatch.setattr(word_patterns, "_CHECKED", 1)
    with pytest.raises(ParameterError, match="all patterns of the query take too long to find"):
        compile_query(index, '".*a.*" "[b-z]+"')
