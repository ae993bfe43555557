"""Phrase tables augmented with paraphrases: the paper's example, both layouts, order, errors."""

import gzip
import math
import os
import threading

import pytest

from distsim import InputError, ParameterError, augment_phrase_table
from distsim.paraphrase.augment import AugmentOptions, aggregate

OLD = """\
a abandonar el ||| to leave the ||| (0) (1) (2) ||| (0) (1) (2) ||| 0.714286 0.0365803 1 0.291936 2.718
llegó a el acuerdo de mantener el ||| to leave the ||| (1) (0) ( ) ( ) ( ) (2) ||| (1) (0) (6) ||| 0.142857 7.32192e-12 0.2 0.0636951 2.718
que abandonar el ||| to leave the ||| (0) (1) (2) ||| (0) (1) (2) ||| 0.142857 0.00794395 1 0.0508198 2.718
"""  # noqa: E501
PARAPHRASES = """\
a disponer de los\t1\ta abandonar el\t.74\t9\t3
a disponer de los\t2\tque abandonar el\t.68\t9\t3
a disponer de los\t3\tllegó a el acuerdo de mantener el\t.35\t9\t3
"""


@pytest.fixture
def files(tmp_path):
    def write(table: str, paraphrases: str):
        (tmp_path / "table").write_text(table, encoding="utf-8")
        (tmp_path / "paraphrases").write_text(paraphrases, encoding="utf-8")
        return tmp_path / "table", tmp_path / "paraphrases", tmp_path / "new"

    return write


@pytest.mark.parametrize(
    ("method", "value"), [("best", 0.74), ("add", 1.77), ("average", 0.59), ("update", 0.94592)]
)
def test_aggregates_of_the_papers_example(method, value):
    assert aggregate([0.74, 0.68, 0.35], method) == pytest.approx(value)
    assert aggregate([0.35, 0.74, 0.68], method) == aggregate([0.74, 0.68, 0.35], method)


@pytest.mark.parametrize(
    ("method", "text"),
    [("best", "0.74"), ("add", "1.77"), ("average", "0.59"), ("update", "0.94592")],
)
def test_the_papers_example_in_the_older_layout(files, method, text):
    table, paraphrases, new = files(OLD, PARAPHRASES)
    report = augment_phrase_table(table, paraphrases, new, options=AugmentOptions(method=method))
    lines = new.read_text(encoding="utf-8").splitlines()
    assert lines[1] == (
        "a disponer de los ||| to leave the ||| ( ) ( ) ( ) ( ) ||| ( ) ( ) ( ) ||| "
        f"0.714286 0.0365803 1 0.291936 2.718 {text}"
    )
    assert [line + " 1" for line in OLD.splitlines()] == [lines[0], *lines[2:]]
    assert (report.old_entries, report.new_entries, report.n_scores) == (3, 1, 5)


def test_none_keeps_every_path_with_its_own_scores(files):
    table, paraphrases, new = files(OLD, PARAPHRASES)
    augment_phrase_table(table, paraphrases, new, options=AugmentOptions(method="none"))
    added = [line for line in new.read_text("utf-8").splitlines() if line.startswith("a disponer")]
    assert [line.split(" ||| ")[4].split() for line in added] == [
        ["0.142857", "0.00794395", "1", "0.0508198", "2.718", "0.68"],
        ["0.142857", "7.32192e-12", "0.2", "0.0636951", "2.718", "0.35"],
        ["0.714286", "0.0365803", "1", "0.291936", "2.718", "0.74"],
    ]


NEW = """\
b ||| x ||| 0.5 0.25 ||| 0-0 ||| 4 2 2 |||
b ||| y ||| 0.1 0.2 ||| 0-0 ||| 4 2 1 |||
d e ||| y ||| 0.3 0.4 ||| 0-0 1-0 ||| 7 8 9 |||
"""


def test_layout_of_today_two_features_in_order(files):
    table, paraphrases, new = files(
        NEW, "c\t1\tb\t.5\nc\t2\td e\t.6\na q\t1\tb\t.25\nb\t1\td e\t1\n"
    )
    report = augment_phrase_table(table, paraphrases, new, options=AugmentOptions(features="two"))
    assert new.read_text().splitlines() == [
        "a q ||| x ||| 0.5 0.25 1 0.25 |||  ||| 4 2 2 |||",
        "a q ||| y ||| 0.1 0.2 1 0.25 |||  ||| 4 2 1 |||",
        "b ||| x ||| 0.5 0.25 1 1 ||| 0-0 ||| 4 2 2 |||",
        "b ||| y ||| 0.1 0.2 1 1 ||| 0-0 ||| 4 2 1 |||",
        "c ||| x ||| 0.5 0.25 0.5 1 |||  ||| 4 2 2 |||",
        "c ||| y ||| 0.3 0.4 0.8 1 |||  ||| 7 8 9 |||",
        "d e ||| y ||| 0.3 0.4 1 1 ||| 0-0 1-0 ||| 7 8 9 |||",
    ]
    assert report.is_sorted and report.known_already == 1 and report.new_phrases == 2


