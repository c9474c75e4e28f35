"""Expected actions as data sets write them → calls: objects, or calls in Python's spelling."""

import ast
import json
import re
from typing import Any, Final, NamedTuple

from tracegrade_collector.importing.chat import read_call
from tracegrade_collector.importing.trajectory import ToolCall

_NAME: Final = re.compile(r"[\w.]+")


class ExpectedAction(NamedTuple):
    """One expected action, as the data set has it."""

    value: Any
    call: ToolCall | None
    """None if it cannot be read: it names no tool."""


def read_expected(value: Any) -> list[ExpectedAction]:
    """Return the actions in order, each with the call that it describes.

    Reads objects with a name and arguments in any provider's spelling, and texts such as
    `search(day="2023-12-13")`. A text whose arguments have no names yields only the tool.
    """
    values = value if isinstance(value, list) else [value]
    return [ExpectedAction(each, _call(each)) for each in values]


def _call(value: Any) -> ToolCall | None:
    call = read_call(value) if isinstance(value, dict) else _of_text(value)
    return call if call and call.name else None


def _of_text(value: Any) -> ToolCall | None:
    """Return the call that a text is; LangChain's tools are called through `.func`."""
    try:
        node = ast.parse(value.strip(), mode="eval").body if isinstance(value, str) else None
        if not isinstance(node, ast.Call) or not _NAME.fullmatch(ast.unparse(node.func)):
            return None
        named = {each.arg: ast.literal_eval(each.value) for each in node.keywords if each.arg}
        name = ast.unparse(node.func).removesuffix(".func")
        whole = not node.args and len(named) == len(node.keywords)
        return ToolCall(None, name, json.dumps(named) if whole else None)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
