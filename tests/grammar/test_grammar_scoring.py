"""Scores of rules: worked by hand, by a slow twin, and from file to file."""

import gzip
import io
import math
import re
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from distsim import (
    PRESETS,
    CorpusIndex,
    IndexOptions,
    Recipe,
    Selection,
    SignatureTable,
    sign,
    similarity,
)
from distsim.base.errors import InputError, ParameterError
from distsim.cli.main import app
from distsim.comparison import GappedCosine
from distsim.corpus import Normaliser
from distsim.corpus.lines import LineBlock
from distsim.grammar.alignment import RuleAligner, TrainingOptions, TrainingSample
from distsim.grammar.block import parse_block
from distsim.grammar.explanation import explain_rule
from distsim.grammar.formats.rules import RULES
from distsim.grammar.rerank import Ranking, rerank_grammar
from distsim.grammar.rule_similarity import RuleSimilarity
from distsim.grammar.score_file import score_grammar
from distsim.grammar.score_writer import OutputOptions
from distsim.grammar.scoring import RuleScorer, ScoreOptions
from distsim.grammar.tokens import TokenForms, distinct_words, unescape
from tests.conftest import RECIPE, SHARED
from tests.naive.grammar import naive_decompose, naive_sim_rule

GRAMMARS = SHARED / "data" / "grammars"
needs_grammars = pytest.mark.skipif(not GRAMMARS.exists(), reason="needs ../shared/data/grammars")

TEXT = (
    "The city of Paris is old. The town of Paris is old. We saw the big city near the river. "
    'We saw the big town near the river. He didn\'t see (the house) there. "A house", he said. '
    "The king's city is big. The king's town is big.\n"
) * 3


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scoring")
    (folder / "text").write_text(TEXT)
    return CorpusIndex.build([folder / "text"], folder / "index", options=IndexOptions("text"))


@pytest.fixture(scope="module")
def table(index):
    from distsim import Selection

    return SignatureTable.build(index, recipe=Recipe(), selection=Selection(min_count=2))


@pytest.fixture(scope="module")
def scorer(table):
    aligner = RuleAligner(training=TrainingOptions(aligner="evidence"))
    return RuleScorer([("sim_ngram", table)], aligner=aligner)


def test_the_worked_rule(scorer, table):
    sides = "the [JJ,1] city of [NP,2]", "the [JJ,1] town of [NP,2]"
    (score,) = scorer.score(*sides, [(i, i) for i in range(5)])
    # (the, the) 1, (city, town) s, (of, of) 1, (city of, town of) t
    s, t = similarity(table, "city", "town"), similarity(table, "city of", "town of")
    assert score.pairs == score.scored == 4
    assert score.similarity == pytest.approx((1 + s + 1 + t) / 4)
    assert scorer.score(*sides)[0] == score  # the aligner finds these links itself


def test_missing_is_not_zero_and_identity_is_one(table):
    rule = "the zebra", "the gnu", [(0, 0), (1, 1)]
    (one,) = RuleScorer([("s", table)]).score(*rule)
    # (the, the) 1; (zebra, gnu) and (the zebra, the gnu) are unknown
    assert one == (1.0, 3, 1)
    (unknown,) = RuleScorer([("s", table)]).score("gnu", "gnu", [(0, 0)])
    assert unknown == (1.0, 1, 1)  # the same string


def test_strength(table):
    strong = RuleScorer([("s", table)], options=ScoreOptions(min_strength=1_000_000))
    assert strong.score("city", "town", [(0, 0)])[0] == (None, 1, 0)
    weak = RuleScorer([("s", table)], options=ScoreOptions(min_strength=6))
    assert weak.score("city", "town", [(0, 0)])[0].scored == 1


WORDS = ["the", "city", "town", "of", "big", "zebra", "didn't", "&apos;s", "-LRB-", "King"]


@st.composite
def rules(draw):
    sides = [draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7)) for _ in range(2)]
    for side in sides:
        side.insert(draw(st.integers(0, len(side))), "[X,1]")
    n, m = map(len, sides)
    links = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=8))
    return " ".join(sides[0]), " ".join(sides[1]), links


