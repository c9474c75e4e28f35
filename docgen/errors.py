"""The pages of exit codes and of messages: each kind of error, with its messages."""

import ast
import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from docgen.packages import PACKAGES
from docgen.pages import code, page, prose, table
from tracegrade.errors import BadInput, CheckFailed, TracegradeError

CODES: Final = (
    (0, "The command did what it was asked for."),
    (CheckFailed.exit_code, "A check that was asked for did not hold, such as `--fail-on`."),
    (BadInput.exit_code, "The input cannot be used: an argument, a file, a query."),
    (TracegradeError.exit_code, "Something outside failed: the lake, a file, the network."),
    (130, "The command was interrupted, by Ctrl-C."),
)
"""Exit codes of `tracegrade`."""


def pages() -> Mapping[str, str]:
    """Return the pages by their paths below `docs/`."""
    return {"reference/exit-codes.md": _exit_codes(), "reference/messages.md": _messages()}


def _exit_codes() -> str:
    return page(
        "Exit codes",
        "Every `tracegrade` command ends with one of these. The text of an error is one line on "
        "standard error; [messages](messages.md) lists them.",
        table(["code", "meaning"], ((str(number), meaning) for number, meaning in CODES)),
        "`tracegrade run` ends with the exit code of the program that it runs. A program whose "
        "harness no longer answers ends with 75.",
    )


def _messages() -> str:
    texts = _raised()
    sections = (
        f"## {name}\n\n{prose(inspect.getdoc(error) or '')} Exit code {error.exit_code}.\n\n"
        + "\n".join(f"- {code(text)}" for text in texts[name])
        for name, error in sorted(_errors().items())
        if texts[name]
    )
    return page(
        "Messages",
        "The texts of errors, by their kind: the fact, the value and the way out. `{}` represents "
        "a value.",
        *sections,
    )


def _errors() -> Mapping[str, type[TracegradeError]]:
    """Return the errors that packages declare, by their names."""
    return {
        name: each
        for package in PACKAGES
        for found in pkgutil.iter_modules(import_module(package).__path__, f"{package}.")
        if found.name.endswith(".errors")
        for name, each in vars(import_module(found.name)).items()
        if inspect.isclass(each) and issubclass(each, TracegradeError)
    }


def _raised() -> Mapping[str, list[str]]:
    """Return the texts with which each error is raised, sorted."""
    texts: dict[str, set[str]] = defaultdict(set)
    for package in PACKAGES:
        for path in sorted(Path(import_module(package).__path__[0]).rglob("*.py")):
            for name, text in _raised_in(ast.parse(path.read_text("utf-8"))):
                texts[name].add(text)
    return defaultdict(list, {name: sorted(found) for name, found in texts.items()})


def _raised_in(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield name and text of each error that a module makes of a literal text."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        texts: dict[str, ast.expr] = {}
        for node in sorted(_nodes(function), key=lambda node: (node.lineno, node.col_offset)):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                texts[node.targets[0].id] = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                given = node.args[0]
                text = _text(texts.get(given.id, given) if isinstance(given, ast.Name) else given)
                if text:
                    yield node.func.id, text


def _nodes(function: ast.AST) -> Iterator[ast.stmt | ast.expr]:
    return (node for node in ast.walk(function) if isinstance(node, ast.Assign | ast.Call))


def _text(node: ast.expr) -> str:
    """Return a text as written, with `{}` for inserted values; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(each) or "{}" for each in node.values)
    return ""
