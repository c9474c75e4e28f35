"""Decides whether task files are good enough to score against."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from tracegrade_scoring.errors import BadWeights, TaskFileInvalid
from tracegrade_scoring.tasks import Specification, load
from tracegrade_scoring.tasks.model import ToolCorrectness
from tracegrade_scoring.tasks.stored import NO_TASKS

MOST_SHOWN: Final = 100
"""Errors that are named one by one."""


def usable_specification(
    path: Path | None, *, forget: bool = False, note: Callable[[str], object] = lambda _: None
) -> tuple[Specification, list[str]]:
    """Return tasks and tools to score against, and notes: omitted graphs, undeclared tools.

    Args:
        path: A task file or a folder of them; None uses the tasks and tools stored in the lake.
        forget: Whether to score without tasks and tools, instead of a path.
        note: Gets a line for each of several errors.

    Raises:
        TaskFileInvalid: The files hold errors of another kind, or `forget` is given too.
        TaskFileUnreadable: They cannot be read.
    """
    if path is None:
        return NO_TASKS if forget else Specification(), []
    if forget:
        msg = f"--forget-tasks drops the task files that --tasks {path} gives; leave one out"
        raise TaskFileInvalid(msg)
    loaded = load([path])
    if len(loaded.fatal) == 1:
        raise TaskFileInvalid(str(loaded.fatal[0]))
    if loaded.fatal:
        for problem in loaded.fatal[:MOST_SHOWN]:
            note(str(problem))
        msg = (
            f"{len(loaded.fatal)} errors in task files, the first of them named above; "
            f"`tracegrade tasks check {path}` names all"
        )
        raise TaskFileInvalid(msg)
    return loaded.specification, [str(problem) for problem in loaded.problems]


def weighted(
    specification: Specification,
    weights: str | None,
    threshold: float | None = None,
    compat: str | None = None,
) -> Specification:
    """Return the specification with these settings of tool correctness; unchanged without any.

    Args:
        specification: Any.
        weights: As `selection=1,utilization=0`; a dimension that is not named has weight 1.
        threshold: The least tool correctness of a tool-correct attempt, 0 to 1; None: 1.
        compat: `agentic` for the dimensions as in that paper's text; `none` for the built-in ones,
            also if the lake stores the other. None changes nothing.

    Raises:
        BadWeights: A dimension is unknown, or a weight is not a number, negative, or all are 0.
    """
    if weights is None and threshold is None and compat is None:
        return specification
    least = 1.0 if threshold is None else threshold
    entries = [entry.partition("=") for entry in weights.split(",")] if weights else []
    try:
        given: dict[str, object] = {name.strip(): float(weight) for name, _, weight in entries}
        given |= {"threshold": least, "compat": None if compat == "none" else compat}
        options = ToolCorrectness.model_validate(given)
    except (ValidationError, ValueError) as error:
        msg = (
            f"tool correctness cannot be made of --tool-weights '{weights or ''}' and "
            f"--tool-threshold {least:g}; give weights of at least 0, not all 0, as "
            "selection=1,parameters=1,sequence=1,utilization=0 and a threshold from 0 to 1"
        )
        raise BadWeights(msg) from error
    return specification.model_copy(update={"tool_correctness": options})
