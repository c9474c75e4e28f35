"""Routes page addresses, and turns answers and errors into HTML, JSON, CSV or text."""

import asyncio
import logging
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import partial
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

import orjson
from duckdb import DuckDBPyConnection
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from tracegrade.errors import BadInput, TracegradeError
from tracegrade.terminal.visible import visible_text
from tracegrade_explorer import color_scheme, links, reader_zone, render
from tracegrade_explorer.alerts.acknowledge import acknowledge_alert
from tracegrade_explorer.alerts.metrics import metrics
from tracegrade_explorer.alerts.page import alert, alerts
from tracegrade_explorer.errors import FormRefused, PageMissing, RunMissing, TooSlow
from tracegrade_explorer.forms import (
    LABEL_BYTES,
    MAX_BYTES,
    PAGE_TOKEN,
    posted_pairs,
    without_token,
)
from tracegrade_explorer.guard import ANYBODY, CALLER, Caller, PageTokens
from tracegrade_explorer.labels.people import NameOf
from tracegrade_explorer.labels.writer import LabelWriter
from tracegrade_explorer.money.page import money
from tracegrade_explorer.pages.compare import compare, nearest
from tracegrade_explorer.pages.completions import completions
from tracegrade_explorer.pages.conversations import conversation, conversations
from tracegrade_explorer.pages.issues import issue, issues, mark_issue
from tracegrade_explorer.pages.kill_score import kill_score
from tracegrade_explorer.pages.kills import kill, kills
from tracegrade_explorer.pages.label import label, queue
from tracegrade_explorer.pages.now import former_overview, now
from tracegrade_explorer.pages.releases import releases
from tracegrade_explorer.pages.run import run, text
from tracegrade_explorer.pages.runs import runs
from tracegrade_explorer.pages.search import search_page
from tracegrade_explorer.pages.spans import spans
from tracegrade_explorer.pages.sql import former_queries, save_query, saved_sql, sql
from tracegrade_explorer.pages.sql_names import sql_names
from tracegrade_explorer.pages.state import state
from tracegrade_explorer.pages.tasks import task, tasks
from tracegrade_explorer.pages.to_label import unlabeled_count
from tracegrade_explorer.pages.trends import trends
from tracegrade_explorer.render import ErrorPage, ErrorQuery
from tracegrade_explorer.responses import (
    Download,
    PageContent,
    PageRequest,
    PageResponse,
    PlainText,
    Redirect,
    Site,
)
from tracegrade_explorer.snapshots.latest import LatestSnapshot
from tracegrade_explorer.upkeep.free_memory import FreeMemory, return_free_memory
from tracegrade_explorer.upkeep.upkeep import NO_UPKEEP, LakeUpkeep
from tracegrade_explorer.workbench.draft import own_draft, saved_draft
from tracegrade_scoring.errors import NothingToCompare

WORKERS: Final = 8
"""Pages that are made at once; the engine's threads are shared by them."""
MOST_REQUESTS: Final = 32
"""Under way or waiting; more are asked to come back."""
MOST_CONDITIONS: Final = 30
"""Conditions of an address that an error page shows, each with a link that drops it."""
PAGE_SECS: Final = 5.0
"""Time limit of a page, unless another one is given."""
SLOW: Final = 12
"""Times as long may pages take that read the whole lake."""
ICON: Final = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" '
    b'rx="3" fill="#2b5f8a"/><path d="M3 12V8M7 12V4M11 12V6" stroke="#fff" stroke-width="2"/>'
    b"</svg>"
)
TEXT: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"
PIECE_BYTES: Final = 1 << 16
"""A file is sent in pieces of this size."""
TITLES: Final = {
    400: "This cannot be understood", 403: "Nothing was run", 404: "Not in this lake",
    405: "Only a form is sent here", 409: "The run is gone", 503: "Too slow",
}  # fmt: skip
"""Titles of errors, by status."""

logger = logging.getLogger(__name__)


