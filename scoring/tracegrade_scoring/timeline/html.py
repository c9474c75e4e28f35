"""A run as one HTML file that needs nothing else: no script, no network, no font."""

from importlib.resources import files
from typing import Final

from tracegrade_scoring.rendering.page import RunPage, environment, no_page, style
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.view import timeline_view

LONG: Final = 400
"""A text with more characters is folded away; a page opens it without a script."""


def render_html(timeline: Timeline, home: str = "", run_page: RunPage = no_page) -> str:
    """Return the run as the text of one HTML file.

    Args:
        timeline: The run.
        home: Address of the page that names it; '' if there is none.
        run_page: Says where other runs have their pages.
    """
    page = files("tracegrade_scoring.timeline")
    template = environment(run_page).from_string((page / "page.html.j2").read_text("utf-8"))
    return template.render(
        home=home,
        lake=timeline.lake,
        long=LONG,
        style=style((page / "page.css").read_text("utf-8")),
        view=timeline_view(timeline),
    )
