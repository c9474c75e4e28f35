"""The tree of a run's agents: each agent is shown once, for any rows."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tracegrade_scoring.timeline.agents import AgentGroup, agent_groups, attempt_agents
from tracegrade_scoring.timeline.model import RunAgent

START = datetime(2026, 11, 1, tzinfo=UTC)
NUMBERS = st.integers(0, 9)
ROWS = st.lists(
    st.tuples(
        st.integers(0, 2),  # its run
        NUMBERS,  # its span
        st.none() | st.tuples(st.integers(0, 3), NUMBERS),  # its parent, which may not be there
        st.sampled_from([None, "a", "a", "b"]),
        NUMBERS,  # its start
        st.none() | NUMBERS,  # how long it took
    ),
    unique_by=lambda row: row[:2],
    max_size=20,
)


def made(
    run: int,
    span: int,
    parent: tuple[int, int] | None = None,
    name: str | None = "a",
    at: int = 0,
    took: int | None = 1,
) -> RunAgent:
    """Return an agent with one step of its own."""
    start = START + timedelta(seconds=at)
    return RunAgent(
        trajectory_id=f"r{run}", agent_span_id=f"{span}", has_span=True, agent_name=name,
        parent_trajectory_id=parent and f"r{parent[0]}",
        parent_agent_span_id=parent and f"{parent[1]}", tool_call_id=None, start_time=start,
        end_time=None if took is None else start + timedelta(seconds=took),
        duration_ms=None if took is None else took * 1_000.0, step_count=1, step_indexes=[span],
        tool_call_count=1, error_count=0, llm_call_count=1, input_tokens=10, output_tokens=None,
        cost_usd=0.5, model_calls=[],
    )  # fmt: skip


def names(groups: list[AgentGroup]) -> list[tuple[str | None, int, int]]:
    """Return name, depth and agents of each group."""
    return [(group.agent_name, group.depth, len(group.agents)) for group in groups]


@given(ROWS)
def test_each_agent_is_in_one_group(rows: list[tuple[object, ...]]) -> None:
    """Circles, lost parents, equal names: none is lost or doubled; depths are of a tree."""
    agents = sorted((made(*row) for row in rows), key=lambda each: each.start_time)  # type: ignore[arg-type, return-value]
    groups = agent_groups(agents)

    ids = [(each.trajectory_id, each.agent_span_id) for group in groups for each in group.agents]
    assert sorted(ids) == sorted((each.trajectory_id, each.agent_span_id) for each in agents)
    for place, group in enumerate(groups):
        assert group.parent is None or any(group.parent is each for each in groups[:place])
        assert group.depth == (0 if group.parent is None else group.parent.depth + 1)
        assert {each.agent_name for each in group.agents} == {group.agent_name}


def test_an_agent_that_was_called_again_is_one_group() -> None:
    """In turn, not at the same time: these get numbers, and sums are those of their agents."""
    groups = agent_groups(
        [
            made(0, 0, None, "lead", took=9),
            made(0, 1, (0, 0), "w", at=1),
            made(0, 2, (0, 0), "w", at=1, took=5),
            made(0, 3, (0, 0), "w", at=3),
        ]
    )

    assert names(groups) == [("lead", 0, 1), ("w", 1, 2), ("w", 1, 1)]
    assert [group.number for group in groups] == [0, 1, 2]
    totals = [groups[1].total(name) for name in ("input_tokens", "output_tokens", "cost_usd")]
    assert totals == [20, None, 1.0]


@given(st.lists(st.tuples(NUMBERS, st.none() | NUMBERS), min_size=1, max_size=20))
def test_as_many_groups_as_agents_at_a_time(times: list[tuple[int, int | None]]) -> None:
    """An agent joins a group whose last agent has ended, wherever there is one."""
    agents = [made(0, span, at=at, took=took) for span, (at, took) in enumerate(sorted(
        times, key=lambda each: each[0]
    ))]  # fmt: skip
    at_a_time = [
        sum(
            before.end_time is None
            or (each.start_time is not None and before.end_time > each.start_time)
            for before in agents[:place]
        )
        for place, each in enumerate(agents)
    ]

    assert len(agent_groups(agents)) == 1 + max(at_a_time)


def test_what_agents_of_one_group_started_is_one_group() -> None:
    """A helper that each of two turns called once was called twice."""
    groups = agent_groups(
        [
            made(0, 0, None, "lead", took=9),
            made(0, 1, (0, 0), "w", at=1, took=2),
            made(0, 3, (0, 1), "x", at=2),
            made(0, 2, (0, 0), "w", at=4, took=2),
            made(0, 4, (0, 2), "x", at=5),
        ]
    )

    assert names(groups) == [("lead", 0, 1), ("w", 1, 2), ("x", 2, 2)]


def test_agents_of_other_attempts_are_left_out() -> None:
    """A trace may hold several attempts; callers and sub-agents of a run are of its own."""
    agents = [made(0, 0), made(1, 1, (0, 0)), made(2, 2)]

    assert [each.trajectory_id for each in attempt_agents(agents, "r1")] == ["r0", "r1"]
    assert [each.trajectory_id for each in attempt_agents(agents, "r2")] == ["r2"]
    assert attempt_agents([], "r0") == ()
