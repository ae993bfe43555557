"""What many tests share: a small real corpus, and small random ones."""

import filecmp
import random
import signal
import sys
from pathlib import Path

import hypothesis
import pytest

from distsim import CorpusIndex, IndexOptions, Recipe
from distsim.cli.main import main
from distsim.contexts import NgramModel, Weighting
from distsim.signatures.composition import Composition
from distsim.storage.manifest import MADE_FROM

# The same examples in every run; others with `--hypothesis-profile=drawn`.
hypothesis.settings.register_profile("same", derandomize=True)
hypothesis.settings.register_profile("drawn", derandomize=False)
hypothesis.settings.load_profile("same")

collect_ignore = ["faults"]  # campaigns of minutes: `python -m tests.faults`
PROJECT = Path(__file__).parent.parent
SHARED = PROJECT.parent / "shared"
# A small learned table.
RECIPE = Recipe(model=NgramModel(3, by_side=True), weighting=Weighting("ppmi", shift=0.0),
                n_bits=64, projection="spectral", composition=Composition())  # fmt: skip


# What the extras bring: modules that tests have only if they are marked `extra`.
EXTRAS = (
    "faiss", "gensim", "httpx", "jinja2", "lxml", "mammoth", "pandas", "polars", "pyarrow",
    "pyspark", "pysubs2", "sacrebleu", "selenium", "sklearn", "spacy", "stanza", "starlette",
    "torch", "trafilatura", "uvicorn", "yaml",
)  # fmt: skip


@pytest.fixture(autouse=True)
def hidden_extras(request, monkeypatch):
    """Hide what extras bring from other tests, which must pass where only `test` is installed."""
    if request.node.get_closest_marker("extra") is None:
        for name in EXTRAS:
            monkeypatch.setitem(sys.modules, name, None)


def random_sentences(seed: int, n_sentences: int = 60, n_words: int = 12) -> list[list[str]]:
    """Sentences of 1 to 9 words from a small skewed vocabulary, accents and all."""
    draw = random.Random(seed)
    words = [f"{letter}{'é' * (i % 2)}{i}" for i, letter in enumerate("abcdefghijklmnop")]
    return [
        [words[min(n_words - 1, int(draw.expovariate(0.35)))] for _ in range(draw.randint(1, 9))]
        for _ in range(n_sentences)
    ]


def write_lines(path: Path, sentences: list[list[str]]) -> Path:
    path.write_text("".join(" ".join(s) + "\n" for s in sentences), encoding="utf-8")
    return path


def same_folders(a: Path, b: Path) -> bool:
    """Return whether two artifacts have the same files but for what they were made from."""
    names, others = (
        sorted(one.name for one in folder.iterdir() if one.is_file() and one.name != MADE_FROM)
        for folder in (a, b)
    )
    assert names == others
    return filecmp.cmpfiles(a, b, names, shallow=False)[0] == names


def index_of(text: str, folder: Path) -> CorpusIndex:
    """An index of running text, in a folder of its own."""
    (folder / "text.txt").write_text(text, encoding="utf-8")
    return CorpusIndex.build([folder / "text.txt"], folder / "index", options=IndexOptions("text"))


@pytest.fixture
def sentences() -> list[list[str]]:
    return random_sentences(1)


@pytest.fixture
def small_index(sentences, tmp_path) -> CorpusIndex:
    """An index of the fixture `sentences`."""
    return CorpusIndex.build([write_lines(tmp_path / "corpus.txt", sentences)], tmp_path / "index")


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def obeyed_signals():
    """Signals as a shell gives them, where pytest was itself started with some ignored (nohup)."""
    usual = {signal.SIGINT: signal.default_int_handler}
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler == signal.SIG_IGN:
            signal.signal(number, usual.get(number, signal.SIG_DFL))
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def run_program(*arguments: object) -> int:
    """Run the program in this process and return its exit status."""
    before = sys.argv
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    sys.argv = ["distsim", *map(str, arguments)]
    try:
        with pytest.raises(SystemExit) as end:
            main()
    finally:  # main ends with signals ignored, and children would inherit that
        sys.argv = before
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return int(end.value.code or 0)


@pytest.fixture
def run(capsys):
    """Run the program, expecting a status, any if None; returns standard output and error."""

    def call(*arguments, status=0):
        found = run_program(*arguments)
        out, err = capsys.readouterr()
        assert status in (None, found), err
        assert "Traceback" not in err
        return out, err

    return call
