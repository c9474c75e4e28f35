"""Tool calls in the Python code that code agents write instead of requesting tools.

A call counts if its function is a plain name that nothing in the code defines: tools are given to
the code from outside. Python's own functions are not tools. Names that an earlier piece of code of
the same agent defined are left to who knows which came earlier: `code_names`.
"""

import ast
import builtins
import json
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from tracegrade_queries.graph import Run, relation

_BUILTINS = frozenset(dir(builtins)) | {"PythonFinalizationError"}  # the last one since 3.13

_MAX_DEPTH = 500
"""Maximum levels of code: below the limit of the parser of every Python version."""

_ANSWER = "final_answer"
"""Its only argument is the answer, by name or not."""


class CodeCall(NamedTuple):
    """One call that a piece of code makes."""

    tool_name: str
    arguments: str | None
    """JSON; None where they are not all literal values given by name."""


def calls_in(code: str) -> list[CodeCall]:
    """Return the calls of tools in the order in which they run; none if it is not Python."""
    tree = _parsed(code)
    if tree is None:
        return []
    own = _BUILTINS | set(_defined(tree))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found.sort(key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
    return [
        CodeCall(node.func.id, _arguments(node))
        for node in found
        if isinstance(node.func, ast.Name) and node.func.id not in own
    ]


def code_calls(codes: pa.ChunkedArray) -> pa.Table:
    """Return the calls of each code: columns code, position (from 1), tool_name, arguments."""
    rows = [
        {"code": code, "position": position, "tool_name": name, "arguments": arguments}
        for code in codes.to_pylist()
        for position, (name, arguments) in enumerate(calls_in(code), 1)
    ]
    return pa.Table.from_pylist(rows, _CALLS)


def names_in(code: str) -> list[str]:
    """Return the names that the code gives to something, sorted; none if it is not Python."""
    tree = _parsed(code)
    return [] if tree is None else sorted(set(_defined(tree)))


def code_names(codes: pa.ChunkedArray) -> pa.Table:
    """Return what each code defines: columns code, name; one row for each of both."""
    rows = [{"code": code, "name": name} for code in codes.to_pylist() for name in names_in(code)]
    return pa.Table.from_pylist(rows, _NAMES)


_NAMES = pa.schema([("code", pa.string()), ("name", pa.string())])
_CALLS = pa.schema(
    [
        ("code", pa.string()),
        ("position", pa.int64()),
        ("tool_name", pa.string()),
        ("arguments", pa.string()),
    ]
)


def _parsed(code: str) -> ast.Module | None:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    level: list[ast.AST] = [tree]
    for _ in range(_MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree
    return None


def _defined(tree: ast.AST) -> Iterator[str]:
    """Yield the names that the code gives to something itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def _arguments(call: ast.Call) -> str | None:
    if isinstance(call.func, ast.Name) and call.func.id == _ANSWER and len(call.args) == 1:
        call = ast.Call(call.func, [], [ast.keyword("answer", call.args[0])])
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        return None
    try:
        return json.dumps({k.arg: ast.literal_eval(k.value) for k in call.keywords})
    except (TypeError, ValueError):
        return None


@relation("code_calls", "code_names", reads=("code_texts",))
def _read_code(run: Run) -> dict[str, pa.Table]:
    """Return tool calls in the Python code that agents write, and what that code defines."""
    codes = run.con.sql("SELECT DISTINCT code FROM code_texts").to_arrow_table().column(0)
    return {"code_calls": code_calls(codes), "code_names": code_names(codes)}
