"""A server on loopback that keeps comments and artifacts as GitHub's API does."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

OF_ISSUE = re.compile(r"/repos/([^/]+/[^/]+)/issues/(\d+)/comments")
OF_ARTIFACTS = "/repos/owner/name/actions/artifacts"
OF_COMMENT = re.compile(r"/repos/([^/]+/[^/]+)/issues/comments/(\d+)")
OF_ARCHIVE = re.compile(rf"{OF_ARTIFACTS}/(\d+)/zip")
NOT_FOUND = (404, {"message": "Not Found"})
FORBIDDEN = (403, {"message": "Resource not accessible by integration"})
MOST_CHARACTERS = 65_536


@dataclass
class GitHub:
    """A running server, its comments, and what its token may do."""

    url: str = ""
    authorization: str = "Bearer token"
    bot: str = "github-actions[bot]"
    """Whose token it is: others' comments are not writable."""
    may_write: bool = True
    comments: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    """Method and path of each."""
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    """The newest first, as it lists them."""
    archives: dict[int, bytes] = field(default_factory=dict)
    downloaded_by: list[str | None] = field(default_factory=list)
    """The `Authorization` of each download."""
    answers: list[tuple[int, Any, dict[str, str]]] = field(default_factory=list)
    """Given before the server answers itself."""

    def add(self, body: str, login: str = "github-actions[bot]", kind: str = "Bot") -> int:
        """Add a comment, and return its id."""
        number = len(self.comments) + 1
        user = {"login": login, "type": kind}
        self.comments.append({"id": number, "body": body, "user": user, "html_url": f"c/{number}"})
        return number

    def bodies(self) -> list[str]:
        """Return the texts of all comments."""
        return [comment["body"] for comment in self.comments]

    def upload(self, archive: bytes, name: str = "a", branch: str = "main", **own: Any) -> int:
        """Add an artifact of a job of the repository, and return its id."""
        number = len(self.artifacts) + 1
        job = {"head_branch": branch, "repository_id": 42, "head_repository_id": 42}
        known = {"id": number, "name": name, "expired": False, "workflow_run": job}
        self.artifacts.insert(0, {**known, **own})
        self.archives[number] = archive
        return number

    def answer(
        self, method: str, target: str, headers: Any, data: bytes
    ) -> tuple[int, Any, dict[str, str]]:
        """Return status, body and further headers of the answer to a request."""
        self.requests.append(f"{method} {target}")
        if self.answers:
            return self.answers.pop(0)
        parts = urlsplit(target)
        if parts.path.startswith("/download/"):
            self.downloaded_by.append(headers["Authorization"])
            return 200, self.archives[int(parts.path.rpartition("/")[2])], {}
        if headers["Authorization"] != self.authorization:
            return 401, {"message": "Bad credentials"}, {}
        if parts.path == OF_ARTIFACTS:
            return 200, {"artifacts": self._page_of_artifacts(parse_qs(parts.query))}, {}
        if zipped := OF_ARCHIVE.fullmatch(parts.path):
            return 302, {}, {"Location": f"{self.url}/download/{zipped[1]}?signature=x"}
        return (*self.handle(method, target, data), {})

    def _page_of_artifacts(self, given: dict[str, list[str]]) -> list[dict[str, Any]]:
        size, page = int(given.get("per_page", ["30"])[0]), int(given.get("page", ["1"])[0])
        named = [each for each in self.artifacts if each["name"] == given["name"][0]]
        return named[size * (page - 1) : size * page]

    def handle(self, method: str, target: str, data: bytes) -> tuple[int, Any]:
        """Return status and body of the answer to a request with the token."""
        parts = urlsplit(target)
        of_issue, of_comment = OF_ISSUE.fullmatch(parts.path), OF_COMMENT.fullmatch(parts.path)
        if method == "GET" and of_issue and of_issue[1] == "owner/name":
            given = parse_qs(parts.query)
            size, page = int(given["per_page"][0]), int(given["page"][0])
            return 200, self.comments[size * (page - 1) : size * page]
        if method == "GET" or not (of_issue or of_comment):
            return NOT_FOUND
        if not self.may_write:
            return FORBIDDEN
        body = json.loads(data)["body"]
        if len(body) > MOST_CHARACTERS:
            return 422, {"message": "Validation Failed"}
        if method == "POST":
            return 201, self.comments[self.add(body, self.bot) - 1]
        return self._patch(int(of_comment[2]) if of_comment else 0, body)

    def _patch(self, number: int, body: str) -> tuple[int, Any]:
        found = next((each for each in self.comments if each["id"] == number), None)
        if found is None:
            return NOT_FOUND
        if found["user"]["login"] != self.bot:
            return FORBIDDEN
        found["body"] = body
        return 200, found


class _Handler(BaseHTTPRequestHandler):
    """Answers one request after the other for the server's comments."""

    def answer(self) -> None:
        """Answer as the server says."""
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server: Any = self.server
        with server.lock:
            status, body, extra = server.github.answer(self.command, self.path, self.headers, data)
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(text)), **extra}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def do_PATCH(self) -> None:
        self.answer()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def github() -> Iterator[GitHub]:
    """Yield a running server."""
    found = GitHub()
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads, server.lock, server.github = True, threading.Lock(), found
    found.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
