"""Readers of annotated corpora: what they read, and what they say when it is broken."""

import gzip
import random

import pytest

from distsim.base.errors import InputError
from distsim.corpus import conllu as conllu_reader
from distsim.corpus.annotated import read_annotated
from distsim.corpus.annotation import Arc, Constituent
from tests.conftest import SHARED

GUM = SHARED / "data" / "gum-annotated"


def token(number, form, head, deprel="dep", deps="_", misc="_", lemma=None, xpos="NN"):
    lemma = lemma or form
    return "\t".join(map(str, (number, form, lemma, "NOUN", xpos, "_", head, deprel, deps, misc)))


def conllu(*lines):
    return "\n".join(lines) + "\n\n"


GOOD = conllu(token(1, "Dogs", 2, "nsubj", "2:nsubj"), token(2, "Bark", 0, "root", "0:root"))


def read(tmp_path, text, trees=None):
    path = tmp_path / "a.conllu"
    path.write_text(text, encoding="utf-8")
    if trees is None:
        return list(read_annotated([path]))
    tree_path = tmp_path / "a.ptb"
    tree_path.write_text(trees, encoding="utf-8")
    return list(read_annotated([path], trees=[tree_path]))


def test_columns(tmp_path):
    (sentence,) = read(
        tmp_path,
        "# newdoc id = x\n# text = no matter\n"
        + conllu(
            "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_",
            token(1, "Do", 2, "aux", "2:aux", lemma="DO", xpos="_"),
            token(2, "N'T", 0, "root", "0:root", "NER=B-PERSON"),
        ),
    )
    assert sentence.words == ["do", "n't"]
    assert sentence.lemmas == ["do", "n't"]
    assert sentence.pos == ["NOUN", "NN"]
    assert sentence.ner == ["o", "person"]
    assert sentence.heads == [1, -1]
    assert sentence.types == ["aux", "root"]
    assert sentence.enhanced == [Arc(0, 1, "aux"), Arc(1, -1, "root")]
    assert sentence.line == 1


@pytest.mark.parametrize("written", ["ner=S-LOC", "NER=E-LOC", "ner=LOC", "A=b|NER=I-LOC"])
def test_entity_classes_lose_their_prefix(tmp_path, written):
    (sentence,) = read(tmp_path, conllu(token(1, "a", 0, misc=written)))
    assert sentence.ner == ["loc"]


def test_no_class_is_o(tmp_path):
    (sentence,) = read(
        tmp_path, conllu(token(1, "a", 0, misc="ner=O"), token(2, "b", 1, misc="NER=_"))
    )
    assert sentence.ner == ["o", "o"]


def test_innermost_mention_over_lines(tmp_path):
    text = conllu(
        token(1, "a", 0, misc="Entity=(1-person-new(2-Place-new)"),
        token(2, "b", 1, misc="Entity=(3-event-x"),
        token(3, "c", 1),
    ) + conllu(token(1, "d", 0, misc="Entity=3)"), token(2, "e", 1, misc="X=y|Entity=1)"),
               token(3, "f", 1))  # fmt: skip
    first, second = read(tmp_path, text)
    assert first.ner == ["place", "event", "event"]
    assert second.ner == ["event", "person", "o"]


def test_arcs_through_empty_nodes(tmp_path):
    # 2 hangs on the empty 1.1, which hangs on 3 and on the empty 1.2, which hangs on 1;
    # 1.3 and 1.4 hang on each other: an arc from there leads nowhere.
    text = conllu(
        token(1, "a", 0, "root", "0:root"),
        "1.1\t_\t_\t_\t_\t_\t_\t_\t3:conj|1.2:x\t_",
        "1.2\t_\t_\t_\t_\t_\t_\t_\t1:y\t_",
        "1.3\t_\t_\t_\t_\t_\t_\t_\t1.4:y\t_",
        "1.4\t_\t_\t_\t_\t_\t_\t_\t1.3:y\t_",
        token(2, "b", 1, "obj", "1.1:obj:of"),
        token(3, "c", 1, "obj", "1.3:obj"),
    )
    (sentence,) = read(tmp_path, text)
    assert sentence.enhanced == [
        Arc(0, -1, "root"), Arc(1, 2, "obj:of"), Arc(1, 0, "obj:of"),
    ]  # fmt: skip


