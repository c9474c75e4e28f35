"""Posts JSON over HTTP: encrypted or to this machine, without redirects, and without proxies."""

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError

from tracegrade.terminal.visible import visible
from tracegrade_collector.edge.address import is_loopback
from tracegrade_collector.errors import ServerUnreachable

MAX_WAIT_SECS: Final = 30
MOST_ANSWER_BYTES: Final = 4 * 1024**2
TRY_AGAIN: Final = (429, 502, 503, 504)
"""Statuses after which a request is sent again."""


class UrlFault(Enum):
    """Why nothing may be sent to a URL."""

    NO_URL = "no_url"
    CREDENTIALS = "credentials"
    NOT_ENCRYPTED = "not_encrypted"


class PostAnswer(NamedTuple):
    """The answer of a server."""

    status: int
    text: str

    def excerpt(self) -> str:
        """Return the status and the beginning of the text, for a message."""
        return f"status {self.status} {visible(self.text[:300])}".rstrip()


def url_fault(url: str) -> UrlFault | None:
    """Return why nothing may be sent to a URL; None if something may."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return UrlFault.NO_URL
    if parts.scheme not in {"http", "https"} or not host:
        return UrlFault.NO_URL
    if parts.username or parts.password:
        return UrlFault.CREDENTIALS
    if parts.scheme == "http" and not is_loopback(host):
        return UrlFault.NOT_ENCRYPTED
    return None


class JsonHttp:
    """One server, over connections that it reuses."""

    def __init__(self, headers: Mapping[str, str], timeout_secs: float, retries: int) -> None:
        """Take the headers of each request, and how often a failed one is sent again."""
        self._pool = urllib3.PoolManager(
            headers={"Content-Type": "application/json", **headers},
            timeout=timeout_secs,
            retries=urllib3.Retry(
                retries,
                redirect=False,
                allowed_methods=None,
                status_forcelist=TRY_AGAIN,
                backoff_factor=0.5,
                backoff_max=MAX_WAIT_SECS,
                retry_after_max=MAX_WAIT_SECS,
                raise_on_status=False,
            ),
        )

    def post(self, url: str, body: bytes) -> PostAnswer:
        """Return the answer to a POST, as `request` does."""
        return self.request("POST", url, body)

    def request(self, method: str, url: str, body: bytes | None = None) -> PostAnswer:
        """Return the answer to a request; a redirect is an answer.

        Raises:
            ServerUnreachable: There is no answer. The message does not have the URL.
        """
        try:
            answer = self._pool.request(
                method, url, body=body, redirect=False, preload_content=False
            )
            text = answer.read(MOST_ANSWER_BYTES)
            answer.release_conn()
        except HTTPError as error:
            raise ServerUnreachable(last_cause(error)) from error
        return PostAnswer(answer.status, text.decode("utf-8", "replace"))


def last_cause(error: HTTPError) -> str:
    """Return what happened the last time, without the address, which urllib3 puts before it."""
    last = error.reason if isinstance(error, MaxRetryError) and error.reason else error
    return visible(str(last).rpartition(": ")[2] or type(last).__name__)
