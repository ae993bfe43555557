"""Every written occurrence of a phrase is found, however it is typed and the text was cut."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim import CorpusIndex, ParameterError, SignatureTable
from distsim.base.errors import EarlierVersionWarning
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.query import Lookup, never_cut
from distsim.corpus.tokeniser import tokens_of
from distsim.grammar.scoring import RuleScorer
from distsim.indexes.build import IndexOptions
from distsim.indexes.collocation import collocates
from distsim.indexes.phrase_lists import list_phrases
from distsim.indexes.tracing import continuations, trace

TEXT = """I don't know, she said. I don’t care; no. So, they don't go: why? Qur'an's verses.
The Qur’an.
Don't'ee go, no. O'Brien's men met O’Brien at nine o'clock in N'Djamena. L'homme d’aujourd'hui.
Nell'arte e dell’arte. It was rock'n'roll in the ’90s, by James' men. 'Tis the fo'c's'le.
Catalan l'Hospitalet d’Alella; п'ять п’ять пʼять; Hawai'i Hawaiʻi Hawai‘i.
"""
WRITTEN = [
    "don't", "qur'an", "o'brien", "o'clock", "n'djamena", "l'homme", "aujourd'hui", "dell'arte",
    "rock'n'roll", "'90s", "james'", "'tis", "fo'c's'le", "l'hospitalet", "d'alella", "п'ять",
    "hawai'i", "met o'brien at",
]  # fmt: skip
PENN = "I do n't know .\nThey do n't go .\nHe ca n't .\nthe king 's -LRB- `` men '' -RRB-\n"
MOSES = "I don &apos;t know .\nThey don &apos;t go .\nHe can &apos;t .\nthe king &apos;s ( &quot;\n"


def count_written(text, phrase):
    """Count a phrase in a text as a reader does: all apostrophes alike, words whole."""
    plain = re.sub("[’‘ʼʻ]", "'", text.lower())
    edge = r"(?<![\w])" if phrase[0].isalpha() else ""
    return len(re.findall(edge + re.escape(phrase) + r"(?!\w)", plain))


@pytest.fixture(params=["of today", "of an earlier version"])
def index(request, tmp_path):
    is_old = request.param != "of today"
    options = IndexOptions("text", normaliser=Normaliser(fold_variants=None if is_old else True))
    return CorpusIndex.from_texts(TEXT.splitlines(), tmp_path / "index", options=options)


@pytest.mark.parametrize("phrase", WRITTEN)
@pytest.mark.parametrize("sign_typed", "'’‘")
def test_running_text_has_what_a_reader_counts(index, phrase, sign_typed):
    typed = phrase.replace("'", sign_typed)
    n = count_written(TEXT, phrase)
    assert n > 0
    assert index.count(typed) == index.count([typed, "unseen"])[0] == n
    assert len(index.positions(typed)) == len(index.concordance(typed)) == n
    assert len(index.neighbourhoods(typed, 2, 2)) == n
    assert len(index.query(typed)) == n
    assert len(index.gapped(f"{typed} _ unseen")) == 0
    found = {line.node.replace("’", "'").lower() for line in index.concordance(typed)}
    assert {re.sub("[‘ʻʼ]", "'", node) for node in found} == {phrase}


@pytest.mark.parametrize("typed", ["ג'ורג'", "ג׳ורג׳", "ג’ורג’"])
def test_a_geresh_and_apostrophes_in_one_word_are_alike(tmp_path, typed):
    text = "ג׳ורג' בא עם ג'ורג' ועם ג׳ורג׳ הביתה."
    index = CorpusIndex.from_texts([text], tmp_path / "index", options=IndexOptions("text"))
    assert index.count(typed) == len(index.concordance(typed)) == 3


@pytest.mark.parametrize("typed", ["don't", "don’t", "do n't", "don 't", "don &apos;t", "DON`T"])
@pytest.mark.parametrize("text", [PENN, MOSES, "I don't know .\nThey don't go .\n"])
def test_tokenised_text_is_asked_in_any_form(tmp_path, text, typed):
    index = CorpusIndex.from_texts([text], tmp_path / "i", options=IndexOptions("lines"))
    assert index.count(typed) == len(index.query(typed)) == 2
    assert index.count(f"they {typed} go") == 1
    assert len(index.gapped(f"they {typed} _ .")) == 1
    assert len(index.query(f"({typed.split()[0]}|{typed}) go")) == 1
    assert continuations(index, f"i {typed}").words[0].word == "know"
    assert {one.word for one in collocates(index, typed, min_count=1)} >= {"i", "they", "go"}
    spans = trace(index, f"they {typed} go .", min_tokens=4).spans
    assert len(spans) == 1 and spans[0].times == 1
    assert list_phrases(index, containing=typed, lengths=(1, 3), k=1)[0][1] == 2


def test_brackets_and_quotation_marks_of_the_penn_treebank(tmp_path):
    index = CorpusIndex.from_texts([PENN], tmp_path / "i", options=IndexOptions("lines"))
    assert index.count(["(", ")", '"', "“", "king’s", "can't"]).tolist() == [1, 1, 2, 2, 1, 1]


def test_alternatives_of_a_query_may_be_several_words(index):
    assert len(index.query("(don't|qur'an|care)")) == sum(
        count_written(TEXT, one) for one in ("don't", "qur'an", "care")
    )


def test_an_index_of_an_earlier_version_says_so_once(tmp_path):
    options = IndexOptions("text", normaliser=Normaliser(fold_variants=None))
    path = CorpusIndex.from_texts(
        ["“Don’t.” oﬃce, co\u00adop."], tmp_path / "i", options=options
    ).path
    with pytest.warns(EarlierVersionWarning, match="an earlier version built it"):
        index = CorpusIndex.open(path)
    assert index.count(["don't", '"', "office", "coop"]).tolist() == [1, 2, 1, 1]
    assert len(index.query('[word="of+ice|\'t"]')) == 2
    (tmp_path / "more").write_text("I don't.\n")
    with pytest.warns(EarlierVersionWarning):
        grown = index.add(tmp_path / "more")
    assert grown.count("don’t") == 2 and "fold_variants" not in grown.parameters["normaliser"]


def test_forms_with_blanks_and_dotted_letters(tmp_path):
    rows = [
        "1\tViệt Nam\tViệt Nam\tPROPN\tNNP\t_\t2\tnsubj\t_\t_",
        "2\tİstanbul\tİstanbul\tX\tX\t_\t0\troot\t_\t_",
    ]
    (tmp_path / "a.conllu").write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    options = IndexOptions("lines", file_format="conllu")
    index = CorpusIndex.build(tmp_path / "a.conllu", tmp_path / "i", options=options)
    assert index.count(["Việt Nam", "Việt_Nam", "việt nam istanbul"]).tolist() == [1, 1, 1]
    for query in ('"Việt Nam"', '[word="İstanbul"]', '[lemma="Việt Nam"]', "Việt Nam []", "İst*"):
        assert len(index.query(query)) == 1, query


@settings(deadline=None)  # the first use loads a kernel
@given(
    st.text("ab1A'`-é ", min_size=1, max_size=8), st.booleans(), st.booleans(), st.booleans(),
    st.sampled_from([True, None]), st.booleans(),
)  # fmt: skip
def test_a_phrase_in_lower_case_is_read_as_any_other(phrase, lower, folds, drops, old, joined):
    normaliser = Normaliser(lower=lower, fold_numbers=folds, drop_digits=drops, fold_variants=old)
    tokens = {"a", "b", "ab", "a_b", "1", "0", "aa", "b1"}
    has_variants = {"a": ("A", "a")}
    lookup, slow = (
        Lookup(normaliser, "text", tokens.__contains__, variants=lambda: has_variants,
               has_joined=joined)
        for _ in range(2)
    )  # fmt: skip
    slow.is_normal = lambda phrase: False
    if not phrase.strip():
        return
    assert lookup.readings(phrase) == slow.readings(phrase)
    if lookup.is_normal(phrase):
        assert slow.readings(phrase) == [tuple(phrase.split())] and "  " not in phrase


def test_rules_are_scored_however_they_are_cut(tmp_path):
    lines = ["I don't know.", "I do not know.", "We don't go.", "We do not go."] * 30
    index = CorpusIndex.from_texts(lines, tmp_path / "i")
    scorer = RuleScorer([("s", SignatureTable.build(index, tmp_path / "t"))])
    scores = [
        scorer.score(f"i {typed} know", "i do not know", [(0, 0), (1, 1), (2, 2), (3, 3)])[0]
        for typed in ("do n't", "don 't", "don &apos;t")
    ]
    assert scores[0] == scores[1] == scores[2] and scores[0].scored == scores[0].pairs


@pytest.mark.parametrize("text_format", ["text", "lines"])
@pytest.mark.parametrize("dot", "·•‧∙⋅")
def test_the_dot_of_catalan_is_one_however_it_is_written(tmp_path, text_format, dot):
    text = "la col·lecció\nla Col•lecció\nla col‧lecció\nla coŀlecció\nla col∙lecció\nla col\n"
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    index = CorpusIndex.build(tmp_path / "t.txt", tmp_path / "i", options=IndexOptions(text_format))
    assert index.count(f"col{dot}lecció") == index.count(f"LA COL{dot}LECCIÓ") == 5
    assert index.count("coŀlecció") == 5 and index.count(f"col {dot}") in (0, 1)


def test_a_word_that_is_cut_in_two_ways_goes_on_as_both(tmp_path):
    text = "ka'a'awa haw. Kaʻaʻawa me. Sanʼat ha. San'at bu. L'homme va.\n"
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    index = CorpusIndex.build(tmp_path / "t.txt", tmp_path / "i", options=IndexOptions("text"))
    for typed, n in (("ka'a'awa", 2), ("KAʻAʻAWA", 2), ("san’at", 2), ("l'homme", 1)):
        assert index.count(typed) == continuations(index, typed).total == n
        assert continuations(index, f"neverseen {typed}").total >= 1
        assert [span.times for span in trace(index, typed, min_tokens=1).spans] == [n]


@pytest.mark.parametrize(
    "typed", ["'āina", "ʻāina", "ג'ורג'", "פרופ'", "פרופ׳", "paral•lela", "PARAL⋅LELA"]
)
@pytest.mark.parametrize("text_format", ["text", "lines"])
def test_a_word_with_a_sign_at_its_edge_or_inside_is_traced(tmp_path, typed, text_format):
    text = "ka ʻāina o\nראה ג׳ורג׳ את\nגם פרופ׳ כהן\nla paral·lela hi\n"
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    index = CorpusIndex.build(tmp_path / "t.txt", tmp_path / "i", options=IndexOptions(text_format))
    assert index.count(typed) == 1
    (span,) = trace(index, typed, min_tokens=1).spans
    assert span.times == 1 and " ".join(index.words(typed)).endswith(span.text.split(" ")[-1])
    line = next(line for line in text.splitlines() if index.count(f"{line.split()[0]} {typed}"))
    before, _, after = line.split()
    (span,) = trace(index, f"{before} {typed} {after}", min_tokens=1).spans
    assert span.times == 1 and span.verbatim == (typed in text)
    if text_format == "text":
        for quoted in (f"“{before} {typed}”", f"'{before} {typed},'"):
            assert [span.times for span in trace(index, quoted, min_tokens=2).spans] == [1]


@pytest.mark.parametrize("typed", ["mba ' e", "MBA &apos; E", "mba ’ e", "mba'e", "mba &apos;e"])
@pytest.mark.parametrize("cut", ["a mba'e hai .", "a mba ' e hai .", "a mba &apos; e hai ."])
def test_an_apostrophe_that_stands_apart_may_be_one_inside_a_word(tmp_path, typed, cut):
    text = f"{cut}\nthe ' king ' said .\n"
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    for text_format in ("text", "lines") if "mba'e" in cut else ("lines",):
        options = IndexOptions(text_format)
        index = CorpusIndex.build(tmp_path / "t.txt", tmp_path / text_format, options=options)
        assert index.count(f"a {typed} hai") == index.count(typed) == 1
        assert len(index.query(typed.replace("&apos;", "'"))) == 1
        traced = f"a {typed if text_format == 'lines' else typed.replace('&apos;', chr(39))} hai"
        assert [span.times for span in trace(index, traced, min_tokens=1).spans] == [1]
        assert index.count("the ' king ' said") == 1 and index.count("the ' queen") == 0
    lookup = Lookup(Normaliser(), "text", {"a"}.__contains__)
    assert [lookup.readings(text) for text in ("'", "a '")] == [[("'",)], [("a", "'")]]


@pytest.mark.parametrize("typed", ["' t", "’ t", "&apos; T", "' t ran", "so ’ t"])
def test_an_apostrophe_that_stands_apart_may_be_the_first_of_a_word(tmp_path, typed):
    (tmp_path / "t.txt").write_text("so 't ran .\nthe ' king ' ran .\n", encoding="utf-8")
    index = CorpusIndex.build(tmp_path / "t.txt", tmp_path / "i", options=IndexOptions("lines"))
    assert index.count(typed) == 1 and index.count("' king") == index.count("the ' king ' ran") == 1
    assert index.count(["' queen", "the ' ran"]).tolist() == [0, 0]


@pytest.mark.parametrize("typed", ["'s", "’s", "'S"])
def test_a_traced_word_is_read_as_what_stands_between_the_words_beside_it(tmp_path, typed):
    text = "des 's avonds\ndes ’s avonds\n" + "foto's hier\nRob’s hier\n" * 5
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    index = CorpusIndex.build(tmp_path / "t.txt", tmp_path / "i", options=IndexOptions("text"))
    for phrase, n in ((f"des {typed} avonds", 2), (f"rob{typed} hier", 5), (f"{typed} avonds", 2)):
        assert [span.times for span in trace(index, phrase, min_tokens=1).spans] == [n], phrase


@pytest.mark.parametrize("query", ['"l\'homme"', '[word="L’homme"]', '"l\'homme" "va"'])
def test_a_pattern_for_a_word_that_is_cut_is_refused_with_what_to_write(tmp_path, query):
    (tmp_path / "t.txt").write_text("L'homme va. L’homme dort.\n", encoding="utf-8")
    index = CorpusIndex.build(tmp_path / "t.txt", tmp_path / "i", options=IndexOptions("text"))
    with pytest.raises(ParameterError, match='is 2 tokens in this index: write "l\'" "homme", or'):
        index.query(query)
    assert len(index.query("l'homme")) == len(index.query('"l\'" "homme"')) == 2
    assert len(index.query('"m\'homme"')) == 0


def test_words_that_need_no_kernel_are_those_that_running_text_never_cuts():
    letters = [chr(code) for code in range(0x3000) if never_cut(chr(code))]
    assert {"k", "ö", "ß", "λ", "ж"} < set(letters)
    assert not {"·", "'", "-", "ˈ", "×", "1", "_"} & set(letters)
    words = [f"{letter}a-{letter}" for letter in letters]
    assert all(map(never_cut, words))
    assert tokens_of(" ".join(words), "text") == words
