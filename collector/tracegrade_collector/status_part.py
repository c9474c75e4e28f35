"""A package's part of `tracegrade lake status`.

Packages above declare a function in the entry-point group `tracegrade.lake_status`, which takes
the lake and returns its part.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

GROUP: Final = "tracegrade.lake_status"


class StatusPart(NamedTuple):
    """What one package knows of a lake."""

    values: Mapping[str, Any]
    """For programs, as JSON has them; the names differ from those of other packages."""
    lines: Sequence[str]
    """For people."""
