"""Lines that fuzzing found: every reader reads them, or refuses them in a sentence."""

import json

import pytest

from distsim import DistsimError, InputError, read_gold
from distsim.base.arguments import plain_count, plain_number
from distsim.comparison.opposites.language import Language
from distsim.corpus.lines import LineBlock
from distsim.corpus.vectors import read_vectors
from distsim.grammar.block import parse_block
from distsim.grammar.formats.moses import PHRASE_TABLE
from distsim.grammar.formats.rules import gap_of
from distsim.paraphrase.records import FORMAT, VERSION, read_paraphrases
from distsim.paraphrase.rewriting.language_model import ArpaModel
from distsim.paraphrase.rewriting.rewriting_options import Weights

HEAD = {"format": FORMAT, "version": VERSION, "normaliser": {}, "text_format": "lines"}
ODD = ("nan", "inf", "1e400", "1_0", "0x1", "١", "", "9" * 5000 + "x")


@pytest.fixture
def refused(tmp_path):
    """Write a text, read it, and give back the sentence by which it is refused."""

    def told(read, text):
        file = tmp_path / "file"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(InputError, match=r"file") as found:
            read(file)
        message = str(found.value)
        assert "\n" not in message and len(message) < 2000
        return message

    return told


@pytest.mark.parametrize("number", ODD)
def test_odd_numbers_are_no_numbers(refused, number):
    assert plain_number(number) is None and plain_count(number) is None
    refused(read_gold, f"king\tqueen\t1\na\tb\t2\nking\tqueen\t{number}\n")
    refused(Weights.read, f"LM\t{number}\n")
    refused(Language.open, f"opposite\t{number}\n")
    refused(read_paraphrases, f"a\t1\tb\t.5\na\t2\tc\t{number}\n")
    refused(ArpaModel, f"\\data\\\n\n\\1-grams:\n{number or 'x'}\tthe\n\n\\end\\\n")


def test_a_never_in_arpa_is_a_number(tmp_path):
    (tmp_path / "lm").write_text("\\1-grams:\n-inf\t<s>\t-1\n-1\tthe\n\n\\end\\\n")
    assert ArpaModel(tmp_path / "lm").log_probability(["the"]) < 0


def test_counts_beyond_64_bits():
    assert plain_count("0" * 40 + "7") == 7 and plain_count("0") == 0
    for count in ("9" * 19, "9" * 5000):  # Python refuses to read the second
        assert plain_count(count) is None


@pytest.mark.parametrize(
    "line",
    ["[" * 100_000, '{"phrase": ' + "[" * 100_000, "[]", "{}",
     '{"phrase": "a", "paraphrases": [{"phrase": "b", "score": NaN}]}',
     '{"phrase": "a", "paraphrases": [{"phrase": "b", "score": true}]}',
     '{"phrase": "a", "paraphrases": ["b"]}', '{"phrase": "a", "paraphrases": {"b": 1}}'],
)  # fmt: skip
def test_json_lines_of_paraphrases(refused, line):
    assert "line 2" in refused(read_paraphrases, json.dumps(HEAD) + "\n" + line + "\n")


@pytest.mark.parametrize("change", [{"normaliser": None}, {"normaliser": {"x": 1}}, {"version": 9}])
def test_heads_of_paraphrases(tmp_path, change):
    (tmp_path / "file").write_text(json.dumps(HEAD | change) + "\n")
    with pytest.raises(DistsimError):
        read_paraphrases(tmp_path / "file")


def test_tables_that_the_csv_reader_refuses(refused):
    refused(read_gold, b"king,queen,8\nking,queen,8\nking\rqueen,the,8\n")
    refused(read_gold, b"king,queen,8\nking,queen,8\n" + b'"' + b"a," * 100_000 + b"\n")


def test_a_message_is_never_as_long_as_a_line():
    message = str(DistsimError("file, line 1: " + "x" * 10**6 + ": mend the line"))
    assert len(message) < 2000
    assert message.startswith("file, line 1: ") and message.endswith(": mend the line")


def test_numbers_of_5000_digits_are_read_by_nobody(tmp_path, refused):
    digits = "9" * 5000  # more than Python reads
    assert gap_of(b"[X,%s]" % digits.encode()) is not None and gap_of(b"[X,000]") is None
    lines = [f"a ||| b ||| 1 1 1 1 ||| {links} |||" for links in (f"{digits}-0", f"0-{digits}")]
    for line in (*lines, f"a ||| b ||| ({digits}) ||| (0) ||| 1 1 1 1"):
        assert parse_block(LineBlock(line.encode() + b"\n", 1), PHRASE_TABLE).fault(0)
    refused(read_vectors, f"{digits} 3\nking 1 0 .5\n")
    refused(ArpaModel, f"\\data\\\n\\{digits}-grams:\n-1\tthe\n\\end\\\n")
