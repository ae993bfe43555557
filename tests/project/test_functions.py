"""Sizes of functions, and parameters that their docstrings must explain."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import PROJECT
from tests.project.test_public_names import public_functions

MAX_LINES = 60  # without docstring
MAX_PARAMETERS = 8
UNNAMED = {"self", "args", "kwargs"}


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


def unexplained(names: list[str], docstring: str) -> list[str]:
    """Return the names that are not words of a docstring."""
    return [name for name in names if not re.search(rf"\b{re.escape(name)}\b", docstring)]


def test_functions_outside_kernels_are_small():
    """The parameters of a command's function are its options, which have a limit of their own."""
    found = set()
    for path, node, _ in functions():
        if "kernels" in path.parts:
            continue
        crowded = len(parameters(node)) > MAX_PARAMETERS and path.parts[0] != "cli"
        if n_lines(node) > MAX_LINES or crowded:
            found.add(f"{path} {node.name}")
    assert found == set(), "split these functions, or group their options"


def test_every_parameter_is_explained():
    """Of public functions, and of all functions with more than eight parameters."""
    found = {}
    for name, (function, docstring) in public_functions().items():
        names = [one for one in inspect.signature(function).parameters if one not in UNNAMED]
        found[name] = unexplained(names, docstring)
    for path, node, owner in functions():
        names = parameters(node)
        if len(names) > MAX_PARAMETERS and path.parts[0] != "cli" and not is_overload(node):
            docstring = f"{owner}\n{ast.get_docstring(node) or ''}"
            found[f"{path} {node.name}"] = unexplained(names, docstring)
    assert {name: names for name, names in found.items() if names} == {}
