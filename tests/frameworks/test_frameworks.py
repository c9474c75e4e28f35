"""One agent on real frameworks, exported to a real collector, tells one story under all of them.

Needs the environments that `make test-frameworks` makes; skips without them.
"""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.collector.running import collecting
from tests.queries.traces import rows

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .fake_model import ANSWER, THOUGHTS, serving

ENVIRONMENTS = Path(__file__).parents[2] / ".frameworks"
PROGRAMS = Path(__file__).parent / "programs"
PATIENCE_SECS = 900


class Program(NamedTuple):
    """An agent program, and what records it."""

    framework: str
    instrumentation: str
    environment: str
    thoughts: int
    """How many of the model's two thoughts its normal run tells."""

    def __str__(self) -> str:
        return f"{self.framework}_{self.instrumentation}"


CASES = [
    Program("openai_agents", "openinference", "current", 2),
    Program("openai_agents", "otel", "current", 1),  # seen in the next call's input alone
    Program("langgraph", "openinference", "current", 0),  # its client drops reasoning
    Program("langgraph", "otel", "current", 0),
    Program("langgraph", "traceloop", "current", 0),
    Program("langgraph", "langsmith", "current", 0),
    Program("pydantic_ai", "v2", "current", 2),
    Program("pydantic_ai", "v5", "current", 2),
    Program("agent_framework", "native", "current", 0),
    Program("smolagents", "openinference", "current", 2),
    Program("pydantic_ai", "v1", "earlier", 2),
    Program("strands", "native", "earlier", 2),
    Program("autogen", "openai_v2", "earlier", 0),
    Program("openai", "events", "earlier", 0),
    Program("openai", "flattened", "earlier", 0),
]
VARIANTS = ["normal", "halluc", "toolerror"]
# What users set, by environment and by instrumentation, so that content is recorded.
SETTINGS = {
    "current": {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY"},
    "earlier": {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"},
    "langsmith": {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_OTEL_ENABLED": "true",
        "LANGSMITH_OTEL_ONLY": "true",
        "LANGSMITH_API_KEY": "not-a-key",
    },
}


def _story(tool: str, status: str) -> list[tuple[str | None, ...]]:
    return [
        ("tool_call", tool, '{"city":"Paris"}', status),
        ("observation", tool, None, None),
        ("answer", None, None, None),
    ]


STORY = {
    "normal": _story("get_weather", "ok"),
    "halluc": _story("nope_tool", "not_executed"),
    "toolerror": _story("get_weather", "error"),
}
# What the frameworks themselves do in another way, under every instrumentation of theirs.
ENDS_EARLY = {
    ("openai_agents", "halluc"): STORY["halluc"][:1],
    ("langgraph", "toolerror"): STORY["toolerror"][:1],
    ("pydantic_ai", "toolerror"): STORY["toolerror"][:1],
}
# These write a failed execution of a tool that does not exist.
JUDGED_OTHERWISE = {
    ("strands", "native", "halluc"): _story("nope_tool", "error"),
    ("pydantic_ai", "v1", "halluc"): _story("nope_tool", "error"),
}


SAID = {"thought": list(THOUGHTS), "observation": ["22C in Paris"], "answer": [ANSWER]}


def expected(program: Program, variant: str) -> list[tuple[str | None, ...]]:
    """Return the steps that a run has besides its thoughts."""
    own = JUDGED_OTHERWISE.get((program.framework, program.instrumentation, variant))
    return own or ENDS_EARLY.get((program.framework, variant), STORY[variant])


class Step(NamedTuple):
    """A step as it is compared, and what it says."""

    kind: str
    tool: str | None
    arguments: str | None
    status: str | None
    content: str | None


def run(program: Program, model: str, collector: str) -> None:
    """Run all variants of a program to their end, so that their spans are exported."""
    environment = {
        "PATH": os.environ["PATH"],
        "PROGRAM": str(program),
        "MODEL_SERVER": model,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector,
        **SETTINGS[program.environment],
        **SETTINGS.get(program.instrumentation, {}),
    }
    python = ENVIRONMENTS / program.environment / "bin" / "python"
    ended = subprocess.run(
        [python, PROGRAMS / f"on_{program.framework}.py", program.instrumentation, *VARIANTS],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECS,
        check=False,
    )
    assert ended.returncode == 0, f"{program}: {ended.stderr}"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[Step]]]:
    """The trajectories of each run, as lists of steps, by the run's service name."""
    missing = {case.environment for case in CASES if not _is_complete(case.environment)}
    if missing:
        pytest.skip(f"`make test-frameworks` makes the environments {sorted(missing)}")
    folder = tmp_path_factory.mktemp("frameworks") / "lake"
    with ExitStack() as stack:
        collector = stack.enter_context(collecting(folder))
        model = stack.enter_context(serving())
        pool = stack.enter_context(ThreadPoolExecutor(os.cpu_count()))
        runs = [pool.submit(run, program, model, collector.url) for program in CASES]
        for each in runs:
            each.result()
        assert collector.stop() == 0
    lake = Lake.open(folder)
    build(lake)
    return _trajectories(lake)


def _is_complete(environment: str) -> bool:
    return (ENVIRONMENTS / environment / "complete").exists()


def _trajectories(lake: Lake) -> dict[str, list[list[Step]]]:
    found = rows(
        lake,
        "SELECT t.service_name, s.trajectory_id, s.kind, s.tool_name, s.arguments, s.status, "
        "coalesce(s.result, s.content) AS said "
        "FROM trajectories AS t LEFT JOIN steps AS s USING (trajectory_id) "
        "ORDER BY s.trajectory_id, s.step_index",
    )
    told: dict[str, dict[str, list[Step]]] = {}
    for service, trajectory, *step in map(dict.values, found):
        told.setdefault(service, {}).setdefault(trajectory, []).append(Step(*step))
    return {service: list(runs.values()) for service, runs in told.items()}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("program", CASES, ids=str)
def test_run_tells_the_one_story(
    told: dict[str, list[list[Step]]], program: Program, variant: str
) -> None:
    """A run is one trajectory with the steps of every other framework's, but for its thoughts."""
    (steps,) = told[f"{program}_{variant}"]

    compared = [
        ("answer", None, None, None) if step.kind == "answer" else step[:4]  # some through a tool
        for step in steps
        if step.kind != "thought"
    ]
    assert compared == expected(program, variant)


@pytest.mark.parametrize("program", CASES, ids=str)
def test_normal_run_says_what_the_model_said(
    told: dict[str, list[list[Step]]], program: Program
) -> None:
    """The thoughts that the framework keeps, the observation and the answer are recorded."""
    (steps,) = told[f"{program}_normal"]

    said = {kind: [step.content for step in steps if step.kind == kind] for kind in SAID}
    assert said == SAID | {"thought": list(THOUGHTS[: program.thoughts])}
