"""A line of each format of grammars as its tool writes it, and the line that score makes of it."""

import gzip
import re
from pathlib import Path

import pytest

from distsim import CorpusIndex, IndexOptions, Recipe, Selection, SignatureTable
from distsim.grammar.alignment import RuleAligner, TrainingOptions
from distsim.grammar.formats import FORMATS
from distsim.grammar.formats.grammar_format import GrammarFormat, LineLayout
from distsim.grammar.score_file import score_grammar
from distsim.grammar.score_writer import OutputOptions
from distsim.grammar.scoring import RuleScorer
from distsim.paraphrase.substitution.substitute_candidates import ParaphraseGrammar

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


# Two formats that CONTRIBUTING.md's steps alone add: of another separator, and of no fields at all.
SEMICOLONS = GrammarFormat(
    name="semicolons",
    layout=LineLayout(label=0, source=1, target=2, features=3, links=4),
    looks_so=lambda line: line.count(b" ;; ") >= 2,
    separator=";;",
)
_ARROWS = re.compile(rb"(.*) <= (.*) (\[\S+\]) \{(.*)\}(.*)\n")


def _as_rule(line: bytes) -> bytes:
    match = _ARROWS.fullmatch(line)
    if match is None:
        return line
    target, source, label, features, links = match.groups()
    features = features.replace(b",", b" ")
    return b" ||| ".join([label, source, target, features, links.strip()]) + b"\n"


ARROWS = GrammarFormat(
    name="arrows",
    layout=SEMICOLONS.layout,
    looks_so=lambda line: b" <= " in line,
    separator="<=",
    as_rule=_as_rule,
    put_features=lambda line, features: re.sub(
        rb"\{.*\}", b"{%s}" % b",".join(features.split()), line
    ),
)


def text_of(file: Path) -> str:
    written = file.read_bytes()
    return (gzip.decompress(written) if file.suffix == ".gz" else written).decode()


def _in_semicolons(rule: str) -> str:
    return rule.replace("|||", ";;")


def _in_arrows(rule: str) -> str:
    label, source, target, features, *links = rule.rstrip("\n").split(" ||| ")
    joined = ",".join(features.split())
    return f"{target} <= {source} {label} {{{joined}}}" + "".join(f" {x}" for x in links) + "\n"


GIVEN_RULES = [
    "[X] ||| river ||| city ||| p(e|f)=1.5 sim_ngram=7 p(f|e)=2 ||| 0-0\n",
    "[X] ||| old city ||| old city ||| p(e|f)=2.5 p(f|e)=1 ||| 0-0 1-1\n",
    "[NP] ||| city of [X,1] ||| city [X,1] ||| p(e|f)=0.5 p(f|e)=1 ||| 0-0 2-1\n",
    "[X] ||| river ||| paris ||| p(e|f)=0.5 p(f|e)=3 ||| 0-0\n",
    "[X] ||| old city ||| the river ||| p(e|f)=0.2 p(f|e)=1 ||| 0-0 1-1\n",
]


