"""Word sketches against a scan of the file: random trees, in shards, of some documents, phrases."""

import random
from collections import Counter
from math import log2

import pytest

from distsim import CorpusIndex, IndexOptions, InputError, ParameterError
from distsim.indexes.sketches import (
    read_relations,
    sketch,
    sketch_difference,
    sketch_spans,
)
from tests.conftest import index_of

LEMMAS = ["king", "queen", "take", "see", "old", "of", "in", "quickly"]
UPOS = {"take": "VERB", "see": "VERB", "old": "ADJ", "of": "ADP", "in": "ADP", "quickly": "ADV"}
LABELS = ["obj", "nsubj", "amod", "compound", "nmod", "obl", "conj", "advmod", "nmod:poss"]


def _documents(seed=3):
    draw = random.Random(seed)
    documents = []
    for _ in range(6):
        document = []
        for _ in range(25):
            n = draw.randint(1, 8)
            words = [draw.choice(LEMMAS) for _ in range(n)]
            heads = [draw.choice([one for one in range(n + 1) if one != at + 1]) for at in range(n)]
            labels = [
                "root" if not head else "case" if word in ("of", "in") else draw.choice(LABELS)
                for head, word in zip(heads, words, strict=True)
            ]
            document.append([*zip(words, heads, labels, strict=True)])
        documents.append(document)
    return documents


@pytest.fixture(params=[100_000, 60])
def index(request, tmp_path):
    lines = []
    for number, document in enumerate(_documents()):
        lines.append(f"# newdoc id = d{number}\n# meta::half = {number // 3}\n")
        for sentence in document:
            for n, (word, head, label) in enumerate(sentence, 1):
                upos = UPOS.get(word, "NOUN")
                lines.append(f"{n}\t{word.upper()}\t{word}\t{upos}\t_\t_\t{head}\t{label}\t_\t_\n")
            lines.append("\n")
    (tmp_path / "a.conllu").write_text("".join(lines))
    options = IndexOptions(file_format="conllu", shard_tokens=request.param)
    return CorpusIndex.build([tmp_path / "a.conllu"], tmp_path / "index", options=options)


def _scan(relation, documents, phrase):
    """(Pairs of the phrase, of all words) by name and collocate, by a scan of the sentences."""
    import re

    mine, every = Counter(), Counter()
    for document in documents:
        for sentence in document:
            words = [word for word, _, _ in sentence]
            node = {}
            for at in range(len(words) - len(phrase) + 1):
                if words[at : at + len(phrase)] == phrase:
                    inside = range(at, at + len(phrase))
                    leaving = [n for n in inside if sentence[n][1] - 1 not in inside]
                    if leaving:
                        node[leaving[-1]] = inside
            cases = {}
            for word, head, label in reversed(sentence):
                if label == "case" and head:
                    cases[head - 1] = word
            for at, (_, head, label) in enumerate(sentence):
                if not head or re.fullmatch(relation.relation, label) is None:
                    continue
                if relation.case and at not in cases:
                    continue
                name = relation.name.replace("*", cases[at]) if relation.case else relation.name
                sides = {"head": [(head - 1, at)], "dependent": [(at, head - 1)]}
                for one, other in sides.get(relation.word, sides["head"] + sides["dependent"]):
                    tags = [UPOS.get(words[place], "NOUN") for place in (one, other)]
                    if not all(map(re.fullmatch, (relation.upos, relation.other), tags)):
                        continue
                    every[name, words[other]] += 1
                    if one in node and other not in node[one]:
                        mine[name, words[other]] += 1
    return mine, every


