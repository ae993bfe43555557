"""Features by sides, learned projections, composition, re-ranking."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_limits

from distsim import (
    CorpusIndex,
    ExactCosine,
    IncompatibleError,
    IndexOptions,
    ParameterError,
    Recipe,
    Selection,
    SignatureTable,
    sign,
    similarity,
)
from distsim.comparison import LearnedCosine, NeighbourSearch
from distsim.comparison.measures import EstimatedCosine
from distsim.contexts import NgramModel, Weighting, ngram
from distsim.contexts.sources.index import IndexSource
from distsim.contexts.sources.source import Work
from distsim.corpus.vocabulary import hash_texts
from distsim.grammar.scoring import RuleScorer, ScoreOptions
from distsim.kernels.compiled import frozen
from distsim.output.verification import find_faults
from distsim.signatures import Learning, learn
from distsim.signatures.composition import Composition
from distsim.signatures.forms import add_spelling
from distsim.signatures.kernels.composition import (
    IdiomRule,
    centre_rows,
    compose_rows,
    cut_composed,
)
from distsim.signatures.kernels.projection import (
    NOWHERE,
    cut_bits,
    multiply,
    project,
    rounded_cells,
    transposed_rows,
)
from distsim.signatures.projections.learn import rotated
from distsim.signatures.projections.singular import dense_times, find_rotation, right_singular
from distsim.signatures.projections.spectral import SpectralProjection
from distsim.signatures.projections.training import TrainingMatrix, TrainingRows, WordRows
from distsim.signatures.recipe import PRESETS
from tests.conftest import RECIPE, index_of, write_lines
from tests.naive import people as naive

MANY = Selection(min_count=3, max_length=3)


@pytest.fixture(scope="module")
def learned(alice, tmp_path_factory):
    """(index of Alice, its learned table)."""
    folder = tmp_path_factory.mktemp("learned")
    index = index_of(alice, folder)
    return index, SignatureTable.build(index, recipe=RECIPE, selection=MANY)


@pytest.mark.parametrize("window", [1, 2, 5, 10])
def test_side_contexts_are_those_of_the_definition(small_index, sentences, window):
    for phrase in ("a0", "bé1", "a0 a0", "zzz"):
        contexts = ngram.phrase_contexts(small_index, phrase, window, by_side=True)
        names = ngram.family_names(window, by_side=True)
        found: Counter = Counter()
        for feature, count in zip(contexts.features, contexts.counts, strict=True):
            family, word = divmod(int(feature), small_index.n_words)
            found[names[family], small_index.vocabulary.word(word)] = int(count)
        assert found == naive.side_contexts(sentences, phrase.split(), window)


def test_side_totals_are_sums_over_the_corpus(small_index, sentences):
    space = ngram.feature_space(small_index, 3, by_side=True)
    words = {word for sentence in sentences for word in sentence}
    total = sum(sum(naive.side_contexts(sentences, [word], 3).values()) for word in words)
    assert space.totals.tolist() == [total / 2, total / 2]


def test_the_window_is_checked_by_kind():
    with pytest.raises(ParameterError, match="window 4: choose 1 to 3 tokens a side .* positions"):
        NgramModel(4)
    with pytest.raises(ParameterError, match="window 11: choose 1 to 10 .* sides"):
        NgramModel(11, by_side=True)
    with pytest.raises(ParameterError, match="composed in a learned space only: choose"):
        Recipe(composition=Composition())


@pytest.mark.parametrize("n_rows", [0, 1, 5, 1024, 1025])
def test_sparse_times_dense(n_rows):
    matrix = sparse.random(n_rows, 7, 0.4, "csr", np.float32, np.random.default_rng(n_rows))
    dense = np.random.default_rng(1).standard_normal((7, 5)).astype(np.float32)
    out = np.full((n_rows, 5), 9.0, np.float32)
    arrays = (matrix.indptr.astype(np.int64), matrix.indices, matrix.data, dense)
    multiply(*(frozen(a) for a in (*arrays, np.arange(n_rows))), out)
    assert np.allclose(out, matrix.toarray() @ dense, atol=1e-5)


def test_sparse_times_dense_of_more_than_a_tile():
    n_columns = 3 * (1 << 18) // 2
    matrix = sparse.random(4, n_columns, 1e-5, "csr", np.float32, np.random.default_rng(4))
    matrix.sort_indices()
    dense = np.random.default_rng(1).standard_normal((n_columns, 2)).astype(np.float32)
    out = np.full((4, 2), 9.0, np.float32)
    arrays = (matrix.indptr.astype(np.int64), matrix.indices, matrix.data, dense)
    multiply(*(frozen(a) for a in (*arrays, np.arange(4))), out)
    assert np.allclose(out, matrix @ dense, atol=1e-5)


@pytest.mark.parametrize("n_rows", [0, 1, 5, 1024])
def test_cells_are_rounded_and_turned(n_rows):
    draw = np.random.default_rng(n_rows)
    weights = sparse.random(n_rows, 7, 0.6, "csr", np.float64, draw)
    weights.data *= draw.choice([1e-5, 3.0], weights.data.size)
    columns = draw.permutation(np.array([-1, 0, 1, 2, 3, 4, -1], np.int32))
    starts, kept, values, bound, highest = rounded_cells(
        frozen(weights.indptr.astype(np.int64)), frozen(columns[weights.indices]),
        frozen(weights.data),
    )  # fmt: skip
    found = sparse.csr_matrix((values, kept, starts), shape=(n_rows, 5))
    rounded = np.round(weights.toarray() * 4096) / 4096
    expected = np.zeros((n_rows, 5))
    expected[:, columns[columns >= 0]] = rounded[:, columns >= 0]
    assert (found.toarray() == expected).all() and (values > 0).all()
    assert highest == rounded.max(initial=0.0)
    assert rounded.sum(axis=1).max(initial=0.0) <= bound <= rounded.sum(axis=1).max(initial=0.0) + 1
    order = draw.permutation(n_rows)[: n_rows // 2 + 1]
    turned = transposed_rows(*map(frozen, (starts, kept, values, order)), 5)
    across = sparse.csr_matrix((turned[2], turned[1], turned[0]), shape=(5, order.size))
    assert across.has_sorted_indices
    assert (across.toarray() == expected[order].T).all()


def test_the_strongest_directions_are_found():
    draw = np.random.default_rng(2)
    dense = draw.standard_normal((90, 6)) @ draw.standard_normal((6, 70))
    matrix = sparse.csr_matrix(dense.astype(np.float32))
    directions, values, floor = right_singular(matrix, matrix.T.tocsr(), 6, 3, 1, 1)
    true = np.linalg.svd(dense)
    assert floor < values[5] * 1e-3  # there is no seventh
    assert values == pytest.approx(true[1][:6], rel=1e-4)
    assert np.abs(np.diag(true[2][:6] @ directions)) == pytest.approx(np.ones(6), abs=1e-3)


def test_the_singular_value_after_the_last_is_the_floor():
    dense = np.diag(np.arange(90.0, 0.0, -1.0))
    matrix = sparse.csr_matrix(dense)
    directions, values, floor = right_singular(matrix, matrix.T.tocsr(), 20, 6, 1, 1)
    assert values == pytest.approx(np.arange(90.0, 70.0, -1.0), rel=0.02)
    assert floor == pytest.approx(70.0, rel=0.05)
    assert directions.T @ directions == pytest.approx(np.eye(20), abs=1e-4)


@pytest.mark.parametrize("itq", [False, True])
def test_a_rotation_keeps_cosines(itq):
    rows = np.random.default_rng(3).standard_normal((50, 10)).astype(np.float32)
    rotation = find_rotation(rows, 64, 1, itq, 1)
    assert rotation @ rotation.T == pytest.approx(np.eye(10), abs=1e-9)


@pytest.mark.parametrize("rank", [3, 64, 70, 200])
def test_what_is_not_cut_keeps_cosines_too(rank):
    rows = np.random.default_rng(1).standard_normal((20, rank))
    made = rotated(rows, find_rotation(rows[:, :64].astype(np.float32), 64, 1, True, 1))
    assert made.shape == (20, 64 + 32 * max(0, -(-(rank - 64) // 32)))
    assert made @ made.T == pytest.approx(rows @ rows.T, abs=1e-9)
    assert (made[:, 64:rank] == rows[:, 64:]).all() and not made[:, max(64, rank) :].any()


@pytest.mark.parametrize(("rank", "in_place"), [(3, False), (64, True), (70, False), (96, True)])
def test_vectors_may_be_rotated_where_they_are(rank, in_place):
    rows = np.random.default_rng(1).standard_normal((5000, rank))
    rotation = find_rotation(rows[:, :64].astype(np.float32), 64, 1, True, 1)
    wanted, before = rotated(rows, rotation), rows.copy()
    made = rotated(rows, rotation, overwrite=True)
    assert np.array_equal(made, wanted) and np.shares_memory(made, rows) == in_place
    assert in_place or np.array_equal(rows, before)


@pytest.mark.parametrize("n_rows", [0, 1, 2048, 2049])
def test_dense_products_go_where_they_belong(n_rows):
    generator = np.random.default_rng(2)
    rows, matrix = (generator.standard_normal((n, 8)).astype(np.float32) for n in (n_rows, 8))
    places = generator.permutation(n_rows + 5)[:n_rows]
    out = np.zeros((n_rows + 5, 8), np.float32)
    dense_times(rows, matrix, 1, out=out, places=places)
    assert out[places] == pytest.approx(rows @ matrix, rel=1e-4, abs=1e-4)
    assert np.array_equal(dense_times(rows, matrix, 2), out[places])
    assert not np.delete(out, places, axis=0).any()


def test_words_keep_more_directions_than_are_cut(learned):
    _, table = learned
    assert table.n_dimensions == table.parts.vectors.shape[1] == 96 > table.n_bits
    assert table.projection.parameters["rank"] == 96
    assert table.parts.vectors[:, 64:].any()


def test_learned_vectors_are_whole_numbers_of_a_unit(learned):
    _, table = learned
    vectors, unit = table.projection.vectors, table.projection.unit
    assert vectors.dtype == np.int16
    assert unit * 4096 == int(unit * 4096)
    assert np.abs(vectors.astype(float)).max() * unit == table.projection.largest


def test_whole_numbers_are_projected_as_what_they_stand_for():
    draw = np.random.default_rng(8)
    whole = draw.integers(-32_000, 32_000, 40 * 64).astype(np.int16)
    starts, features = np.array([0, 0, 9, 30, 47]), draw.permutation(47).astype(np.uint32) % 40
    given = [frozen(a) for a in (starts, features, draw.exponential(2, 47))]
    offsets = frozen(64 * np.arange(40, dtype=np.uint32))
    sums, wanted = np.empty((2, 4, 64))
    project(*given, offsets, frozen(whole), 1 / 128, 256.0, sums)
    project(*given, offsets, frozen((whole / 128).astype(np.float32)), 1.0, 256.0, wanted)
    assert sums.tolist() == wanted.tolist()
    assert wanted[1:].any(axis=1).all()


def test_phrases_made_of_words_are_cut_as_if_they_were_composed():
    draw = np.random.default_rng(5)
    known = [b"an", b"old", b"red", b"house", b"nothing"]
    hashes = hash_texts(known)
    order = np.argsort(hashes)
    vectors = draw.integers(-127, 128, (5, 192)).astype(np.int8)
    vectors[4] = 0
    weights = frozen(draw.random(5))
    parts = frozen(hashes[order]), weights, frozen(vectors[order])
    phrases = [b"an old house", b"an old red house", b"an old", b"old an", b"old an", b"red new",
               b"new red", b"new", b"new new", b"nothing new", b"house"]  # fmt: skip
    text = frozen(np.frombuffer(b"".join(phrases), np.uint8))
    ends = frozen(np.cumsum([0, *map(len, phrases)]))
    bits, wanted = np.empty((2, len(phrases), 2), np.uint64)
    some = cut_composed(text, ends, *parts, bits)
    sums = np.zeros((len(phrases), 192))
    strengths = frozen(np.zeros(len(phrases), np.uint64))
    shares = compose_rows(sums, text, ends, strengths, parts[0], weights, *parts[1:], RULE, True)
    assert shares.tolist()[:3] == [0, 0, 0]
    assert some.tolist() == cut_bits(frozen(sums[:, :128]), wanted).tolist()
    assert bits.tolist() == wanted.tolist()
    assert not some[7] and not some[9] and some[0]


def test_features_without_a_vector_add_nothing():
    offsets = np.array([0, int(NOWHERE)], np.uint32)
    sums = np.empty((1, 64))
    project(frozen(np.array([0, 2])), frozen(np.array([0, 1], np.uint32)),
            frozen(np.array([2.0, 5.0])), frozen(offsets),
            frozen(np.ones(64, np.float32)), 1.0, 1.0, sums)  # fmt: skip
    assert sums.tolist() == [[2.0] * 64]


vectors = st.lists(st.integers(-3, 3), min_size=4, max_size=4)
RULE = IdiomRule(20.0, 0.0, 0.35, 0.04, 0.75, 0.05, 200.0)


@settings(deadline=None, max_examples=100)
@given(vectors, st.lists(vectors, min_size=3, max_size=3), st.integers(0, 400),
       st.sampled_from(["a", "a b", "b c a", "z b", "z y", "é a"]), st.booleans(),
       st.sampled_from([0.0, 2.0]))  # fmt: skip
def test_composition_is_that_of_the_definition(own, parts, strength, phrase, spelt, idioms):
    named = {
        w: (0.3 + 0.3 * n, naive.unit(v)) for n, (w, v) in enumerate(zip("abc", parts, strict=True))
    }
    whole = dict(zip("abc", parts, strict=True))
    order = naive.by_hash(named)
    text = phrase.encode()
    row = np.array([naive.unit(own)], float)
    lengths = np.array([max(1e-9, float(np.linalg.norm(whole[w]))) for w in order])
    weights = np.array([named[w][0] for w in order])
    shares = compose_rows(
        row, frozen(np.frombuffer(text, np.uint8)), frozen(np.array([0, len(text)])),
        frozen(np.array([strength], np.uint64)),
        frozen(hash_texts([w.encode() for w in order])), frozen(weights),
        frozen(weights / lengths), frozen(np.array([whole[w] for w in order], np.int8)),
        RULE._replace(idiom_count=idioms), spelt,
    )  # fmt: skip
    wanted, share = naive.composed(naive.unit(own), phrase, strength, named, 20.0, idioms)
    if spelt and phrase in named:
        wanted = named[phrase][1]
    assert row[0] == pytest.approx(np.array(wanted), abs=1e-6)
    assert shares[0] == round(255 * share)


SPELT = "walk walks walking walked talk talks talking jump über überall x über2 x-ray überaus"


def test_spelling_is_that_of_the_definition():
    words = SPELT.split()
    draw = np.random.default_rng(5)
    vectors = np.array([naive.unit(v) for v in draw.standard_normal((len(words), 70)).tolist()])
    strengths = draw.integers(1, 100, len(words))
    text = np.frombuffer("".join(words).encode(), np.uint8)
    ends = np.cumsum([0, *(len(word.encode()) for word in words)])
    found = add_spelling(vectors.astype(np.float32), text, ends, strengths, 0.3)
    wanted = naive.spelt(words, vectors.tolist(), strengths.tolist(), 0.3)
    assert found == pytest.approx(np.array(wanted), abs=1e-5)
    same = [words.index(word) for word in ("jump", "x", "über2", "x-ray")]
    assert found[same] == pytest.approx(vectors[same], abs=1e-6)
    assert abs(found - vectors)[words.index("walks")].max() > 0.05


@pytest.mark.parametrize("weighting", [Weighting("ppmi", shift=0.0), Weighting("raw")])
@pytest.mark.parametrize("learning", [Learning(rows=40, features=90), Learning()])
def test_words_that_were_learned_from_are_not_counted_again(alice, tmp_path, weighting, learning):
    (tmp_path / "alice.txt").write_text(alice, encoding="utf-8")
    index = CorpusIndex.build(
        [tmp_path / "alice.txt"],
        tmp_path / "index",
        options=IndexOptions("text", shard_tokens=9000),
    )
    assert len(index.shards) > 1
    recipe = replace(RECIPE, weighting=weighting, learning=learning)
    asked: list[int] = []
    once = sign(index, tmp_path / "once", recipe=recipe, selection=MANY, jobs=1)
    again, same = (
        sign(index, tmp_path / "again", recipe=recipe, selection=MANY, projection=once.path, jobs=1)
        for _ in range(2)
    )
    assert not again.unchanged and same.unchanged
    first, second = (SignatureTable.open(one.path).artifact for one in (once, again))
    assert first.checksum == second.checksum
    work = Work(tmp_path, jobs=1)
    with IndexSource(index).counted(recipe.model, MANY, work) as text:
        batches = [b for part in text.words(3, 50) for b in text.count(part)]
        for batch in batches:
            looked_at = np.diff(batch.contexts.starts) > 0
            asked += batch.strengths.tolist()
            assert not looked_at[batch.strengths > 50].any()
            assert looked_at[batch.strengths <= 50].all()
        whole = [b for part in text.parts(3, 1) for b in text.count(part)]
    assert sorted(asked) == sorted(n for b in whole for n in b.strengths.tolist())
    hashes = [h for b in batches for h in b.hashes.tolist()]
    assert sorted(hashes) == sorted(h for b in whole for h in b.hashes.tolist())


def test_weights_that_would_be_rounded_otherwise_are_counted_again():
    features = np.arange(3, dtype=np.int32)

    def trained(weights):
        rows = WordRows(
            np.array([7], np.uint64), np.array([9]), np.array([0, 3]), features, np.array(weights)
        )
        return TrainingRows.of(TrainingMatrix.gather([rows], 3, 10))

    kept = trained([1.00001, 0.0001, 2.5])
    assert kept is not None and kept.weights.toarray().tolist() == [[1.0, 0.0, 2.5]]
    assert trained([1.0, 2.0, 5000.0]) is None


def test_words_of_a_learned_table_know_their_spelling(learned, tmp_path):
    index, table = learned
    plain = replace(RECIPE, composition=Composition(spelling=0.0))
    other = SignatureTable.open(sign(index, tmp_path / "t", recipe=plain, selection=MANY).path)
    words = {text for text in table.texts() if text.isalpha() and len(text) >= 4}
    pairs = [(word, word + end) for word in words for end in ("s", "ed", "ing")
             if word + end in words]  # fmt: skip
    gain = [similarity(table, *pair) - similarity(other, *pair) for pair in pairs]
    assert len(pairs) > 10 and np.mean(gain) > 0.05
    for word in words:
        assert np.array_equal(table.bits[table.find([word])[0]], _bits_of_words(table, word))


def test_rows_are_centred_and_zero_rows_stay():
    rows = np.array([[3.0, 4.0], [0.0, 0.0]])
    some = centre_rows(rows, frozen(np.array([0.6, 0.0], np.float32)))
    assert some.tolist() == [True, False]
    assert rows == pytest.approx(np.array([[0.0, 1.0], [0.0, 0.0]]), abs=1e-6)


def test_a_learned_table_does_not_depend_on_shards_or_threads(sentences, tmp_path):
    corpus = [write_lines(tmp_path / "corpus.txt", sentences * 3)]
    tables = []
    for name, tokens, jobs in (("one", 10_000, 1), ("many", 150, 2)):
        index = CorpusIndex.build(
            corpus, tmp_path / name, options=IndexOptions(shard_tokens=tokens)
        )
        table = SignatureTable.build(index, recipe=RECIPE, selection=MANY, jobs=jobs)
        tables.append(table)
    first, second = tables
    assert len(first) > 20
    assert first.fingerprint == second.fingerprint
    assert np.array_equal(first.bits, second.bits)


def test_a_rotation_of_vectors_does_not_depend_on_threads_of_the_linear_algebra_library():
    generator = np.random.default_rng(3)
    vectors = generator.standard_normal((3000, 300)).astype(np.float32)
    rotation = np.linalg.qr(generator.standard_normal((256, 256)))[0]
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(limits=threads, user_api="blas"):
            found.append(rotated(vectors, rotation))
    assert all(np.array_equal(found[0], one) for one in found[1:])


def test_reopened_tables_know_their_recipe(learned):
    _, table = learned
    in_english = replace(RECIPE, composition=RECIPE.composition.in_language("english"))
    assert Recipe.from_fingerprint(table.fingerprint) == in_english
    assert similarity(table, "alice", "alice") == 1.0
    assert find_faults(table.path) == []
    assert find_faults(table.path.parent) == []  # the index, its table, its projection


def test_the_thesis_preset_knows_nothing_of_all_this(alice_index):
    recipe = PRESETS["thesis"]
    assert recipe == Recipe(model=NgramModel(1), weighting=Weighting("raw"), n_bits=256, seed=1)
    table = SignatureTable.open(alice_index.path)
    assert set(table.fingerprint.manifest()) == {"model", "weights", "normaliser", "projection"}
    assert table.fingerprint.model == {"name": "ngram", "window": 1, "families": ["l1", "r1"]}
    assert table.parts is None
    assert EstimatedCosine(table).estimates([("alice the rabbit", "alice")]) == [(None, False)]


def test_bits_estimate_the_cosines_of_real_vectors(learned):
    index, table = learned
    real = LearnedCosine(index, table)
    draw = np.random.default_rng(1)
    texts = list(table.texts())
    pairs = [(texts[a], texts[b]) for a, b in draw.integers(0, len(texts), (200, 2))]
    true = np.array([one.similarity for one in real.estimates(pairs)])
    estimated = np.array([one.similarity for one in EstimatedCosine(table).estimates(pairs)])
    assert np.sqrt(np.mean((true - estimated) ** 2)) < 0.25  # theory: about .2 with 64 bits
    assert real.estimates([("alice", "alice")])[0].similarity == pytest.approx(1.0)
    # Self-made vectors have the very bits of the table.
    for text in texts[:50]:
        bits = real._vector(text)[: table.n_bits] > 0
        row = int(table.find_normal([text])[0])
        assert np.array_equal(np.packbits(bits, bitorder="little").view(np.uint64), table.bits[row])


def test_phrases_that_are_not_in_the_table_are_composed_and_marked(learned):
    _, table = learned
    assert table.find(["alice queen"])[0] == -1
    (made,) = EstimatedCosine(table).estimates([("alice queen", "alice")])
    assert made.composed and made.similarity > 0
    assert EstimatedCosine(table, compose=False).estimates([("alice queen", "alice")]) == [
        (None, False)
    ]
    assert EstimatedCosine(table).estimates([("alice", "queen")])[0].composed is False
    assert EstimatedCosine(table).estimates([("zzz", "queen")]) == [(None, False)]
    near = NeighbourSearch(table).nearest("alice queen", k=3)
    assert near is not None and all(one.composed for one in near)
    assert not any(one.composed for one in NeighbourSearch(table).nearest("alice", k=3))


def begins_and_ends_with_words(tokens):
    return all(any(c.isalnum() for c in token) for token in (tokens[0], tokens[-1]))


def naive_distinct(table, focal, near):
    """What NeighbourSearch promises of `distinct`, said once more and slowly."""
    texts = list(table.texts())
    words = {t: int(n) for t, n in zip(texts, table.strengths, strict=True) if " " not in t}

    shares = dict(zip(texts, table.own_shares.tolist(), strict=True))

    def rare_words(phrase):
        return {
            word
            for word in phrase.split()
            if any(c.isalnum() for c in word) and words.get(word, 0) <= sum(words.values()) / 1000
        }

    def core(phrase):
        told = rare_words(phrase)
        words_of = {word for word in phrase.split() if any(c.isalnum() for c in word)}
        return told or words_of or set(phrase.split())

    counts = dict(zip(texts, table.strengths.tolist(), strict=True))

    def is_loose(phrase):
        tokens = phrase.split()
        parts = [(tokens[:1], tokens[1:]), (tokens[:-1], tokens[-1:])] if len(tokens) > 1 else []
        by_chance = [counts[" ".join(a)] * counts[" ".join(b)] for a, b in parts]
        return any(counts[phrase] < 4 * n / sum(words.values()) for n in by_chance)

    everything = near

    def is_inside(phrase):
        tokens = phrase.split()
        for one in everything:
            longer = one.phrase.split()
            added = [token for token, rest in ((longer[0], longer[1:]), (longer[-1], longer[:-1]))
                     if rest == tokens and any(c.isalnum() for c in token)]  # fmt: skip
            if added and len(tokens) > 1 and one.strength >= 0.8 * counts[phrase]:
                return True
        return False

    near = [one for one in near if rare_words(one.phrase) or shares[one.phrase] >= 255 / 4]
    if not (focal in counts and is_loose(focal)):
        near = [one for one in near if not (is_loose(one.phrase) or is_inside(one.phrase))]
    cores = [core(one.phrase) for one in near]
    chosen = []
    for one, mine in zip(near, cores, strict=True):
        same = [other for other, its in zip(near, cores, strict=True) if its == mine]
        inner = [n for n in same if begins_and_ends_with_words(n.phrase.split())]
        same = inner or same
        most = max(other.strength for other in same)
        usual = [other for other in same if other.strength >= most / 2]
        longest = max(len(other.phrase.split()) for other in usual)
        usual = [other for other in usual if len(other.phrase.split()) == longest]
        if one == sorted(usual, key=lambda n: (-n.similarity, -n.strength, n.phrase))[0]:
            chosen.append(one)
    kept, told, of_told = [], [core(focal)], [0]
    for one in sorted(chosen, key=lambda n: (-n.similarity, -n.strength, n.phrase)):
        mine = core(one.phrase)
        again = mine <= told[0] or any(mine >= other for other in told)
        for other, n in zip(told, of_told, strict=True):
            again |= mine <= other and (bool(mine & told[0]) or 2 * n >= one.strength)
        if not again:
            kept.append(one.phrase)
            told.append(mine)
            of_told.append(one.strength)
    return kept


def test_distinct_neighbours_say_something_new(learned):
    _, table = learned
    everything = NeighbourSearch(table, distinct=False, estimate="bits")
    distinct = NeighbourSearch(table, estimate="bits")
    for focal in ("alice", "the queen", "said the", "mock turtle", "went on", "the", "alice queen"):
        near = everything.above(focal, 0.5)
        found = [one.phrase for one in distinct.above(focal, 0.5)]
        assert found == naive_distinct(table, focal, near)
        assert len(found) < len(near)
        few = distinct.neighbour_list(focal, k=5, threshold=0.5, among=len(table)).neighbours
        assert found[:5] == [one.phrase for one in few]
    named = NeighbourSearch(table, candidates=["caterpillar", "the caterpillar", "alice"])
    assert len(named.nearest("caterpillar", k=5)) == 2  # whoever names candidates wants them
    crowd = [one.phrase for one in everything.nearest("the caterpillar", k=5)]
    assert any("caterpillar" in phrase for phrase in crowd)
    assert not any("caterpillar" in n.phrase for n in distinct.nearest("the caterpillar", k=50))
    with pytest.raises(ParameterError, match="no phrase has a strength of 2,147,483,648: lower"):
        NeighbourSearch(table, min_strength=2**31)


def test_rules_are_scored_by_composed_phrases_if_asked(learned, tmp_path, capsys):
    from distsim.cli.main import app

    _, table = learned
    rule = "alice queen", "queen hatter"
    assert table.find(list(rule)).tolist() == [-1, -1]
    plain = RuleScorer([("s", table)]).score(*rule, [(0, 1), (1, 0)])[0]
    made = RuleScorer([("s", table)], options=ScoreOptions(compose=True)).score(
        *rule, [(0, 1), (1, 0)]
    )[0]
    pairs = [rule, ("alice", "hatter")]  # and `queen` with itself, which counts 1
    expected = [one.similarity for one in EstimatedCosine(table).estimates(pairs)] + [1.0]
    assert (plain.pairs, plain.scored, made.scored) == (3, 2, 3)
    assert made.similarity == pytest.approx(np.mean(expected))
    assert plain.similarity == pytest.approx(np.mean(expected[1:]))
    (tmp_path / "g").write_text("[X] ||| alice queen ||| queen hatter ||| ||| 0-1 1-0\n")
    app(["score", str(tmp_path / "g"), "--ngram", str(table.path), "--set", "compose=true", "-o",
         str(tmp_path / "o")], standalone_mode=False)  # fmt: skip
    said = capsys.readouterr().err
    assert (
        ": 3 phrase pairs: 1 identical, 1 known, 1 composed of words" in said
        and "|composed:yes|" in said
    )


def _bits_of_words(table, phrase):
    signs = table.vectors(phrase, of_words=True)[0, : table.n_bits] > 0
    return np.packbits(signs, bitorder="little").view(np.uint64)


def test_rare_phrases_are_made_of_their_words_alone(learned, tmp_path):
    index, _ = learned
    recipe = replace(RECIPE, composition=Composition(min_own_count=12))
    table = SignatureTable.open(sign(index, tmp_path / "t", recipe=recipe, selection=MANY).path)
    phrases = [text for text in table.texts() if " " in text]
    rare = table.strengths[table.find(phrases)] < 12
    alike = [
        np.array_equal(table.bits[table.find([phrase])[0]], _bits_of_words(table, phrase))
        for phrase in phrases
    ]
    assert all(np.array(alike)[rare]) and rare.any() and not all(alike)
    # Whoever counts the contexts of rare phrases all the same comes to the same vectors.
    real = LearnedCosine(index, table)
    made = {
        text: table.vectors(text, of_words=True)[0]
        for text, few in zip(phrases, rare, strict=True)
        if few
    }
    (first, vector), *_ = made.items()
    for one, phrase in zip(real.similarities([(first, text) for text in made]), made, strict=True):
        assert one == pytest.approx(float(made[phrase] @ vector), abs=1e-3)


def test_a_table_without_parts_composes_nothing(learned, tmp_path):
    index, signed = learned
    table = SignatureTable.build(
        index, tmp_path / "t", recipe=RECIPE, selection=MANY, keep_parts=False
    )
    assert table.fingerprint == signed.fingerprint
    assert EstimatedCosine(table).estimates([("alice queen", "alice")]) == [(None, False)]
    with pytest.raises(IncompatibleError, match="keeps no vectors of words .* with `keep_parts`"):
        LearnedCosine(index, table)


def test_a_projection_is_the_same_bytes_again_and_refuses_other_contexts(learned, tmp_path):
    index, table = learned
    again = learn(index, tmp_path / "again", recipe=RECIPE)
    projection = SpectralProjection.open(again)
    assert projection.manifest() == table.fingerprint.projection
    other = replace(RECIPE, model=NgramModel(2, by_side=True))
    with pytest.raises(IncompatibleError, match="was learned with model .* learn a projection"):
        SignatureTable.build(index, tmp_path / "t", recipe=other, selection=MANY, projection=again)
    different = learn(
        index, tmp_path / "other", recipe=replace(RECIPE, learning=Learning(iterations=1))
    )
    with pytest.raises(IncompatibleError, match="was not signed by the projection"):
        LearnedCosine(index, table, projection=SpectralProjection.open(different))


def test_too_little_text_and_wrong_settings_are_refused(tmp_path):
    (tmp_path / "c.txt").write_text("a\n")
    index = CorpusIndex.build([tmp_path / "c.txt"], tmp_path / "index")
    with pytest.raises(ParameterError, match="too few to learn a projection: take more text"):
        learn(index, tmp_path / "p", recipe=RECIPE)
    with pytest.raises(ParameterError, match="iterations 0: choose counts"):
        Learning(iterations=0)
    with pytest.raises(ParameterError, match="prior count 0.* choose numbers above 0"):
        Composition(prior_count=0)


def test_reranking_orders_by_exact_cosine(alice_index):
    table = SignatureTable.open(alice_index.path)
    exact = ExactCosine(alice_index, table)
    search = NeighbourSearch(table)
    near = search.reranked("alice", exact, k=5, among=40)
    assert len(near) == 5
    candidates = [one.phrase for one in search.nearest("alice", k=40)]
    best = sorted(-exact.similarity("alice", phrase) for phrase in candidates)[:5]
    assert [one.similarity for one in near] == pytest.approx([-value for value in best])
    assert search.reranked("zzz", exact) is None


def test_commands(learned, tmp_path, capsys):
    from distsim.cli.main import app

    index, table = learned

    def run(*arguments):
        app([str(a) for a in arguments], standalone_mode=False)
        return capsys.readouterr()

    out = run(
        "learn", index.path, "-o", tmp_path / "p", "--set", "n_bits=64", "--set", "model.window=3"
    )
    assert "96 directions for 64 bits, learned from" in out.err
    signed = run("sign", index.path, "-o", tmp_path / "t", "--projection", tmp_path / "p",
                 "--set", "model.window=3", "--set", "n_bits=64", "--min-count", 3)  # fmt: skip
    assert "words' vectors kept beside them" in signed.err
    assert run("similarity", tmp_path / "t", "alice queen", "alice").out.endswith("\tcomposed\n")
    err = run("similarity", tmp_path / "t", "alice queen", "zeppelin").err
    assert "'zeppelin' is not in the table" in err and "alice queen" not in err
    assert json.loads(
        run("similarity", tmp_path / "t", "alice", "queen", "--json").out
    )["composed"] is False  # fmt: skip
    rows = run("neighbours", tmp_path / "t", "alice queen", "-k", 2)
    assert [line.split("\t")[4] for line in rows.out.splitlines()] == ["composed"] * 2
    assert "1 of 1 phrase not in the table: composed of words" in rows.err
    ranked = run("neighbours", table.path.parent, "alice", "-k", 3, "--by", "exact").out
    values = [float(line.split("\t")[2]) for line in ranked.splitlines()]
    assert values == sorted(values, reverse=True) and len(values) == 3
    (tmp_path / "g.txt").write_text("alice rabbit 5\nking queen 9\ncat court 2\nalice queen 1\n")
    shown = run("evaluate", table.path.parent, tmp_path / "g.txt", "--by", "all").out
    assert shown.count("spearman") == 3 and "projection:spectral" in shown
