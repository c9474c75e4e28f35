"""`tracegrade score` keeps the score tables as scoring everything at once would leave them."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.queries.test_evaluations import land_results, result
from tests.queries.traces import NOON_NS, agent, land, message, model, request, request_of, tool
from tests.scoring.build import arrow, specification

from tracegrade_lake import VERDICTS, Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.discovery import TraceFilter
from tracegrade_scoring.job.run_scoring import preview, score
from tracegrade_scoring.job.summary import summary_lines, summary_object
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.schema import SCORE_SUMS, TRAJECTORY_SCORES
from tracegrade_scoring.tasks import Specification

from .lakes import TASKS, child, run, tables, values, versions

QUIET_NS = 600_000_000_000
"""After which a run is scored without its root."""


def test_every_trajectory_has_every_metric(scored: Lake) -> None:
    """Each metric of each trajectory has a status; none was forgotten by its scorer."""
    rows = values(scored, "SELECT metric, count(*) FROM scores GROUP BY metric")

    assert dict(rows) == dict.fromkeys(METRICS, 6)
    assert values(scored, "FROM scores WHERE reason = 'not_measured' OR status IS NULL") == []
    assert values(scored, "FROM scores WHERE (value IS NOT NULL) <> (status = 'scored')") == []
    assert values(scored, "FROM scores WHERE (reason IS NULL) <> (status = 'scored')") == []


def test_scores_filter_order_and_limit(scored: Lake) -> None:
    """An analyst may choose runs by one field of a score, show another and order by a third."""
    rows = values(
        scored,
        """
        SELECT trajectory_id, termination.label FROM trajectory_scores
        WHERE actual_steps.status = 'scored'
        ORDER BY actual_steps.value DESC, trajectory_id LIMIT 1
        """,
    )

    assert len(rows) == 1


def test_child_is_scored_with_its_parent(scored: Lake) -> None:
    """A sub-agent's calls count for the attempt, the call of it does not; its row has no task."""
    assert values(
        scored,
        "SELECT agent_name, status, reason, numerator, denominator FROM scores "
        f"WHERE metric = 'tsa' AND trajectory_id LIKE '{4:032x}-%' ORDER BY 1",
    ) == [
        ("a", "scored", None, 2.0, 2.0),
        ("sub", "not_applicable", "child_trajectory", None, None),
    ]


def test_second_run_changes_nothing(pair: Lake, spec: Specification) -> None:
    """Scoring what is scored writes no table."""
    before = versions(pair)

    assert score(pair, spec).trajectories == 0
    assert versions(pair) == before


@pytest.mark.slow
def test_full_run_writes_the_same_rows_again(pair: Lake, spec: Specification) -> None:
    """All of what was scored is scored once more."""
    first = tables(pair)

    assert score(pair, spec, full=True).trajectories == 2
    assert tables(pair) == first


def test_lake_without_any_span_has_nothing_to_score(lake: Lake, spec: Specification) -> None:
    """Neither is it an error to ask for all of it, nor is anything written."""
    assert score(lake, spec, full=True).trajectories == 0
    assert not any(tables(lake).values())


