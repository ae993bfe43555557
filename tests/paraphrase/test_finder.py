"""What `sign` stores to find substitutes of words, and what is found with it."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import distsim
from distsim import (
    ArtifactError,
    CorpusIndex,
    IndexOptions,
    InputError,
    ParameterError,
    ParaphraseOptions,
    Paraphraser,
    Selection,
    SignatureTable,
    Substituter,
    storage,
)
from distsim.base.parallel import no_progress
from distsim.comparison.finder import profile_counts, word_profiles
from distsim.comparison.finder.inflections import Forms, Lemmas
from distsim.comparison.finder.lexicon import Lexicon
from distsim.comparison.finder.word_finder import (
    ALONE,
    IN_SENTENCE,
    RANKS,
    ChanceScale,
    FinderWeights,
    WordFinder,
    WordOptions,
)
from distsim.comparison.finder.word_profiles import SparseRows, build_finder
from distsim.comparison.finder.word_substitutes import WordSubstitutes
from distsim.comparison.nearest import NeighbourSearch
from distsim.comparison.opposites.language import Language
from distsim.comparison.opposites.opposites import Opposites, opposites_last
from distsim.comparison.table import group_senses
from distsim.corpus import Inflections
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.shard import every_nth
from distsim.output import find_faults
from distsim.paraphrase.substitution.learning import (
    MEASURES,
    Case,
    Cases,
    find_cases,
    learn_scale,
    learn_weights,
    measure,
    rated,
    read_judged,
)
from distsim.paraphrase.substitution.substitute_candidates import ParaphraseGrammar
from tests.conftest import RECIPE, index_of
from tests.naive import finder as naive


@pytest.fixture(scope="module")
def signed(alice, tmp_path_factory):
    """(index of Alice, its learned table with a finder)."""
    folder = tmp_path_factory.mktemp("finder")
    index = index_of(alice, folder)
    table = SignatureTable.build(index, recipe=RECIPE, selection=Selection(min_count=3))
    build_finder(index, table, jobs=1)
    return index, table


def test_profiles_by_lemma_and_by_feature_tell_the_same_cosines(signed):
    index, table = signed
    finder = WordFinder.open(index, table, Forms(Inflections.open(), Lexicon(index)))
    n = finder.counts.size
    by_row = {(name, lemma): finder._cosines(name, lemma) for name in ("words", "frames")
              for lemma in (0, 1, n // 2, n - 1)}  # fmt: skip
    asked = [finder.pool(lemma) for lemma in range(8)]
    assert len(asked) == 8 and set(finder._columns) == {"words", "frames"}
    for (name, lemma), cosines in by_row.items():
        np.testing.assert_array_equal(finder._cosines(name, lemma), cosines)
        rows = finder._rows[name]
        dense = np.zeros((n, 1 << 16))
        for row in range(n):
            own = slice(rows.starts[row], rows.starts[row + 1])
            dense[row, rows.features[own]] = rows.weights[own]
        lengths = np.sqrt((dense**2).sum(axis=1))
        wanted = dense @ dense[lemma] / np.maximum(1e-9, lengths * lengths[lemma])
        np.testing.assert_allclose(cosines, wanted, atol=1e-12)


@pytest.mark.parametrize("n_rows", [0, 1, 50])
def test_rows_by_feature_hold_each_row_of_each_feature_once(n_rows):
    draw = np.random.default_rng(n_rows)
    features = [np.sort(draw.choice(9, draw.integers(0, 6), replace=False)) for _ in range(n_rows)]
    starts = np.cumsum([0, *map(len, features)])
    joined = np.concatenate([*features, [0]])[: starts[-1]].astype(np.uint16)
    weights = draw.integers(1, 255, joined.size).astype(np.uint8)
    begins, rows, shares = SparseRows(starts, joined, weights).columns()
    assert begins.size == (1 << 16) + 1 and begins[-1] == rows.size == shares.size == joined.size
    for feature in range(10):
        here = slice(begins[feature], begins[feature + 1])
        wanted = [
            (row, int(weights[starts[row] + at]))
            for row in range(n_rows)
            for at in np.flatnonzero(features[row] == feature).tolist()
        ]
        assert list(zip(rows[here].tolist(), shares[here].tolist(), strict=True)) == wanted


@pytest.mark.parametrize("n_rows", [1, 255, 256, 257])
def test_squares_of_rows_some_of_which_are_empty(n_rows):
    generator = np.random.default_rng(n_rows)
    sizes = generator.integers(0, 3, n_rows) * (np.arange(n_rows) % 256 > 0)
    starts = np.cumsum([0, *sizes])
    weights = generator.integers(1, 256, starts[-1]).astype(np.uint8)
    rows = SparseRows(starts, weights.astype(np.uint16), weights)
    of_rows = [weights[a:b].astype(float) for a, b in zip(starts[:-1], starts[1:], strict=True)]
    assert rows.squares().tolist() == [float(own @ own) for own in of_rows]


def numbered(index, inflections=None):
    lexicon = Lexicon(index)
    return Lemmas.of(lexicon, Forms(inflections or Inflections.open(), lexicon))


def opened(index, table):
    return WordFinder.open(index, table, Forms(Inflections.open(), Lexicon(index)))


def profiles(index, lemmas):
    counted = profile_counts.count_profiles(index, lemmas, map, no_progress)
    return word_profiles._profiles(lemmas, counted)


def test_profiles_are_those_of_the_definition(signed, monkeypatch):
    index, _ = signed
    monkeypatch.setattr(profile_counts, "MOST_CONTEXTS", 100)
    lemmas = numbered(index)
    vocabulary = index.vocabulary
    lemma_of = {
        form: lemmas.words[i]
        for i in range(len(lemmas.words))
        for form in vocabulary.words(lemmas.forms[lemmas.starts[i] : lemmas.starts[i + 1]])
    }
    shard = index.shards[0]
    tokens = vocabulary.words(np.asarray(shard.tokens, np.int64))
    sentences = [[]]
    for word in tokens:
        if word:
            sentences[-1].append(word)
        else:
            sentences.append([])
    words, frames = naive.profiles(sentences, lemma_of, 100, profile_counts.LEAST_FRAME)
    counts = dict(zip(lemmas.words, lemmas.counts.tolist(), strict=True))
    total = sum(counts.values())
    wanted = {
        "words": naive.weights(words, lambda f: min(1, (1e-4 * total / counts[f[1]]) ** 0.5), 1.0),
        "frames": naive.weights(frames, lambda f: 1.0, 0.0),
    }
    found = profiles(index, lemmas)
    kept = profile_counts._frequent_frames(
        index, lemmas.of_words(index.n_words), no_progress
    ).tolist()
    named = {
        "words": [(side, word) for side in (0, 1) for word in lemmas.words[:100]],
        "frames": [tuple(vocabulary.words(np.array([f >> 32, f & 0xFFFFFFFF]))) for f in kept],
    }
    assert len(kept) > 10
    for name, rows in found.items():
        for i, lemma in enumerate(lemmas.words):
            own = slice(rows.starts[i], rows.starts[i + 1])
            features = [named[name][f] for f in rows.features[own].tolist()]
            got = dict(zip(features, rows.weights[own].tolist(), strict=True))
            assert got == pytest.approx(wanted[name][lemma], abs=1), (name, lemma)


def test_shards_give_the_same_profiles(alice, tmp_path, signed):
    (tmp_path / "alice.txt").write_text(alice, encoding="utf-8")
    options = IndexOptions("text", shard_tokens=5000)
    parts = CorpusIndex.build([tmp_path / "alice.txt"], tmp_path / "index", options=options)
    assert len(parts.shards) > 3
    whole, some = (profiles(index, numbered(index)) for index in (signed[0], parts))
    for name in whole:
        for one, other in zip(whole[name], some[name], strict=True):
            assert np.array_equal(one, other)
    for step in (1, 7, 400):
        sampled = []
        for index in (signed[0], parts):
            words = index.vocabulary.find(hash_texts([b"the", b"she"])).tolist()
            found = every_nth(index.shards, words, step)
            sampled.append(np.concatenate([at + shard.first_position for shard, at in found]))
        assert sampled[0].size > 4 and np.array_equal(*sampled)


def test_features_are_those_of_the_definition(signed):
    index, table = signed
    finder = opened(index, table)
    rows = profiles(index, Lemmas(finder.words, finder.all_forms, finder._starts, finder.counts))
    lemma = finder.words.index("queen")
    found = finder.pool(lemma)
    assert lemma not in found.lemmas
    assert found.features.shape == (found.lemmas.size, 6)
    n = len(finder.words)
    for column, name in ((1, "words"), (2, "frames")):
        own = rows[name]
        spelt = [
            dict(
                zip(
                    own.features[own.starts[i] : own.starts[i + 1]].tolist(),
                    own.weights[own.starts[i] : own.starts[i + 1]].tolist(),
                    strict=True,
                )
            )
            for i in range(n)
        ]
        for place in (0, 7, 20):
            other = int(found.lemmas[place])
            others = [naive.cosine(spelt[other], spelt[i]) for i in range(n) if i != other]
            value = naive.cosine(spelt[other], spelt[lemma])
            wanted = naive.log_rank(others, value)
            assert found.features[place, column] == pytest.approx(wanted, abs=1e-4)


def test_cooccurrence_counts_sentences(signed):
    index, table = signed
    finder = opened(index, table)
    lemma = finder.words.index("queen")
    found = finder.pool(lemma)
    tokens = index.vocabulary.words(np.asarray(index.shards[0].tokens, np.int64))
    sentences = [set(one.split()) for one in " ".join(w or "\n" for w in tokens).split("\n")]
    forms = [
        set(index.vocabulary.words(finder.all_forms[finder._starts[i] : finder._starts[i + 1]]))
        for i in (lemma, int(found.lemmas[3]))
    ]
    both = sum(bool(one & forms[0]) and bool(one & forms[1]) for one in sentences)
    alone = [sum(bool(one & own) for one in sentences) for own in forms]
    expected = alone[0] * alone[1] / index.parameters["counts"]["sentences"]
    wanted = np.log((both + 0.5) / (expected + 0.5))
    assert found.features[3, 4] == pytest.approx(wanted)


def test_words_read_at_once_are_those_looked_up(signed, monkeypatch):
    index, _ = signed
    one_by_one, at_once, too_many = Lexicon(index), Lexicon(index), Lexicon(index)
    at_once.learn_all()
    monkeypatch.setattr("distsim.comparison.finder.lexicon._MOST_WORDS", 10)
    too_many.learn_all()
    words = ["queen", "zeppelin", "", "said", "İ", *one_by_one.most_frequent(50)]
    for lexicon in (at_once, too_many):
        assert lexicon.ids(words).tolist() == one_by_one.ids(words).tolist()
        lexicon.learn(words)
        assert [lexicon.count(word) for word in words] == one_by_one.counts(words).tolist()
    monkeypatch.setattr(type(index.vocabulary), "number", None)  # no word is looked up
    assert at_once.count("an unknown word") == 0


def test_after_many_words_no_more_are_looked_up(signed, monkeypatch):
    index, _ = signed
    lexicon, other = Lexicon(index), Lexicon(index)
    words = ["queen", "zeppelin", *lexicon.most_frequent(50)]
    wanted = [other.count(word) for word in words], other.ids(words).tolist()
    monkeypatch.setattr("distsim.comparison.finder.lexicon._MAX_LOOKED_UP", 20)
    lexicon.learn(words[:20])
    lexicon.learn(words[:21])
    assert lexicon.count(words[-1]) == wanted[0][-1], "looked up"
    lexicon.learn(words)
    monkeypatch.setattr(type(index.vocabulary), "number", None)
    assert ([lexicon.count(word) for word in words], lexicon.ids(words).tolist()) == wanted


def test_contrasts_are_counted_by_patterns(signed):
    index, table = signed
    finder = opened(index, table)
    tokens = index.vocabulary.words(np.asarray(index.shards[0].tokens, np.int64))
    patterns = [one for one in Language.open().patterns if one.weight >= 1]
    counted = set()
    for word in ("you", "she", "queen"):
        lemma = finder.words.index(word)
        found = finder.pool(lemma)
        lemmas = [finder.lemma(i) for i in index.shards[0].tokens.tolist()]
        wanted = dict.fromkeys(found.lemmas.tolist(), 0)
        for at in (at for at, one in enumerate(lemmas) if one == lemma):
            for other in range(at - 6, at + 7):
                first, last = sorted((at, other))
                if first < 1 or last >= len(tokens) or lemmas[other] not in wanted:
                    continue
                between = [
                    one for one in tokens[first + 1 : last] if one not in Language.open().passed
                ]
                wanted[lemmas[other]] += any(
                    between == list(one.between) and one.before in ("", tokens[first - 1])
                    for one in patterns
                )
        counted |= set(wanted.values())
        logs = [float(np.log1p(wanted[one])) for one in found.lemmas.tolist()]
        assert found.features[:, 3].tolist() == pytest.approx(logs)
    assert len(counted) > 1, "something is contrasted"


def test_found_words_have_the_form_of_the_target(signed):
    words = WordSubstitutes.open(*signed)
    found = [one.phrase for one in words.answers("looked", k=None)]
    assert len(set(found)) == len(found)
    assert {"went", "took", "began"} <= set(found)
    assert not {"look", "looked", "go", "take", "begin"} & set(found)


def test_first_rows_are_the_same_where_many_lemmas_share_a_form(signed, monkeypatch):
    words = WordSubstitutes.open(*signed)
    monkeypatch.setattr(
        WordSubstitutes, "shown", lambda *given: [f"form{lemma % 9}" for lemma in given[2].tolist()]
    )
    every = words.answers("queen", k=None)
    assert len(every) == 9
    for k in range(1, 10):
        assert words.answers("queen", k=k) == every[:k]


def test_substitutes_are_other_words_in_the_form_of_the_target(signed):
    substituter = Substituter(*signed)
    found = substituter.substitutes("she", "looked", "at the hatter", k=None)
    assert {one.origin for one in found} == {"finder"}
    names = [one.substitute for one in found]
    assert len(set(names)) == len(names)
    assert not {"look", "looks", "looked", "looking"} & set(names)
    assert {"began", "took"} <= set(names), "irregular forms stand for -ed"
    assert not {"begin", "take"} & set(names)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
    first = substituter.substitutes("she", "looked", "at the hatter", k=3)
    assert list(first) == list(found[:3])


def test_what_is_told_of_named_words_agrees_with_what_is_found(signed):
    substituter = Substituter(*signed)
    sentence = "she", "looked", "at the hatter"
    words, columns, _ = substituter.features(*sentence)
    named = [words[0], "xyz", words[1]]
    told = substituter.replacements(*sentence, named)
    assert told[:, 2].tolist() == [0, 1, 0]
    assert told[1].tolist() == [0, 0, 1, 0, 0, 1, 0]
    assert told[[0, 2], 1].tolist() == columns[:2, IN_SENTENCE.index("cooccurrence")].tolist()
    weights = FinderWeights.open().in_sentence.weights[:-1]
    sums = columns[:2, :-1] @ weights  # shares differ as sums do: fluency is left out
    assert told[2, 0] - told[0, 0] == pytest.approx(sums[1] - sums[0])
    assert told[2, 4] - told[0, 4] == pytest.approx(columns[1, -2] - columns[0, -2], abs=0.05)
    forms = substituter.replacements(*sentence, ["began", "begin", "taking"])
    assert forms[:, 5].tolist() == [0, 1, 1]
    unknown = substituter.replacements("she", "xyz", "at", ["began", "begin"])
    assert unknown.tolist() == [[0, 0, 0, 1, 0, 1, 0], [0, 0, 0, 1, 0, 0, 0]]
    opposed = substituter.replacements("she was", "familiar", "with it", ["unfamiliar", "family"])
    assert opposed[:, 6].tolist() == [1, 0]


def test_words_take_the_form_that_a_place_asks_for(signed):
    agreeing = Substituter(*signed).agreeing
    given = ["begin", "taking", "took", "xyz", "look"]
    found = agreeing("she", "looked", "at the hatter", given)
    assert found == ["began", "took", "took", "xyz", "look"]
    assert agreeing("she", "look", "at the hatter", given) == given
    assert agreeing("she was", "xyz", "", given) == given


@pytest.mark.parametrize(
    ("left", "target", "right", "given", "wanted"),
    [
        ("the jurors we", "looked", ".", "taken", "took"),  # behind a subject
        ("the jurors we 've", "looked", ".", "took", "taken"),  # behind have
        ("the jurors were", "looked", "and went", "knew", "known"),
        ("a cat", "looked", "by alice", "knew", "known"),
        ("how you", "turned", "to the court", "go", "went"),  # of the same inflection
        ("are you", "asking", "there", "say", "saying"),
        ("the king", "wanted", "the queen", "like", "liked"),  # no noun is wanted here
        ("any such", "things", "as that", "word", "words"),
        ("an", "asking", "of that kind", "answer", "answer"),  # a noun
        ("the same", "word", "again", "things", "thing"),
        ("she", "turned", "to alice", "looked", "looked"),
    ],
)
def test_a_form_is_that_of_the_place(signed, left, target, right, given, wanted):
    assert Substituter(*signed).agreeing(left, target, right, [given]) == [wanted]


def test_a_word_alone_and_what_is_not_stored(signed):
    words, substituter = WordSubstitutes.open(*signed), Substituter(*signed)
    near = words.answers("queen", k=5)
    assert [one.score for one in near] == sorted((o.score for o in near), reverse=True)
    assert list(near) == list(words.answers("queen", k=9)[:5])
    many = words.answers("Queens", k=5)
    assert len(many) == len(near)
    assert [one.phrase for one in many] != [one.phrase for one in near]  # in the form asked for

    found, columns = words.features("Queens")
    assert columns.shape == (len(found), len(ALONE))
    own = substituter._space.phrases([("queens",)])[0]
    for word, (cosine, agrees) in list(zip(found, columns[:, -2:].tolist(), strict=True))[:9]:
        plurals = [f for f in words.forms.of_word(word) if words.forms.kind(f, word) == "s"]
        assert agrees <= bool(plurals)
        forms = substituter._space.phrases([(form,) for form in substituter._forms.of_word(word)])
        assert cosine == pytest.approx((forms @ own).max(), abs=2e-3)
    assert words.answers("the queen") is None
    assert words.answers("zeppelin") is None
    assert substituter.features("the", "zeppelin", "flew") is None
    assert {one.origin for one in substituter.substitutes("the", "mock turtle", "said")} != {
        "finder"
    }


def test_paraphrases_of_a_word_are_those_of_the_finder(signed, tmp_path):
    index, table = signed
    options = ParaphraseOptions(k=7, opposites="ranked")
    answer = Paraphraser(index, table=table, options=options).answer("queen")
    wanted = WordSubstitutes.open(index, table).answers("queen", k=7)
    found = answer.paraphrases
    assert [(one.phrase, one.score, one.count) for one in found] == [
        (one.phrase, one.score, one.strength) for one in wanted
    ]
    assert {one.origin for one in found} == {("finder",)}
    contexts = Paraphraser(index, options=replace(options, neighbours=0, min_score=0, k=10_000))
    shared = {one.phrase: one.shared_contexts for one in contexts.paraphrases("queen")}
    assert any(one.shared_contexts for one in found)
    assert all(one.shared_contexts == shared.get(one.phrase, 0) for one in found)
    other = SignatureTable.build(index, tmp_path / "t", recipe=RECIPE, selection=table.selection)
    for paraphraser in (
        Paraphraser(index, table=other),
        Paraphraser(index, table=table, options=replace(options, finder=False)),
    ):
        by_contexts = paraphraser.paraphrases("queen")
        assert by_contexts and "finder" not in {name for one in by_contexts for name in one.origin}


def test_paraphrases_of_a_phrase_have_a_word_of_it_replaced(signed):
    index, table = signed
    options = ParaphraseOptions(k=400, min_score=0, opposites="ranked", forms=True)
    paraphraser = Paraphraser(index, table=table, options=options)
    by_phrase = {one.phrase: one for one in paraphraser.paraphrases("the king")}
    without = replace(options, finder=False)
    plain = {one.phrase: one for one in Paraphraser(index, options=without).paraphrases("the king")}
    chances = {}
    for one in WordSubstitutes.open(index, table).answers("king", k=40):
        chances[f"the {one.phrase}"] = one.score
    found = {phrase for phrase in chances if index.count(phrase)} & by_phrase.keys()
    assert len(found) >= 10
    for phrase, one in by_phrase.items():
        assert ("finder" in one.origin) == (phrase in found)
    both = found & plain.keys()
    assert both
    for phrase in both:
        wanted = plain[phrase].score * max(1.0, (chances[phrase] / 0.05) ** 0.25)
        assert by_phrase[phrase].score == pytest.approx(min(1.0, wanted))
    assert all("finder" not in one.origin for one in paraphraser.paraphrases("to her"))


def test_an_article_agrees_with_the_word_put_in(signed):
    replaced = Paraphraser(signed[0], table=signed[1])._replaced(["in", "a", "moment"])
    put_in = {words[2] for words in replaced if words[1] == "a"}
    assert len(put_in) >= 10
    for word in put_in:
        assert replaced["in", "an", word] == replaced["in", "a", word]


def test_the_article_is_the_one_that_stands_before_the_word_in_the_text(signed):
    index, table = signed
    found = Substituter(index, table).substitutes("she saw a", "door", "there", k=None)
    seen = [
        one
        for one in found
        if index.count(f"a {one.substitute}") != index.count(f"an {one.substitute}")
    ]
    assert len(seen) > 20
    for one in seen:
        is_an = index.count(f"an {one.substitute}") > index.count(f"a {one.substitute}")
        assert one.article == ("an" if is_an else "")


def test_a_word_for_a_phrase_has_the_form_of_its_first_inflected_word(signed):
    index, table = signed
    substituter = Substituter(index, table)
    forms = WordSubstitutes.open(index, table).forms
    n_able = 0
    for phrase, word in (
        ("looked at", "looked"),
        ("going on", "going"),
        ("was looking", "looking"),
    ):
        kind = forms.kind(word)
        found = substituter.substitutes("and", phrase, "the", k=None)
        words = [one.substitute for one in found if " " not in one.substitute]
        able = [one for one in words if forms.has(forms.base(one), kind)]
        n_able += len(able)
        assert kind and all(forms.kind(one) == kind for one in able)
    assert n_able >= 3


def test_a_damaged_finder_is_told_and_signing_mends_it(signed, tmp_path, run):
    path = tmp_path / "index"
    shutil.copytree(signed[0].path, path)
    asked = ("neighbours", path, "queen", "--by", "finder")
    wanted, _ = run(*asked)
    (counts,) = (path / "signatures" / "finder").glob("counts.*.bin")
    counts.write_bytes(counts.read_bytes()[:-8])
    _, said = run(*asked, status=1)
    assert "build the finder again with distsim sign INDEX" in said
    options = ("--recipe", tmp_path / "recipe.toml")
    options[1].write_text(run("info", path, "--recipe")[0])
    _, said = run("sign", path, *options)
    assert "it is built again" in said
    assert run(*asked)[0] == wanted
    run("sign", path, "--preset", "thesis", "--force")
    assert not counts.parent.exists()
    assert "has no finder, or is in no index: distsim sign INDEX" in run(*asked, status=1)[1]


def test_signing_again_makes_the_finder_of_other_rules_anew(signed, tmp_path, run):
    index = CorpusIndex.open(shutil.copytree(signed[0].path, tmp_path / "i"))
    folder = index.path / "signatures" / "finder"
    written = (folder / "manifest.json").stat().st_mtime_ns
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(run("info", signed[1].path, "--recipe")[0])
    run("sign", index.path, "--recipe", recipe)
    assert (folder / "manifest.json").stat().st_mtime_ns == written
    run("sign", index.path, "--recipe", recipe, "--set", "inflections=none")
    assert (folder / "manifest.json").stat().st_mtime_ns > written


def test_opposites_of_a_phrase_come_last(signed):
    index, table = signed
    substituter = Substituter(index, table)
    last = substituter.substitutes("said", "the king", "to", k=6)[0].substitute
    substituter._opposites = told(last)
    ranked = substituter.substitutes("said", "the king", "to", k=6)
    assert [one.substitute for one in ranked if one.opposite] == [last]
    assert ranked[-1].substitute == last
    everything = substituter.substitutes("said", "the king", "to", k=None)
    assert [one.substitute for one in everything if one.opposite] == [last]
    named = substituter.substitutes("said", "the king", "to", candidates=[last, "she"])
    assert not any(one.opposite for one in named)


def test_more_cases_teach_weights_but_not_chances():
    rng = np.random.default_rng(2)

    def case(group, weights):
        features = rng.normal(size=(30, 2))
        shares = np.exp(features @ weights)
        return Case(group, features, np.zeros((30, 2)), shares / shares.sum() * (shares > 2))

    some = [case(f"a{n}", [1.0, 0.0]) for n in range(60)]
    more = [case(f"b{n}", [0.0, 1.0]) for n in range(60)]
    alone, both = learn_scale(some), learn_scale(some, more)
    assert alone.weights[1] < 0.2
    assert both.weights[1] > 0.4
    named = np.mean(np.concatenate([one.shares > 0 for one in some]))
    chances = np.concatenate([both.chances(one.features) for one in some])
    assert chances.mean() == pytest.approx(named, abs=0.03)


def told(*contrasted):
    """An Opposites that knows some words for contrasted with all; a first one is no opposite."""

    class Told:
        def evidence(self, pairs):
            return [
                SimpleNamespace(
                    contrasted=word in contrasted,
                    opposite=word in contrasted[1:] or contrasted == (word,),
                )
                for _, word in pairs
            ]

    return Told()


@pytest.mark.parametrize(
    ("k", "opposites", "wanted"),
    [
        (3, "", "a b c"),
        (3, "b", "a c d"),
        (5, "a b c", "d e f g h"),
        (6, "b", "a c d e f b!"),
        (7, "a b c", "d e f g h a? b!"),
        (1, "a", "b"),
        (2, "c", "a b"),
        (None, "a h", "b c d e f g a? h!"),
        (8, "h g", "a b c d e f g! h?"),
    ],
)
def test_opposites_come_last(k, opposites, wanted):
    words, told_of = list("abcdefgh"), opposites.split()
    found, n_below = opposites_last(told(*told_of), "x", words, k)
    marks = ["", "?", "!"]
    assert wanted == " ".join(words[at] + marks[con + opposite] for at, con, opposite in found)
    shown = {word[0] for word in wanted.split()}
    passed = set(words[: max(words.index(word) for word in shown)])
    assert n_below == len(passed - shown)
    left, n_out = opposites_last(told(*told_of), "x", words, k, out=True)
    kept = [word for word in words if word not in told_of]
    assert [words[one.place] for one in left] == kept[: len(words) if k is None else k]
    seen = words if len(left) < (k or len(words)) else words[: words.index(kept[len(left) - 1])]
    assert n_out == len(set(seen) & set(told_of))


def test_evidence_of_spare_rows_is_found_where_they_are_needed():
    asked = []

    def evidence(pairs):
        asked.extend(word for _, word in pairs)
        return told("c").evidence(pairs)

    detector = SimpleNamespace(evidence=evidence)
    assert len(opposites_last(detector, "x", list("abcdefgh"), 2)[0]) == 2
    assert asked == ["a", "b"]
    opposites_last(detector, "x", list("abcdefgh"), 3)
    assert asked[2:] == list("abcdefgh")


def test_rows_put_below_others_are_labelled_and_counted(signed, run, monkeypatch):
    index, _ = signed
    sentence = "said the [king] to alice"

    def printed(*command, k):
        out, err = run(*command, "-k", k, "--json")
        rows = [json.loads(line) for line in out.splitlines()]
        return [row["answer"] for row in rows], rows, err

    for command in (
        ("substitute", index.path, sentence),
        ("neighbours", index.path, "king", "--by", "finder"),
        ("paraphrase", index.path, "king"),
    ):
        monkeypatch.setattr(Opposites, "evidence", lambda _, pairs: [None for _ in pairs])
        first, _, err = printed(*command, k=8)
        assert "put below" not in err
        of = told(*first[:2])
        monkeypatch.setattr(Opposites, "evidence", lambda _, pairs, of=of: of.evidence(pairs))
        names, rows, err = printed(*command, k=8)
        assert names[-2:] == first[:2]
        assert [row["contrasted"] for row in rows] == [False] * 6 + [True] * 2
        assert [row["opposite"] for row in rows] == [False] * 7 + [True]
        assert "2 answers put below the others: 1 opposite, 1 contrasted in the text" in err
        names, rows, err = printed(*command, k=6)
        assert names[-1] == first[0] and [row["contrasted"] for row in rows] == [False] * 5 + [True]
        assert "1 answer put below the others: 1 contrasted in the text" in err
        assert "1 answer put below those printed" in err
        out, _ = run(*command, "-k", 8)
        assert [line.split("\t")[-1] for line in out.splitlines()][-2:] == [
            "contrasted",
            "opposite",
        ]


def test_limits_keep_the_search_by_what_sign_stored(signed, run):
    index, _ = signed
    command = ("neighbours", index.path, "thought", "--by", "finder", "-k", 5)
    plain, _ = run(*command)
    assert run(*command, "--lengths", "1")[0] == plain
    least = sorted(int(line.split("\t")[3]) for line in plain.splitlines())[2]
    common, _ = run(*command, "--min-strength", least)
    rows = [line.split("\t")[1:] for line in common.splitlines()]
    kept = [row for row in (line.split("\t")[1:] for line in plain.splitlines())
            if int(row[2]) >= least]  # fmt: skip
    assert rows[: len(kept)] == kept and min(int(row[2]) for row in rows) >= least
    for wide in (("--lengths", "1-2"), ("--all",)):
        err = run(*command, *wide, status=1)[1]
        assert (
            f"{wide[0]}: the finder lists words for words: leave it out, or choose by table" in err
        )
    longer, _ = run(*command[:3], "-k", 5, "--lengths", "2")
    assert all(" " in line.split("\t")[1] for line in longer.splitlines())
    out, err = run(*command[:2], "the king", *command[3:])
    assert out == run(*command[:2], "the king", "-k", 5)[0]
    assert "1 phrase by the table's cosine: the finder lists words for words that it knows" in err
    table = SignatureTable.open(index.path)
    assert table.neighbours("king", k=5, lengths=[1]) == table.neighbours("king", k=5)


def test_opposites_are_labelled_and_can_stay(signed):
    substituter = Substituter(*signed)
    first = substituter.substitutes("the", "door", "was")[0]
    substituter._opposites = told(first.substitute)
    found = substituter.substitutes("the", "door", "was")
    assert found[-1] == first._replace(opposite=True, contrasted=True)
    assert sum(one.opposite for one in found) == 1
    assert len({one.substitute for one in found}) == len(found) == 10
    paraphraser = Paraphraser(*signed[:1], table=signed[1], options=ParaphraseOptions(k=10))
    second = paraphraser.paraphrases("door")[1].phrase
    paraphraser._opposites = told(second)
    answer = paraphraser.answer("door")
    assert [one.phrase for one in answer.paraphrases if one.opposite] == [second]
    assert answer.paraphrases[-1].phrase == second and answer.n_opposites == 0
    as_ranked = Substituter(*signed, words=WordOptions(opposites=False)).substitutes(
        "the", "door", "was"
    )
    assert as_ranked[0] == first


def test_a_table_without_a_finder_answers_by_likeness(signed, tmp_path):
    index, table = signed
    other = SignatureTable.build(index, tmp_path / "t", recipe=RECIPE, selection=table.selection)
    assert other.finder is None
    with_finder, without = Substituter(index, table), Substituter(index, other)
    assert WordSubstitutes.open(index, other) is None
    assert {one.origin for one in without.substitutes("the", "queen", "said")} == {"words"}
    named = ["king", "hatter"]
    assert list(with_finder.substitutes("the", "queen", "said", candidates=named)) == list(
        without.substitutes("the", "queen", "said", candidates=named)
    )


def test_a_finder_of_another_table_is_not_used(signed, tmp_path):
    index, table = signed
    made = SignatureTable.build(index, tmp_path / "t", recipe=RECIPE, selection=table.selection)
    build_finder(index, made, jobs=1)
    again = SignatureTable.build(
        index, tmp_path / "t", recipe=RECIPE, selection=Selection(min_count=9), force=True
    )
    assert again.finder is None


def test_other_forms_of_a_phrase_are_no_neighbours_where_the_language_is_known(signed, tmp_path):
    index, table = signed
    other = SignatureTable.build(index, tmp_path / "t", recipe=RECIPE, selection=table.selection)

    def near(one, phrase, **options):
        search = NeighbourSearch(one, min_strength=1, lengths=[1], **options)
        return {other.phrase for other in search.nearest(phrase, k=400)}

    for phrase, form in (("looked", "looking"), ("went", "going"), ("thing", "things")):
        assert form in near(table, phrase, distinct=False)
        assert form not in near(table, phrase)
        assert form in near(other, phrase)  # without a finder the language is not known
    forms = WordSubstitutes.open(index, table).forms
    for word in ("said", "thought", "little", "began", "turtle"):
        bases = [forms.base(one) for one in (word, *near(table, word))]
        bases = [one for one in bases if table.find([one])[0] >= 0]
        assert len(bases) > 50 and len(set(bases)) == len(bases)


def test_damage_is_found(signed, tmp_path):
    index, table = signed
    made = SignatureTable.build(index, tmp_path / "t", recipe=RECIPE, selection=table.selection)
    folder = build_finder(index, made, jobs=1)
    assert find_faults(made.path) == []
    with storage.change(folder, storage.FINDER) as writer:
        before = writer.read("form_starts").copy()
        writer.add("form_starts", before[::-1])
    assert "form_starts are no starts of the rows of forms" in find_faults(made.path)[0]
    with storage.change(folder, storage.FINDER) as writer:
        writer.add("form_starts", before)
    (file,) = folder.glob("words-weights.*")
    data = bytearray(file.read_bytes())
    data[0] ^= 1
    file.write_bytes(bytes(data))
    assert find_faults(made.path) == [f"{file} is damaged"]
    file.write_bytes(bytes(data[:-1]))
    with pytest.raises(ArtifactError, match="words-weights"):
        opened(index, made)


def test_what_cannot_have_a_finder_is_refused(signed, tmp_path):
    index, _ = signed
    from distsim import PRESETS

    thesis = SignatureTable.build(index, tmp_path / "thesis", recipe=PRESETS["thesis"])
    with pytest.raises(ParameterError, match="only a learned table"):
        build_finder(index, thesis)
    (tmp_path / "text").write_text("the king saw the queen and the king went\n" * 40)
    small = CorpusIndex.build([tmp_path / "text"], tmp_path / "small")
    table = SignatureTable.build(small, recipe=RECIPE)
    with pytest.raises(ParameterError, match="wanted 100"):
        build_finder(small, table)


def test_weights_of_a_file(tmp_path):
    shipped = FinderWeights.open()
    assert len(shipped.alone.weights) == len(ALONE)
    assert len(shipped.in_sentence.weights) == len(IN_SENTENCE)
    mine = tmp_path / "mine.toml"
    mine.write_text("[alone]\ncooccurrence = 1\n")
    with pytest.raises(InputError, match=r"mine.toml: \[alone\] must have the keys rank_vectors"):
        FinderWeights.open(str(mine))
    text = (Path(distsim.__file__).parent / "data/weights/substitutes.toml").read_text()
    mine.write_text(re.sub(r"(?m)^(intercept = ).*", r"\1nan", text))
    with pytest.raises(InputError, match="must have finite numbers alone"):
        FinderWeights.open(str(mine))
    with pytest.raises(InputError, match="nothing.toml"):
        FinderWeights.open(str(tmp_path / "nothing.toml"))


def test_chances_by_hand():
    scale = ChanceScale(np.array([1.0]), 0.0, 1.0)
    share = np.array([0.75, 0.25])
    found = scale.chances(np.log(share)[:, None] + 800.0)
    assert found == pytest.approx(share / (1 + share))
    half = scale._replace(highest=0.5).chances(np.log(share)[:, None])
    assert half == pytest.approx(found / 2)


def test_common_words_are_no_answers_for_rarer_ones(signed):
    finder = opened(*signed)
    the, queen = finder.words.index("the"), finder.words.index("queen")
    assert the not in finder.pool(queen).lemmas
    assert finder.pool(the).lemmas.size > 100


def test_the_command_line(signed, run):
    index, _ = signed
    everything, _ = run("substitute", str(index.path), "the [door] was", "-k", "8")
    rows = [line.split("\t") for line in everything.splitlines()]
    assert len(rows) == 8
    least = sorted(float(row[3]) for row in rows)[4] - 1e-6
    cut, said = run("substitute", str(index.path), "the [door] was", "-k", "8",
              "--min-score", str(least), "--why")  # fmt: skip
    kept = [line.split("\t") for line in cut.splitlines()]
    assert [row[2] for row in kept] == [row[2] for row in rows if float(row[3]) >= least]
    assert "4 answers with a score below" in said
    for row in kept:
        passages = row[10].split(" | ")
        assert 1 <= len(passages) <= 2
        assert all(f"[{row[2]}]" in passage.lower() for passage in passages)
    near, _ = run("neighbours", str(index.path), "door", "--by", "finder", "-k", "3")
    wanted = WordSubstitutes.open(*signed).answers("door", k=3)
    assert [line.split("\t")[1] for line in near.splitlines()] == [one.phrase for one in wanted]


def test_scores_cut_words_found_and_shares_are_called_so(signed, run, monkeypatch):
    index, _ = signed
    cut = {
        "paraphrase": ("queen", "--set", "min_score={}"),
        "neighbours": ("queen", "--by", "finder", "--threshold", "{}"),
        "substitute": ("the [door] was", "--min-score", "{}"),
    }
    monkeypatch.setattr(Opposites, "evidence", lambda _, pairs: [None for _ in pairs])
    for command, asked in cut.items():
        whole = [one for one in asked if "{}" not in one and one not in ("--set", "--threshold",
                 "--min-score")]  # fmt: skip
        out, said = run(command, index.path, *whole, "-k", 6, "--json")
        assert "the scores of words are shares, no probabilities" in said
        rows = [json.loads(line) for line in out.splitlines()]
        scores = [row.get("score", row.get("similarity")) for row in rows]
        assert len(scores) == 6 and scores == sorted(scores, reverse=True)
        given = [one.format(scores[3]) for one in asked]
        out, _ = run(command, index.path, *given, "-k", 6, "--json")
        assert [json.loads(line) for line in out.splitlines()] == rows[:4]
    _, said = run("neighbours", index.path, "the queen")
    assert "shares" not in said  # of a phrase the table's cosines are listed
    out, said = run("paraphrase", index.path, "queen", "--set", "min_score=1")
    assert out.split("\t")[1] == "NA" and "none of its substitutes scores 1" in said
    monkeypatch.setattr("distsim.comparison.finder.word_finder.CALIBRATED_TOKENS", (1, 10**9))
    index = CorpusIndex.open(index.path)
    table = SignatureTable.open(index.path)
    assert Substituter(index, table).is_calibrated
    assert Paraphraser(index, table=table).is_calibrated
    ruled = Substituter(index, table, grammar=ParaphraseGrammar({}))
    assert ruled.is_calibrated is False
    assert Paraphraser(index).is_calibrated is None


def test_weights_that_replace_those_of_the_finder_are_told(signed, run):
    index, _ = signed
    plain, said = run("substitute", index.path, "the [door] was")
    assert "weights that were set" not in said
    defaults, _ = run("substitute", index.path, "--set", "keys")
    weight = next(line for line in defaults.splitlines() if line.startswith("fit = "))
    same, said = run("substitute", index.path, "the [door] was", "--set", weight.replace(" ", ""))
    assert same == plain and "weights that were set" not in said
    other, said = run("substitute", index.path, "the [door] was", "--set", "fit=0")
    assert other != plain and "words are ordered by the weights that were set" in said
    _, said = run("substitute", index.path, "the [door] was", "--set", "fit=0",
                  "--candidates", "king")  # fmt: skip
    assert "weights that were set" not in said


def test_unknown_words_of_composed_phrases_are_told(signed, run):
    path = signed[0].path
    said = "unknown words, left out of their phrases: zzqq, xxqq\n"
    out, told = run("similarity", path, "zzqq king", "king of xxqq")
    assert "NA" in out.split() and "unknown words" not in told
    assert "its word 'zzqq'" in told and "its word 'xxqq'" in told
    assert said in run("neighbours", path, "zzqq king xxqq")[1]
    for known in ("queen of king", "zzqq"):  # the other has no similarity
        assert "unknown words" not in run("similarity", path, known, "king")[1]


def test_a_phrase_that_begins_with_a_dash(signed, run):
    path = signed[0].path
    for command in (("similarity", path, "-lrb-", "king"), ("neighbours", path, "-lrb-")):
        _, said = run(*command, status=2)
        assert "No such option: -l; before a phrase that begins with - put --: -- -lrb-" in said
    _, said = run("neighbours", path, "king", "-q", status=2)
    assert said.rstrip().endswith("No such option: -q")
    assert run("neighbours", path, "--", "-king-")


def test_paraphrases_have_examples(signed, run):
    index, _ = signed
    out, _ = run("paraphrase", index.path, "queen", "--why", "-k", 4)
    for line in out.splitlines():
        row = line.split("\t")
        passages = row[8].split(" | ")
        assert 1 <= len(passages) <= 2 and all(f"[{row[2]}]" in one.lower() for one in passages)
    out, _ = run("paraphrase", index.path, "the queen", "--why", "-k", 1, "--json")
    told = json.loads(out)
    assert all(f"[{told['answer']}]" in one.lower() for one in told["examples"])


def test_rules_are_evidence_and_their_targets_are_looked_at(signed, tmp_path):
    index, table = signed
    words = WordSubstitutes.open(index, table)
    found = set(words.features("queen")[0])
    other = next(one for one in words.finder.words[50:] if one not in found and one != "queen")
    plain = Substituter(index, table)
    second = plain.substitutes("the", "queen", "said", k=None)[1].substitute
    weights = FinderWeights.open()._replace(grammar=np.array([1.0, 0.5]))
    rules = {("queens",): {(second,): (2.0, 3.0)}, ("queen",): {(other,): (9.0, 7.0)}}
    grammar = ParaphraseGrammar(rules)
    options = WordOptions(weights=weights, opposites=False)
    substituter = Substituter(index, table, grammar=grammar, words=options)
    names, _, gains = substituter.features("the", "queen", "said")
    told = {name: gain.tolist() for name, gain in zip(names, gains, strict=True) if gain.any()}
    assert told[words.bases((second,))[0]] == [6.0, 5.0]
    assert told.get(other, [0.0, 1.0]) == [0.0, 1.0]
    pool = words.pool(("queen",), more=[(other,)])
    assert words.finder.words.index(other) in pool.lemmas
    best = substituter.substitutes("the", "queen", "said")
    assert best[0].substitute == second and best[0].origin == "finder"
    assert best[0].rule == (-2.0, -3.0) and best[1].rule == ()
    same = Substituter(index, table, grammar=ParaphraseGrammar({}), words=options)
    as_plain = Substituter(index, table, words=options).substitutes("the", "queen", "said")
    assert list(same.substitutes("the", "queen", "said")) == list(as_plain)


def test_why_shows_the_probabilities_of_a_rule(signed, run, tmp_path):
    (tmp_path / "rules").write_text(
        "[X] ||| the queen ||| the king ||| p(e|f)=0.5 p(f|e)=9 ||| 0-0 1-1\n"
        "[X] ||| queen ||| duchess ||| p(e|f)=0.25 p(f|e)=1.5 ||| 0-0\n"
    )
    for target, wanted, origin in (
        ("the [queen] said", "duchess", "finder,grammar (-"),
        ("[the queen] said", "the king", ",grammar (-"),
    ):
        command = ("substitute", signed[0].path, target, "--grammar", tmp_path / "rules", "-k", 999)
        out, _ = run(*command, "--why")
        rows = {row[2]: row for row in (line.split("\t") for line in out.splitlines())}
        assert origin in rows[wanted][8]
        assert sum("(-" in row[8] for row in rows.values()) == 1
        out, _ = run(*command, "--why", "--json")
        rules = {row["answer"]: row["rule"] for row in map(json.loads, out.splitlines())}
        logs = " ".join(f"{value:.3f}" for value in rules[wanted])
        assert f"({logs})" in rows[wanted][8] and min(rules[wanted]) >= -8.0


def test_a_text_of_another_size_has_shares(signed):
    found = Substituter(*signed).substitutes("the", "queen", "said", k=None)
    assert sum(one.score for one in found) == pytest.approx(1.0)


def test_groups_of_senses_by_average_linkage():
    vectors = np.array(
        [[1, 0, 0], [0.9, 0.1, 0], [0, 1, 0], [0, 0.9, 0.2], [0, 0, 1], [np.nan] * 3]
    )
    table = SimpleNamespace(vectors=lambda phrases: vectors[: len(phrases)])
    assert group_senses(table, list("abcdef")) == ["a, b", "a, b", "c, d", "c, d", "e", ""]
    assert group_senses(table, ["a"]) == ["a"] and group_senses(table, []) == []


def test_senses_on_the_command_line(signed, run):
    out, _ = run("neighbours", str(signed[0].path), "queen", "--by", "finder", "--senses",
                 "-k", "8")  # fmt: skip
    rows = [line.split("\t") for line in out.splitlines()]
    assert len(rows) == 8 and len({row[-1] for row in rows}) <= 3
    words = {row[1] for row in rows}
    assert all(set(row[-1].split(", ")) <= words for row in rows)


def judged_by_frames(index, table, path, n=40):
    """Write judgements under which the two words that rank the target lowest by frames win."""
    words = WordSubstitutes.open(index, table)
    lines = []
    for target in words.finder.words[60 : 60 + n]:
        names, features = words.features(target)
        best = np.argsort(-features[:, 2], kind="stable")[:2]
        chosen = "; ".join(f"{names[i]} {3 - at}" for at, i in enumerate(best.tolist()))
        lines += [f"\t{target}\t\t{chosen}\n", f"the\t{target}\tsaid\t{chosen}\n"]
    path.write_text("".join(lines), encoding="utf-8")


def test_rank_learns_what_the_judgements_follow(signed, run, tmp_path):
    index, table = signed
    judged, mine = tmp_path / "judged.tsv", tmp_path / "mine.toml"
    judged_by_frames(index, table, judged)
    told, _ = run("rank", "--substitutes", str(index.path), "--learn", str(judged), "-o", str(mine))
    rows = {tuple(line.split("\t")[:2]): line.split("\t")[2:] for line in told.splitlines()}
    assert set(rows) == {(kind, name) for kind in Cases._fields for name in MEASURES}
    for kind in Cases._fields:
        value, low, high, shipped, n = map(float, rows[kind, "oot"])
        assert n == 40 and low <= value <= high
        assert value > shipped + 0.3
    weights = FinderWeights.open(str(mine))
    assert RANKS[int(np.argmax(weights.alone.weights[: len(RANKS)]))] == "rank_frames"
    found, _ = run("substitute", str(index.path), "the [door] was", "--set", f"weights={mine}")
    assert found != run("substitute", str(index.path), "the [door] was")[0]
    for command in (("neighbours", "--by", "finder"), ("paraphrase",)):
        asked = command[0], str(index.path), "queen", *command[1:]
        own, _ = run(*asked, "--set", f"weights={mine}")
        assert own != run(*asked)[0]


def test_judgements_that_cannot_be_learned_from(signed, tmp_path):
    index, table = signed
    judged = tmp_path / "judged.tsv"
    judged.write_text("he\tbought\ta house\tbuy 3; acquire\n")
    with pytest.raises(InputError, match=r"judged.tsv, line 1: 'acquire': write each substitute"):
        read_judged(judged)
    judged.write_text("the\tking\tsaid\tqueen 2\n" * 30)
    with pytest.raises(ParameterError, match="1 judged targets have a word found"):
        learn_weights(find_cases(index, table, read_judged(judged)))
    with pytest.raises(ParameterError, match="folds 1"):
        measure(Cases([], []), folds=1)


def test_measures_by_hand():
    case = Case("a", np.zeros((3, 1)), np.zeros((3, 2)), np.array([0.2, 0.5, 0.0]))
    none = Case("b", np.empty((0, 1)), np.empty((0, 2)), np.zeros(0))
    rows = rated([case, none], [np.array([0.3, 0.2, 0.9]), np.zeros(0)])
    assert rows.tolist() == [pytest.approx([0.0, 0.7, 0.0, 2 / 3]), [0.0] * 4]


def test_of_some_documents_only_their_words_are_found(alice, tmp_path):
    lines = alice.splitlines()
    rows = [
        {"text": "\n".join(lines[:400]), "year": 1},
        {"text": "\n".join(lines[400:]), "year": 2},
    ]
    index = CorpusIndex.from_texts(rows, tmp_path / "index", options=IndexOptions("text"))
    table = SignatureTable.build(index, recipe=RECIPE, selection=Selection(min_count=3))
    build_finder(index, table, jobs=1)
    part = index.select(where="year=1")
    every = ParaphraseOptions(k=1000)
    found = Paraphraser(part, table=table, options=every).paraphrases("little")
    whole = Paraphraser(index, table=table, options=every).paraphrases("little")
    assert 0 < len(found) < len(whole)
    assert "finder" in {origin for one in found for origin in one.origin}
    assert all(part.count(one.phrase) > 0 for one in found)
    substituter = Substituter(part, table)
    found = substituter.substitutes("the", "little", "door", k=None)
    assert found and all(part.count(one.substitute) > 0 for one in found)
    other = CorpusIndex.from_texts(rows[:1], tmp_path / "other", options=IndexOptions("text"))
    with pytest.raises(distsim.IncompatibleError, match="was not signed from the present text"):
        Substituter(other, table)
