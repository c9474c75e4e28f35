"""Compares calls without parts that vary: a date in a prompt, an id, a temporary path.

Only the compared text is changed, on both sides; a tape keeps the original. RE2 finds a match in
linear time for every pattern. Each match may read all the rest, so the number of replacements is
limited, too.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from tracegrade_harness.suite.normalize import Normalized, compiled
from tracegrade_harness.tape.entries import TapeKey, canonical

MAX_WORK: Final = 1_000_000_000
"""In a call of n bytes, a pattern replaces the first `MAX_WORK / n` matches of each text."""


class Normalizer:
    """The rules of a case. Without rules, calls are compared unchanged."""

    def __init__(self, rules: Sequence[Normalized] = ()) -> None:
        """Take rules; each is applied to the result of the earlier ones."""
        self._rules = [(compiled(rule.pattern), rule.with_.encode()) for rule in rules]

    def __call__(self, key: TapeKey) -> TapeKey:
        """Return the compared form of a call: paths of requests change, names of tools do not."""
        if not self._rules:
            return key
        most = max(MAX_WORK // (len(key.name) + len(key.arguments)), 1)
        method, space, path = key.name.partition(" ")
        name = key.name
        if path.startswith("/"):
            name = f"{method}{space}{self._text(path, most)}"
        try:
            value = self._value(json.loads(key.arguments), most)
        except RecursionError:  # nested too deeply: compared unchanged
            return key._replace(name=name)
        return key._replace(name=name, arguments=canonical(value))

    def _value(self, value: Any, most: int) -> Any:
        match value:
            case str():
                return self._text(value, most)
            case dict():
                return {key: self._value(item, most) for key, item in value.items()}
            case list():
                return [self._value(item, most) for item in value]
            case bool() | None:
                return value
            case _:
                text = json.dumps(value)
                changed = self._text(text, most)
                return value if changed == text else changed

    def _text(self, text: str, most: int) -> str:
        found = text.encode(errors="replace")
        for pattern, instead in self._rules:
            found = pattern.sub(partial(_instead, instead), found, most)
        return found.decode(errors="replace")


def _instead(instead: bytes, match: Any) -> bytes:
    """Return the replacement of a match; an empty match stays empty."""
    return instead if match.end() > match.start() else b""
