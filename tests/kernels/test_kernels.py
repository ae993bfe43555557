"""Every kernel against its naive twin, on drawn inputs with sizes around the edges."""

import random
import unicodedata
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim.corpus import kernels as text
from distsim.corpus.tokeniser import (
    _ABBREVIATIONS,
    _ASSIGNED,
    WHITE_SPACE,
    cut,
    running_text_classes,
    tokens_of,
)
from distsim.corpus.vocabulary import DROPPED, HashNumbering, hash_texts
from distsim.indexes.phrase_walk import PhraseChunk
from distsim.indexes.shard import build_suffix_array
from distsim.kernels import contexts, hashing, suffixes
from distsim.kernels import hashing as tables
from distsim.kernels.compiled import frozen
from distsim.signatures.kernels import projection
from tests.naive import core as naive

few = settings(max_examples=40, deadline=None)
words = st.lists(st.integers(1, 5), max_size=30)
SIZES = (0, 1, 2, 63, 64, 65)


def sentence_tokens(seed: int, n: int, n_words: int = 6) -> np.ndarray:
    """n tokens of random sentences, each closed by 0."""
    draw = random.Random(seed)
    tokens = [0 if draw.random() < 0.2 else draw.randint(1, n_words - 1) for _ in range(n)]
    if tokens:
        tokens[-1] = 0
    return np.array(tokens, np.uint32)


class TestHashing:
    @few
    @given(st.lists(st.text(max_size=8), max_size=20))
    def test_hash_texts(self, texts):
        data = [t.encode() for t in texts]
        assert hash_texts(data).tolist() == [naive.hash_text(d) for d in data]
        assert hash_texts(data, b"l1:").tolist() == [naive.hash_text(b"l1:" + d) for d in data]

    def test_hashes_never_change(self):
        # The name of a feature in every table ever written: a change breaks them all.
        assert naive.hash_text(b"l1:revise") == 0x6DCAA240C5F5BFD6
        assert hash_texts([b"l1:revise"])[0] == 0x6DCAA240C5F5BFD6

    @few
    @given(st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=40)))
    def test_numbering(self, batches):
        numbering = HashNumbering(first=3)
        everything = [h for batch in batches for h in batch]
        expected, order = naive.number(everything, first=3)
        found = []
        for batch in batches:
            numbers, new = numbering.number(np.array(batch, np.uint64))
            assert all(i == batch.index(batch[i]) for i in new.tolist())
            found += numbers.tolist()
        assert found == expected
        assert numbering.hashes().tolist() == order

    @pytest.mark.parametrize("size", SIZES)
    def test_find_sorted_and_find_ids(self, size):
        keys = np.sort(np.random.default_rng(size).integers(0, 2**62, size).astype(np.uint64))
        wanted = np.concatenate([keys, keys + np.uint64(1)])
        rows = hashing.find_sorted(frozen(keys), frozen(wanted))
        expected = [keys.tolist().index(w) if w in keys.tolist() else -1 for w in wanted.tolist()]
        assert rows.tolist() == expected
        ids = np.arange(size, dtype=np.uint32)[::-1].copy()
        found = hashing.find_ids(frozen(keys), frozen(ids), max(0, size - 1), frozen(wanted))
        assert found.tolist() == [ids[r] if r >= 0 and ids[r] < size - 1 else -1 for r in expected]


PIECES = (
    "a", "B", "é", "中", "の", "7", "'", "’", "-", ".", ",", "!", "?", "。", "(", ")", '"', " ",
    "\n", "\u0301", "_", "ſ", "\u00a0", "Mr", "e.g", "...", "«", "»", "$", "\t", "\u200b",
)  # fmt: skip


