"""`tracegrade run` on real frameworks: an agent that knows nothing of traces, read as it ran.

Needs an environment that `make test-frameworks` makes; skips without it.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.collector.running import collecting
from tests.queries.traces import rows

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .fake_model import ANSWER, serving
from .test_frameworks import ENVIRONMENTS, PATIENCE_SECS, PROGRAMS

ROOT = Path(__file__).parents[2]
RUN = [str(Path(sys.executable).with_name("tracegrade")), "run"]
ENVIRONMENT = ENVIRONMENTS / "current"
CALLS = 2
TOKENS = {"input_tokens": 50 * CALLS, "output_tokens": 10 * CALLS}
STORY = ["tool_call get_weather ok", "observation get_weather", "answer"]


class Case(NamedTuple):
    """An agent, and what records it."""

    framework: str
    instrumentors: str
    left_out: str = ""
    """What is taken out once the framework's spans come."""

    def __str__(self) -> str:
        return f"{self.framework}_{self.instrumentors or 'any'}"


# In this environment is an instrumentor of OpenAI's client, of OpenTelemetry's family.
CLIENT = "opentelemetry-instrumentation-genai-openai"
CASES = [
    Case("langgraph", "", CLIENT),
    Case("langgraph", "openinference"),
    Case("langgraph", "openllmetry,otel", CLIENT),
    Case("openai_agents", ""),  # OpenTelemetry's leaves model calls to the client's
    Case("openai_agents", "openinference,otel", CLIENT),
    Case("pydantic_ai", "", CLIENT),
    Case("agent_framework", "", CLIENT),
]
ALONE = Case("client_alone", "")


def installed(folder: Path) -> Path:
    """Link this tracegrade into a folder, as if it were installed there."""
    (folder / "tracegrade").symlink_to(ROOT / "instrumentation" / "tracegrade")
    information = Path(str(distribution("tracegrade")._path))  # type: ignore[attr-defined]
    (folder / information.name).symlink_to(information)
    return folder


def run(case: Case, model: str, collector: str, path: Path) -> str:
    """Run an agent to its end, and return the messages about its instrumentation."""
    wish = ["--instrumentors", case.instrumentors] if case.instrumentors else []
    program = [
        str(ENVIRONMENT / "bin" / "python"),
        str(PROGRAMS / "untraced" / "ask.py"),
        case.framework,
    ]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(path),
        "MODEL_SERVER": model,
        "OTEL_SERVICE_NAME": str(case),
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector,
    }
    ended = subprocess.run(
        [*RUN, *wish, "--release", "7", "--", *program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECS,
        check=False,
    )
    assert ended.stdout.strip() == ANSWER, f"{case}: {ended.stderr}"
    return ended.stderr


class AgentRun(NamedTuple):
    """What became of all runs."""

    said: dict[str, str]
    trajectories: list[dict[str, Any]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> AgentRun:
    """Messages to each program, and the content of its spans."""
    if not (ENVIRONMENT / "complete").exists():
        pytest.skip("`make test-frameworks` makes the environment")
    folder = tmp_path_factory.mktemp("run")
    path = installed(tmp_path_factory.mktemp("installed"))
    cases = [*CASES, ALONE]
    with ExitStack() as stack:
        collector = stack.enter_context(collecting(folder))
        model = stack.enter_context(serving())
        pool = stack.enter_context(ThreadPoolExecutor(os.cpu_count()))
        texts = pool.map(lambda case: run(case, model, collector.url, path), cases)
        said = dict(zip(map(str, cases), texts, strict=True))
        assert collector.stop() == 0
    lake = Lake.open(folder)
    build(lake)
    return AgentRun(
        said,
        rows(
            lake,
            "SELECT t.service_name, t.release, t.llm_call_count, t.input_tokens, "
            "t.output_tokens, t.user_input, t.final_answer, (SELECT list(concat_ws(' ', kind, "
            "tool_name, status) ORDER BY step_index) FROM steps AS s "
            "WHERE s.trajectory_id = t.trajectory_id AND kind <> 'thought') AS story "
            "FROM trajectories AS t ORDER BY t.service_name, t.start_time",
        ),
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_call_is_read_once(told: AgentRun, case: Case) -> None:
    """Of the model, with its tokens, and of the tool, for each set of instrumentors."""
    (found,) = (each for each in told.trajectories if each["service_name"] == str(case))

    assert found["llm_call_count"] == CALLS
    assert {name: found[name] for name in TOKENS} == TOKENS
    assert found["story"] == STORY
    assert (found["final_answer"], found["release"]) == (ANSWER, "7")
    assert ("left out from here on" in told.said[str(case)]) is bool(case.left_out)
    assert case.left_out in told.said[str(case)]


def test_client_is_recorded_where_the_frameworks_are_not_used(told: AgentRun) -> None:
    """Its calls are runs of their own, since nothing holds them together."""
    found = [each for each in told.trajectories if each["service_name"] == str(ALONE)]

    assert [each["llm_call_count"] for each in found] == [1] * CALLS
    assert [each["final_answer"] for each in found] == [None, ANSWER]
    assert "left out from here on" not in told.said[str(ALONE)]