@pytest.mark.parametrize("phrase", ["king", "take", "king queen", "old king"])
@pytest.mark.parametrize("where", [(), "half=1"])
def test_pairs_are_those_of_a_scan(index, phrase, where):
    documents = _documents()[3:] if where else _documents()
    opened = index.select(where=where)
    rows = sketch(opened, phrase, min_count=1, k=None)
    found = {(row.relation, row.word): row for row in rows}
    wanted = Counter()
    for relation in read_relations():
        mine, every = _scan(relation, documents, phrase.split())
        wanted += mine
        of_word = Counter()
        for (name, _), n in mine.items():
            of_word[name] += n
        for (name, word), n in mine.items():
            row = found[name, word]
            assert (row.times, row.of_word, row.of_collocate) == (
                n,
                of_word[name],
                every[name, word],
            )
            dice = 2 * n / (of_word[name] + every[name, word])
            assert row.score == pytest.approx(14 + log2(dice))
    assert {key: row.times for key, row in found.items()} == dict(wanted)
    assert wanted
    for row in rows[:10]:
        spans = sketch_spans(opened, phrase, row.relation, row.word)
        assert 0 < len(spans) <= row.times
        assert {line.node.lower() for line in opened.lines(spans)} == {phrase}


def test_lists_are_cut_and_ordered(index):
    every = sketch(index, "take", min_count=1, k=None)
    best = sketch(index, "take", min_count=1, k=2)
    for name in {row.relation for row in every}:
        scores = [row.score for row in every if row.relation == name]
        assert scores == sorted(scores, reverse=True)
        assert [row for row in best if row.relation == name] == [
            row for row in every if row.relation == name
        ][:2]
    assert sketch(index, '[lemma="take"]', query=True, min_count=1, k=2) == best
    assert all(row.times >= 3 for row in sketch(index, "take", min_count=3))
    assert sketch(index, "zeppelin") == []


def test_the_difference_has_both_sketches(index):
    sides = [
        {(row.relation, row.word): row for row in sketch(index, word, min_count=1, k=None)}
        for word in ("king", "queen")
    ]
    rows = sketch_difference(index, "king", "queen", min_count=1, k=None)
    assert {(row.relation, row.word) for row in rows} == sides[0].keys() | sides[1].keys()
    for row in rows:
        key = row.relation, row.word
        for side, times, score in (
            (0, row.times, row.score),
            (1, row.other_times, row.other_score),
        ):
            one = sides[side].get(key)
            assert (times, score) == ((one.times, one.score) if one else (0, None))
    assert all(row.times + row.other_times >= 4 for row in sketch_difference(
        index, "king", "queen", min_count=4))  # fmt: skip


def test_relations_of_a_file(index, tmp_path, run):
    (tmp_path / "mine.toml").write_text('[things]\nword = "head"\nrelation = "obj"\n')
    out, _ = run("sketch", index.path, "take", "--relations", tmp_path / "mine.toml", "-k", "0",
                 "--min-count", "1")  # fmt: skip
    mine, _ = _scan(read_relations(path=tmp_path / "mine.toml")[0], _documents(), ["take"])
    assert {tuple(line.split("\t")[:3]) for line in out.splitlines()} == {
        (name, word, str(n)) for (name, word), n in mine.items()
    }
    for text in ('[x]\nword = "up"\nrelation = "obj"', "[x", '[x]\nword = "head"',
                 '[x]\nword = "head"\nrelation = "("', "x = 1",
                 '[x]\nword = "head"\nrelation = "a"\ncase = 3'):  # fmt: skip
        (tmp_path / "bad.toml").write_text(text)
        with pytest.raises(InputError, match="bad.toml: .*a relation has word"):
            read_relations(path=tmp_path / "bad.toml")
    with pytest.raises(InputError, match="none.toml: cannot be read"):
        read_relations(path=tmp_path / "none.toml")