class TestText:
    def test_white_space_is_that_of_str(self):
        assert set(WHITE_SPACE) == {c for c in range(0x110000) if chr(c).isspace()}

    def test_code_points_that_are_looked_at_are_all_that_have_a_class(self):
        looked_at = {c for first, stop in _ASSIGNED for c in range(first, stop)}
        for code in set(range(0x110000)) - looked_at:
            assert unicodedata.category(chr(code)) in ("Cn", "Co", "Cs")

    def test_every_code_point_has_the_class_of_its_category(self):
        codes = [c for first, stop in _ASSIGNED for c in range(first, stop)]
        expected = [naive.kind_of(chr(c)).upper().replace(" ", "_") for c in codes]
        assert running_text_classes()[codes].tolist() == [getattr(text, k) for k in expected]
        three_bytes = running_text_classes(0x10000)
        assert (three_bytes[:0x10000] == running_text_classes()[:0x10000]).all()

    def test_letters_of_four_bytes_are_cut_after_a_text_without_them(self):
        cuts = [tokens_of(written, "text") for written in ("aé ’。", "a𐌰𐌱. 𠀀𠀁 \U0010ffff")]
        assert cuts == [["aé", "’", "。"], ["a𐌰𐌱", ".", "𠀀", "𠀁", "\U0010ffff"]]

    @few
    @given(
        st.text(
            st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \n\u2003"), max_size=60
        )
    )
    def test_cut_white_space(self, written):
        data = written.encode()
        pieces = cut(data, "lines")
        spans = zip(pieces.starts.tolist(), pieces.stops.tolist(), strict=True)
        tokens = [data[a:b].decode() for a, b in spans]
        lines = naive.cut_lines(written)
        assert tokens == [t for line in lines for t in line]
        assert pieces.hashes.tolist() == [naive.hash_text(t.encode()) for t in tokens]
        assert np.diff(pieces.line_stops, prepend=0).tolist() == [len(line) for line in lines]
        assert pieces.sentence_lines.tolist() == [i for i, line in enumerate(lines) if line]
        assert pieces.sentence_stops.tolist() == pieces.line_stops[pieces.sentence_lines].tolist()

    @settings(max_examples=200, deadline=None)
    @given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
    def test_cut_running_text(self, written):
        abbreviations = {w for a in _ABBREVIATIONS.split() for w in (a, a.capitalize())}
        expected = [
            (number, sentence)
            for number, line in enumerate(naive.lines_of(written))
            for sentence in naive.cut_running_line(line, abbreviations)
        ]
        data = written.encode()
        pieces = cut(data, "text")
        tokens = [
            data[a:b].decode()
            for a, b in zip(pieces.starts.tolist(), pieces.stops.tolist(), strict=True)
        ]
        stops = [0, *pieces.sentence_stops.tolist()]
        found = [
            (line, tokens[a:b])
            for line, a, b in zip(
                pieces.sentence_lines.tolist(), stops[:-1], stops[1:], strict=True
            )
        ]
        assert found == expected
        assert pieces.line_stops.size == len(naive.lines_of(written))

    def test_cut_running_text_on_a_novel(self, alice):
        assert running_text_classes().size == 0x110000
        abbreviations = {w for a in _ABBREVIATIONS.split() for w in (a, a.capitalize())}
        some = alice[:20_000]
        expected = [
            token
            for line in naive.lines_of(some)
            for sentence in naive.cut_running_line(line, abbreviations)
            for token in sentence
        ]
        data = some.encode()
        pieces = cut(data, "text")
        spans = zip(pieces.starts.tolist(), pieces.stops.tolist(), strict=True)
        assert [data[a:b].decode() for a, b in spans] == expected

    @few
    @given(st.lists(st.lists(st.integers(1, 5) | st.just(DROPPED), max_size=5), max_size=8))
    def test_lay_sentences(self, sentences):
        flat = np.array([w for s in sentences for w in s], np.uint32)
        stops = np.cumsum([len(s) for s in sentences]).astype(np.int64)
        tokens, kept, starts = text.lay_sentences(frozen(flat), frozen(stops), np.uint32(DROPPED))
        left = [[w for w in s if w != DROPPED] for s in sentences]
        assert tokens.tolist() == [w for s in left if s for w in [*s, 0]]
        assert kept.tolist() == [i for i, s in enumerate(left) if s]
        assert all(i == 0 or tokens[i - 1] == 0 for i in starts.tolist())

    def test_hash_lines_depends_on_words_and_order_alone(self):
        hashes = hash_texts([b"", b"a", b"b"])
        lines = [[1, 2], [2, 1], [1, DROPPED, 2], [], [1, 2], [1], [DROPPED]]
        flat = np.array([w for line in lines for w in line], np.uint32)
        stops = np.cumsum([len(line) for line in lines]).astype(np.int64)
        found = text.hash_lines(frozen(flat), frozen(stops), frozen(hashes), np.uint32(DROPPED))
        assert found[0] == found[2] == found[4] != found[1]
        assert found[3] == found[6] == 0
        assert len(set(found.tolist())) == 4

    @few
    @given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), max_size=6))
    def test_render_phrases(self, phrases):
        vocabulary = ["", "a", "éé", "ccc"]
        blob = np.frombuffer("".join(vocabulary).encode(), np.uint8)
        offsets = np.cumsum([0, *(len(w.encode()) for w in vocabulary)]).astype(np.uint64)
        flat = np.array([w for p in phrases for w in p], np.uint32)
        lengths = np.array([len(p) for p in phrases], np.int64)
        starts = np.cumsum(lengths) - lengths
        out, ends = text.render_phrases(
            frozen(flat), frozen(starts), frozen(lengths), frozen(blob), frozen(offsets)
        )
        rendered = [out[a:b].tobytes().decode() for a, b in zip(ends[:-1], ends[1:], strict=True)]
        assert rendered == [" ".join(vocabulary[w] for w in p) for p in phrases]

    def test_render_phrases_refuses_an_id_beyond_the_vocabulary(self):
        one = np.array([0, 1], np.int64)
        empty = text.render_phrases(
            frozen(np.array([5], np.uint32)), frozen(one[:1]), frozen(one[1:]),
            frozen(np.empty(0, np.uint8)), frozen(np.zeros(2, np.uint64)),
        )  # fmt: skip
        assert empty[1].size == 0


