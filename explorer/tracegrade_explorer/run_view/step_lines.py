"""Each step of a run on one line: a call with its result, observations inside their call.

Pure; texts come out visible, and are escaped by the template.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import orjson

from tracegrade.terminal.visible import visible
from tracegrade_explorer.run_view.blocks import LEAST_REPEATS, StepBlock
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import StepView
from tracegrade_scoring.timeline.model import Step
from tracegrade_scoring.timeline.plan.plans import PlanChange

MOST_SHORT: Final = 160
"""Characters of arguments, of a result or of a text on a line."""
MOST_VALUE: Final = 60
"""Length of one value among arguments."""
MOST_KEYS: Final = 8
MOST_ITEMS: Final = 30
"""Items of a plan."""
NO_GOAL: Final = "serves no sub-goal"
MARKS: Final[Mapping[str, str]] = {
    "plan": "↳", "message": "■", "answer": "■", "tool_call": "·", "handoff": "→",
}  # fmt: skip


class StepLine(NamedTuple):
    """A step on its line."""

    view: StepView
    kind: str
    """The same as in `Step`."""
    mark: str
    """✗ (it failed) | ▲ (something else was found at it) | a sign of its kind; '' for none."""
    given: str
    """Arguments of a call, else the beginning of its text."""
    returned: str
    """'' if it is not a call, or has no known result."""
    findings: tuple[str, ...]
    """Findings at it and at its observations, each sentence once."""
    below: tuple[str, ...]
    """The same as read below the line; empty where a line above has them for several lines."""
    seen: tuple[StepView, ...]
    """Observations of it."""
    agent: str = ""
    """Agent of the step, if the run has several agents."""


class LineBlock(NamedTuple):
    """Lines below a head, and folded below a title if they have one."""

    head: str
    """Name of the sub-goal that they serve; '' if an earlier line names it."""
    title: str
    marks: tuple[str, ...]
    lines: tuple[StepLine, ...]
    last_index: int
    """Index of the last step."""


def line_blocks(
    blocks: Sequence[StepBlock],
    steps: Mapping[int, Step],
    goals: Mapping[int, str],
    plans: Mapping[int, str],
    agents: Mapping[int, str],
) -> list[LineBlock]:
    """Return blocks of steps as lines, below the sub-goals that they serve.

    Args:
        blocks: The folded blocks.
        steps: The steps by index.
        goals: The sub-goal that each call serves, by index; empty if not known.
        plans: The text of each plan's line, by index.
        agents: By index of a step whose it is, where steps are of several agents.
    """
    lines = [(block, [*_lines(block.steps, steps, plans, agents)]) for block in blocks]
    heads = _heads([line for _, each in lines for line in each], goals)
    found: list[LineBlock] = []
    last: str | None = None
    for block, its in lines:
        parts = [its] if block.title else _by_head(its, heads)
        for part in parts:
            head = heads.get(part[0].view.index) if part else None
            shown = (head or NO_GOAL) if goals and head != last else ""
            shown = "" if last is None and head is None else shown
            last = head if part else last
            found.append(
                LineBlock(
                    shown, block.title, block.marks, tuple(_once_for_all(part)), _last_index(part)
                )
            )
    return found


def _once_for_all(lines: Iterable[StepLine]) -> Iterator[StepLine]:
    """Yield lines; the first of many with the same findings in a row says them for all."""
    for findings, group in groupby(lines, key=lambda line: line.findings):
        first, *others = group
        if not findings or len(others) + 1 < LEAST_REPEATS:
            yield from (first, *others)
            continue
        repeats = f" ({len(others) + 1} times, to s{others[-1].view.index})"
        yield first._replace(below=tuple(finding + repeats for finding in findings))
        yield from (line._replace(below=()) for line in others)


def _last_index(lines: Sequence[StepLine]) -> int:
    views = [view for line in lines for view in (line.view, *line.seen)]
    return views[-1].index if views else 0


def _by_head(lines: Sequence[StepLine], heads: Mapping[int, str | None]) -> list[list[StepLine]]:
    return [[*group] for _, group in groupby(lines, key=lambda line: heads[line.view.index])]


def _heads(lines: Sequence[StepLine], goals: Mapping[int, str]) -> dict[int, str | None]:
    """Return by step the sub-goal below which it stands.

    A thought goes with the next call, a message or an answer with the step before it.
    """
    found: dict[int, str | None] = {}
    following: str | None = None
    for line in reversed(lines):
        if line.kind == "tool_call":
            following = goals.get(line.view.index)
        elif line.kind not in {"thought", "observation"}:
            following = None
        found[line.view.index] = following
    before: str | None = None
    for line in lines:
        if line.kind in {"message", "answer"}:
            found[line.view.index] = before
        before = found[line.view.index]
    return found


def _lines(
    views: Sequence[StepView],
    steps: Mapping[int, Step],
    plans: Mapping[int, str],
    agents: Mapping[int, str],
) -> Iterator[StepLine]:
    position = 0
    while position < len(views):
        view = views[position]
        end = position + 1
        while end < len(views) and steps[views[end].index].call_step == view.index:
            end += 1
        given = plans.get(view.index) or _given(steps[view.index])
        line = _line(view, views[position + 1 : end], steps[view.index], given)
        yield line._replace(agent=agents.get(view.index, ""))
        position = end


def _line(view: StepView, seen: Sequence[StepView], step: Step, given: str) -> StepLine:
    findings = tuple(dict.fromkeys(mark for each in (view, *seen) for mark in each.marks))
    mark = "✗" if view.failed else "▲" if findings else MARKS.get(step.kind, "")
    returned = _returned(step) if step.kind == "tool_call" else ""
    return StepLine(view, step.kind, mark, given, returned, findings, findings, tuple(seen))


def _given(step: Step) -> str:
    if step.kind == "tool_call":
        return _short(step.arguments)
    return _first_words(step.content or step.result)


def plan_names(changes: Iterable[PlanChange]) -> dict[int, str]:
    """Return by step how many items its plan has, and their names."""
    return {
        change.step_index: words.clip(
            f"{words.count(len(change.items), 'item')}: "
            + ", ".join(words.name(item.key) for item in change.items[:MOST_ITEMS]),
            MOST_SHORT,
        )
        for change in changes
    }


def _returned(step: Step) -> str:
    if step.error:
        return words.clip(words.line(step.error), MOST_SHORT)
    return _short(step.result)


def _first_words(text: str | None) -> str:
    return words.clip(visible(" ".join((text or "")[: 4 * MOST_SHORT].split())), MOST_SHORT)


def _short(text: str | None) -> str:
    """Return JSON on a line: names with short values, and lengths of long values."""
    if not text:
        return ""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return _first_words(text)
    if isinstance(found, dict):
        return words.clip(_pairs(found), MOST_SHORT)
    if isinstance(found, list) and found and isinstance(found[0], dict):
        return words.clip(f"[{len(found):,}] {_pairs(found[0])}", MOST_SHORT)
    return _value(found, MOST_SHORT)


def _pairs(found: Mapping[str, object]) -> str:
    pairs = [*found.items()]
    text = ", ".join(
        f"{visible(key)}={_value(each, MOST_VALUE)}" for key, each in pairs[:MOST_KEYS]
    )
    return f"{text}, …" if len(pairs) > MOST_KEYS else text


def _value(value: object, most: int) -> str:
    """Return a value on a line; for a long list or object, its length."""
    text = visible(orjson.dumps(value).decode())
    if len(text) <= most:
        return text
    if isinstance(value, dict):
        return "{…}"
    if isinstance(value, list):
        return f"[{len(value):,}]"
    return words.clip(text, most)


def goals_by_step(served: Mapping[int, Collection[str]]) -> dict[int, str]:
    """Return by step the first sub-goal that it serves."""
    return {step: words.name(next(iter(goals))) for step, goals in served.items() if goals}
