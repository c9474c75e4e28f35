"""The document of what is read of each dialect: two tables, each made by a test of its own."""

import os
from pathlib import Path
from typing import Final

DOCUMENT: Final = Path(__file__).parents[3] / "docs" / "dialects.md"
SECOND: Final = "## Cases written by hand"
"""What the second table's part begins with."""


def has_first(made: str) -> bool:
    """Return whether the document begins with this; WRITE_TABLE=1 writes it anew."""
    return _has(made, _parts()[1])


def has_second(made: str) -> bool:
    """Return whether the document ends with this, as `has_first`."""
    return _has(_parts()[0], made)


def _parts() -> tuple[str, str]:
    before, heading, after = DOCUMENT.read_text("utf-8").partition(SECOND)
    return before, heading + after


def _has(first: str, second: str) -> bool:
    if os.environ.get("WRITE_TABLE"):
        DOCUMENT.write_text(first + second, "utf-8")
    return DOCUMENT.read_text("utf-8") == first + second