class TestSuffixes:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("largest", [5, 300, 70_000, 20_000_000])
    def test_suffix_array(self, size, largest):
        tokens = np.random.default_rng(size).integers(0, 4, size).astype(np.uint32)
        tokens[tokens == 3] = largest
        assert build_suffix_array(tokens).tolist() == naive.suffix_array(tokens.tolist())

    @pytest.mark.parametrize("size", SIZES)
    def test_find_intervals(self, size):
        tokens = sentence_tokens(size, size)
        array = build_suffix_array(tokens)
        starts = suffixes.count_words(frozen(tokens), 6)
        assert starts.tolist() == [int(np.count_nonzero(tokens < w)) for w in range(7)]
        draw = random.Random(size)
        phrases = [[draw.randint(-1, 7) for _ in range(draw.randint(1, 3))] for _ in range(60)]
        ids = np.array([w for p in phrases for w in p], np.int64)
        stops = np.cumsum([len(p) for p in phrases]).astype(np.int64)
        lows, highs = np.empty(stops.size, np.int64), np.empty(stops.size, np.int64)
        state = suffixes.find_intervals(
            frozen(tokens), frozen(array), frozen(starts), frozen(ids), frozen(stops), lows, highs
        )
        assert state == 0
        listed = tokens.tolist()
        for phrase, low, high in zip(phrases, lows, highs, strict=True):
            expected = (
                {i for i in range(size) if listed[i : i + len(phrase)] == phrase}
                if min(phrase) >= 0
                else set()
            )
            assert set(array[low:high].tolist()) == expected

    def test_damaged_arrays_are_noticed(self):
        tokens = sentence_tokens(3, 40)
        array = build_suffix_array(tokens)
        rows = np.empty((40, 3), np.uint32)
        wild = array.copy()
        wild[7] = 4_000_000_000
        gather = suffixes.gather_neighbourhoods
        assert gather(frozen(tokens), frozen(wild), 1, 2, 6, rows) == suffixes.DAMAGED
        wild = tokens.copy()
        wild[7] = 4_000_000_000
        assert gather(frozen(wild), frozen(array), 1, 2, 6, rows) == suffixes.DAMAGED
        assert suffixes.count_words(frozen(wild), 6).size == 0
        assert suffixes.hash_sentences(frozen(wild), frozen(np.arange(6, dtype=np.uint64))) == 0
        starts = np.full(7, 4_000_000_000, np.uint32)
        found = np.empty(1, np.int64)
        state = suffixes.find_intervals(
            frozen(tokens), frozen(array), frozen(starts), frozen(np.array([2, 1])),
            frozen(np.array([2])), found, found.copy(),
        )  # fmt: skip
        assert state == suffixes.DAMAGED

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize(("before", "after"), [(0, 1), (2, 4), (3, 0)])
    def test_gather_neighbourhoods(self, size, before, after):
        tokens = sentence_tokens(size, size)
        positions = np.arange(size, dtype=np.uint32)
        rows = np.empty((size, before + after), np.uint32)
        assert suffixes.gather_neighbourhoods(
            frozen(tokens), frozen(positions), before, after, 6, rows
        ) == 0  # fmt: skip
        for i in range(size):
            assert rows[i].tolist() == naive.neighbourhood(tokens.tolist(), i, before, after)

    @pytest.mark.parametrize("size", SIZES)
    def test_runs_are_the_phrases(self, size):
        tokens = sentence_tokens(size, size)
        rows = np.empty((size, 3), np.uint32)
        array = build_suffix_array(tokens)
        suffixes.gather_neighbourhoods(frozen(tokens), frozen(array), 0, 3, 6, rows)
        common = suffixes.common_prefixes(frozen(rows), 0, 3)
        for i in range(1, size):
            same = 0
            while same < 3 and rows[i, same] and rows[i, same] == rows[i - 1, same]:
                same += 1
            assert common[i] == same
        sentences = [s.split() for s in " ".join(map(str, tokens.tolist())).split("0") if s.split()]
        expected = naive.count_ngrams(sentences, 3)
        for min_count in (1, 2, 3):
            found = {}
            for length in (1, 2, 3):
                chunk = PhraseChunk(rows, common, 0)
                for low, high in zip(*chunk.runs(length, min_count), strict=True):
                    found[tuple(map(str, rows[low, :length].tolist()))] = high - low
            assert found == {p: c for p, c in expected.items() if c >= min_count}

    @few
    @given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2))), st.integers(0, 20))
    def test_merge_rows(self, rows, split):
        a, b = sorted(rows[:split]), sorted(rows[split:])
        out = np.empty((len(rows), 2), np.uint32)
        suffixes.merge_rows(
            frozen(np.array(a, np.uint32).reshape(-1, 2)),
            frozen(np.array(b, np.uint32).reshape(-1, 2)), 0, 2, out,
        )  # fmt: skip
        assert [tuple(r) for r in out.tolist()] == sorted(rows)

    def test_count_disorder(self):
        tokens = sentence_tokens(5, 50)
        array = build_suffix_array(tokens)
        assert suffixes.count_disorder(frozen(tokens), frozen(array), 60) == 0
        array[[10, 40]] = array[[40, 10]]
        assert suffixes.count_disorder(frozen(tokens), frozen(array), 60) > 0


