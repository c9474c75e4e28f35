"""Decides whether task files are good enough to score against."""

from pathlib import Path

from pydantic import ValidationError

from tracegrade_scoring.errors import BadWeights, TaskFileInvalid
from tracegrade_scoring.tasks import Specification, load
from tracegrade_scoring.tasks.model import ToolCorrectness


def usable_specification(path: Path | None) -> tuple[Specification, list[str]]:
    """Return what to score against, and notes: graphs that are left out, undeclared tools.

    Args:
        path: A task file or a folder of them; None scores what needs no task.

    Raises:
        TaskFileInvalid: The files hold errors of another kind.
        TaskFileUnreadable: They cannot be read.
    """
    if path is None:
        return Specification(), []
    loaded = load([path])
    if loaded.fatal:
        rest = f" (and {len(loaded.fatal) - 1} more)" if len(loaded.fatal) > 1 else ""
        msg = f"{loaded.fatal[0]}{rest}; `tracegrade tasks check {path}` shows all"
        raise TaskFileInvalid(msg)
    return loaded.specification, [str(problem) for problem in loaded.problems]


def weighted(
    specification: Specification, weights: str | None, threshold: float, compat: str | None = None
) -> Specification:
    """Return the specification with this way to make tool correctness.

    Args:
        specification: Any.
        weights: As `selection=1,utilization=0`; a dimension that is not named has weight 1.
        threshold: The least tool correctness of a tool-correct attempt, 0 to 1.
        compat: `agentic` for the dimensions as that paper's text has them; None for ours.

    Raises:
        BadWeights: A dimension is unknown, or a weight is not a number, negative, or all are 0.
    """
    entries = [entry.partition("=") for entry in weights.split(",")] if weights else []
    try:
        given: dict[str, object] = {name.strip(): float(weight) for name, _, weight in entries}
        given |= {"threshold": threshold, "compat": compat}
        options = ToolCorrectness.model_validate(given)
    except (ValidationError, ValueError) as error:
        msg = (
            f"tool correctness cannot be made of --tool-weights '{weights or ''}' and "
            f"--tool-threshold {threshold:g}; give weights of at least 0, not all 0, as "
            "selection=1,parameters=1,sequence=1,utilization=0 and a threshold from 0 to 1"
        )
        raise BadWeights(msg) from error
    return specification.model_copy(update={"tool_correctness": options})
