"""The corpus index: every answer against a plain count, on one shard and on many."""

import itertools
import os
import pickle
import random
import shutil
from collections import Counter

import numpy as np
import pytest

from distsim import CorpusIndex, IndexOptions, ParameterError, storage
from distsim.base.errors import ArtifactError, InputError
from distsim.corpus import Normaliser
from distsim.corpus.documents import Document
from distsim.corpus.sources import Source
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes import build as build_module
from distsim.indexes.build import build_index
from distsim.indexes.shard import MAX_TOKENS
from distsim.output.verification import find_faults
from tests.conftest import random_sentences, write_lines
from tests.naive import core as naive


def build(tmp_path, sentences, name="index", **options) -> CorpusIndex:
    corpus = write_lines(tmp_path / f"{name}.txt", sentences)
    return CorpusIndex.build([corpus], tmp_path / name, options=IndexOptions(**options))


@pytest.fixture(params=["built", "reopened"])
def index(request, small_index):
    return small_index if request.param == "built" else CorpusIndex.open(small_index.path)


def test_texts_in_memory_give_the_bytes_of_their_file(tmp_path, monkeypatch):
    texts = ["Hello, Alice.\n\nAlice ran.\r\nShe ran.", "", " \n", "He said: go!"]
    (tmp_path / "texts").write_text("Hello, Alice.\nAlice ran.\nShe ran.\n\nHe said: go!\n\n")
    index = CorpusIndex.from_texts((one for one in texts), tmp_path / "of texts")
    file = CorpusIndex.build(tmp_path / "texts", tmp_path / "of file", options=IndexOptions("text"))
    ours, theirs = (one._artifact.manifest["arrays"] for one in (index, file))
    differ = {name for name in ours if ours[name] != theirs[name]}  # for blank lines and \r
    assert differ == {"shard-0/text", "shard-0/text_starts"}
    index = CorpusIndex.from_texts(["One.\nTwo.", "Three."], tmp_path / "of texts", force=True)
    (tmp_path / "texts").write_text("One.\nTwo.\n\nThree.\n\n")
    same = CorpusIndex.build(tmp_path / "texts", tmp_path / "same", options=IndexOptions("text"))
    assert index.checksum == same.checksum
    assert index.parameters["counts"]["documents"] == 2
    assert index.concordance("two")[0].source == "texts"
    for wrong, said in (
        ("one text", "give a list"), (5, "give a list"), (["a", 2.5], r"texts\[1\]: is 2.5"),
        (["a", None], "is None, wanted a text .* leave it out"),
        ({"train": ["a"]}, "is a dict of train: give one of these"),
        (["a", "\ud800"], r"texts\[1\]: '.ud800' is half"), ([], "no token"),
    ):  # fmt: skip
        with pytest.raises((InputError, ParameterError), match=said):
            CorpusIndex.from_texts(wrong, tmp_path / "wrong")
    assert not (tmp_path / "wrong").exists()


def test_a_source_of_documents_has_their_lines(tmp_path):
    documents = [Document("One.\n\nTwo.", "a", line=7), Document(" ", line=8), Document("Three.")]
    source = Source("d.jsonl", "", "d.jsonl", documents=lambda _: documents)
    build_index([source], tmp_path / "x", IndexOptions("text"))
    index = CorpusIndex.open(tmp_path / "x")
    assert index.parameters["counts"]["documents"] == 2
    places = [(one.source, one.line) for one in index.concordance(["one", "two", "three"])[1]]
    assert places == [("d.jsonl", 7)]


def test_counts_are_those_of_a_plain_count(index, sentences):
    expected = naive.count_ngrams(sentences, 6)
    phrases = [" ".join(p) for p in expected]
    assert index.count(phrases).tolist() == list(expected.values())
    assert [index.count(p) for p in phrases[:50]] == list(expected.values())[:50]
    assert index.n_tokens == sum(map(len, sentences))


