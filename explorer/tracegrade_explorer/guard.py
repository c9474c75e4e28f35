"""Guards every page: checks the caller, host and origin of requests, and sets security headers.

Loopback is not access control: any user and any page in a browser of this machine reaches it. So a
request must show a token, and name a host of the explorer; otherwise a foreign domain name could
lead to it. A page of another site may not send it, except by a click on a link. A request that
runs a query must come from a page of the explorer, which has a token of its own for that.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tracegrade_collector.edge.address import Address, is_loopback
from tracegrade_collector.edge.tokens import DEFAULT_TENANT, Access, read_access
from tracegrade_collector.errors import Unauthenticated
from tracegrade_explorer.render import ErrorPage, render_error

MAX_URL_BYTES: Final = 8_192
TOKEN_BYTES: Final = 32
POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        *(f"{what} 'self'" for what in ("script-src", "style-src", "img-src", "connect-src")),
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
WRITES: Final = frozenset(
    {"/acknowledge-alert", "/kill-score", "/label", "/mark-issue", "/save-query"}
)
"""Paths whose form writes."""
POSTED: Final = re.compile(rf"/sql(/[^/]+)?(\.csv|\.json|\.parquet)?|{'|'.join(sorted(WRITES))}")
"""Paths that take a form. All others are only read."""
MCP_PATH: Final = "/mcp"
"""The address of the tools of coding agents, if there are any: takes JSON, from programs alone."""
CALLER: Final = "tracegrade.caller"
"""Key of the caller in a request's scope."""
OPEN_TO_ALL: Final = ("/static/",)
"""Paths without a word of the lake, which the page that asks for a token needs."""
METRICS: Final = "/metrics"
"""Path that a scraper may ask for by any host name, such as a pod's address, with its token in a
header. No page makes a browser send that header."""
HEALTH: Final = "/healthz"
"""Health address for probes: needs no token, and accepts any host name."""


class Rules(NamedTuple):
    """The callers that the guard admits."""

    hosts: frozenset[str]
    """Allowed host names of a request, in lower case."""
    knows: Callable[[str], bool] | None
    """Whether a token is valid; None: none is needed."""
    cookie: str
    """The name of the cookie with the token."""
    tls: bool
    mcp: bool = False
    """Whether `MCP_PATH` is served."""


class Caller(NamedTuple):
    """The sender of a request."""

    token: str = ""
    """The token that was shown; '' if none is needed."""
    by_header: bool = False
    """It was shown in a header, as a program does; no page makes a browser send that."""


ANYBODY: Final = Caller()


class PageTokens:
    """Tokens that prove that this process served the page which sent a caller's form.

    Cookies do not prove it: a browser also sends them with requests of a page at another port of
    this host.
    """

    def __init__(self) -> None:
        """Choose a secret for this start."""
        self._secret = secrets.token_bytes(TOKEN_BYTES)

    def of(self, caller: Caller) -> str:
        """Return the token of a caller's pages."""
        text = caller.token.encode("utf-8", "replace")
        return hmac.new(self._secret, text, hashlib.sha256).hexdigest()

    def know(self, caller: Caller, given: str) -> bool:
        """Return whether it is that token, in constant time."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.of(caller).encode())


class Refusal(NamedTuple):
    """Why a request gets no page."""

    status: int
    title: str
    message: str


class Guard:
    """An application that asks another one only what may be asked."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        """Stand before an application."""
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        guarded = self._with_headers(send)
        if scope["path"] == HEALTH and scope["method"] in {"GET", "HEAD"}:
            await PlainTextResponse("ok\n")(scope, receive, guarded)
            return
        refusal = _unfit(scope, headers, self._rules)
        answer: ASGIApp = self._app
        if refusal is not None:
            answer = _refused(scope, refusal)
        elif self._rules.knows and not scope["path"].startswith(OPEN_TO_ALL):
            answer = self._known(scope, headers)
        await answer(scope, receive, guarded)

    def _known(self, scope: Scope, headers: Headers) -> ASGIApp:
        """Return who answers a request that needs a token."""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for key, value in pairs if key == "token"]
        of_program = scope["path"] == MCP_PATH
        if given and not of_program:
            return self._admit(scope["raw_path"], pairs, given[-1])
        for caller in _callers(headers, self._rules.cookie):
            if self._knows(caller.token) and (caller.by_header or not of_program):
                scope[CALLER] = caller
                return self._app
        text = "Open the address that `tracegrade ui` printed; it has the token of this start."
        if of_program:
            text = "Send it in a header, as `Authorization: Bearer TOKEN`."
        return _refused(scope, Refusal(401, "A token is needed", text))

    def _admit(self, path: bytes, pairs: Iterable[tuple[str, str]], token: str) -> ASGIApp:
        """Return what keeps a token in a cookie, and takes it out of the address."""
        if not self._knows(token):
            text = "It is of another start, or mistyped; `tracegrade ui` printed the right one."
            return _page(Refusal(401, "This token is not known", text))
        rest = urlencode([(key, value) for key, value in pairs if key != "token"])
        to = "/" + path.decode("latin-1").lstrip("/\\")  # never another host's
        answer = RedirectResponse(f"{to}?{rest}" if rest else to, 303)
        answer.set_cookie(
            self._rules.cookie, token, httponly=True, samesite="strict", path="/",
            secure=self._rules.tls,
        )  # fmt: skip
        return answer

    def _knows(self, token: str) -> bool:
        return self._rules.knows is None or self._rules.knows(token)

    def _with_headers(self, send: Send) -> Send:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if self._rules.tls:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        return guarded


def new_token() -> str:
    """Return a token that cannot be guessed."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def knows_one(token: str) -> Callable[[str], bool]:
    """Return a function that recognizes this token, in constant time."""
    digest = hashlib.sha256(token.encode()).digest()

    def knows(given: str) -> bool:
        return hmac.compare_digest(
            hashlib.sha256(given.encode("utf-8", "replace")).digest(), digest
        )

    return knows