@settings(max_examples=60, deadline=None)
@given(st.lists(rules(), min_size=1, max_size=6))
def test_blocks_score_as_the_definition_says(table, drawn):
    lines = "".join(
        f"[X] ||| {s} ||| {t} ||| ||| " + " ".join(f"{i}-{j}" for i, j in links) + "\n"
        for s, t, links in drawn
    )
    block = parse_block(LineBlock(lines.encode(), 1), RULES)
    scorer = RuleScorer([("s", table)], aligner=RuleAligner("none"))
    ((_, scores),) = scorer.score_block(block).features
    for number, (source, target, links) in enumerate(drawn):
        values, pairs = [], naive_decompose(source, target, links)
        for (i, i_stop), (j, j_stop) in pairs:
            a, b = (
                table.normal_form(" ".join(unescape(w) for w in side.split()[x:y]))
                for side, x, y in ((source, i, i_stop), (target, j, j_stop))
            )
            value = 1.0 if a == b else similarity(table, a, b)
            values += [value] if value is not None else []
        assert (scores.pairs[number], scores.scored[number]) == (len(pairs), len(values))
        if values:
            assert scores.means[number] == pytest.approx(sum(values) / len(values))
        else:
            assert math.isnan(scores.means[number])


def test_tokens_meet_the_table(table):
    forms = TokenForms(table)
    words = [b"didn't", b"&apos;s", b"-lrb-", b"King", b"king&apos;s", "a\u00a0b".encode()]
    found = forms.forms(words)
    texts = [
        bytes(found.text[a:b]).decode()
        for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)
    ]
    assert texts[1:] == ["'s", "(", "king", "king 's", "a b"]
    assert texts[0] == table.normal_form("didn't")
    assert (found.changes & 1).astype(bool).tolist() == [False, True, True, False, True, False]
    assert (found.changes[[3, 4, 5]] & 2).astype(bool).tolist() == [False, True, True]
    assert forms.forms(words).changes.tolist() == found.changes.tolist()  # from what is kept


def test_an_escape_stands_for_what_the_table_has_more_often(tmp_path):
    (tmp_path / "t").write_text(('the king said " yes " .\n' * 9 + "a '' b c .\n") * 30)
    built = CorpusIndex.build([tmp_path / "t"], tmp_path / "i", options=IndexOptions("text"))
    table = SignatureTable.build(built, recipe=Recipe())
    assert table.find_normal(["''"])[0] >= 0
    forms = TokenForms(table).forms([b"``", b"''", b"&quot;"])
    assert forms.text.tobytes() == b'"""' and forms.changes.tolist() == [1, 1, 1]
    scores = RuleScorer([("s", table)]).score("`` the king ''", '" the king "')
    assert scores[0][0] == pytest.approx(1)


def test_a_token_that_vanishes_leaves_its_pair_unscored(tmp_path):
    (tmp_path / "t").write_text("the city , the town , the city . the town .\n" * 6)
    options = IndexOptions("lines", normaliser=Normaliser(drop_punctuation=True))
    built = CorpusIndex.build([tmp_path / "t"], tmp_path / "i", options=options)
    scorer = RuleScorer([("s", SignatureTable.build(built, recipe=Recipe()))])
    assert scorer.score("the city ,", "the town ,", [(0, 0), (1, 1), (2, 2)])[0][1:] == (6, 3)
    assert scorer.score(",", ",", [(0, 0)])[0] == (None, 1, 0)


GRAMMAR = (
    b"[NP] ||| the city ||| the town ||| p(e|f)=1.5 NA  ||| 0-0 1-1 ||| Equivalence\n"
    b"[NP] ||| [,,1] zebra ||| gnu [,,1] ||| p(e|f)=2 ||| 1-0 0-1\r\n"
    b"[X] ||| [X,1] ||| [X,1] ||| p(e|f)=0\n"
    b"[X] ||| city ||| town |||  ||| 0-0"
)


def scored(grammar, tmp_path, scorer, name="out", on_error="stop", grammar_format=None, **options):
    (tmp_path / "in").write_bytes(grammar)
    report = score_grammar(
        tmp_path / "in", tmp_path / name, scorer, options=OutputOptions(**options),
        on_error=on_error,
        grammar_format=grammar_format,
    )  # fmt: skip
    return (tmp_path / name).read_bytes(), report


def test_both_passes_over_a_grammar_tell_how_far_they_are(tmp_path, scorer):
    (tmp_path / "in").write_bytes(GRAMMAR)
    trains = RuleScorer.sharing(scorer, RuleAligner("missing"))
    stages = []
    score_grammar(
        tmp_path / "in", tmp_path / "out", trains, progress=lambda *told: stages.append(told)
    )
    assert stages == [("finding rules without links", 4, None), ("scoring", 4, None)]


