"""GitHub's REST API, over an encrypted connection or on this machine."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError

from tracegrade.terminal.visible import visible
from tracegrade_ci.errors import CheckRefused, GitHubFailed
from tracegrade_collector.edge.address import is_loopback

TOKENS: Final = ("TRACEGRADE_GITHUB_TOKEN", "GITHUB_TOKEN")
"""Variables that may hold the token, the first that is set."""
TIMEOUT_SECS: Final = 30.0
MOST_ANSWER_BYTES: Final = 256 * 1024**2
MOST_EXCERPT: Final = 300
RETRIES: Final = urllib3.Retry(
    3,
    redirect=False,
    allowed_methods=["GET", "PATCH"],
    status_forcelist=[429, 502, 503, 504],
    backoff_factor=0.5,
    retry_after_max=30,
    raise_on_status=False,
)
"""A comment that was posted but not answered must not be posted twice."""
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_NAMES_OF_FOLDERS: Final = {".", ".."}


def checked_repository(name: str) -> str:
    """Return the name of a repository.

    Raises:
        CheckRefused: It is not like `owner/name`.
    """
    if not _REPOSITORY.fullmatch(name) or _NAMES_OF_FOLDERS & {*name.split("/")}:
        msg = f"--repository must be like owner/name, got {name!r}"
        raise CheckRefused(msg)
    return name


def checked_api(url: str) -> str:
    """Return the URL of an API without a `/` at its end.

    Raises:
        CheckRefused: A token would leave this machine unencrypted, or the URL has other parts.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        msg = f"--api must be like https://api.github.com, got {url!r}"
        raise CheckRefused(msg)
    if parts.username or parts.password or parts.query or parts.fragment:
        msg = "--api has credentials, a query or a fragment in it; give the plain URL"
        raise CheckRefused(msg)
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        msg = f"--api {url} is not encrypted and not on this machine; use https"
        raise CheckRefused(msg)
    return url.rstrip("/")


def token_of(variables: Mapping[str, str]) -> str:
    """Return the token of the environment.

    Raises:
        CheckRefused: There is none, or it cannot be sent.
    """
    token = next((variables[name] for name in TOKENS if variables.get(name)), "")
    if not token:
        msg = f"no token is in {' or '.join(TOKENS)}; pass ${{{{ github.token }}}} as one of them"
        raise CheckRefused(msg)
    if not token.isascii() or not token.isprintable():
        msg = "the token has characters that no token has; check the secret"
        raise CheckRefused(msg)
    return token


class ApiAnswer(NamedTuple):
    """An answer of the API."""

    status: int
    content: bytes
    location: str = ""
    """Where a redirect leads."""

    @property
    def found(self) -> Any:
        """The content as JSON has it; as text if it is none."""
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return self.content[:MOST_EXCERPT].decode("utf-8", "replace")


class GitHubApi:
    """The API of one GitHub, with a token."""

    def __init__(self, url: str, token: str) -> None:
        """Take the URL as `checked_api` returns it."""
        self._url = url
        self._headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "User-Agent": "tracegrade",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        self._pool = urllib3.PoolManager(timeout=TIMEOUT_SECS, retries=RETRIES)

    def request(self, method: str, path: str, body: object = None) -> ApiAnswer:
        """Return the answer to a request.

        Raises:
            GitHubFailed: There is none.
        """
        return self._answer(method, self._url + path, self._headers, body)

    def download(self, path: str) -> ApiAnswer:
        """Return the answer to a GET, from where it redirects to; that gets no token.

        Raises:
            GitHubFailed: There is none, or it is too large.
        """
        answer = self.request("GET", path)
        if answer.status != 302:
            return answer
        return self._answer("GET", _checked_target(answer.location), {}, None)

    def _answer(
        self, method: str, url: str, headers: Mapping[str, str], body: object
    ) -> ApiAnswer:
        data = None if body is None else json.dumps(body).encode()
        try:
            answer = self._pool.request(
                method, url, body=data, headers=headers, redirect=False, preload_content=False
            )
            content = answer.read(MOST_ANSWER_BYTES + 1)
            answer.release_conn()
        except HTTPError as error:
            msg = f"{self._url} cannot be reached: {_cause(error)}; run this again"
            raise GitHubFailed(msg) from error
        if len(content) > MOST_ANSWER_BYTES:
            msg = (
                f"{self._url} answered with more than {MOST_ANSWER_BYTES:,} bytes; "
                "check --repository and the other options"
            )
            raise GitHubFailed(msg)
        return ApiAnswer(answer.status, content, answer.headers.get("Location", ""))

    def failed(self, answer: ApiAnswer, task: str) -> GitHubFailed:
        """Return the error for an answer.

        Args:
            answer: The answer.
            task: What was not done, as in "did not accept the comment".
        """
        found = answer.found
        message = found.get("message") if isinstance(found, dict) else found
        return GitHubFailed(
            f"{self._url} {task}: status {answer.status} {visible(str(message)[:MOST_EXCERPT])}; "
            "check --repository, the other options and the token"
        )


def _checked_target(url: str) -> str:
    """Return the URL that a redirect leads to.

    Raises:
        GitHubFailed: It is not encrypted and not on this machine.
    """
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (
        parts.scheme == "http" and parts.hostname is not None and is_loopback(parts.hostname)
    )
    if not is_safe:
        msg = f"the download redirects to {visible(url[:MOST_EXCERPT])}, which is not encrypted"
        raise GitHubFailed(msg)
    return url


def _cause(error: HTTPError) -> str:
    """Return what happened, without the address, which urllib3 puts before it."""
    reason = getattr(error, "reason", None) or error
    return visible(str(reason).rpartition(": ")[2] or type(reason).__name__)
