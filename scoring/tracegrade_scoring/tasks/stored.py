"""The specification that a lake keeps, for runs of `score` that are given none.

Its own module because a lake outlives the files that it was scored against. Without them a run
would have no task, and every score that needs a task would be lost.
"""

import json
from collections.abc import Collection, Iterator
from typing import Any, Final

import pyarrow as pa
from pydantic import BaseModel, ValidationError

from tracegrade_lake import Column, Lake, Table
from tracegrade_lake.columns import INTEGER, TEXT
from tracegrade_scoring.errors import TaskFileInvalid
from tracegrade_scoring.tasks.load import Specification
from tracegrade_scoring.tasks.model import ToolCorrectness

TASK_DEFINITIONS: Final = Table(
    name="task_definitions",
    grain="one tool or task of the task files, or the options of tool correctness",
    columns=(
        Column("kind", TEXT, "tools | tasks | tool_correctness | fragments | retrieval."),
        Column("name", TEXT, "As in the task file; '' for the last three."),
        Column("position", INTEGER, "Place among those of its kind, from 0, as in the files."),
        Column("definition", TEXT, "JSON, with the keys that the task file gives."),
    ),
    partition_by=(),
)
"""The specification that a lake was scored against last."""

NO_TASKS: Final = Specification(tools={}, tasks={})
"""States that there are no tasks and no tools; an empty specification would leave them open."""


def known_specification(lake: Lake, given: Specification) -> Specification:
    """Return the given specification, with the lake's values for fields that it does not set.

    Raises:
        TaskFileInvalid: The lake's specification is needed, and another version wrote it.
    """
    missing = Specification.model_fields.keys() - given.model_fields_set
    stored = _stored_fields(lake, missing)
    return Specification(
        **{name: getattr(stored, name) for name in missing},
        **{name: getattr(given, name) for name in given.model_fields_set},
    )


def stored_specification(lake: Lake) -> Specification:
    """Return the tools and tasks that the lake was scored against last; none if it was not.

    Raises:
        TaskFileInvalid: Another version wrote them.
    """
    return _stored_fields(lake, {"tools", "tasks"})


def readable_specification(lake: Lake) -> Specification:
    """Return the same; none if another version wrote them."""
    try:
        return stored_specification(lake)
    except TaskFileInvalid:
        return NO_TASKS


def keep_specification(lake: Lake, specification: Specification) -> None:
    """Let the lake keep the specification for later runs; nothing is written if it does."""
    rows = list(_rows(specification))
    if rows != _stored_rows(lake):
        lake.replace(TASK_DEFINITIONS, pa.Table.from_pylist(rows, TASK_DEFINITIONS.arrow()))


def _stored_fields(lake: Lake, fields: Collection[str]) -> Specification:
    """Return the specification with these fields as the lake keeps them; else they are empty."""
    values: dict[str, Any] = {"tools": {}, "tasks": {}}
    for row in _stored_rows(lake):
        definition = json.loads(row["definition"])
        if row["kind"] not in fields:
            continue
        if row["kind"] in values:
            values[row["kind"]][row["name"]] = definition
        else:
            values[row["kind"]] = definition
    try:
        return Specification.model_validate(values)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        msg = (
            f"the task files that the lake at {lake.location} keeps are of another version, which "
            f"shows at {place}; give them again with --tasks, or drop them with --forget-tasks"
        )
        raise TaskFileInvalid(msg) from error


def _rows(specification: Specification) -> Iterator[dict[str, Any]]:
    """Yield the rows of `TASK_DEFINITIONS`."""
    for kind in ("tools", "tasks"):
        for position, (name, definition) in enumerate(getattr(specification, kind).items()):
            yield _row(kind, name, position, definition)
    if specification.tool_correctness.model_dump() != ToolCorrectness().model_dump():
        yield _row("tool_correctness", "", 0, specification.tool_correctness)
    for kind in ("fragments", "retrieval"):
        if getattr(specification, kind):
            yield {"kind": kind, "name": "", "position": 0, "definition": "true"}


def _row(kind: str, name: str, position: int, definition: BaseModel) -> dict[str, Any]:
    # Keys keep their order: that of sub-goals decides between variants.
    text = json.dumps(definition.model_dump(mode="json", exclude_unset=True), ensure_ascii=False)
    return {"kind": kind, "name": name, "position": position, "definition": text}


def _stored_rows(lake: Lake) -> list[dict[str, Any]]:
    """Return the rows that the lake has, in the order of `_rows`."""
    dataset = lake.dataset(TASK_DEFINITIONS.name)
    rows = dataset.to_table().to_pylist() if dataset else []
    return sorted(rows, key=lambda row: (_KINDS.get(row["kind"], 0), row["position"]))


_KINDS: Final = {name: place for place, name in enumerate(Specification.model_fields)}
