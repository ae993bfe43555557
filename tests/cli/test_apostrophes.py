"""Words with apostrophes of several languages, however typed, by every command for phrases."""

import pytest

from distsim import CorpusIndex, IndexOptions, Selection, sign
from distsim.signatures.recipe import PRESETS

WORDS = ["l'homme", "aujourd'hui", "м'ята", "o'zbek", "'s avonds", "σ' αγαπώ", "c'hoant", "un po'"]
WRITTEN = [word.replace("'", sign_) for word in WORDS for sign_ in "'’ʻ"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("apostrophes")
    text = "\n".join(f"Ici {word} vient, et {word} va." for word in WRITTEN * 3)
    (folder / "a.txt").write_text(text + "\n")
    index = CorpusIndex.build(folder / "a.txt", folder / "index", options=IndexOptions("text"))
    sign(index, recipe=PRESETS["thesis"], selection=Selection(min_count=1))
    return index.path


@pytest.mark.parametrize(
    ("command", "rest"),
    [
        ("count", ()), ("kwic", ("--limit", "3")), ("collocates", ("--min-count", "1")),
        ("collocates", ("--min-count", "1", "--query")), ("contexts", ()), ("continuations", ()),
        ("neighbours", ("-k", "3")), ("similarity", ("vient",)), ("compare", ("vient",)),
        ("paraphrase", ("-k", "3")), ("document", ("--sentences", "0")),
    ],
)  # fmt: skip
def test_an_apostrophe_is_one_however_it_is_typed(path, run, command, rest):
    for word in WORDS:
        answers = set()
        for apostrophe in "'’ʻ":
            typed = word.replace("'", apostrophe)
            phrase = ("1", "--around", typed) if command == "document" else (typed,)
            if command == "count":
                out, _ = run(command, path, *phrase, *rest)
                assert out == f"{typed}\t18\n"
                continue
            said = "".join(run(command, path, *phrase, *rest))
            answers.add(said.replace("’", "'").replace("ʻ", "'"))
        assert command == "count" or len(answers) == 1, answers
