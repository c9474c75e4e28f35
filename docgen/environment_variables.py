"""The page of environment variables that programs of tracegrade read."""

import ast
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from docgen.packages import PACKAGES
from docgen.pages import code, page, table

_NAME: Final = re.compile("TRACEGRADE(_[A-Z]+)+")


class Variable(NamedTuple):
    """An environment variable that users may set."""

    name: str
    default: str
    meaning: str


AGENTS: Final = (
    Variable(
        "TRACEGRADE_CONTENT",
        "`redacted`",
        "`full`, `redacted` (secrets are replaced) or `none` (no arguments, results, messages, "
        "thoughts, plans and error texts). Any other value counts as `none`.",
    ),
    Variable(
        "TRACEGRADE_CONTENT_MAX_CHARS",
        "65536",
        "Longer texts are cut, and `tracegrade.truncated` names their keys.",
    ),
    Variable(
        "TRACEGRADE_OBJECTS",
        "`name`",
        "The text that is recorded for an object of an unknown class: the `name` of its class, or "
        "its `str`. `str` also calls the `__str__` of exceptions that define one.",
    ),
    Variable("TRACEGRADE_INSTRUMENTORS", "", "As `tracegrade run --instrumentors`."),
    Variable(
        "TRACEGRADE_JOURNAL",
        "`.tracegrade/rollback.jsonl`",
        "The file that `run.rollback` writes, one for each process at a time. Copies of files "
        "are kept next to it.",
    ),
    Variable(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "`http://localhost:4318`",
        "The address to which spans are sent. `OTEL_EXPORTER_OTLP_HEADERS`, `…_TIMEOUT` and the "
        "other variables of the SDK's exporter are read as well.",
    ),
    Variable("OTEL_EXPORTER_OTLP_PROTOCOL", "`http/protobuf`", "Or `grpc`."),
    Variable("OTEL_TRACES_EXPORTER", "`otlp`", "Any installed exporter; `none` sends nothing."),
    Variable(
        "OTEL_BSP_SCHEDULE_DELAY",
        "1000",
        "Milliseconds that a span waits for others. The end of a run is sent at once.",
    ),
    Variable(
        "OTEL_BSP_MAX_QUEUE_SIZE",
        "2048 to 16384",
        "The most spans that may wait. If it is not set, more than 2048 may wait while their "
        "texts have less than 64 million characters. A full queue drops its oldest spans and "
        "counts them.",
    ),
    Variable(
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
        "",
        "The most spans in a request; if it is not set, as many as make 3 MiB.",
    ),
    Variable(
        "OTEL_RESOURCE_ATTRIBUTES",
        "",
        "`service.version=1.4.2,…` sets the release, if the program does not.",
    ),
    Variable(
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
        "4096",
        "Attributes of a span. The SDK's own limit of 128 drops the oldest ones.",
    ),
    Variable("OTEL_SDK_DISABLED", "", "`true` turns everything off."),
)
COMMANDS: Final = (
    Variable("TRACEGRADE_LAKE", "", "The lake of any command that takes `--lake`."),
    Variable("TRACEGRADE_ENGINE", "`local`", "As `tracegrade score --engine`."),
    Variable(
        "TRACEGRADE_STATE",
        "a folder in `~/.local/state`",
        "The local folder for the log, quarantine and locks of a lake on an object store; as "
        "`--state`.",
    ),
    Variable("TRACEGRADE_CHROMIUM", "", "The browser of `harness`, if it is not on the path."),
    Variable(
        "TRACEGRADE_PROFILE",
        "",
        "A file to which `tracegrade score` appends the rows and CPU time of each relation, as "
        "JSON Lines.",
    ),
    Variable("TRACEGRADE_SEND_PHOENIX_API_KEY", "", "The key with which `send` uses Phoenix."),
    Variable("TRACEGRADE_SEND_LANGFUSE_PUBLIC_KEY", "", "The public key of a Langfuse project."),
    Variable("TRACEGRADE_SEND_LANGFUSE_SECRET_KEY", "", "Its secret key."),
    Variable("TRACEGRADE_SEND_DATADOG_API_KEY", "", "The API key with which `send` uses Datadog."),
    Variable("TRACEGRADE_SEND_MLFLOW_TOKEN", "", "The token with which `send` uses MLflow."),
    Variable(
        "TRACEGRADE_SEND_OTLP_HEADERS",
        "",
        "Headers of `send --to otlp`, such as `authorization=Bearer KEY,x-team=a`.",
    ),
    Variable(
        "TRACEGRADE_GITHUB_TOKEN",
        "`GITHUB_TOKEN`",
        "The token with which `ci comment` writes to GitHub.",
    ),
)
INTERNAL: Final = (
    Variable(
        "TRACEGRADE_GATE",
        "",
        "A socket of the harness. The program waits there after each tool call and before its "
        "answer, and ends with exit code 75 if no answer comes.",
    ),
    Variable(
        "TRACEGRADE_TOOLS",
        "",
        "A socket of the harness that records tools or replays them: `tracegrade.tool` asks it "
        "before each call, and ends the program with 75 if no answer comes.",
    ),
    Variable("TRACEGRADE_ANNOUNCE", "", "Whether `tracegrade run` reports what it instruments."),
    Variable("TRACEGRADE_CRASH_AT", "", "A point at which tests let a process end."),
)


def pages() -> Mapping[str, str]:
    """Return the page by its path below `docs/`."""
    listed = {each.name for each in (*AGENTS, *COMMANDS, *INTERNAL)}
    missing = sorted(set(_read()) - listed)
    if missing:
        msg = f"docgen/environment_variables.py does not describe {', '.join(missing)}"
        raise LookupError(msg)
    header = ["variable", "default", "what it does"]
    text = page(
        "Environment variables",
        "Options of the collector are [variables as well](collector-options.md).",
        "## Agents",
        "Programs that use `tracegrade`, or that `tracegrade run` starts, read these.",
        table(header, map(_row, AGENTS)),
        "`tracegrade run` also sets `OTEL_PYTHON_DISTRO`, `OTEL_PYTHON_CONFIGURATOR` and "
        "`PYTHONPATH` for its program. It also sets other instrumentations' switches for "
        "content, unless they are set, to agree with `TRACEGRADE_CONTENT`.",
        "## Commands",
        table(header, map(_row, COMMANDS)),
        "## Set by tracegrade itself",
        "Do not set these.",
        table(header, map(_row, INTERNAL)),
    )
    return {"reference/environment-variables.md": text}


def _row(variable: Variable) -> list[str]:
    return [code(variable.name), variable.default, variable.meaning]


def _read() -> Iterator[str]:
    """Yield the names of our own variables in the packages."""
    for package in PACKAGES:
        for path in Path(import_module(package).__path__[0]).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and _NAME.fullmatch(str(node.value)):
                    yield str(node.value)
