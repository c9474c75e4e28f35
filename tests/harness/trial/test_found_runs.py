"""Agents in any language that send spans and use no gate: the lake has their runs."""

import json
from typing import Any

import pytest
import yaml
from tests.harness.trial.agents import HarnessRun

AGENT = """
import json, os, secrets, sys, time, urllib.request

TASK, FIXED = sys.argv[1], "f" * 32


def send(*names, trace=None):
    \"\"\"Send one agent's span for each name, each the root of a trace.\"\"\"
    now = str(time.time_ns())
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "buyer"}
    attributes = [{"key": key, "value": {"stringValue": text}} for key, text in agent.items()]
    spans = [
        {
            "traceId": trace or secrets.token_hex(16),
            "spanId": secrets.token_hex(8),
            "name": name,
            "startTimeUnixNano": now,
            "endTimeUnixNano": now,
            "attributes": attributes if name != "GET /" else [],
        }
        for name in names
    ]
    body = {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "own"}, "spans": spans}]}]}
    request = urllib.request.Request(
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    urllib.request.urlopen(request).close()


open("data/a", "x").close()
match TASK:
    case "one":
        send("GET /", "buy")
    case "two":
        send("buy", "sell")
    case "none":
        send("GET /")
    case "same":
        send("buy", trace=FIXED)
"""
"""No Python but by chance: it uses nothing of ours, and no SDK."""
WROTE = {"files": "data", "path": "a"}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The suite, run and scored; the agent of `same` gives its two trials the same trace id."""
    folder = tmp_path_factory.mktemp("found")
    (folder / "fixtures").mkdir()
    (folder / "agent.py").write_text(AGENT)
    case = {"environment": "data", "agent": "buyer", "verify": [WROTE]}
    suite: dict[str, Any] = {
        "version": 1,
        "suite": "foreign",
        "agents": {"buyer": {"command": ["{python}", "-S", "{suite}/agent.py", "{task}"]}},
        "environments": {"data": {"files": {"data": {"from": "fixtures", "at": "data"}}}},
        "cases": {
            "one": {**case, "kill": {"points": ["late"]}},
            "two": case,
            "none": case,
            "same": {**case, "trials": 2, "verify": [{"files": "data", "path": "b"}]},
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite))
    known = HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")
    return known.run("--jobs", 2, "--sandbox", "none").score()


def successes(tried: HarnessRun, task: str) -> dict[int, object]:
    """Return by trial what is known of the success of a task's runs."""
    rows = tried.query(
        "SELECT trial, success.value AS value, success.source AS source FROM trajectory_scores "
        f"JOIN trajectories USING (trajectory_id) WHERE trajectories.task_id = '{task}'"
    )
    return {row["trial"]: (row["value"], row["source"]) for row in rows}


def test_run_that_the_lake_has_of_a_trial_gets_its_verdict(tried: HarnessRun) -> None:
    """For spans of every origin; a kill, which needs a gate, is reported as not judged."""
    assert successes(tried, "one") == {1: (1, "verifier")}
    trajectory_id = tried.row("one")["trajectory_id"]
    killed = tried.row("one", "late")
    assert killed["baseline_trajectory_id"] == trajectory_id
    assert killed["reason"].startswith("silent: no agent span reached the gate; start the agent ")
    assert [each["subject"] for each in tried.verdicts(trajectory_id)] == ["rollback", "success"]


def test_trial_with_no_run_of_its_own_is_told(tried: HarnessRun) -> None:
    """There is nothing that the verdict could be on."""
    row = tried.row("none")

    assert (row["success"], row["trajectory_id"]) == (True, None)
    assert json.loads(row["notes"]) == [
        "no_run: its spans hold 0 runs of the trial, so no verdict is on it"
    ]
    assert tried.ended
    assert "no run: 1 trial sent no spans and will not be scored; " in tried.ended.stdout


def test_second_run_of_a_trial_is_in_no_rate(tried: HarnessRun) -> None:
    """The verdict is on the first that was received; the other stays, and says why."""
    rows = tried.query(
        "SELECT success.value AS value, success.reason AS reason FROM trajectory_scores "
        "WHERE task_id = 'two' ORDER BY ALL"
    )

    assert rows == [{"value": 1, "reason": None}, {"value": None, "reason": "several_runs"}]
    assert "several_runs: 1 run more than the trial's, in no rate" in tried.row("two")["notes"]


def test_trials_that_share_a_trace_have_a_run_each(tried: HarnessRun) -> None:
    """The trace is that of the trial that was first; the other's spans go into one of its own."""
    assert successes(tried, "same") == {1: (0, "verifier"), 2: (0, "verifier")}
    ids = {tried.row("same", trial=trial)["trajectory_id"] for trial in (1, 2)}
    assert len({each.partition("-")[0] for each in ids}) == 2
    assert len(ids) == 2
