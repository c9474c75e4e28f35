"""Tables and lists in Markdown, in which no text of a trace acts as markup.

Names from traces are in code spans, where neither markup nor links work; sentences are escaped. No
HTML is written, and HTML in the input has no effect.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from tracegrade.terminal.visible import visible
from tracegrade_scoring.rendering import words


def escape(text: str) -> str:
    """Return a sentence that Markdown shows as it stands: no markup, HTML, links or mentions."""
    shown = re.sub(r"([\\`*_{}\[\]()#+!|~$^])", r"\\\1", visible(text))
    shown = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    shown = re.sub(r"(?i)(:(?=//)|@|(?<=www)\.)", r"\\\1", shown)
    # GitHub looks for @names and #numbers after Markdown has taken the backslashes away; an @
    # after a letter or digit, as in pass@1, mentions no user.
    return re.sub(r"((?<![A-Za-z0-9_])\\@|\\#(?=\d))", r"\1&#8203;", shown)


def code(text: str) -> str:
    """Return a name as a code span, also if it holds backticks."""
    # A table would split its cell at any bar, even after a backslash.
    shown = visible(text).replace("|", "\\x7c")
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{shown}{space}{fence}"


def codes(*names: str | None) -> tuple[str, ...]:
    """Return names as code spans, short enough for a table."""
    return tuple(code(words.name(name)) for name in names)


def bullets(title: str, sentences: Sequence[str]) -> Iterator[str]:
    """Yield a list of sentences below its title; nothing without sentences."""
    if sentences:
        yield from ("", f"### {title}", "", *(f"- {escape(sentence)}" for sentence in sentences))


def table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table of cells that are Markdown below its title, if any; nothing without rows."""
    found = list(rows)
    if found:
        if title:
            yield from ("", f"### {title}")
        yield from ("", _row(headings), _row(["---"] * len(headings)))
        yield from map(_row, found)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
