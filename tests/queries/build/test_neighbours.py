"""A trace's rows do not depend on its neighbours: alone it has those that it has beside others.

A sample is among the fast tests, in `test_captures.py`, which builds all captures together.
"""

from pathlib import Path

import pytest
from tests.queries.build.neighbours import of_captures, of_reports, rows_of
from tests.queries.traces import Row, captures


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    """The rows of all captures, which were built together."""
    return rows_of(tmp_path_factory.mktemp("captures"), of_captures(captures()).values())


@pytest.mark.slow
@pytest.mark.parametrize("name", captures())
def test_capture_alone(beside: dict[str, list[Row]], tmp_path: Path, name: str) -> None:
    """Each that there is."""
    alone = rows_of(tmp_path, of_captures([name]).values())
    assert alone == {trace: beside[trace] for trace in alone}


@pytest.mark.slow
def test_reported_traces_alone(shared_data: Path, tmp_path: Path) -> None:
    """Those that were reported to be read wrongly, each beside all others of them."""
    reports = of_reports(shared_data)
    together = rows_of(tmp_path, reports.values())
    for name, sent in reports.items():
        alone = rows_of(tmp_path / name, [sent])
        assert alone == {trace: together[trace] for trace in alone}, name
