"""However a command starts Python, the agent is instrumented, or it is said why not."""

import os
import sys
import venv
from pathlib import Path

import pytest

from .conftest import Received
from .installed import RUN, run

ALONE = [*RUN, "--instrumentors", "none"]
AGENT = """
import sys
from opentelemetry import trace
with trace.get_tracer("framework").start_as_current_span("chat"):
    pass
sys.exit(7)
"""


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python that has no packages."""
    folder = tmp_path_factory.mktemp("other")
    venv.create(folder, with_pip=False)
    return str(folder / "bin" / "python")


def script(path: Path, python: str, text: str) -> str:
    """Write a program that this Python runs."""
    path.write_text(f"#!{python}\n{text}")
    path.chmod(0o755)
    return str(path)


def test_a_python_without_tracegrade_is_warned_of(other: str, tmp_path: Path) -> None:
    """It runs the program, but would else not say why no span comes; so does a script's Python."""
    program = script(tmp_path / "agent", other, "import sys; sys.exit(7)")
    for command in (
        [other, "-c", "import sys; sys.exit(7)"],
        [program],
        ["/bin/sh", "-c", program],
    ):
        done = run(*ALONE, "--", *command)

        assert done.returncode == 7
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"tracegrade: warning: {other} has no tracegrade, so it will send")


@pytest.mark.parametrize("way", ["module", "script", "shell", "launcher"])
def test_agent_is_instrumented_however_it_is_started(
    collector: Received, other: str, tmp_path: Path, way: str
) -> None:
    """A launcher's own Python, which has no tracegrade as a rule, is not the agent's."""
    program = script(tmp_path / "agent.py", sys.executable, AGENT)
    launch = f"import os; os.execv({program!r}, [{program!r}])"
    command = {
        "module": [sys.executable, "-m", "agent"],
        "script": [program],
        "shell": ["/bin/sh", "-c", f"{program} poetry"],
        "launcher": [script(tmp_path / "poetry", other, launch), "run", "agent"],
    }[way]
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    done = run(*ALONE, "--", *command, PYTHONPATH=str(tmp_path), **endpoint)

    assert done.returncode == 7
    assert done.stderr == f"tracegrade: spans to {collector.url}; instrumentors: none\n"
    assert [span.name for span in collector.spans()] == ["chat"]


def test_start_up_hook_of_the_user_runs_as_well(tmp_path: Path) -> None:
    """And the path of modules is what it was, for what the agent starts."""
    (tmp_path / "sitecustomize.py").write_text("print('mine')")
    show = "import os; print(os.environ['PYTHONPATH'])"
    done = run(*ALONE, "--", sys.executable, "-c", show, PYTHONPATH=str(tmp_path))

    *mine, path = done.stdout.splitlines()
    assert mine == ["mine", "mine"]  # of the command's own Python, and of the agent's
    assert path.split(os.pathsep)[1:] == [str(tmp_path)]