def test_few_look_ups_without_a_kernel_are_those_of_the_kernel(index, sentences, monkeypatch):
    phrases = [" ".join(p) for p in naive.count_ngrams(sentences, 4)][:64]
    asked = [*phrases, "neverseen", f"{phrases[0]} neverseen", " ".join(["a0"] * 50)]

    def answers():
        index._id_of_piece.clear()
        found = [index.positions(phrase).tolist() for phrase in asked]
        lines = [index.concordance(phrase, width=3) for phrase in asked]
        around = [index.neighbourhoods(phrase, 9, 9).tolist() for phrase in asked]
        ids = np.array([3, -1, 1, 1 << 30, 2], np.int64)
        words = [[side.tolist() for side in shard.intervals(ids, np.arange(1, 6))]
                 for shard in index.shards]  # fmt: skip
        return found, lines, [sorted(rows) for rows in around], words

    few = answers()
    for module in ("corpus.vocabulary", "indexes.shard"):
        monkeypatch.setattr(f"distsim.{module}._MAX_WITHOUT_KERNEL", -1)
    assert answers() == few


def test_one_count_is_that_of_many(index, sentences):
    words = {word for sentence in sentences for word in sentence}
    phrases = [*sorted(words), "nowhere", "don't", "w1 nowhere", "W1"]
    phrases += [" ".join(sentence[:n]) for sentence in sentences[:20] for n in (2, 3) if sentence]
    parts = index, index.select(documents=[index.metadata.ids(np.zeros(1, np.int64))[0]])
    for part in parts:
        assert [part.count(one) for one in phrases] == part.count(phrases).tolist()
        ids = [part.vocabulary.find(hash_texts([word.encode() for word in phrase.split()]))
               for phrase in phrases]  # fmt: skip
        for shard in part.shards:
            each = shard.positions_of_each(np.concatenate(ids), np.cumsum([*map(len, ids)]))
            assert [one.tolist() for one in each] == [shard.positions(one).tolist() for one in ids]
    numbers = [index.vocabulary.number(word) for word in phrases]
    hashes = hash_texts([word.encode() for word in phrases])
    assert numbers == index.vocabulary.find(hashes).tolist()


def test_unseen_phrases_count_nothing(index, sentences):
    assert index.count("neverseen") == 0
    assert index.count(f"{sentences[0][0]} neverseen") == 0
    assert index.count(" ".join(["a0"] * 50)) == 0
    assert index.count([]).tolist() == []
    assert index.positions("neverseen").size == 0
    assert index.concordance("neverseen") == []
    assert index.gapped("neverseen _ a0").size == 0


def test_an_empty_phrase_is_refused(index):
    with pytest.raises(ParameterError, match="the phrase is empty"):
        index.count("  ")
    with pytest.raises(ParameterError, match=r"the phrase is empty \(number 2 of 2\)"):
        index.count(["a0", ""])
    with pytest.raises(ParameterError, match="not valid Unicode"):
        index.count("\udcff")


def test_positions_and_concordance(index, sentences):
    stream = list(itertools.chain.from_iterable([*s, None] for s in sentences))
    for phrase in (["a0"], sentences[3][:2], sentences[7][-1:]):
        n = len(phrase)
        expected = [i for i in range(len(stream)) if stream[i : i + n] == phrase]
        assert index.positions(" ".join(phrase)).tolist() == expected
        lines = index.concordance(" ".join(phrase), width=3)
        assert len(lines) == len(expected)
        starts = np.cumsum([0, *(len(s) + 1 for s in sentences)])
        for line, position in zip(lines, expected, strict=True):
            number = int(np.searchsorted(starts, position, "right"))
            sentence, at = sentences[number - 1], position - starts[number - 1]
            assert (line.source, line.line) == ("corpus.txt", number)
            assert line.node.split() == phrase
            assert line.left.split() == sentence[max(0, at - 3) : at]
            assert line.right.split() == sentence[at + n : at + n + 3]
    batch = index.concordance(["a0", "neverseen"], k=2)
    assert [len(lines) for lines in batch] == [2, 0]


