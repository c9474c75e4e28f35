"""Files of anything: known names where they do not belong, and values of any type."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.collector.importing.test_messages import Row, lines

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.known_formats import read_file
from tracegrade_collector.importing.plan_marker import parse_marker

WORDS = [
    *("messages", "role", "content", "type", "text", "tool_calls", "function", "name", "id"),
    *("arguments", "parts", "functionCall", "toolResult", "thinking", "summary", "reasoning"),
    *("steps", "thought", "action", "observation", "task_id", "trial", "success", "time"),
    *("usage", "input_tokens", "message", "sessionId", "isSidechain", "tool_use", "tool_result"),
    *("schema_version", "ATIF-v1.7", "source", "agent", "metrics", "tool_call_id", "results"),
    *("info", "parts", "state", "status", "time", "toolCalls", "thoughts", "result", "payload"),
    *("user", "assistant", "tool", "ai", "```", "", "1e400", "9" * 400, "\x00", "\ud800", "[1]"),
]


def anything(random: Random, depth: int = 0) -> Any:
    """Return a value made of what formats know, in places where it does not belong."""
    kind = random.random()
    if depth > 4 or kind < 0.4:
        numbers = [0, -9, 10**30, 1e308, float("nan"), float("inf")]
        return random.choice([*WORDS, *numbers, None, True])
    if kind < 0.6:
        return [anything(random, depth + 1) for _ in range(random.randint(0, 4))]
    return {random.choice(WORDS): anything(random, depth + 1) for _ in range(random.randint(0, 6))}


@pytest.mark.parametrize(
    "format_", ["auto", "messages", "claude-code", "codex", "atif", "verdicts"]
)
def test_nothing_stops_an_import(tmp_path: Path, format_: str) -> None:
    """Known names in the wrong places, values of any type: read or named, never an exception."""
    random = Random(1)  # noqa: S311 - no secret
    file = tmp_path / "file"
    marked = {"plan_marker": parse_marker("[a-z]"), "code_calls": True, "allow_partial": True}
    for number in range(150):
        messages = [{"role": random.choice(WORDS), **{random.choice(WORDS): anything(random)}}]
        records = [
            {"messages": messages, random.choice(WORDS): anything(random)},
            anything(random),
        ]
        file.write_text(lines(*records))
        options: Row = {"roles": {"": "user", "tool": "assistant"}, **marked} if number % 2 else {}
        parts = list(read_file(file, ReadOptions(format_, **options)))

        assert parts
        assert all(part.fault or part.request or part.verdicts or part.notes for part in parts)
