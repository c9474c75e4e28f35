"""What HTML pages have in common: safe templates and a style sheet.

Everything that comes from a trace is escaped by Jinja's autoescape, after `visible` has spelled
out characters that act instead of showing; the pages' policy also forbids scripts and requests.
"""

from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.visible import visible


def environment() -> Environment:
    """Return what renders templates so that nothing in a trace acts: escaped and visible."""
    made = Environment(
        autoescape=True,
        finalize=_finalize,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters.update(count=words.count, name=words.name, number=words.number)
    return made


def style() -> Markup:
    """Return the style sheet of all pages."""
    text = (files("tracegrade_scoring.rendering") / "page.css").read_text("utf-8")
    return Markup(text)  # noqa: S704 - our own file


def _finalize(value: object) -> object:
    """Make every text that a template writes visible, whatever path it came on."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value