def test_concordance_orders_and_samples(index):
    def words(side):
        lines = index.concordance("a0", width=2, order=side)
        return [tuple(getattr(line, side).split()) for line in lines]

    assert words("right") == sorted(words("right"))
    nearest_first = [w[::-1] for w in words("left")]
    assert nearest_first == sorted(nearest_first)
    lines = index.concordance("a0", width=2, order="1R,2L")
    padded = [(["", "", *one.left.split()], [*one.right.split(), ""]) for one in lines]
    keys = [(right[0], left[-2]) for left, right in padded]
    assert keys == sorted(keys) and len(set(keys)) > 5
    for wrong in ("0L", "1l", "1L,2L,1R,2R", "1L,"):
        with pytest.raises(ParameterError, match="up to three places such as 1L,2L,1R"):
            index.concordance("a0", order=wrong)
    everything = index.concordance("a0")
    sample = index.concordance("a0", sample=5)
    assert len(sample) == 5 and set(sample) <= set(everything)
    assert index.concordance("a0", k=0) == []
    with pytest.raises(ParameterError, match="`order` is 'up'"):
        index.concordance("a0", order="up")


def test_gapped(index, sentences):
    words = sorted({w for s in sentences for w in s})
    draw = random.Random(2)
    for _ in range(60):
        parts = [draw.choices(words[:6], k=draw.randint(1, 2)) for _ in range(draw.randint(2, 3))]
        pattern = " _ ".join(" ".join(part) for part in parts)
        for gap in (1, 6):
            expected = set()
            begin = 0
            for sentence in sentences:
                spans = naive.gapped_spans(sentence, parts, gap)
                expected |= {(begin + a, begin + b) for a, b in spans}
                begin += len(sentence) + 1
            assert sorted(expected) == [
                tuple(s) for s in index.gapped(pattern, longest_gap=gap).tolist()
            ]
    line = index.concordance("a0 _ a0", gapped=True, k=1)[0]
    assert line.node.startswith("a0 ") and line.node.endswith(" a0")
    for bad in ("a0", "_ a0", "a0 _", "a0 _ _ a0"):
        with pytest.raises(ParameterError, match="words before and after each _"):
            index.gapped(bad)


def test_ngrams(index, sentences):
    for low, high, least in ((1, 5, 1), (2, 3, 2), (1, 1, 1), (6, 6, 1)):
        expected = naive.count_ngrams(sentences, high)
        expected = {" ".join(p): c for p, c in expected.items() if len(p) >= low and c >= least}
        listed = list(index.ngrams(shortest=low, longest=high, min_count=least))
        assert dict(listed) == expected
        assert len(listed) == len(expected)
    order = [index.vocabulary.find(np.array([h]))[0] for h in index.vocabulary.word_hashes()[1:]]
    assert order == list(range(1, index.n_words))
    with pytest.raises(ParameterError):
        list(index.ngrams(shortest=3, longest=2))


def answers(index: CorpusIndex) -> dict:
    phrases = ["a0", "a0 bé1", "c2", "bé1 a0 c2", "dé3"]
    return {
        "counts": index.count(phrases).tolist(),
        "ngrams": list(index.ngrams(shortest=1, longest=5)),
        "positions": [p.tolist() for p in index.positions(phrases)],
        "contexts": [
            Counter(map(tuple, rows.tolist())) for rows in index.neighbourhoods(phrases, 3, 3)
        ],
        "gapped": [g.tolist() for g in index.gapped(["a0 _ a0", "bé1 _ c2 _ a0"])],
        "lines": [index.concordance(phrases, order=order) for order in ("corpus", "left", "right")],
        "fingerprint": index.parameters["corpus"],
    }