def as_dicts(starts, features, counts):
    """Sparse rows as dictionaries; no feature stands twice in a row."""
    found = []
    for begin, end in pairwise(starts.tolist()):
        row = dict(zip(features[begin:end].tolist(), counts[begin:end].tolist(), strict=True))
        assert len(row) == end - begin
        found.append(row)
    return found


# Words counted by sides, and by positions.
SPANS = pytest.mark.parametrize(("wide", "narrow"), [(0, 1), (0, 3), (1, 0), (4, 0), (4, 2)])


class TestContexts:
    @pytest.mark.parametrize("n_rows", SIZES)
    @SPANS
    def test_count_around(self, n_rows, wide, narrow):
        n_words, window = 5, max(wide, narrow)
        draw = np.random.default_rng(n_rows)
        rows = draw.integers(0, n_words, (n_rows, 2 * window + 2)).astype(np.uint32)
        lows, highs = np.array([0, n_rows // 3]), np.array([n_rows // 3, n_rows])
        seen = np.zeros(n_words, np.uint32)
        found = contexts.count_around(
            frozen(rows), frozen(lows), frozen(highs), window, 2, wide, narrow, n_words, seen
        )
        assert not seen.any()
        expected = []
        for low, high in zip(lows.tolist(), highs.tolist(), strict=True):
            counted = Counter()
            for row in rows[low:high].tolist():
                left, right = row[:window][::-1], row[window + 2 :]
                for distance in range(window):
                    for side, word in enumerate((left[distance], right[distance])):
                        if word and distance < wide:
                            counted[side * n_words + word] += wide - distance
                        if word and distance < narrow:
                            family = 2 * (wide > 0) + 2 * distance + side
                            counted[family * n_words + word] += 1
            expected.append(dict(counted))
        assert as_dicts(*found) == expected

    @pytest.mark.parametrize("size", SIZES)
    @SPANS
    def test_count_beside(self, size, wide, narrow):
        tokens, n_words = sentence_tokens(size, size), 8
        array = build_suffix_array(tokens)
        for phrase in ([], [2], [1, 2]):
            stands = [
                at for at in array.tolist() if tokens[at : at + len(phrase)].tolist() == phrase
            ]
            expected = naive.beside(tokens.tolist(), stands, len(phrase), wide, narrow, n_words)
            seen = np.zeros(((2 if wide else 0) + 2 * narrow) * n_words, np.uint32)
            features = np.empty(2 * (wide + narrow) * len(stands) + 1, np.uint32)
            n = contexts.count_beside(
                frozen(tokens), frozen(np.array(stands, np.uint32)), len(phrase), wide, narrow,
                n_words, seen, features,
            )  # fmt: skip
            found = features[:n].tolist()
            assert {feature: int(seen[feature]) for feature in found} == expected
            assert len(set(found)) == n

    @pytest.mark.parametrize("size", SIZES)
    @SPANS
    def test_count_beside_words_and_add_rows(self, size, wide, narrow):
        """Two parts of a text."""
        n_words, words = 8, range(1, 8)
        texts = [sentence_tokens(size, seed) for seed in (size, size + 1)]
        seen = np.zeros(((2 if wide else 0) + 2 * narrow) * n_words, np.uint32)
        rows, all_expected = [], []
        for tokens in texts:
            stands = [np.flatnonzero(tokens == word) for word in words]
            ends = np.cumsum([0, *map(len, stands)])
            found = contexts.count_beside_words(
                frozen(tokens), frozen(np.concatenate(stands).astype(np.uint32)), frozen(ends),
                wide, narrow, n_words, seen,
            )  # fmt: skip
            expected = [
                naive.beside(tokens.tolist(), at.tolist(), 1, wide, narrow, n_words)
                for at in stands
            ]
            assert as_dicts(*found) == expected and not seen.any()
            rows.append(found)
            all_expected.append(expected)
        starts = np.stack([rows[0][0], rows[1][0] + rows[0][1].size])
        features, counts = (np.concatenate([row[k] for row in rows]) for k in (1, 2))
        summed = contexts.add_rows(*map(frozen, (starts, features, counts)), seen)
        both = [dict(Counter(a) + Counter(b)) for a, b in zip(*all_expected, strict=True)]
        assert as_dicts(*summed) == both and not seen.any()

    def test_count_beside_words_stays_inside(self):
        tokens = frozen(np.array([1, 9, 0], np.uint32))
        for place in (3, 0):
            starts, _, _ = contexts.count_beside_words(
                tokens, frozen(np.array([place], np.uint32)), frozen(np.array([0, 1])), 0, 1,
                8, np.zeros(16, np.uint32),
            )  # fmt: skip
            assert not starts.size

    def test_count_beside_stays_inside(self):
        tokens, beyond = frozen(np.array([1, 9, 0], np.uint32)), frozen(np.array([3], np.uint32))
        arguments = 1, 0, 1, 8, np.zeros(16, np.uint32), np.empty(2, np.uint32)
        assert contexts.count_beside(tokens, beyond, *arguments) == suffixes.DAMAGED
        zero = frozen(np.array([0], np.uint32))
        assert contexts.count_beside(tokens, zero, *arguments) == suffixes.DAMAGED

    @few
    @given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 500), st.integers(0, 2000))
    def test_log_likelihood_ratio(self, both, more_row, more_column, rest):
        row, column = both + more_row, both + more_column
        total = row + column - both + rest
        found = contexts.log_likelihood_ratio(float(both), row, column, total)
        assert found == pytest.approx(naive.g2(both, row, column, total), abs=1e-9)

    def test_log_likelihood_ratio_with_margins_that_contradict(self):
        # A word's count can be below the places it fills: cells are clipped, never NaN.
        assert contexts.log_likelihood_ratio(5.0, 5.0, 3.0, 100.0) > 0
        assert contexts.log_likelihood_ratio(1.0, 50.0, 50.0, 60.0) == 0

    @few
    @given(
        st.dictionaries(st.integers(0, 9), st.floats(0, 10)),
        st.dictionaries(st.integers(0, 9), st.floats(0, 10)),
    )
    def test_cosine(self, a, b):
        def arrays(d):
            keys = sorted(d)
            return frozen(np.array(keys, np.uint32)), frozen(np.array([d[k] for k in keys]))

        found = contexts.cosine(*arrays(a), *arrays(b))
        expected = naive.cosine(a, b)
        assert found == -2 if expected is None else found == pytest.approx(expected, abs=1e-9)


