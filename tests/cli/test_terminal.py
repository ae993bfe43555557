"""Every command that lists rows, on terminals of three widths and in a pipe."""

import csv
import io
import json
import re
import shlex

import pytest
from rich.cells import cell_len

from distsim.cli.rows import aligned_lines
from tests.cli.many_commands import MARK
from tests.cli.terminal import on_a_terminal
from tests.grammar.test_packs import drawn_grammar

WIDTHS = (40, 80, 200)
# Documents with fields; words of two cells, words from right to left, a long one; IN is the index.
SENTENCES = ["the king saw the old queen of the castle", "שלום the king עולם said to the queen",
             "猫 saw the 国王 of the castle", "the king ate the " + "long" * 30 + " bread",
             "the queen saw the king 猫 and 猫"]  # fmt: skip
LISTS = {
    "count": "count IN king queen שלום 猫 zebra",
    "count --by": "count IN king queen --by author",
    "count --spread": "count IN king queen --spread",
    "kwic": "kwic IN king -k 10",
    "kwic of wide words": "kwic IN 猫 -k 0",
    "ngrams": "ngrams IN -n 1-2 -k 10",
    "ngrams --spread": "ngrams IN --spread -k 0",
    "collocates": "collocates IN king --min-count 1 -k 10",
    "contexts": "contexts IN king -k 3",
    "keywords": "keywords IN --where author=Ann --max-p 1 -k 10",
    "trace": "trace IN TEXT --min-tokens 1 -k 2",
    "continuations": "continuations IN the -k 2",
    "compare": "compare IN king queen",
    "similarity": "similarity IN king queen",
    "neighbours": "neighbours IN king queen -k 3",
    "paraphrase": "paraphrase IN king -k 3",
    "info": "info IN",
    "subcorpus list": "subcorpus list IN",
    "rules": "rules PACKS a -k 1",
}
ENDS = re.compile(r"(?:[\d,]+ of [\d,]+|the first \d+(?: of each)?) \(-k 0: all\)")


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """Every command with the paths of its artifacts."""
    from distsim.grammar.packs.pack import pack_grammar
    from tests.conftest import run_program

    place = tmp_path_factory.mktemp("terminal")
    with open(place / "texts.jsonl", "w", encoding="utf-8") as out:
        for number in range(40):
            text = ". ".join(SENTENCES[(number + i) % len(SENTENCES)] for i in range(3)) + "."
            fields = {"id": f"d{number}", "author": ("Ann", "Bob")[number % 5 > 1], "text": text}
            out.write(json.dumps(fields, ensure_ascii=False) + "\n")
    (place / "text").write_text("\n".join(SENTENCES), encoding="utf-8")
    drawn_grammar(place / "grammar", n=60)
    pack_grammar(place / "grammar", place / "packs", jobs=1)
    index = place / "texts.index"
    for words in (
        ("index", "build", place / "texts.jsonl", "-o", index),
        ("sign", index, "--preset", "thesis", "--min-count", 1),
        ("subcorpus", "save", index, "early", "--where", "author=Ann"),
    ):
        assert run_program(*words) == 0
    paths = {"IN": index, "TEXT": place / "text", "PACKS": place / "packs"}
    return place, {
        name: " ".join(str(paths.get(word, word)) for word in line.split())
        for name, line in LISTS.items()
    }


@pytest.fixture(scope="module")
def screens(commands):
    """{(command, columns): lines on a terminal}."""
    place, lines = commands
    (place / "all").write_text("\n".join(lines.values()), encoding="utf-8")
    found = {}
    for columns in WIDTHS:
        shown = on_a_terminal(columns, place / "all", module="tests.cli.many_commands")
        assert shown[0] == f"{MARK}0", shown[:3]
        name = ""
        for line in shown:
            if line.startswith(MARK):
                name = list(LISTS)[int(line[len(MARK) :])]
                found[name, columns] = []
            else:
                found[name, columns].append(line)
    return found


def cells(line):
    return cell_len(re.sub("[\u2066-\u2069]", "", line))


@pytest.mark.parametrize("command", LISTS)
@pytest.mark.parametrize("columns", WIDTHS)
def test_a_terminal_gets_a_table_of_its_width(screens, command, columns):
    lines = screens[command, columns]
    assert len(lines) > 1
    sentences = ("no room for ", "the: ", "this table has ")  # on standard error, may be longer
    table = [line for line in lines if not (line.startswith(sentences) or ENDS.fullmatch(line))]
    assert all(cells(line) <= columns for line in table), table
    assert all(line == line.rstrip() and "\t" not in line for line in lines)
    for number in re.findall(r"(?<![\w.,:-])\d+\.\d+(?![\w.])", "\n".join(table)):
        digits = number.replace(".", "").lstrip("0")
        assert len(digits) <= 3 or command == "info", number
    assert "\u2068שלום\u2069" in "".join(lines) or command != "count"


@pytest.mark.parametrize("command", ["kwic", "kwic of wide words"])
@pytest.mark.parametrize("columns", WIDTHS)
def test_a_concordance_is_aligned_on_its_node(screens, command, columns):
    node = "猫" if "wide" in command else "king"
    header, *rows = [line for line in screens[command, columns] if "  " in line]
    begin = header.index("node")
    for row in rows:
        places = [cells(row[: found.start()]) for found in re.finditer(f"  {node}", row)]
        assert begin - 2 in places, row