def test_scores_of_lengths_are_powers_and_ratios_of_the_words_counted(files):
    """`a q` by `b`: 2 and 1 words; `c` by `d e`, the best of two paths to y: 1 and 2."""
    table, paraphrases, new = files(NEW, "c\t1\tb\t.5\nc\t2\td e\t.6\na q\t1\tb\t.25\n")
    augment_phrase_table(table, paraphrases, new, options=AugmentOptions(features="lengths"))
    added = {}
    for line in new.read_text().splitlines():
        source, target, scores = line.split(" ||| ")[:3]
        added[source, target] = [float(score) for score in scores.split()[2:]]
    by_words = {n: math.exp(-n) for n in (1, 2)}
    assert added["a q", "x"] == pytest.approx(
        [0.25, by_words[1], 2, by_words[2], by_words[1]], 1e-5
    )
    assert added["c", "x"] == pytest.approx([0.5, 1, 1, by_words[1], by_words[1]], 1e-5)
    assert added["c", "y"] == pytest.approx([0.8, by_words[1], 0.5, *by_words.values()], 1e-5)
    assert added["d e", "y"] == added["b", "x"] == [1] * 5


def test_an_unsorted_table_gets_its_new_rules_at_the_end(files):
    lines = NEW.splitlines(keepends=True)
    table, paraphrases, new = files("".join([lines[2], *lines[:2]]), "c\t1\tb\t.5\n")
    report = augment_phrase_table(table, paraphrases, new)
    sources = [line.split(" ||| ")[0] for line in new.read_text().splitlines()]
    assert sources == ["d e", "b", "b", "c", "c"] and not report.is_sorted


def test_byte_order_is_that_of_whole_lines(files):
    # LC_ALL=C sort: "a b |||" < "a |||", for b (0x62) comes before | (0x7c)
    table, paraphrases, new = files(
        "a b ||| x ||| 1 ||| |||\na ||| x ||| 1 ||| |||\nc ||| x ||| 1 ||| |||\n", "a c\t1\tc\t.5\n"
    )
    augment_phrase_table(table, paraphrases, new)
    lines = new.read_text().splitlines()
    assert [line.split(" ||| ")[0] for line in lines] == ["a b", "a c", "a", "c"]
    assert lines == sorted(lines)


def test_new_rules_of_one_phrase_are_in_the_order_of_whole_lines(files):
    # LC_ALL=C sort: "x y |||" < "x |||"
    table, paraphrases, new = files(
        "b ||| x y ||| 1 ||| |||\nb ||| x ||| 1 ||| |||\nd ||| x ||| 1 ||| |||\n", "c\t1\tb\t.5\n"
    )
    augment_phrase_table(table, paraphrases, new)
    lines = new.read_text().splitlines()
    assert [line.split(" ||| ")[:2] for line in lines[2:4]] == [["c", "x y"], ["c", "x"]]
    assert lines == sorted(lines)


def test_packed_files_and_a_missing_last_newline(tmp_path):
    table, new = tmp_path / "t.gz", tmp_path / "n.gz"
    table.write_bytes(gzip.compress(NEW.rstrip("\n").encode()))
    (tmp_path / "p").write_text("z\t1\tb\t.5\n")
    augment_phrase_table(table, tmp_path / "p", new)
    lines = gzip.decompress(new.read_bytes()).decode().splitlines()
    assert len(lines) == 5 and lines[-1].startswith("z ||| y")


def test_without_paraphrases_only_the_score_is_new(files):
    table, paraphrases, new = files(NEW, "c\tNA\tNA\tNA\t0\t0\n")
    augment_phrase_table(table, paraphrases, new)
    assert new.read_text() == NEW.replace("0.25 |||", "0.25 1 |||").replace(
        "0.2 |||", "0.2 1 |||"
    ).replace("0.4 |||", "0.4 1 |||")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x ||| y\n", "table, line 4: 2 fields .* mend the line"),
        ("x ||| y ||| 0.5 0.1 0.2 ||| |||\n", "table, line 4: 3 scores, wanted 2 as on the lines"),
        ("x ||| y ||| 0.5 half ||| |||\n", "table, line 4: scores '0.5 half': wanted numbers"),
        (" ||| y ||| 0.5 0.1 ||| |||\n", "table, line 4: the source phrase is empty"),
    ],
)
def test_a_malformed_line_is_named(files, line, message):
    table, paraphrases, new = files(NEW + line, "c\t1\tb\t.5\n")
    with pytest.raises(InputError, match=message):
        augment_phrase_table(table, paraphrases, new)
    assert not new.exists()
    report = augment_phrase_table(table, paraphrases, new, on_error="keep")
    assert report.faulty.kept == 1 and line in new.read_text()
    report = augment_phrase_table(table, paraphrases, new, on_error="drop")
    assert report.faulty.dropped == 1 and line not in new.read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "paraphrases, line 1: the file is empty: write it with distsim paraphrase"),
        ("a\t1\tb\n", "paraphrases, line 1: .* wanted focal<TAB>rank.* write the file again"),
        ("a\t1\tb\thigh\n", "paraphrases, line 1: cannot be read"),
        ('{"format": "other"}\n', "paraphrases, line 1: no file of paraphrases of version 1"),
        (
            '{"format": "distsim paraphrases", "version": 1, "normaliser": {}, "text_format": '
            '"lines"}\n{"phrase"\n',
            "paraphrases, line 2: .* wanted a JSON object: mend the line",
        ),
    ],
)
def test_malformed_paraphrases_are_named(files, text, message):
    table, paraphrases, new = files(NEW, text)
    with pytest.raises(InputError, match=message):
        augment_phrase_table(table, paraphrases, new)


