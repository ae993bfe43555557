"""A line of each format of grammars as its tool writes it, and the line that score makes of it."""

import pytest

from distsim import CorpusIndex, IndexOptions, Recipe, Selection, SignatureTable
from distsim.grammar.alignment import RuleAligner, TrainingOptions
from distsim.grammar.score_file import score_grammar
from distsim.grammar.score_writer import OutputOptions
from distsim.grammar.scoring import RuleScorer

TEXT = "We saw the king's old city near the river. The city of Paris is old.\n" * 9
ALL = "1.00000 1.00000 1.00000"
NAMED = "sim_ngram=1.00000 sim_ngram_coverage=1.00000 sim_rule=1.00000"
# Format, name of the score, what stands before its features, these, what follows, new features.
# Sides are equal, or have an unknown word: no digit depends on the table.
LINES = [
    ("PPDB 1.0", "GoogleNgramSim", "[NN/PP] ||| city of [PP,1] ||| city of [PP,1] ||| ",
     "AGigaSim=NA Abstract=0 GoogleNgramSim=0.17 Lex(e|f)=59.86 p(e|f)=8.5", " ||| 0-0 1-1 2-2",
     "AGigaSim=NA Abstract=0 GoogleNgramSim=1.00000 Lex(e|f)=59.86 p(e|f)=8.5 "
     "GoogleNgramSim_coverage=1.00000 sim_rule=1.00000"),
    ("PPDB 2.0", "GoogleNgramSim", "[NN] ||| city ||| city ||| ",
     "PPDB2.0Score=5.25 PPDB1.0Score=3.30 -logp(LHS|e1)=0.01 AGigaSim=0.57 GoogleNgramSim=NA",
     " ||| 0-0 ||| Equivalence",
     "PPDB2.0Score=5.25 PPDB1.0Score=3.30 -logp(LHS|e1)=0.01 AGigaSim=0.57 GoogleNgramSim=1.00000 "
     "GoogleNgramSim_coverage=1.00000 sim_rule=1.00000"),
    ("PPDB 1.0, unknown", "AGigaSim", "[NN] ||| zebra ||| gnu ||| ",
     "AGigaSim=NA Abstract=0 GoogleNgramSim=NA p(e|f)=8.5", " ||| 0-0",
     "AGigaSim=0.00000 Abstract=0 GoogleNgramSim=NA p(e|f)=8.5 AGigaSim_coverage=0.00000"),
    ("Thrax", "sim_ngram", "[NP] ||| the city [PP,1] ||| the city [PP,1] ||| ",
     "PhrasePenalty=1 p(e|f,LHS)=0.69", "", f"PhrasePenalty=1 p(e|f,LHS)=0.69 {NAMED}"),
    ("Joshua", "sim_ngram", "[X] ||| [X,1] city ||| [X,1] city ||| ",
     "0 0 1 3.0201229073440476 -0.0", "", f"0 0 1 3.0201229073440476 -0.0 {ALL}"),
    ("cdec", "sim_ngram", "[X] ||| old city [X,1] ||| old city [X,1] ||| ",
     "0.30103 0.47712 1.0", " ||| 0-0 1-1", f"0.30103 0.47712 1.0 {ALL}"),
    ("Moses", "sim_ngram", "king &apos;s city ||| king &apos;s city ||| ",
     "0.118287 5.56631e-08", " ||| 0-0 1-1 2-2 ||| 1 2.12506e+06 1 |||",
     f"0.118287 5.56631e-08 {ALL}"),
    ("Moses, hierarchical", "sim_ngram", "city of [X][X] [X] ||| city of [X][X] [X] ||| ",
     "0.5 0.1", " ||| 0-0 1-1 2-2 ||| 3 4 2", f"0.5 0.1 {ALL}"),
]  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats")
    (folder / "text").write_text(TEXT)
    index = CorpusIndex.build([folder / "text"], folder / "index", options=IndexOptions("text"))
    return SignatureTable.build(index, recipe=Recipe(), selection=Selection(min_count=2))


@pytest.mark.parametrize("line", LINES, ids=[line[0] for line in LINES])
def test_scores_are_added_and_all_else_stays(tmp_path, table, line):
    kind, name, sides, features, rest, wanted = line
    (tmp_path / "rules").write_text(sides + features + rest + "\n")
    aligner = RuleAligner(training=TrainingOptions(aligner="evidence"))
    scorer = RuleScorer([(name, table)], aligner=aligner, rule="unknown" not in kind)
    score_grammar(tmp_path / "rules", tmp_path / "out", scorer)
    assert (tmp_path / "out").read_text() == sides + wanted + rest + "\n"


@pytest.mark.parametrize(
    "rules",
    [
        "king ||| city ||| 0.5 0.1 ||| 0-0 ||| 1 2 1 |||\nzebra ||| gnu ||| 0.2 0.1 ||| 0-0\n",
        "old [X][X] [X] ||| city [X][X] [X] ||| 0.5 ||| 0-0 1-1 ||| 3 4 2\r\n",
        "[X] ||| old ||| river ||| 0.30103 1.0\n[X] ||| old ||| old ||| 0.5 1.0\nno rule\n",
    ],
)
def test_bare_scores_that_stand_already_are_replaced(tmp_path, table, rules):
    """By their values: a file that is scored again by other settings gets further columns."""
    (tmp_path / "rules").write_bytes(rules.encode())
    scorer = RuleScorer([("sim_ngram", table)])
    reports = [
        score_grammar(tmp_path / a, tmp_path / b, scorer, on_error="keep")
        for a, b in (("rules", "first"), ("first", "second"))
    ]
    first = (tmp_path / "first").read_bytes()
    assert (tmp_path / "second").read_bytes() == first
    assert [report.replaced for report in reports] == [0, reports[0].read]
    without = OutputOptions(coverage=False)
    score_grammar(tmp_path / "first", tmp_path / "third", scorer, options=without, on_error="keep")
    assert len((tmp_path / "third").read_bytes().split()) > len(first.split())
