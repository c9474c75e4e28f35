"""Tests of agents on real frameworks: a run is captured and scored in the agent's own process.

Needs an environment that `make test-frameworks` makes; skips without it.
"""

import json
import os
import subprocess
import sysconfig

import pytest

from .fake_model import serving
from .test_frameworks import ENVIRONMENTS, PATIENCE_SECS, PROGRAMS, SETTINGS

ENVIRONMENT = ENVIRONMENTS / "current"
CASES = [("openai_agents", "openinference"), ("langgraph", "openinference"), ("pydantic_ai", "v5")]


@pytest.mark.parametrize(("framework", "instrumentation"), CASES)
def test_a_run_of_a_framework_is_captured_and_scored(framework: str, instrumentation: str) -> None:
    """One run with its call, whose program sets a TracerProvider inside the block."""
    if not (ENVIRONMENT / "complete").exists():
        pytest.skip("`make test-frameworks` makes the environment 'current'")
    with serving() as model:
        done = subprocess.run(
            [
                *(ENVIRONMENT / "bin" / "python", PROGRAMS / "tested" / "run.py"),
                *(framework, instrumentation, "normal"),
            ],
            env={
                "PATH": os.environ["PATH"],
                "PROGRAM": framework,
                "MODEL_SERVER": model,
                "PACKAGES": sysconfig.get_path("purelib"),
                "OTEL_EXPORTER_OTLP_ENDPOINT": f"{model}/nowhere",
                **SETTINGS["current"],
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECS,
            check=False,
        )
    assert done.returncode == 0, done.stderr

    assert json.loads(done.stdout.splitlines()[-1]) == {
        "runs": 1,
        "calls": ["get_weather"],
        "arguments": '{"city":"Paris"}',
        "kinds": ["tool_call", "observation", "answer"],
    }
