"""Reads a form that a page sent, with limits on its size and its encoding."""

from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from tracegrade_explorer.errors import FormRefused

PAGE_TOKEN: Final = "page_token"  # noqa: S105 - the name of a field
"""In which a form shows what page it is of."""
MEDIA_TYPE: Final = "application/x-www-form-urlencoded"
MAX_BYTES: Final = 262_144
"""Size of a form with a long query."""
MAX_FIELDS: Final = 1_000
LABEL_BYTES: Final = 16_384
"""Size of a form that labels a run."""
_SHORTER: Final = {True: "ask `tracegrade sql -` instead", False: "write a shorter note"}


async def posted_pairs(request: Request, most: int = MAX_BYTES) -> list[tuple[str, str]]:
    """Return the fields of a form in their order.

    Args:
        request: That sent it.
        most: Bytes that it may have.

    Raises:
        FormRefused: It is not a form, or too long.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != MEDIA_TYPE:
        msg = f"a form is needed, got {media_type[:80] or 'nothing'}; send {MEDIA_TYPE}"
        raise FormRefused(msg)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            msg = f"the form has more than {most:,} bytes; {_SHORTER[most == MAX_BYTES]}"
            raise FormRefused(msg)
    # A browser always ends lines with CR LF.
    text = body.decode("utf-8", "replace")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        msg = f"the form has more than {MAX_FIELDS:,} fields; leave some out"
        raise FormRefused(msg) from error
    return [(name, value.replace("\r\n", "\n")) for name, value in pairs]


def without_token(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the fields that are a reader's own."""
    return [pair for pair in pairs if pair[0] != PAGE_TOKEN]
