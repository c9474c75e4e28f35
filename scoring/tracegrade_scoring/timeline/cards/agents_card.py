"""The card of a run with several agents: their work over time, and its sums."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from markupsafe import Markup

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.pictures.lanes import Lane, LaneBox, lanes_picture
from tracegrade_scoring.rendering import words
from tracegrade_scoring.timeline.agents import AgentGroup, agent_groups
from tracegrade_scoring.timeline.model import RunAgent, Timeline

AGENT_CALLS: Final = "run_agent_calls"
"""The query of the calls in lanes."""
MOST_AGENTS: Final = 60
"""Lanes and rows of a page; JSON has all agents."""
MOST_INDENTS: Final = 5

AgentHref = Callable[[AgentGroup], str]
StepHref = Callable[[str, int], str]
"""The address of a step of a run."""


HEADINGS: Final = ("Times", "Time", "Model calls", "Calls", "Failed", "Tokens", "Cost")


class AgentRow(NamedTuple):
    """One agent in words."""

    name: str
    indent: int
    """0..`MOST_INDENTS`."""
    href: str
    """Leads to its steps."""
    chosen: bool
    """Whether its steps alone are shown."""
    facts: tuple[str, ...]
    """Times started, time, model calls, calls, failed calls, tokens, cost."""
    failed: bool


class AgentsCard(NamedTuple):
    """The contents of the card."""

    rows: Sequence[AgentRow]
    picture: Markup
    """Empty where no time is known."""
    more: int
    """Agents without a row."""
    total: int
    headings: Sequence[str] = HEADINGS
    """Of the facts of rows."""


def run_groups(timeline: Timeline) -> list[AgentGroup]:
    """Return the agents of a run, each below the one that started it; none of a single one."""
    groups = agent_groups(timeline.agents)
    return groups if len(groups) > 1 else []


def chosen_group(
    groups: Iterable[AgentGroup], trajectory_id: str, span_id: str
) -> AgentGroup | None:
    """Return the group of a run that has an agent of this span; None if none does."""
    return next(
        (
            group
            for group in groups
            for each in group.agents
            if (each.trajectory_id, each.agent_span_id) == (trajectory_id, span_id)
        ),
        None,
    )


def agent_label(group: AgentGroup) -> str:
    """Return the name of a group, with its number where others have the name, too."""
    name = words.name(group.agent_name, "not named")
    return f"{name} #{group.number}" if group.number else name


def agents_by_step(groups: Iterable[AgentGroup], trajectory_id: str) -> dict[int, str]:
    """Return by index of a step of a run whose it is; nothing if all are of one agent."""
    found = {group: group.steps_of(trajectory_id) for group in groups}
    own = {group: steps for group, steps in found.items() if steps}
    if len(own) < 2:
        return {}
    return {index: agent_label(group) for group, steps in own.items() for index in steps}


def named_by_step(timeline: Timeline) -> dict[int, str]:
    """Return the same by the names of steps, for a lake built without a table of agents."""
    if not timeline.has_several_agents:
        return {}
    return {step.step_index: words.name(step.agent_name, "not named") for step in timeline.steps}


def agents_card(
    groups: Sequence[AgentGroup],
    calls: Iterable[ResultRow],
    chosen: AgentGroup | None,
    agent_href: AgentHref,
    step_href: StepHref,
) -> AgentsCard | None:
    """Return the card; None of a run of one agent.

    Args:
        groups: The agents of the run, as `run_groups` returns them.
        calls: Rows of `AGENT_CALLS`.
        chosen: The group whose steps alone are shown.
        agent_href: The address of the steps of a group.
        step_href: The address of a step.
    """
    if not groups:
        return None
    shown = groups[:MOST_AGENTS]
    rows = [
        AgentRow(
            agent_label(group), min(group.depth, MOST_INDENTS), agent_href(group),
            group is chosen, _facts(group), bool(group.total("error_count")),
        )
        for group in shown
    ]  # fmt: skip
    lanes = [*_lanes(shown, _calls_by_agent(calls), step_href)]
    description = f"The work of {words.count(len(shown), 'agent')} over time; a table has the sums"
    picture = lanes_picture(lanes, description)
    return AgentsCard(rows, picture, len(groups) - len(shown), len(groups))


def _facts(group: AgentGroup) -> tuple[str, ...]:
    took, cost = group.total("duration_ms"), group.total("cost_usd")
    tokens = [group.total("input_tokens"), group.total("output_tokens")]
    known = [each for each in tokens if each is not None]
    return (
        words.number(len(group.agents)),
        words.NOTHING if took is None else words.duration(took),
        *(
            words.number(group.total(f"{kind}_count"))
            for kind in ("llm_call", "tool_call", "error")
        ),
        words.number(sum(known)) if known else words.NOTHING,
        words.NOTHING if cost is None else f"{cost:.4f} USD",
    )


def _calls_by_agent(calls: Iterable[ResultRow]) -> Mapping[tuple[str, str], list[ResultRow]]:
    found: dict[tuple[str, str], list[ResultRow]] = {}
    for row in calls:
        found.setdefault((row["trajectory_id"], row["agent_span_id"]), []).append(row)
    return found


def _lanes(
    groups: Sequence[AgentGroup],
    calls: Mapping[tuple[str, str], Sequence[ResultRow]],
    step_href: StepHref,
) -> Iterator[Lane]:
    starts = [each.start_time for group in groups for each in group.agents if each.start_time]
    begin = min(starts, default=None)
    places = {id(group): place for place, group in enumerate(groups)}
    for group in groups:
        boxes = [
            each
            for agent in group.agents
            for each in _boxes(
                agent, calls.get((agent.trajectory_id, agent.agent_span_id), ()), begin, step_href
            )
        ]
        times = [_span(each.start_time, each.end_time, begin) for each in group.agents]
        yield Lane(
            agent_label(group),
            group.depth,
            [each for each in times if each],
            sorted(boxes),
            places[id(group.parent)] if group.parent else None,
        )


def _boxes(
    agent: RunAgent, calls: Iterable[ResultRow], begin: datetime | None, step_href: StepHref
) -> Iterator[LaneBox]:
    for each in agent.model_calls:
        if times := _span(each["start_time"], each["end_time"], begin):
            took = words.duration(times[1] - times[0])
            yield LaneBox(*times, "model", f"model call, {took}", "")
    for row in calls:
        if times := _span(row["start_time"], row["end_time"], begin):
            kind = "failed" if row["failed"] else "call"
            name = words.name(row["tool_name"], "call")
            title = f"s{row['step_index']} {name}" + (", failed" if row["failed"] else "")
            yield LaneBox(*times, kind, title, step_href(row["trajectory_id"], row["step_index"]))


def _span(
    start: datetime | None, end: datetime | None, begin: datetime | None
) -> tuple[float, float] | None:
    """Return start and end in milliseconds since the first start; None without a start."""
    if start is None or begin is None:
        return None
    first = (start - begin).total_seconds() * 1_000
    return first, max(((end or start) - begin).total_seconds() * 1_000, first)
