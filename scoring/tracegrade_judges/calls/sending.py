"""Sends one request of a judge to its endpoint over HTTP, and returns what came back."""

from typing import Final, NamedTuple, Protocol

import httpx2

from tracegrade_judges.calls.answers import MAX_BYTES

HEADERS: Final = frozenset({"content-type", "accept", "user-agent"})
"""Sent with every request."""


class AnswerTooLong(Exception):
    """An answer has more bytes than any verdict."""


class ModelFailed(Exception):
    """The program that asks the model failed; its text is the type of the failure."""


class SentAnswer(NamedTuple):
    """The answer of an endpoint, as it was sent."""

    status: int
    body: bytes
    retry_after: str | None = None


class Sender(Protocol):
    """Sends requests to one judge's model."""

    async def send(self, request: httpx2.Request, headers: frozenset[str]) -> SentAnswer:
        """Send a request, with these headers alone.

        Raises:
            AnswerTooLong: The answer has too many bytes.
            ModelFailed: The program that asks the model failed.
            httpx2.TransportError: The endpoint cannot be reached, or broke off.
        """

    async def close(self) -> None:
        """Close the connections."""


class HttpSender:
    """Sends requests over HTTP, to the URL that they name."""

    def __init__(self) -> None:
        """Open no connection yet."""
        self._client = httpx2.AsyncClient(follow_redirects=False, timeout=None)

    async def send(self, request: httpx2.Request, headers: frozenset[str]) -> SentAnswer:
        """Send a request, with these headers alone.

        Raises:
            AnswerTooLong: The answer has too many bytes.
        """
        sent = {
            name: value for name, value in request.headers.items() if name in HEADERS | headers
        }
        async with self._client.stream(
            "POST", str(request.url), headers=sent, content=request.content
        ) as response:
            body = b""
            async for part in response.aiter_bytes():
                body += part
                if len(body) > MAX_BYTES:
                    raise AnswerTooLong
            return SentAnswer(response.status_code, body, response.headers.get("retry-after"))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()
