"""The formats in which reports, timelines and comparisons are written, and the modules that do it.

Each package has a function `render_<format>` for each of them.
"""

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Final

from tracegrade_scoring.rendering.output import screen


class ReportFormat(StrEnum):
    """The formats of a report, a timeline or a comparison."""

    TERMINAL = "terminal"
    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"


_MODULES: Final = {"json": "as_json", "csv": "as_csv", "terminal": "texts", "markdown": "texts"}
"""The module of HTML has its name."""


def render(found: object, package: str, format_: str, out: Path | None) -> str:
    """Return the result as text, written by a module of the package.

    The module is imported here, so that `--help` does not wait for templates and plots.

    Args:
        found: Argument of the package's functions: a report, a timeline, a judgment.
        package: Its dotted name.
        format_: One of the formats that the package has.
        out: The file to write; None for a terminal, which has a width and colors.
    """
    module = import_module(f"{package}.{_MODULES.get(format_, format_)}")
    write = getattr(module, f"render_{format_}")
    if format_ == ReportFormat.TERMINAL:
        width, color = screen(out)
        text: str = write(found, width=width, color=color)
    else:
        text = write(found)
    return text
