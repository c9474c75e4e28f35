"""Sub-goals that a draft proposes: calls that the runs of a task have in common, and their order.

A call is its tool and its essential arguments: its object, without the agent's own wording. A call
of most runs is a sub-goal; a call of all runs that writes is critical. A sub-goal depends on the
calls before it in every run that did it.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tracegrade_scoring.tasks.expected_value import as_key, literally

LEAST_SHARE: Final = 0.5
"""More runs than this share have a call that becomes a sub-goal."""
MAX_WORDS: Final = 4
"""A text of more words is the agent's own wording."""
_THINKING: Final = re.compile(
    r"(?i)(?:mcp__.+?__)?(?:think|thinking|thought|reason|reasoning|reflect|scratchpad"
    r"|sequential_?thinking)"
)


class ToolUse(NamedTuple):
    """A call that went well."""

    tool: str
    arguments: str | None
    """JSON; None if they are not known."""

    @property
    def essential(self) -> "ToolUse":
        """It with its essential arguments alone, in canonical JSON."""
        constants = {
            key: value
            for key, value in _object(self.arguments).items()
            if value is not None and not any(_is_wording(text) for text in _texts(value))
        }
        return ToolUse(self.tool, json.dumps(constants, sort_keys=True))


class Proposed(NamedTuple):
    """A sub-goal, and how many runs speak for it."""

    name: str
    call: ToolUse
    """With arguments that must be equal to these; None: with any arguments."""
    is_critical: bool
    deps: Sequence[str]
    runs: int
    all_runs: int
    is_only: bool = True
    """No other sub-goal is a call of its tool."""

    @property
    def serves(self) -> str | dict[str, str]:
        """The calls that serve it; sub-goals of one tool differ by the object of the calls."""
        pattern = ".*".join(
            re.escape(f"{_canonical(key)}:{_canonical(value)}")
            for key, value in _object(self.call.arguments).items()
            if isinstance(value, str)
        )
        if self.is_only or not pattern:
            return self.call.tool
        return {"tool": self.call.tool, "arguments": pattern}

    def sub_goal(self) -> dict[str, Any]:
        """Return it as a sub-goal of a task file."""
        sub_goal: dict[str, Any] = {"serves": [self.serves]}
        if self.deps:
            sub_goal["deps"] = [*self.deps]
        if self.is_critical:
            sub_goal["critical"] = True
        if given := _object(self.call.arguments):
            literals = {as_key(key): literally(value) for key, value in given.items()}
            sub_goal["success"] = {"tool": self.call.tool, "arguments": literals}
        return sub_goal


def proposed(
    runs: Sequence[Sequence[ToolUse]], effects: Mapping[str, str | None]
) -> list[Proposed]:
    """Return the sub-goals of a task, in the order in which they were mostly reached.

    Args:
        runs: The calls of each run, in order.
        effects: Tool to its effect. If no effect is known for the calls that all runs made, all of
            these are critical; otherwise only those that write.
    """
    walks = [_first_places([call for call in run if not _is_thinking(call)]) for run in runs]
    support = Counter(call for walk in walks for call in walk)
    common = _common(support, len(runs))
    order = sorted(common, key=lambda call: (_mean_position(call, walks), call))
    names = dict(zip(order, _names(order), strict=True))
    everywhere = [call for call in order if support[call] == len(runs)]
    writes = [call for call in everywhere if effects.get(call.tool) in {"write", "destructive"}]
    critical = {*(writes or everywhere)}
    tools = Counter(call.tool for call in order)
    before = {call: _before(call, order, walks) for call in order}
    return [
        Proposed(
            names[call],
            call,
            call in critical,
            [names[each] for each in _direct(before[call], before)],
            support[call],
            len(runs),
            tools[call.tool] == 1,
        )
        for call in order
    ]


def fewest_calls(runs: Sequence[Sequence[ToolUse]], effects: Mapping[str, str | None]) -> int:
    """Return the fewest calls of a run, without calls that think or repeat another.

    A call repeats an equal call if all calls between them only read.
    """
    return min(sum(1 for _ in _needed(run, effects)) for run in runs)


def _needed(run: Sequence[ToolUse], effects: Mapping[str, str | None]) -> Iterator[ToolUse]:
    read: set[ToolUse] = set()
    for call in run:
        if _is_thinking(call):
            continue
        if call not in read or call.arguments is None:
            yield call
        if effects.get(call.tool) != "read":
            read.clear()
        read.add(call)


def _object(text: str | None) -> dict[str, Any]:
    """Return a JSON object; {} for what is none, or too deep to be read."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _canonical(text: str) -> str:
    """Return the canonical JSON form of a text."""
    return json.dumps(text, ensure_ascii=False)


def _is_thinking(call: ToolUse) -> bool:
    return _THINKING.fullmatch(call.tool) is not None


def _is_wording(text: str) -> bool:
    return len(text.split()) > MAX_WORDS


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from _texts(part)
        case list():
            for part in value:
                yield from _texts(part)


def _first_places(run: Sequence[ToolUse]) -> dict[ToolUse, int]:
    """Return where each call first stands, with its arguments and as one of its tool alone."""
    places: dict[ToolUse, int] = {}
    for position, call in enumerate(run):
        places.setdefault(call.essential, position)
        places.setdefault(ToolUse(call.tool, None), position)
    return places


def _common(support: Counter[ToolUse], runs: int) -> list[ToolUse]:
    """Return the calls that most runs made; of a tool whose arguments differ, the tool alone."""
    frequent = [call for call, times in support.items() if times > LEAST_SHARE * runs]
    specific: dict[str, list[ToolUse]] = defaultdict(list)
    for call in frequent:
        if call.arguments is not None:
            specific[call.tool].append(call)
    return [
        call
        for call in frequent
        if (call.arguments is None)
        != any(support[each] == support[ToolUse(call.tool, None)] for each in specific[call.tool])
    ]


def _mean_position(call: ToolUse, walks: Sequence[Mapping[ToolUse, int]]) -> float:
    places = [walk[call] for walk in walks if call in walk]
    return sum(places) / len(places)


def _before(
    call: ToolUse, calls: Sequence[ToolUse], walks: Sequence[Mapping[ToolUse, int]]
) -> set[ToolUse]:
    """Return the calls before a call in each run that has it."""
    having = [walk for walk in walks if call in walk]
    return {
        other
        for other in calls
        if all(other in walk and walk[other] < walk[call] for walk in having)
    }


def _direct(before: set[ToolUse], all_before: Mapping[ToolUse, set[ToolUse]]) -> list[ToolUse]:
    """Return the calls that come before none of the others."""
    return sorted(
        call for call in before if not any(call in all_before[other] for other in before)
    )


def _names(calls: Sequence[ToolUse]) -> Iterator[str]:
    taken: set[str] = set()
    for call in calls:
        yield unused(call.tool, taken)


def unused(name: str, taken: set[str]) -> str:
    """Return the name, with a number if it is taken, and take it."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(found)
    return found
