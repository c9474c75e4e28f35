"""Replaces `{name}` placeholders in the texts of a suite.

A word alone between braces is a placeholder, anything else between braces stays as it is.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


def filled(value: Any, meaning: Callable[[str], str]) -> Any:
    """Return a value with the placeholders in all of its texts replaced, keys left as they are.

    Args:
        value: As YAML gives it.
        meaning: Returns what a placeholder stands for; what it raises goes on.
    """
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: meaning(found[1]), value)
    if isinstance(value, dict):
        return {key: filled(item, meaning) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, meaning) for item in value]
    return value


def placeholders(value: Any) -> Iterator[str]:
    """Yield the names of all placeholders in a value."""
    if isinstance(value, str):
        yield from _PLACEHOLDER.findall(value)
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from placeholders(item)
