"""Expected actions as data sets write them → calls: objects, or calls in Python's spelling."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from tracegrade_collector.importing.chat import read_call
from tracegrade_collector.importing.trajectory import ToolCall

_NAME: Final = re.compile(r"[\w.]+")


def read_expected(value: Any, ignored: Counter[str]) -> list[ToolCall]:
    """Return the calls in order; what is none is counted in `ignored`.

    Reads objects with a name and arguments in any provider's spelling, and texts such as
    `search(day="2023-12-13")`. Of a text whose arguments have no names the tool alone is told.
    """
    return list(_calls(value if isinstance(value, list) else [value], ignored))


def _calls(values: list[Any], ignored: Counter[str]) -> Iterator[ToolCall]:
    for value in values:
        call = read_call(value) if isinstance(value, dict) else _of_text(value)
        if call and call.name:
            yield call
        else:
            ignored["expected actions that name no tool"] += 1


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