def knows_file(file: Path) -> Callable[[str], bool]:
    """Return a function that recognizes the tokens of a file of hashed tokens, the lake's own.

    Raises:
        BadCredentials: The file cannot be used.
    """
    access = read_access(file)
    return lambda given: _is_of_lake(access, given)


def _is_of_lake(access: Access, given: str) -> bool:
    try:
        tenant = access.tenant_of_token([f"Bearer {given}"], datetime.now(UTC))
    except Unauthenticated:
        return False
    return tenant == DEFAULT_TENANT


def allowed_hosts(address: Address, names: Iterable[str]) -> frozenset[str]:
    """Return what requests may name as their host: where we listen, and names that lead there."""
    hosts = {address.host, *names}
    if is_loopback(address.host):
        hosts |= {"localhost", "127.0.0.1", "::1"}
    found = set()
    for host in hosts:
        found.add(str(Address(host, address.port)).lower())
        if address.port in {80, 443}:
            found.add(host.lower())
    return frozenset(found)


def _callers(headers: Headers, cookie: str) -> list[Caller]:
    """Return the callers of a request's tokens: the bearer's first, then the cookie's."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    found = [Caller(token.strip(), by_header=True)] if scheme.lower() == "bearer" else []
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(cookie)
        found += [Caller(morsel.value)] if morsel else []
    except CookieError:
        pass
    return found


def _unfit(scope: Scope, headers: Headers, rules: Rules) -> Refusal | None:
    """Return why such a request is refused for every caller; None if it is not."""
    if len(scope["raw_path"]) + len(scope["query_string"]) > MAX_URL_BYTES:
        return Refusal(414, "The address is too long", f"{MAX_URL_BYTES:,} bytes are the most.")
    posts = scope["method"] == "POST" and _takes_posts(scope["path"], rules)
    if not posts and (unread := _unread(scope, rules)):
        return unread
    host = headers.get("host", "").lower()
    if host not in rules.hosts and not _is_scrape(scope["path"], headers, rules):
        return Refusal(
            421, "Another host was meant",
            "The request names an unknown host; `ui --host-name NAME` adds one.",
        )  # fmt: skip
    if posts and not _from_own_page(scope["path"], headers, rules):
        return Refusal(403, "A page of another site asked", "It may link here, and nothing else.")
    if headers.get("sec-fetch-site", "none") in {"cross-site", "same-site"}:
        clicked = headers.get("sec-fetch-mode") == "navigate" and not posts
        if not clicked or headers.get("sec-fetch-dest") != "document":
            return Refusal(
                403, "A page of another site asked", "It may link here, and nothing else."
            )
    return None


def _is_scrape(path: str, headers: Headers, rules: Rules) -> bool:
    """Return whether a scraper asks; the guard checks its token as any other."""
    by_header = headers.get("authorization", "").lower().startswith("bearer ")
    return path == METRICS and rules.knows is not None and by_header


def _takes_posts(path: str, rules: Rules) -> bool:
    return bool(POSTED.fullmatch(path)) or (rules.mcp and path == MCP_PATH)


def _unread(scope: Scope, rules: Rules) -> Refusal | None:
    """Return why a request cannot be one that reads; None if it can."""
    if rules.mcp and scope["path"] == MCP_PATH:
        return Refusal(405, "Tools are called with POST", "There is no stream to read here.")
    if scope["method"] in {"GET", "HEAD"}:
        return None
    return Refusal(405, "Pages are only read", f"{scope['method']} is not for them; use GET.")


def _from_own_page(path: str, headers: Headers, rules: Rules) -> bool:
    """Return whether the browser states that a form comes from one of our pages.

    Requests that write need this statement: from `Sec-Fetch-Site`, else from `Origin`, which is
    `null` for pages that send no referrer, as these pages do. A program sends neither, and shows
    its token in a header.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin", "null")
    if origin != "null" and origin.partition("://")[2].lower() not in rules.hosts:
        return False
    if path not in WRITES or headers.get("authorization"):
        return True
    return site == "same-origin" if site else origin != "null"


def _refused(scope: Scope, refusal: Refusal) -> Response:
    """Return a refusal as a page, or as JSON where programs alone ask."""
    if scope["path"] != MCP_PATH:
        return _page(refusal)
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
    body = {"error": f"{refusal.title}: {refusal.message}"}
    return JSONResponse(body, refusal.status, headers=headers)


def _page(refusal: Refusal) -> Response:
    error_page = ErrorPage(
        refusal.status, refusal.message, refusal.title, token_form=refusal.status == 401
    )
    body = render_error(error_page)
    return Response(body, refusal.status, media_type="text/html; charset=utf-8")
