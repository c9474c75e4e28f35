"""`tracegrade run`: real programs in real processes, ours by name only."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.slow import slow_after

from .conftest import Received
from .installed import HERE, PATIENCE_SECS, RUN, framework, instrumentor, run, told

ALONE = [*RUN, "--instrumentors", "none"]  # frameworks take seconds to import
INSTRUMENT = str(Path(sys.executable).with_name("opentelemetry-instrument"))

AGENT = """
import sys
from opentelemetry import trace
with trace.get_tracer("framework").start_as_current_span("chat"):
    pass
sys.exit(7)
"""


def to(collector: Received) -> dict[str, str]:
    """Return the variable that points an exporter at a collector."""
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}


def test_spans_arrive_and_the_exit_code_passes(collector: Received) -> None:
    """A program that knows nothing of us exports to our collector."""
    done = run(
        *ALONE, "--", sys.executable, "-c", AGENT, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url
    )

    assert done.returncode == 7
    assert [span.name for span in collector.spans()] == ["chat"]


def test_start_is_said_on_stderr_alone(collector: Received) -> None:
    """Where spans go and what instruments, once; a child process does not say it again."""
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {AGENT!r}])"
    done = run(
        *ALONE, "--", sys.executable, "-c", script, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url
    )

    assert done.stdout == ""
    assert done.stderr == f"tracegrade: spans to {collector.url}; instrumentors: none\n"
    assert [span.name for span in collector.spans()] == ["chat"]


def test_program_may_still_use_tracegrade(collector: Received) -> None:
    """`init` in the program says service and release; spans are sent once."""
    script = (
        "import tracegrade\n"
        "tracegrade.init(service='shop', release='3')\n"
        "with tracegrade.agent_run('a') as run: run.answer('x')\n"
    )
    run(*ALONE, "--", sys.executable, "-c", script, **to(collector))

    assert [span.name for span in collector.spans()] == ["answer", "invoke_agent a"]
    assert collector.resource()["service.version"] == "3"


def test_signals_reach_the_program() -> None:
    """The command becomes the program: same process, same signals, same terminal."""
    script = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    process = subprocess.Popen(
        [*ALONE, "--", sys.executable, "-c", script], stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.send_signal(signal.SIGTERM)

        assert process.wait(PATIENCE_SECS) == -signal.SIGTERM
        assert pid == process.pid


def test_program_that_is_not_there_is_a_usage_error() -> None:
    """One line, exit code 2."""
    done = run(*RUN, "--", "no-such-program")

    assert done.returncode == 2
    assert done.stderr.startswith("tracegrade: no program 'no-such-program'; ")


@pytest.fixture
def families(tmp_path: Path) -> str:
    """A folder with three families' instrumentors, as PYTHONPATH."""
    needs = "opentelemetry-semantic-conventions-ai"
    instrumentor(tmp_path, "opentelemetry-instrumentation-genai-acme", "acme")
    instrumentor(tmp_path, "openinference-instrumentation-acme", "acme")
    instrumentor(tmp_path, "opentelemetry-instrumentation-acme", "acme", needs)
    instrumentor(tmp_path, "openinference-instrumentation-zeta-ai", "zeta_ai")
    instrumentor(tmp_path, "opentelemetry-instrumentation-zeta_ai", "zeta-ai", needs)
    for library in ("langchain", "mistralai"):
        instrumentor(tmp_path, f"openinference-instrumentation-{library}", library)
    return str(tmp_path)


