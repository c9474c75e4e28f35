"""Replaces `{name}` placeholders in the texts of a suite.

A single word between braces is a placeholder; all other braces stay unchanged.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


def filled(value: Any, meaning: Callable[[str], str]) -> Any:
    """Return a value with the placeholders in all of its texts replaced; keys stay unchanged.

    Args:
        value: A value from YAML.
        meaning: Returns the replacement of a placeholder; its exceptions are not caught.
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
