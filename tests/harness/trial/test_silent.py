"""Agents that never come to a gate: what is said of them depends on what can be judged."""

from typing import Any

import pytest
import yaml
from tests.harness.trial.agents import WROTE, HarnessRun, made

EXPORTER = """
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
provider.get_tracer("by.hand").start_span("work").end()
"""
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
BROKEN = f"import sys; print('at work', flush=True); print(); sys.exit('\\x1b[31mbad key {KEY}')"
NOISY = "print('x' * 300, end=''); print('y' * 9000); print('end')"
CODES = {"broken": BROKEN, "noisy": NOISY, "quiet": "pass", "exporter": EXPORTER}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """Cases that nothing verifies, and one that something does."""
    cases: dict[str, dict[str, Any]] = {code: {"agent": code} for code in CODES}
    cases["verified"] = {"agent": "quiet", "verify": [WROTE]}
    suite = made(tmp_path_factory.mktemp("silent"), cases)
    content = yaml.safe_load(suite.suite.read_text())
    content["agents"] = {
        name: {"command": ["{python}", "-c", code], "environment": {"pass": ["PYTHONPATH"]}}
        for name, code in CODES.items()
    }
    suite.suite.write_text(yaml.safe_dump(content))
    return suite.run("--jobs", 2, "--junit", suite.home.with_name("junit.xml"))


def reason(tried: HarnessRun, task_id: str) -> str:
    """Return why a trial could not be judged, without the way out."""
    row = tried.row(task_id)
    assert (row["status"], row["success"]) == ("error", None)
    fact, _, way_out = row["reason"].partition("; see logs/")
    assert way_out.endswith("start it with `tracegrade run --`, or verify the case")
    return str(fact)


def test_an_agent_without_spans_or_verifiers_cannot_be_judged(tried: HarnessRun) -> None:
    """The reason says how it ended."""
    assert reason(tried, "quiet") == (
        "silent: the agent ended with 0, sent no span, and printed no line"
    )


def test_its_last_lines_are_told_without_secrets(tried: HarnessRun) -> None:
    """Nor does what they hold act on a screen."""
    told = reason(tried, "broken")

    assert told.startswith("silent: the agent ended with 1, sent no span, and printed last: ")
    assert "at work | \\x1b[31mbad key " in told
    assert tried.ended is not None
    assert KEY not in told + tried.ended.stderr


def test_of_a_line_that_is_too_long_to_be_read_whole_nothing_is_told(tried: HarnessRun) -> None:
    """A secret could be cut in it."""
    assert reason(tried, "noisy").endswith("printed last: end")


def test_the_command_ends_with_3(tried: HarnessRun) -> None:
    """As for every trial that could not be judged; the report for CI says so, too."""
    assert tried.ended is not None
    assert tried.ended.returncode == 3
    told = "3 of 5 could not be run or judged, first: broken trial 1: silent: "
    assert told in tried.ended.stderr
    assert 'errors="3"' in tried.home.with_name("junit.xml").read_text()


def test_spans_that_came_without_a_gate_are_for_scores_to_judge(tried: HarnessRun) -> None:
    """Its agent is instrumented otherwise."""
    assert (tried.row("exporter")["status"], tried.row("exporter")["reason"]) == ("done", None)


def test_what_verifiers_judged_is_judged(tried: HarnessRun) -> None:
    """An agent that did nothing has failed."""
    row = tried.row("verified")

    assert (row["status"], row["success"], row["reason"]) == ("done", False, None)


def test_logs_have_the_whole(tried: HarnessRun) -> None:
    """Under the name that the reason says."""
    name = tried.row("noisy")["reason"].partition("see logs/")[2].partition(",")[0]
    (log,) = tried.home.glob(f"runs/*/logs/{name}")

    assert len(log.read_text()) > 9000