@pytest.mark.parametrize(
    ("wish", "loaded"),
    slow_after(
        1,
        [
            (
                [],
                [
                    "openinference_instrumentation_langchain",
                    "openinference_instrumentation_mistralai",
                    "openinference_instrumentation_zeta_ai",
                    "opentelemetry_instrumentation_genai_acme",
                ],
            ),
            (
                ["--instrumentors", "openllmetry"],
                ["opentelemetry_instrumentation_acme", "opentelemetry_instrumentation_zeta_ai"],
            ),
            (
                ["--instrumentors", "openinference-instrumentation-acme"],
                ["openinference_instrumentation_acme"],
            ),
            (
                [
                    "--instrumentors",
                    "openinference-instrumentation-langchain,opentelemetry-instrumentation-zeta-ai",
                ],
                [
                    "openinference_instrumentation_langchain",
                    "opentelemetry_instrumentation_zeta_ai",
                ],
            ),
            (["--instrumentors", "none"], []),
        ],
    ),
)
def test_each_library_has_one_instrumentor(
    families: str, wish: list[str], loaded: list[str]
) -> None:
    """OTel GenAI, else OpenInference, else OpenLLMetry; or as `--instrumentors` says."""
    command = [*RUN, *wish, "--", sys.executable, "-c", "pass"]
    variables = {"OTEL_TRACES_EXPORTER": "none", "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": HERE}
    done = run(*command, PYTHONPATH=families, **variables)

    assert sorted(done.stdout.split()) == loaded
    listed = done.stderr.splitlines()[0].split("instrumentors: ")[1].split(", ")
    assert {name.replace("_", "-") for name in loaded} <= set(listed)


def test_instrumentor_that_is_not_installed_is_said() -> None:
    """A mistyped name does not pass for a wish that was granted."""
    done = run(
        *RUN,
        "--instrumentors",
        "otle",
        "--",
        sys.executable,
        "-c",
        "pass",
        OTEL_TRACES_EXPORTER="none",
    )

    assert "tracegrade: no such instrumentor installed: otle" in done.stderr


PROBED = "import importlib.util as u; assert u.find_spec('pydantic_ai')"
"""Is it there? A program that asks does not use it."""


@pytest.mark.parametrize(
    ("program", "warned"),
    slow_after(1, [("import pydantic_ai, smolagents, crewai", True), (PROBED, False)]),
)
def test_framework_that_nothing_instruments_is_said_once_it_is_imported(
    tmp_path: Path, program: str, warned: bool
) -> None:
    """With what to call or to install, once; not one that something instruments."""
    frameworks = {"pydantic-ai-slim": "pydantic_ai", "smolagents": "smolagents"}
    for name, module in {**frameworks, "crewai": "crewai"}.items():
        framework(tmp_path, name, module)
    instrumentor(tmp_path, "openinference-instrumentation-crewai", "crewai")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = [*RUN, "--instrumentors", "openinference-instrumentation-crewai"]
    command += ["--", sys.executable, "-c", program]
    done = run(*command, PYTHONPATH=path, OTEL_TRACES_EXPORTER="none")

    _, *warnings = done.stderr.splitlines()
    assert done.returncode == 0
    assert warnings == warned * [
        "tracegrade: warning: pydantic-ai-slim is imported, and writes spans only if the program "
        "calls pydantic_ai.Agent.instrument_all()",
        "tracegrade: warning: smolagents is imported, and nothing that is installed instruments "
        "it; pip install openinference-instrumentation-smolagents",
    ]


def test_run_that_instruments_nothing_is_warned_of() -> None:
    """Unless it was asked for."""
    command = ["--", sys.executable, "-c", "pass"]
    done = run(*RUN, "--instrumentors", "otel", *command, OTEL_TRACES_EXPORTER="none")

    start, warning = done.stderr.splitlines()
    assert start.endswith("; instrumentors: none")
    assert warning.startswith("tracegrade: warning: no library is instrumented, so spans come")


VENDOR = """
from opentelemetry.instrumentation.distro import BaseDistro
class Distro(BaseDistro):
    def _configure(self, **_): print("vendor distro")
class Configurator:
    def configure(self, **_): print("vendor configurator")
"""


@pytest.fixture
def vendor(tmp_path: Path) -> Path:
    """Another vendor's distribution with a distro and a configurator."""
    (tmp_path / "vendor.py").write_text(VENDOR)
    info = tmp_path / "vendor-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vendor\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[opentelemetry_distro]\nvendor = vendor:Distro\n"
        "[opentelemetry_configurator]\nvendor = vendor:Configurator\n"
    )
    return tmp_path