def test_commands_print_lines_and_differences(index, run):
    row = sketch(index, "take", min_count=1, k=1)[0]
    out, _ = run("sketch", index.path, "take", "--lines", f"{row.relation}:{row.word}", "-k", "0")
    spans = sketch_spans(index, "take", row.relation, row.word)
    assert len(out.splitlines()) == len(spans)
    out, _ = run("sketch", index.path, "king", "--against", "queen", "--json", "-k", "1")
    assert '"other_score"' in out and '"phrase": "king"' in out
    _, err = run("sketch", index.path, "take", "--lines", "objectsplace", status=2)
    assert "give RELATION:COLLOCATE" in err
    _, err = run("sketch", index.path, "take", "--lines", "things:king", status=1)
    assert "there is no relation 'things': choose one of objects" in err
    _, err = run("sketch", index.path, "take", "--lines", "objects:zeppelin")
    assert "take: has no zeppelin as objects" in err
    _, err = run("sketch", index.path, "zeppelin")
    assert "has no pairs" in err
    _, err = run("sketch", index.path, "a", "--against", "b", "--query", status=2)
    assert "--against compares two lemmas" in err


def test_text_without_dependencies_is_told_so(tmp_path):
    with pytest.raises(ParameterError, match="has no dependencies: build the index of CoNLL-U"):
        sketch(index_of("The king ran.", tmp_path), "king")


@pytest.mark.parametrize("head", ["3", "x", "-1"])
def test_a_head_outside_the_sentence_is_refused(tmp_path, head):
    (tmp_path / "a.conllu").write_text(
        f"1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n2\tb\tb\tX\t_\t_\t{head}\tobj\t_\t_\n\n"
    )
    with pytest.raises(InputError, match=r"line 2: the head is .*, the sentence has 2 tokens"):
        CorpusIndex.build([tmp_path / "a.conllu"], tmp_path / "i",
                          options=IndexOptions(file_format="conllu"))  # fmt: skip


def test_prepositions_between_two_words(tmp_path):
    """The scheme of spaCy's English models: take -prep-> into -pobj-> account."""
    rows = [("take", "VERB", 0, "ROOT"), ("tea", "NOUN", 1, "dobj"), ("into", "ADP", 1, "prep"),
            ("the", "DET", 5, "det"), ("account", "NOUN", 3, "pobj"), ("of", "ADP", 0, "prep"),
            ("old", "NOUN", 6, "pobj")]  # fmt: skip
    (tmp_path / "a.conllu").write_text("".join(
        f"{n}\t{form}\t{form}\t{upos}\t_\t_\t{head}\t{label}\t_\t_\n"
        for n, (form, upos, head, label) in enumerate(rows, 1)) + "\n")  # fmt: skip
    index = CorpusIndex.build([tmp_path / "a.conllu"], tmp_path / "i",
                              options=IndexOptions(file_format="conllu"))  # fmt: skip
    found = {(row.relation, row.word) for row in sketch(index, "take", min_count=1)}
    assert found == {("objects", "tea"), ("WORD into ...", "account")}
    found = {(row.relation, row.word) for row in sketch(index, "account", min_count=1)}
    assert found == {("... into WORD", "take")}


def test_dropped_tokens_leave_heads_right(tmp_path, run):
    rows = [("Take", "take", "VERB", 0, "root"), (",", ",", "PUNCT", 1, "punct"),
            ("old", "old", "ADJ", 4, "amod"), ("tea", "tea", "NOUN", 1, "obj"),
            (",", ",", "PUNCT", 4, "punct"), ("x", "x", "NOUN", 5, "obj")]  # fmt: skip
    (tmp_path / "a.conllu").write_text("".join(
        f"{n}\t{form}\t{lemma}\t{upos}\t_\t_\t{head}\t{label}\t_\t_\n"
        for n, (form, lemma, upos, head, label) in enumerate(rows, 1)) + "\n")  # fmt: skip
    run("index", "build", tmp_path / "a.conllu", "-o", tmp_path / "i", "--set",
        "normaliser.drop_punctuation=true")  # fmt: skip
    index = CorpusIndex.open(tmp_path / "i")
    rows = sketch(index, "tea", min_count=1)
    assert {(row.relation, row.word) for row in rows} == {
        ("object_of", "take"),
        ("adjectives", "old"),
    }
    assert sketch(index, "x", min_count=1) == []
    run("verify", tmp_path / "i")
