"""The public names: where they are, what finds them, what is documented."""

import inspect
import random
import subprocess
import sys
from importlib import import_module

import pytest

import distsim
from distsim.public_names import TABLE, TOPICS, modules_of_names
from tests.conftest import PROJECT
from tests.project.stubs import stubs

ALL = {
    f"distsim.{topic}.{name}": getattr(import_module(f"distsim.{topic}"), name)
    for topic in TOPICS
    for name in modules_of_names(topic)
}


def test_root_has_at_most_40_names():
    assert len(distsim.__all__) <= 40
    assert dir(distsim) == sorted([*distsim.__all__, *TOPICS])
    for topic in TOPICS:
        assert getattr(distsim, topic) is import_module(f"distsim.{topic}")


def test_every_name_has_one_topic_and_is_the_same_at_the_root():
    names = [name for home in TABLE for name in f"{home.root} {home.others}".split()]
    assert len(names) == len(set(names))
    for name in distsim.__all__:
        (same,) = [value for path, value in ALL.items() if path.endswith(f".{name}")]
        assert getattr(distsim, name) is same


def test_no_submodule_hides_a_public_name():
    """What is imported as a submodule replaces the package's attribute of that name."""
    for topic in (None, *TOPICS):
        folder = PROJECT / "distsim" / (topic or "")
        below = {path.stem for path in folder.iterdir()}
        assert not below & modules_of_names(topic).keys()


@pytest.mark.parametrize("seed", range(3))
def test_names_in_a_fresh_process(seed):
    """Each is what it is, whatever was imported before: none is a module."""
    lines = [f"from distsim import {name}" for name in distsim.__all__]
    lines += [f"from {path.rpartition('.')[0]} import {path.split('.')[-1]}" for path in ALL]
    lines += [f"import {module}" for module in {type(v).__module__ for v in ALL.values()}]
    lines += [f"import distsim.{home.module}" for home in TABLE]
    random.Random(seed).shuffle(lines)
    code = ["import types, distsim"]
    for line in lines:
        name = line.split()[-1]
        code += [line] + [f"assert not isinstance({name}, types.ModuleType), {line!r}"] * (
            line.startswith("from")
        )
    code += [f"assert distsim.{name} is {name}" for name in distsim.__all__]
    result = subprocess.run(
        [sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, cwd=PROJECT
    )
    assert result.returncode == 0, result.stderr


def test_a_name_of_another_topic_says_where_it_is():
    with pytest.raises(AttributeError, match=r"^distsim.Mix is distsim.paraphrase.Mix$"):
        distsim.Mix  # noqa: B018
    with pytest.raises(ImportError, match=r"^distsim.Mix is distsim.paraphrase.Mix$"):
        from distsim import Mix  # noqa: F401
    with pytest.raises(AttributeError, match=r"distsim.grammar.Mix is distsim.paraphrase.Mix"):
        distsim.grammar.Mix  # noqa: B018
    assert not hasattr(distsim, "Mix")
    with pytest.raises(AttributeError, match=r"module 'distsim' has no attribute 'nonsense'"):
        distsim.nonsense  # noqa: B018
    with pytest.raises(ImportError, match=r"cannot import name 'nonsense'"):
        from distsim import nonsense  # noqa: F401


def test_stubs_are_those_of_the_table():
    for path, text in stubs().items():
        assert path.read_text(encoding="utf-8") == text, "run python -m tests.project.stubs"
    folders = {path.parent.name for path in (PROJECT / "distsim").rglob("*.pyi")}
    assert folders == {"distsim", *TOPICS}


def has_example(value) -> bool:
    """Whether a docstring has an example, or, of a class, one of its methods'."""
    documented = [value]
    if isinstance(value, type):
        documented += [one for name, one in vars(value).items() if not name.startswith("_")]
    return any(">>>" in (inspect.getdoc(one) or "") for one in documented)


def test_public_names_have_examples():
    assert [path for path, value in ALL.items() if callable(value) and not has_example(value)] == []


# Optional parameters that are no setting but what the call is about.
SUBJECTS = {
    ("IndexOptions", "text_format"), ("BitextOptions", "text_format"), ("Weighting", "scheme"),
    ("NgramModel", "window"), ("RuleAligner", "align"), ("PackOptions", "weights"),
    ("sign", "path"), ("SignatureTable.build", "path"), ("RuleScorer.score", "links"),
    ("SignatureTable.most_similar", "positive"), ("SignatureTable.token_counts", "rows"),
    ("Fingerprint", "composition"), ("Weighting.manifest", "marginals"),
    ("Inflections.open", "name"), ("SimilarityEvidence", "index"),
    ("Language.open", "name"), ("Weights.default", "name"),
}  # fmt: skip
RESULTS = (tuple, list, BaseException)  # what is returned or raised, not called


def public_functions() -> dict[str, tuple[object, str]]:
    """Public functions, constructors and methods by name, with the docstrings that are read."""
    found = {}
    for path, value in ALL.items():
        name = path.rpartition(".")[2]
        doc = inspect.getdoc(value) or ""
        if inspect.isroutine(value):
            found[name] = (value, doc)
        elif isinstance(value, type) and not issubclass(value, RESULTS):
            if not name.endswith("Report") and "__init__" in vars(value):
                found[name] = (value, doc)
            for method, one in inspect.getmembers(value, inspect.isroutine):
                own = any(method in vars(c) for c in value.__mro__ if c.__module__ != "builtins")
                if own and callable(one) and not method.startswith("_"):
                    found[f"{name}.{method}"] = (one, f"{doc}\n{inspect.getdoc(one) or ''}")
    return found


def test_options_are_keyword_only():
    positional = {
        (name, one.name)
        for name, (function, _) in public_functions().items()
        for one in inspect.signature(function).parameters.values()
        if one.kind is one.POSITIONAL_OR_KEYWORD and one.default is not one.empty
    }
    assert positional - SUBJECTS == set()
