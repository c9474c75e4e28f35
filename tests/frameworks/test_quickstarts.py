"""The agents that the pages of frameworks show, run as the pages say, are recorded as promised.

Needs environments that `make test-frameworks` makes; skips without them.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.collector.running import collecting
from tests.queries.traces import rows

from docgen.frameworks import (
    ASPECTS,
    QUESTIONS,
    QUICKSTARTS,
    command,
    environment,
    program,
    quickstarts,
)
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .fake_model import serving
from .fake_orders import FOUND, RESULT, TOOL, UNKNOWN
from .test_frameworks import ENVIRONMENTS, PATIENCE_SECS
from .test_tracegrade_run import installed

OWN_COMMANDS = Path(sys.executable).parent
ARGUMENTS = ('{"order":"A-1001"}', '{"order":"B-2002"}')
ERROR = "no order B-2002"
TOKENS = {"input": 50, "output": 10}  # of each answer of the model
CASES = quickstarts()


class Run(NamedTuple):
    """What was read of one run."""

    trajectory: Mapping[str, Any]
    calls: list[dict[str, Any]]


def _installed_alone(instrumentors: list[str]) -> dict[str, str]:
    """Return the variables that leave out the instrumentors that other pages install."""
    if instrumentors:
        return {"TRACEGRADE_INSTRUMENTORS": ",".join(instrumentors)}
    return {"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "*"}


def _place(name: str) -> Path:
    """Return the folder of the environment that an agent is run in."""
    return ENVIRONMENTS / environment(CASES[name])


def _folder(name: str, path: Path) -> Path:
    """Return the folder of a program, in which Node finds the packages of its environment."""
    packages = _place(name) / "node_modules"
    if not packages.exists():
        return QUICKSTARTS / name
    folder = path / name
    folder.mkdir()
    (folder / "node_modules").symlink_to(packages)
    shutil.copy(program(name), folder)
    return folder


def ask(name: str, model: str, collector: str, path: Path) -> None:
    """Run the commands of a page, each to its end, so that its spans are exported."""
    folder = _folder(name, path)
    variables = {
        **CASES[name].get("variables", {}),
        "HOME": str(path),
        "PATH": f"{_place(name) / 'bin'}:{OWN_COMMANDS}:{os.environ['PATH']}",
        "PYTHONPATH": str(path),
        "OTEL_SERVICE_NAME": name,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector,
        **_installed_alone(CASES[name]["instrumentors"]),
        CASES[name]["key"]: "not-a-key",
        "OPENAI_BASE_URL": f"{model}/orders/v1",
        "OPENAI_API_BASE": f"{model}/orders/v1",
        "ANTHROPIC_BASE_URL": f"{model}/orders",
        "GOOGLE_GEMINI_BASE_URL": f"{model}/orders",
        "CREWAI_DISABLE_TELEMETRY": "true",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    answers = [FOUND, None if CASES[name].get("ends_at_error") else UNKNOWN]
    for question, answer in zip(QUESTIONS, answers, strict=True):
        ended = subprocess.run(
            shlex.split(command(name, question)),
            cwd=folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECS,
            check=False,
        )
        said = ended.stdout.strip().splitlines()[-1:]
        assert said == ([] if answer is None else [answer]), f"{name}: {ended.stderr}"
        assert (ended.returncode == 0) is (answer is not None), f"{name}: {ended.stderr}"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Run]]:
    """What was read of the two runs of each quickstart."""
    names = [name for name in CASES if (_place(name) / "complete").exists()]
    folder = tmp_path_factory.mktemp("quickstarts")
    path = installed(tmp_path_factory.mktemp("installed"))
    with ExitStack() as stack:
        collector = stack.enter_context(collecting(folder))
        model = stack.enter_context(serving())
        pool = stack.enter_context(ThreadPoolExecutor(os.cpu_count()))
        for each in [pool.submit(ask, name, model, collector.url, path) for name in names]:
            each.result()
        assert collector.stop() == 0
    lake = Lake.open(folder)
    build(lake)
    return {name: list(_runs(lake, name)) for name in names}


@pytest.fixture
def runs(recorded: dict[str, list[Run]], name: str) -> list[Run]:
    """What was read of the two runs of one quickstart."""
    if name not in recorded:
        pytest.skip("`make test-frameworks` makes the environment")
    return recorded[name]


def _runs(lake: Lake, service: str) -> Iterator[Run]:
    trajectories = rows(
        lake,
        "SELECT trajectory_id, agent_name, release, user_input, final_answer, input_tokens, "
        f"output_tokens FROM trajectories WHERE service_name = '{service}' ORDER BY start_time",
    )
    for each in trajectories:
        calls = rows(
            lake,
            "SELECT tool_name, arguments, result, status, error_message FROM steps "
            f"WHERE kind = 'tool_call' AND trajectory_id = '{each['trajectory_id']}' "
            "ORDER BY step_index",
        )
        yield Run(each, calls)


def exact(runs: list[Run], quickstart: Mapping[str, Any]) -> dict[str, bool]:
    """Return, for each aspect, whether the values read equal those that model and tool gave."""
    ends_at_error = bool(quickstart.get("ends_at_error"))
    tool = quickstart.get("tool", TOOL)
    (found, *_), (failed,) = (each.calls for each in runs)
    answers = [each.trajectory["final_answer"] for each in runs]
    tokens = [[each.trajectory[f"{way}_tokens"] for way in TOKENS] for each in runs]
    requests = (2, 1 if ends_at_error else 2)
    text = f"{failed['error_message']} {failed['result']}"
    return {
        "calls": [(each["tool_name"], each["status"]) for each in (found, failed)]
        == [(tool, "ok"), (tool, "error")],
        "arguments": (found["arguments"], failed["arguments"]) == ARGUMENTS,
        "results": found["result"] == quickstart.get("result", RESULT),
        "errors": failed["status"] == "error" and ERROR in text,
        "answer": answers == [FOUND, None if ends_at_error else UNKNOWN],
        "tokens": tokens == [[number * made for number in TOKENS.values()] for made in requests],
    }


@pytest.mark.parametrize("name", CASES)
def test_what_is_recorded_is_what_the_page_says(runs: list[Run], name: str) -> None:
    """Each aspect is exact, unless the page names it as incomplete."""
    lacks = CASES[name].get("lacks", {})

    assert exact(runs, CASES[name]) == {each: each not in lacks for each in ASPECTS}


@pytest.mark.parametrize("name", CASES)
def test_a_run_is_known_by_its_question_its_agent_and_its_release(
    runs: list[Run], name: str
) -> None:
    """Each command makes one trajectory."""
    agent = CASES[name].get("agent", "support")
    known = [
        tuple(each.trajectory[column] for column in ("user_input", "agent_name", "release"))
        for each in runs
    ]

    assert known == [(question, agent, "1.0") for question in QUESTIONS]
