"""Sizes of functions, and parameters that their docstrings must explain."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tests.conftest import PROJECT

MAX_LINES = 60  # without docstring
MAX_PARAMETERS = 8
CAMEL_CASE = re.compile(r"_?[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)*$")
UNNAMED = {"self", "args", "kwargs"}
VAGUE = {"found", "one", "made", "most", "told", "some", "what", "given"}
# Functions that have a local or a parameter of these names: the number only goes down.
VAGUE_FUNCTIONS = 2


def functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    """Yield each function of the package: its file, its node, and its class's docstring."""
    for path in sorted((PROJECT / "distsim").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        owners = {
            child: ast.get_docstring(node) or ""
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            for child in node.body
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path.relative_to(PROJECT / "distsim"), node, owners.get(node, "")


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the names of a function's parameters without `self` and `cls`."""
    of = node.args
    every = [*of.posonlyargs, *of.args, *of.kwonlyargs, of.vararg, of.kwarg]
    return [one.arg for one in every if one is not None and one.arg not in {"self", "cls"}]


def n_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of a function's lines without its decorators and its docstring."""
    docstring = 0
    if ast.get_docstring(node) is not None:
        docstring = node.body[0].end_lineno - node.body[0].lineno + 1
    return node.end_lineno - node.lineno + 1 - docstring


def is_overload(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(one) == "overload" for one in node.decorator_list)


def test_functions_outside_kernels_are_small():
    """The parameters of a command's function are its options, which have a limit of their own."""
    found = set()
    for path, node, _ in functions():
        if "kernels" in {*path.parts, path.stem}:
            continue
        crowded = len(parameters(node)) > MAX_PARAMETERS and path.parts[0] != "cli"
        if n_lines(node) > MAX_LINES or crowded:
            found.add(f"{path} {node.name}")
    assert found == set(), "split these functions, or group their options"


def test_files_are_few_and_none_is_a_scrap():
    """One file for what is read together; the faces of folders and an entry point are short.

    A new reader, format or projection has a file of its own where it has 30 lines and more.
    """
    files = list((PROJECT / "distsim").rglob("*.py"))
    assert len(files) <= 310, "no room for a file: put it into the one that it resembles"
    short = [path for path in files if len(path.read_text("utf-8").splitlines()) < 30]
    assert {path.stem for path in short} <= {"__init__", "submit"}


def test_no_modules_import_each_other_in_a_circle():
    """Not inside a function nor for types alone, nor by a public name that `distsim` has."""
    files = {}
    for path in (PROJECT / "distsim").rglob("*.py"):
        parts = path.relative_to(PROJECT).with_suffix("").parts
        files[".".join(parts).removesuffix(".__init__")] = path
    imports = {name: set() for name in files}
    for name, path in files.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                named = {f"{node.module}.{one.name}" for one in node.names}
                assert node.module != "distsim" or named <= files.keys(), (path, named)
                imports[name] |= named & files.keys() or {node.module} & files.keys()
            elif isinstance(node, ast.Import):
                imports[name] |= {one.name for one in node.names} & files.keys()
        imports[name] -= {name, "distsim"}
    while leaves := {name for name, needed in imports.items() if not needed}:
        imports = {name: needed - leaves for name, needed in imports.items() if name not in leaves}
    assert not imports, "these import each other, or something that does"


def test_class_names_are_unique():
    """One name, one thing: classes of the whole package, and its module-level type aliases."""
    places = defaultdict(list)
    for path in sorted((PROJECT / "distsim").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        targets = [
            node.targets[0]
            for node in tree.body
            if isinstance(node, ast.Assign) and len(node.targets) == 1
        ]
        names += [t.id for t in targets if isinstance(t, ast.Name) and CAMEL_CASE.match(t.id)]
        for name in names:
            places[name.lstrip("_")].append(path.relative_to(PROJECT).as_posix())
    twice = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert twice == {}


def bound_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Return a function's parameters and what it assigns, without the functions inside it."""
    arguments, names = node.args, set()
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names |= {argument.arg for argument in [*every, arguments.vararg, arguments.kwarg] if argument}
    rest = list(node.body) if isinstance(node.body, list) else [node.body]
    while rest:
        part = rest.pop()
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            rest += ast.iter_child_nodes(part)
    return names


def test_locals_and_parameters_say_what_they_hold():
    vague = [
        f"{path.relative_to(PROJECT)}:{node.lineno}"
        for path in sorted((PROJECT / "distsim").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        and bound_names(node) & VAGUE
    ]
    assert len(vague) <= VAGUE_FUNCTIONS, f"say what these hold: {vague}"


def test_one_spelling_of_learned():
    """The key of manifests keeps the other."""
    texts = {path: path.read_text("utf-8") for path in (PROJECT / "distsim").rglob("*.py")}
    lines = [line for text in texts.values() for line in text.splitlines() if "learnt" in line]
    assert [line.split(" =")[0] for line in lines] == ["CHECKSUM_KEY"]


_NO_NOUNS = {"has", "is", "was", "as", "takes", "keeps", "needs", "goes", "holds", "this", "bytes"}


def bare_plurals(tree: ast.AST) -> Iterator[str]:
    """Yield what follows a number in messages, where it is a noun in the plural."""
    for message in ast.walk(tree):
        if not isinstance(message, ast.JoinedStr):
            continue
        for number, after in pairwise(message.values):
            if not (isinstance(number, ast.FormattedValue) and isinstance(after, ast.Constant)):
                continue
            text = ast.unparse(number.value)
            is_count = number.format_spec is not None and ast.unparse(number.format_spec) == "f','"
            plural = re.match(r" (?:(?!have\b|has\b)[a-z]+ )?([a-z]+s)\b(?!')", after.value)
            varies = not re.search(r"\b_?[A-Z][A-Z_]+\b|LIMITS|lengths", text)
            is_count |= text.startswith("len(")
            if varies and is_count and plural and plural[1] not in _NO_NOUNS:
                yield f"{text}{after.value[:30]!r}"


def test_nouns_behind_numbers_have_a_singular():
    """`1 fields` is no message: `counted(n, "field")` writes number and noun."""
    for path in sorted((PROJECT / "distsim").rglob("*.py")):
        plurals = list(bare_plurals(ast.parse(path.read_text(encoding="utf-8"))))
        assert not plurals, path


def test_tests_that_need_an_extra_are_marked():
    """Others find its packages hidden: a test that skips without them would never run."""
    unmarked = []
    for path in sorted((PROJECT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.Assign) and "mark.extra" in ast.unparse(node):
                break
            if not (isinstance(node, ast.FunctionDef) and node.name.startswith("test_")):
                continue
            marks = [ast.unparse(mark) for mark in node.decorator_list]
            calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
            skips = any(ast.unparse(call.func) == "pytest.importorskip" for call in calls)
            if skips and not any("mark.extra" in mark for mark in marks):
                unmarked.append(f"{path.name}:{node.name}")
    assert not unmarked