def test_only_features_are_added_and_lines_stay(tmp_path, scorer, table):
    text, report = scored(GRAMMAR, tmp_path, scorer)
    s = similarity(table, "city", "town")
    t = similarity(table, "the city", "the town")
    mean = (1 + s + t) / 3
    assert text == GRAMMAR.replace(
        b"NA  |||", b"NA sim_ngram=%.5f sim_ngram_coverage=1.00000  |||" % mean
    ).replace(b"=2 |||", b"=2 sim_ngram_coverage=0.00000 |||").replace(
        b"|||  ||| 0-0", b"||| sim_ngram=%.5f sim_ngram_coverage=1.00000  ||| 0-0" % s
    )
    told = "\n".join(report.lines())
    assert "4 rules read" in told and "2 rules scored; unscored: 1 without a phrase pair, 1" in told
    assert "sim_ngram: table:" in report.lines()[-1] and "|bits:256|" in report.lines()[-1]
    plain, _ = scored(GRAMMAR, tmp_path, scorer, coverage=False, name="out.gz")
    assert b"coverage" not in gzip.decompress(plain)


def test_bare_values_keep_their_places(tmp_path, scorer):
    grammar = b"[X] ||| city ||| city ||| 0 1 \n[X] ||| zebra ||| gnu ||| 0 1 \n"
    text, _ = scored(grammar, tmp_path, scorer)
    assert text == grammar.replace(b"1 \n", b"1 1.00000 1.00000 \n", 1).replace(
        b"gnu ||| 0 1", b"gnu ||| 0 1 NA 0.00000"
    )
    text, _ = scored(grammar, tmp_path, scorer, missing="0", coverage=False)
    assert text.endswith(b"gnu ||| 0 1 0 \n")
    text, _ = scored(grammar, tmp_path, scorer, style="named", coverage=False)
    assert text.startswith(b"[X] ||| city ||| city ||| 0 1 sim_ngram=1.00000 \n")
    with pytest.raises(ParameterError, match="give one word"):
        OutputOptions(missing="a b")
    for odd in ("a=1", "\udcff", "a|||b", "a\n"):
        with pytest.raises(ParameterError, match="give one word without an equals sign"):
            OutputOptions(missing=odd)


def test_phrase_tables_of_both_layouts(tmp_path, table):
    scorer = RuleScorer([("a", table), ("b", table)])
    new = b"city ||| city ||| 0.5 1 ||| 0-0 ||| 1 2 1 |||\n"
    text, _ = scored(new, tmp_path, scorer, coverage=False)
    assert text == new.replace(b"0.5 1", b"0.5 1 1.00000 1.00000")
    old = b"the city ||| city ||| ( ) (0) ||| (1) ||| 0.5 2.718\n"
    text, _ = scored(old, tmp_path, scorer)
    assert text.startswith(old[:-1]) and text[-1:] == b"\n" and len(text.split()) == 17


@pytest.mark.parametrize("block_bytes", [40, 1000])
def test_results_do_not_depend_on_blocks_or_jobs(tmp_path, scorer, monkeypatch, block_bytes):
    from distsim.corpus.lines import read_line_blocks
    from distsim.grammar import score_file as module

    grammar = (GRAMMAR + b"\n") * 30
    whole, _ = scored(grammar, tmp_path, scorer)
    monkeypatch.setattr(module, "read_line_blocks", lambda p: read_line_blocks(p, block_bytes))
    cut, report = scored(grammar, tmp_path, scorer)
    assert cut == whole and report.read == 120


HOSTILE = [
    b"[X] ||| a ||| b\n",
    b"[X] ||| [A,1] ||| a ||| 1\n",
    b"[X] ||| a ||| b ||| 1 ||| 0-7\n",
    b"[X] ||| \xff ||| b ||| 1\n",
    b"\n",
]


@pytest.mark.parametrize("line", HOSTILE)
def test_invalid_lines(tmp_path, scorer, line):
    good = b"[X] ||| city ||| town ||| 1\n"
    with pytest.raises(InputError, match=r"in, line 2: .*mend the line, or pass over .*keep"):
        scored(good + line + good, tmp_path, scorer)
    assert not (tmp_path / "out").exists()
    kept, report = scored(good + line + good, tmp_path, scorer, on_error="keep")
    assert kept.count(b"\n") == 3 and line in kept and report.faulty.kept == 1
    dropped, report = scored(good + line + good, tmp_path, scorer, on_error="drop")
    assert dropped.count(b"\n") == 2 and report.faulty.dropped == 1
    lines = kept.splitlines(keepends=True)
    assert lines.pop(1) == line and dropped == b"".join(lines)
    assert "line 2" in "\n".join(report.lines())


def test_empty_files_and_broken_archives(tmp_path, scorer):
    with pytest.raises(InputError, match="in, line 1: the file is empty"):
        scored(b"", tmp_path, scorer)
    assert scored(b"", tmp_path, scorer, on_error="keep")[0] == b""
    packed = gzip.compress(b"".join(b"[X] ||| w%d ||| v ||| 1\n" % i for i in range(30_000)))
    with pytest.raises(InputError, match=r"in: the archive is cut short.*line \d+"):
        scored(packed[:-200], tmp_path, scorer, on_error="keep")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]


