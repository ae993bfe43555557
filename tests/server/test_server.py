"""The page and the API, asked in this process."""

import asyncio
import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("jinja2", reason="the extra serve is not installed")
pytest.importorskip("uvicorn", reason="the extra serve is not installed")
pytest.importorskip("httpx", reason="the test client needs httpx")

from starlette.testclient import TestClient

from distsim import CorpusIndex, ExactCosine, IndexOptions, ParameterError, SignatureTable
from distsim.comparison import NeighbourSearch, Opposites
from distsim.grammar.packs.pack import PackOptions, pack_grammar
from distsim.indexes.phrase_lists import list_phrases
from distsim.indexes.subcorpora import save_subcorpus
from distsim.paraphrase.substitution.substituter import Substituter
from distsim.server import jit_warm_up, run, suggestions, worker_queues
from distsim.server.artifact_cache import ArtifactCache
from distsim.server.endpoints import ENDPOINTS
from distsim.server.run import LOCAL, application
from distsim.server.session import Opened, Places

pytestmark = pytest.mark.extra

GRAMMAR = """\
[NN] ||| the queen ||| the king ||| p=0.5 sim=0.7 ||| 0-0 1-1
[NN] ||| the queen ||| a queen ||| p=0.25 ||| 0-0 1-1
[NP] ||| the [JJ,1] queen ||| the [JJ,1] king ||| p=1 ||| 0-0 1-1 2-2
"""
ASKED = {
    "about": {},
    "count": {"phrase": ["the queen", "zeppelin", "the _ turtle"]},
    "complete": {"text": "mock t"},
    "spellings": {"phrase": "the quen"},
    "concordance": {"phrase": "the queen", "order": "left"},
    "collocates": {"phrase": "mock"},
    "frequency": {"phrase": "mock turt*"},
    "keywords": {},
    "ngrams": {"lengths": "1-2", "containing": "queen"},
    "dispersion": {"phrase": "the queen"},
    "passage": {"at": 100},
    "neighbours": {"phrase": "alice"},
    "map": {"phrase": "alice"},
    "contexts": {"phrase": "mock"},
    "compare": {"a": "alice", "b": "the queen"},
    "paraphrases": {"phrase": "the queen"},
    "unknown": {"phrase": ["the queen", "quen"]},
    "rules": {"source": "the queen"},
    "find-rules": {"text": "queen"},
    "rewrite": {"text": "The queen said so. The rabbit ran."},
    "substitutes": {"sentence": "said the [king] to alice"},
}


@pytest.fixture(scope="module")
def client(alice_index, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "rules").write_text(GRAMMAR, encoding="utf-8")
    pack_grammar(folder / "rules", folder / "pack", options=PackOptions(weights={"p": -1.0}))
    (folder / "tea.txt").write_text("tea and more tea\n" * 30, encoding="utf-8")
    other = CorpusIndex.build(folder / "tea.txt", folder / "other", options=alice_index.options)
    places = Places(str(alice_index.path), grammar=str(folder / "pack"), against=str(other.path))
    with TestClient(
        application(ArtifactCache(places, 2, PATIENT)), base_url="http://localhost"
    ) as client:
        yield client


def ask(client, name, **arguments):
    answer = client.get(f"/api/v1/{name}", params=arguments)
    assert answer.status_code == 200, answer.text
    return answer.json()


def until_ready(client):
    while not client.get("/api/v1/health").json()["ready"]:
        pass


# Kernels may have to be compiled while a question waits.
PATIENT = replace(worker_queues.LIMITS, quick_seconds=600.0, slow_seconds=600.0)


