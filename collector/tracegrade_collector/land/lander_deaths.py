"""Notes the requests in flight when a lander died, so that one request cannot block all others.

`wal/<collector id>/landing.json` names the work in flight, and how often landers died during it. A
first death makes the next lander take the segments in small groups, and commit after a few. A
segment during which two died is landed alone, and request by request after the third. A request
during which two died, alone in flight, causes the deaths. The cause does not matter: a `kill -9`
never hits one request twice.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.log.wal_folder import LANDING_NAME

MOST_DEATHS: Final = 2
"""Over one request, alone in flight, before it is set aside."""

DEATHS_BEFORE_ALONE: Final = 2
"""Over a segment, before it is landed without others."""

DEATHS_BEFORE_REQUESTS: Final = 3
"""Over a segment, before its requests are landed one by one."""


class Deaths:
    """The file of one log."""

    def __init__(self, folder: Path) -> None:
        """Count a death of the work in flight, if there was any."""
        self._path = folder / LANDING_NAME
        found = _read(self._path)
        self._counts = Counter(found.get("deaths", {}))
        self._in_flight: list[str] = found.get("in_flight", [])
        self._counts.update(self._in_flight)
        if self._in_flight:
            self.over()

    @property
    def any(self) -> bool:
        """Whether a lander died over something that has not landed yet."""
        return bool(self._counts)

    def count(self, name: str) -> int:
        """Return how many landers died over this segment or request."""
        return self._counts[name]

    def in_flight(self, names: Iterable[str]) -> None:
        """Note the work that begins now."""
        self._in_flight = list(names)
        self._write()

    def over(self) -> None:
        """Note that nothing is in flight: it has ended, well or with an error."""
        self._in_flight = []
        self._write()

    def landed(self, segment: str) -> None:
        """Forget the deaths over segments up to this one, which have landed."""
        for name in [each for each in self._counts if segment_of(each) <= segment]:
            del self._counts[name]
        self.over()

    def _write(self) -> None:
        """Write it for the next process; a machine that fails may forget it."""
        content = {"in_flight": self._in_flight, "deaths": self._counts}
        scratch = self._path.with_suffix(".new")
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w") as file:
            json.dump(content, file)
        os.replace(scratch, self._path)


def name_of_request(segment: str, seq: int) -> str:
    """Return how the file names one request of a segment."""
    return f"{segment}#{seq}"


def segment_of(name: str) -> str:
    """Return the name of the segment in which this work is."""
    return name.partition("#")[0]


def deaths_of(folder: Path) -> int:
    """Return the most deaths of landers during the work that one must land next."""
    found = _read(folder / LANDING_NAME)
    return max(Counter(found.get("deaths", {})).values(), default=0)


def _read(path: Path) -> dict[str, Any]:
    with suppress(FileNotFoundError, ValueError):
        return dict(json.loads(path.read_bytes()))
    return {}
