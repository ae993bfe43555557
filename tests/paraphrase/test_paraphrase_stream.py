"""Requests and answers of the stream, from Python and on the command line."""

import io
import json
import subprocess
import sys

import pytest

from distsim import CorpusIndex, ParameterError
from distsim.paraphrase import Paraphraser, ParaphraseStream
from distsim.paraphrase.paraphrasing_options import ParaphraseOptions

TEXT = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\n" * 3


@pytest.fixture
def index(tmp_path):
    return CorpusIndex.from_texts([TEXT], tmp_path / "index")


def test_answers_are_those_of_the_paraphraser(index):
    paraphraser = Paraphraser(index, options=ParaphraseOptions(min_score=0.0))
    stream = ParaphraseStream(paraphraser, jobs=1)
    wanted = paraphraser.answer("cat")
    answer = stream.answer(" cat ")
    assert answer["count"] == wanted.count == 6 and answer["reason"] == wanted.reason
    assert [row["answer"] for row in answer["answers"]] == [
        one.phrase for one in wanted.paraphrases
    ]
    assert answer["answers"] and "shared_contexts" not in answer["answers"][0]
    shown = ParaphraseStream(paraphraser, contexts=True, jobs=1).answer("cat")["answers"][0]
    assert (
        shown["shared_contexts"] == wanted.paraphrases[0].shared_contexts > 0 and shown["contexts"]
    )


def test_fields_of_a_request_come_back_and_lacking_words_have_spellings(index):
    stream = ParaphraseStream(Paraphraser(index))
    answer = stream.answer({"id": 7, "text": "the catt", "unknown": ["catt", "cat", "catt"]})
    assert list(answer) == ["id", "text", "unknown"] and answer["id"] == 7
    first, second, third = answer["unknown"]
    assert first == third and first["phrase"] == "catt" and first["count"] == 0
    assert first["reason"] == "does not occur in the corpus"
    assert {"answer": "cat", "score": None, "count": 6, "origin": ["spelling"]} in first["answers"]
    assert second == stream.answer("cat")
    with pytest.raises(ParameterError, match="list of phrases"):
        stream.answer({"text": "the cat"})


def test_each_line_has_a_line_before_the_next_is_read(index):
    stream = ParaphraseStream(Paraphraser(index))
    lines = [b"cat\n", b"\n", b"{\n", b'{"unknown": "cat"}\n', b"\xff\n", b"x" * 2_000_000 + b"\n",
             b'{"unknown": []}']  # fmt: skip
    file = io.BytesIO(b"".join(lines))
    answers = stream.answer_lines(file)
    assert next(answers)["phrase"] == "cat" and file.tell() == len(lines[0])
    rest = list(answers)
    assert rest[0] == {
        "phrase": "", "count": 0, "answers": [],
        "reason": "nothing is left of it after normalising",
    }  # fmt: skip
    assert [list(one) for one in rest[1:5]] == [["error"]] * 4 and rest[5] == {"unknown": []}
    assert "list of phrases" in rest[2]["error"] and "bytes" in rest[4]["error"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{bad\n", 'write {"text": "...", "unknown": ["a word"]}, or a phrase'),
        (b'{"unknown": ["cat"], "x": NaN}', "NaN is no number of JSON"),
        (b'{"unknown": ["cat"], "x": 1e999}', "1e999 is no number of JSON"),
        (b'{"unknown": ["cat", 1]}', "no list of phrases: write"),
        (b'{"unknown": ' + b"[" * 100_000, "no JSON object"),
        (b"c\xffat\n", "no UTF-8: send"),
    ],
)
def test_a_line_that_cannot_be_read_says_what_to_send(index, line, told):
    answer = ParaphraseStream(Paraphraser(index)).answer_line(line)
    assert list(answer) == ["error"] and told in answer["error"] and "\n" not in answer["error"]


@pytest.mark.parametrize("line", ["\0", "\u200b", "  ", '{"unknown": ["\\u0000"]}'])
def test_a_phrase_of_which_nothing_is_left_has_no_like_spellings(index, line):
    answer = ParaphraseStream(Paraphraser(index)).answer_line(line.encode())
    answer = answer["unknown"][0] if "unknown" in answer else answer
    assert answer["answers"] == [] and answer["reason"]


def test_a_program_beside_it_gets_each_answer_at_once(index):
    code = "from distsim.cli.start import main; main()"
    command = [sys.executable, "-c", code, "paraphrase", str(index.path), "--stream", "-k", "2"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for word in ("cat", "dog"):
            process.stdin.write(f"{word}\n".encode())
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["phrase"] == word
        process.stdin.write(b"{}\n")
        process.stdin.close()  # an end of input ends it
        assert "error" in json.loads(process.stdout.read())
        assert process.wait() == 1
        assert process.stderr is not None and b"standard input, line 3" in process.stderr.read()


def test_streams_take_no_phrases_and_no_csv(run, index, tmp_path):
    assert "--stream" in run("paraphrase", index.path, "cat", "--stream", status=2)[1]
    assert "--stream" in run("paraphrase", index.path, "--csv", "--stream", status=2)[1]
    (tmp_path / "in").write_text("cat\n")
    out, _ = run("paraphrase", index.path, "--stream", "--input", tmp_path / "in")
    assert json.loads(out)["phrase"] == "cat"
