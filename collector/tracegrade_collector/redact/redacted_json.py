"""OTLP/JSON without secrets: for items that were refused, and so never become rows.

All texts of many messages are cleaned in one call, as those of a column are.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from tracegrade_collector.redact.redaction import Redactor

ID_KEYS: Final = frozenset({"traceId", "spanId", "parentSpanId"})
_HEX: Final = re.compile(r"[0-9A-Fa-f]*")


def redact_json(messages: list[Any], redactor: Redactor) -> list[Any]:
    """Return the messages without secrets; ids of hex digits are unchanged."""
    named = [_by_name(message, redactor) for message in messages]
    clean = iter(redactor.redact_texts(list(_texts(named))))
    found: list[Any] = _with_texts(named, clean)
    return found


def _by_name(node: Any, redactor: Redactor) -> Any:
    """Return a node in which keys of attributes have decided on their values."""
    if isinstance(node, list):
        return [_by_name(each, redactor) for each in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("key"), str) and isinstance(node.get("value"), dict):
        return node | {"value": _named_value(node["key"], node["value"], redactor)}
    return {key: _by_name(each, redactor) for key, each in node.items()}


def _named_value(key: str, value: dict[str, Any], redactor: Redactor) -> Any:
    for text in map(str, _scalars(value)):
        found = redactor.instead_of(key, text)
        if found is not None:
            return {"stringValue": found}
    return _by_name(value, redactor)


def _scalars(node: Any) -> Iterator[str | int | float]:
    if isinstance(node, list):
        for each in node:
            yield from _scalars(each)
    elif isinstance(node, dict):
        yield from _scalars(list(node.values()))
    elif node is not None and not isinstance(node, bool):
        yield node


def _texts(node: Any) -> Iterator[str]:
    """Yield each text of a node that may hold a secret, in the order of `_with_texts`."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, list):
        for each in node:
            yield from _texts(each)
    elif isinstance(node, dict):
        for key, each in node.items():
            if not _is_id(key, each):
                yield from _texts(each)


def _with_texts(node: Any, clean: Iterator[str]) -> Any:
    if isinstance(node, str):
        return next(clean)
    if isinstance(node, list):
        return [_with_texts(each, clean) for each in node]
    if isinstance(node, dict):
        return {
            key: each if _is_id(key, each) else _with_texts(each, clean)
            for key, each in node.items()
        }
    return node


def _is_id(key: str, value: Any) -> bool:
    return key in ID_KEYS and isinstance(value, str) and _HEX.fullmatch(value) is not None