class AnyName(Convertor[str]):
    """A name in an address: any name from a trace, including slashes and line ends."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        """Return the name."""
        return value

    def to_string(self, value: str) -> str:
        """Return the name."""
        return value


register_url_convertor("name", AnyName())


class PageRoute(NamedTuple):
    """The handler of an address."""

    path: str
    make: Callable[[PageRequest], PageResponse]
    slower: int = 1
    """Factor of its time limit."""
    methods: tuple[str, ...] = ("GET",)
    most_bytes: int = MAX_BYTES
    """Maximum size of a form."""


PAGES: Final = (
    PageRoute("/", now),
    PageRoute("/now", now),
    PageRoute("/overview", former_overview),
    PageRoute("/state", state),
    PageRoute("/runs", runs),
    PageRoute("/completions", completions),
    PageRoute("/runs/{id}/steps/{step}/{text}", text),
    PageRoute("/runs/{id}/spans", spans),
    PageRoute("/runs/{id}/kill", kill),
    PageRoute("/runs/{id}/nearest", nearest, SLOW),
    PageRoute("/runs/{id}", run),
    PageRoute("/label", label, SLOW, ("POST",), LABEL_BYTES),
    PageRoute("/kill-score", kill_score, SLOW, ("POST",), LABEL_BYTES),
    PageRoute("/queue", queue, SLOW),
    PageRoute("/compare", compare),
    PageRoute("/releases", releases, SLOW),
    PageRoute("/kills", kills),
    PageRoute("/money", money, SLOW),
    PageRoute("/issues", issues, SLOW),
    PageRoute("/issues/{id}", issue, SLOW),
    PageRoute("/mark-issue", mark_issue, SLOW, ("POST",), LABEL_BYTES),
    PageRoute("/alerts", alerts),
    PageRoute("/alerts/{id}", alert),
    PageRoute("/acknowledge-alert", acknowledge_alert, SLOW, ("POST",), LABEL_BYTES),
    PageRoute("/metrics", metrics, SLOW),
    PageRoute("/tasks", tasks),
    PageRoute("/tasks/{id:name}", task, SLOW),
    PageRoute("/trends", trends),
    PageRoute("/conversations", conversations, SLOW),
    PageRoute("/conversations/{id:name}", conversation, SLOW),
    PageRoute("/search", search_page, SLOW),
    PageRoute("/queries", former_queries),
    PageRoute("/queries/{id}", former_queries),
    PageRoute("/sql", sql, SLOW, ("GET", "POST")),
    PageRoute("/sql-names", sql_names, SLOW),
    PageRoute("/sql/{id}", saved_sql, SLOW, ("GET", "POST")),
    PageRoute("/save-query", save_query, SLOW, ("POST",)),
)


class PageAddress(NamedTuple):
    """The page that a request addresses, as in `PageRequest`."""

    path: Mapping[str, str]
    pairs: list[tuple[str, str]]
    form: str
    scheme: str
    zone: tzinfo
    posted: bool
    page_token: str
    labeler: str
    is_live: bool


class Labeling(NamedTuple):
    """The parts that labeling needs."""

    name_of: NameOf
    writer: LabelWriter


@dataclass
class Explorer:
    """The pages over one lake."""

    latest: LatestSnapshot
    site: Site
    page_secs: float = PAGE_SECS
    """Time limit of a page."""

    tokens: PageTokens = field(default_factory=PageTokens)
    """Tokens in the forms of our pages."""
    labeling: Labeling | None = None
    """None: labeling is off."""
    upkeep: LakeUpkeep | None = None
    """None: the lake is only shown."""

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="page")
        self._under_way = 0
        self._spare = ThreadPoolExecutor(1, thread_name_prefix="ahead")
        self._made_ahead: set[object] = set()
        self._free_memory = FreeMemory()

    def app(self, added: Starlette | None = None) -> Starlette:
        """Return the application, without its guard.

        Args:
            added: Another application, at addresses of its own.
        """
        routes = [
            Route(path, partial(self._answer, page), methods=page.methods)
            for page in PAGES
            for path in _paths(page)
        ]
        routes += [Route(path, _static, methods=["GET"]) for path in STATIC]
        return Starlette(
            routes=[*routes, *(added.routes if added else ())],
            lifespan=added.router.lifespan_context if added else None,
            middleware=[Middleware(GZipMiddleware, minimum_size=1_000)],
            exception_handlers={HTTPException: self._no_such_page},
        )

    def close(self) -> None:
        """Wait for pages under way."""
        self._pool.shutdown()
        self._spare.shutdown(cancel_futures=True)
        if self.labeling:
            self.labeling.writer.close()

    async def data(
        self, page: PageRoute, names: Mapping[str, str], pairs: Sequence[tuple[str, str]] = ()
    ) -> Any:
        """Return what a page has for programs, for one in this process.

        Args:
            page: The page, which need not have an address.
            names: The names in its path.
            pairs: The parameters of its address.

        Raises:
            TooSlow: It took too long, or too many are under way.
            TracegradeError: What the page raises.
        """
        address = PageAddress(dict(names), [*pairs], "json", "", UTC, False, "", "", False)
        answer, body = await self._made(page, address)
        return answer.text if isinstance(answer, PlainText) else orjson.loads(body)

    async def _answer(self, page: PageRoute, request: Request) -> Response:
        address = self._address(request)
        try:
            if redirect := color_scheme.remember(request):
                return redirect
            if address.posted:
                address = address._replace(pairs=await posted_pairs(request, page.most_bytes))
                self._check_token(address, request.scope.get(CALLER, ANYBODY))
                address = address._replace(pairs=without_token(address.pairs))
            answer, body = await self._made(page, address)
        except TracegradeError as error:
            return self._error(page, request, address, _status(error), str(error))
        except Exception:
            logger.exception("the page %s failed", request.url.path)
            text = "This page failed; the explorer's terminal says why."
            return self._error(page, request, address, 500, text)
        if isinstance(answer, Redirect):
            return RedirectResponse(answer.to, 303)
        if isinstance(answer, Download):
            return _sent(answer)
        status = answer.status if isinstance(answer, PageContent) else 200
        return Response(body, status, media_type=_media_type(answer, address.form))

    def _address(self, request: Request) -> PageAddress:
        path, form = _named(request)
        caller = request.scope.get(CALLER, ANYBODY)
        given = parse_qsl(request.url.query, keep_blank_values=True)
        pairs = [pair for pair in given if pair[0] != render.LIVE]
        return PageAddress(
            path, pairs, form, color_scheme.chosen(request), reader_zone.chosen(request),
            request.method == "POST", self.tokens.of(caller),
            self.labeling.name_of(caller.token) if self.labeling else "", pairs != given,
        )  # fmt: skip

    def _check_token(self, address: PageAddress, caller: Caller) -> None:
        """Return if one of our pages sent this caller's form, or a program shows its token.

        Raises:
            FormRefused: Another page may have sent it.
        """
        given = dict(address.pairs).get(PAGE_TOKEN, "")
        if not (caller.by_header or self.tokens.know(caller, given)):
            msg = "the form is not of this start of the explorer, or not of yours; send it again"
            raise FormRefused(msg)

    def _error(
        self, page: PageRoute, request: Request, address: PageAddress, status: int, message: str
    ) -> Response:
        """Return the page of an error, with the query or the conditions that led to it."""
        query = self._error_query(page, address)
        error_page = ErrorPage(status, message, TITLES.get(status, "Something failed"))
        error_page = error_page._replace(site=self.site, scheme=address.scheme, query=query)
        if not query and not address.posted and len(address.pairs) <= MOST_CONDITIONS:
            error_page = error_page._replace(
                path=color_scheme.own_path(request), pairs=address.pairs
            )
        return _error(error_page, address.form)

    def _error_query(self, page: PageRoute, address: PageAddress) -> ErrorQuery | None:
        """Return the query of a request; None for another page or an unknown query."""
        if page.make not in {sql, saved_sql, save_query}:
            return None
        name = address.path.get("id")
        own = own_draft(address.pairs)
        draft = saved_draft(self.site.lake, name, address.pairs) if name else own
        if draft is None or not (draft.name or self.site.sql):
            return None
        action = links.saved_query(draft.name) if draft.name else "/sql"
        return ErrorQuery(draft.text, draft.fields, address.page_token, action, self.site.sql)

    def _no_such_page(self, request: Request, error: Exception) -> Response:
        status, text = 404, "No page has this address; the menu of any page leads to all."
        if isinstance(error, HTTPException) and error.status_code == 405:
            status, text = 405, "A form of another page is sent here; this address shows nothing."
        error_page = ErrorPage(status, text, TITLES[status], self.site)
        error_page = error_page._replace(scheme=color_scheme.chosen(request))
        return _error(error_page, "html")

    async def _made(self, page: PageRoute, address: PageAddress) -> tuple[PageResponse, bytes]:
        """Return an answer and its bytes, made in a thread.

        Raises:
            TooSlow: It took too long, or too many are under way.
            TracegradeError: What the page raises.
        """
        if self._under_way >= MOST_REQUESTS:
            msg = f"{MOST_REQUESTS} pages are under way; try again in a moment"
            raise TooSlow(msg)
        secs = self.page_secs * page.slower
        self._under_way += 1
        cursors: list[DuckDBPyConnection] = []
        made = asyncio.wrap_future(self._pool.submit(self._make, page, address, cursors))
        made.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(made), secs)
        except TimeoutError:
            for cursor in cursors:
                cursor.interrupt()
            msg = (
                f"it took longer than {secs:g} s and was stopped; narrow the filter, or ask "
                f"`tracegrade sql --lake {shlex.quote(self.site.lake)}`"
            )
            raise TooSlow(msg) from None

    def _done(self, made: "asyncio.Future[tuple[PageResponse, bytes]]") -> None:
        self._under_way -= 1
        self._free_memory.return_soon()
        if not made.cancelled():
            made.exception()  # read, so that the exception of an abandoned page is not logged

    def _make(
        self, page: PageRoute, address: PageAddress, cursors: list[DuckDBPyConnection]
    ) -> tuple[PageResponse, bytes]:
        with self.latest.reading() as snapshot, snapshot.con.cursor() as con:
            cursors.append(con)
            request = PageRequest(
                con, snapshot, self.site, self.latest.freshness, *address,
                self.labeling and self.labeling.writer, cursors, self._make_ahead,
                self.upkeep.state if self.upkeep else NO_UPKEEP,
            )  # fmt: skip
            answer = page.make(request)
            return answer, _body(answer, request)

    def _make_ahead(self, key: object, make: Callable[[PageRequest], object]) -> None:
        """Start computing a result for a later request, unless it is already running."""
        if key not in self._made_ahead:
            self._made_ahead.add(key)
            self._spare.submit(self._with_snapshot, key, make)

    def _with_snapshot(self, key: object, make: Callable[[PageRequest], object]) -> None:
        try:
            with self.latest.reading() as snapshot, snapshot.con.cursor() as con:
                make(PageRequest(con, snapshot, self.site, self.latest.freshness, {}))
        except Exception:
            logger.exception("what a page would show later failed")
        finally:
            self._made_ahead.discard(key)
            return_free_memory()


def _paths(page: PageRoute) -> list[str]:
    """Return the addresses of a page: another form of it has its name behind a dot."""
    if page.path.endswith("}") or page.path == "/":
        return [page.path]
    return [page.path, page.path + ".{form}"]


def _named(request: Request) -> tuple[dict[str, str], str]:
    """Return the names in an address, and the form that is asked for."""
    path = {key: str(value) for key, value in request.path_params.items()}
    if "form" in path:
        form = path.pop("form")
        return path, form if form in links.FORMS else "html"
    last = next(reversed(path), None)
    if last is not None and request.url.path.endswith(tuple(f".{form}" for form in links.FORMS)):
        path[last], _, form = path[last].rpartition(".")
        return path, form
    return path, "html"


def _body(answer: PageResponse, request: PageRequest) -> bytes:
    if isinstance(answer, PlainText):
        return visible_text(answer.text).encode("utf-8", "replace")
    if isinstance(answer, (Redirect, Download)):
        return b""
    if request.form == "parquet":
        msg = "only queries of /sql have this form; .json has this page"
        raise PageMissing(msg)
    if request.form == "json":
        return render.render_json(answer)
    if request.form == "csv":
        if not answer.columns:
            msg = "this page is not a table; use .json"
            raise PageMissing(msg)
        return render.render_csv(answer)
    return render.render_html(answer, request, unlabeled_count(request))


def _sent(download: Download) -> Response:
    """Return a file piece by piece."""

    def pieces() -> Iterator[bytes]:
        with download.file as file:
            while piece := file.read(PIECE_BYTES):
                yield piece

    disposition = f'attachment; filename="{download.name}"'
    headers = {"Content-Disposition": disposition} if download.media_type != JSON else {}
    return StreamingResponse(pieces(), headers=headers, media_type=download.media_type)


def _media_type(answer: PageResponse, form: str) -> str:
    if isinstance(answer, PlainText):
        return TEXT
    assert isinstance(answer, PageContent)  # noqa: S101 - redirects have no body
    return {
        "json": JSON,
        "csv": "text/csv; charset=utf-8",
    }.get(form, "text/html; charset=utf-8")


def _status(error: TracegradeError) -> int:
    if isinstance(error, (PageMissing, NothingToCompare)):
        return 404
    if isinstance(error, FormRefused):
        return 403
    if isinstance(error, RunMissing):
        return 409
    return 400 if isinstance(error, BadInput) else 503


def _error(error_page: ErrorPage, form: str) -> Response:
    if form == "html":
        body = render.render_error(error_page)
        return Response(body, error_page.status, media_type="text/html; charset=utf-8")
    body = render.render_json(PageContent("", "", {}, {"error": error_page.message}))
    return Response(body, error_page.status, media_type=JSON)


STATIC: Final[Mapping[str, tuple[str, Callable[[], bytes]]]] = {
    "/static/app.css": ("text/css; charset=utf-8", render.style_sheet),
    "/static/app.js": ("text/javascript; charset=utf-8", render.script),
    "/static/icon.svg": ("image/svg+xml", lambda: ICON),
}


def _static(request: Request) -> Response:
    media_type, read = STATIC[request.url.path]
    return Response(read(), media_type=media_type)