class Reader(HTMLParser):
    """Reads a page: its rows of text, links, ids; refuses what a policy of ours would stop."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.scripts, self.rows, self.text = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        assert not [name for name in values if name.startswith("on") or name == "style"], tag
        if tag == "a":
            self.links.append(values["href"])
        if tag == "script":
            self.scripts.append(values.get("src"))
        if tag == "tr":
            self.rows.append([])
        if "id" in values:
            self.ids.append(values["id"])

    def handle_data(self, data):
        self.text.append(data)
        if self.rows and data.strip():
            self.rows[-1].append(data.strip())


def page(client, address, status=200, **arguments):
    answer = client.get(address, params=arguments or None)
    assert answer.status_code == status, answer.text
    found = Reader(answer.text)
    assert len(found.ids) == len(set(found.ids))
    assert all(source and source.startswith("/static/") for source in found.scripts)
    return found


def test_answers_are_the_library_s(client, alice_index):
    index = CorpusIndex.open(alice_index.path)
    table = SignatureTable.open(index.path)
    counts = ask(client, "count", phrase=["the queen", "zeppelin", "the _ turtle"])["rows"]
    assert [row["count"] for row in counts] == [
        index.count("the queen"), 0, len(index.gapped("the _ turtle")),
    ]  # fmt: skip
    near = ask(client, "neighbours", phrase="alice", k=5)
    assert [(r["phrase"], r["similarity"], r["count"]) for r in near["rows"]] == [
        one[:3] for one in NeighbourSearch(table).nearest("alice", k=5)
    ]
    for order in ("corpus", "left", "right"):
        lines = ask(client, "concordance", phrase="the queen", order=order, k=7, width=4)
        assert [
            (r["source"], r["line"], r["left"], r["node"], r["right"], r["document"])
            for r in lines["rows"]
        ] == [tuple(one) for one in index.concordance("the queen", k=7, width=4, order=order)]
        for row in lines["rows"]:
            passage = ask(client, "passage", at=row["at"], words=2)
            here = next(s for s in passage["rows"] if s["first"] is not None)
            node = " ".join(" ".join(here["words"][here["first"] : here["stop"]]).split())
            assert node.lower() == "the queen" and node == row["node"]
            assert (passage["source"], here["line"]) == (row["source"], row["line"])
    measures = {
        one["name"]: one for one in ask(client, "compare", a="alice", b="the queen")["measures"]
    }
    assert measures["exact"]["similarity"] == ExactCosine(index, table).similarity(
        "alice", "the queen"
    )


def test_ranks_count_words_that_are_more_frequent(client, alice_index):
    counts = alice_index.word_counts()[1:]
    row = ask(client, "count", phrase="alice")["rows"][0]
    assert row["rank"] == (counts > row["count"]).sum() + 1
    assert row["among"] == (counts > 0).sum()
    assert row["per_million"] == pytest.approx(1e6 * row["count"] / alice_index.n_tokens)
    table = SignatureTable.open(alice_index.path)
    pairs = (table.token_counts() == 2).nonzero()[0]
    counts = table.strengths[pairs]
    for phrase in ("the queen", table.text(int(pairs[counts.argmin()]))):
        row = ask(client, "count", phrase=phrase)["rows"][0]
        assert row["rank"] == (counts > row["count"]).sum() + 1
        assert row["among"] == counts.size


@pytest.mark.parametrize("text", ["a", "the", "mock", "mock t", "the mock ", "the  qu", "Al", "'"])
def test_completion_is_the_most_frequent_of_all_that_begin_so(client, alice_index, text):
    begun = " ".join(text.lower().split()) + (" " if text.endswith(" ") else "")
    n = len(begun.split(" "))
    expected = sorted(
        (-count, one)
        for one, count in alice_index.ngrams(shortest=n, longest=n)
        if one.startswith(begun)
    )
    rows = ask(client, "complete", text=text, k=8)["rows"]
    assert [-row["count"] for row in rows] == [count for count, _ in expected[:8]]
    assert {(-row["count"], row["phrase"]) for row in rows} <= set(expected)


def test_contexts_of_both_and_of_one_alone(client):
    found = ask(client, "compare", a="alice", b="the queen", k=50)
    for row in found["shared"]:
        assert row["count_a"] and row["count_b"]
    assert all(row["count_b"] == 0 and row["weight_a"] > 0 for row in found["only_a"])
    assert all(row["count_a"] == 0 and row["weight_b"] > 0 for row in found["only_b"])
    own = {(row["place"], row["word"]): row for row in
           ask(client, "contexts", phrase="alice", k=1000)["left"]}  # fmt: skip
    for row in found["only_a"]:
        if row["place"] == "l1":
            assert own["l1", row["word"]]["weight"] == row["weight_a"]


def test_rules_are_decomposed(client):
    found = ask(client, "rules", source="The Queen")
    assert found["total"] == 2
    first = found["rows"][0]
    assert first["features"] == {"p": 0.5, "sim": 0.7}
    assert [(one["source"], one["target"]) for one in first["parts"]][:2] == [
        ("the", "the"), ("the queen", "the king"),
    ]  # fmt: skip
    assert first["parts"][0]["similarity"] == 1.0


def test_a_grammar_of_text_is_refused_and_a_table_of_syntax_served(alice_index, tmp_path):
    (tmp_path / "rules").write_text(GRAMMAR, encoding="utf-8")
    with pytest.raises(ParameterError, match="wanted the folder of a packed grammar: pack it"):
        Opened(Places(str(alice_index.path), grammar=str(tmp_path / "rules")))
    places = Places(str(alice_index.path), syntax=str(alice_index.path / "signatures"))
    with TestClient(application(ArtifactCache(places, 2, PATIENT))) as other:
        assert {one["name"] for one in ask(other, "about")["tables"]} == {"words", "syntax"}
        words, syntax = (
            ask(other, "neighbours", phrase="alice", table=name)["rows"]
            for name in ("words", "syntax")
        )
        assert words == syntax
        assert "syntax" in page(other, "/", q="alice").ids
        measures = ask(other, "compare", a="alice", b="the queen")["measures"]
        assert {"table", "exact", "syntax"} <= {one["name"] for one in measures}


def test_every_endpoint_answers_as_it_is_described(client):
    description = client.get("/openapi.json").json()
    schemas = description["components"]["schemas"]

    def check(value, schema):
        if "$ref" in schema:
            schema = schemas[schema["$ref"].rpartition("/")[2]]
        if "anyOf" in schema:
            return any(check(value, one) for one in schema["anyOf"])
        kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool,
                 "null": type(None), "array": list, "object": dict}  # fmt: skip
        if "type" not in schema:
            return False
        if not isinstance(value, kinds[schema["type"]]):
            return False
        if schema["type"] == "array":
            inner = schema.get("prefixItems") or [schema["items"]] * len(value)
            return all(check(one, kind) for one, kind in zip(value, inner, strict=True))
        if schema["type"] == "object" and "properties" in schema:
            return value.keys() == schema["properties"].keys() and all(
                check(value[name], one) for name, one in schema["properties"].items()
            )
        return True

    assert set(ASKED) == set(ENDPOINTS) - {"sketch"}  # which needs text with dependencies
    for name, arguments in ASKED.items():
        operation = description["paths"][f"/api/v1/{name}"]["get"]
        answer = ask(client, name, **arguments)
        content = operation["responses"]["200"]["content"]
        assert check(answer, content["application/json"]["schema"]), name
        assert {one["name"] for one in operation["parameters"]} >= set(arguments)
        tsv = client.get(f"/api/v1/{name}", params=arguments | {"format": "tsv"})
        assert tsv.headers["content-type"].startswith("text/tab-separated-values")
        columns = {line.count("\t") for line in tsv.text.splitlines()}
        assert len(columns) <= len(ENDPOINTS[name].rows)


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [
        ("count", 400, "bad-argument"),
        ("count?phrase=", 400, "bad-argument"),
        ("count?phrase=" + "x" * 301, 400, "bad-argument"),
        ("count?" + "&".join(["phrase=a"] * 101), 400, "bad-argument"),
        ("neighbours?phrase=a&k=0", 400, "bad-argument"),
        ("neighbours?phrase=a&k=1e3", 400, "bad-argument"),
        ("neighbours?phrase=a&phrase=b", 400, "bad-argument"),
        ("neighbours?phrase=a&lengths=3-1", 400, "bad-argument"),
        ("neighbours?phrase=a&colour=red", 400, "bad-argument"),
        ("neighbours?phrase=alice&table=syntax", 422, "not-there"),
        ("concordance?phrase=a&order=up", 400, "bad-argument"),
        ("passage?at=99999999", 400, "bad-argument"),
        ("substitutes?sentence=no+bracket", 400, "bad-argument"),
        ("count?phrase=%ED%A0%80", 200, None),
        ("nothing", 404, "not-found"),
        ("count?phrase=a&" + "x" * 20_000, 413, "too-large"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered(client, address, status, code):
    answer = client.get(f"/api/v1/{address}")
    assert answer.status_code == status
    if code is not None:
        error = answer.json()["error"]
        assert (error["code"], error["status"]) == (code, status)
        assert error["message"].endswith((".", "?")) and "/" not in error["message"]


def test_only_reading(client):
    answer = client.post("/api/v1/count", params={"phrase": "a"})
    assert answer.status_code == 405 and answer.json()["error"]["code"] == "method-not-allowed"
    assert client.head("/").status_code == 200


def test_other_hosts_are_refused(alice_index):
    app = application(ArtifactCache(Places(str(alice_index.path)), 1, PATIENT), LOCAL)
    for base, status in (("http://localhost:99", 200), ("http://evil.example", 421)):
        with TestClient(app, base_url=base) as client:
            assert client.get("/api/v1/count", params={"phrase": "a"}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"sec-fetch-site": "same-origin", "origin": "http://localhost"}, 200),
        ({"origin": "http://localhost"}, 200),
        ({"sec-fetch-site": "none", "sec-fetch-dest": "document"}, 200),  # typed
        ({"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"}, 403),
        ({"sec-fetch-site": "same-site", "sec-fetch-dest": "script"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}, 403),  # by a script
        ({"sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe", "sec-fetch-user": "?1"}, 403),
        (
            {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document", "sec-fetch-user": "?1"},
            200,
        ),  # a link
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://localhost:3000"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[::1"}, 403),
    ],
)
def test_pages_of_other_sites_start_no_work(client, headers, status):
    for path in ("/?q=mock", "/api/v1/count?phrase=mock"):
        assert client.get(path, headers=headers).status_code == status
    if status == 403:
        answer = client.get("/api/v1/count?phrase=mock", headers=headers)
        assert answer.json()["error"]["code"] == "other-site"


def test_patterns_that_could_take_forever_are_answered_or_refused(client):
    for pattern in (r"/(.+|\\)+#/", "/a*a*a*a*a*a*a*b/", "/((a?){20}a{20}){3}/", "/(a|aa)+$/ the"):
        assert client.get("/api/v1/count", params={"phrase": pattern}).status_code == 200
    for pattern in (
        r"/(a)\1/",
        "/(?=a)b/",
        "the []{500}",
        "<chapter> the",
        "(" * 100 + "a|b" + ")" * 100,
    ):
        answer = client.get("/api/v1/count", params={"phrase": pattern})
        assert answer.status_code == 400, pattern


def test_nothing_of_a_failed_request_survives():
    import asyncio
    import gc
    import weakref

    import numpy as np

    from distsim.server.worker_queues import WorkerQueue

    arrays = []

    def fails():
        large = np.zeros(10)
        arrays.append(weakref.ref(large))
        raise ParameterError("no")

    async def scene():
        queue = WorkerQueue("test", threads=1, waiting=1, seconds=30.0)
        try:
            await queue.run(fails)
        except ParameterError as error:
            gc.disable()
            assert arrays[0]() is None  # while the error lives
            assert str(error) == "no"
            gc.enable()

    asyncio.run(scene())


@pytest.mark.parametrize("host", ["[::1", "[", "a]b[", "localhost\\u2100", "[v1.x]", ":", ""])
def test_hosts_that_are_none_are_refused(alice_index, host):
    with TestClient(application(ArtifactCache(Places(str(alice_index.path))), LOCAL)) as client:
        for path in ("/", "/api/v1/health"):
            answer = client.get(path, headers={"host": host.encode("utf-8")})
            assert answer.status_code == 421, host


def test_a_longer_answer_begins_with_the_shorter_one(client):
    asked = 0
    for name, endpoint in ENDPOINTS.items():
        k = next((one for one in endpoint.arguments if one.name == "k"), None)
        if k is None or name in ("rewrite", "sketch", "unknown"):  # k is for each part
            continue
        whole = ask(client, name, **ASKED[name], k=k.most)
        for few in (1, 2, 7, 19):
            found = ask(client, name, **ASKED[name], k=few)
            for part in endpoint.rows:
                if part == "measures":
                    continue
                n = few + (name == "map")  # the phrase itself is the first
                key = (lambda row: row["phrase"]) if name == "map" else (lambda row: row)
                assert list(map(key, found[part])) == list(map(key, whole[part][:n])), (name, few)
        asked += 1
    assert asked >= 8


def test_headers_that_never_end_are_not_waited_for(monkeypatch):
    """Nor those of a second request, nor a body; what is being answered has the time it takes."""
    from uvicorn.server import ServerState

    monkeypatch.setattr(run, "_REQUEST_SECONDS", 0.2)
    whole = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answering = asyncio.Event()

    async def app(scope, receive, send):
        if scope["path"] == "/slow":
            await answering.wait()
        start = {"type": "http.response.start", "status": 200,
                 "headers": [(b"content-length", b"2")]}  # fmt: skip
        await send(start)
        await send({"type": "http.response.body", "body": b"ok"})

    async def talk():
        loop, config = asyncio.get_running_loop(), run._config(app)
        config.timeout_keep_alive = 0.2
        config.load()
        state = ServerState()
        server = await loop.create_server(
            lambda: config.http_protocol_class(config, state, {}), "127.0.0.1", 0
        )
        address = server.sockets[0].getsockname()[:2]
        slow = await asyncio.open_connection(*address)
        slow[1].write(whole.replace(b"/ ", b"/slow ", 1))
        for begun in (
            b"",
            b"GET / HT",
            whole[:-2],
            whole + b"GET",
            whole[:-2] + b"Content-Length: 9\r\n\r\nx",
        ):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(begun)
            told = await asyncio.wait_for(reader.read(), 60)  # to its end: the server closes it
            assert told.endswith(b"ok") == (b"\r\n\r\n" in begun)
            writer.close()
        assert len(state.connections) == 1
        answering.set()
        assert (await asyncio.wait_for(slow[0].readuntil(b"ok"), 60)).startswith(b"HTTP/1.1 200")
        slow[1].close()
        server.close()

    asyncio.run(talk())


def test_headers_let_nothing_in(client):
    for address in ("/", "/api/v1/about", "/nothing"):
        headers = client.get(address).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_pages_stand_without_scripts(client):
    start = page(client, "/")
    for link in {one for one in start.links if one.startswith("/")}:
        assert client.get(link).status_code == 200, link
    found = page(client, "/", q="the queen", paraphrases="1")
    assert {"neighbours", "map", "contexts", "concordance", "paraphrases", "rules"} <= set(
        found.ids
    )
    near = ask(client, "neighbours", phrase="the queen")["rows"]
    shown = [[row[0].lower(), *row[1:2]] for row in found.rows]
    assert [near[0]["phrase"], f"{near[0]['similarity']:.3f}"] in shown
    compared = page(client, "/compare", a="alice", b="the queen")
    assert any(row[:1] == ["exact"] for row in compared.rows)
    sentence = page(client, "/sentence", s="said the king to alice")
    chosen = next(one for one in sentence.links if "%5Bking%5D" in one)
    assert any(row[:1] == ["score"] or "score" in row for row in page(client, chosen).rows)
    line = ask(client, "concordance", phrase="alice", k=1)["rows"][0]
    assert "alice" in "".join(page(client, "/passage", at=line["at"]).text).lower()
    assert "There is no such page." in "".join(page(client, "/nowhere", 404).text)


def test_rows_put_below_others_are_marked(client, monkeypatch):
    # Questions that no other test asks: answers are kept.
    found_by = Substituter.substitutes

    def with_opposite(self, *asked, **limits):
        found = found_by(self, *asked, **limits)
        found[-1] = found[-1]._replace(contrasted=True, opposite=True)
        found.opposites = 3
        return found

    def contrasted(_, pairs):
        return [SimpleNamespace(contrasted=i < 2, opposite=False) for i, _ in enumerate(pairs)]

    monkeypatch.setattr(Substituter, "substitutes", with_opposite)
    monkeypatch.setattr(Opposites, "evidence", contrasted)
    sentence = "and the [king] said to alice"
    found = ask(client, "substitutes", sentence=sentence)
    assert found["opposites"] == 3
    assert [row["opposite"] for row in found["rows"]][-2:] == [False, True]
    shown = page(client, "/sentence", s=sentence)
    assert "come last: 1 here, 3 below these rows." in "".join(shown.text)
    assert any("opposite" in " ".join(row) for row in shown.rows)
    found = ask(client, "paraphrases", phrase="the king")
    n_shown = sum(row["contrasted"] for row in found["rows"])
    assert found["opposites"] + n_shown == 2
    shown = "".join(page(client, "/", q="the king", paraphrases="1").text)
    assert "come last: " in shown


def test_a_panel_alone_is_the_panel_of_the_page(client):
    alone = page(client, "/panel/contexts", q="mock", window="2")
    whole = page(client, "/", q="mock", window="2")
    assert "contexts" in alone.ids
    assert len(alone.rows) > 10
    assert all(row in whole.rows for row in alone.rows[:-1])  # behind the last comes other text
    assert alone.rows[:-1] != page(client, "/panel/contexts", q="mock").rows[:-1]


def test_suggestions_lead_somewhere(client):
    found = ask(client, "about")["suggestions"]
    assert len(found["phrases"]) == len(found["pairs"]) == 3
    for phrase in found["phrases"]:
        assert ask(client, "count", phrase=phrase)["rows"][0]["count"] > 0
    for sentence in found["sentences"]:
        assert ask(client, "substitutes", sentence=sentence)["rows"]
        assert sentence[-1] in ".!?" and sentence.replace("[", "")[0].isupper()
        assert 7 <= len(sentence.split()) <= 16
    assert found["sentences"]


def test_frequencies_by_file_are_of_its_words(tmp_path):
    for name, text in {"a": "tea for two\n\ntea .\n", "b": "more tea\n", "c": "no more\n"}.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    index = CorpusIndex.build(tmp_path, tmp_path / "index")
    with TestClient(application(ArtifactCache(Places(str(index.path)), 2, PATIENT))) as client:
        rows = ask(client, "frequency", phrase="tea", by="file")["rows"]
    assert [(row["name"], row["count"], round(row["per_million"])) for row in rows] == [
        ("a.txt", 2, 400_000), ("b.txt", 1, 500_000),
    ]  # fmt: skip


def test_a_text_is_read_as_a_phrase_a_gap_or_a_query(client, alice_index):
    index = CorpusIndex.open(alice_index.path)
    for text, kind, n in (
        ("mock turtle", "phrase", index.count("mock turtle")),
        ("the _ turtle", "gapped", len(index.gapped("the _ turtle"))),
        ("mock turt*", "query", len(index.query("mock turt*"))),
        ("(queen|king)", "query", index.count(["queen", "king"]).sum()),
        ("[] turtle", "query", len(index.query("[] turtle"))),
        ('"mock turtle"', "phrase", index.count("mock turtle")),
        ("<s> alice", "query", len(index.query("<s> alice"))),
        ("al?ce", "query", index.count("alice")),
        ("near(king, queen, 9)", "query", len(index.query("near(king, queen, 9)"))),
        ("{}", "phrase", 0),
        ("( for", "phrase", index.count("( for")),
    ):
        row = ask(client, "count", phrase=text)["rows"][0]
        assert (row["kind"], row["count"]) == (kind, n), text
    found = ask(client, "concordance", phrase="mock turt*", order="1L,1R", k=9)
    wanted = index.concordance("mock turt*", order="1L,1R", k=9, query=True)
    assert [(row["left"], row["node"]) for row in found["rows"]] == [one[2:4] for one in wanted]
    gapped = ask(client, "collocates", phrase="the _ turtle")["rows"]
    assert gapped == ask(client, "collocates", phrase="the []{1,6} turtle")["rows"]
    answer = client.get("/", params={"q": "<chapter> the"})
    assert answer.status_code == 400 and "no structure" in answer.text
    answer = client.get("/", params={"q": "mock [lemma=x]"})
    assert answer.status_code == 400 and "outside the query language" in answer.text


def test_pages_of_a_concordance_are_the_whole_in_parts(client, alice_index):
    index = CorpusIndex.open(alice_index.path)
    whole = [tuple(one) for one in index.concordance("the queen", order="2R,1L")]
    rows = []
    for skip in range(0, len(whole) + 7, 7):
        found = ask(client, "concordance", phrase="the queen", order="2R,1L", k=7, skip=skip)
        assert (found["count"], found["skipped"]) == (len(whole), skip)
        rows += found["rows"]
    assert [tuple(row.values())[1:7] for row in rows] == whole
    export = client.get("/api/v1/export", params={"phrase": "the queen", "order": "2R,1L"})
    assert export.json() == rows
    assert "attachment" in export.headers["content-disposition"]
    table = client.get("/api/v1/export", params={"phrase": "said", "format": "csv"})
    lines = list(csv.reader(io.StringIO(table.text)))
    assert lines[0] == ["at", "source", "line", "left", "node", "right", "document", "words"]
    assert [tuple(line[3:7]) for line in lines[1:]] == [
        one[2:] for one in index.concordance("said")
    ]
    empty = client.get("/api/v1/export", params={"phrase": "zeppelin"})
    assert empty.json() == []


def test_an_export_has_a_limit(client, monkeypatch):
    small = replace(worker_queues.LIMITS, exported_lines=100)
    monkeypatch.setattr("distsim.server.corpus_questions.LIMITS", small)
    answer = client.get("/api/v1/export", params={"phrase": "said"})
    assert answer.status_code == 400 and "100 lines" in answer.json()["error"]["message"]


def test_an_export_of_several_blocks(client, monkeypatch):
    monkeypatch.setattr("distsim.server.api._BLOCK", 7)
    for shape in ("json", "tsv", "csv"):
        asked = {"phrase": "the queen", "format": shape}
        parts = client.get("/api/v1/export", params=asked)
        monkeypatch.undo()
        assert parts.text == client.get("/api/v1/export", params=asked).text, shape
        monkeypatch.setattr("distsim.server.api._BLOCK", 7)


def test_collocates_keywords_and_frequencies_are_the_library_s(client, alice_index):
    from distsim.indexes import collocates

    index = CorpusIndex.open(alice_index.path)
    for measure in ("log-dice", "t"):
        rows = ask(client, "collocates", phrase="mock", measure=measure, window=2)["rows"]
        wanted = collocates(index, "mock", measure=measure, window=2, words_only=True)
        assert [tuple(row.values()) for row in rows] == [tuple(one) for one in wanted]
    forms = ask(client, "frequency", phrase="quee*")
    assert {row["name"]: row["count"] for row in forms["rows"]} == {
        word: index.count(word) for word in index if word.startswith("quee")
    }
    files = ask(client, "frequency", phrase="queen", by="file")["rows"]
    assert sum(row["count"] for row in files) == index.count("queen")
    keys = ask(client, "keywords", k=3)
    assert keys["rows"][0]["here"] > 0 and keys["reference"] == 120
    fewer = ask(client, "keywords", direction="less", k=1)["rows"][0]
    assert fewer["word"] == "tea" and fewer["log_likelihood"] < 0
    assert client.get("/api/v1/frequency?phrase=a&by=colour").status_code == 400


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    rows = [
        {"text": f"{word} and more {word} for the queen ." * 3, "year": 1850 + n, "genre": genre}
        for n, (word, genre) in enumerate([("tea", "novel"), ("wine", "novel"), ("tea", "play")])
    ]
    index = CorpusIndex.from_texts(rows, tmp_path_factory.mktemp("dated") / "index")
    with TestClient(application(ArtifactCache(Places(str(index.path)), 2, PATIENT))) as client:
        yield client, index


def test_documents_are_filtered_and_counted_by_their_fields(dated):
    client, index = dated
    assert ask(client, "about")["fields"] == list(index.metadata.fields)
    tea = ask(client, "count", phrase="tea", where="genre=novel")["rows"][0]
    assert tea["count"] == index.select(where="genre=novel").count("tea") == 6
    lines = ask(client, "concordance", phrase="tea", where="genre=novel; year=..1850")
    assert (lines["count"], len(lines["rows"])) == (6, 6)
    rows = ask(client, "frequency", phrase="tea", by="year")["rows"]
    assert [(row["name"], row["count"]) for row in rows] == [("1850", 6), ("1851", 0), ("1852", 6)]
    words = ask(client, "collocates", phrase="more", where="year=1851")["rows"]
    assert "wine" in {row["word"] for row in words} and "tea" not in {row["word"] for row in words}
    keys = ask(client, "keywords", where="year=1851", k=1, min_count=1)["rows"]
    assert keys[0]["word"] == "wine"
    passage = ask(client, "passage", at=lines["rows"][0]["at"])
    assert passage["fields"] == {"genre": "novel", "year": "1850"}
    ends = ask(client, "passage", at=lines["rows"][-1]["at"])
    assert not ends["cut_after"] and "wine" not in str(ends["rows"])
    export = client.get("/api/v1/export", params={"phrase": "tea", "where": "genre=play"}).json()
    assert len(export) == 6
    for where in ("colour=red", "genre=poem", "genre"):
        answer = client.get("/api/v1/count", params={"phrase": "tea", "where": where})
        assert answer.status_code == 400, where
    text = client.get("/", params={"q": "tea", "where": "genre=novel"}).text
    assert 'value="genre=novel"' in text and "<dd>6</dd>" in text
    absent = client.get("/", params={"q": "wine", "where": "genre=play"}).text
    assert "does not occur in these documents" in absent
    assert client.get("/keywords", params={"where": "year=1851"}).status_code == 200


def test_lines_have_fields_and_text_across_sentences(dated):
    client, index = dated
    rows = ask(client, "concordance", phrase="wine", width="p", k=2)["rows"]
    assert rows[0]["fields"] == {"year": 1851, "genre": "novel"}
    wanted = index.concordance("wine", width="p", k=2)
    assert [(row["left"], row["right"]) for row in rows] == [(w.left, w.right) for w in wanted]
    drawn = [
        ask(client, "concordance", phrase="tea", sample=f"3:{seed}")["rows"] for seed in (1, 1)
    ]
    assert drawn[0] == drawn[1] and len(drawn[0]) == 3
    table = client.get(
        "/api/v1/export", params={"phrase": "wine", "width": "3:1", "format": "csv"}
    ).text
    head, *lines = csv.reader(io.StringIO(table))
    assert head[-2:] == ["fields.year", "fields.genre"] and lines[0][-2:] == ["1851", "novel"]
    for wrong in ({"width": "x"}, {"width": "51"}, {"width": "999:1"}, {"sample": "x"}):
        answer = client.get("/api/v1/concordance", params={"phrase": "tea"} | wrong)
        assert answer.status_code == 400, wrong
    page = client.get("/", params={"q": "wine", "text": "p"}).text
    assert "<strong>paragraph</strong>" in page and "1851 novel" in page


def test_subcorpora_are_asked_by_name_without_a_restart(dated):
    client, index = dated
    save_subcorpus(index, "plays", where="genre=play")
    assert ask(client, "count", phrase="tea", where="plays")["rows"][0]["count"] == 6
    rows = ask(client, "ngrams", where="plays", min_count=1)["rows"]
    plays = index.select(where="genre=play")
    assert {row["phrase"]: row["count"] for row in rows} == {
        one.phrase: one.times for one in list_phrases(plays, words_only=True)
    }
    found = ask(client, "dispersion", phrase="tea", where="plays")
    assert (found["count"], found["in_documents"], found["documents"]) == (6, 1, 1)
    assert sum(row["count"] for row in found["rows"]) == 6 and len(found["rows"]) == 100
    assert not any(row["count"] for row in found["rows"][:60])
    assert client.get("/words", params={"lengths": "2", "where": "plays"}).status_code == 200
    answer = client.get("/api/v1/count", params={"phrase": "tea", "where": "nothing"})
    assert answer.status_code == 400 and "no subcorpus" in answer.json()["error"]["message"]


def test_fields_beside_lines_are_chosen(dated):
    client, index = dated
    for text, names in (("genre, id", ["genre", "id"]), ("-", []), ("", ["year", "genre"])):
        asked = {"phrase": "wine", "fields": text}
        rows = ask(client, "concordance", **asked, k=2)["rows"]
        assert [list(row["fields"]) for row in rows] == [names] * 2, text
        export = client.get("/api/v1/export", params=asked | {"format": "csv"}).text
        head, *lines = csv.reader(io.StringIO(export))
        assert [name for name in head if name[:7] == "fields."] == [f"fields.{n}" for n in names]
        assert len(lines) == index.count("wine")
    assert client.get("/api/v1/concordance", params=asked | {"fields": "id", "k": 1}).json()[
        "rows"
    ][0]["fields"] == {"id": "2"}
    for endpoint in ("concordance", "export"):
        wrong = client.get(f"/api/v1/{endpoint}", params=asked | {"fields": "year,colour"})
        assert wrong.status_code == 400
        assert "choose among id, year, genre" in wrong.json()["error"]["message"]
    page = client.get("/", params={"q": "wine", "fields": "genre,year", "order": "left"}).text
    assert '<td class="field faint" data-name="genre" title="novel">novel</td>' in page
    assert re.search(r"/api/v1/export\?format=csv&amp;[^\"]*fields=genre%2Cyear", page)
    assert re.search(r'href="[^"]*order=left&amp;fields=year#[^"]*"[^>]*class="on">genre', page)
    none = client.get("/", params={"q": "wine", "fields": "-"}).text
    assert 'class="field' not in none and "Fields beside: none" in none


def test_each_line_of_the_page_has_three_fields_cut_to_a_width(tmp_path):
    kinds = {"a": None, "b": "x" * 99, "c": "play", "d": "late", "e": "unseen"}
    rows = [{"text": f"Tea {n}.", **kinds} for n in range(5)]
    rows[0]["a"] = "kind"
    index = CorpusIndex.from_texts(rows, tmp_path / "index")
    save_subcorpus(index, "plays", where="c=play")
    with TestClient(application(ArtifactCache(Places(str(index.path)), 2, PATIENT))) as client:
        page = client.get("/", params={"q": "tea"}).text
        shown = re.findall('<td class="fields faint">([^<]*)<', page)
        long = "x" * 39 + "…"
        assert shown == [f"kind {long} play "] + [f"{long} play late "] * 4
        assert "Subcorpora, by their names: plays." in page


def test_subcorpora_of_ids_are_offered_where_documents_have_no_fields(tmp_path):
    index = CorpusIndex.from_texts(["Tea.", "Wine and tea."], tmp_path / "index")
    save_subcorpus(index, "wines", ids=["2"])
    with TestClient(application(ArtifactCache(Places(str(index.path)), 2, PATIENT))) as client:
        page = client.get("/", params={"q": "tea", "where": "wines"}).text
        assert 'placeholder="wines"' in page and "<dd>1</dd>" in page
        assert 'id="card-keywords"' in client.get("/").text


def test_sketches_of_text_with_dependencies(tmp_path, client):
    rows = [("Old", "old", "ADJ", 2, "amod"), ("kings", "king", "NOUN", 3, "nsubj"),
            ("take", "take", "VERB", 0, "root"), ("tea", "tea", "NOUN", 3, "obj")]  # fmt: skip
    (tmp_path / "a.conllu").write_text("".join(
        f"{n}\t{form}\t{lemma}\t{upos}\t_\t_\t{head}\t{label}\t_\t_\n"
        for n, (form, lemma, upos, head, label) in enumerate(rows, 1)) + "\n")  # fmt: skip
    options = IndexOptions(file_format="conllu")
    index = CorpusIndex.build([tmp_path / "a.conllu"], tmp_path / "index", options=options)
    with TestClient(application(ArtifactCache(Places(str(index.path)), 2, PATIENT))) as annotated:
        found = ask(annotated, "sketch", phrase="take", min_count=1)
        assert [(row["relation"], row["word"], row["count"]) for row in found["rows"]] == [
            ("objects", "tea", 1), ("subjects", "king", 1)
        ]  # fmt: skip
        both = ask(annotated, "sketch", phrase="take", other="king", min_count=1)
        assert {row["word"] for row in both["rows"]} == {"tea", "king", "take", "old"}
        lemmas = ask(annotated, "ngrams", by="lemma", min_count=1)["rows"]
        assert {row["phrase"] for row in lemmas} == {"old", "king", "take", "tea"}
        page = annotated.get("/sketch", params={"phrase": "take", "min_count": "1"}).text
        assert "objects" in page and ">tea</a>" in page
        assert 'id="sketch"' in annotated.get("/", params={"q": "take"}).text
    assert "need text with dependencies" in client.get("/sketch").text
    assert client.get("/api/v1/sketch", params={"phrase": "alice"}).status_code == 400


def test_pages_say_what_they_need(dated, tmp_path):
    client, _ = dated
    assert "Rules need a packed grammar" in client.get("/rules").text
    assert "Rewriting needs a packed grammar" in client.get("/rewrite").text
    bare = CorpusIndex.from_texts(["Tea and tea."], tmp_path / "bare")
    with TestClient(application(ArtifactCache(Places(str(bare.path)), 2, PATIENT))) as client:
        text = client.get("/keywords").text
        assert "Keywords need a reference corpus" in text and '<form class="wide"' not in text


def test_a_corpus_without_fields_has_no_filters(client):
    answer = client.get("/api/v1/count", params={"phrase": "alice", "where": "year=1850"})
    assert answer.status_code == 400 and "no fields" in answer.json()["error"]["message"]


def test_unknown_phrases_say_so_and_offer_spellings(client):
    known = {"alise": "alice", "turtel": "turtle", "the qween": "the queen",
             "whiterabbit": "white rabbit", "caterpilar": "caterpillar"}  # fmt: skip
    for wrong, right in known.items():
        found = [row["phrase"] for row in ask(client, "spellings", phrase=wrong)["rows"]]
        assert right in found, (wrong, found)
    text = client.get("/", params={"q": "the qween"}).text
    assert text.index("does not occur in the corpus") < text.index("the Queen")
    assert "<section" not in text  # a vector of "the" alone would mislead
    composed = client.get("/", params={"q": "queen rabbit"}).text
    assert composed.index("does not occur in the corpus") < composed.index('id="neighbours"')
    assert 'id="concordance"' not in composed
    assert ask(client, "spellings", phrase="zzzzqqqqxxxx")["rows"] == []


def test_rules_are_browsed_and_found(client):
    every = ask(client, "find-rules")
    assert every["total"] == 3
    first = [row["target"] for row in every["rows"]]
    assert ask(client, "find-rules", skip=1, k=1)["rows"][0]["target"] == first[1]
    assert {row["target"] for row in ask(client, "find-rules", text="quee* a")["rows"]} == {
        "a queen"
    }
    assert ask(client, "find-rules", text="rabbit")["total"] == 0
    kinds = [ask(client, "find-rules", kind=kind)["total"]
             for kind in ("content", "inflection", "function")]  # fmt: skip
    assert sum(kinds) == 3 and kinds[0] > 0 and kinds[2] > 0
    assert any(row[:1] == ["the queen"] for row in page(client, "/rules", text="queen").rows)


def test_a_text_is_rewritten_with_evidence(client, alice_index):
    text = "The queen said so. The rabbit ran."
    found = ask(client, "rewrite", text=text, k=2)
    assert [row["before"] for row in found["rows"] if row["rank"] == 1] == [
        "The queen said so .", "The rabbit ran .",
    ]  # fmt: skip
    rules = [rule for row in found["rows"] for rule in row["rules"] if rule["label"] != "deleted"]
    assert all(rule["before"] in ("the queen", "queen") for rule in rules)
    short = ask(client, "rewrite", text=text, aim="shorten", k=1)["rows"]
    assert all(len(row["after"].split()) < len(row["before"].split()) for row in short)
    shown = client.get("/rewrite", params={"text": text})
    assert shown.status_code == 200 and found["rows"][0]["before"] in shown.text
    long = client.get("/api/v1/rewrite", params={"text": "so " * 101})
    assert long.status_code == 400 and "101 words" in long.json()["error"]["message"]


def test_settings_of_other_panels_stay_in_links(client):
    found = page(client, "/", q="the queen", order="1L", window="2", span="3")
    kept = [link for link in found.links if "measure=" in link and "format" not in link]
    assert kept and all("order=1L" in one and "window=2" in one for one in kept)
    sorted_page = page(client, "/", q="the queen", sort1="2R", sort3="1L")
    assert any("order=2R%2C1L" in link for link in sorted_page.links)


def test_a_page_seen_before_is_made_once(client, monkeypatch):
    first = client.get("/", params={"q": "the hatter"}).text
    monkeypatch.setattr("distsim.server.pages._TEMPLATES", None)
    assert client.get("/", params={"q": "the hatter"}).text == first


HOSTILE = [
    "<script>alert(1)</script> <img/src=x/onerror=alert(2)> stands here",
    "the \u202ereversed\u202c word and \u05d0\u05d1\u05d2 \u0627\u0628\u062a stand here",
    "x" * 10_000 + " stands here and " + "y" * 10_000 + " here",
    "a \x1b[31mred\x1b[0m word and \x07 bell stand here",
    '" onmouseover="alert(3) \' & &amp; {{ 7*7 }} {% raw %} stand here',
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    lines = [line for line in HOSTILE for _ in range(4)] + [
        f"other words {n} here" for n in range(9)
    ]
    (folder / "<b>bad.txt").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    index = CorpusIndex.build(folder / "<b>bad.txt", folder / "index")
    with TestClient(application(ArtifactCache(Places(str(index.path)), 2, PATIENT))) as client:
        yield client


def test_hostile_text_is_shown_as_text(hostile):
    words = {word for line in HOSTILE for word in line.split() if len(word) < 300}
    for word in sorted(words):
        found = hostile.get("/", params={"q": word})
        assert found.status_code == 200
        text = found.text
        assert "<script>alert" not in text and "<img" not in text and "<b>" not in text
        assert "49" not in "".join(Reader(text).text).replace(str(len(words)), "") or word == "49"
        assert len(text) < 300_000
    lines = ask(hostile, "concordance", phrase="stands")["rows"]
    assert lines[0]["left"].startswith("<script>")
    assert all(len(row["left"]) <= worker_queues.LIMITS.shown_characters for row in lines)


def test_an_index_that_was_not_signed_says_what_is_missing(hostile):
    answer = hostile.get("/api/v1/neighbours", params={"phrase": "here"})
    assert answer.status_code == 422 and "sign" in answer.json()["error"]["message"]
    text = hostile.get("/", params={"q": "here"}).text
    assert "was not signed" in text and 'class="kwic"' in text


def test_an_index_that_grows_is_picked_up(tmp_path, monkeypatch):
    monkeypatch.setattr("distsim.server.artifact_cache._LOOK_SECONDS", 0.0)
    (tmp_path / "a.txt").write_text("one word here\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("one more here\n" * 3, encoding="utf-8")
    index = CorpusIndex.build(tmp_path / "a.txt", tmp_path / "index")
    cache = ArtifactCache(Places(str(index.path)), 2, PATIENT)
    with TestClient(application(cache)) as client:
        assert ask(client, "count", phrase="here")["rows"][0]["count"] == 1
        index.add(tmp_path / "b.txt")
        for _ in range(1000):  # what is opened anew comes when it is ready
            if ask(client, "count", phrase="here")["rows"][0]["count"] == 4:
                break
        assert ask(client, "count", phrase="here")["rows"][0]["count"] == 4
        (index.path / "manifest.json").write_text("{}", encoding="utf-8")
        for _ in range(1000):
            answer = client.get("/api/v1/count", params={"phrase": "here"})
            if answer.status_code == 503:
                break
        assert answer.json()["error"]["code"] == "damaged"
        assert client.get("/api/v1/health").status_code == 503
        found = client.get("/", params={"q": "here"})
        assert found.status_code == 503 and "cannot be read" in found.text
        assert str(tmp_path) not in answer.text + found.text


def test_a_file_that_is_cut_short_while_it_is_served(tmp_path, monkeypatch):
    monkeypatch.setattr("distsim.server.artifact_cache._LOOK_SECONDS", 0.0)
    (tmp_path / "a.txt").write_text("some words here\n" * 20_000, encoding="utf-8")
    index = CorpusIndex.build(tmp_path / "a.txt", tmp_path / "index")
    with TestClient(application(ArtifactCache(Places(str(index.path)), 2, PATIENT))) as client:
        until_ready(client)
        assert ask(client, "concordance", phrase="words", k=1)["count"] == 20_000
        (file,) = index.path.glob("shard-0-tokens.*")
        whole = file.read_bytes()
        with file.open("r+b") as cut:
            cut.truncate(4096)
        answer = client.get("/api/v1/concordance", params={"phrase": "here"})
        assert answer.status_code == 503 and answer.json()["error"]["code"] == "damaged"
        assert client.get("/api/v1/health").json()["ok"] is False
        found = client.get("/", params={"q": "here"})
        assert found.status_code == 503 and "cannot be read" in found.text
        file.write_bytes(whole)
        for _ in range(1000):
            answer = client.get("/api/v1/concordance", params={"phrase": "here"})
            if answer.status_code == 200:
                break
        assert answer.json()["count"] == 20_000


def test_a_first_start_fails_no_question(alice_index, monkeypatch):
    import threading

    compiled, go, asked = [0], threading.Event(), []

    def make(opened):
        compiled[0] += 1
        assert go.wait(60)

    monkeypatch.setattr("distsim.server.artifact_cache.compiled_kernels", lambda: compiled[0])
    monkeypatch.setattr("distsim.server.artifact_cache.uncached_kernels", lambda: 1)  # so by itself
    monkeypatch.setattr("distsim.server.pages._PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(jit_warm_up, "ALWAYS", (make,))
    monkeypatch.setattr(jit_warm_up, "SLOW", (asked.append,))
    hasty = replace(worker_queues.LIMITS, quick_seconds=0.0, slow_seconds=0.0)
    with TestClient(application(ArtifactCache(Places(str(alice_index.path)), 1, hasty))) as client:
        assert client.get("/api/v1/health").json()["ready"] is False
        first = client.get("/", params={"q": "alice"})
        assert first.status_code == 200 and first.headers["refresh"] and "compiled" in first.text
        threading.Timer(0.05, go.set).start()
        assert ask(client, "count", phrase="alice")["rows"][0]["count"] == 397
        until_ready(client)
        assert len(asked) == 1  # what was compiled for the page is compiled for the rest too
        answer = client.get("/api/v1/count", params={"phrase": "rabbit"})
        assert answer.status_code == 504


def test_kernels_are_compiled_in_a_process_of_its_own(alice_index, monkeypatch):
    from distsim.server import artifact_cache as module

    run, ended = [], module._ended

    async def seen(command, told):
        run.append(command)
        await ended([*command[:1], "-c", "print('Page of a phrase'); raise SystemExit(3)"], told)

    monkeypatch.setattr(module, "uncached_kernels", lambda: 0)
    monkeypatch.setattr(module, "_ended", seen)
    monkeypatch.setattr(jit_warm_up, "is_done", lambda: False)
    places = Places(str(alice_index.path))
    with TestClient(application(ArtifactCache(places))) as client:
        until_ready(client)
    (command,) = run
    asked = []
    monkeypatch.setattr("sys.argv", command[2:])
    for name in ("ALWAYS", "PAGES", "SLOW"):
        monkeypatch.setattr(jit_warm_up, name, (asked.append,))
    jit_warm_up.main()
    assert [one.index.n_tokens for one in asked] == [alice_index.n_tokens] * 3


def test_each_kind_is_asked_once_after_the_start_beside_questions(alice_index, monkeypatch):
    import threading

    go, asked, all_asked = threading.Event(), [], threading.Event()

    def page(opened):
        assert go.wait(60)
        raise ParameterError("no such page")  # which keeps nothing from the others

    def slow(opened):
        asked.append(opened.index.n_tokens)
        all_asked.set()

    monkeypatch.setattr("distsim.server.artifact_cache.compiled_kernels", lambda: 7)
    monkeypatch.setattr(jit_warm_up, "is_done", lambda: True)
    monkeypatch.setattr(jit_warm_up, "PAGES", (page,))
    monkeypatch.setattr(jit_warm_up, "SLOW", (slow,))
    with TestClient(application(ArtifactCache(Places(str(alice_index.path)), 2))) as client:
        until_ready(client)
        assert ask(client, "count", phrase="alice")["rows"][0]["count"] == 397 and not asked
        go.set()
        assert all_asked.wait(60) and asked == [alice_index.n_tokens]


def test_words_are_asked_for_before_the_first_page_of_one(alice_index, monkeypatch):
    """What lists words for a word reads seconds' worth of data the first time."""
    opened, asked = Opened(Places(str(alice_index.path))), []
    monkeypatch.setattr(
        jit_warm_up.questions, "neighbours", lambda _, phrase, *rest: asked.append(phrase)
    )
    assert jit_warm_up._words in jit_warm_up.ALWAYS
    jit_warm_up._words(opened)
    assert asked == []  # it has no finder
    monkeypatch.setattr(Opened, "word_neighbours", lambda self, name: object())
    jit_warm_up._words(opened)
    assert asked and all(phrase.isalpha() for phrase in asked)