@pytest.mark.parametrize(
    ("known", "in_form"),
    [(SEMICOLONS, _in_semicolons), (ARROWS, _in_arrows)],
    ids=["separator", "form"],
)
def test_a_format_of_any_form_works_in_all_commands(
    tmp_path, table, run, monkeypatch, known, in_form
):
    """What commands answer and write equals, in the form of the format, what they do of rules."""
    judged = []
    for n in range(60):
        judged.append(f"word{n}\tother{n % 7}{n}\t{n % 5 + n / 100}\n")
    (tmp_path / "judged").write_text("".join(judged))
    pairs = [line.split("\t") for line in judged]
    evidence = [f"[X] ||| {a} ||| {b} ||| p={c.strip()}\n" for a, b, c in pairs]
    rules, own = tmp_path / "rules", tmp_path / "own"
    monkeypatch.setattr("distsim.grammar.formats.FORMATS", {known.name: known, **FORMATS})

    def answers(command: list[object], written: str | None = None) -> list[str]:
        told = []
        for path, form in ((rules, str), (own, in_form)):
            out = tmp_path / f"{path.name}.{command[0]}"
            lines = evidence if command[0] == "rank" else GIVEN_RULES
            path.write_text("".join(map(form, lines)))
            arguments = [path if x is rules else x for x in command]
            text, _ = run(*arguments, "-o", out)
            files = [out] if out.is_file() else sorted(out.glob("*.gz"))
            told.append(text + "".join(text_of(file) for file in files))
        if written == "form":
            told[0] = "".join(map(in_form, told[0].splitlines(keepends=True)))
        assert told[0] == told[1] and told[0]
        return told

    ngram = ["--ngram", table.path]
    scored = answers(["score", rules, *ngram], "form")[1]
    assert scored.count("sim_ngram=") == len(GIVEN_RULES) and "sim_ngram=7" not in scored
    for settings in ([], ["--set", "top=1"], ["--set", "write=p(f|e)"]):
        ranked = answers(["rerank", rules, "-w", "p(e|f)=-1", *settings], "form")[1]
    assert ranked.index("old city") < ranked.index("paris")  # groups are put together, in order
    answers(["rank", "--learn", tmp_path / "judged", "--grammar", rules, "--set", "samples=0"])
    assert "PivotCount" in answers(["pivot", rules, "--columns", "conditional"])[0]
    answers(["pack", rules, "-w", "p(e|f)=-1"])
    shown = [run("rules", tmp_path / f"{name}.pack", "river")[0] for name in ("rules", "own")]
    assert shown[0] == shown[1] and "paris" in shown[0]
    grammars = [ParaphraseGrammar.read(path, [("river",)]) for path in (rules, own)]
    assert grammars[0].of(("river",)) == grammars[1].of(("river",)) != {}
    own.write_text(in_form(GIVEN_RULES[0]) + "no rule\n")
    for command in (["score", own, *ngram], ["rerank", own, "-w", "p(e|f)=1"], ["pivot", own]):
        _, err = run(*command, status=1)
        assert f"line 2: 1 field separated by {known.separator}, too few" in err
    _, err = run("rank", "--learn", tmp_path / "judged", "--grammar", own, "-o", "o", status=1)
    assert f"line 2: 1 field separated by {known.separator}, too few" in err
    assert not Path("o").exists()


def test_a_separator_is_a_token_or_a_tab(tmp_path, table, monkeypatch):
    tabs = GrammarFormat(
        name="tabs", layout=LineLayout(label=-1, source=0, target=1, features=2, gaps=False),
        looks_so=lambda line: line.count(b"\t") == 2, separator="\t",
    )  # fmt: skip
    monkeypatch.setattr("distsim.grammar.formats.FORMATS", {"tabs": tabs, **FORMATS})
    (tmp_path / "rules").write_text("old city\told city\ta=1 sim_ngram=0\r\nriver\triver\ta=2")
    scorer = RuleScorer([("sim_ngram", table)])
    options = OutputOptions(coverage=False)
    score_grammar(tmp_path / "rules", tmp_path / "out", scorer, options=options)
    assert (tmp_path / "out").read_bytes() == (
        b"old city\told city\ta=1 sim_ngram=1.00000\r\nriver\triver\ta=2 sim_ngram=1.00000"
    )
    assert SEMICOLONS.fields(b"[X] ;; a;; ;; b;;c ;; ;;\n") == [
        b"[X] ", b" a;; ", b" b;;c ", b" ", b"\n",
    ]  # fmt: skip


def test_a_form_of_its_own_needs_both_ways():
    with pytest.raises(ValueError, match="as_rule and put_features are given together"):
        GrammarFormat(
            name="one", layout=SEMICOLONS.layout, looks_so=SEMICOLONS.looks_so, as_rule=_as_rule
        )