def test_shards_change_no_answer(tmp_path, sentences):
    one = build(tmp_path, sentences, "one")
    many = build(tmp_path, sentences, "many", shard_tokens=len(sentences))
    assert len(one.shards) == 1 and len(many.shards) >= 5
    assert answers(CorpusIndex.open(one.path)) == {
        **answers(many),
        "lines": [
            [[line._replace(source="one.txt") for line in lines] for lines in order]
            for order in answers(many)["lines"]
        ],
    }
    assert find_faults(many.path) == []


def test_adding_text_is_building_with_it(tmp_path, sentences):
    first = write_lines(tmp_path / "a.txt", sentences[:20])
    rest = [write_lines(tmp_path / f"{n}.txt", sentences[n:stop])
            for n, stop in ((20, 21), (21, 60))]  # fmt: skip
    options = IndexOptions(dedup="exact")
    whole = CorpusIndex.build([first, *rest], tmp_path / "whole", options=options)
    grown = CorpusIndex.build([first], tmp_path / "grown", options=options)
    for file in rest:
        grown = grown.add([file])
    assert answers(whole) == answers(grown)
    assert whole.parameters["counts"] == grown.parameters["counts"]
    assert find_faults(grown.path) == []


def test_a_sentence_longer_than_a_shard_has_one_to_itself(tmp_path):
    long = [["w"] * 50]
    index = build(tmp_path, [["a", "b"], *long, ["c"]], shard_tokens=10)
    assert [shard.tokens.size for shard in index.shards] == [3, 51, 2]
    assert index.count("w w w") == 48


def test_a_sentence_of_a_hundred_thousand_tokens(tmp_path):
    index = build(tmp_path, [[f"w{i % 1000}" for i in range(100_000)]])
    assert index.count("w1 w2 w3") == 100
    assert index.count("w999 w0") == 99


@pytest.mark.parametrize("text", ["word", "word\n", "\n\n word \n"])
def test_a_corpus_of_one_token(tmp_path, text):
    (tmp_path / "one.txt").write_text(text)
    index = CorpusIndex.build([tmp_path / "one.txt"], tmp_path / "index")
    assert index.count("word") == 1
    assert list(index.ngrams()) == [("word", 1)]
    assert index.concordance("word")[0].left == ""
    assert find_faults(index.path) == []


@pytest.mark.parametrize("text", ["", "\n\n", " \t\n"])
def test_an_empty_corpus_is_refused_and_nothing_left(tmp_path, text):
    (tmp_path / "empty.txt").write_text(text)
    with pytest.raises(InputError, match=r"empty\.txt: no token in the corpus: nothing to index"):
        CorpusIndex.build([tmp_path / "empty.txt"], tmp_path / "index")
    assert [p.name for p in tmp_path.iterdir()] == ["empty.txt"]


def test_dedup_drops_lines_whose_words_were_seen(tmp_path):
    (tmp_path / "a.txt").write_text("One  two\nthree\none two\n\nTHREE\nthree one\n")
    options = IndexOptions(dedup="exact")
    index = CorpusIndex.build([tmp_path / "a.txt"], tmp_path / "index", options=options)
    counts = index.parameters["counts"]
    assert (counts["lines"], counts["dropped_lines"], counts["dropped_tokens"]) == (5, 2, 3)
    assert index.count(["one two", "three", "three one"]).tolist() == [1, 2, 1]
    more = [tmp_path / "a.txt", write_lines(tmp_path / "b.txt", [["new", "words"]])]
    again = index.add(more, again=True)
    assert again.parameters["counts"]["dropped_lines"] == 7
    assert again.count("three one") == 1


