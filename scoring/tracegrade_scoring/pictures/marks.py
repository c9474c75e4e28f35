"""The elements of pictures: texts, lines, areas, dots.

Colors are CSS variables of the page, so one picture serves light and dark. Widths and colors are
attributes, for pages allow no style of their own. Every text is made visible and escaped here.
"""

from collections.abc import Iterable, Sequence
from typing import Final
from unicodedata import east_asian_width

from markupsafe import Markup

from tracegrade.terminal.visible import visible

INK, FAINT, GRID = "var(--ink)", "var(--faint)", "var(--line)"
SERIES: Final = 6
"""Colors of the style sheet; a seventh release has that of the first."""
CHARACTER: Final = 7.4
"""Pixels of a character, on average of readers' fonts at 12 px; those of East Asia take two."""


def drawing(width: float, height: float, description: str, parts: Iterable[Markup]) -> Markup:
    """Return a picture that says in a sentence what it shows, for readers who cannot see it."""
    head = Markup(
        '<svg width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        'aria-label="{description}" font-family="system-ui, sans-serif" font-size="12">'
    ).format(w=_short(width), h=_short(height), description=visible(description))
    return head + Markup("").join(parts) + Markup("</svg>")


def colors(series: Sequence[str]) -> dict[str, str]:
    """Return the color of each series; the last, which is the newest, has the first color."""
    last = len(series) - 1
    return {
        name: f"var(--series-{(last - position) % SERIES + 1})"
        for position, name in enumerate(series)
    }


def text_width(text: str) -> float:
    """Return about how wide a text is at 12 px."""
    return CHARACTER * sum(2 if east_asian_width(each) in "WF" else 1 for each in visible(text))


def text(x: float, y: float, content: str, *, fill: str = INK, **given: object) -> Markup:
    """Return a text with its base line at `y`; `anchor` is `end` or `middle` where not `start`."""
    return Markup("<text{}>{}</text>").format(
        _attributes(x=x, y=y, fill=fill, **given), visible(content)
    )


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, **given: object) -> Markup:
    """Return a straight line."""
    return Markup("<line{}/>").format(
        _attributes(x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, **given)
    )


def path(points: Iterable[tuple[float, float]], **given: object) -> Markup:
    """Return a line through points; `fill` makes it an area."""
    through = "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
    return Markup("<path{}/>").format(_attributes(d=f"M{through}", **{"fill": "none", **given}))


def dot(x: float, y: float, radius: float, fill: str, **given: object) -> Markup:
    """Return a filled circle."""
    return Markup("<circle{}/>").format(_attributes(cx=x, cy=y, r=radius, fill=fill, **given))


def box(x: float, y: float, width: float, height: float, **given: object) -> Markup:
    """Return a rectangle."""
    return Markup("<rect{}/>").format(_attributes(x=x, y=y, width=width, height=height, **given))


def _attributes(**given: object) -> Markup:
    """Return attributes, `stroke_width` as `stroke-width` and `class_` as `class`."""
    return Markup("").join(
        Markup(' {}="{}"').format(
            "text-anchor" if name == "anchor" else name.rstrip("_").replace("_", "-"),
            _short(value) if isinstance(value, float) else value,
        )
        for name, value in given.items()
    )


def _short(value: float) -> str:
    """Return a length to a tenth of a pixel, and what is below 1 to a hundredth."""
    return f"{value:.{2 if abs(value) < 1 else 1}f}".rstrip("0").rstrip(".")
