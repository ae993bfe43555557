"""Substitutes in their sentence: the n-gram model, forms, the mix, and the face in Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.published_measures import generalised_average_precision
from distsim import (
    PRESETS,
    CorpusIndex,
    IncompatibleError,
    IndexOptions,
    InputError,
    ParameterError,
    Paraphraser,
    Selection,
    SignatureTable,
    Substituter,
)
from distsim.comparison.finder.inflections import Forms, as_bases
from distsim.comparison.finder.lexicon import Lexicon
from distsim.comparison.finder.space import open_space
from distsim.corpus import Inflections
from distsim.corpus.normaliser import Normaliser
from distsim.kernels.compiled import frozen
from distsim.paraphrase import Mix
from distsim.paraphrase.kernels import ngram_model as kernel
from distsim.paraphrase.substitution.occurrence import (
    REACH,
    Fluency,
    Occurrence,
    Slot,
    coherence,
    split_marked,
)
from distsim.paraphrase.substitution.substitute_candidates import (
    ParaphraseGrammar,
    SubstituteFeatures,
    scores_of_phrases,
)
from tests.conftest import RECIPE, index_of, random_sentences, write_lines
from tests.naive import substitution as naive


@pytest.fixture(scope="module")
def learned(alice, tmp_path_factory):
    """(index of Alice, its learned table)."""
    folder = tmp_path_factory.mktemp("substitution")
    index = index_of(alice, folder)
    return index, SignatureTable.build(index, recipe=RECIPE, selection=Selection(min_count=3))


@pytest.mark.parametrize("shard_tokens", [1 << 20, 17])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_fluency_is_that_of_the_definition(tmp_path, shard_tokens, order):
    sentences = random_sentences(3, n_sentences=40, n_words=5)
    corpus = write_lines(tmp_path / "corpus.txt", sentences)
    options = IndexOptions("lines", shard_tokens=shard_tokens)
    lexicon = Lexicon(CorpusIndex.build([corpus], tmp_path / "index", options=options))
    fluency = Fluency(lexicon, Forms(Inflections({}, {}), lexicon), order=order, prior_count=3.0)
    words = sorted({word for sentence in sentences for word in sentence})
    fillers = [(words[0],), (words[1], words[0]), ("unknown",), (words[2], words[2], words[1])]
    slots = [([], []), (sentences[0][:1], sentences[0][2:]), (sentences[5], []),
             (["unknown", words[0]], [words[0], "unknown"]), (words * 4, words * 4)]  # fmt: skip
    for left, right in slots:
        occurrence = Occurrence.of(lexicon, " ".join(left), words[0], " ".join(right))
        found = fluency.log_probabilities(occurrence, fillers)
        edged = [naive.EDGE, *left], [*right, naive.EDGE]
        wanted = [
            naive.log_probability(sentences, edged[0], filler, edged[1], order, 3.0)
            for filler in fillers
        ]
        assert found == pytest.approx(wanted)


def test_the_forms_of_a_candidate_are_added_up(tmp_path):
    sentences = [["he", "goes", "home"], ["he", "went", "home"], ["she", "runs", "off"]]
    index = CorpusIndex.build([write_lines(tmp_path / "c", sentences)], tmp_path / "index")
    lexicon = Lexicon(index)
    forms = Forms(Inflections({}, {"go": ["goes", "went", "gone"]}), lexicon)
    assert forms.of_word("go") == ("go", "goes", "went")
    fluency = Fluency(lexicon, forms)
    occurrence = Occurrence.of(lexicon, "he", "runs", "home")
    scores, likeliest, articles = fluency.scores(occurrence, [("go",), ("she",)])
    singles = fluency.log_probabilities(occurrence, [("go",), ("goes",), ("went",), ("she",)])
    assert scores[0] == pytest.approx(np.log(np.exp(singles[:3]).sum()))
    assert scores[1] == pytest.approx(singles[3])
    assert likeliest[0] in {("goes",), ("went",)}
    assert articles == ["", ""]


def test_the_word_before_is_the_one_that_a_candidate_asks_for(tmp_path):
    sentences = [["an", "old", "one"], ["an", "odd", "one"], ["a", "new", "one"]] * 3
    index = CorpusIndex.build([write_lines(tmp_path / "c", sentences)], tmp_path / "index")
    lexicon = Lexicon(index)
    fluency = Fluency(lexicon, Forms(Inflections.open(), lexicon))
    occurrence = Occurrence.of(lexicon, "it was an", "old", "one")
    filled = fluency.scores(occurrence, [("new",), ("odd",)])
    assert filled.articles == ["a", ""]
    without = Occurrence.of(lexicon, "it was", "old", "one")
    wanted = [
        np.logaddexp.reduce(fluency.log_probabilities(without, [("a", word), ("an", word)]))
        for word in ("new", "odd")
    ]
    assert filled.logs == pytest.approx(wanted)
    other = Occurrence.of(lexicon, "it was the", "old", "one")
    assert fluency.scores(other, [("new",)]).articles == [""]


def test_beside_a_word_with_no_article_in_the_text_stands_that_of_its_letter(tmp_path):
    sentences = [["an", "old", "one"], ["a", "new", "one"], ["so", "nice"], ["so", "odd"]]
    index = CorpusIndex.build([write_lines(tmp_path / "c", sentences)], tmp_path / "index")
    lexicon = Lexicon(index)
    fluency = Fluency(lexicon, Forms(Inflections.open(), lexicon))
    occurrence = Occurrence.of(lexicon, "it was an", "old", "one")
    filled = fluency.scores(occurrence, [("new",), ("nice",), ("old",), ("odd",)])
    assert filled.articles == ["a", "a", "", ""]


def test_of_the_preferred_kinds_of_forms_the_likeliest_is_shown(tmp_path):
    sentences = [["a", "summer", "day"], ["cold", "summers"], ["long", "summers"]]
    index = CorpusIndex.build([write_lines(tmp_path / "c", sentences)], tmp_path / "index")
    lexicon = Lexicon(index)
    fluency = Fluency(lexicon, Forms(Inflections.open(), lexicon))
    occurrence = Occurrence.of(lexicon, "a", "cold", "day")
    assert fluency.scores(occurrence, [("summer",)], [{"s"}]).forms == [("summers",)]
    assert fluency.scores(occurrence, [("summer",)], [{"", "s"}]).forms == [("summer",)]


def test_pieces_of_a_phrase_and_what_crosses_its_edge_are_no_candidates(small_index):
    forms = Forms(Inflections({}, {}), Lexicon(small_index))
    forms.base = lambda word: {"took": "take"}.get(word, word)
    target = ("take", "part", "in")
    given = ["participate in", "part in the", "part", "take", "to take", "in the", "join .", "join"]
    given += ["took part", "parts of", "in", "take part in the", "took"]
    kept = as_bases(target, [tuple(one.split()) for one in given], forms)
    assert [" ".join(one) for one in kept] == ["participate in", "join", "took part", "parts of"]


def test_damage_is_told_and_not_followed(small_index):
    shard = small_index.shards[0]
    starts = np.array(shard.word_starts)
    starts[2] = starts[-1] + 7
    counts = np.zeros((2, 3))
    one = frozen(np.array([1], np.int64))
    none = frozen(np.empty(0, np.int64))
    state = kernel.count_windows(
        shard.tokens, shard.suffixes, frozen(starts), none, one, one, none, counts
    )
    assert state == kernel.DAMAGED


def test_english_forms():
    english = Inflections.open()
    assert english.forms("bright")[:5] == ["bright", "brights", "brighted", "brighting", "brighter"]
    assert set(english.forms("carry")) == {
        "carry", "carries", "carried", "carrying", "carrier", "carriest"
    }  # fmt: skip
    assert "stopped" in english.forms("stop")
    assert english.forms("take") == ["take", "takes", "took", "taken", "taking"]
    words = {"take", "stop", "carry", "make", "bright", "hop", "hope"}
    for form, base in [("took", "take"), ("stopped", "stop"), ("carried", "carry"),
                       ("making", "make"), ("brighter", "bright")]:  # fmt: skip
        assert english.bases(form, words.__contains__) == [base]
    assert set(english.bases("hoping", words.__contains__)) == {"hope", "hop"}
    assert english.bases("take", words.__contains__) == []


def test_of_a_doubled_and_a_plain_form_the_frequent_one_is_taken(tmp_path):
    sentences = [["stop", "stopped", "stopped", "stoped", "visit", "visited", "visited"]]
    index = CorpusIndex.build([write_lines(tmp_path / "c", sentences)], tmp_path / "index")
    forms = Forms(Inflections.open(), Lexicon(index))
    assert forms.of_word("stop") == ("stop", "stopped")
    assert forms.of_word("visit") == ("visit", "visited")
    assert forms.base("stopped") == "stop"
    assert forms.of_phrase(("stop", "visit")) == (
        ("stop", "visit"), ("stopped", "visit"), ("stop", "visited")
    )  # fmt: skip


def test_words_before_apostrophes_and_rare_forms_of_function_words_are_not_shown(tmp_path):
    words = "in " * 300 + "ins like like liked don donned 't king kings 's"
    index = CorpusIndex.build([write_lines(tmp_path / "c", [words.split()])], tmp_path / "index")
    forms = Forms(Inflections.open(), Lexicon(index))
    assert forms.of_phrase(("in",)) == (("in",),)
    assert forms.of_phrase(("like",)) == (("like",), ("liked",))
    assert forms.of_phrase(("don", "'t")) == (("don", "'t"),)
    assert forms.of_phrase(("king", "'s")) == (("king", "'s"),)
    assert forms.of_phrase(("don",)) == (("don",), ("donned",))


def test_words_that_end_like_forms_are_words_of_their_own(tmp_path):
    """`computer` has a plural, `officer` no `officest`; `bigger` has `biggest`."""
    words = "compute computer computers office officer paint painting paintings painted big bigger "
    words += "biggest sing sung sings songs think thought thoughts play playing bad worse worst"
    index = CorpusIndex.build([write_lines(tmp_path / "c", [words.split()])], tmp_path / "index")
    forms = Forms(Inflections.open(), Lexicon(index))
    own = {"computer", "officer", "painting"}
    assert {word for word in words.split() if forms.base(word) == word} >= own
    bases = {"computers": "computer", "paintings": "painting", "painted": "paint", "bigger": "big",
             "sung": "sing", "thought": "think", "playing": "play", "worst": "bad"}  # fmt: skip
    assert {word: forms.base(word) for word in bases} == bases
    assert not own.intersection(*map(forms.of_word, ("compute", "office", "paint")))
    kinds = [forms.kind(word) for word in ("worse", "worst", "biggest", "computer")]
    assert kinds == ["er", "est", "est", ""]


def test_words_of_one_family_are_related():
    english = Inflections.open()
    pairs = ("meetings meets", "better best", "nuclei nucleus", "computers computing", "go went")
    assert all(english.are_related(*pair.split()) for pair in pairs)
    for pair in ("big large", "king kingdom", "house home"):
        assert not english.are_related(*pair.split())


def test_rules_of_another_language_come_from_a_file(tmp_path):
    rules = tmp_path / "german.txt"
    rules.write_text("# some\n-en\te st t\nsein\tist war\n", encoding="utf-8")
    german = Inflections.open(rules)
    assert german.forms("gehen") == ["gehen", "gehe", "gehst", "geht"]
    assert german.bases("war", lambda word: True) == ["sein"]
    rules.write_text("-en\te\nsein ist\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"german\.txt, line 2: 'sein ist' is no rule: write"):
        Inflections.open(rules)
    with pytest.raises(
        ParameterError, match="'klingon': give english, german, spanish, french, none or a file"
    ):
        Inflections.open("klingon")
    assert Inflections.open("none").forms("go") == ["go"]


def test_a_sentence_with_brackets():
    assert split_marked("[boy]") == ("", "boy", "")
    assert split_marked("a [bright boy] read") == ("a ", "bright boy", " read")
    for wrong in ("no target", "an [] empty one", "[", ""):
        with pytest.raises(ParameterError, match="put brackets around it"):
            split_marked(wrong)


def test_an_occurrence_sees_its_sentence_and_its_edges(alice_index):
    lexicon = Lexicon(alice_index)
    one = Occurrence.of(lexicon, "said the", "King", "xqzzy .")
    assert one.target == ("king",)
    assert one.left_words == ("the", "said")
    assert one.left.tolist() == [*lexicon.ids(["the", "said"]), 0]
    assert one.right.tolist() == [-1, *lexicon.ids(["."]), 0]
    assert one.word_at(-2) == "said"
    far = Occurrence.of(lexicon, "the " * 30, "king", "")
    assert far.left.tolist() == lexicon.ids(["the"] * REACH).tolist()
    assert far.right.tolist() == [0]
    exact = Occurrence.of(lexicon, "the " * REACH, "king", "")
    assert exact.left.tolist() == [*lexicon.ids(["the"] * REACH), 0]


def test_the_slots_signature_is_a_sum_over_the_words_around(learned):
    index, table = learned
    space = open_space(index, table)
    assert space is not None
    slot = Slot.of(space, Occurrence.of(Lexicon(index), "said the", "king", "to the white rabbit"))
    assert slot.vector @ slot.vector == pytest.approx(1.0)
    row = space.phrases([("queen",)])[0]
    projection = _projection(index)
    centre = projection.centre.astype(float)
    total = slot.parts.sum(axis=0)  # parts add up to the fit, but for what the centre takes off
    length = np.linalg.norm(total)
    scale = 1.0 / np.linalg.norm(total / length - centre)
    assert slot.vector == pytest.approx((total / length - centre) * scale)
    because = slot.because(row)
    assert [share for _, share in because] == sorted((s for _, s in because), reverse=True)
    assert {place for place, _ in because} <= {-2, -1, 1, 2, 3}
    nothing = Slot.of(space, Occurrence.of(Lexicon(index), "", "king", ""))
    assert not nothing.vector.any() and nothing.because(row) == []


def _projection(index):
    return SignatureTable.open(index.path).projection


@pytest.mark.parametrize("which", ["learned", "bits"])
def test_named_candidates_are_ranked_as_given(learned, alice_index, which):
    index, table = learned
    if which == "bits":
        index, table = alice_index, SignatureTable.open(alice_index.path)
    substituter = Substituter(index, table)
    named = ["Queen", "xqzzy", "March Hare", "king", "zzz yyy", "Queen"]
    found = substituter.substitutes("said the", "king", "to the", k=None, candidates=named)
    assert sorted(one.substitute for one in found) == sorted(named)
    assert [one.substitute for one in found[-2:]] == ["xqzzy", "zzz yyy"]
    assert [one.score for one in found[-2:]] == [None, None]
    scores = [one.score for one in found[:-2]]
    assert scores == sorted(scores, reverse=True)
    king = next(one for one in found if one.substitute == "king")
    assert king.likeness == pytest.approx(1.0)
    assert king.fluency == pytest.approx(0.0)
    assert substituter.substitutes("said the", "king", "to the", candidates=[]) == []
    assert substituter.substitutes("said the", "king", "to the", k=2, candidates=named) == found[:2]


def test_the_score_is_the_mix_of_the_evidence(learned):
    substituter = Substituter(
        *learned,
        ranking=Mix(
            likeness=2.0, fit=3.0, fluency=0.5, frequency=0.25, centrality=0.75, shared_fit=1.5
        ),
    )
    named = ["queen", "hatter", "mock turtle"]
    evidence = substituter.evidence("said the", "king", "to the", named)
    by_hand = (
        2.0 * evidence.likeness + 3.0 * evidence.fit + 0.5 * evidence.fluency
        + 0.25 * evidence.frequency + 0.75 * evidence.centrality + 1.5 * evidence.shared_fit
    )  # fmt: skip
    found = substituter.substitutes("said the", "king", "to the", candidates=named)
    for one in found:
        assert one.score == pytest.approx(by_hand[named.index(one.substitute)])
    queen = next(one for one in found if one.substitute == "queen")
    assert {word.word for word in queen.because} <= {"said", "the", "to"}


@pytest.mark.parametrize("n", [0, 1, 2, 511, 513])
def test_candidates_gain_by_those_like_them(n):
    generator = np.random.default_rng(n)
    rows = generator.normal(size=(n, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[:1] = 0.0
    fit = generator.normal(size=n)
    alike, shared = coherence(rows, fit)
    for i in {0, n // 2, n - 1} if n else ():
        cosines = [max(0.0, float(rows[i] @ rows[j])) for j in range(n) if j != i]
        others = [fit[j] for j in range(n) if j != i]
        total = sum(c * c for c in cosines)
        assert alike[i] == pytest.approx(sum(cosines) / max(1, n - 1))
        wanted = sum(c * c * f for c, f in zip(cosines, others, strict=True))
        assert shared[i] == pytest.approx(wanted / total if total else 0.0)


def test_a_phrase_between_function_words_tells_no_inflection(learned):
    """Its nouns are no verbs in -s (by means of), its words no comparatives (a number of)."""
    kind = Substituter(*learned)._kind
    assert [kind(tuple(one.split())) for one in ("by means of", "a number of")] == ["", ""]
    assert [kind(tuple(one.split())) for one in ("was looking", "things")] == ["ing", "s"]


def test_found_substitutes_leave_out_the_target(learned):
    found = Substituter(*learned).substitutes("the poor little", "thing", "was snorting", k=20)
    texts = [one.substitute for one in found]
    assert len(texts) == len(set(texts)) == 20
    assert not any({"thing", "things"} & set(text.split()) for text in texts)
    assert all(one.score is not None for one in found)


def test_an_unknown_target_is_replaced_by_what_fits_its_slot(learned):
    found = Substituter(*learned).substitutes("said the", "xqzzy", "to the", k=5)
    assert len(found) == 5 and all(one.likeness == 0.0 for one in found)
    assert Substituter(*learned).substitutes("", "xqzzy", "") == []


def test_words_that_vanish(tmp_path, run):
    (tmp_path / "c").write_text("a b , c d\n" * 5, encoding="utf-8")
    options = IndexOptions("lines", normaliser=Normaliser(drop_punctuation=True))
    index = CorpusIndex.build([tmp_path / "c"], tmp_path / "index", options=options)
    table = SignatureTable.build(index, recipe=PRESETS["thesis"])
    found = Substituter(index, table).substitutes("a", "b", "d", candidates=["!", "c"])
    assert [(one.substitute, one.score is None) for one in found] == [("c", False), ("!", True)]
    tasks = tmp_path / "tasks"
    tasks.write_text("a\tb\tc\na\t!\tc\n", encoding="utf-8")
    out, err = run("substitute", index.path, "--input", tasks, status=1)
    assert f"{tasks}, line 2: nothing is left of the target '!'" in err and out == ""


def test_candidates_of_a_grammar(learned, tmp_path):
    grammar = tmp_path / "rules"
    grammar.write_text(
        "[NN] ||| king ||| monarch ||| x=1\n[NN] ||| king ||| queen ||| x=1\n"
        "[NP] ||| the [NN,1] ||| a [NN,1] ||| x=1\n[NN] ||| hatter ||| milliner ||| x=1\n",
        encoding="utf-8",
    )
    rules = ParaphraseGrammar.read(grammar, [("king",)])
    assert rules.of(("king",)) == {("monarch",): (4.0, 4.0), ("queen",): (4.0, 4.0)}
    assert rules.of(("hatter",)) == {}
    found = Substituter(*learned, grammar=rules).substitutes("said the", "king", "to", k=None)
    origins = {one.substitute: one.origin for one in found}
    assert origins["monarch"] == "grammar"
    assert "grammar" in origins["queen"]
    grammar.write_text("king queen\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"rules, line 1: .* mend the line"):
        ParaphraseGrammar.read(grammar, [("king",)])


def test_forms_of_the_target_are_no_candidates(tmp_path):
    sentences = [["take", "takes", "took", "grab", "grabbed", "grabs"]]
    index = CorpusIndex.build([write_lines(tmp_path / "c", sentences)], tmp_path / "index")
    forms = Forms(Inflections.open(), Lexicon(index))
    found = [("takes",), ("grabbed",), ("grab",), ("took", "off"), ("grab", "it")]
    assert as_bases(("took",), found, forms) == {
        ("grab",): ("grabbed",),
        ("grab", "it"): ("grab", "it"),
    }


def test_pieces_of_a_phrase_and_other_forms_of_an_answer_are_no_candidates(tmp_path):
    sentences = [["give", "gives", "birth", "end", "brings", "bring", "brought", "put", "to", "an"]]
    index = CorpusIndex.build([write_lines(tmp_path / "c", sentences)], tmp_path / "index")
    forms = Forms(Inflections.open(), Lexicon(index))
    found = ["the birth of", "brings an end to", "brought an end to", "bear", "gives birth"]
    words = [tuple(one.split()) for one in found]
    assert list(as_bases(("give", "birth", "to"), words, forms)) == [words[1], words[3]]
    no_rules = Forms(Inflections.open("none"), Lexicon(index))
    assert list(as_bases(("give", "birth", "to"), words, no_rules)) == words


def test_what_is_refused(learned, tmp_path):
    index, table = learned
    substituter = Substituter(index, table)
    with pytest.raises(ParameterError, match="the target is empty"):
        substituter.substitutes("the", " ", "sat")
    with pytest.raises(ParameterError, match="k: is 0, choose 1 or more"):
        substituter.substitutes("the", "king", "sat", k=0)
    with pytest.raises(ParameterError, match="10,001 candidates: give 10,000"):
        substituter.substitutes("the", "king", "sat", candidates=["a"] * 10_001)
    with pytest.raises(ParameterError, match="choose finite"):
        Mix(likeness=float("nan"))
    corpus = write_lines(tmp_path / "corpus", [["another", "text"]])
    other = CorpusIndex.build([corpus], tmp_path / "other")
    with pytest.raises(IncompatibleError, match="was not signed from the present text"):
        Substituter(other, table)


def test_the_command(learned, run, tmp_path):
    index = learned[0].path
    out, _ = run("substitute", index, "said the [king] to the", "-k", 3)
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[:2] for row in rows] == [["1", "1"], ["1", "2"], ["1", "3"]]
    tasks = tmp_path / "tasks.tsv"
    tasks.write_text("said the\tking\tto the\tqueen;xqzzy; hatter\n\tking\t\n", encoding="utf-8")
    out, _ = run("substitute", index, "--input", tasks, "--why")
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[0] for row in rows] == ["1"] * 3 + ["2"] * 10
    assert rows[2][1:4] == ["3", "xqzzy", "NA"]
    assert len(rows[0]) == 11 and rows[0][8] == "given"
    again, _ = run("substitute", index, "--input", tasks, "--why", "--jobs", 1)
    assert again == out
    out, _ = run("substitute", index, "--input", tasks, "--json", "-k", 1)
    assert out.startswith('{"line": 1, "rank": 1, "answer": ')
    out, _ = run("substitute", index, "said the [king]", "--candidates", "queen;hatter")
    assert {line.split("\t")[2] for line in out.splitlines()} == {"queen", "hatter"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\n", "line 1: 2 columns separated by tabs, wanted left, target, right"),
        ("a\tb\tc\n\t \tc\n", "line 2: the target is empty: write it between"),
        ("a\tb\tc\td\te\n", "line 1: 5 columns"),
    ],
)
def test_invalid_lines_are_named(learned, run, tmp_path, text, message):
    tasks = tmp_path / "tasks.tsv"
    tasks.write_text(text, encoding="utf-8")
    out, err = run("substitute", learned[0].path, "--input", tasks, status=1)
    assert f"{tasks}, {message}" in err and out == ""


def test_faulty_options_are_named(learned, run):
    index = learned[0].path
    _, err = run("substitute", index, "no target", status=1)
    assert "put brackets around it" in err
    _, err = run("substitute", index, "a [b]", "--set", "luck=1", status=2)
    assert "luck: no such setting: choose one of likeness, fit, fluency, frequency" in err
    run("substitute", index, status=2)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.0, 3.5]), st.sampled_from([0.0, 1.0, 2.0])),
             min_size=1, max_size=6)
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_average_precision_is_the_mean_over_the_orders_of_ties(drawn):
    scores, weights = [s for s, _ in drawn], [w for _, w in drawn]
    if not any(weights):
        with pytest.raises(ValueError, match="one above"):
            generalised_average_precision(scores, weights)
        return
    found = generalised_average_precision(scores, weights)
    assert found == pytest.approx(naive.mean_over_ties(scores, weights))
    last = [min(scores) - 1.0, *scores]
    with_missing = generalised_average_precision([float("nan"), *scores], [1.0, *weights])
    assert with_missing == pytest.approx(generalised_average_precision(last, [1.0, *weights]))


@pytest.mark.parametrize(
    "given",
    [
        ("substitute", "INDEX", "said the [king\udcff] to alice"),
        ("substitute", "INDEX", "said the\udcff [king] to alice"),
        ("substitute", "INDEX", "said the [king] to alice", "--candidates", "queen;x\udcff"),
        ("neighbours", "INDEX", "king\udcff", "--by", "table"),
        ("neighbours", "INDEX", "king\udcff", "--by", "exact"),
        ("neighbours", "INDEX", "_ king\udcff", "--gapped"),
        ("paraphrase", "INDEX", "king\udcff"),
        ("similarity", "INDEX", "king\udcff", "queen"),
        ("similarity", "INDEX", "king\udcff", "queen", "--exact"),
        ("similarity", "INDEX", "king\udcff", "queen", "--opposite"),
        ("compare", "INDEX", "king\udcff", "queen"),
        ("contexts", "INDEX", "king\udcff"),
        ("count", "INDEX", "king\udcff"),
        ("kwic", "INDEX", "king\udcff"),
    ],
    ids=ascii,
)
def test_arguments_that_are_not_utf8_are_told(learned, run, given):
    index, _ = learned
    _, err = run(*(index.path if one == "INDEX" else one for one in given), status=1)
    assert "not valid Unicode: give it in UTF-8" in err


def test_a_sentence_takes_from_a_phrase_found_by_contexts_and_adds_nothing():
    fluency, frequency = np.array([-2.0, 5.0, 3.0, 0.0]), np.array([0.0, 4.0, 6.0, 0.0])
    zeros = np.zeros(4)
    features = SubstituteFeatures(
        likeness=np.array([0.9, 0.9, 0.9, 0.6]), fit=zeros, fluency=fluency, frequency=frequency,
        centrality=zeros, shared_fit=zeros, scored=np.array([True, True, True, True]),
    )  # fmt: skip
    scores = scores_of_phrases([0.4, 0.3, 0.2, None], features, by_vectors=False)
    wanted = np.array([0.4 * np.exp(-2 * 0.01), 0.3, 0.2, 0.3])
    assert np.allclose(scores, wanted)
    scores = scores_of_phrases([0.4, 0.3, 0.2, None], features)
    wanted *= np.exp(np.array([0.01, 0.0, 0.0, 0.0]) - 0.75 * np.array([0.1, 0.1, 0.1, 0.4]))
    assert np.allclose(scores, wanted)


def test_a_phrase_has_what_its_other_forms_share_contexts_with_in_its_own_form(tmp_path):
    rng = np.random.default_rng(5)
    names = [f"n{i}" for i in range(40)]
    lines = []
    for _ in range(60):
        left, right = rng.choice(names, 3).tolist(), rng.choice(names, 3).tolist()
        for phrase in ("take part in", "participate in"):
            lines.append([*left, *phrase.split(), *right])
        for phrase in ("takes part in", "participates in", "participated in"):
            lines.append([*rng.choice(names, 3).tolist(), *phrase.split(), "it"])
    lines += [["then", "they", "took", "part", "in", "n1"]] * 3
    index = CorpusIndex.build([write_lines(tmp_path / "corpus.txt", lines)], tmp_path / "index")
    table = SignatureTable.build(index, recipe=PRESETS["thesis"])
    english = Inflections.open()
    found = Substituter(index, table, inflections=english).substitutes(
        "then they", "took part in", "n1"
    )
    assert found[0].substitute == "participated in"
    alone = Paraphraser(index, table=table).paraphrases("took part in")
    assert not any("participate" in one.phrase for one in alone)


def test_candidates_for_another_form_of_a_phrase_are_inflected_like_it(tmp_path):
    words = "take takes took taken taking part in join joins joined joining go goes went gone be is"
    words += " man men woman women young phone phones was"
    index = CorpusIndex.build([write_lines(tmp_path / "c", [words.split()])], tmp_path / "index")
    forms = Forms(Inflections.open(), Lexicon(index))
    take, took = ("take", "part", "in"), ("took", "part", "in")
    assert set(forms.inflected(took)) == {
        (one, "part", "in") for one in ("take", "takes", "took", "taken", "taking")
    }
    assert forms.inflected(took)[0] == took
    assert forms.inflected(("in", "part", "of")) == [("in", "part", "of")]
    assert forms.as_inflected(("join", "in"), take, took) == ("joined", "in")
    assert forms.as_inflected(("go", "in"), take, ("taken", "part", "in")) == ("gone", "in")
    assert forms.as_inflected(("joins",), ("takes", "part", "in"), took) == ("joined",)
    assert forms.as_inflected(("joining", "in"), take, took) is None  # of another kind
    assert forms.as_inflected(("in", "it"), take, took) is None  # a function word
    assert forms.as_inflected(("part", "in"), take, took) is None  # without such a form
    men, man = ("young", "men"), ("young", "man")
    assert forms.as_inflected(("young", "women"), men, man) == ("young", "woman")
    none = Forms(Inflections.open("none"), Lexicon(index))
    assert none.inflected(took) == [took]


def test_scores_of_a_phrase_in_a_sentence_are_at_most_those_without(learned):
    index, table = learned
    alone = {
        one.phrase: one.score for one in Paraphraser(index, table=table).paraphrases("said the")
    }
    found = Substituter(index, table).substitutes("well", "said the", "hatter", k=None)
    both = [one for one in found if one.substitute in alone and " " in one.substitute]
    assert len(both) > 2
    assert all(one.score <= alone[one.substitute] + 1e-9 for one in both)
    assert len({one.substitute for one in found}) == len(found)


def test_a_word_is_shown_in_the_form_in_which_it_was_found_unless_another_is_likelier(tmp_path):
    lines = [["he", "spoke", "concerning", "it"]] * 3 + [["they", "concern", "him"]] * 400
    index = CorpusIndex.build([write_lines(tmp_path / "corpus.txt", lines)], tmp_path / "index")
    lexicon = Lexicon(index)
    fluency = Fluency(lexicon, Forms(Inflections.open(), lexicon))
    words, found = [("concern",)], [("concerning",)]

    def shown(left, right, **how):
        return fluency.scores(Occurrence.of(lexicon, left, "about", right), words, **how).forms

    assert shown("it", "they", forms_in_text=found) == found
    assert shown("it", "they") == words  # the commoner one
    assert shown("they", "him", forms_in_text=found) == words  # the sentence asks for it
