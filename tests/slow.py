"""Tests that `make test` leaves to `make test-slow`; pytest called by itself runs all.

A test is marked `slow` where it takes seconds of processor time and quicker ones hold the same
code to the same facts: at another moment, by another executor, on another store, in fewer cases,
or part by part where it goes the whole way. So are examples and tables of documents that take as
long to be held to the code: few changes touch them.

With `SLOW_PART=2/12` the slow tests of a twelfth of the files run, the second. CI runs one part,
by the commit, so that some commits later each has run, and a run takes minutes less.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final, Protocol, TypeVar

import pytest
from _pytest.mark import ParameterSet

PART: Final = "SLOW_PART"
"""The environment variable: which part of the slow tests a run has, such as 2/3."""


def slow_after(quick: int, cases: Iterable[Any]) -> list[ParameterSet]:
    """Return cases for `parametrize`, slow but for the first few; a tuple has several values."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=[pytest.mark.slow] if number >= quick else [],
        )
        for number, case in enumerate(cases)
    ]


class Marked(Protocol):
    """A test of a file, as pytest collects it."""

    @property
    def nodeid(self) -> str:
        """Its file and, after two colons, its name."""

    def get_closest_marker(self, name: str, /) -> object | None:
        """Return its mark of this name; None without one."""


Test = TypeVar("Test", bound=Marked)


def of_part(tests: Iterable[Test], part: str) -> list[Test]:
    """Return the tests without the slow ones of files that are in another part.

    Args:
        tests: As collected.
        part: Such as 2/3. Which part a file is in goes by the digest of its path.

    Raises:
        UsageError: It is no part.
    """
    match = re.fullmatch(r"([1-9]\d?)/([1-9]\d?)", part)
    if match is None or int(match[1]) > int(match[2]):
        msg = f"{PART}={part} is no part; write one of several, such as 2/3"
        raise pytest.UsageError(msg)
    number, parts = int(match[1]), int(match[2])
    return [
        test
        for test in tests
        if test.get_closest_marker("slow") is None
        or _digest(test.nodeid.partition("::")[0]) % parts == number - 1
    ]


def _digest(path: str) -> int:
    return int.from_bytes(sha256(path.encode()).digest()[:8])