def test_rules_of_one_and_forty_tokens(tmp_path, scorer):
    words = " ".join(f"w{i}" for i in range(40))
    links = " ".join(f"{i}-{i}" for i in range(40))
    grammar = f"[X] ||| {words} ||| {words} ||| 1 ||| {links}\n[X] ||| a ||| a ||| 1\n".encode()
    _, report = scored(grammar, tmp_path, scorer)
    assert (
        report.tables[0].pairs == 40 + 39 + 38 + 37 + 1
    )  # spans of 1 to 4, and the whole short one
    assert report.tables[0].scored == 2


def links_of(aligner, *sides):
    lines = "".join(f"[X] ||| {s} ||| {t} ||| 1\n" for s, t in sides)
    block = parse_block(LineBlock(lines.encode(), 1), RULES)
    alignment = aligner.align(block)
    found, begin = [], 0
    for stop in alignment.link_stops.tolist():
        found.append({(i, j) for i, j in alignment.links[begin:stop].tolist()})
        begin = stop
    return found


def test_links_by_evidence():
    found = links_of(
        RuleAligner(),
        ("the [A,1] city of [B,2]", "[B,2] 's city [A,1]"),
        ("so so", "so quite so"),
        ("The &apos;s", "the '"),
        ("connecting flights", "flight connections"),
        ("[A,1] hence", "so [A,1]"),
        ("the [A,1] city of", "the [A,1] town of"),
        ("in spite of", "despite"),
        ("[A,1]", "[A,1]"),
    )
    assert found == [
        {(1, 3), (2, 2), (4, 0)},
        {(0, 0), (1, 2)},
        {(0, 0), (1, 1)},
        {(0, 1), (1, 0)},
        {(0, 1), (1, 0)},
        {(0, 0), (1, 1), (2, 2), (3, 3)},
        set(),
        set(),
    ]


def test_which_rules_are_aligned():
    text = (
        b"[X] ||| a [A,1] ||| b [A,1] ||| 1 ||| 1-1\n"  # a link between gaps says nothing
        b"[X] ||| a ||| a ||| 1 ||| 0-0\n"
        b"[X] ||| [A,1] ||| [A,1] a ||| 1 ||| \n"
    )
    block = parse_block(LineBlock(text, 1), RULES)
    for mode, made in (("missing", [1, 0, 0]), ("all", [1, 1, 0]), ("none", [0, 0, 0])):
        alignment = RuleAligner(mode).align(block)
        assert alignment.tried.tolist() == [bool(m) for m in made]
        assert alignment.lacking.tolist() == [True, False, False]
    assert RuleAligner("none").align(block).links.tolist() == [[1, 1], [0, 0]]
    with pytest.raises(ParameterError, match="choose one of missing, all, none"):
        RuleAligner("some")  # type: ignore[arg-type]


def test_a_sample_is_the_same_however_it_is_cut():
    lines = [b"[X] ||| w%d a ||| v%d b ||| 1\n" % (i, i) for i in range(300)]
    samples = []
    for size in (1, 7, 300):
        sample = TrainingSample(50)
        for first in range(0, 300, size):
            text = b"".join(lines[first : first + size])
            block = parse_block(LineBlock(text, 1), RULES)
            sample.add(block, np.ones(len(block), bool))
        samples.append(sample.pairs())
    assert samples[0] == samples[1] == samples[2] and len(samples[0][0]) == 50
    with pytest.raises(ParameterError, match="`sample` 0"):
        TrainingSample(0)


def test_learned_links(tmp_path, table, monkeypatch):
    nouns = ["house", "cat", "tree", "road", "lake", "hill"]
    grammar = "".join(
        f"[X] ||| big {a} {b} ||| {b} {a} grand ||| 1\n" for a in nouns for b in nouns if a != b
    )
    scorer = RuleScorer([("s", table)])
    (tmp_path / "g").write_text(grammar)
    report = score_grammar(tmp_path / "g", tmp_path / "o", scorer)
    assert report.trained_on == 30 and "learned from 30 rules" in "\n".join(report.lines())
    # Rules that were parsed to learn links are not parsed again, unless they are many.
    parsed = []
    monkeypatch.setattr(
        "distsim.grammar.score_file.parse_block",
        lambda *of: parsed.append(of) or parse_block(*of),
    )
    for n_bytes, n_parsed in ((1 << 20, 2), (10, 3)):  # one is of the head, for its style
        monkeypatch.setattr("distsim.grammar.score_file._PARSED_BYTES", n_bytes)
        parsed.clear()
        score_grammar(tmp_path / "g", tmp_path / "again", scorer)
        assert len(parsed) == n_parsed
        assert (tmp_path / "again").read_bytes() == (tmp_path / "o").read_bytes()


