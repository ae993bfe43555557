"""The command line: columns, exit codes, one-sentence errors, pipes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from io import StringIO

import pytest

from distsim.cli.console import visible
from distsim.cli.options import memory_bytes
from distsim.cli.rows import choose_format, flush_rows, put_row
from tests.cli.terminal import on_a_terminal
from tests.conftest import PROJECT, run_program

TEXT = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\n"


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "corpus.txt").write_text(TEXT)
    return tmp_path / "corpus.txt"


@pytest.fixture
def index(run, corpus, tmp_path):
    run("index", "build", corpus, "-o", tmp_path / "index")
    run("sign", tmp_path / "index", "--preset", "thesis", "--min-count", 1)
    return tmp_path / "index"


def test_build_reports_on_standard_error(run, corpus, tmp_path):
    out, err = run("index", "build", corpus, corpus, "-o", tmp_path / "i", "--dedup", "exact")
    assert out == ""
    assert "18 tokens, 9 words, 3 sentences, 1 document, 1 shard" in err
    assert "3 of 6 lines dropped (50.0%), 18 tokens (50.0%)" in err
    _, err = run("index", "add", tmp_path / "i", corpus, "--again")
    assert "6 of 9 lines dropped" in err


def test_count(run, index, tmp_path):
    assert (
        run("count", index, "the", "sat on the", "zebra")[0] == "the\t4\nsat on the\t2\nzebra\t0\n"
    )
    assert run("count", index, "--gapped", "sat _ mat")[0] == "sat _ mat\t1\n"
    (tmp_path / "asked").write_text("The CAT\n\na b c d e f g h\n")
    out, err = run("count", index, "--input", tmp_path / "asked")
    assert out == "The CAT\t1\n\tNA\na b c d e f g h\t0\n"
    assert "asked, line 2: the phrase is empty" in err
    out, _ = run("count", index, "--json", "the", "é")
    assert [json.loads(line) for line in out.splitlines()] == [
        {"phrase": "the", "count": 4}, {"phrase": "é", "count": 0},
    ]  # fmt: skip
    for empty in ("", " "):
        assert "the phrase is empty: give at least one" in run("count", index, empty, status=1)[1]
    for long in ("the " * 200, "x" * 300):  # no name of a file
        assert run("count", index, long)[0] == f"{long}\t0\n"
    assert "give phrases" in run("count", index, status=2)[1]


def test_kwic(run, index):
    out, _ = run("kwic", index, "sat", "--width", 2, "--limit", 2)
    assert out == "corpus.txt:1\tthe cat\tsat\ton the\ncorpus.txt:2\tthe dog\tsat\ton the\n"
    out, _ = run("kwic", index, "sat", "--sort", "right", "--width", 1)
    assert [line.split("\t")[0] for line in out.splitlines()] == [
        "corpus.txt:3", "corpus.txt:1", "corpus.txt:2",
    ]  # fmt: skip
    out, _ = run("kwic", index, "cat _ dog", "--gapped", "--json")
    assert json.loads(out)["node"] == "cat and a dog"
    both, _ = run("kwic", index, "sat", "--limit", 2)
    assert run("kwic", index, "sat", "--limit", 1, "--skip", 1)[0] == both.splitlines(True)[1]
    assert run("kwic", index, "zebra") == ("", "zebra: does not occur\n")
    assert "zebra: has no collocates" in run("collocates", index, "zebra")[1]
    assert "zebra: does not occur in 1" in run("document", index, 1, "--around", "zebra")[1]
    out, err = run("kwic", index, "zebra", "sat", "cat", "--limit", 1, "--json")
    assert [json.loads(line)["phrase"] for line in out.splitlines()] == ["sat", "cat"]
    assert err == "zebra: does not occur\n"


def test_ngrams(run, index):
    out, _ = run("ngrams", index, "-n", "2", "--min-count", 2)
    assert out == "sat on\t2\non the\t2\ndog sat\t2\n"
    out, _ = run("ngrams", index)
    assert len(out.splitlines()) == len(set(out.splitlines())) > 40
    assert "5-1" in run("ngrams", index, "-n", "5-1", status=2)[1]


def test_contexts(run, index):
    out, _ = run("contexts", index, "sat", "--limit", 0)
    assert out == "l1:dog\t2\t2.000000\nr1:on\t2\t2.000000\nl1:cat\t1\t1.000000\n"
    assert "does not occur" in run("contexts", index, "zebra")[1]


def test_similarity(run, index, tmp_path):
    assert run("similarity", index, "cat", "cat")[0] == "1.000000\n"
    # cat: l1 the 1, a 1; r1 sat 1, and 1. dog: l1 the 1, a 1; r1 sat 2. Cosine 4 / sqrt(4 * 6).
    assert run("similarity", index, "cat", "dog", "--exact")[0] == "0.816497\n"
    (tmp_path / "pairs").write_text("cat\tdog\ncat\tzebra\n\tcat\n")
    out, err = run("similarity", index, "--pairs", tmp_path / "pairs")
    lines = [line.split("\t") for line in out.splitlines()]
    assert [line[2] == "NA" for line in lines] == [False, True, True]
    assert "'zebra' is not in the table: 1 of 3 pairs" in err
    assert "pairs, line 3: a phrase is empty" in err
    out, err = run("similarity", index, "cat", "a b c d e")
    assert out == "NA\n" and "'a b c d e' is longer than 4 tokens" in err
    (tmp_path / "pairs").write_text("cat\tdog\ncat dog\n")
    _, err = run("similarity", index, "--pairs", tmp_path / "pairs", status=1)
    assert "pairs, line 2: one column, expected two" in err
    assert "phrase is empty" in run("similarity", index, "cat", "", status=1)[1]
    assert "two phrases" in run("similarity", index, "cat", status=2)[1]


def test_exact_of_a_table_outside_its_index(run, index, tmp_path):
    run("sign", index, "--preset", "thesis", "-o", tmp_path / "table", "--min-count", 1)
    _, err = run("similarity", tmp_path / "table", "cat", "dog", "--exact", status=1)
    assert "name its index with --index" in err
    out, _ = run("similarity", tmp_path / "table", "cat", "dog", "--exact", "--index", index)
    assert out == "0.816497\n"


def test_neighbours(run, index, tmp_path):
    out, _ = run("neighbours", index, "cat", "-k", 3)
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert all(len(row) == 4 for row in rows)
    (tmp_path / "asked").write_text("cat\nzebra\n\n")
    (tmp_path / "among").write_text("dog\nmat\n")
    out, err = run(
        "neighbours", index, "--input", tmp_path / "asked", "--candidates", tmp_path / "among"
    )
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[0] for row in rows] == ["cat", "cat", "zebra", ""]
    assert {row[2] for row in rows[:2]} == {"dog", "mat"}
    assert rows[2] == ["zebra", "NA", "NA", "NA", "NA"]
    assert "'zebra' is not in the table" in err
    out, _ = run("neighbours", index, "cat", "--threshold", "-1", "--lengths", "1", "--json")
    assert len(out.splitlines()) == 8
    assert "phrase is empty" in run("neighbours", index, "", status=1)[1]


def test_info_and_verify(run, index):
    out, _ = run("info", index)
    described = dict(line.split("\t") for line in out.splitlines())
    assert described["kind"] == "index" and described["counts.tokens"] == "18"
    assert described["signatures.fingerprint.weights.scheme"] == "raw"
    assert json.loads(run("info", index, "--json")[0])["parameters"]["counts"]["tokens"] == 18
    assert run("verify", index)[0] == f"{index}\tsound\n"
    file = next(index.glob("shard-0-tokens.*"))
    file.write_bytes(file.read_bytes()[:-1] + b"\x07")
    assert f"{file} is damaged" in run("verify", index, status=1)[1]


def test_signing_again_replaces(run, index):
    changed = ("weighting.scheme=ppmi", "model.window=2", "n_bits=64", "weighting.shift=0")
    settings = [word for one in changed for word in ("--set", one)]
    run("sign", index, "--preset", "thesis", *settings, "--min-count", 1)
    out, _ = run("info", index)
    assert "signatures.fingerprint.weights.shift\t0.0" in out
    _, err = run("index", "add", index, next(index.parent.glob("*.txt")), "--again")
    assert "the signatures inside do not know the new text yet" in err
    assert "signatures.up_to_date\tfalse" in run("info", index)[0]
    _, err = run("similarity", index, "cat", "dog", "--exact", status=1)
    assert "was not signed from the present text" in err


def test_errors_of_input_are_one_sentence(run, tmp_path, index):
    for arguments, message in (
        (("index", "build", "nowhere.txt", "-o", tmp_path / "x"), "nowhere.txt: no such file"),
        (("count", tmp_path / "nothing", "a"), "nothing: no such folder"),
        (("neighbours", index, "a", "--candidates", "nowhere"), "nowhere: no such file"),
        (("count", index, "--input", tmp_path), "is a folder, wanted a file"),
        (("similarity", index, "a", "b", "--exact", "--index", tmp_path / "no"), "no such folder"),
        (("sign", index, "--set", "n_bits=100"), "--set n_bits 100: choose a multiple of 64"),
    ):
        out, err = run(*arguments, status=1)
        assert out == "" and message in err
        assert len(err.strip().splitlines()) == 1


def test_usage_errors(run, index):
    assert "No such command" in run("frobnicate", status=2)[1]
    assert "--nonsense" in run("count", index, "a", "--nonsense", status=2)[1]
    run("kwic", index, "a", "--sort", "up", status=2)


def test_version(run):
    assert run("--version")[0].startswith("distsim ")


def program(*arguments, **options):
    command = [sys.executable, "-m", "distsim.cli.main", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, **options,
    )  # fmt: skip


def test_pipes(index, tmp_path):
    out, err = program("index", "build", "-", "-o", tmp_path / "piped").communicate(TEXT.encode())
    assert b"18 tokens" in err
    out, err = program("count", tmp_path / "piped", "--input", "-").communicate(b"the\nsat\n")
    assert (out, err) == (b"the\t4\nsat\t3\n", b"")


def test_a_closed_pipe_ends_quietly(index, tmp_path):
    (tmp_path / "many").write_text("the\n" * 100_000)
    process = program("count", index, "--input", tmp_path / "many")
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 128 + signal.SIGPIPE


@pytest.mark.parametrize(
    ("closed", "command", "status", "out", "err"),
    [
        (">&-", "count INDEX the", 1, "", "standard input or output is closed: open it"),
        (">&-", "index build CORPUS -o OUT", 0, "", "18 tokens"),
        ("2>&-", "count INDEX the", 0, "the\t4\n", ""),
        ("2>&-", "count nowhere the", 1, "", ""),
        ("<&-", "count INDEX -i -", 1, "", "standard input: is closed: give it"),
        ("<&- >&- 2>&-", "index build CORPUS -o OUT", 0, "", ""),
        (">/dev/full", "count INDEX the", 1, "", "free some space"),
    ],
)
def test_closed_streams(index, corpus, tmp_path, closed, command, status, out, err):
    for name, path in (("INDEX", index), ("CORPUS", corpus), ("OUT", tmp_path / "out")):
        command = command.replace(name, str(path))
    result = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m distsim.cli.main {command} {closed}"],
        capture_output=True, text=True, cwd=PROJECT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert result.returncode == status
    assert result.stdout == out
    said = [line for line in result.stderr.splitlines() if not line.startswith("read as ")]
    assert err in result.stderr and len(said) == bool(err)
    if "OUT" in command:
        run_program("verify", tmp_path / "out")


def test_numbers_beyond_all_measure(run, index):
    huge = "9" * 30
    for arguments, option in (
        (("kwic", index, "a", "--limit", huge), "--limit"),
        (("kwic", index, "a", "--width", str(2**31)), "--width"),
        (("ngrams", index, "--min-count", huge), "--min-count"),
        (("sign", index, "--set", f"seed={2**63}"), "--set"),
        (("sign", index, "--set", "weighting.alpha=nan"), "--set"),
        (("sign", index, "--set", "weighting.shift=inf"), "--set"),
        (("sign", index, "--memory", "9" * 30), "--memory"),
        (("kwic", index, "a", "--limit", "9" * 5000), "--limit"),
    ):
        out, err = run(*arguments, status=2)
        assert out == "" and option in err.splitlines()[-1]
    assert "choose" in run("ngrams", index, "-n", f"1-{huge}", status=1)[1]
    _, err = run("sign", index, "--set", "seed=12345678901234567890", status=2)
    assert "seed: is '12345678901234567890', wanted a whole number of up to 19 digits" in err


@pytest.mark.parametrize("size", ["", "B", "K", "1KM", "nan", "1_0M", "-1", "0", "0.1", "\udcff"])
def test_what_is_no_size(run, index, size):
    for arguments in (
        ("sign", index, "--memory", size), ("--unpack-limit", size, "count", index, "a"),
    ):  # fmt: skip
        out, err = run(*arguments, status=2)
        assert out == "" and "give a size such as 800M or 4G" in err


def test_sizes_have_units_of_1024():
    found = [memory_bytes(text) for text in ("7", "800M", "4G", "4gb", "1.5k", "1e3", "2 T")]
    assert found == [7, 800 << 20, 4 << 30, 4 << 30, 1536, 1000, 2 << 40]


def test_help_is_in_groups_with_whole_sentences(run):
    out, _ = run("--help")
    headings = [line[:-1] for line in out.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == ["Options", "Corpus", "Signatures", "Paraphrases", "Grammars", "Artifacts"]
    listed = out[out.index("Corpus:") :]
    sentences = re.split(r"^  (?=\w)", listed, flags=re.M)[1:]
    names = [sentence.split()[0] for sentence in sentences]
    assert names[0] == "index" and sorted(names) == sorted(program_commands())
    for sentence in sentences:
        assert re.search(r"[.]\s*(\n\n\w+:\s*)?$", sentence), sentence
        assert "..." not in sentence


def program_commands():
    import typer

    from distsim.cli.main import app

    return typer.main.get_command(app).commands


def test_completion(monkeypatch, run):
    for name, value in (("_DISTSIM_COMPLETE", "complete_bash"), ("COMP_CWORD", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COMP_WORDS", "distsim ne")
    assert run()[0] == "neighbours\n"


class Terminal(StringIO):
    def isatty(self):
        return True


def test_what_a_terminal_would_obey_is_shown(monkeypatch):
    text = "a\tb\nc\x1b[2J\x07\x9b\u202e\u2028é\xa0\udcff"
    shown = r"a\tb\nc\x1b[2J\x07\x9b\u202e\u2028é" + "\xa0" + r"\xff"
    assert visible(text, Terminal()) == shown
    assert visible(text, StringIO()) == "a\\tb\\nc\x1b[2J\x07\x9b\u202e\u2028é\xa0\\xff"
    for stream in (Terminal(), StringIO()):
        monkeypatch.setattr(sys, "stdout", stream)
        put_row({"name": text, "count": 1})
        flush_rows()
        row = stream.getvalue().splitlines(keepends=True)[-1] if stream.isatty() else None
        expected = visible(text, stream) + ("      1\n" if stream.isatty() else "\t1\n")
        assert (row or stream.getvalue()) == expected
        line = len(stream.getvalue())
        choose_format(True, False, False)
        put_row({"name": text})
        choose_format(False, False, False)
        printed = stream.getvalue()[line:]
        assert json.loads(printed) == {"name": text}
        assert printed[:-1].replace("\xa0", "").isprintable() == stream.isatty()
        printed.encode()


def test_a_hostile_phrase_and_file_name(run, tmp_path):
    folder = tmp_path / "a\tb\nc\x1b[2J"
    folder.mkdir()
    (folder / "corpus").write_text("a \x1b[2Jb a\n")
    run("index", "build", folder / "corpus", "-o", tmp_path / "i")
    (tmp_path / "asked").write_text("\x1b[2Jb\na\tb\n")
    assert run("count", tmp_path / "i", "-i", tmp_path / "asked")[0] == "\x1b[2Jb\t1\na\\tb\t0\n"
    _, err = run("count", folder, "a", status=1)
    assert err.count("\n") == 1 and "a\\tb\\nc\x1b[2J" in err


@pytest.mark.usefixtures("obeyed_signals")
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_in_the_middle_of_a_build(tmp_path):
    process = program("index", "build", "-", "-o", tmp_path / "i", start_new_session=True)
    process.stdin.write(b"a b c\n" * 1_000_000)
    process.stdin.flush()
    unfinished = tmp_path / ".i.unfinished"
    while not (unfinished.exists() and any(unfinished.iterdir())):
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.stdin.close()
    err = process.stderr.read().decode()
    assert process.wait() == 130
    assert err.count("\n") == 2 and "read as " in err
    assert "interrupted" in err and "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("shell", "told"),
    [
        ('exec "$@" <&-', "distsim: standard input: is closed: give it something to read, or"),
        ('ulimit -v 400000 && exec "$@"', "distsim: only 390 MB may be mapped (ulimit -v): allow"),
        ('ulimit -v 400000 && exec "$@" 2>&-', ""),
    ],
)
def test_what_a_shell_takes_away_is_told_in_a_sentence(tmp_path, shell, told):
    command = ["sh", "-c", shell, "sh", sys.executable, "-m", "distsim.cli.start", "index"]
    done = subprocess.run(
        [*command, "build", "-", "-o", tmp_path / "x.index"], check=False, capture_output=True,
        text=True, cwd=PROJECT,
    )  # fmt: skip
    assert done.returncode == 1 and done.stderr.startswith(told) and done.stderr.count("\n") <= 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    ["--help", "--version", "info INDEX", "count INDEX the-rabbit zeppelin", "kwic INDEX dog"],
)
def test_looking_does_not_import_the_compiler(index, command):
    words = [str(index) if word == "INDEX" else word for word in command.split()]
    code = (
        "import sys, distsim.cli.main as program\n"
        f"sys.argv = ['distsim', *{words!r}]\n"
        "try:\n    program.main()\n"
        "finally:\n    print('numba' in sys.modules, file=sys.stderr)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout
    assert result.stderr.splitlines()[-1] == "False"


def test_a_terminal_gets_a_header_and_aligned_columns(run, index):
    header, *rows = on_a_terminal(60, "kwic", index, "sat", "--width", 2)
    assert header.split() == ["place", "left", "node", "right"]
    assert len(rows) == 3 and len({row.index("  sat") for row in rows}) == 1
    assert on_a_terminal(60, "count", index, "the", "zebra") == [
        "phrase  count", "the         4", "zebra       0",
    ]  # fmt: skip
    assert on_a_terminal(60, "kwic", index, "sat", "-k", 1)[-1] == "1 of 3 (-k 0: all)"
    narrow = on_a_terminal(40, "kwic", index, "sat", "--width", 9)
    assert all(len(row) <= 40 and " sat" in row for row in narrow[1:])
    assert any("…" in row for row in narrow)


def test_a_pipe_gets_tabs_and_a_header_where_asked(run, index):
    assert run("count", index, "the", "cat")[0] == "the\t4\ncat\t2\n"
    assert run("count", index, "the", "--header")[0] == "phrase\tcount\nthe\t4\n"
    assert run("count", index, "the, cat", "--csv")[0] == 'phrase,count\n"the, cat",0\n'
    assert json.loads(run("count", index, "the", "--json")[0]) == {"phrase": "the", "count": 4}
    assert "exclude each other" in run("count", index, "the", "--csv", "--json", status=2)[1]


@pytest.mark.parametrize(
    "command", ["collocates", "contexts", "continuations", "neighbours", "ngrams"]
)
def test_csv_and_json_have_the_same_names(run, index, command):
    words = () if command == "ngrams" else ("cat",)
    more = ("--min-count", 1) if command == "collocates" else ()
    listed, _ = run(command, index, *words, *more, "-k", 2, "--csv")
    names = set(listed.splitlines()[0].split(",")) - {"note"}
    first = json.loads(run(command, index, *words, *more, "-k", 2, "--json")[0].splitlines()[0])
    assert names <= set(first) | set(next(iter(first.get("answers", [{}]))))


def test_letters_from_right_to_left_are_isolated(tmp_path, run):
    (tmp_path / "he.txt").write_text("שלום עולם\nשלום רב\n")
    run("index", "build", tmp_path / "he.txt", "-o", tmp_path / "he")
    rows = on_a_terminal(60, "count", tmp_path / "he", "שלום")
    assert rows[1].startswith("\u2068שלום\u2069") and rows[1].endswith("2")


def test_the_program_alone_prints_the_ten_commands_of_the_three_jobs(run):
    lines = run()[0].splitlines()
    commands = [line.split()[1] for line in lines if line.startswith("  distsim ")]
    assert len(commands) == 10 and all(len(line) <= 80 for line in lines)
    assert {"index", "score", "augment"} < set(commands)
    for command in set(commands):
        assert run(command, "--help")[0]


def test_a_misspelt_command_option_or_value_offers_the_nearest(run, index):
    assert "Did you mean 'count'" in run("conut", status=2)[1]
    assert "--spread" in run("count", index, "a", "--spraed", status=2)[1]
    error = run("sign", index, "--preset", "thesys", status=2)[1]
    assert "Did you mean 'thesis'?" in error and "Value error" not in error
    assert "build " in run("index", status=2)[1] and "\\n" not in run("index", status=2)[1]