def test_documents_are_parted_by_blank_lines_and_files(tmp_path):
    (tmp_path / "a.txt").write_text("\na b\nc\n\n\nd\n")
    (tmp_path / "b.txt").write_text("e\n")
    index = CorpusIndex.build([tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path / "index")
    assert index.parameters["counts"]["documents"] == 3
    assert index.shards[0].document_starts.tolist() == [0, 2, 3]
    assert [line.source for line in index.concordance("e")] == ["b.txt"]
    assert index.concordance("d")[0].line == 6


def test_running_text_is_found_as_printed_and_as_typed(tmp_path):
    (tmp_path / "t.txt").write_text("The king's men don't run. “Don't!” said Mr. Bean.\n")
    index = CorpusIndex.build(
        [tmp_path / "t.txt"], tmp_path / "index", options=IndexOptions("text")
    )
    assert index.count(["king's", "king 's", "don't", "don 't", "Mr. Bean"]).tolist() == [
        1,
        1,
        2,
        2,
        1,
    ]
    assert index.words("the king's") == ["the", "king", "'s"]
    assert index.count("run .") == index.count("run.") == 1
    for phrase, count in index.ngrams(shortest=1, longest=4):
        assert index.count(phrase) == count


def test_the_normaliser_serves_text_and_queries(tmp_path):
    (tmp_path / "t.txt").write_text("Cafe\u0301 in 1984 , in 2015 !\n")
    folding = Normaliser(fold_numbers=True, drop_punctuation=True)
    index = CorpusIndex.build(
        [tmp_path / "t.txt"], tmp_path / "index", options=IndexOptions(normaliser=folding)
    )
    assert index.count(["CAFÉ", "in 3333", "1984 in", "1984 , in", "!"]).tolist() == [1, 2, 1, 1, 0]
    assert CorpusIndex.open(index.path).options.normaliser == folding
    kept = CorpusIndex.build([tmp_path / "t.txt"], tmp_path / "kept",
                             options=IndexOptions(normaliser=Normaliser(lower=False)))  # fmt: skip
    assert kept.count(["café", "Café"]).tolist() == [0, 1]


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_builds_are_byte_identical(tmp_path, jobs):
    sentences = random_sentences(4, 400)
    corpus = write_lines(tmp_path / "c.txt", sentences)
    options = IndexOptions(dedup="exact", shard_tokens=700)
    for name, n in (("one", 1), ("other", jobs)):
        CorpusIndex.build([corpus], tmp_path / name, options=options, jobs=n)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "other")


def bytes_of(folder) -> dict[str, bytes]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(one.relative_to(folder)): one.read_bytes() for one in files}


