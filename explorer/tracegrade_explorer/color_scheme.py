"""Light or dark: the setting of the reader's system, or the reader's choice in a cookie.

A choice is a parameter of any page's address, so that a button needs no script; the answer takes
it out of the address again.
"""

from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter

PARAMETER: Final = "scheme"
COOKIE: Final = "tracegrade_scheme"
SCHEMES: Final = ("light", "dark")
SYSTEM: Final = "system"
"""Asks for no choice."""
REMEMBERED_SECS: Final = 365 * 86_400


def chosen(request: Request) -> str:
    """Return the reader's choice; '' if the system decides."""
    found = request.cookies.get(COOKIE, "")
    return found if found in SCHEMES else ""


def own_path(request: Request) -> str:
    """Return the path of an address as it was written, never one of another host."""
    written: bytes = request.scope["raw_path"]
    return "/" + written.decode("latin-1").lstrip("/\\")


def remember(request: Request) -> Response | None:
    """Return a redirect to the same page with a cookie for the choice; None without a choice.

    Raises:
        BadFilter: There is no such scheme.
    """
    pairs = parse_qsl(request.url.query, keep_blank_values=True)
    given = [value for key, value in pairs if key == PARAMETER]
    if not given:
        return None
    if given[-1] not in (*SCHEMES, SYSTEM):
        msg = f"scheme={given[-1][:80]} is not known; known: {', '.join((*SCHEMES, SYSTEM))}"
        raise BadFilter(msg)
    path = own_path(request)
    rest = [pair for pair in pairs if pair[0] != PARAMETER]
    answer = RedirectResponse(links.with_query(path, rest), 303)
    answer.set_cookie(
        COOKIE, given[-1], max_age=0 if given[-1] == SYSTEM else REMEMBERED_SECS, path="/",
        httponly=True, samesite="strict", secure=request.url.scheme == "https",
    )  # fmt: skip
    return answer
