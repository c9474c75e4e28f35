"""The stages of the demo, in order; each one prints a line about its work.

Everything here uses the `tracegrade` command, as on a user's machine. Only the count of landed
spans reads the lake's Parquet files directly.
"""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from demo.children import Child, Children, Command
from demo.errors import StageError
from tracegrade_lake import Lake

TRACEGRADE = Path(sys.executable).with_name("tracegrade")
TASKS = Path(__file__).with_name("tasks.yaml")
RELEASES = ("1.0", "1.1", "1.2")
STAGES = 10
REAL_TOOLS = "tracegrade.run.mode=live"
"""The harness sets the same run mode: reports never pool runs of different modes."""
SUPPORT_RELEASE = "2026.11"
LAND_WITHIN_SECS = 120.0
LOOK_EVERY_SECS = 0.1


class Landed(NamedTuple):
    """Counts of the lake's raw spans."""

    spans: int
    traces: int
    files: int


def say(stage: int, text: str) -> None:
    """Tell the reader what just happened."""
    print(f"[{stage}/{STAGES}] {text}", flush=True)


def start_collector(children: Children, lake: Path) -> tuple[Child, str]:
    """Start the collector on free loopback ports and return it with its OTLP/HTTP address."""
    addresses = ["--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]
    command: Command = [TRACEGRADE, "collect", "--lake", lake, *addresses]
    collector = children.start("collector", command)
    ready = collector.ready_lines("http", "grpc")
    say(1, f"collector up: takes OTLP on {ready['http']} and {ready['grpc']} (gRPC)")
    return collector, ready["http"]


def run_file_agent(children: Children, release: str, endpoint: str, folder: Path) -> int:
    """Run one release of the file agent on files below `folder`; return its number of runs."""
    command = [sys.executable, "-m", "demo.file_agent", "--release", release]
    command += ["--folder", str(folder / release)]
    resource = {"OTEL_RESOURCE_ATTRIBUTES": REAL_TOOLS}
    child = children.run(f"file agent {release}", command, **_environment(endpoint), **resource)
    runs = [line for line in child.lines() if " trial " in line]
    stopped = sum("Stopped" in run for run in runs)
    say(
        2 + RELEASES.index(release),
        f"file agent {release}: {len(runs)} runs on real CSV files, {stopped} gave up",
    )
    return len(runs)


def start_support_agent(children: Children, endpoint: str) -> tuple[Child, str]:
    """Start the framework's agent under `tracegrade run`; return it, and a word for its model."""
    model, about = _model(children)
    command: Command = [TRACEGRADE, "run", "--", sys.executable, "-m", "demo.framework_agent"]
    resource = {
        "OTEL_SERVICE_NAME": "support",
        "OTEL_RESOURCE_ATTRIBUTES": f"service.version={SUPPORT_RELEASE}",
    }
    child = children.start("support agent", command, **_environment(endpoint), **resource, **model)
    return child, about


def end_support_agent(child: Child, about: str) -> int:
    """Wait until the support agent is done; return how many runs it made.

    Args:
        child: The agent.
        about: A word for its model.

    Raises:
        StageError: It failed, or took too long.
    """
    child.wait()
    runs = [line for line in child.lines() if line.startswith("c-")]
    broken = sum("broke off" in run for run in runs)
    say(
        5,
        f"support agent on OpenAI's Agents SDK, without any tracegrade code: {len(runs)} runs "
        f"with {about}, {broken} broke off",
    )
    return len(runs)


def wait_until_landed(lake: Path, traces: int) -> None:
    """Wait until the spans of that many runs are in the lake; each run is one trace.

    Raises:
        StageError: They do not arrive.
    """
    deadline = time.monotonic() + LAND_WITHIN_SECS
    while (landed := count_landed(lake)).traces < traces:
        if time.monotonic() > deadline:
            msg = (
                f"{landed.traces} of {traces} runs landed as traces "
                f"within {LAND_WITHIN_SECS:.0f} s"
            )
            raise StageError(msg)
        time.sleep(LOOK_EVERY_SECS)


def count_landed(lake: Path) -> Landed:
    """Return what landed so far, read from the live Parquet files."""
    files = Lake.open(lake).files("raw_spans")
    traces = [pq.read_table(path, columns=["trace_id"])["trace_id"] for path in files]
    ids = {trace_id for column in traces for trace_id in column.to_pylist()}
    return Landed(sum(len(column) for column in traces), len(ids), len(files))


def _model(children: Children) -> tuple[Mapping[str, str], str]:
    """Return the model's variables and a word for it; start the fake model if they are unset."""
    if "OPENAI_BASE_URL" in os.environ:
        return {}, os.environ["OPENAI_BASE_URL"]
    server = children.start("model server", [sys.executable, "-m", "demo.model_server"])
    address = server.ready_lines("model")["model"]
    fake = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "rules"}
    return fake, "a fake model server"


def _environment(endpoint: str) -> dict[str, str]:
    """Return the variables that send a child's spans to our collector, overriding the caller's."""
    outside = os.environ.get("NO_PROXY", os.environ.get("no_proxy", ""))
    no_proxy = ",".join(filter(None, [outside, "127.0.0.1", "localhost"]))
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
    }