def test_distinct_words_are_numbered_by_appearance():
    block = parse_block(LineBlock(b"[X] ||| a [X,1] b ||| b [X,1] a c ||| 1", 1), RULES)
    words = distinct_words(block)
    assert words.texts == [b"a", b"b", b"c"]
    assert words.numbers.tolist() == [0, -1, 1, 1, -1, 0, 2]


@needs_grammars
@pytest.mark.parametrize(
    "name", ["joshua.thrax.hi-en.grammar.filtered.gz", "joshua.bn-en.hiero.grammar.gz"]
)
def test_scoring_a_shipped_grammar_adds_and_changes_nothing_else(name, tmp_path, scorer):
    score_grammar(
        GRAMMARS / name,
        tmp_path / "o",
        scorer,
        options=OutputOptions(style="named"),
    )
    before = gzip.decompress((GRAMMARS / name).read_bytes())
    import re

    assert re.sub(rb" sim_ngram(_coverage)?=[-.0-9]+", b"", (tmp_path / "o").read_bytes()) == before


def test_the_command_line(tmp_path, table, monkeypatch):
    (tmp_path / "g").write_bytes(GRAMMAR)
    runner = CliRunner()
    place = ["--ngram", str(table.path), "--set", "aligner=evidence"]
    done = runner.invoke(app, ["score", str(tmp_path / "g"), "-o", str(tmp_path / "o"), *place])
    assert done.exit_code == 0 and "4 rules read" in done.stderr
    assert (tmp_path / "o").read_bytes().count(b"sim_ngram=") == 2
    names = ["--set", "names=ppdb", "--syntax", str(table.path)]
    done = runner.invoke(app, ["score", str(tmp_path / "g"), *place, *names])
    assert b" GoogleNgramSim=" in done.stdout_bytes and b" AGigaSim=" in done.stdout_bytes
    done = runner.invoke(app, ["score", str(tmp_path / "g")])
    assert done.exit_code == 2 and "--ngram" in done.output


def test_standard_input_is_read_twice_where_links_are_learned(monkeypatch, tmp_path, table):
    class Stream:
        buffer = io.BufferedReader(io.BytesIO(gzip.compress(b"[X] ||| a b ||| c d ||| 1\n" * 9)))

    monkeypatch.setattr(sys, "stdin", Stream)
    report = score_grammar("-", tmp_path / "o", RuleScorer([("sim_ngram", table)]))
    assert report.read == report.trained_on == 9


def test_a_format_of_a_strangers_is_scored_and_ranked(tmp_path, scorer, monkeypatch):
    # CONTRIBUTING.md's errand: a value and a line in the registry, nothing else.
    from distsim.grammar.formats import FORMATS
    from distsim.grammar.formats.grammar_format import GrammarFormat, LineLayout
    from distsim.grammar.rerank import Ranking, rerank_grammar

    counted = GrammarFormat(
        name="counted",
        layout=LineLayout(label=-1, source=1, target=2, features=3, gaps=False),
        looks_so=lambda line: line.split(b" ||| ")[0].isdigit(),
    )
    monkeypatch.setattr("distsim.grammar.formats.FORMATS", {"counted": counted, **FORMATS})
    lines = b"7 ||| city ||| zebra ||| c=1\n7 ||| city ||| city ||| c=2 |||\n"
    text, _ = scored(lines, tmp_path, scorer, coverage=False)
    assert text == lines.replace(b"c=2", b"c=2 sim_ngram=1.00000")
    rerank_grammar(tmp_path / "in", tmp_path / "best", Ranking({"c": 1}), grammar_format="counted")
    assert (tmp_path / "best").read_bytes().startswith(b"7 ||| city ||| city")
    with pytest.raises(ParameterError, match="`grammar_format` 'x': choose one of counted, rules"):
        scored(lines, tmp_path, scorer, grammar_format="x")


@pytest.fixture(scope="module")
def learnt(index, tmp_path_factory):
    from distsim import Selection, sign

    path = tmp_path_factory.mktemp("learnt") / "table"
    return sign(index, path, recipe=RECIPE, selection=Selection(min_count=2))


UNKNOWN = [
    ("the xqzt of the king", "the qqqq of the king", False),
    ("the xqzt", "the", False),
    ("the", "the xqzt", False),
    ("xqzt the city", "xqzt the town", True),
    ("the XQZT city", "the xqzt town", True),
    ("qqqq of king xqzt", "xqzt of king qqqq", True),
]


