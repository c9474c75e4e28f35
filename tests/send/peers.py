"""Servers on loopback that identify scores as Phoenix, Langfuse, MLflow, Datadog and OTLP ones do.

Phoenix: an annotation is identified by name, trace and identifier; one unknown trace refuses a
whole call. Langfuse: a score is identified by id, name and the date of its timestamp. OTLP
receivers keep every record, and so does Datadog, which documents no other rule. MLflow gives each
new assessment and issue an id, and changes or deletes one by its id.
"""

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)


@dataclass
class Peer:
    """A running server and what it has."""

    url: str = ""
    rows: dict[tuple[str, ...], Any] = field(default_factory=dict)
    """Scores by what identifies them."""
    records: list[Any] = field(default_factory=list)
    """Log records, or evaluations of Datadog, as they came."""
    issues: dict[str, Any] = field(default_factory=dict)
    """Issues of MLflow, by the id that they were given."""
    received: list[tuple[str, bytes]] = field(default_factory=list)
    """Paths and bodies of all requests."""
    unknown: set[str] = field(default_factory=set)
    """Traces, spans and sessions that it does not have."""
    requests: int = 0
    authorization: str = ""
    on_request: Callable[[int], None] = lambda _: None
    """Called with the number of a request after it was handled, before the answer."""
    answer_first: Callable[[int], tuple[int, Any] | None] = lambda _: None
    """Returns an answer in place of the peer's own, without handling the request; or None."""
    headers: dict[str, str] = field(default_factory=dict)
    """Of such an answer."""

    def handle(self, method: str, path: str, data: bytes) -> tuple[int, Any]:
        """Return the answer to a request, as the peer of its path gives it."""
        if path == "/v1/logs":
            request = ExportLogsServiceRequest.FromString(gzip.decompress(data))
            self.records += request.resource_logs[0].scope_logs[0].log_records
            return 200, ExportLogsServiceResponse().SerializeToString()
        return self.handle_json(method, path, json.loads(data or b"null"))

    def handle_json(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Return the answer to a request of JSON."""
        if path.startswith("/api/3.0/mlflow/traces/"):
            return self.mlflow(method, path, body)
        if path.startswith("/api/3.0/mlflow/issues"):
            return self.mlflow_issues(path, body)
        if path == "/api/intake/llm-obs/v2/eval-metric":
            self.records += body["data"]["attributes"]["metrics"]
            return 202, {}
        for target in ("trace", "span", "session"):
            if path == f"/v1/{target}_annotations?sync=true":
                return self.phoenix(body, f"{target}_id", f"{target.title()}s")
        return self.langfuse(body) if path == "/api/public/scores" else (404, {"detail": "none"})

    def phoenix(self, body: Any, target: str, plural: str) -> tuple[int, Any]:
        """Upsert annotations, all or none."""
        missing = {row[target] for row in body["data"]} & self.unknown
        if missing:
            return 404, f"{plural} with IDs {', '.join(sorted(missing))} do not exist.".encode()
        for row in body["data"]:
            self.rows[row["name"], row[target], row["identifier"]] = row
        return 200, {"data": [{"id": f"{number}"} for number in range(len(body["data"]))]}

    def mlflow(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Add an assessment under a new id, change one by its id, or return those of a trace."""
        trace, _, of_trace = path.removeprefix("/api/3.0/mlflow/traces/").partition("/")
        if trace.removeprefix("tr-") in self.unknown or not trace.startswith("tr-"):
            return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no such trace"}
        if method == "GET":
            found = [row for (of, *_), row in self.rows.items() if of == trace]
            place = {"mlflow_experiment": {"experiment_id": "7"}}
            of_it = {"trace_id": trace, "trace_location": place, "assessments": found}
            return 200, {"trace": {"trace_info": of_it}}
        number = of_trace.removeprefix("assessments").removeprefix("/")
        if method != "POST" and (trace, number) not in self.rows:
            return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no such id"}
        if method == "DELETE":
            del self.rows[trace, number]
            return 200, {}
        if method == "PATCH":
            names = body["update_mask"].split(",")
            self.rows[trace, number] |= {name: body["assessment"][name] for name in names}
        else:
            number = f"a-{self.requests}"
            self.rows[trace, number] = {**body["assessment"], "assessment_id": number}
        return 200, {"assessment": self.rows[trace, number]}

    def mlflow_issues(self, path: str, body: Any) -> tuple[int, Any]:
        """Add an issue to an experiment, or return those of one, two at a time."""
        if path.endswith("/search"):
            found = [row for row in self.issues.values() if row["experiment_id"] == "7"]
            first = int(body.get("page_token", 0))
            token = str(first + 2) if first + 2 < len(found) else ""
            return 200, {"issues": found[first : first + 2], "next_page_token": token}
        number = f"iss-{self.requests}"
        self.issues[number] = {**body, "issue_id": number}
        return 200, {"issue": self.issues[number]}

    def langfuse(self, body: Any) -> tuple[int, Any]:
        """Upsert scores; a list is accepted as a whole."""
        for row in body if isinstance(body, list) else [body]:
            self.rows[row["id"], row["name"], row["timestamp"][:10]] = row
        return (202, {}) if isinstance(body, list) else (200, {"id": body["id"]})


def _handler(found: Peer) -> type[BaseHTTPRequestHandler]:
    """Return what answers each request as the peer does, one at a time."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with lock:
                found.requests += 1
                found.received.append((self.path, data))
                found.authorization = self.headers.get("Authorization", "")
                answer = found.answer_first(found.requests)
                extra = found.headers if answer else {}
                status, body = answer or found.handle(self.command, self.path, data)
                found.on_request(found.requests)
            text = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(text)), **extra}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self) -> None:
            self.do_POST()

        def do_PATCH(self) -> None:
            self.do_POST()

        def do_DELETE(self) -> None:
            self.do_POST()

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    return Handler


@contextmanager
def peer() -> Iterator[Peer]:
    """Yield a server of all five."""
    found = Peer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(found))
    server.daemon_threads = True
    found.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
