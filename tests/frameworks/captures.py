"""Runs the scenarios on a framework and keeps what its instrumentations export.

`python -m tests.frameworks.captures FRAMEWORK…` runs each program of a framework under each of its
instrumentations, in the framework's environment below `.frameworks`, against the fake model, and
rewrites `tests/queries/captures/scenarios/PROGRAM_INSTRUMENTATION.json.xz`.
"""

import gzip
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tracegrade_collector.encoding.otlp_json import write_json

from .fake_model import SCENARIOS, serving
from .ways import WAYS, Way

ROOT = Path(__file__).parents[2]  # captures do not name it
ENVIRONMENTS = ROOT / ".frameworks"
OWN_PACKAGE = ROOT / "instrumentation"
PROGRAMS = Path(__file__).parent / "programs"
CAPTURES = Path(__file__).parents[1] / "queries" / "captures" / "scenarios"
PATIENCE_SECS = 900
REQUESTS: dict[str, Any] = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
}

Json = dict[str, Any]


class Receiver(BaseHTTPRequestHandler):
    """Keeps each request of a `POST` in the server's list `received`: its path and the request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Keep one request."""
        body = self._body()
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if "json" in self.headers.get("Content-Type", ""):
            request = json.loads(body)
        else:
            request = write_json(REQUESTS[self.path].FromString(body))
        self.server.received.append((self.path, request))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", self.headers.get("Content-Type", ""))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _body(self) -> bytes:
        """Return what a request holds: exporters on Node send it in chunks."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"]))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing."""


@contextmanager
def receiving() -> Iterator[tuple[str, list[tuple[str, Json]]]]:
    """Receive OTLP during the block, which gets the address and the growing list of requests."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        server.daemon_threads = True
        server.received = []  # type: ignore[attr-defined]
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", server.received  # type: ignore[attr-defined]
        server.shutdown()


def run(way: Way, model: str, collector: str) -> None:
    """Run all scenarios of a way to their end, so that their spans are exported."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(ENVIRONMENTS),
        "PYTHONPATH": os.pathsep.join(map(str, (OWN_PACKAGE, PROGRAMS))),
        "MODEL_SERVER": model,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector,
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
        **way.settings,
    }
    ended = subprocess.run(
        [*_command(way), way.instrumentation, *way.scenarios],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECS,
        check=False,
    )
    if ended.returncode:
        sys.exit(f"{way}: {ended.stderr[-6000:]}")


def _command(way: Way) -> list[str | Path]:
    """Return what runs the program of a way, with the packages of its environment."""
    environment = ENVIRONMENTS / way.framework
    for program in PROGRAMS.rglob(f"{way.program}.py"):
        return [environment / "bin" / "python", program]
    # Node looks for packages where the program stands, so that it is linked to beside them.
    links = ["--preserve-symlinks", "--preserve-symlinks-main"]
    return ["node", *links, environment / "programs" / f"{way.program}.mjs"]


def by_scenario(received: list[tuple[str, Json]]) -> dict[str, dict[str, Json]]:
    """Return one request of spans and one of log records for each scenario."""
    found: dict[str, dict[str, Json]] = {}
    for path, request in received:
        signal = path.rpartition("/")[2]
        kind, scopes = ("Spans", "scopeSpans") if signal == "traces" else ("Logs", "scopeLogs")
        for resource in request.get(f"resource{kind}", []):
            attributes = resource["resource"]["attributes"]
            told = {each["key"]: each["value"].get("stringValue") for each in attributes}
            if told.get("scenario") not in SCENARIOS:
                continue
            requests = found.setdefault(told["scenario"], {})
            whole = requests.setdefault(signal, {f"resource{kind}": [{**resource, scopes: []}]})
            _add(whole[f"resource{kind}"][0][scopes], resource[scopes], kind)
    return found


def _add(scopes: list[Json], more: list[Json], kind: str) -> None:
    """Add spans, or log records, to those of their scope."""
    items = "spans" if kind == "Spans" else "logRecords"
    for scope in more:
        same = [each for each in scopes if each["scope"] == scope["scope"]]
        if same:
            same[0][items] += scope[items]
        else:
            scopes.append(scope)


def capture_file(way: Way) -> Path:
    """Return the file that holds what a way exports."""
    return CAPTURES / f"{way}.json.xz"


def without_folders(text: str, way: Way) -> str:
    """Return what a way told without the folders of this machine, which tracebacks name."""
    interpreter = (ENVIRONMENTS / way.framework / "bin" / "python").resolve()
    return text.replace(str(ROOT), "/project").replace(str(interpreter.parents[1]), "/python")


def main(frameworks: list[str]) -> None:
    """Run the scenarios on the frameworks and rewrite their captures."""
    CAPTURES.mkdir(parents=True, exist_ok=True)
    for way in WAYS:
        if not {way.framework, way.program, str(way)} & set(frameworks):
            continue
        with serving() as model, receiving() as (collector, received):
            run(way, model, collector)
        told = by_scenario(received)
        missing = {*way.scenarios} - {*told} - {*way.silent}
        if missing:
            sys.exit(f"{way}: nothing was exported of {sorted(missing)}")
        text = without_folders(json.dumps(told, ensure_ascii=False, sort_keys=True), way)
        capture_file(way).write_bytes(lzma.compress(text.encode(), preset=9))
        sys.stdout.write(f"{way}: {len(told)} scenarios\n")


if __name__ == "__main__":
    main(sys.argv[1:])