@pytest.mark.parametrize(("source", "target", "is_known"), UNKNOWN)
def test_an_unknown_word_of_one_side_leaves_a_pair_without_a_similarity(
    learnt, source, target, is_known
):
    options = ScoreOptions(compose=True, longest=5)
    scorer = RuleScorer([("s", learnt)], options=options, whole=True)
    _, whole = scorer.score(source, target, [(0, 0)])
    assert (whole.similarity is not None) == is_known
    score, _ = scorer.score(source, target, [(0, 0)])
    assert score.pairs == 2  # the linked words, and the whole sides
    assert score.scored == (source.split()[0] == target.split()[0]) + is_known
    assert (similarity(learnt, source, target) is not None) == is_known


def test_a_feature_that_is_there_is_replaced(tmp_path, scorer):
    grammar = (
        b"[X] ||| city ||| city ||| sim_ngram=7 p=1 sim_ngram=9 ||| 0-0\n"
        b"[X] ||| zebra ||| gnu ||| a=2 sim_ngram=.5\tz=1 |||\n"
        b"[X] ||| sim_ngram=1 ||| sim_ngram=1 ||| p=1 xsim_ngram=2 ||| 0-0\n"
    )
    text, report = scored(grammar, tmp_path, scorer)
    assert text == (
        b"[X] ||| city ||| city ||| sim_ngram=1.00000 p=1 sim_ngram=1.00000 "
        b"sim_ngram_coverage=1.00000 ||| 0-0\n"
        b"[X] ||| zebra ||| gnu ||| a=2 sim_ngram=NA\tz=1 sim_ngram_coverage=0.00000 |||\n"
        b"[X] ||| sim_ngram=1 ||| sim_ngram=1 ||| p=1 xsim_ngram=2 sim_ngram=1.00000 "
        b"sim_ngram_coverage=1.00000 ||| 0-0\n"
    )
    assert "2 rules had such a feature already: replaced in its place" in report.lines()
    assert scored(text, tmp_path, scorer)[0] == text
    ranking = Ranking({"p": 1.0}, missing=0.0, write="sim_ngram")
    report = rerank_grammar(tmp_path / "in", tmp_path / "best", ranking)
    assert (
        (tmp_path / "best")
        .read_bytes()
        .startswith(b"[X] ||| city ||| city ||| sim_ngram=1.00000 p=1 sim_ngram=1.00000 sim")
    )
    assert "3 rules had such a feature already: replaced in its place" in report.lines()


def test_the_counts_of_a_report_add_up(tmp_path, index, learnt):
    gapped = GappedCosine(index, learnt)
    scorer = RuleScorer([("sim_ngram", learnt)], whole=True, gapped=gapped)
    grammar = (
        b"[X] ||| the [X,1] of ||| the [X,1] of ||| 1 ||| 0-0 1-1 2-2\n"
        b"[X] ||| city ||| zebra ||| 1 ||| 0-0\n"
        b"[X] ||| [X,1] ||| [X,1] ||| 1 ||| 0-0\n"
        b"[X] ||| [X,1] zebra ||| [X,1] gnu ||| 1 ||| 0-0 1-1\n"
    )
    _, report = scored(grammar, tmp_path, scorer)
    for counts in report.tables:
        assert counts.scored + counts.without_pairs + counts.unknown == report.read == 4
        assert counts.pairs == sum(
            (counts.identical, counts.known, counts.composed, counts.missing, counts.weak,
             counts.vanished)
        )  # fmt: skip
    assert report.tables[2].without_pairs == 2  # rules without gaps or without words


COVERED = [
    ("the city", "the town", "0-0 1-1", 1.0),
    ("the city zebra", "the town gnu", "0-0 1-1", 4 / 6),
    ("the [X,1] would", "the [X,1] would open", "0-0 1-1 2-2", 4 / 5),
    ("zebra [X,1]", "gnu [X,1]", "0-0 1-1", 0.0),
    ("zebra [X,1]", "zebra [X,1]", "0-0 1-1", 1.0),
    ("[X,1] city", "[X,1]", "0-0", 0.0),
]


@pytest.mark.parametrize(("source", "target", "links", "covered"), COVERED)
def test_coverage_counts_words_of_both_sides(tmp_path, scorer, source, target, links, covered):
    line = f"[X] ||| {source} ||| {target} ||| p=1 ||| {links}\n".encode()
    text, _ = scored(line, tmp_path, scorer)
    assert b" sim_ngram_coverage=%.5f " % covered in text


def test_composed_phrases_lower_the_coverage(tmp_path, learnt):
    scorer = RuleScorer([("s", learnt)], options=ScoreOptions(compose=True))
    line = b"[X] ||| big city ||| town ||| p=1 ||| 0-0\n"  # of rare phrases, made of words
    text, report = scored(line, tmp_path, scorer)
    assert b" s_coverage=%.5f " % (2 / 3) in text  # big, town
    assert report.tables[0].resting == 1
    assert "s: 1 of the scored rules (100%) rest on a phrase that is composed of its words" in (
        report.lines()
    )


