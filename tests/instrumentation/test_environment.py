"""Nothing that stands in the environment ends the host, or keeps its spans without a word."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from tests.slow import slow_after

from tracegrade.environment import RULES, usable_environment
from tracegrade.guard import failures

from .conftest import Received
from .installed import RUN, run

HERE = Path(__file__).parent
VALUES = (
    *("-5", "abc", "\udc80", " "),
    *(
        "0",
        "1.5",
        "nan",
        "1e999",
        "9" * 30,
        "9" * 5000,
        "",
        "none",
        "otlp",
        "true",
        "a=b,c",
        "=,,%",
    ),
    *("/no/such/file", "http://[::1", "a\nb", "ü"),
)
TRUNCATES = "String attribute value exceeds max length"
"""The SDK says so where it is asked for a limit."""
NOWHERE = ("ENDPOINT", "EXPORTER", "PROTOCOL", "SDK_DISABLED", "OTEL_TRACES_SAMPLER")
"""Parts of the names of variables that may decide that spans go nowhere."""


def declared() -> set[str]:
    """Return the variables that the installed OpenTelemetry packages declare."""
    modules = [each.load() for each in entry_points(group="opentelemetry_environment_variables")]
    texts = [value for module in modules for value in vars(module).values()]
    return {text for text in texts if isinstance(text, str) and text.startswith("OTEL_")}


def hosts(
    environments: list[dict[str, str]], collector: Received
) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """Run a host in each environment, beside a collector, and yield what came of it."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, str(HERE / "bad_environments.py")],
        input=json.dumps(environments).encode(),
        stdout=subprocess.PIPE,
        env={**clean, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url},
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(environments)
    yield from zip(environments, lines, strict=True)


def test_each_variable_that_is_read_is_one_that_opentelemetry_declares() -> None:
    """A rule for any other would stand there for nothing."""
    gevent = "OTEL_PYTHON_AUTO_INSTRUMENTATION_EXPERIMENTAL_GEVENT_PATCH"
    assert RULES.keys() - {gevent} <= declared()


@pytest.mark.parametrize("value", slow_after(1, VALUES))
def test_all_variables_at_once(collector: Received, value: str) -> None:
    """The host does as without, and each line of ours names one variable."""
    everything = dict.fromkeys(
        declared() | {"TRACEGRADE_CONTENT", "TRACEGRADE_CONTENT_MAX_CHARS"}, value
    )
    ((_, done),) = hosts([everything], collector)

    assert (done["code"], done["out"]) == (0, "4\nend\n")
    lines = [line for line in done["err"].splitlines() if not line.startswith(TRUNCATES)]
    assert [line for line in lines if not line.startswith("tracegrade: ")] == []
    named = [line.split()[1].partition("=")[0] for line in lines if "=" in line]
    assert len(named) == len(set(named))


@pytest.mark.parametrize("value", slow_after(0, ["abc", "-5"]))
def test_each_variable_alone(collector: Received, value: str) -> None:
    """What cannot be used is said once, with the value, and spans come by the default."""
    names = [*RULES, "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]
    environments = [{name: value} for name in names]
    arriving = 0
    for environment, done in hosts(environments, collector):
        (name,) = environment
        assert (name, done["code"], done["out"]) == (name, 0, "4\nend\n")
        lines = [line for line in done["err"].splitlines() if not line.startswith(TRUNCATES)]
        assert [line for line in lines if not line.startswith("tracegrade: ")] == []
        if name in RULES and value.strip() and RULES[name].usable(value) is None:
            (line,) = (line for line in lines if name in line)
            assert RULES[name].is_secret or ascii(value)[:20] in line
        arriving += not any(part in name for part in NOWHERE)

    assert len(collector.spans()) >= 3 * arriving


@pytest.mark.parametrize(
    ("name", "value"),
    slow_after(
        1,
        [
            ("OTEL_PROPAGATORS", "nope"),
            ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "-5"),
            ("OTEL_PYTHON_TRACER_PROVIDER", "nope"),
            ("OTEL_PYTHON_CONTEXT", "nope"),
            ("OTEL_TRACES_SAMPLER_ARG", "1e9"),
            ("OTEL_EXPERIMENTAL_RESOURCE_DETECTORS", "nope"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "-1"),
        ],
    ),
)
def test_command_under_tracegrade_run(collector: Received, name: str, value: str) -> None:
    """The hook and OpenTelemetry's packages are imported before the program: it still runs."""
    script = (
        "import os, sys; from opentelemetry import trace\n"
        "with trace.get_tracer('framework').start_as_current_span('chat'): pass\n"
        f"print(os.environ[{name!r}]); sys.exit(7)\n"
    )
    command = [*RUN, "--instrumentors", "none", "--", sys.executable, "-c", script]
    if name == "OTEL_PROPAGATORS":  # the program's own import of them would fail without us, too
        script = script.replace(
            "from opentelemetry import trace", "import opentelemetry.trace as trace"
        )
    done = run(*command, **{name: value, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})

    assert (done.returncode, done.stdout) == (7, f"{value}\n")
    assert [span.name for span in collector.spans()] == ["chat"]
    said = [line for line in done.stderr.splitlines() if f"{name}='{value}'" in line]
    assert len(said) == 1
    assert "Traceback" not in done.stderr


def test_program_finds_its_variables_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are hidden from what is imported in the block, and said once."""
    monkeypatch.setenv("OTEL_SPAN_LINK_COUNT_LIMIT", "many")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "a=1,b,c=%20")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic x,secret")
    before = dict(os.environ)
    for _ in range(2):
        with usable_environment():
            assert "OTEL_SPAN_LINK_COUNT_LIMIT" not in os.environ
            assert os.environ["OTEL_RESOURCE_ATTRIBUTES"] == "a=1,c=%20"
            assert os.environ["OTEL_EXPORTER_OTLP_HEADERS"] == "authorization=Basic x"

    assert dict(os.environ) == before
    assert set(failures().values()) == {1}
