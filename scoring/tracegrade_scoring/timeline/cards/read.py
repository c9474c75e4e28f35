"""Reads the cards of one run from a lake, for a page that needs nothing else."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_scoring.rendering.page import RunPage
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.tasks.load import Specification
from tracegrade_scoring.timeline.cards.agents_card import (
    AGENT_CALLS,
    AgentsCard,
    agents_card,
    run_groups,
)
from tracegrade_scoring.timeline.cards.decision_card import (
    DECISIONS,
    DecisionCard,
    decision_cards,
)
from tracegrade_scoring.timeline.model import Timeline


class RunCards(NamedTuple):
    """The cards of a run."""

    by_step: Mapping[int, Sequence[DecisionCard]]
    """Wrong decisions, by the step of the call."""
    missed: Sequence[DecisionCard]
    """Decisions at which no call was made."""
    agents: AgentsCard | None
    """None for a run of one agent."""


NO_CARDS: Final = RunCards({}, (), None)


def read_cards(
    con: DuckDBPyConnection,
    timeline: Timeline,
    day: date,
    specification: Specification,
    run_page: RunPage,
) -> RunCards:
    """Return the cards of a run.

    Args:
        con: Holds the tables of a lake.
        timeline: The run.
        day: The date of its trace.
        specification: The tools and tasks that the lake was scored against last.
        run_page: Says where other runs have their pages.
    """
    key = {"trajectory_id": timeline.run.trajectory_id, "date": day}
    by_step: dict[int, list[DecisionCard]] = {}
    missed = []
    for card in decision_cards(timeline, read_rows(con, DECISIONS, **key), specification):
        if card.step is None:
            missed.append(card)
        else:
            by_step.setdefault(card.step, []).append(card)
    groups = run_groups(timeline)
    calls = read_rows(con, AGENT_CALLS, **key) if groups else []
    own = {step.step_index for step in timeline.steps}

    def step_href(trajectory_id: str, step: int) -> str:
        if trajectory_id == timeline.run.trajectory_id:
            return f"#s{step}" if step in own else ""
        page = run_page(trajectory_id)
        return f"{page}#s{step}" if page else ""

    agents = agents_card(groups, calls, None, lambda _: "", step_href)
    return RunCards(by_step, missed, agents)