def test_an_explanation_has_every_pair_and_the_words_in_none(tmp_path, learnt):
    options = ScoreOptions(compose=True)
    scorer = RuleScorer([("s", learnt)], options=options, aligner=RuleAligner("none"))
    lines = (
        b"[X] ||| the big city ||| the town ||| p=1 ||| 0-0 1-1\n"
        b"[X] ||| the [X,1] zebra ||| a [X,1] city ||| p=1 ||| 0-0 1-1\n"
    )
    scored(lines, tmp_path, scorer, explain=str(tmp_path / "why.tsv"))
    head, *rows = (tmp_path / "why.tsv").read_text().splitlines()
    assert head.split("\t")[:4] == ["line", "score", "source", "target"]
    shown = [(n, a, b, kind) for n, _, a, b, *_, kind in (row.split("\t") for row in rows)]
    assert shown == [
        ("1", "the", "the", "identical"), ("1", "the big", "the town", "composed"),
        ("1", "big", "town", "stored"), ("1", "the big city", "the town", "composed"),
        ("2", "the", "a", "stored"), ("2", "zebra", "", "no pair"), ("2", "", "city", "no pair"),
    ]  # fmt: skip
    values = dict(zip(("big", "town"), learnt.strengths[learnt.find(["big", "town"])], strict=True))
    value = similarity(learnt, "big", "town")
    assert rows[2] == f"1\ts\tbig\ttown\t{value:.5f}\t{values['big']}\t{values['town']}\tstored"
    found = explain_rule(scorer, "the big city", "the town", [(0, 0), (1, 1)])
    assert [row[1:3] for row in found] == [pair[1:3] for pair in shown[:4]]
    scorer = RuleScorer([("s", learnt)], options=options, rule=True, aligner=RuleAligner("none"))
    parts = [
        row for row in explain_rule(scorer, "two [X,1]", "three [X,1]") if row[0] == "sim_rule"
    ]
    assert [row.kind for row in parts] == ["whole", "words", "letters", "alone", "opposed"]
    assert parts[0][1:3] == ("two", "three") and parts[-1].similarity == 1


@pytest.mark.parametrize("word", ["n't", "n’t", "&apos;t", "’t", "didn’t", "don&apos;t", "NOT"])
def test_a_negation_is_one_however_its_apostrophe_is_written(learnt, word):
    options = ScoreOptions(min_strength=0)
    scorer = RuleScorer([("s", learnt)], options=options, rule=True, aligner=RuleAligner("none"))
    kinds = {row.kind: row for row in explain_rule(scorer, "the big", f"the big {word}")}
    assert kinds["opposed"].similarity == 1


@settings(max_examples=60, deadline=None)
@example([("[X,1] town", "the the town [X,1] city", [])])  # a cosine of 1 by rounding
@given(st.lists(rules(), min_size=1, max_size=6))
@pytest.mark.parametrize("kind", ["learnt", "table"])
def test_sim_rule_is_that_of_its_definition(request, kind, drawn):
    of = request.getfixturevalue(kind)
    lines = "".join(f"[X] ||| {s} ||| {t} ||| \n" for s, t, _ in drawn)
    block = parse_block(LineBlock(lines.encode(), 1), RULES)
    looked_up = TokenForms(of).look_up(block, distinct_words(block))
    found = RuleSimilarity(of).compare(block, looked_up).rules
    for value, (source, target, _) in zip(found.tolist(), drawn, strict=True):
        sides = (" ".join(map(unescape, side.split())) for side in (source, target))
        assert value == pytest.approx(naive_sim_rule(of, *sides), abs=1e-5)
        assert 0 <= value <= 1


@pytest.mark.parametrize(
    ("plain", "escapes"),
    [
        ("[ [X,1] ]", ["&#91; [X,1] &#93;", "&bra; [X,1] &ket;", "-LSB- [X,1] -RSB-"]),
        ("( [X,1] )", ["-LRB- [X,1] -RRB-"]),
        ('" [X,1] " city', ["&quot; [X,1] &quot; city", "`` [X,1] '' city"]),
        ("[X,1] | city", ["[X,1] &#124; city", "[X,1] &bar; city"]),
        ("[X,1] < city > & zebra", ["[X,1] &lt; city &gt; &amp; zebra"]),
    ],
)
@pytest.mark.parametrize("other", ["( [X,1] )", "big town [X,1]", "[X,1] 91 zebras"])
def test_a_rule_has_one_score_however_it_is_escaped(learnt, plain, escapes, other):
    scorer = RuleScorer([("s", learnt)], rule=True, aligner=RuleAligner("none"))
    for escaped in escapes:
        for a, b, c, d in ((plain, other, escaped, other), (other, plain, other, escaped)):
            assert scorer.score(a, b)[1].similarity == scorer.score(c, d)[1].similarity


