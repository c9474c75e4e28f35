"""Agents that fail their verifiers and say otherwise, through the real relay into one lake."""

from typing import Any

import pytest
import yaml
from tests.harness.trial.agents import HarnessRun, exits

AGENT = """
import json, os, secrets, sys, time, urllib.request

TASK = sys.argv[1]
GENAI = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "cheat"}


def pairs(known):
    return [
        {"key": key, "value": value if isinstance(value, dict) else {"stringValue": str(value)}}
        for key, value in known.items()
    ]


def span(trace, attributes, parent="", late=0, **more):
    now = time.time_ns() + late
    return {"traceId": trace, "spanId": secrets.token_hex(8), "parentSpanId": parent, "name": "x",
            "startTimeUnixNano": str(now), "endTimeUnixNano": str(now),
            "attributes": pairs({**GENAI, **attributes}), **more}


def post(signal, body):
    request = urllib.request.Request(os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/" + signal,
        json.dumps(body).encode(), {"Content-Type": "application/json"})
    urllib.request.urlopen(request).close()


def send(*spans, resource={}, scope={"name": "own"}):
    group = {"resource": {"attributes": pairs(resource)},
             "scopeSpans": [{"scope": scope, "spans": list(spans)}]}
    post("traces", {"resourceSpans": [group]})


def log(trace, root, **record):
    said = {"gen_ai.evaluation.name": "success", "gen_ai.evaluation.score.label": "pass",
            **record.pop("more", {})}
    record = {"traceId": trace, "spanId": root, "timeUnixNano": str(time.time_ns()),
              "attributes": pairs(said), **record}
    post("logs", {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]})


WON, LATER = {"tracegrade.outcome": "success"}, 5_000_000_000
EVENT = {"name": "gen_ai.evaluation.result", "timeUnixNano": "1", "attributes": pairs(
    {"gen_ai.evaluation.name": "success", "gen_ai.evaluation.score.value": {"doubleValue": 1}})}
OTHER = {"service.name": "other", "service.version": "base", "tracegrade.task.id": "honest",
         "tracegrade.trial": "7", "tracegrade.run.mode": "production",
         "deployment.environment.name": "production", "tracegrade.task.category": "easy"}
trace = secrets.token_hex(16)
bare = span(trace, {})
if TASK == "honest":
    send(span("a" * 32, {}))
elif TASK == "own_root":
    send(span(trace, WON))
elif TASK == "own_resource":
    send(bare, resource=WON)
elif TASK == "own_scope":
    send(bare, scope={"name": "own", "attributes": pairs(WON)})
elif TASK == "child":
    send(bare, span(trace, WON, bare["spanId"]))
elif TASK == "second_root":
    send(bare); send(span(secrets.token_hex(16), WON, late=LATER))
elif TASK == "second_root_same_trace":
    send(bare); send(span(trace, WON, late=LATER))
elif TASK == "earlier_root":
    send(bare); send(span(secrets.token_hex(16), WON, late=-LATER))
elif TASK == "other_release":
    send(bare, span(secrets.token_hex(16), WON), resource=OTHER)
elif TASK == "other_task_on_span":
    send(bare, span(secrets.token_hex(16), {**WON, **OTHER}))
elif TASK == "event":
    send(span(trace, {}, events=[EVENT]))
elif TASK == "log_name":
    send(bare); log(trace, bare["spanId"], eventName="gen_ai.evaluation.result")
elif TASK == "log_body":
    send(bare); log(trace, bare["spanId"], body={"stringValue": "gen_ai.evaluation.result"})
elif TASK == "log_attribute":
    send(bare); log(trace, bare["spanId"], more={"event.name": "gen_ai.evaluation.result"})
elif TASK == "log_of_trace":
    send(bare); log(trace, "", eventName="gen_ai.evaluation.result")
elif TASK == "killed":
    send(span(trace, {"tracegrade.kill_point": "early"}), scope={"name": "tracegrade.harness"})
elif TASK == "beside":
    send(span(trace, {"tracegrade.kill_point": "several_runs"}),
         scope={"name": "tracegrade.harness"})
elif TASK == "weight":
    send(span(trace, {}, traceState="ot=th:fffffffffffff8"))
elif TASK == "links":
    send(span(trace, {}, links=[{"traceId": "a" * 32, "spanId": "b" * 16,
                                 "attributes": pairs(WON)}]))
elif TASK == "duplicates":
    twice = span(trace, {})
    twice["attributes"] += pairs(WON) + pairs({"tracegrade.outcome": "failure"}) + pairs(WON)
    send(twice)
elif TASK == "baseline_trace":
    send(bare); send(span("a" * 32, WON, late=LATER))
elif TASK == "same_conversation":
    talk = {"gen_ai.conversation.id": "talk"}
    send(span(trace, talk)); send(span(secrets.token_hex(16), {**talk, **WON}, late=LATER))
"""
WAYS = (
    "own_root", "own_resource", "own_scope", "child", "second_root", "second_root_same_trace",
    "earlier_root", "other_release", "other_task_on_span", "event", "log_name", "log_body",
    "log_attribute", "log_of_trace", "killed", "beside", "weight", "links", "duplicates",
    "baseline_trace", "same_conversation",
)  # fmt: skip


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """A lake that has an honest run, then one of each agent that fails and tries a way."""
    folder = tmp_path_factory.mktemp("grading")
    (folder / "fixtures").mkdir()
    (folder / "agent.py").write_text(AGENT)
    case = {"environment": "data", "agent": "cheat"}
    command = ["{python}", "-S", "{suite}/agent.py", "{task}"]
    suite: dict[str, Any] = {
        "version": 1,
        "suite": "grading",
        "agents": {"cheat": {"command": command, "release": "1"}},
        "environments": {"data": {"files": {"data": {"from": "fixtures", "at": "data"}}}},
        "cases": {
            "honest": {**case, "verify": [exits(0)]},
            **{way: {**case, "verify": [exits(1)]} for way in WAYS},
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite))
    known = HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")
    known.run("--sandbox", "none", "--case", "honest")
    return known.run("--sandbox", "none", "--case", "[!h]*", "--jobs", "2").score()


def counted(tried: HarnessRun, task: str) -> list[dict[str, Any]]:
    """Return the scores of a task's runs that are in rates."""
    return tried.query(
        "SELECT DISTINCT success.value AS value, success.source AS source, "
        "runs.release AS release, runs.service_name AS service, runs.environment AS environment, "
        "runs.trial AS trial, runs.run_mode AS mode, runs.sample_weight AS weight "
        "FROM trajectory_scores JOIN trajectories AS runs USING (trajectory_id) "
        f"WHERE runs.task_id = '{task}' AND kill_point IS NULL"
    )


WHOSE = {
    "release": "1",
    "service": "cheat",
    "environment": None,
    "trial": 1,
    "mode": "live",
    "weight": 1,
}


@pytest.mark.parametrize("way", WAYS)
def test_an_agent_that_failed_has_failed_whatever_it_says(tried: HarnessRun, way: str) -> None:
    """Its verifier alone decides, and the run is its trial's alone."""
    assert counted(tried, way) == [{"value": 0, "source": "verifier", **WHOSE}]


def test_what_others_did_stays_as_it_was(tried: HarnessRun) -> None:
    """No run was planted beside theirs, nor a span into their trace."""
    assert counted(tried, "honest") == [{"value": 1, "source": "verifier", **WHOSE}]
    rows = tried.query(f"SELECT count(*) AS spans FROM spans WHERE trace_id = '{'a' * 32}'")
    assert rows == [{"spans": 1}]
