"""Cards for wrong decisions: the offered tools, the actual and expected call, and the result.

Pure; texts come out visible, and are escaped by the template.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson
from markupsafe import Markup

from tracegrade.terminal.visible import visible, visible_text
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.rendering import words
from tracegrade_scoring.tasks.load import Specification
from tracegrade_scoring.tasks.model import Task
from tracegrade_scoring.timeline.cards.json_text import indented, with_marked_keys
from tracegrade_scoring.timeline.model import Step, Timeline

DECISIONS: Final = "run_decisions"
"""The query whose rows become cards."""
MOST_CARDS: Final = 30
MOST_OFFERED: Final = 60
"""Tools of a card; others are counted."""
MOST_CHARACTERS: Final = 600
MOST_SCHEMA: Final = 4_000
TOP_KEY: Final = re.compile(r"""\$(?:\.([^.\[]+)|\[['"](.+?)['"]\])""")
"""The argument that a JSON path leads into."""


class OfferedTool(NamedTuple):
    """A tool that the agent could have called."""

    name: str
    effect: str
    """'' if not known."""
    cost: str
    role: str
    """expected | called (and not expected) | ''."""
    schema: str
    """Schema of a called or expected tool; '' for others."""
    note: str


class WrongLeaf(NamedTuple):
    """One value that differs."""

    path: str
    sent: str
    expected: str


class DecisionCard(NamedTuple):
    """A wrong or missed decision."""

    name: str
    step: int | None
    """None where no call was made."""
    thought: str
    thought_step: int | None
    offered: tuple[OfferedTool, ...]
    """Empty if it is not known."""
    more_offered: int
    called: str
    expected: str
    right_tool: bool
    better: bool
    """A safer or cheaper tool was offered."""
    wrong: tuple[WrongLeaf, ...]
    counts: str
    """Number of wrong arguments; '' if there are none."""
    equal: str
    """Names of those that are not."""
    expected_arguments: Markup
    """Arguments in the task for a call that was missed or wrong; '' if it has none."""
    why: str
    has_prompt: bool


def decision_cards(
    timeline: Timeline, rows: Sequence[ResultRow], specification: Specification
) -> list[DecisionCard]:
    """Return the first wrong or missed decisions of a run, in their order.

    Args:
        timeline: The run.
        rows: Of `DECISIONS`.
        specification: What the lake was scored against last.
    """
    task = specification.tasks.get(timeline.run.task_id or "")
    steps = {step.step_index: step for step in timeline.steps}
    return [_card(row, steps, task, specification) for row in rows[:MOST_CARDS]]


def _card(
    row: ResultRow, steps: Mapping[int, Step], task: Task | None, specification: Specification
) -> DecisionCard:
    step = None if row["step_index"] is None else steps.get(row["step_index"])
    thought = _thought(step, steps) if step else None
    leaves: list[dict[str, Any]] = orjson.loads(row["wrong_arguments"])
    offered = [*_offered(row, step, specification)]
    wrong = tuple(
        WrongLeaf(visible(each["argument"].removeprefix("$.")), _leaf(each["sent"], "not sent"),
                  _leaf(each["expected"], "nothing"))
        for each in leaves
    )  # fmt: skip
    counts, equal = _counts(leaves, step)
    right = row["picked_tool"] is not None and "a" not in row["failed_criteria"]
    return DecisionCard(
        name=words.name(row["decision"], ""),
        step=row["step_index"],
        thought=visible_text((thought.content or "")[:MOST_CHARACTERS]) if thought else "",
        thought_step=thought.step_index if thought else None,
        offered=tuple(offered[:MOST_OFFERED]),
        more_offered=max(0, len(offered) - MOST_OFFERED),
        called=words.name(row["picked_tool"], ""),
        expected=words.name(row["expected_tool"], ""),
        right_tool=right,
        better="c" in row["failed_criteria"],
        wrong=wrong,
        counts=counts,
        equal=equal,
        expected_arguments=Markup() if wrong else _expected_arguments(row, task),
        why=words.line(row["reason"]) if row["reason"] else "",
        has_prompt=row["request_span_id"] is not None,
    )


def _thought(step: Step, steps: Mapping[int, Step]) -> Step | None:
    """Return the thought or message directly before a call, from any agent."""
    index = step.step_index - 1
    while index in steps and steps[index].kind == "observation":
        index -= 1
    before = steps.get(index)
    return before if before and before.kind in {"thought", "message"} and before.content else None


def _offered(
    row: ResultRow, step: Step | None, specification: Specification
) -> Iterator[OfferedTool]:
    """Yield the offered tools, those called or expected first; nothing if none is known."""
    picked, expected = row["picked_tool"], row["expected_tool"]
    tools = {str(tool["name"]): tool for tool in _listed(row["offered_tools"])}
    if not tools:
        return
    first = [name for name in (expected, picked) if name is not None]
    for name in dict.fromkeys((*first, *tools)):
        known = specification.tools.get(name)
        declared = step.effect if step and name == picked else None
        role = "expected" if name == expected else "called" if name == picked else ""
        cost = known.cost if known else None
        yield OfferedTool(
            words.name(name), words.name((known.effect if known else None) or declared, ""),
            "" if cost is None else f"cost {words.number(cost)}", role,
            _schema(tools.get(name)) if role else "",
            "" if name in tools else "not offered",
        )  # fmt: skip


def _listed(text: str | None) -> list[dict[str, Any]]:
    try:
        found = orjson.loads(text or "[]")
    except orjson.JSONDecodeError:
        return []
    if not isinstance(found, list):
        return []
    return [each for each in found if isinstance(each, dict) and each.get("name")]


def _schema(tool: Mapping[str, Any] | None) -> str:
    """Return a tool's description, and the schema of its arguments, as offered."""
    if tool is None:
        return ""
    parameters = tool.get("parameters")
    texts = [str(tool.get("description") or "")]
    if parameters:
        texts.append(
            parameters if isinstance(parameters, str)
            else orjson.dumps(parameters, option=orjson.OPT_INDENT_2).decode()
        )  # fmt: skip
    return visible_text("\n".join(filter(None, texts))[:MOST_SCHEMA])


def _counts(leaves: Sequence[Mapping[str, Any]], step: Step | None) -> tuple[str, str]:
    """Return how many of the arguments are wrong, and the names of the others."""
    wrong = {
        (match[1] or match[2]) for each in leaves if (match := TOP_KEY.match(each["argument"]))
    }
    if not wrong:
        return "", ""
    names = [*dict.fromkeys((*_names(step), *sorted(wrong)))]
    equal = ", ".join(visible(name) for name in names if name not in wrong)
    counts = f"{len(wrong):,} of {words.count(len(names), 'argument')} wrong"
    return counts, words.clip(equal, MOST_CHARACTERS)


def _names(step: Step | None) -> list[str]:
    try:
        found = orjson.loads((step.arguments if step else None) or "{}")
    except orjson.JSONDecodeError:
        return []
    return [*found] if isinstance(found, dict) else []


def _expected_arguments(row: ResultRow, task: Task | None) -> Markup:
    """Return the arguments with which a task expects the call of a decision."""
    for expected in (task.expected if task else None) or ():
        same = expected.decision == row["decision"] and expected.tool == row["expected_tool"]
        if same and expected.arguments:
            text = json.dumps(expected.arguments, ensure_ascii=False, default=str)
            return with_marked_keys(indented(text)[:MOST_CHARACTERS])
    return Markup()


def _leaf(text: str | None, absent: str) -> str:
    return absent if text is None else words.clip(visible(text), MOST_CHARACTERS)
