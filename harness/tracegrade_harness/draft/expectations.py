"""Expectations for drafted cases, from the task file or else from successful runs."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import duckdb

from tracegrade_harness.draft.runs import DraftedRun
from tracegrade_scoring.tasks.draft import DraftedFrom, declared_tools, successful_paths
from tracegrade_scoring.tasks.load import Specification


class Expectations(NamedTuple):
    """Expectations and tools of tasks, from the task file and from the lake."""

    specification: Specification
    """The task file."""
    paths: Mapping[tuple[str | None, str | None], dict[str, Any]]
    """Agent and task → the path of most of its successful runs, as a task."""
    declared: Mapping[str, dict[str, Any]]
    """Tools as in a task file: from the task file, else as the calls of the lake declare them."""
    expected: AbstractSet[str]
    """Tools that the task file declares, and tools of the paths."""

    def tools(self, called: AbstractSet[str]) -> dict[str, dict[str, Any]]:
        """Return the tools of a task file: expected tools and called tools."""
        return {
            name: tool
            for name, tool in self.declared.items()
            if name in called or name in self.expected
        }

    def task(self, run: DraftedRun) -> dict[str, Any] | None:
        """Return what a task file would expect of such a run; None if nothing."""
        declared = self.specification.tasks.get(run.task_id or "")
        if declared is not None:
            return declared.model_dump(mode="json", exclude_unset=True)
        return self.paths.get((run.agent_name, run.task_id))


def expectations(con: duckdb.DuckDBPyConnection, specification: Specification) -> Expectations:
    """Return the expectations for the tasks of a lake.

    Args:
        con: Connected to the lake, with its score tables.
        specification: The task file.
    """
    paths = successful_paths(con, DraftedFrom())
    known = {
        name: tool.model_dump(mode="json", exclude_unset=True)
        for name, tool in specification.tools.items()
    }
    declared = {each.name: each.tool() for each in declared_tools(con)}
    expected = {tool for path in paths for tool in path.tools} | known.keys()
    by_task = {(path.agent_name, path.task_id): path.task() for path in paths}
    return Expectations(specification, by_task, {**declared, **known}, expected)
