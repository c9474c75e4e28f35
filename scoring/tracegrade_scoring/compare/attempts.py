"""Selects the attempts of two releases that count for success, pass@k and pass^k.

Source: docs/metrics.md, section 8.5.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.statistics.reliability import MissingPolicy

SIDES: Final = ("base", "candidate")


class DeclaredTask(NamedTuple):
    """A task of the task files that the lake was scored against last."""

    task_id: str
    agent_name: str | None
    """Whose task it is; None if the file does not say."""
    task_category: str | None


class AttemptCounting(NamedTuple):
    """The way in which missing attempts are counted."""

    missing: MissingPolicy = "exclude"
    """Whether attempts of unknown success are left out or are failures."""
    trials: int = 0
    """Attempts that each task should have, also one that neither release ran but another of the
    agent's, or a task file has; under `as-failure` the rest are failures too."""
    declared: Sequence[DeclaredTask] = ()
    """The tasks of the task files; they count where `trials` is given."""


KNOWN_ALONE: Final = AttemptCounting()
"""Attempts of known success, of the tasks that both releases ran."""


class CountedAttempts(NamedTuple):
    """The attempts that count."""

    rows: list[ResultRow]
    """Rows of each task, in the order of tasks, as `attempt_pairs` has them."""
    failures: tuple[int, int]
    """Attempts of base and candidate that are missing or of unknown success, among them."""


def counted_attempts(rows: Iterable[ResultRow], counting: AttemptCounting) -> CountedAttempts:
    """Return the attempts that count, of the rows of `attempt_pairs`."""
    if counting.missing == "exclude":
        return CountedAttempts([row for row in rows if all(_made(row))], (0, 0))
    counted = [row for row in rows if counting.trials or all(_made(row))]
    filled = [_filled(row, counting.trials) for row in counted]
    base, candidate = (
        sum(row[f"{side}_valid"] for row in filled) - sum(row[f"{side}_valid"] for row in counted)
        for side in SIDES
    )
    return CountedAttempts(filled, (base, candidate))


def tasks_to_try(
    agent: tuple[str | None, str | None],
    attempts: Mapping[tuple[str | None, str | None], Sequence[ResultRow]],
    counting: AttemptCounting,
) -> list[ResultRow]:
    """Return the rows of `attempt_pairs` of an agent in a run mode, with untried tasks.

    These are the declared tasks that name the agent, or that name no agent and no other agent
    tried.

    Args:
        agent: Its name and the run mode.
        attempts: The rows of each task.
        counting: Has the declared tasks.
    """
    own = attempts.get(agent, ())
    own_ids = {row["task_id"] for row in own}
    by_others = {
        row["task_id"] for (name, _), rows in attempts.items() if name != agent[0] for row in rows
    }
    lacking = [
        {"task_id": task.task_id, "task_category": task.task_category, **_NO_ATTEMPTS}
        for task in counting.declared
        if task.task_id not in own_ids
        and (
            task.agent_name == agent[0] or (not task.agent_name and task.task_id not in by_others)
        )
    ]
    return sorted([*own, *lacking], key=lambda row: str(row["task_id"]))


_NO_ATTEMPTS: Final = {
    f"{side}_{count}": 0 for side in SIDES for count in ("valid", "correct", "invalid")
}


def _made(row: ResultRow) -> list[int]:
    """Return how many attempts at the task each release made."""
    return [row[f"{side}_valid"] + row[f"{side}_invalid"] for side in SIDES]


def _filled(row: ResultRow, trials: int) -> ResultRow:
    """Return the row with the attempts that are missing or of unknown success as failures."""
    numbers = zip(SIDES, _made(row), strict=True)
    valid = {f"{side}_valid": max(made, trials) for side, made in numbers}
    return row | valid | {f"{side}_invalid": 0 for side in SIDES}
