"""Limits how deeply JSON may be nested.

This limit is below that of every reader in use. Python's own limit depends on its version and on
the call stack, so the same spans would not give the same rows.
"""

import re
from typing import Final

MAX_DEPTH: Final = 200
"""Levels of objects and lists in one text; deeper texts are not read as JSON."""

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


def is_too_deep(text: str, levels: int = MAX_DEPTH) -> bool:
    """Return whether a JSON text has more levels of objects and lists than these."""
    if len(text) <= levels or text.count("[") + text.count("{") <= levels:
        return False
    depth = 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "[" | "{":
                depth += 1
                if depth > levels:
                    return True
            case "]" | "}":
                depth -= 1
    return False