def test_an_export_that_has_begun_is_sent_whole_while_the_queue_is_full(alice_index, monkeypatch):
    monkeypatch.setattr("distsim.server.api._BLOCK", 7)
    cache = ArtifactCache(Places(str(alice_index.path)), 1, PATIENT)
    run = cache.run

    async def then_full(function, **options):
        answer = await run(function, **options)
        cache._quick._places = 0
        return answer

    with TestClient(application(cache), base_url="http://localhost") as busy:
        until_ready(busy)
        monkeypatch.setattr(cache, "run", then_full)
        answer = busy.get("/api/v1/export", params={"phrase": "the queen", "format": "tsv"})
    assert len(answer.text.splitlines()) == alice_index.count("the queen") + 1


def test_answers_are_kept_within_so_many_bytes(alice_index, monkeypatch):
    import pickle

    monkeypatch.setattr("distsim.server.artifact_cache._KEPT_BYTES", 30_000)
    cache = ArtifactCache(Places(str(alice_index.path)), 1, PATIENT)
    with TestClient(application(cache), base_url="http://localhost") as client:
        until_ready(client)
        answers = [ask(client, "concordance", phrase="the", k=n) for n in range(40, 70)]
        kept = list(cache._kept._done.values())
        assert 2 <= len(kept) < 30 and all(type(answer) is bytes for answer in kept)
        assert 20_000 < sum(map(len, kept)) <= 30_000
        again = [ask(client, "concordance", phrase="the", k=n) for n in range(40, 70)]
        assert again == answers and len(pickle.loads(kept[-1]).rows) == 69


