"""Sends JSON to the HTTP endpoint of a destination, and explains why it is refused."""

import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from tracegrade_collector.edge.json_http import JsonHttp, PostAnswer, UrlFault, url_fault
from tracegrade_collector.errors import ServerUnreachable
from tracegrade_send.errors import SendFailed, SendRefused

TIMEOUT_SECS: Final = 60.0
RETRIES: Final = 3


NO_API: Final = "; it has no such API: check --to and --endpoint"


def checked_endpoint(url: str) -> str:
    """Return the URL of an endpoint without a `/` at its end.

    Raises:
        SendRefused: It is no URL of http or https, has credentials in it, or would carry keys over
            a network without encryption.
    """
    fault = url_fault(url)
    if fault is UrlFault.NO_URL:
        msg = f"--endpoint must be like https://phoenix.example.com, got {url!r}"
        raise SendRefused(msg)
    if fault is UrlFault.CREDENTIALS or urlsplit(url).query:
        msg = (
            "--endpoint has credentials or a query in it; give keys as TRACEGRADE_SEND_* variables"
        )
        raise SendRefused(msg)
    if fault is UrlFault.NOT_ENCRYPTED:
        msg = f"--endpoint {url} is not encrypted and not on this machine; use https"
        raise SendRefused(msg)
    return url.rstrip("/")


class JsonEndpoint:
    """One endpoint, over connections that it reuses."""

    def __init__(self, url: str, headers: Mapping[str, str], retries: int = RETRIES) -> None:
        """Take its URL, as `checked_endpoint` returns it, and the headers with the keys."""
        self._url = url
        self._http = JsonHttp(headers, TIMEOUT_SECS, retries)

    def post(self, path: str, body: object) -> PostAnswer:
        """Return the answer to a POST, as `request` does."""
        return self.request("POST", path, body)

    def request(self, method: str, path: str, body: object = None) -> PostAnswer:
        """Return the answer to a request.

        Raises:
            SendFailed: There is none, or it redirects, or the keys are not accepted.
        """
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        try:
            answer = self._http.request(method, self._url + path, data)
        except ServerUnreachable as error:
            raise self._failed(str(error)) from error
        remedy = _remedy(answer.status)
        if remedy is None:
            return answer
        cause = answer.excerpt() + remedy
        raise self._failed(cause)

    def no_api(self, answer: PostAnswer) -> SendFailed:
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
