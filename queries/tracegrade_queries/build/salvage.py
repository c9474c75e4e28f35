"""The longest complete prefix of cut JSON: exporters cut values by length.

The complete part before the cut is closed and read; the value that contains the cut is lost. A
text without a complete part stays unchanged.
"""

import json
import re
from typing import Any

import pyarrow as pa

from tracegrade_queries.build.nesting import is_too_deep
from tracegrade_queries.graph import Run, relation

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],"]', re.DOTALL)
_CUT = "SELECT DISTINCT text FROM cut_contents"
_CLOSING = {"{": "}", "[": "]"}
_KEY = re.compile(r"\s*:")
_LIST = re.compile(r'\[\s*\{\s*"\w+"\s*:')
"""How a list of messages begins, which no text does."""
_ARGUMENTS = frozenset({"args", "arguments", "input", "parameters"})
"""Keys below which messages have what a tool is called with."""


def whole_prefix(text: str) -> str | None:
    """Return the longest prefix of a cut JSON text that can be closed, closed; else None.

    A list of objects of which nothing is left is empty.
    """
    opened: list[str] = []
    best = ""
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{" | "[":
                opened.append(_CLOSING[token[0]])
                best = text[: token.end()] + "".join(reversed(opened))
            case "}" | "]":
                if not opened or opened.pop() != token[0] or not opened:
                    return None  # it ends, or never was JSON
                best = text[: token.end()] + "".join(reversed(opened))
            case ",":
                best = text[: token.start()] + "".join(reversed(opened))
            case '"':
                break  # a string that does not end
    if _holds_something(best):
        return best
    return "[]" if _LIST.match(text) else None


def ends_in_arguments(text: str) -> bool:
    """Return whether cut messages end within an object with the arguments of a call.

    It is below a list, as calls in messages are: a request may have its messages as `input`.
    """
    opened: list[str] = []
    key = ""
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{":
                opened.append(key if "[" in opened else "")
                key = ""
            case "[":
                opened.append("[")
                key = ""
            case "}" | "]":
                del opened[-1:]
            case quoted if len(quoted) > 1 and _KEY.match(text, token.end()):
                key = quoted[1:-1]
            case _:
                key = ""
    return not _ARGUMENTS.isdisjoint(opened)


@relation("whole_prefixes", reads=("cut_contents",))
def _whole_prefixes(run: Run) -> pa.Table:
    """Return the complete prefix of each cut text (text, prefix); NULL if there is none.

    `in_arguments` tells whether the cut is within the arguments of a call.
    """
    table = run.con.sql(_CUT).to_arrow_table()
    texts = table["text"].to_pylist()
    return table.append_column(
        "prefix", pa.array(map(whole_prefix, texts), pa.string())
    ).append_column("in_arguments", pa.array(map(ends_in_arguments, texts), pa.bool_()))


def _holds_something(text: str) -> bool:
    try:
        return not is_too_deep(text) and _has_leaf(json.loads(text))
    except ValueError:
        return False


def _has_leaf(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    return any(map(_has_leaf, value)) if isinstance(value, list) else True
