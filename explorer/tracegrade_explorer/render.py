"""Renders responses: HTML from templates that escape trace data, JSON, CSV, text."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Any, Final, NamedTuple

import orjson
from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup, escape

from tracegrade.terminal.visible import visible_text
from tracegrade_explorer import links
from tracegrade_explorer.responses import PageContent, PageRequest, Site, WrittenJson
from tracegrade_explorer.snapshots.snapshot import LakeSnapshot
from tracegrade_harness.kills.folder import kill_styles
from tracegrade_queries.engine.csv_cells import as_json
from tracegrade_scoring.pictures.small import bar, strip, track
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.page import dark_colors, environment, style
from tracegrade_scoring.rendering.sheet import csv_text
from tracegrade_scoring.timeline.cards.json_text import marked_json
from tracegrade_scoring.timeline.html import run_styles

PACKAGE: Final = "tracegrade_explorer"
LIVE: Final = "live"
"""Parameter of any page: it loads itself again, for browsers without scripts."""
REFRESH_SECS: Final = 10
PAGES: Final = (
    ("/", "Now", "g n"),
    ("/runs", "Runs", "g r"),
    ("/releases", "Releases", "g e"),
    ("/tasks", "Tasks", "g t"),
    ("/money", "Money", "g m"),
    ("/sql", "SQL", "g s"),
)
"""Names in the top bar: address, name, keys; a phone folds all but the first three."""
MORE_PAGES: Final = (
    ("/conversations", "Conversations", "g c"),
    ("/issues", "Issues", "g i"),
    ("/alerts", "Alerts", "g a"),
)
"""Entries folded under "More". Tasks and releases link trends, lists the search."""


@cache
def templates() -> Environment:
    """Return what renders the templates of this package."""
    made = environment(links.run)
    made.loader = ChoiceLoader(
        [PackageLoader(PACKAGE), PackageLoader("tracegrade_scoring.rendering")]
    )
    made.filters.update(
        ago=ago, at_ms=_at_ms, code=_code, duration=words.duration, lines=_lines,
        marked=marked_json, query=_query, time=_time,
    )  # fmt: skip
    made.globals.update(
        bars=bar, link=links, strip=strip, pages=PAGES, more_pages=MORE_PAGES, tracks=track,
    )  # fmt: skip
    return made


def load_templates() -> None:
    """Compile all templates, so that no reader waits for the first page of each kind."""
    for name in PackageLoader(PACKAGE).list_templates():
        templates().get_template(name)


def render_html(document: PageContent, request: PageRequest, waiting: int | None = None) -> bytes:
    """Return a page as HTML.

    Args:
        document: Its content.
        request: What was asked for.
        waiting: Number of runs that have no person's verdict; None to show none.
    """
    template = templates().get_template(f"{document.template}.html.j2")
    common = {
        "title": document.title,
        "site": request.site,
        "snapshot": request.snapshot,
        "freshness": request.freshness,
        "upkeep": request.upkeep,
        "news": links.with_query(
            "/state.json", document.view.get("news_pairs") or _runs_on_page(request.snapshot)
        ),
        "refresh_secs": REFRESH_SECS if request.is_live else 0,
        "has_csv": bool(document.columns),
        "pairs": request.pairs if _fits_address(request.pairs) else None,
        "scheme": request.scheme,
        "labeler": request.labeler,
        "firing": request.freshness.firing,
        "waiting": waiting,
        "lake_name": PurePath(request.site.lake).name or request.site.lake,
    }
    return template.render({**common, **document.view}).encode("utf-8", "replace")


def _runs_on_page(snapshot: LakeSnapshot) -> list[tuple[str, str]]:
    """Return what a page shows, so that its script can ask what came since."""
    return [("runs", str(snapshot.root_runs)), ("scoring_run", str(snapshot.run))]


def _fits_address(pairs: Sequence[tuple[str, str]]) -> bool:
    """Return whether a form can send these in an address, as one that was posted may not."""
    return len(links.with_query("", pairs)) <= links.LONGEST


def render_json(document: PageContent) -> bytes:
    """Return the content of a page as JSON, every number unrounded."""
    if isinstance(document.data, WrittenJson):
        return document.data.encode()
    option = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    return orjson.dumps(_whole(document.data), default=_plain, option=option) + b"\n"


def render_csv(document: PageContent) -> bytes:
    """Return the table of a page as CSV that no spreadsheet computes."""
    return csv_text(document.columns, document.rows).encode("utf-8", "replace")


class ErrorQuery(NamedTuple):
    """A query that an error is about."""

    text: str
    fields: Sequence[tuple[str, str]]
    """Names and values of its parameters."""
    page_token: str
    action: str
    """The address to which its form is sent."""
    may_edit: bool


class ErrorPage(NamedTuple):
    """The content of an error page."""

    status: int
    message: str
    title: str
    site: Site | None = None
    """None: who asks may not know which lake this is."""
    scheme: str = ""
    query: ErrorQuery | None = None
    path: str = ""
    """Path of the requested page, as in the address; '' without its conditions."""
    pairs: Sequence[tuple[str, str]] = ()
    """The parameters of its address."""
    token_form: bool = False
    """It asks for the token of this start."""


def render_error(error_page: ErrorPage) -> bytes:
    """Return the page of an error, which needs no lake."""
    template = templates().get_template("error.html.j2")
    without = [
        links.with_query(
            error_page.path, [*error_page.pairs[:position], *error_page.pairs[position + 1 :]]
        )
        for position in range(len(error_page.pairs))
    ]
    view = {
        **error_page._asdict(),
        "without": without,
        "labeler": "",
        "firing": 0,
        "snapshot": None,
    }
    return template.render(view).encode("utf-8", "replace")


@cache
def style_sheet() -> bytes:
    """Return the style sheet of all pages: that of the reports, then our own."""
    own = (files(PACKAGE) / "static" / "app.css").read_text("utf-8")
    chosen = dark_colors(":root[data-scheme=dark]")
    whole = "\n".join(
        (str(style()), *run_styles(), *kill_styles(), own, f"@media screen {{\n{chosen}\n}}")
    )
    whole = re.sub(r"/\*.*?\*/", "", whole, flags=re.DOTALL)
    whole = re.sub(r"\s*([{};>])\s*", r"\1", whole)  # no string of it has these signs
    return re.sub(r"([:,])\s+", r"\1", whole).replace(";}", "}").encode()


@cache
def script() -> bytes:
    """Return the script of all pages."""
    return (files(PACKAGE) / "static" / "app.js").read_bytes()


def ago(time: datetime) -> str:
    """Return how long ago a time in UTC was."""
    return f"{words.age((datetime.now(UTC) - time.replace(tzinfo=UTC)).total_seconds())} ago"


def _code(text: str) -> Markup:
    """Return our own sentence with what stands in backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped


def _at_ms(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1_000, UTC)


def _time(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}" if time else words.NOTHING


def _lines(text: str) -> Markup:
    """Return a text of several lines, escaped, its line ends kept."""
    return escape(visible_text(text))


def _query(text: str) -> Markup:
    """Return a text that is sent back as it stands, so with its tabs."""
    return escape("\t".join(map(visible_text, text.split("\t"))))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return as_json(value)


def _whole(value: Any) -> Any:
    """Return a value whose texts can be encoded: half of a character becomes a question mark."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_whole(key): _whole(each) for key, each in value.items()}
    if hasattr(value, "_asdict"):
        return _whole(value._asdict())
    if isinstance(value, (list, tuple)):
        return [_whole(each) for each in value]
    return value