def test_trees(tmp_path):
    tree = "( (S-1 (NP-SBJ=2 (NN Dogs)) (VP (VB Bark) (NP (-NONE- *T*)))) )"
    nodes = [
        Constituent(0, 2, "S"),
        Constituent(0, 1, "NP"),
        Constituent(0, 1, "NN"),
        Constituent(1, 2, "VP"),
        Constituent(1, 2, "VB"),
    ]
    assert read(tmp_path, GOOD, tree + "\n")[0].nodes == nodes
    assert read(tmp_path, f"# constituency = {tree}\n{GOOD}")[0].nodes == nodes
    assert read(tmp_path, GOOD + GOOD, f"\n{tree}\n")[0].nodes == []


def test_brackets_keep_their_label(tmp_path):
    tree = "(ROOT (X (-LRB- -LRB-) (NP=1 b)))\n"
    assert [n.label for n in read(tmp_path, GOOD, tree)[0].nodes] == ["X", "-LRB-", "NP"]


TOOLKIT = (
    "(ROOT (S (NP (NNS Dogs)) (VP (VBP bark)) (. .))) ||| dog Bark . ||| Dogs/O bark/O ./O ||| "
)


@pytest.mark.parametrize("basic", ["1-2-nsubj 2-0-root", "nsubj-2-1 root-0-2"])
def test_toolkit_lines(tmp_path, basic):
    (sentence,) = read(tmp_path, f"{TOOLKIT}{basic} ||| prep_of-1-2 ||| 2-1-a-b\n")
    assert sentence.words == ["dogs", "bark", "."]
    assert sentence.lemmas == ["dog", "bark", "."]
    assert sentence.pos == ["NNS", "VBP", "."]
    assert sentence.ner == ["o", "o", "o"]
    assert sentence.heads == [1, -1, -2]
    assert sentence.types == ["nsubj", "root", "_"]
    assert sentence.collapsed == [Arc(1, 0, "prep_of")]
    assert sentence.propagated == [Arc(1, 0, "a-b")]
    assert [n.label for n in sentence.nodes] == ["S", "NP", "NNS", "VP", "VBP", "."]


