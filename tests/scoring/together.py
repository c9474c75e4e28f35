"""Tests of single attempts are scored together: it costs as much for one as for hundreds.

    @built_together
    def test_a_pick_is_right() -> Scene:
        (found,) = yield [Case(picks("read"), {"expected": [{"tool": "read"}]})]

        assert found.scores["tsa"].value == 1

What a test yields are attempts, each with its task. Those of a module are scored at once, against
the tools that it calls `TOOLS`, and each test goes on with what was found of its own.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import duckdb
import pytest
from tests.scenes import finish, scenes_of
from tests.scoring.build import Case, Score, all_scored, all_scores


class Found(NamedTuple):
    """What was found of one attempt."""

    scores: dict[str, Score]
    """By metric."""

    con: duckdb.DuckDBPyConnection
    name: str

    def rows(self, columns: str, table: str) -> list[Any]:
        """Return these columns of the rows that a table has of the attempt."""
        own = "COLUMNS('^(attempt|trajectory)_id$') = $name"
        sql = f"SELECT {columns} FROM {table} WHERE {own}"
        return self.con.execute(sql, {"name": self.name}).fetchall()


Scene: TypeAlias = Generator[Sequence[Case], list[Found], None]


class Together(NamedTuple):
    """What was found of the attempts of all tests of a module."""

    scenes: dict[str, tuple[Scene, list[Found]]]
    """By the name of the test."""

    def go_on(self, name: str) -> None:
        """Let a test go on with its attempts."""
        scene, found = self.scenes[name]
        finish(scene, found)


@contextmanager
def scored_together(request: pytest.FixtureRequest, tools: str) -> Iterator[Together]:
    """Score the attempts of a module's tests."""
    scenes = {name: test() for name, test in scenes_of(request).items()}
    cases = {name: list(next(scene)) for name, scene in scenes.items()}
    with all_scored([case for each in cases.values() for case in each], tools) as con:
        scores = all_scores(con)
        found = (Found(scores[name], con, name) for name in map("t{}".format, count()))
        yield Together(
            {name: (scene, [next(found) for _ in cases[name]]) for name, scene in scenes.items()}
        )
