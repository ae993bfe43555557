"""Gold files, statistics, and `distsim evaluate`."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim.base.errors import InputError, ParameterError
from distsim.comparison.measures import Estimate, Similarity
from distsim.evaluation import correlations
from distsim.evaluation.correlations import evaluate, random_pairs
from distsim.evaluation.gold import read_gold
from tests.conftest import SHARED
from tests.naive import people as naive

SCORED = [("cat", "dog", 7.5), ("cat", "sun", 1.0), ("sun", "moon", 6.0)]


def _write(tmp_path, text, name="gold.txt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("separator", ["\t", ",", " "])
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("extra", [[], ["N"]])
def test_scored_files_of_every_layout(tmp_path, separator, header, extra):
    rows = [[a, b, *extra, str(score)] for a, b, score in SCORED]
    if header:
        rows = [["word1", "word2", *["POS" for _ in extra], "score"], *rows]
    gold = read_gold(_write(tmp_path, "\n".join(separator.join(row) for row in rows) + "\n\n"))
    assert gold.layout == "scored"
    assert gold.name == "gold"
    assert gold.pairs == tuple((a, b) for a, b, _ in SCORED)
    assert gold.scores == tuple(score for _, _, score in SCORED)


def test_columns_can_be_named_and_quoted(tmp_path):
    path = _write(tmp_path, 'id,score,a,b\n1,5,"the cat","a, b"\n2,3,c,d\n')
    gold = read_gold(path, columns=(3, 4, 2))
    assert gold.pairs == (("the cat", "a, b"), ("c", "d"))
    assert gold.scores == (5.0, 3.0)


def test_judged_pairs_are_grouped_by_phrase(tmp_path):
    text = "2.0\t[NP]\ta cat\ta dog\t1.0,3.0\n4.0\t[NN]\tsun\tmoon\t4.0\n1.0\t[NP]\ta cat\tx\t1\n"
    gold = read_gold(_write(tmp_path, text))
    assert gold.layout == "judged"
    assert gold.pairs[1] == ("sun", "moon")
    assert gold.groups == ("a cat", "sun", "a cat")


def test_pair_lists(tmp_path):
    gold = read_gold(_write(tmp_path, "big large \nsmall tiny\n"))
    assert (gold.layout, gold.pairs) == ("pairs", (("big", "large"), ("small", "tiny")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no pairs: name a file"),
        ("cat\ndog\n", "line 1: one column, wanted two phrases and a score"),
        ("a\tb\tc\nd\te\tf\n", "line 2: no column after the two phrases is a number: name"),
        ("a\tb\t1\nc\td\t2\ne\tf\tx\n", "line 3: column 3 has 'x', wanted a score: mend"),
        ("a\tb\t1\nc\td\t2\ne\tf\n", "line 3: column 3 has nothing, wanted a score"),
        ("a\tb\t1\n\tb\t2\n", "line 2: a phrase is empty: fill it in or drop the line"),
        ("a b\nc d\ne\n", "line 3: 1 column, wanted 2: give every line"),
        ("a\tb\tnan\na\tc\tnan\n", "line 2: no column after the two phrases is a number"),
    ],
)
def test_faulty_files_are_named_with_line_and_remedy(tmp_path, text, said):
    path = _write(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_gold(path)
    assert str(error.value).startswith(path)
    assert said in str(error.value)


def test_a_folder_is_no_gold_set(tmp_path):
    with pytest.raises(InputError, match="is a folder, wanted a file"):
        read_gold(str(tmp_path))


values = st.lists(st.integers(0, 5).map(float), min_size=2, max_size=30)


@settings(deadline=None, max_examples=60)
@given(values, values)
def test_statistics_are_those_of_the_definition(a, b):
    n = min(len(a), len(b))
    x, y = np.array(a[:n]), np.array(b[:n])
    if len(set(a[:n])) > 1 and len(set(b[:n])) > 1:
        assert correlations.spearman(x, y) == pytest.approx(naive.spearman(a[:n], b[:n]))
    else:
        assert math.isnan(correlations.spearman(x, y))
    area = correlations.area_under_curve(np.array(a), np.array(b))
    assert area == pytest.approx(naive.area(a, b))


def test_an_interval_resamples_whole_groups():
    a = np.arange(40.0)
    b = a + np.tile([0.0, 9.0], 20)
    alone = correlations.spearman_interval(a, b, [str(n) for n in range(40)], 300, 1)
    grouped = correlations.spearman_interval(a, b, [str(n // 20) for n in range(40)], 300, 1)
    assert alone.low < correlations.spearman(a, b) < alone.high
    assert alone != grouped
    one = correlations.spearman_interval(a, b, ["same"] * 40, 300, 1)
    assert math.isnan(one.low)  # one group tells nothing of other groups


class Known(Similarity):
    """A measure of its own: what it knows of pairs, nothing of others."""

    name = "known"

    def __init__(self, known):
        self._known = known

    def estimates(self, pairs):
        return [self._known(pair) for pair in pairs]


def test_coverage_and_composed_are_counted(tmp_path):
    gold = read_gold(_write(tmp_path, "a\tb\t3\na\tc\t1\na\td\t2\na\te\t5\n"))
    known = {("a", "b"): Estimate(0.9), ("a", "c"): Estimate(0.1), ("a", "d"): Estimate(0.5, True)}
    measure = Known(lambda pair: known.get(pair, Estimate(None)))
    (result,) = evaluate([gold], [measure], samples=10)
    assert measure.similarity("a", "c") == 0.1
    assert measure.similarities(gold.pairs) == [0.9, 0.1, 0.5, None]
    assert (result.value, result.pairs, result.covered, result.composed) == (1.0, 4, 3, 1)


def test_synonyms_against_random_pairs_and_antonyms(tmp_path):
    synonyms = read_gold(_write(tmp_path, "a b\nc d\ne f\n", "synonyms.txt"))
    antonyms = read_gold(_write(tmp_path, "a z\n", "antonyms.txt"))
    same = set(synonyms.pairs)
    measure = Known(lambda pair: Estimate(float(pair in same)))
    random, against = evaluate([synonyms], [measure], antonyms=antonyms, samples=10)
    assert (random.statistic, random.value) == ("auc random", 1.0)
    assert (against.statistic, against.value, against.pairs) == ("auc antonyms", 1.0, 4)
    assert not set(random_pairs(synonyms.pairs, 3)) & same
    with pytest.raises(ParameterError, match="antonyms have scores beside them: name a list"):
        evaluate([synonyms], [measure], antonyms=read_gold(_write(tmp_path, "a b 1\n", "x.txt")))
    with pytest.raises(ParameterError, match="bootstrap samples -1: choose 0 or more"):
        evaluate([synonyms], [measure], samples=-1)


def test_evaluate_prints_text_tsv_and_json(alice_index, tmp_path, capsys):
    from distsim.cli.main import app

    gold = _write(tmp_path, "alice\trabbit\t5\nking\tqueen\t9\ncat\tcourt\t2\nzzz\tcat\t1\n")

    def run(*arguments):
        app(["evaluate", str(alice_index.path), gold, *arguments], standalone_mode=False)
        return capsys.readouterr().out

    text = run("--by", "both")
    assert "gold" in text and "exact" in text and "75.0%" in text
    assert "model:ngram|window:1|families:l1,r1|weights:raw|" in text
    assert "|bits:256|seed:1|" in text and "|version:" in text
    header, row, line = run("--format", "tsv").splitlines()
    assert header.split("\t")[:4] == ["gold", "measure", "statistic", "value"]
    assert row.split("\t")[:3] == ["gold", "table", "spearman"]
    assert line.startswith("# model:ngram")
    assert json.loads(run("--format", "json"))["covered"] == 3
    with pytest.raises(ParameterError, match="not signed with a learned projection"):
        run("--by", "vectors")


@pytest.mark.skipif(not (SHARED / "data").exists(), reason="needs the shared data")
def test_the_shared_sets_are_read():
    sets = [
        read_gold(str(path)) for path in sorted((SHARED / "data/gold-wordsim-shared").glob("*.txt"))
    ]
    assert len(sets) == 9 and all(one.layout == "scored" for one in sets)
    judged = read_gold(str(SHARED / "data/gold-paraphrase-shared/judgements.tsv"))
    assert (judged.layout, len(judged.pairs), len(set(judged.groups))) == ("judged", 13954, 100)
    synonyms = read_gold(str(SHARED / "data/ppdb-derived/counterfit.ppdb_synonyms.txt.gz"))
    assert synonyms.layout == "pairs"


@pytest.mark.parametrize(
    "text",
    [
        "term1,term2,score\nalice,king,3\nqueen,king,9\n",
        "score,term1,term2\n3,alice,king\n9,queen,king\n",
        "Word 1\tpos\tHuman (mean)\tWord 2\nalice\tn\t3\tking\nqueen\tn\t9\tking\n",
        "term2,id,score,term1\nking,1,3,alice\nking,2,9,queen\n",
    ],
)
def test_a_header_says_where_phrases_and_scores_stand(tmp_path, text):
    gold = read_gold(_write(tmp_path, text, "gold.txt"))
    assert [set(pair) for pair in gold.pairs] == [{"alice", "king"}, {"queen", "king"}]
    assert gold.pairs[0][0] == "alice"
    assert gold.scores == (3.0, 9.0)


def test_named_columns_go_before_a_header(tmp_path):
    text = "term1,term2,score,other\nalice,king,3,7\n"
    gold = read_gold(_write(tmp_path, text, "gold.txt"), columns=(2, 1, 4))
    assert (gold.pairs, gold.scores, gold.columns) == ((("king", "alice"),), (7.0,), (2, 1, 4))


def test_a_set_of_which_nothing_is_known_is_an_error(alice_index, tmp_path, run):
    path = _write(tmp_path, "1\t17\t3.0\n2\t18\t4.0\n3\t19\t1.0\n", "ids.txt")
    out, err = run("evaluate", alice_index.path, path, "--samples", 0, status=1)
    assert "0.0%" in out
    assert "ids: none of its 3 pairs is known to" in err
    assert (
        "columns 1, 2, 3 were read, first '1' and '17': name the right ones with --columns" in err
    )
    path = _write(tmp_path, "alice\tqueen\t3\nrabbit\tzeppelin\t1\n", "some.txt")
    run("evaluate", alice_index.path, path, "--samples", 0)
    out, err = run("evaluate", alice_index.path, path, "--set", "seed=-1", status=1)
    assert "--set seed: is -1, choose 0 or more" in err and not out


def test_a_gold_set_of_too_many_lines_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    from distsim.evaluation import gold

    monkeypatch.setattr(gold, "_MOST_LINES", 3)
    path = tmp_path / "gold.tsv"
    path.write_text("a\tb\t1\n" * 3)
    assert len(read_gold(path).pairs) == 3
    path.write_text("a\tb\t1\n" * 4)
    with pytest.raises(InputError, match="has more than 3 lines: is it a gold set"):
        read_gold(path)
