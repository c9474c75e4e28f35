"""Score tables of a sample, and its report."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.scoring.report.build import Tables, fill_sample

from tracegrade_scoring.report.model import Report
from tracegrade_scoring.sql import RELATIONS


@pytest.fixture(scope="session")
def sample() -> Iterator[Tables]:
    """Two releases of a file agent with mistakes, and an agent without tasks; only read it."""
    with closing(Tables()) as tables:
        fill_sample(tables)
        RELATIONS.make(tables.con, "run_members")
        yield tables


@pytest.fixture(scope="session")
def sample_report(sample: Tables) -> Report:
    """The report of the sample."""
    return sample.report()
