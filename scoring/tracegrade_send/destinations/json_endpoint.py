"""Sends JSON to an HTTP endpoint: encrypted or on this machine, without redirects or proxies."""

import json
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError

from tracegrade.terminal.visible import visible
from tracegrade_collector.edge.address import is_loopback
from tracegrade_send.errors import SendFailed, SendRefused

TIMEOUT_SECS: Final = 60.0
MAX_WAIT_SECS: Final = 30
MOST_ANSWER_BYTES: Final = 4 * 1024**2
RETRIES: Final = urllib3.Retry(
    3,
    redirect=False,
    allowed_methods=None,
    status_forcelist=[429, 502, 503, 504],
    backoff_factor=0.5,
    backoff_max=MAX_WAIT_SECS,
    retry_after_max=MAX_WAIT_SECS,
    raise_on_status=False,
)


NO_API: Final = "; it has no such API: check --to and --endpoint"


class EndpointAnswer(NamedTuple):
    """The answer of an endpoint."""

    status: int
    text: str

    def excerpt(self) -> str:
        """Return the status and the beginning of the text, for a message."""
        return f"status {self.status} {visible(self.text[:300])}".rstrip()


def checked_endpoint(url: str) -> str:
    """Return the URL of an endpoint without a `/` at its end.

    Raises:
        SendRefused: It is no URL of http or https, has credentials in it, or would carry keys over
            a network without encryption.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        msg = f"--endpoint must be like https://phoenix.example.com, got {url!r}"
        raise SendRefused(msg)
    if parts.username or parts.password or parts.query:
        msg = (
            "--endpoint has credentials or a query in it; give keys as TRACEGRADE_SEND_* variables"
        )
        raise SendRefused(msg)
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        msg = f"--endpoint {url} is not encrypted and not on this machine; use https"
        raise SendRefused(msg)
    return url.rstrip("/")


class JsonEndpoint:
    """One endpoint, over connections that it reuses."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        """Take its URL, as `checked_endpoint` returns it, and the headers with the keys."""
        self._url = url
        self._pool = urllib3.PoolManager(
            headers={"Content-Type": "application/json", **headers},
            timeout=TIMEOUT_SECS,
            retries=RETRIES,
        )

    def post(self, path: str, body: object) -> EndpointAnswer:
        """Return the answer to a POST.

        Raises:
            SendFailed: There is none, or it redirects, or the keys are not accepted.
        """
        data = json.dumps(body, allow_nan=False).encode()
        try:
            answer = self._pool.request(
                "POST", self._url + path, body=data, redirect=False, preload_content=False
            )
            text = answer.read(MOST_ANSWER_BYTES)
            answer.release_conn()
        except HTTPError as error:
            raise self._failed(_cause(error)) from error
        return self._checked(EndpointAnswer(answer.status, text.decode("utf-8", "replace")))

    def _checked(self, answer: EndpointAnswer) -> EndpointAnswer:
        remedy = _remedy(answer.status)
        if remedy is None:
            return answer
        cause = answer.excerpt() + remedy
        raise self._failed(cause)

    def no_api(self, answer: EndpointAnswer) -> SendFailed:
        """Return the error for an address that the endpoint does not know."""
        return self._failed(answer.excerpt() + NO_API)

    def _failed(self, cause: str) -> SendFailed:
        return SendFailed(f"{self._url} did not accept the scores: {cause}")


def _remedy(status: int) -> str | None:
    """Return what to do where an endpoint refuses all; None where it answers about scores."""
    if status in {401, 403}:
        return "; check the TRACEGRADE_SEND_* variables"
    if 300 <= status < 400:
        return "; it redirects: give the final address"
    if status == 405:
        return NO_API
    return "" if status >= 500 or status == 429 else None


def _cause(error: HTTPError) -> str:
    """Return what happened the last time, without the address, which urllib3 puts before it."""
    last = error.reason if isinstance(error, MaxRetryError) and error.reason else error
    return visible(str(last).rpartition(": ")[2] or type(last).__name__)