@pytest.mark.slow
def test_bit_by_bit_equals_at_once(tmp_path: Path, spec: Specification) -> None:
    """A lake scored after each arrival holds the same rows as one that is scored once."""
    runs = [run(1, "look", "pay"), child(2), run(3, "look"), run(4, "pay", task=None)]
    at_once, bit_by_bit = Lake.create(tmp_path / "once"), Lake.create(tmp_path / "bits")
    for lake in (at_once, bit_by_bit):
        for i, body in enumerate(runs):
            land(lake, body, seq=i + 1, day=i // 3)
            if lake is bit_by_bit and i == 1:
                score(lake, spec)
        score(lake, spec)

    assert tables(bit_by_bit) == tables(at_once)


def test_late_span_scores_its_trace_again(pair: Lake, spec: Specification) -> None:
    """A span that arrives after its trajectory was scored changes the score, and only that one."""
    numerators = "SELECT numerator FROM scores WHERE metric = 'tsa' ORDER BY trajectory_id"
    before, missed = values(pair, numerators), "SELECT count(*) FROM decisions WHERE missed"
    assert values(pair, missed) == [(1,)]
    land(pair, request_of([tool(9, 1, tool_name="look", trace=2, at=1)]), seq=3, day=1)

    assert score(pair, spec).trajectories == 1
    assert (before, values(pair, numerators)) == ([(2.0,), (1.0,)], [(2.0,), (2.0,)])
    assert values(pair, missed) == [(0,)]


@pytest.mark.slow
def test_verdict_scores_its_trajectory_again(pair: Lake, spec: Specification) -> None:
    """One that comes later changes success; one without a source, by others, is a verifier's."""
    ((trajectory_id,),) = values(pair, "SELECT min(trajectory_id) FROM trajectories")
    row = {
        "trajectory_id": trajectory_id,
        "subject": "success",
        "value": 1.0,
        "date": date(2026, 11, 1),
    }
    pair.replace(VERDICTS, arrow(VERDICTS, [row]))

    assert score(pair, spec).trajectories == 1
    assert values(
        pair,
        "SELECT value, status, source FROM scores WHERE metric = 'success' ORDER BY trajectory_id",
    ) == [(1.0, "scored", "verifier"), (None, "not_applicable", None)]


@pytest.mark.slow
def test_evaluation_result_scores_its_run_again(pair: Lake, spec: Specification) -> None:
    """An evaluation that arrives after scoring, as a log record, decides success."""
    land_results(pair, result(1, label="fail"))

    assert score(pair, spec).trajectories == 1
    assert values(
        pair, "SELECT value, source FROM scores WHERE metric = 'success' ORDER BY trajectory_id"
    ) == [(0.0, "evaluation"), (None, None)]


@pytest.mark.slow
def test_changed_task_file_scores_again(pair: Lake) -> None:
    """Another expectation gives other scores, and the hash of the task says so."""
    found = "SELECT task_hash, tsa.value FROM trajectory_scores ORDER BY trajectory_id LIMIT 1"
    (before,) = values(pair, found)

    score(pair, specification(TASKS.replace("decision: pay, tool: pay", "decision: pay, tool: x")))
    (after,) = values(pair, found)
    assert (before[1], after[1]) == (1.0, 0.5)
    assert before[0] != after[0]


def test_unfinished_run_waits_until_it_is_settled(lake: Lake, spec: Specification) -> None:
    """Without its root a trace is scored once 10 minutes have passed, by the clock or the lake."""
    orphan = request_of([tool(2, 1, tool_name="look", trace=1)])
    land(lake, orphan)
    build(lake)
    waiting = preview(lake, spec, now_ns=NOON_NS)
    assert (waiting.trajectories, waiting.waiting) == (0, (1, NOON_NS + QUIET_NS))
    assert preview(lake, spec, now_ns=NOON_NS + QUIET_NS).trajectories == 1

    land(lake, run(2, "look"), seq=2, day=1)
    build(lake)
    assert preview(lake, spec, now_ns=NOON_NS).trajectories == 2


def test_lake_at_rest_is_scored_by_the_clock(lake: Lake, spec: Specification) -> None:
    """A killed run is named until its time has come, then scored, and is the same at any time."""
    land(lake, request_of([tool(2, 1, tool_name="look", trace=1)]))
    first = score(lake, spec, now_ns=NOON_NS)
    assert "1 trace waits for its root, until 2026-09-21 14:24 UTC" in "\n".join(
        summary_lines(first)
    )
    assert summary_object(first)["waiting"]["traces"] == 1
    assert score(lake, spec, now_ns=NOON_NS + 1).trajectories == 0

    done = score(lake, spec, now_ns=NOON_NS + QUIET_NS)
    assert (done.trajectories, done.waiting.traces) == (1, 0)
    ended = "SELECT termination.label, termination.status FROM trajectory_scores"
    assert values(lake, ended) == [("unfinished", "not_applicable")]
    assert score(lake, spec).trajectories == 0


def test_run_that_waits_holds_back_none_beside_it(lake: Lake, spec: Specification) -> None:
    """A run that ended is scored at once; another of its trace waits, with its sub-agent."""
    under_way = agent(5, 9, at=200, agent_name="b") | {"endTimeUnixNano": "0"}
    helper = agent(7, 6, at=202, agent_name="c")
    called = tool(6, 5, at=201, ms=50, tool_name="ask_c")
    land(lake, request_of([agent(1, 9), tool(2, 1, at=1, tool_name="look")]))
    land(lake, request_of([under_way, called, helper]), seq=2)
    scored = "SELECT agent_name, termination.label FROM trajectory_scores ORDER BY 1"

    assert score(lake, spec, now_ns=NOON_NS).trajectories == 1
    assert values(lake, scored) == [("a", "unknown")]
    assert score(lake, spec, now_ns=NOON_NS).trajectories == 0
    assert score(lake, spec, now_ns=NOON_NS + QUIET_NS).trajectories == 3
    assert values(lake, scored)[:2] == [("a", "unknown"), ("b", "unfinished")]


@pytest.mark.slow
def test_root_that_comes_late_replaces_the_run_without_one(
    lake: Lake, spec: Specification
) -> None:
    """An import settles at once; with the root comes another id, and no row of the old stays."""
    land(lake, request_of([tool(2, 1, tool_name="look", trace=1)]), collector="import")
    assert score(lake, spec).trajectories == 1
    land(lake, request_of([agent(1, trace=1)]), seq=2)
    score(lake, spec)

    assert values(lake, "SELECT trajectory_id FROM trajectory_scores") == [(f"{1:032x}-{1:016x}",)]


def test_crashed_run_is_not_blamed_for_what_it_did_not_reach(scored: Lake) -> None:
    """A root in error leaves missed decisions out of the count."""
    assert values(
        scored,
        "SELECT denominator FROM scores WHERE metric = 'tsa' AND status = 'scored' "
        "ORDER BY trajectory_id",
    ) == [(2.0,), (2.0,), (2.0,), (1.0,)]


@pytest.mark.slow
def test_run_whose_output_was_cut_is_not_blamed_either(lake: Lake, spec: Specification) -> None:
    """A last model call that ended for its length leaves missed decisions out, in any words."""
    asked, bodies = message("assistant", request("look", "c1")), list[bytes]()
    for trace, reason in enumerate(("stop", "length", "max_tokens"), start=1):
        ended: dict[str, Any] = {"gen_ai__response__finish_reasons": json.dumps([reason])}
        spans = [
            agent(1, trace=trace, tracegrade__task__id="refund"),
            model(2, 1, trace=trace, at=1, said=[asked], **ended),
        ]
        bodies.append(request_of(spans))
    land(lake, *bodies)
    score(lake, spec)

    assert values(
        lake, "SELECT missed_decisions.value FROM trajectory_scores ORDER BY trajectory_id"
    ) == [(1.0,), (0.0,), (0.0,)]


def test_sub_goals_and_decisions_say_what_they_belong_to(scored: Lake) -> None:
    """Evidence rows carry task, release and date of their attempt."""
    for table, count in (("decisions", 8), ("sub_goals", 8)):
        assert values(
            scored,
            f"SELECT task_id, date IS NOT NULL, count(*) FROM {table} GROUP BY ALL",
        ) == [("refund", True, count)]


def test_release_scores_pool_over_runs(scored: Lake) -> None:
    """Pooled values are sums of numerators over sums of denominators, for all and by category."""
    assert values(
        scored,
        "SELECT task_category, value, numerator, denominator, mean, scored, not_applicable, "
        "trajectories, tasks, low, flags FROM release_scores "
        "WHERE metric = 'tsa' AND agent_name = 'a' ORDER BY 1",
    ) == [
        ("", 6 / 7, 6.0, 7.0, 0.875, 4, 1, 5, 1, None, ["insufficient_sample", "few_tasks"]),
        ("money", 6 / 7, 6.0, 7.0, 0.875, 4, 0, 4, 1, None, ["insufficient_sample", "few_tasks"]),
    ]


SIX = "tools: {look: {cost: 1}}\ntasks:" + "".join(
    f"\n  t{i}: {{expected: [{{tool: look}}, {{tool: pay}}], success: {{tool: pay}}}}"
    for i in range(6)
)
"""Tasks of one category, none."""


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A scored lake with one run of each of six tasks, and one that names no task; only read."""
    lake = Lake.create(tmp_path_factory.mktemp("six") / "lake")
    runs = [run(i + 1, "look", *["pay"] * (i % 2), task=f"t{i}") for i in range(6)]
    land(lake, *runs, run(7, "look", task=None, agent_name="b"))
    score(lake, specification(SIX))
    return lake


def test_release_scores_have_an_interval_over_tasks(six: Lake) -> None:
    """Six tasks with one run each: Wilson for success, a bootstrap for points and for counts."""
    assert values(
        six,
        "SELECT metric, value, round(low, 4), round(high, 4), interval_method FROM release_scores "
        "WHERE metric IN ('missed_decisions', 'tsa', 'success') AND agent_name = 'a' ORDER BY 1",
    ) == [
        ("missed_decisions", 0.5, 0.1667, 0.8333, "bootstrap"),
        ("success", 0.5, 0.1876, 0.8124, "wilson"),
        ("tsa", 0.75, 0.5833, 0.9167, "bootstrap"),
    ]


def test_only_what_was_chosen_is_scored(lake: Lake, spec: Specification) -> None:
    """Agent, release and time choose traces; others are scored when nothing is chosen any more."""
    land(lake, run(1, "look"), run(2, "pay", agent_name="other"))
    ((start,),) = values(lake, "SELECT min(start_ns) FROM spans")
    begun = datetime.fromtimestamp(start / 1e9, UTC).replace(tzinfo=None)

    assert score(lake, spec, chosen=TraceFilter(agent_name="other")).trajectories == 1
    late, unknown = TraceFilter(since=begun + timedelta(days=1)), TraceFilter(release="no such")
    assert [preview(lake, spec, chosen=each).trajectories for each in (late, unknown)] == [0, 0]
    assert preview(lake, spec)[:2] == (1, 1)


def test_changed_task_costs_only_its_own_runs(six: Lake) -> None:
    """A task's change concerns its own runs, a changed `match` also those that name no task."""
    changed = SIX.replace("t0: {", "t0: {optimal_steps: 4, ")
    assert preview(six, specification(changed)).trajectories == 1
    matching = SIX.replace("t0: {", "t0: {match: {agent_name: z}, ")
    assert preview(six, specification(matching)).trajectories == 2
    assert preview(six, specification(SIX.replace("cost: 1", "cost: 2"))).trajectories == 7


def test_erased_scores_leave_the_sums(pair: Lake, spec: Specification) -> None:
    """What others removed from the scores is missed at the next run, and release scores follow."""
    with connect(pair, layers=(SCORES,)) as con:
        kept = con.sql("FROM trajectory_scores WHERE tsa.value < 1").to_arrow_table()
        dates = [str(day) for (day,) in con.sql("SELECT DISTINCT date FROM steps").fetchall()]
    pair.replace_dates(TRAJECTORY_SCORES, kept.cast(TRAJECTORY_SCORES.arrow()), dates)
    land(pair, request_of([tool(9, 1, tool_name="pay", trace=2, at=9)]), seq=3, day=1)

    score(pair, spec, chosen=TraceFilter(agent_name="nobody"))
    assert values(
        pair, "SELECT trajectories FROM release_scores WHERE metric = 'tsa' AND task_category = ''"
    ) == [(1,)]


@pytest.mark.slow
def test_tables_of_another_version_are_written_anew(pair: Lake, spec: Specification) -> None:
    """Score tables with other columns than today's are replaced, since they can be."""
    expected = tables(pair)
    pair.drop(SCORE_SUMS.name)  # a table that the other version did not have
    folder = pair.root / "trajectory_scores" / "_delta_log"
    for log in folder.glob("*.json"):
        log.write_text(log.read_text().replace("wrong_call_rate", "wrong_calls"))

    score(pair, spec)
    assert tables(pair) == expected


@pytest.mark.slow
def test_command_scores_a_lake_and_says_what_it_did(lake: Lake, tmp_path: Path) -> None:
    """`tracegrade score` prints its summary to stderr, `tracegrade sql` reads the scores."""
    land(lake, run(1, "look", "pay"))
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "refund.yaml").write_text(f"version: 1{TASKS}")

    done = tracegrade("score", "--lake", lake.root, "--tasks", tmp_path / "tasks")
    asked = "SELECT tsa.value FROM trajectory_scores"
    answer = tracegrade("sql", "--lake", lake.root, "--format", "csv", asked)
    assert (done.returncode, answer.returncode) == (0, 0)
    assert done.stdout == ""
    assert "tasks of attempts: 1 named by a span" in done.stderr
    assert "scored 1 trajectories of 1 traces" in done.stderr
    assert "no_task" not in done.stderr
    assert answer.stdout.splitlines()[1:] == ["1"]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("version: 3", 2, "tasks.yaml:1: version is 3; it should be 1"),
        (f"version: 1{TASKS}  loop: {{sub_goals: {{a: {{deps: [a]}}}}}}\n", 0, "form a cycle"),
    ],
)
def test_command_refuses_a_broken_file_but_not_a_broken_graph(
    lake: Lake, tmp_path: Path, text: str, code: int, said: str
) -> None:
    """A task file that cannot be used is bad input; a cycle only costs that task its graph."""
    (tmp_path / "tasks.yaml").write_text(text)

    done = tracegrade("score", "--lake", lake.root, "--tasks", tmp_path / "tasks.yaml")
    assert done.returncode == code
    assert said in done.stderr
