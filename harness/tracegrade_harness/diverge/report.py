"""Reports divergences as text, as JSON, and as the Markdown of an issue.

Answers are shortened, without control characters; secrets were removed before.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tracegrade.terminal.visible import visible
from tracegrade_harness.diverge.comparison import ABSENT, JsonPath
from tracegrade_harness.diverge.suite import DivergedCall, DivergenceResult
from tracegrade_scoring.rendering.words import count

MAX_VALUE_CHARS: Final = 80
"""Most characters of a value."""
MAX_ARGUMENTS: Final = 200
"""Most characters of a call's arguments."""
MAX_LISTED: Final = 20
"""Most divergences of a call that are listed."""
FORMATS: Final = ("text", "json", "markdown")


def as_text(result: DivergenceResult) -> str:
    """Return a line for each divergence, then the numbers of repeated and skipped calls."""
    return "\n".join([*_all_lines(result), *_counts(result)])


def as_json(result: DivergenceResult) -> str:
    """Return a JSON document with every divergence, values shortened."""
    document = {
        "asked": len(result.calls),
        "diverged": [
            {
                "case": call.case,
                "channel": call.key.channel,
                "name": call.key.name,
                "arguments": json.loads(call.key.arguments),
                "kind": each.kind,
                "path": path_text(each.path),
                "recorded": _value_text(each.recorded),
                "live": _value_text(each.live),
            }
            for call in result.diverged
            for each in call.found
        ],
        "not_asked": result.skipped,
        "unreachable": result.unreachable,
    }
    return json.dumps(document, indent=2)


def as_markdown(result: DivergenceResult, suite: str) -> str:
    """Return the text of an issue, with the commands that record the tapes again."""
    cases = dict.fromkeys(call.case for call in result.diverged)
    lines = ["## Services answer differently from their tapes", ""]
    if cases:  # no line can end the block: each begins with four spaces
        lines += [*(f"    {line}" for line in _all_lines(result)), ""]
        lines += ["If the new answers are correct, record the tapes again:", ""]
        lines += [f"    {again(suite, case)}" for case in cases] + [""]
    return "\n".join([*lines, *(f"- {visible(each)}" for each in _counts(result))])


def again(suite: str, case: str) -> str:
    """Return the command that records the tape of a case again."""
    words = ["tracegrade", "harness", "record", suite, "--case", case, "--replace"]
    return visible(shlex.join(words))


def path_text(path: JsonPath) -> str:
    """Return a JSON path, `$` for the whole."""
    return "$" + "".join(map(_step, path))


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f"[{json.dumps(step, ensure_ascii=False)}]"


def _all_lines(result: DivergenceResult) -> Iterator[str]:
    for call in result.diverged:
        yield from _lines(call)


def _lines(call: DivergedCall) -> Iterator[str]:
    who = f"{call.case}: {call.key.channel} {call.key.name}"
    if call.key.arguments != "{}":
        who += f" {_cut(call.key.arguments, MAX_ARGUMENTS)}"
    for kind, path, recorded, live in call.found[:MAX_LISTED]:
        where = _cut(path_text(path), MAX_ARGUMENTS)
        values = f"recorded {_value_text(recorded)}, live {_value_text(live)}"
        yield visible(f"{who}: {kind} at {where}: {values}")
    if len(call.found) > MAX_LISTED:
        yield visible(f"{who}: and {len(call.found) - MAX_LISTED} more")


def _counts(result: DivergenceResult) -> Sequence[str]:
    found = sum(len(call.found) for call in result.diverged)
    asked_live = f"asked {count(len(result.calls), 'call')}: {count(found, 'divergence')}"
    lines = [f"{asked_live} in {count(len(result.diverged), 'call')}"]
    lines += [f"not asked: {count(n, 'call')}, {reason}" for reason, n in result.skipped.items()]
    return [*lines, *(f"no reply: {visible(name)}" for name in result.unreachable)]


def _value_text(value: Any) -> str:
    if value is ABSENT:
        return "nothing"
    try:
        return _cut(json.dumps(value, ensure_ascii=False), MAX_VALUE_CHARS)
    except RecursionError:
        return "a value that is nested too deeply"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