class TestProjection:
    @pytest.mark.parametrize("n_features", SIZES)
    def test_project_and_cut_bits(self, n_features):
        draw = np.random.default_rng(n_features)
        vectors = (np.round(draw.normal(size=500) * 4096) / 4096).astype(np.float32)
        offsets = draw.integers(0, 500 - 64, 20).astype(np.uint32)
        features = draw.integers(0, 20, n_features).astype(np.uint32)
        weights = draw.exponential(3, n_features)
        starts = np.array([0, n_features // 2, n_features])
        sums = np.empty((2, 64))
        projection.project(
            frozen(starts), frozen(features), frozen(weights), frozen(offsets), frozen(vectors),
            1.0, float(np.abs(vectors).max()), sums,
        )  # fmt: skip
        bits = np.empty((2, 1), np.uint64)
        some = projection.cut_bits(frozen(sums), bits)
        for p in range(2):
            exact = [naive.Fraction(0)] * 64
            for f in range(starts[p], starts[p + 1]):
                for i in range(64):
                    entry = naive.Fraction(float(vectors[offsets[features[f]] + i]))
                    exact[i] += naive.round_weight(weights[f]) * entry
            assert [naive.Fraction(float(s)) for s in sums[p]] == exact
            assert int(bits[p, 0]) == sum(1 << i for i in range(64) if exact[i] > 0)
            assert some[p] == any(exact)

    def test_sums_do_not_depend_on_order_even_for_huge_weights(self):
        draw = np.random.default_rng(1)
        vectors = (np.round(draw.normal(size=300) * 4096) / 4096).astype(np.float32)
        weights = draw.exponential(1e7, 2000)
        features = draw.integers(0, 200, 2000).astype(np.uint32)
        offsets = np.arange(200, dtype=np.uint32)
        results = []
        for order in (np.arange(2000), np.arange(2000)[::-1], draw.permutation(2000)):
            sums = np.empty((1, 64))
            projection.project(
                frozen(np.array([0, 2000])), frozen(features[order]), frozen(weights[order]),
                frozen(offsets), frozen(vectors), 1.0, 6.0, sums,
            )  # fmt: skip
            results.append(sums.tobytes())
        assert len(set(results)) == 1

    def test_permute_texts(self):
        data = np.frombuffer("aébbccc".encode(), np.uint8)
        starts = np.array([0, 1, 3, 5, 5, 8])
        order = np.array([4, 0, 3, 1])
        out, ends = tables.permute_texts(frozen(data), frozen(starts), frozen(order))
        pieces = [out[a:b].tobytes().decode() for a, b in zip(ends[:-1], ends[1:], strict=True)]
        assert pieces == ["ccc", "a", "", "é"]