def test_other_misuse_is_refused(files):
    table, paraphrases, new = files(NEW, "c\t1\tb\t.5\n")
    with pytest.raises(ParameterError, match="`method` 'sum': choose one of none, best"):
        augment_phrase_table(table, paraphrases, new, options=AugmentOptions(method="sum"))
    with pytest.raises(ParameterError, match="`features` 'three': choose one of one, two, len"):
        augment_phrase_table(table, paraphrases, new, options=AugmentOptions(features="three"))
    with pytest.raises(InputError, match="read and written at once: name another output"):
        augment_phrase_table(table, paraphrases, table)
    with pytest.raises(InputError, match="no-such: no such file or folder: check the path"):
        augment_phrase_table(table.parent / "no-such", paraphrases, new)


def many(n):
    """Return n translations of `b`, the last the most probable, behind one of `B`."""
    lines = [f"b ||| e{k:04} ||| 0.5 0.5 {k / n:.6f} 0.5\n" for k in range(n)]
    return "".join(["B ||| upper ||| 0.5 0.5 0.9999 0.5\n", *lines])


def test_the_most_probable_translations_of_a_paraphrase(files):
    table, paraphrases, new = files(many(2000), "c\t1\tb\t.5\n")
    told = []
    report = augment_phrase_table(
        table, paraphrases, new, options=AugmentOptions(translations=3), expecting=told.append
    )
    added = [line for line in new.read_text().splitlines() if line.startswith("c |||")]
    assert [line.split(" ||| ")[1] for line in added] == ["e1998", "e1999", "upper"]
    assert (report.expected, report.new_entries, report.old_entries) == (3, 3, 2001)
    assert told == [report]
    everything = augment_phrase_table(
        table, paraphrases, new, options=AugmentOptions(translations=0)
    )
    assert everything.new_entries == everything.expected == 2001
    assert augment_phrase_table(table, paraphrases, new).new_entries == 20
    first = augment_phrase_table(
        table, paraphrases, new, options=AugmentOptions(translations=1, probability=0)
    )
    assert first.new_entries == 1 and "c ||| upper" in new.read_text()
    with pytest.raises(ParameterError, match="`probability` 7: the table has 4 scores"):
        augment_phrase_table(table, paraphrases, new, options=AugmentOptions(probability=7))


def test_wrong_numbers_of_translations_are_refused():
    with pytest.raises(ParameterError, match="choose 0 or more"):
        AugmentOptions(translations=-1)


def test_a_pipe_is_read_twice(files, tmp_path):
    table, paraphrases, new = files(NEW, "c\t1\tb\t.5\n")
    augment_phrase_table(table, paraphrases, new)
    os.mkfifo(tmp_path / "pipe")
    feeding = threading.Thread(
        target=lambda: (tmp_path / "pipe").write_text(NEW, encoding="utf-8"), daemon=True
    )
    feeding.start()
    augment_phrase_table(tmp_path / "pipe", paraphrases, tmp_path / "again")
    feeding.join()
    assert (tmp_path / "again").read_bytes() == new.read_bytes()


def test_a_faulty_first_row_of_paraphrases_is_refused_before_the_rest_is_read(
    tmp_path, monkeypatch
):
    from distsim.paraphrase import records

    def lines(path):
        yield 1, b"\n"
        raise AssertionError("read on")

    monkeypatch.setattr(records, "read_lines", lines)
    with pytest.raises(InputError, match="line 1: cannot be read as paraphrases"):
        records.read_paraphrases(tmp_path / "x")


@pytest.mark.parametrize("don_t", ["don &apos;t", "do n&apos;t", "do n't", "don 't", "don't"])
def test_a_phrase_is_found_in_the_table_however_it_is_cut_and_escaped(files, don_t):
    table, paraphrases, new = files(
        f"the king &apos;s ||| x ||| 1 1 1 1\n{don_t} go ||| y ||| 1 1 1 1\n",
        "leave\t1\tdon't go\t.5\ndepart\t1\tdo n't go\t.4\nhis\t1\tthe king's\t.3\n",
    )
    augment_phrase_table(table, paraphrases, new)
    sources = [line.split(" ||| ")[0] for line in new.read_text().splitlines()]
    assert sorted(sources) == sorted(["the king &apos;s", f"{don_t} go", "leave", "depart", "his"])
