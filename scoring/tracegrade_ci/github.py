"""Puts one comment on a pull request, and replaces it in later runs, by GitHub's REST API."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError

from tracegrade.terminal.visible import visible
from tracegrade_ci.errors import CheckRefused, CommentFailed
from tracegrade_collector.edge.address import is_loopback

TOKENS: Final = ("TRACEGRADE_GITHUB_TOKEN", "GITHUB_TOKEN")
"""Variables that may hold the token, the first that is set."""
TIMEOUT_SECS: Final = 30.0
MOST_ANSWER_BYTES: Final = 16 * 1024**2
MOST_PAGES: Final = 50
"""Pages of 100 comments that are searched."""
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
READ_ONLY: Final = {403, 404}
"""Statuses by which GitHub refuses a token that may not write."""
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_NAMES_OF_FOLDERS: Final = {".", ".."}


class PullRequest(NamedTuple):
    """A pull request of a repository."""

    repository: str
    """As `owner/name`."""
    number: int

    @property
    def path(self) -> str:
        """The path of its comments."""
        return f"/repos/{self.repository}/issues/{self.number}/comments"


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


class Comments:
    """The comments of one pull request."""

    def __init__(self, api: str, token: str, pull_request: PullRequest) -> None:
        """Take the API as `checked_api` returns it; the repository is checked as well."""
        self._api = api
        self._pull_request = pull_request
        self._pool = urllib3.PoolManager(
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {token}",
                "Content-Type": "application/json",
                "User-Agent": "tracegrade",
                "X-GitHub-Api-Version": "2022-11-28",
            },
            timeout=TIMEOUT_SECS,
            retries=RETRIES,
        )

    def put(self, text: str) -> str | None:
        """Replace the comment of a bot with the same first line, or else add one.

        Returns:
            The URL of the comment; None if the token may not write.

        Raises:
            CommentFailed: GitHub cannot be reached, or refuses the text.
        """
        first_line = text.partition("\n")[0]
        for number in self._own(first_line):
            path = f"/repos/{self._pull_request.repository}/issues/comments/{number}"
            status, found = self._request("PATCH", path, {"body": text})
            if status == 200:
                return _url(found)
            if status not in READ_ONLY:
                raise self._failed(status, found)
        status, found = self._request("POST", self._pull_request.path, {"body": text})
        if status == 201:
            return _url(found)
        if status in READ_ONLY:
            return None
        raise self._failed(status, found)

    def _own(self, first_line: str) -> Iterator[int]:
        """Yield the ids of the comments of bots with this first line, the oldest first."""
        for page in range(1, MOST_PAGES + 1):
            path = f"{self._pull_request.path}?per_page=100&page={page}"
            status, found = self._request("GET", path)
            if status != 200 or not isinstance(found, list):
                raise self._failed(status, found)
            yield from (each["id"] for each in found if _is_own(each, first_line))
            if len(found) < 100:
                return

    def _request(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        try:
            answer = self._pool.request(
                method, self._api + path, body=data, redirect=False, preload_content=False
            )
            text = answer.read(MOST_ANSWER_BYTES)
            answer.release_conn()
        except HTTPError as error:
            msg = f"{self._api} cannot be reached: {_cause(error)}; run this again"
            raise CommentFailed(msg) from error
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text.decode("utf-8", "replace")

    def _failed(self, status: int, found: object) -> CommentFailed:
        message = found.get("message") if isinstance(found, dict) else found
        return CommentFailed(
            f"{self._api} did not accept the comment: status {status} "
            f"{visible(str(message)[:300])}; check --repository, --pull-request and the token"
        )


def _is_own(comment: object, first_line: str) -> bool:
    if not isinstance(comment, dict) or not isinstance(comment.get("id"), int):
        return False
    body, author = comment.get("body"), comment.get("user")
    is_bot = isinstance(author, dict) and author.get("type") == "Bot"
    return is_bot and isinstance(body, str) and body.splitlines()[:1] == [first_line]


def _url(comment: object) -> str:
    url = comment.get("html_url") if isinstance(comment, dict) else None
    return url if isinstance(url, str) else "the comment"


def _cause(error: HTTPError) -> str:
    """Return what happened, without the address, which urllib3 puts before it."""
    reason = getattr(error, "reason", None) or error
    return visible(str(reason).rpartition(": ")[2] or type(reason).__name__)
