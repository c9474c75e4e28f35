"""Tool calls in the Python code that code agents write instead of requesting tools.

A call counts if its function is a plain name that nothing in the code defines: tools are given to
the code from outside. Python's own functions are not tools.
"""

import ast
import builtins
import json
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

_BUILTINS = frozenset(dir(builtins))


class CodeCall(NamedTuple):
    """One call that a piece of code makes."""

    tool_name: str
    arguments: str | None
    """JSON; None where they are not all literal values given by name."""


def calls_in(code: str) -> list[CodeCall]:
    """Return the calls of tools in the order in which they run; none if it is not Python."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
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


_CALLS = pa.schema(
    [
        ("code", pa.string()),
        ("position", pa.int64()),
        ("tool_name", pa.string()),
        ("arguments", pa.string()),
    ]
)


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
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        return None
    try:
        return json.dumps({k.arg: ast.literal_eval(k.value) for k in call.keywords})
    except (TypeError, ValueError):
        return None