def test_another_vendors_start_is_not_hijacked(vendor: Path) -> None:
    """Installed beside us, a vendor's distro works as if we were not here."""
    script = "import sys; print('tracegrade.provider' in sys.modules)"
    nothing = {"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "*"}
    done = run(INSTRUMENT, sys.executable, "-c", script, PYTHONPATH=str(vendor), **nothing)

    assert done.stdout.split("\n")[:3] == ["vendor distro", "vendor configurator", "False"]


OURS_FIRST = """
from opentelemetry.instrumentation.auto_instrumentation import _load
found = _load.entry_points
_load.entry_points = lambda **wish: sorted(found(**wish), key=lambda it: it.name != "tracegrade")
_load._load_distro().configure()
_load._load_configurators()
"""


def test_another_vendor_is_not_hijacked_when_we_are_found_first(vendor: Path) -> None:
    """The hook takes the first configurator it finds; if that is ours, it hands over."""
    done = run(sys.executable, "-c", OURS_FIRST, PYTHONPATH=str(vendor))

    assert done.stdout.splitlines() == ["vendor distro", "vendor configurator"], done.stderr


def test_options_say_what_the_run_is_of(collector: Received) -> None:
    """In the resource, in the place of what the environment says; other attributes stay."""
    said = ["--release", "2,0=b", "--task", "refund order", "--trial", "3"]
    before = "service.version=1,team=shop"
    command = [*ALONE, *said, "--", sys.executable, "-c", AGENT]
    run(*command, OTEL_RESOURCE_ATTRIBUTES=before, **to(collector))

    resource = collector.resource()
    keys = ("service.version", "tracegrade.task.id", "tracegrade.trial", "team")
    assert [resource[key] for key in keys] == ["2,0=b", "refund order", "3", "shop"]


@pytest.mark.parametrize(("release", "warns"), [("3", True), ("2", False), (None, False)])
def test_release_of_the_program_that_replaces_the_chosen_one_is_warned_of(
    collector: Received, release: str | None, *, warns: bool
) -> None:
    """Otherwise two releases that were run one after the other would have one name."""
    script = (
        f"import tracegrade; tracegrade.init('shop', {release!r})\n"
        "with tracegrade.agent_run('a') as run: run.answer('x')\n"
    )
    command = [*ALONE, "--release", "2", "--", sys.executable, "-c", script]
    done = run(*command, **to(collector))

    assert collector.resource()["service.version"] == (release or "2")
    assert ("the release is '3', as init says, and not '2' of --release" in done.stderr) is warns


@pytest.mark.parametrize("name", ["node", "npx", "tsx"])
def test_program_that_runs_javascript_is_told_what_to_do(tmp_path: Path, name: str) -> None:
    """In one line; it runs all the same."""
    program = tmp_path / name
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o755)
    done = run(*ALONE, "--", str(program), "agent.js")

    assert done.returncode == 7
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"tracegrade: warning: {name} runs JavaScript, in which tracegrade")


def test_instrumentor_that_conflicts_with_what_is_installed_is_said(tmp_path: Path) -> None:
    """One line, with both versions; that of a library that is not installed is not missed."""
    framework(tmp_path, "acme", "acme")
    for library in ("acme", "absent"):
        name = f"openinference-instrumentation-{library}"
        needs = f'{library}>=9; extra == "instruments"'
        instrumentor(tmp_path, name, library, f"{needs}\nProvides-Extra: instruments")
    _, others, _ = told(tmp_path)

    (line,) = (each for each in others.splitlines() if "acme" in each)
    assert line.startswith("tracegrade: warning: openinference-instrumentation-acme is not loaded")
    assert "acme>=9" in line
    assert "acme 2.0" in line
    assert "absent" not in others


def test_client_that_a_framework_leaves_to_its_own_instrumentor_is_missed(tmp_path: Path) -> None:
    """CrewAI's writes no model calls, so it is said what writes those of the client it uses."""
    for name in ("crewai", "groq"):
        framework(tmp_path, name, name)
    instrumentor(tmp_path, "openinference-instrumentation-crewai", "crewai")
    command = [*RUN, "--instrumentors", "openinference-instrumentation-crewai"]
    command += ["--", sys.executable, "-c", "import groq"]
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = run(*command, PYTHONPATH=path, OTEL_TRACES_EXPORTER="none")

    assert "pip install openinference-instrumentation-groq" in done.stderr