def test_files_formats_and_archives_mix(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.gz").write_bytes(gzip.compress(GOOD.encode()))
    (tmp_path / "in" / "b.txt").write_text(f"{TOOLKIT}1-2-x 2-0-root ||| |||\n")
    (tmp_path / "in" / "c").write_bytes(GOOD.strip().replace("\n", "\r\n").encode())
    sentences = list(read_annotated([tmp_path / "in"]))
    assert [len(s.words) for s in sentences] == [2, 3, 2]
    assert sentences[0].words == sentences[2].words


BROKEN = [
    ("1\tDogs\t_\n\n", 1, "3 columns, wanted 10"),
    (conllu(token(1, "a", 0), token(3, "b", 1)), 2, "token number 3, wanted 2"),
    (conllu(token("x", "a", 0)), 1, "token number 'x'"),
    (conllu(token(1, "a", 0), token(2, "b", 3)), 2, "head 3 of token 2, wanted another token of 1"),
    (conllu(token(1, "a", 0), token(2, "b", -1)), 2, "head '-1': give"),
    (conllu(token(1, "a", 0), token(2, "b", 2)), 2, "head 2 of token 2, wanted another token"),
    (conllu(token(1, "a", 0), token(2, "b", "_")), 2, "head _ of token 2"),
    (conllu(token(1, "a", "x")), 1, "head 'x'"),
    (conllu(token("1" * 5000, "a", 0)), 1, "token number 11111111111111111111, wanted 1"),
    (conllu(token(1, "a", "9" * 5000)), 1, "head '99999"),
    (conllu(token(1, "a", 0, deps=f"{'9' * 5000}:x")), 1, "enhanced head '99999"),
    (GOOD + conllu("# c", token(1, "a", 0), token(2, "b", 0)), 5, "2 roots, wanted one"),
    (conllu(token(1, "a", 2), token(2, "b", 1)), 1, "0 roots, wanted one"),
    (conllu(token(1, "a", 0), token(2, "b", 3), token(3, "c", 2)), 1, "in a circle"),
    (conllu(token(1, "a", 0, deps="5:x")), 1, "enhanced head 5, wanted 0 to 1"),
    (conllu(token(1, "a", 0, deps="1.1:x")), 1, "enhanced head '1.1'"),
    (conllu(token(1, "a", 0, deps="0")), 1, "enhanced dependency '0'"),
    (conllu(token(1, "a", 0, misc="Entity=1)")), 1, "closes a mention that is not open"),
    (conllu(token(1, "a", 0, misc="Entity=(1)")), 1, "has no class"),
    (conllu(token(1, "a", 0, misc="Entity=x")), 1, "Entity=x"),
    (conllu(token(1, "", 0, lemma="x")), 1, "an empty column"),
    (conllu("1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_"), 1, "without tokens"),
    ("# constituency = (ROOT (A a)\n" + GOOD, 1, "1 ) missing: balance"),
    ("# constituency = (ROOT (A a))\n" + GOOD, 1, "a tree of 1 leaf for a sentence of 2"),
    (f"{TOOLKIT}1-2-x\n", 1, "4 fields, wanted 6"),
    (f"{TOOLKIT}1-2-x 1-2-y 2-0-r ||| |||\n", 1, "token 1 has two basic heads"),
    (f"{TOOLKIT}1-9-x ||| |||\n", 1, "dependency '1-9-x', wanted tokens of 1 to 3"),
    (f"{TOOLKIT}a ||| |||\n", 1, "dependency 'a': write"),
    (f"{TOOLKIT}1-2-x ||| |||\n", 1, "0 roots"),
    (f"{TOOLKIT}2-0-root ||| 1-1-x |||\n", 1, "on itself"),
    ("(ROOT (A a)) ||| a b ||| a/O ||| ||| |||\n", 1, "1 leaf, 2 lemmas and 1 entity class"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "said"), BROKEN, ids=range(len(BROKEN)))
def test_broken_annotation_names_file_and_line(tmp_path, text, line, said):
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    message = str(error.value)
    assert f"a.conllu, line {line}: " in message
    assert said in message
    assert message.count(":") >= 2  # and a remedy


BROKEN_TREES = [
    ("(ROOT (A a) (B b)\n", 1, "1 ) missing"),
    ("(ROOT (A a) (B b))) \n", 1, "a ) too many"),
    ("(A a) (B b)\n", 1, "text follows the tree"),
    ("a\n", 1, "is outside the brackets"),
    ("(ROOT (A a))\n", 1, "a tree of 1 leaf for the sentence of 2 tokens at"),
    ("(ROOT (A a) (B b))\n(ROOT (A a))\n", 2, "a tree too many after 1 sentence:"),
]


def test_a_sentence_without_end(tmp_path, monkeypatch):
    """Blank lines forgotten: refused within a few MB, not when the file has been gathered."""
    monkeypatch.setattr(conllu_reader, "LINE_BYTES", 2 << 20)
    file = tmp_path / "endless.conllu"
    line = token(1, "Dogs", 0, "root") + "\n"
    file.write_text(GOOD + line * ((5 << 20) // len(line)))
    with pytest.raises(InputError, match="line 4: a sentence of more than 2 MB begins here: put a"):
        list(read_annotated([file]))


@pytest.mark.parametrize(("trees", "line", "said"), BROKEN_TREES, ids=range(len(BROKEN_TREES)))
def test_broken_trees_name_file_and_line(tmp_path, trees, line, said):
    with pytest.raises(InputError) as error:
        read(tmp_path, GOOD, trees)
    assert f"a.ptb, line {line}: " in str(error.value)
    assert said in str(error.value)


def test_a_tree_too_few(tmp_path):
    with pytest.raises(InputError, match=r"a\.conllu, line 4: sentence 2 has no tree"):
        read(tmp_path, GOOD + GOOD, "(ROOT (A a) (B b))\n")


def test_no_sentence_at_all(tmp_path):
    with pytest.raises(InputError, match="no annotated sentence: give"):
        read(tmp_path, "# only a comment\n\n")


def test_gum():
    if not GUM.exists():
        pytest.skip("needs ../shared/data/gum-annotated")
    sentences = list(read_annotated([GUM / "gum-free.conllu.gz"], trees=[GUM / "gum-free.ptb.gz"]))
    assert len(sentences) == 4636
    assert sum(len(s.words) for s in sentences) == 98363
    assert all(len(s.words) == len(s.ner) == len(s.heads) for s in sentences)
    assert sum(len(s.enhanced) for s in sentences) > 98363
    assert sentences[0].ner == ["abstract", "abstract", "o", "abstract", "abstract", "o"]


MIXED = """# newdoc id = x
# constituency = (ROOT (S (NP a) (VP b)))
1\ta\tA\tX\tNN\t_\t2\tx\t2:x|0:y\tNER=B-PER
2\tb\tb\tVERB\t_\t_\t0\troot\t0:root\tSpaceAfter=No

# text = del
1-2\tdel\t_\t_\t_\t_\t_\t_\t_\tEntity=(7-odd
1\tde\tde\tX\tIN\t_\t0\troot\t_\tEntity=(1-place-new
2\tel\tel\tX\tDT\t_\t1\tx\t2.1:det\t_
2.1\te\te\tX\tDT\t_\t_\t_\t1:conj\t_
3\tC\tc\tX\tDT\t_\t2\tx\t_\tEntity=1)|ner=O

1\tx\tx\tX\tX\t_\t_\t_\t_\t_
2\ty\ty\tX\tX\t_\t_\t_\t_\t_


"""


PUT = ["", "_", "\t", "\n", "\n\n", "\r", *"#0129-.|:()", "Entity=", "NER=", "é", "x"]


def test_texts_changed_at_random_are_read_or_refused_with_a_line(tmp_path):
    """Never another exception; carriage returns change nothing."""
    draw = random.Random(7)
    path = tmp_path / "x"
    n_read = n_refused = 0
    for _ in range(1500):
        text = list(MIXED)
        for _ in range(draw.choice((1, 1, 2, 3))):
            place = draw.randrange(len(text))
            text[place] = draw.choice(PUT)
        found = []
        for ending in ("\n", "\r\n"):
            path.write_text("".join(text), newline=ending)
            try:
                found.append(list(read_annotated([path])))
            except InputError as error:
                found.append(str(error))
        assert found[0] == found[1] or "\r" in text
        n_read += isinstance(found[0], list)
        n_refused += isinstance(found[0], str) and ", line " in found[0]
    assert n_read + n_refused == 1500
    assert min(n_read, n_refused) > 300


def test_a_text_of_all_that_may_occur(tmp_path):
    (tmp_path / "x").write_text(MIXED)
    first, second, third = read_annotated([tmp_path / "x"])
    assert (first.pos, first.ner, first.heads) == (["NN", "VERB"], ["per", "o"], [1, -1])
    assert first.enhanced == [(0, 1, "x"), (0, -1, "y"), (1, -1, "root")]
    assert [node.label for node in first.nodes] == ["S", "NP", "VP"]
    assert (second.words, second.ner) == (["de", "el", "c"], ["place", "place", "o"])
    assert second.enhanced == [(1, 0, "det")]
    assert (third.heads, third.line) == ([-2, -2], 13)
