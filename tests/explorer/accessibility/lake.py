"""A lake that fills every page: two releases, kills, a team of agents, conversations, a label."""

from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.commands import tracegrade
from tests.explorer.alerts.test_alerts import FALL
from tests.explorer.kills.test_kill_pages import LEFT, STATES
from tests.explorer.stories.lakes import ask
from tests.harness.results import kill, result
from tests.queries.traces import agent, apart, capture, land, request_of, tool

from tracegrade_explorer.own_queries import save_query
from tracegrade_harness.lake import write
from tracegrade_lake import Lake
from tracegrade_watch.stored import write_alerts

TEAM: Final = "agent-framework_handoff"
"""A capture of a framework in which agents start others."""
CONVERSATION: Final = "c 1/é"
OWN_QUERY: Final = "steps-by-kind"


class RunsOfPages(NamedTuple):
    """The runs that the addresses of pages name."""

    failed: str
    solved: str
    killed: str
    team: str
    issue: str
    """The key of an issue."""


def full_lake(folder: Path) -> tuple[Lake, RunsOfPages]:
    """Return a scored lake with something on every page, and some of its runs."""
    lake = folder / "lake"
    _command("sample", folder)
    _command("import", folder / "runs.jsonl", "--lake", lake)
    land(Lake.open(lake), capture(TEAM), request_of(_conversation()), seq=1)
    _command("score", "--lake", lake, "--tasks", folder / "tasks.yaml")
    found = Lake.open(lake)
    runs = _runs_of(found)
    _write_kills(found, runs)
    write_alerts(found, [FALL])
    text = "SELECT kind, count(*) AS n FROM steps GROUP BY kind"
    save_query(found, {"name": OWN_QUERY, "text": text, "by": "ann", "overwrite": False})
    return found, runs


def _command(*words: object) -> None:
    ended = tracegrade(*words)
    assert ended.returncode == 0, ended.stderr


def _conversation() -> list[dict[str, Any]]:
    """Return the spans of two runs of one conversation; the second has a failed call."""
    named: dict[str, Any] = {"gen_ai__conversation__id": CONVERSATION}
    return apart(
        [
            agent(1, agent_name="talker", at=turn * 5_000, **named),
            tool(2, 1, tool_name="look_up", at=turn * 5_000 + 1, error=error),
        ]
        for turn, error in enumerate((None, "no such order"))
    )


def _runs_of(lake: Lake) -> RunsOfPages:
    """Return a failed run with a wrong decision, a success of its task, and two others."""
    ((failed, solved),) = ask(
        lake,
        """
        SELECT failed.trajectory_id, solved.trajectory_id
        FROM trajectory_scores AS failed
        JOIN trajectory_scores AS solved USING (task_id)
        SEMI JOIN decisions
            ON decisions.trajectory_id = failed.trajectory_id AND NOT decisions.correct
        WHERE failed.success.value = 0 AND solved.success.value = 1
        ORDER BY ALL LIMIT 1
        """,
    )
    ((killed,),) = ask(
        lake,
        "SELECT max(trajectory_id) FROM trajectory_scores "
        "WHERE success.value = 1 AND trajectory_id != $solved",
        solved=solved,
    )
    ((team,),) = ask(
        lake, "SELECT trajectory_id FROM agents GROUP BY 1 HAVING count(*) > 1 ORDER BY 1 LIMIT 1"
    )
    ((issue,),) = ask(
        lake, "SELECT min(key) FROM run_reasons WHERE trajectory_id = $run", run=failed
    )
    return RunsOfPages(failed, solved, killed, team, issue)


def _write_kills(lake: Lake, runs: RunsOfPages) -> None:
    """Write a trial, a kill of it that left objects, and one that left nothing."""
    of_it = {"baseline_trajectory_id": runs.solved, "agent_name": "order-desk"}
    trials = [
        result(trajectory_id=runs.solved, agent_name="order-desk"),
        kill("early", trajectory_id=runs.failed, boundary=1, **of_it),
        kill("late", trajectory_id=runs.killed, immediate=0, after_recovery=3, leftovers=LEFT,
             states=STATES, recovery_log="no such file", notes=["it ended with 2"], **of_it),
    ]  # fmt: skip
    write(lake, "r1", "s", trials)
