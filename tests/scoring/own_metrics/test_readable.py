"""What metrics of users' own read of runs and tasks beside the calls."""

from tests.scoring.build import GIVEN, call, connection, specification, trajectory

from tracegrade_scoring.sql import RELATIONS

RUNS: dict[str, dict[str, float]] = {
    "priced": {"llm_call_count": 2, "input_tokens": 10, "cost_usd": 0.5, "duration_ms": 20.0},
    "called": {"llm_call_count": 1, "input_tokens": 5, "output_tokens": 7, "cost_usd": 0.25},
    "silent": {"llm_call_count": 0, "duration_ms": 3.0},
    "unpriced": {"llm_call_count": 3, "output_tokens": 4},
    "plain": {"llm_call_count": 1, "cost_usd": 1.0},
}
PARENTS = {"called": "priced", "silent": "priced", "plain": "unpriced"}
"""Sub-agents, and the run that called each."""
TASKS = """
tasks:
  refund: {x: {limit: 2.50, tier: gold, tags: [b, a], none: null}}
  other: {}
"""


def test_attempts_have_what_their_agents_used() -> None:
    """Sub-agents' too; a cost is known where all are, and a run without calls costs nothing."""
    runs = [
        trajectory(
            name, parent_trajectory_id=PARENTS.get(name),
            parent_step=0 if name in PARENTS else None, **used,
        )
        for name, used in RUNS.items()
    ]  # fmt: skip
    con = connection([call(name, 0, "look") for name in RUNS], runs)
    con.execute("ALTER TABLE temp.steps RENAME TO bucket_steps")
    con.execute("CREATE TEMP TABLE endings (trajectory_id TEXT, ending TEXT)")
    con.execute("CREATE TEMP TABLE trajectory_ids AS SELECT trajectory_id, trajectory_id AS id "
                "FROM trajectories")  # fmt: skip
    targets, given = {"metric_attempts", "metric_task_fields"}, {*GIVEN, "trajectory_ids"}
    RELATIONS.run(con, targets, given, options={"compat": None}, context=specification(TASKS))

    names = "attempt_id, llm_call_count, input_tokens, output_tokens, cost_usd, duration_ms"
    assert con.sql(f"SELECT {names} FROM metric_attempts").fetchall() == [
        ("priced", 3, 15, 7, 0.75, 20.0),
        ("unpriced", 4, None, 4, None, None),
    ]
    assert con.sql("FROM metric_task_fields ORDER BY ALL").fetchall() == [
        ("refund", "limit", "2.5"),
        ("refund", "none", None),
        ("refund", "tags", '["b","a"]'),
        ("refund", "tier", "gold"),
    ]


def test_own_keys_of_a_task_change_its_hash_alone() -> None:
    """Runs of the task are scored again; a task without any has the hash it always had."""
    with_keys, without = (
        specification(text) for text in (TASKS, "tasks: {refund: {}, other: {}}")
    )
    assert with_keys.task_hash("other") == without.task_hash("other")
    assert with_keys.task_hash("refund") != without.task_hash("refund")