def test_the_rest_is_told(screens):
    assert screens["kwic", 80][-1] == "10 of 96 (-k 0: all)"
    assert screens["continuations", 80][-1] == "2 of 6 (-k 0: all)"
    assert screens["trace", 80][-1].startswith("2 of ")
    assert screens["rules", 80][-1].startswith("1 of ")
    for command in ("ngrams", "collocates", "contexts"):
        assert any(ENDS.fullmatch(line) for line in screens[command, 80]), command
    assert "the first 3 of each (-k 0: all)" in screens["neighbours", 80]
    assert "the first 3 (-k 0: all)" in screens["paraphrase", 80]
    assert any(line.startswith("no room for ") for line in screens["ngrams --spread", 40])
    assert not any(line.startswith("no room for ") for line in screens["ngrams --spread", 200])


@pytest.mark.parametrize("command", LISTS)
def test_a_pipe_gets_all_digits_under_the_same_names(commands, run, command):
    words = shlex.split(commands[1][command])
    plain, headed, commas = (run(*words, *more)[0] for more in ((), ("--header",), ("--csv",)))
    objects = [json.loads(line) for line in run(*words, "--json")[0].splitlines()]
    assert objects and "\u2068" not in plain and "…" not in plain
    names = headed.splitlines()[0].split("\t")
    assert next(csv.reader(io.StringIO(commas))) == names or command == "neighbours"
    is_one = set(names) <= {"similarity", "note"}
    assert all("\t" in line or is_one for line in plain.splitlines() if line)
    if command in ("info", "compare", "trace", "continuations", "rules"):
        return  # one object for several tables
    known = set().union(*objects) | {"note"}
    assert set(names) <= known, set(names) - known


def test_the_one_question_is_not_repeated_on_a_terminal(commands, screens, run):
    for name, column in (("paraphrase", "phrase"), ("count --by", "phrase"), ("rules", "source")):
        words = shlex.split(commands[1][name])
        is_one = name != "count --by"
        assert (screens[name, 80][0].split()[0] != column) == is_one, screens[name, 80]
        assert run(*words, "--header")[0].split()[0] == column  # a pipe always has it


def test_keys_keep_their_ends_and_places_their_lines():
    rows = [(f"signatures.fingerprint.weights.{end}", "a" * 30) for end in ("shift", "least")]
    lines = aligned_lines(("name", "value"), rows, 40)[0]
    assert [line.split()[0][-13:] for line in lines[1:]] == ["weights.shift", "weights.least"]


def test_all_rules_are_shown_for_k_0(commands, run):
    words = shlex.split(commands[1]["rules"])[:-2]
    every, best = run(*words, "-k", 0)[0].splitlines(), run(*words, "-k", 1)[0].splitlines()
    assert every[:1] == best and len(every) > 1


def test_the_longest_spans_are_traced(commands, run):
    words = shlex.split(commands[1]["trace"])[:-2]
    (full,) = [json.loads(line)["spans"] for line in run(*words, "--json")[0].splitlines()]
    (cut,) = [json.loads(line)["spans"] for line in run(*words, "--json", "-k", 3)[0].splitlines()]
    assert len(cut) == 3 < len(full) and [span for span in full if span in cut] == cut
    rest = [span["n_tokens"] for span in full if span not in cut]
    assert min(span["n_tokens"] for span in cut) >= max(rest)


def test_a_number_is_never_cut():
    rows = [("a" * 30, 123456789012, 5), ("b", 7, 5)]
    lines, widths = aligned_lines(("phrase", "count", "x"), rows, 26)
    assert "123,456,789,012" in lines[1] and "…" in lines[1] and widths[2] == 0
    more, _ = aligned_lines(("phrase", "count", "x"), [("c", 10**15, 5)], 26, widths)
    assert "1,000,000,000,000,000" in more[0]


def test_fields_stand_below_a_line_of_which_they_would_leave_too_little():
    names = ("place", "left", "node", "right", "author", "year")
    row = ("a-very-long-file-name.txt:12345", "l" * 60, "take", "r" * 60, "A" * 60, "1865")
    lines, widths = aligned_lines(names, [row], 80)
    left, _, right = lines[1].split()[1:]
    assert len(left) == len(right) >= 25 and len(lines[1]) <= 80
    assert "author" not in lines[0] and lines[2:] == [f"  author: {'A' * 39}…  year: 1865"]
    more, _ = aligned_lines(names, [(*row[:4], None, "1866")], 80, widths)
    assert more[1:] == ["  author: NA  year: 1866"]
    narrow, _ = aligned_lines(names, [row], 50)
    assert [line.strip() for line in narrow[2:]] == [f"author: {'A' * 39}…", "year: 1865"]
    beside, _ = aligned_lines(names, [row], 120)
    assert len(beside) == 2 and beside[1].endswith("  1865") and len(beside[1].split()[1]) >= 25
    one_field, _ = aligned_lines(names[:5], [(*row[:4], "novel")], 80)
    assert one_field[1].endswith("  novel") and len(one_field[1].split()[1]) == 25
