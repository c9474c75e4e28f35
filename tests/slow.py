"""Tests that `make test` leaves to `make test-slow`; pytest called by itself, and CI, run all.

A test is marked `slow` where it takes seconds of processor time and quicker ones hold the same
code to the same facts: at another moment, by another executor, on another store, in fewer cases,
or part by part where it goes the whole way. So are examples and tables of documents that take as
long to be held to the code: few changes touch them.
"""

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def slow_after(quick: int, cases: Iterable[Any]) -> list[ParameterSet]:
    """Return cases for `parametrize`, slow but for the first few; a tuple has several values."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=[pytest.mark.slow] if number >= quick else [],
        )
        for number, case in enumerate(cases)
    ]
