"""A live service behind a proxy: requests are passed to it unchanged."""

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

import urllib3

from tracegrade_harness.proxy.messages import Headers, ProxiedReply, ProxiedRequest

ANSWER_SECS: Final = 120.0
MAX_REPLY_BYTES: Final = 64 << 20
_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_REPLACED: Final = frozenset({"host", "content-length", "accept-encoding"})


class UpstreamFailed(Exception):
    """A service gave no reply."""


UpstreamHandler = Callable[[ProxiedRequest], ProxiedReply]
"""Returns the reply to a request, or raises `UpstreamFailed`."""


class LiveUpstream:
    """A service at a URL."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        """Prepare.

        Args:
            url: The URL to which the paths of requests are added.
            headers: Headers that replace the agent's own; keys are among them.
        """
        self._base = url.rstrip("/")
        self._headers = headers
        # Pools are usable from any thread; the proxy limits an agent's open requests.
        self._pool = urllib3.PoolManager(retries=False, timeout=ANSWER_SECS, maxsize=16)

    def __call__(self, request: ProxiedRequest) -> ProxiedReply:
        """Return the reply to a request, in the chunks in which it arrived.

        Raises:
            UpstreamFailed: There is none, it is too large, or the path would lead elsewhere.
        """
        if request.path[:1] not in {"", "/"}:  # otherwise `@host` would receive the headers
            msg = f"the path '{request.path}' does not begin with '/'; ask for one that does"
            raise UpstreamFailed(msg)
        own = {name.lower() for name in self._headers} | _HOP_BY_HOP | _REPLACED
        forwarded = [(name, value) for name, value in request.headers if name.lower() not in own]
        try:
            reply = self._pool.request(
                request.method,
                self._base + request.target,
                body=request.body or None,
                headers=urllib3.HTTPHeaderDict([*forwarded, *self._headers.items()]),
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
            with reply:
                return ProxiedReply(reply.status, self._passed_back(reply), _chunks(reply))
        except urllib3.exceptions.HTTPError as error:
            host = urlsplit(self._base).netloc.rpartition("@")[2]
            msg = f"{host} gives no reply: {error}"
            raise UpstreamFailed(msg) from error

    def _passed_back(self, reply: urllib3.BaseHTTPResponse) -> Headers:
        return tuple(
            (name, value.removeprefix(self._base) if name.lower() == "location" else value)
            for name, value in reply.headers.items()
            if name.lower() not in _HOP_BY_HOP
        )


def _chunks(reply: urllib3.BaseHTTPResponse) -> tuple[bytes, ...]:
    chunks, size = [], 0
    for chunk in reply.stream(MAX_REPLY_BYTES):
        size += len(chunk)
        if size > MAX_REPLY_BYTES:
            msg = f"a reply of more than {MAX_REPLY_BYTES} bytes"
            raise UpstreamFailed(msg)
        chunks.append(chunk)
    return tuple(chunks)
