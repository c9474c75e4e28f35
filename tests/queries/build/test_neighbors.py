"""A trace's rows do not depend on its neighbors: beside a few it has those it has beside all.

A sample, each alone, is among the fast tests, in `test_captures.py`, which builds all captures
together.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pytest
from tests.queries.build.neighbors import of_captures, of_reports, rows_of
from tests.queries.traces import captures

PARTS: Final = 8
"""How many builds they are spread over, captures of one framework over different ones."""


@pytest.mark.slow
def test_captures_beside_a_few(tmp_path: Path) -> None:
    """All captures, in parts that mix frameworks."""
    _have_the_same_rows(of_captures(captures()), tmp_path)


@pytest.mark.slow
def test_reported_traces_beside_a_few(shared_data: Path, tmp_path: Path) -> None:
    """Those that were reported to be read wrongly, likewise."""
    _have_the_same_rows(of_reports(shared_data), tmp_path)


def _have_the_same_rows(sent: Mapping[str, Any], folder: Path) -> None:
    together = rows_of(folder / "together", sent.values())
    for number, part in enumerate(_parts(sent)):
        apart = rows_of(folder / f"{number}", part.values())
        differ = [trace for trace in apart if apart[trace] != together[trace]]
        assert not differ, f"{differ} of {[*part]}"


def _parts(sent: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for first in range(PARTS):
        yield dict(islice(sent.items(), first, None, PARTS))
