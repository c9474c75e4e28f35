"""Lets a reader of a run choose an agent, and leads to the steps of each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.filters.grammar import Filter, to_pairs
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_scoring.timeline.agents import AgentGroup
from tracegrade_scoring.timeline.cards.agents_card import agents_card, chosen_group

CARRIED: Final = ("show", "step_tool", "find", "queue")
"""The parameters of an address that stay when a reader chooses an agent."""


class RunChoice(NamedTuple):
    """A run, and the parameters of its address."""

    run_id: str
    run_filter: Filter
    own: Mapping[str, str]

    def address(self, of_run: str, span_id: str) -> str:
        """Return the address of the steps of an agent; of all agents for ''."""
        kept = {key: self.own.get(key, "") for key in CARRIED} if of_run == self.run_id else {}
        given = {**kept, "who": span_id}
        pairs = [
            *to_pairs(self.run_filter.runs_alone),
            *((key, value) for key, value in given.items() if value),
        ]
        return links.with_query(links.run(of_run), pairs) + ("#steps-title" if span_id else "")


def chosen_agent(
    groups: Sequence[AgentGroup], run_id: str, own: Mapping[str, str]
) -> AgentGroup | None:
    """Return the group that a reader chose; None for all.

    Raises:
        BadFilter: The run has no such agent.
    """
    span_id = own.get("who", "")
    found = chosen_group(groups, run_id, span_id) if span_id else None
    if span_id and found is None:
        msg = f"the run has no agent who={span_id}; its JSON has them as agent_span_id"
        raise BadFilter(msg)
    return found


def agents_of_page(
    choice: RunChoice,
    groups: Sequence[AgentGroup],
    calls: Sequence[Row],
    chosen: AgentGroup | None,
    href: Callable[[int], str],
) -> dict[str, Any]:
    """Return the card of a run with several agents, as the template takes it.

    Args:
        choice: The run.
        groups: Its agents.
        calls: Rows of `AGENT_CALLS`.
        chosen: The group that the reader chose.
        href: The address of a step of the run.
    """
    run_id = choice.run_id

    def agent_href(group: AgentGroup) -> str:
        here = (each for each in group.agents if each.trajectory_id == run_id)
        agent = next(here, group.agents[0])
        return choice.address(agent.trajectory_id, agent.agent_span_id)

    def step_href(of_run: str, step: int) -> str:
        return href(step) if of_run == run_id else links.run(of_run, choice.run_filter, step)

    return {
        "agents": agents_card(groups, calls, chosen, agent_href, step_href),
        "all_agents": choice.address(run_id, ""),
        "agent_chosen": chosen is not None,
    }
