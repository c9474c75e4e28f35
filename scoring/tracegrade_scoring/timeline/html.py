"""A run as one HTML file that needs nothing else: no script, no network, no font."""

from importlib.resources import files

from markupsafe import Markup, escape

from tracegrade_scoring.rendering.page import environment, style
from tracegrade_scoring.rendering.visible import visible_text
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.view import timeline_view

LONG = 400
"""A text with more characters is folded away; a page opens it without a script."""


def render_html(timeline: Timeline) -> str:
    """Return the run as the text of one HTML file."""
    page = files("tracegrade_scoring.timeline")
    made = environment()
    made.filters.update(lines=_lines)
    template = made.from_string((page / "page.html.j2").read_text("utf-8"))
    own_style = Markup((page / "page.css").read_text("utf-8"))  # noqa: S704 - our own file
    return template.render(
        lake=timeline.lake,
        view=timeline_view(timeline),
        style=Markup("\n").join((style(), own_style)),
        long=LONG,
    )


def _lines(text: str) -> Markup:
    """Return a text of several lines, escaped, its line ends kept."""
    return escape(visible_text(text))
