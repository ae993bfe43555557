"""Lists of phrases and dispersion against plain counts: one shard, and several."""

import random
from collections import Counter

import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes import phrase_lists
from distsim.indexes.phrase_lists import list_phrases

DOCUMENTS = ["a b a c\na b .", "c a b\nb a", "a . b", "d d"]
SENTENCES = [[line.split() for line in one.splitlines()] for one in DOCUMENTS]


@pytest.fixture(params=["one", "shards"])
def index(request, tmp_path) -> CorpusIndex:
    # A shard of 6 tokens ends within the first document.
    options = IndexOptions(shard_tokens=6 if request.param == "shards" else 1000)
    (tmp_path / "text.txt").write_text("\n\n".join(DOCUMENTS) + "\n")
    return CorpusIndex.build(tmp_path / "text.txt", tmp_path / "index", options=options)


def plain(shortest, longest):
    """Each phrase with its count by document, and the tokens of each document."""
    counts: dict[str, Counter] = {}
    for number, document in enumerate(SENTENCES):
        for words in document:
            for n in range(shortest, longest + 1):
                for i in range(len(words) - n + 1):
                    counts.setdefault(" ".join(words[i : i + n]), Counter())[number] += 1
    return counts, [sum(map(len, document)) for document in SENTENCES]


@pytest.mark.parametrize("containing", [None, "a", "a b"])
def test_lists_are_those_of_a_plain_count(index, containing, monkeypatch):
    counts, sizes = plain(1, 3)
    words = containing.split() if containing else []
    wanted = {
        phrase: found for phrase, found in counts.items()
        if not words or any(
            phrase.split()[i : i + len(words)] == words for i in range(len(phrase.split()))
        )
    }  # fmt: skip
    listed = list_phrases(index, lengths=(1, 3), containing=containing, k=None)
    # The same in parts: of a few occurrences, by ranges of first words.
    with monkeypatch.context() as small:
        small.setattr(phrase_lists, "_CLUSTER_SPANS", 2)
        small.setattr(phrase_lists, "_CLUSTER_ROWS", 3)
        assert list_phrases(index, lengths=(1, 3), containing=containing, k=None) == listed
    assert {one.phrase for one in listed} == set(wanted) and len(listed) == len(wanted)
    assert [one.times for one in listed] == sorted((one.times for one in listed), reverse=True)
    total = sum(sizes)
    for one in listed:
        found = wanted[one.phrase]
        times = found.total()
        shares = [(found[d] / times, size / total) for d, size in enumerate(sizes)]
        dp = sum(abs(v - s) for v, s in shares) / 2
        assert (one.times, one.documents) == (times, len(found))
        assert one.per_million == pytest.approx(times / total * 1e6)
        assert one.dp == pytest.approx(dp)
        assert one.dp_norm == pytest.approx(dp / (1 - min(sizes) / total))
    assert listed[:3] == list_phrases(index, lengths=(1, 3), containing=containing, k=3)
    some = list_phrases(index, lengths=(1, 3), containing=containing, min_documents=2, k=2)
    assert some == [one for one in listed if one.documents >= 2][:2]


def test_stop_words_and_punctuation_are_left_out(index):
    listed = list_phrases(index, lengths=(1, 2), stop=["b", "zeppelin"], words_only=True, k=None)
    assert {one.phrase for one in listed} == {"a", "c", "d", "a c", "c a", "d d"}
    with pytest.raises(ParameterError, match="'a b' has 2 words, phrases of up to 1 are listed"):
        list_phrases(index, containing="a b")


def test_gries_example_worked_by_hand(tmp_path):
    # Three documents of equal size; shares of the word 1/2, 1/2 and 0: DP = 1/3, of at most 2/3.
    (tmp_path / "t.txt").write_text("a x\n\na x\n\nx x\n")
    index = CorpusIndex.build(tmp_path / "t.txt", tmp_path / "index")
    found = {one.phrase: one for one in list_phrases(index)}
    assert (found["a"].dp, found["a"].dp_norm) == (pytest.approx(1 / 3), pytest.approx(1 / 2))


def test_commands_print_them(run, index, tmp_path):
    path = index.path
    index = CorpusIndex.open(path)
    (tmp_path / "stop.txt").write_text("b\n\n")
    out, _ = run("ngrams", path, "-n", "1", "--stop", tmp_path / "stop.txt", "--limit", 1)
    assert out == f"a\t{index.count('a')}\n"
    out, _ = run("ngrams", path, "-n", "2", "--containing", "a", "--spread", "--json")
    assert '"per_million"' in out and '"count"' in out
    out, _ = run("count", path, "a", "zeppelin", "--spread")
    first, second = (line.split("\t") for line in out.splitlines())
    (listed,) = (one for one in list_phrases(index) if one.phrase == "a")
    assert first[1:4] == [str(listed.times), f"{listed.per_million:.6f}", str(listed.documents)]
    assert second[1:] == ["0", "0.000000", "0", "NA", "NA"]


def test_phrases_around_a_frequent_word_are_counted_in_parts(tmp_path, monkeypatch):
    rng = random.Random(1)
    lines = [" ".join(rng.choices("abcde", k=rng.randint(1, 12))) for _ in range(300)]
    (tmp_path / "text.txt").write_text("".join(f"{line}\n" for line in lines))
    options = IndexOptions("lines", shard_tokens=700)
    index = CorpusIndex.build(tmp_path / "text.txt", tmp_path / "index", options=options)
    counts = Counter(
        " ".join(words[i : i + n])
        for words in map(str.split, lines) for n in (2, 3, 4) for i in range(len(words) - n + 1)
        if "a" in words[i : i + n]
    )  # fmt: skip
    sizes = []
    counted = phrase_lists._counted
    monkeypatch.setattr(
        phrase_lists, "_counted", lambda rows: (sizes.append(len(rows)), counted(rows))[1]
    )
    monkeypatch.setattr(phrase_lists, "_CLUSTER_ROWS", 200)
    monkeypatch.setattr(phrase_lists, "_CLUSTER_SPANS", 50)
    listed = list_phrases(index, lengths=(2, 4), containing="a", k=None)
    assert {row.phrase: row.times for row in listed} == counts
    ids = dict(
        zip(
            "abcde",
            index.vocabulary.find(hash_texts([*map(str.encode, "abcde")])).tolist(),
            strict=True,
        )
    )
    order = [
        (-row.times, len(row.phrase), [ids[word] for word in row.phrase.split()]) for row in listed
    ]
    assert order == sorted(order)
    assert sum(sizes) == counts.total() and max(sizes) < 500 < sum(sizes)
