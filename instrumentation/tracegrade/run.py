"""`tracegrade run -- CMD...`: runs a Python agent as it is, with its libraries instrumented.

Sets the environment and becomes the command, so that its exit code, signals and terminal are its
own. In each Python process of it, OpenTelemetry's start-up hook then finds our distro by name
(`tracegrade.distro`), which loads one instrumentor per library.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Annotated, Final

import typer

from tracegrade.errors import BadInput
from tracegrade.settings import Content, Settings
from tracegrade.terminal.visible import echo

INSTRUMENTORS: Final = "TRACEGRADE_INSTRUMENTORS"
ANNOUNCE: Final = "TRACEGRADE_ANNOUNCE"
CONTENT_SWITCHES: Final = {  # what other instrumentations call "with content", and "without"
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": ("SPAN_ONLY", "NO_CONTENT"),
    "TRACELOOP_TRACE_CONTENT": ("true", "false"),
    "OPENINFERENCE_HIDE_INPUTS": ("false", "true"),
    "OPENINFERENCE_HIDE_OUTPUTS": ("false", "true"),
}

_PYTHON: Final = re.compile(r"python[\d.]*")
_LOOK: Final = "import importlib.metadata; importlib.metadata.version('tracegrade')"


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
) -> None:
    """Run an agent with its libraries instrumented, exporting spans over OTLP."""
    program = shutil.which(command[0])
    if program is None:
        msg = f"no program '{command[0]}'; write it as in: tracegrade run -- python agent.py"
        raise BadInput(msg)
    environment = dict(os.environ)
    set_up(environment, instrumentors)
    _warn_of_other_python(program)
    os.execve(program, command, environment)  # noqa: S606 - runs what the user asked for


def _warn_of_other_python(program: str) -> None:
    """Say that another Python than this one would run without us: it finds none of our modules."""
    here = Path(sys.executable).parent
    if not _PYTHON.fullmatch(Path(program).name) or Path(program).parent.samefile(here):
        return
    looked = subprocess.run(  # noqa: S603 - the Python that the user names
        [program, "-c", _LOOK], capture_output=True, check=False
    )
    if looked.returncode:
        echo(
            f"tracegrade: warning: {program} has no tracegrade, so it will send no spans; "
            f"install it there, {program} -m pip install tracegrade, or name another Python",
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
    """Return a PYTHONPATH whose first folder holds OpenTelemetry's `sitecustomize`."""
    from opentelemetry.instrumentation import auto_instrumentation  # noqa: PLC0415 - only here

    folder = str(Path(auto_instrumentation.__file__).parent)
    others = [path for path in python_path.split(os.pathsep) if path not in {"", folder}]
    return os.pathsep.join([folder, *others])
