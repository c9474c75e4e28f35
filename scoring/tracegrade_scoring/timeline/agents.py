"""Sorts the agents of a trace by who started them, and adds up those that worked in turn.

Agents of one name that one agent started, each after the end of the one before, are one group: a
reader sees one agent that was called several times. Agents at the same time stay apart.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import heappop, heappush
from typing import TypeAlias

from tracegrade_scoring.timeline.model import RunAgent

AgentId: TypeAlias = "tuple[str | None, str | None]"
"""Trajectory and span."""


@dataclass(eq=False)
class AgentGroup:
    """Agents of one name that worked in turn for one agent."""

    agents: list[RunAgent]
    depth: int
    """0 for an outermost one."""
    parent: "AgentGroup | None"
    number: int = 0
    """From 1 among groups of this name, in their order; 0 if no other has it."""
    groups: "list[AgentGroup]" = field(default_factory=list)
    """Groups that it started."""

    @property
    def agent_name(self) -> str | None:
        """Their name; None if they are not named."""
        return self.agents[0].agent_name

    @property
    def span_id(self) -> str:
        """The first agent's span, the name of the group in addresses."""
        return self.agents[0].agent_span_id

    def steps_of(self, trajectory_id: str) -> frozenset[int]:
        """Return the indexes of their steps in one run."""
        own = (each for each in self.agents if each.trajectory_id == trajectory_id)
        return frozenset(index for each in own for index in each.step_indexes)

    def total(self, column: str) -> float | None:
        """Return the sum of a column of its agents; None if no agent has a value.

        A cost is known only if that of each agent with model calls is.
        """
        values = [
            getattr(each, column)
            for each in self.agents
            if column != "cost_usd" or each.llm_call_count
        ]
        if column == "cost_usd" and None in values:
            return None
        known = [value for value in values if value is not None]
        return sum(known) if known else None


def attempt_agents(agents: Sequence[RunAgent], trajectory_id: str) -> tuple[RunAgent, ...]:
    """Return those of a trace's agents that a run, its callers or its sub-agents have."""
    linked: dict[str, set[str]] = {}
    for each in agents:
        of_both = {each.trajectory_id, each.parent_trajectory_id or each.trajectory_id}
        for run in of_both:
            linked.setdefault(run, set()).update(of_both)
    reached, left = set[str](), [trajectory_id]
    while left:
        run = left.pop()
        if run not in reached:
            reached.add(run)
            left += linked.get(run, ())
    return tuple(each for each in agents if each.trajectory_id in reached)


def agent_groups(agents: Iterable[RunAgent]) -> list[AgentGroup]:
    """Return the groups of the agents of an attempt, each below the one that started it.

    Args:
        agents: All of them, in the order of their starts. One whose parent is not among them, or
            is below it, is an outermost one.
    """
    below: dict[AgentId, list[RunAgent]] = {}
    agents = list(agents)
    ids = {_id(each) for each in agents}
    for each in agents:
        parent = (each.parent_trajectory_id, each.parent_agent_span_id)
        below.setdefault(parent if parent in ids else (None, None), []).append(each)
    found = _Groups(below)
    found.add((None, None), None)
    for each in agents:  # the rest is a circle
        if _id(each) not in found.placed:
            found.place(each, None, found.outermost)
    groups = list(_in_order(found.outermost))
    names = Counter(group.agent_name for group in groups)
    numbers = Counter[str | None]()
    for group in groups:
        if names[group.agent_name] > 1:
            numbers[group.agent_name] += 1
            group.number = numbers[group.agent_name]
    return groups


class _Groups:
    """Groups as they are made."""

    def __init__(self, below: dict[AgentId, list[RunAgent]]) -> None:
        self._below = below
        self._free: dict[tuple[int, str | None], _FreeGroups] = {}
        self.outermost: list[AgentGroup] = []
        self.placed: set[AgentId] = set()

    def add(self, parent: AgentId, group: AgentGroup | None) -> None:
        """Place what an agent of a group started, and all below; None for the outermost."""
        waiting = deque([(parent, group)])
        while waiting:
            above, its = waiting.popleft()
            others = self.outermost if its is None else its.groups
            for each in self._below.get(above, ()):
                if _id(each) not in self.placed:
                    waiting.append((_id(each), self._placed(each, its, others)))

    def place(self, agent: RunAgent, group: AgentGroup | None, others: list[AgentGroup]) -> None:
        """Place an agent and all that it started."""
        self.add(_id(agent), self._placed(agent, group, others))

    def _placed(
        self, agent: RunAgent, parent: AgentGroup | None, others: list[AgentGroup]
    ) -> AgentGroup:
        self.placed.add(_id(agent))
        free = self._free.setdefault((id(others), agent.agent_name), _FreeGroups())
        if group := free.taken_by(agent):
            group.agents.append(agent)
        else:
            group = AgentGroup([agent], parent.depth + 1 if parent else 0, parent)
            others.append(group)
        free.add(group)
        return group


class _FreeGroups:
    """Groups of one name, by the end of their last agent: there may be thousands at a time."""

    def __init__(self) -> None:
        self._groups: list[AgentGroup] = []
        self._numbers: dict[int, int] = {}
        self._working: list[tuple[datetime, int]] = []
        self._free: list[int] = []

    def add(self, group: AgentGroup) -> None:
        """Note a group and the end of its last agent."""
        number = self._numbers.setdefault(id(group), len(self._groups))
        if number == len(self._groups):
            self._groups.append(group)
        if isinstance(end := group.agents[-1].end_time, datetime):
            heappush(self._working, (end, number))

    def taken_by(self, agent: RunAgent) -> AgentGroup | None:
        """Return the first group whose last agent had ended when an agent began, and forget it."""
        if not isinstance(start := agent.start_time, datetime):
            return None
        while self._working and self._working[0][0] <= start:
            heappush(self._free, heappop(self._working)[1])
        if not self._free or not _follows(agent, self._groups[self._free[0]].agents[-1]):
            return None
        return self._groups[heappop(self._free)]


def _in_order(groups: Iterable[AgentGroup]) -> Iterator[AgentGroup]:
    """Yield groups, each before those that it started."""
    left = list(groups)[::-1]
    while left:
        group = left.pop()
        yield group
        left += group.groups[::-1]


def _id(agent: RunAgent) -> AgentId:
    return agent.trajectory_id, agent.agent_span_id


def _follows(agent: RunAgent, before: RunAgent) -> bool:
    """Return whether an agent began after another had ended."""
    end, start = before.end_time, agent.start_time
    return isinstance(end, datetime) and isinstance(start, datetime) and end <= start
