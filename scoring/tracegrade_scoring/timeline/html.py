"""A run as one HTML file that needs nothing else: no script, no network, no font."""

from importlib.resources import files
from typing import Final

from jinja2 import Template

from tracegrade_scoring.rendering.page import RunPage, no_page, page_style, page_template
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.view import LOOSE_TITLE, SUB_AGENTS_TITLE, timeline_view

LONG: Final = 400
"""A text with more characters is folded away; a page opens it without a script."""


def run_template(run_page: RunPage = no_page) -> Template:
    """Return what pages of runs are made with: once for many of them.

    Args:
        run_page: Says where other runs have their pages.
    """
    return page_template("tracegrade_scoring.timeline", run_page)


def render_html(timeline: Timeline, home: str = "", template: Template | None = None) -> str:
    """Return the run as the text of one HTML file.

    Args:
        timeline: The run.
        home: Address of the page that names it; '' without one.
        template: Of `run_template`; None for one page alone.
    """
    own = files("tracegrade_scoring.timeline") / "page.css"
    return (template or run_template()).render(
        home=home,
        lake=timeline.lake,
        long=LONG,
        loose_title=LOOSE_TITLE,
        sub_agents_title=SUB_AGENTS_TITLE,
        style=page_style(own.read_text("utf-8")),
        view=timeline_view(timeline),
    )