def files_below(folder) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("where", ["new", "replaced", "added"])
def test_a_stopped_build_goes_on_with_its_sorted_shards(
    tmp_path, sentences, monkeypatch, end, where
):
    """Interrupted, or killed: SystemExit ends a child process on the spot; the bytes are equal."""
    n = len(sentences)
    texts = [write_lines(tmp_path / f"{m}.txt", sentences[m * n // 2 :][: n // 2]) for m in (0, 1)]
    options = IndexOptions(shard_tokens=sum(map(len, sentences)) // 8)
    path = tmp_path / "folder" / "index"
    path.parent.mkdir()

    def made(text=texts[1]):
        if where == "added":
            CorpusIndex.open(path).add(text)
        else:
            CorpusIndex.build(text, path, options=options, force=True)

    def prepared(target):
        if where != "new":
            CorpusIndex.build(texts[0], target, options=options)

    sort, sorted_ = build_module.build_suffix_array, []

    def counted(tokens):
        sorted_.append(tokens)
        return sort(tokens)

    prepared(path)
    monkeypatch.setattr(build_module, "build_suffix_array", counted)
    made()
    n_sorted = len(sorted_)
    wanted, files = bytes_of(path), files_below(path.parent)
    shutil.rmtree(path)
    prepared(path)
    sorted_.clear()

    def stopped(tokens):
        if len(sorted_) == 3:
            if end is SystemExit:
                os._exit(9)
            raise end
        return counted(tokens)

    monkeypatch.setattr(build_module, "build_suffix_array", stopped)
    if end is SystemExit:
        child = os.fork()
        if not child:
            made()
            os._exit(0)
        assert os.waitpid(child, 0)[1] >> 8 == 9
    else:
        with pytest.raises(end):
            made()
    assert storage.keeps_pieces(path)
    monkeypatch.setattr(build_module, "build_suffix_array", counted)
    sorted_.clear()
    made()
    assert len(sorted_) == n_sorted - 3 > 0 and bytes_of(path) == wanted
    assert files_below(path.parent) == files and not storage.keeps_pieces(path)


def test_sorted_shards_of_another_text_or_damaged_ones_are_not_taken(
    tmp_path, sentences, monkeypatch
):
    mine, other = (write_lines(tmp_path / f"{m}.txt", sentences[m::2]) for m in (0, 1))
    n = sum(map(len, sentences)) // 12
    options, path = IndexOptions(shard_tokens=n), tmp_path / "index"
    wanted = bytes_of(CorpusIndex.build(mine, tmp_path / "whole", options=options).path)
    sort, calls = build_module.build_suffix_array, []

    def stopped(tokens):
        calls.append(tokens)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return sort(tokens)

    def damage():
        for file in tmp_path.glob(".index.unfinished/shard-0-suffixes*"):
            data = bytearray(file.read_bytes())
            data[9] ^= 1
            file.write_bytes(data)

    for text, between in ((other, int), (mine, damage)):
        calls.clear()
        monkeypatch.setattr(build_module, "build_suffix_array", stopped)
        with pytest.raises(KeyboardInterrupt):
            CorpusIndex.build(text, path, options=options)
        between()
        monkeypatch.setattr(build_module, "build_suffix_array", sort)
        assert storage.keeps_pieces(path)
        assert bytes_of(CorpusIndex.build(mine, path, options=options).path) == wanted
        shutil.rmtree(path)
    calls.clear()
    monkeypatch.setattr(build_module, "build_suffix_array", stopped)
    with pytest.raises(KeyboardInterrupt):
        CorpusIndex.build(mine, path, options=options)
    with pytest.raises(InputError):  # an error leaves nothing
        CorpusIndex.build(write_lines(tmp_path / "none.txt", []), path, options=options)
    assert not storage.keeps_pieces(path) and not path.exists()


def test_options_out_of_range_are_refused():
    with pytest.raises(
        ParameterError, match=f"`shard_tokens`: is 600000000, choose 2 to {MAX_TOKENS:,}"
    ):
        IndexOptions(shard_tokens=600_000_000)
    with pytest.raises(ParameterError, match="choose lines or text"):
        IndexOptions(text_format="pdf")
    with pytest.raises(ParameterError, match="choose one of off, exact"):
        IndexOptions(dedup="some")


def test_one_path_or_many_of_any_type(tmp_path, monkeypatch):
    file = write_lines(tmp_path / "a.txt", [["a", "b"]])
    for corpus in (str(file), file, [str(file)], (file,), iter([file]), {file: 1}):
        index = CorpusIndex.build(corpus, str(tmp_path / "index"), force=True)
        assert index.count("a b") == 1
    for corpus, wanted in (
        (7, r"corpus: is 7 \(int\), wanted a path or paths"),
        ([file, None], r"corpus\[1\]: is None, wanted a path"),
        (b"a.txt", r"corpus: is b'a.txt' \(bytes\), wanted a path"),
        ([], "corpus: is empty"),
        ("", "corpus: is an empty text, wanted a path"),
        ("a\0b", "cannot hold a NUL"),
    ):
        with pytest.raises(ParameterError, match=wanted):
            CorpusIndex.build(corpus, tmp_path / "other")
        with pytest.raises(ParameterError, match=wanted):
            index.add(corpus)
    with pytest.raises(ParameterError, match=r"path: is 3 \(int\)"):
        CorpusIndex.open(3)


@pytest.mark.parametrize("bad", [None, float("nan"), b"a0", 7, ["a0"]])
def test_what_is_no_phrase_is_refused_by_its_place(index, bad):
    for ask in (
        index.count, index.positions, index.words, index.concordance,
        lambda phrases: index.neighbourhoods(phrases, 1, 1),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=r"phrase\[1\]: is .*, wanted a text \(str\)"):
            ask(["a0", bad])
        if not isinstance(bad, list):
            with pytest.raises(ParameterError, match="phrase: is "):
                ask(bad)
    for options in ({"width": 2.5}, {"k": "3"}, {"sample": True}, {"width": -1}):
        with pytest.raises(ParameterError, match=f"^`{next(iter(options))}`: is "):
            index.concordance("a0", **options)


def test_an_index_as_a_python_object(index, sentences):
    words = list(dict.fromkeys(word for sentence in sentences for word in sentence))
    assert list(index) == words and len(index) == len(words)
    assert " ".join(sentences[0][:2]) in index and "neverseen" not in index
    assert repr(index) == f"<CorpusIndex of {index.n_tokens:,} tokens at {str(index.path)!r}>"
    again = pickle.loads(pickle.dumps(index))
    assert again.count("a0") == index.count("a0")
    with CorpusIndex.open(index.path) as opened:
        assert opened.count("a0") == index.count("a0")
    with pytest.raises(ParameterError, match="the index was closed: open it again"):
        opened.count("a0")
    kept = pickle.dumps(index)
    index.add([write_lines(index.path.parent / "more.txt", [["x"]])])
    with pytest.raises(ArtifactError, match="was changed since it was opened: open it again"):
        pickle.loads(kept)


def test_an_index_in_the_folder_of_its_text(tmp_path):
    """Built again and added to, it takes the text alone, not its own arrays."""
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("a b\n")
    path = tmp_path / "texts" / "x.index"
    for _ in range(2):
        assert CorpusIndex.build([tmp_path / "texts"], path, force=True).n_tokens == 2
    (tmp_path / "texts" / "b.txt").write_text("c d e\n")
    assert CorpusIndex.open(path).add([tmp_path / "texts"]).n_tokens == 5


def test_the_checksum_of_a_text_is_that_of_its_sentences(tmp_path):
    """Whatever their order and the shards; not of the same words in another order."""
    lines = ["a b", "b a c", "a b", "c", "a b c d"]
    found = []
    for number, some in enumerate((lines, lines[::-1], lines[:2], ["b a", *lines[1:]])):
        text = write_lines(tmp_path / f"{number}.txt", some)
        options = IndexOptions("lines", shard_tokens=4 if number == 1 else 1 << 20)
        index = CorpusIndex.build([text], tmp_path / f"{number}.index", options=options)
        found.append(index.text_checksum)
    assert found[0] == found[1] and len(set(found)) == 3


@pytest.mark.parametrize("command", ["count", "kwic", "contexts", "ngrams"])
def test_several_indexes_are_refused(small_index, tmp_path, run, command):
    again = CorpusIndex.build(
        write_lines(tmp_path / "t", [["a0"]]), tmp_path / "again", options=IndexOptions()
    )
    phrase = [] if command == "ngrams" else ["a0"]
    _, err = run(command, small_index.path, again.path, *phrase, status=2)
    said = {"contexts": "takes one source", "ngrams": "unexpected extra argument"}
    assert said.get(command, "ask one index at a time") in err


@pytest.mark.parametrize("words", ["a", ".", ". b é — x. .. 1 、 日 -", ".. ... ...."])
def test_words_without_letter_or_digit(tmp_path, words):
    vocabulary = CorpusIndex.build(
        [write_lines(tmp_path / "text", [words.split()])], tmp_path / "index"
    ).vocabulary
    wanted = [
        i
        for i, word in enumerate(vocabulary.all_words())
        if word in {*".-—、", "..", "...", "...."}
    ]
    assert vocabulary.without_letters().tolist() == wanted