def test_no_answer_names_a_path(client, alice_index):
    folder = str(alice_index.path.parent)
    for name, arguments in ASKED.items():
        assert folder not in client.get(f"/api/v1/{name}", params=arguments).text
    assert folder not in client.get("/", params={"q": "alice"}).text


def test_a_full_queue_refuses_and_an_answer_may_take_too_long():
    import asyncio
    import threading

    from distsim.server.worker_queues import BusyError, KeptAnswers, TooLongError, WorkerQueue

    go = threading.Event()

    async def scene():
        queue = WorkerQueue("test", threads=1, waiting=1, seconds=30.0)
        first = asyncio.ensure_future(queue.run(go.wait))
        second = asyncio.ensure_future(queue.run(lambda: 2))
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await queue.run(lambda: 3)
        go.set()
        assert (await first, await second, queue.taken) == (True, 2, 0)
        go.clear()
        first = asyncio.ensure_future(queue.run(go.wait))
        await asyncio.sleep(0)
        queue.seconds = 0.0
        with pytest.raises(TooLongError):
            await queue.run(lambda: 4)
        going_on = asyncio.ensure_future(queue.run(lambda: 5, goes_on=True))
        await asyncio.sleep(0)
        assert queue.taken == 3  # what nobody waits for any more has its place until its turn
        go.set()
        assert (await first, await going_on) == (True, 5)
        kept, made = KeptAnswers(1), []

        async def make():
            made.append(1)
            return len(made)

        assert await asyncio.gather(kept.of("a", make), kept.of("a", make)) == [1, 1]
        assert [await kept.of("b", make), await kept.of("b", make), await kept.of("a", make)] == [
            2, 2, 3,
        ]  # fmt: skip
        even = KeptAnswers(9, is_lasting=lambda answer: answer % 2 == 0)
        assert [await even.of("a", make) for _ in range(2)] == [4, 4]
        assert [await even.of("b", make) for _ in range(3)] == [5, 6, 6]

    asyncio.run(scene())


def test_serve_says_what_cannot_be_served(run, tmp_path):
    _, err = run("serve", tmp_path / "nowhere", status=1)
    assert "no such folder" in err


def test_the_description_is_whole(client):
    text = json.dumps(client.get("/openapi.json").json())
    for name in ENDPOINTS:
        assert f"/api/v1/{name}" in text


def test_three_places_that_agree_decide_on_capitals_as_five_do(alice_index, monkeypatch):
    phrases = [one.phrase for one in list_phrases(alice_index, lengths=(1, 2), k=300)]
    found = []
    for deciding in (3, 5):
        monkeypatch.setattr(suggestions, "_DECIDING", deciding)
        kept: dict[str, object] = {}
        opened = SimpleNamespace(
            index=alice_index, kept=lambda name, make, kept=kept: kept.setdefault(name, make())
        )
        found.append(suggestions.as_found(opened, phrases))
    assert found[0] == found[1]
    assert {"Alice", "the King", "she"} <= {*found[0].values()}