HELD = [
    ("[X,1] city [X,2]", "[X,2] city [X,1]"),  # gaps change places around the same word
    ("the city", "the xqzt city"),
    ("the xqzt", "the qqqq"),
    ("5 city", "6 city"),
    ("the city is big", "the city is not big"),
    ("[X,1] [X,2]", "[X,2] [X,1]"),
    ("[X,1] zebra", "[X,1]"),
]


def test_gaps_that_change_places_lower_a_rule_whatever_its_words(learnt):
    scorer = RuleScorer([("s", learnt)], rule=True, aligner=RuleAligner("none"))
    source = "[X,1] of the city [X,2]"
    for words in ("in the city", "near the old city"):
        straight, swapped = (
            scorer.score(source, f"[X,{a}] {words} [X,{b}]")[1].similarity
            for a, b in ((1, 2), (2, 1))
        )
        assert swapped < straight


OPPOSED = [
    ("his city", "her city"),
    ("two cities", "three cities"),
    ("in 1990 [X,1]", "in 1991 [X,1]"),
    ("the city is big", "the city is not big"),
    ("always [X,1]", "never [X,1]"),
    ("the city can be [X,1]", "the city can 't be [X,1]"),
    ("[X,1] with a city", "[X,1] without a city"),
]


@pytest.mark.parametrize(("source", "target"), OPPOSED)
def test_opposed_sides_are_last(learnt, source, target):
    scorer = RuleScorer([("s", learnt)], rule=True, aligner=RuleAligner("none"))
    assert (
        max(scorer.score(*x)[1].similarity for x in ((source, target), (target, source))) <= 0.001
    )
    assert scorer.score("not happy", "unhappy")[1].similarity is not None


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("on 5th [X,1]", "on 5 [X,1]"),
        ("1,000 people", "1000 people"),
        ("did not see [X,1]", "failed to see [X,1]"),
        ("not [X,1]", "non [X,1]"),
        ("its city", "their city"),
    ],
)
def test_one_number_and_one_negation_in_two_forms_are_not_opposed(learnt, source, target):
    scorer = RuleScorer([("s", learnt)], rule=True, aligner=RuleAligner("none"))
    for sides in ((source, target), (target, source)):
        assert scorer.score(*sides)[1].similarity > 0.01


@pytest.mark.parametrize(("source", "target"), HELD)
def test_what_must_not_stand_among_the_best_is_held_down(learnt, source, target):
    scorer = RuleScorer([("s", learnt)], rule=True, aligner=RuleAligner("none"))
    for sides in ((source, target), (target, source)):
        assert scorer.score(*sides)[1].similarity <= 0.5
    for side in (source, target):
        assert scorer.score(side, side)[1].similarity == pytest.approx(1.0)


def test_sim_rule_knows_function_words_and_opposites_of_the_tables_language(tmp_path):
    """`das` is no content word without a counterpart; *ersten* and *letzten* exclude each other."""
    lines = "das ist das neue haus\ndas ist das alte haus\nwir sind in dem ersten jahr\n"
    lines += "wir sind in dem letzten jahr\n"
    (tmp_path / "text").write_text(lines * 9)
    index = CorpusIndex.build([tmp_path / "text"], tmp_path / "i", options=IndexOptions("lines"))
    table = sign(index, tmp_path / "t", recipe=PRESETS["thesis"], selection=Selection(min_count=2))
    grammar = b"[X] ||| das neue haus ||| neue haus ||| p=1 ||| 1-0 2-1\n"
    grammar += b"[X] ||| ersten jahr ||| letzten jahr ||| p=1 ||| 0-0 1-1\n"
    text, _ = scored(grammar, tmp_path, RuleScorer([("s", table)], rule=True))
    article, opposed = (float(value) for value in re.findall(rb"sim_rule=(\S+)", text))
    assert article > 0.5 and opposed < 0.001


def test_sim_rule_is_written_for_every_rule_without_a_coverage(tmp_path, learnt):
    scorer = RuleScorer([("s", learnt)], rule=True)
    grammar = b"".join(
        f"[X] ||| {source} ||| {target} ||| p=1\n".encode()
        for source, target in (*HELD, ("", "[X,1]"[:0]), ("", "a"))
    )
    text, report = scored(grammar, tmp_path, scorer)
    assert text.count(b" sim_rule=") == report.tables[1].scored == len(HELD) + 2
    assert b"sim_rule_coverage" not in text and report.tables[1].unknown == 0
