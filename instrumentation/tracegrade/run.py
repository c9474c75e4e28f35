"""`tracegrade run -- CMD...`: runs an unchanged Python agent with its libraries instrumented.

It sets the environment and becomes the command, so exit code, signals and terminal are the
command's. In each Python process of the command, `start/sitecustomize.py` starts OpenTelemetry's
hook. The hook finds tracegrade's distro by name (`tracegrade.distro`), which loads one
instrumentor per library.
"""

import os
import shutil
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

import typer

from tracegrade.errors import BadInput
from tracegrade.names import TASK_ID, TRIAL
from tracegrade.settings import Content, Settings
from tracegrade.terminal.visible import echo

INSTRUMENTORS: Final = "TRACEGRADE_INSTRUMENTORS"
ANNOUNCE: Final = "TRACEGRADE_ANNOUNCE"
CONTENT_SWITCHES: Final = {  # what other instrumentations call "with content", and "without"
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": ("SPAN_ONLY", "NO_CONTENT"),
    "TRACELOOP_TRACE_CONTENT": ("true", "false"),
    "OPENINFERENCE_HIDE_INPUTS": ("false", "true"),
    "OPENINFERENCE_HIDE_OUTPUTS": ("false", "true"),
    "ENABLE_INSTRUMENTATION": ("true", "true"),  # Microsoft's agent-framework: any spans at all
    "ENABLE_SENSITIVE_DATA": ("true", "false"),  # and what is said in them
    "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": ("true", "false"),
    "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": ("content", "metadata_only"),
}
RESOURCE: Final = "OTEL_RESOURCE_ATTRIBUTES"

_NODE: Final = frozenset(("bun", "deno", "node", "npm", "npx", "pnpm", "ts-node", "tsx", "yarn"))


def run(
    command: Annotated[
        list[str], typer.Argument(help="A command that starts Python.", metavar="-- CMD...")
    ],
    instrumentors: Annotated[
        str | None,
        typer.Option(
            help="Families in order of preference (otel, openinference, openllmetry), or "
            "distributions by name, or none. Comma-separated.",
            envvar=INSTRUMENTORS,
        ),
    ] = None,
    release: Annotated[
        str | None, typer.Option(help="The agent's version; runs are compared by it.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="The id of the agent's task in a task file.")
    ] = None,
    trial: Annotated[
        int | None, typer.Option(help="The number of this repetition of the task.", min=0)
    ] = None,
) -> None:
    """Run an agent with its libraries instrumented, exporting spans over OTLP."""
    program = shutil.which(command[0])
    if program is None:
        msg = f"no program '{command[0]}'; write it as in: tracegrade run -- python agent.py"
        raise BadInput(msg)
    environment = dict(os.environ)
    set_up(environment, instrumentors)
    attributes = {"service.version": release, TASK_ID: task, TRIAL: trial}
    _describe(
        environment, {key: str(value) for key, value in attributes.items() if value is not None}
    )
    _warn_of_node(program, environment["OTEL_EXPORTER_OTLP_ENDPOINT"])
    os.execve(program, command, environment)  # noqa: S606 - runs what the user asked for


def _describe(environment: MutableMapping[str, str], attributes: Mapping[str, str]) -> None:
    """Put the options into the resource's attributes, replacing earlier values."""
    pairs = [pair for pair in environment.get(RESOURCE, "").split(",") if pair.strip()]
    others = [pair for pair in pairs if pair.partition("=")[0].strip() not in attributes]
    added = [f"{key}={quote(value, safe='')}" for key, value in attributes.items()]
    if added:
        environment[RESOURCE] = ",".join(others + added)


def _warn_of_node(program: str, endpoint: str) -> None:
    """Report that only Python is instrumented; these commands may still start Python."""
    name = Path(program).name.partition(".")[0]
    if name in _NODE:
        echo(
            f"tracegrade: warning: {name} runs JavaScript, in which tracegrade instruments "
            "nothing; load OpenTelemetry in the program (npm install "
            "@opentelemetry/auto-instrumentations-node, then node --require "
            "@opentelemetry/auto-instrumentations-node/register), turn on its framework's own "
            f"spans, and run it with OTEL_EXPORTER_OTLP_ENDPOINT={endpoint}",
            err=True,
        )


def set_up(environment: MutableMapping[str, str], instrumentors: str | None) -> None:
    """Put into `environment` what a Python process needs to instrument itself."""
    environment["OTEL_PYTHON_DISTRO"] = environment["OTEL_PYTHON_CONFIGURATOR"] = "tracegrade"
    environment["PYTHONPATH"] = _with_start_up_hook(environment.get("PYTHONPATH", ""))
    environment[ANNOUNCE] = "1"
    if instrumentors is not None:
        environment[INSTRUMENTORS] = instrumentors
    environment.setdefault("OTEL_TRACES_EXPORTER", "otlp")
    environment.setdefault("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    environment.setdefault("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318")
    without = Settings.from_environment(environment).content is Content.NONE
    for switch, values in CONTENT_SWITCHES.items():
        environment.setdefault(switch, values[without])


def _with_start_up_hook(python_path: str) -> str:
    """Return a PYTHONPATH whose first folder holds tracegrade's `sitecustomize`."""
    folder = str(Path(__file__).with_name("start"))
    others = [path for path in python_path.split(os.pathsep) if path not in {"", folder}]
    return os.pathsep.join([folder, *others])
