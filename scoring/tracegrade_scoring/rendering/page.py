"""The common base of HTML pages: safe templates and a style sheet.

Jinja's autoescape escapes everything that comes from a trace, after `visible` has spelled out
characters that act instead of showing; the pages' policy also forbids scripts, requests, and every
style but the page's own. What several pages show alike are macros in `templates/`.
"""

from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from types import CodeType
from typing import Any, Final, NamedTuple, TypeAlias

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined, Template
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from tracegrade.terminal.visible import visible, visible_text
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.html_table import text_table

RunPage: TypeAlias = Callable[[str], str]
"""Returns the address of the page of a trajectory; '' if it has none."""


class PageStyle(NamedTuple):
    """The style sheet of a page, and the policy that allows it alone."""

    text: Markup
    policy: str


def no_page(trajectory_id: str) -> str:
    """Return that a run has no page of its own."""
    return ""


def environment(run_page: RunPage = no_page) -> Environment:
    """Return what renders templates so that nothing in a trace acts: escaped and visible.

    Args:
        run_page: Says where a run that a page names has its own page.
    """
    made = Environment(
        autoescape=True,
        finalize=_finalize,
        keep_trailing_newline=True,
        loader=PackageLoader("tracegrade_scoring.rendering"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters.update(
        clip=words.clip, count=words.count, lines=_lines, name=words.name, number=words.number,
        run=words.run,
    )  # fmt: skip
    made.globals.update(run_page=run_page, text_table=text_table)
    return made


class _CompiledOnce(BytecodeCache):
    """Keeps what templates were compiled to, which takes longer than to fill them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._known.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._known[bucket.key, bucket.checksum] = bucket.code


_compiled: Final = _CompiledOnce()


def page_template(package: str, run_page: RunPage = no_page, **known: Any) -> Template:
    """Return the template of a package's own page, compiled once a process.

    Args:
        package: Holds `page.html.j2`.
        run_page: As for `environment`.
        known: What its expressions and macros may name besides.
    """
    made = environment(run_page)
    made.bytecode_cache = _compiled
    made.globals.update(known)
    return PackageLoader(package, "").load(made, "page.html.j2", made.make_globals(None))


def style() -> Markup:
    """Return the style sheet of all pages, in the colors of the reader's system."""
    dark = dark_colors(":root:not([data-scheme=light])")
    in_the_dark = f"@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n"
    text = _own_file("light.css") + in_the_dark + _own_file("page.css")
    return Markup(text)  # noqa: S704 - our own files


def dark_colors(selector: str) -> str:
    """Return the rule that gives each color of the style sheet its dark value."""
    return _own_file("dark.css").replace(":root", selector, 1)


def _own_file(name: str) -> str:
    return (files("tracegrade_scoring.rendering") / name).read_text("utf-8")


def page_style(*own: str) -> PageStyle:
    """Return the style sheet of all pages, followed by a page's own, with the policy."""
    text = "\n".join((style(), *own))
    digest = b64encode(sha256(text.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'"
    return PageStyle(Markup(text), policy)  # noqa: S704 - our own files


def _lines(text: str) -> Markup:
    """Return a text of several lines, escaped, its line ends kept."""
    return escape(visible_text(text))


def _finalize(value: object) -> object:
    """Make every text that a template writes visible, from any source."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value
