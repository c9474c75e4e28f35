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
_CUT = "SELECT text FROM cut_texts UNION SELECT text FROM cut_events"
_CLOSING = {"{": "}", "[": "]"}


def whole_prefix(text: str) -> str | None:
    """Return the longest prefix of a cut JSON text that can be closed, closed; else None."""
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
    return best if _holds_something(best) else None


@relation("whole_prefixes", reads=("cut_events", "cut_texts"))
def _whole_prefixes(run: Run) -> pa.Table:
    """Return the complete prefix of each cut text (text, prefix); NULL if there is none."""
    texts = run.con.sql(_CUT).to_arrow_table()
    prefixes = map(whole_prefix, texts["text"].to_pylist())
    return texts.append_column("prefix", pa.array(prefixes, pa.string()))


def _holds_something(text: str) -> bool:
    try:
        return not is_too_deep(text) and _has_leaf(json.loads(text))
    except ValueError:
        return False


def _has_leaf(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    return any(map(_has_leaf, value)) if isinstance(value, list) else True
