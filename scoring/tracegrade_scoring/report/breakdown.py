"""One release in parts: success by task category, task by task, by turn and by conversation.

Its own module because a release that ran alone has no comparison, which shows both otherwise.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.planning_share import NOTHING_KNOWN, PlanningShare
from tracegrade_scoring.rendering.served_share import NO_AMBIGUOUS_CALLS, ServedShare
from tracegrade_scoring.statistics.reliability import Attempts, passes

CATEGORY_HEADINGS = ("release", "category", "success", "from")
TASK_HEADINGS = ("release", "task", "success", "from", "steps per run")


class CategorySuccess(NamedTuple):
    """Success over the attempts at the tasks of one category."""

    task_category: str | None
    tasks: int
    """Tasks with an attempt of known success."""
    attempts: int
    """Attempts of known success; at least 1."""
    correct: int
    low: float | None
    """Lower end of the interval; None for fewer than 5 tasks of several attempts."""
    high: float | None

    @property
    def success(self) -> float:
        """The share of attempts that succeeded."""
        return self.correct / self.attempts


class TaskOutcome(NamedTuple):
    """One task of one release."""

    task_id: str
    task_category: str | None
    attempts: int
    """Attempts of known success."""
    correct: int
    runs: int
    """Runs that count in rates; 0 if only an attempt is known."""
    steps_per_run: float | None
    """Mean steps of a run, with its sub-agents; None without a run."""

    @property
    def success(self) -> float | None:
        """The share of attempts that succeeded; None without one of known success."""
        return self.correct / self.attempts if self.attempts else None


def category_successes(attempts: Iterable[ResultRow], level: float) -> tuple[CategorySuccess, ...]:
    """Return success by category, by name; runs without a category come last.

    Args:
        attempts: Rows of `attempt_successes` of one release.
        level: Of the intervals.
    """
    by_category: dict[str | None, list[ResultRow]] = defaultdict(list)
    for row in attempts:
        if row["valid_attempts"]:
            by_category[row["task_category"]].append(row)
    names = sorted(by_category, key=lambda name: (name is None, name or ""))
    return tuple(_category(name, by_category[name], level) for name in names)


def _category(name: str | None, rows: Sequence[ResultRow], level: float) -> CategorySuccess:
    ordered = sorted(rows, key=lambda row: str(row["task_id"]))
    tasks = [Attempts(row["valid_attempts"], row["correct"]) for row in ordered]
    (once,) = passes(tasks, "pooled", 1, level=level)
    valid, correct = (sum(column) for column in zip(*(task[:2] for task in tasks), strict=True))
    return CategorySuccess(name, len(tasks), valid, correct, once.at_low, once.at_high)


def task_outcomes(
    attempts: Iterable[ResultRow], steps: Iterable[ResultRow]
) -> tuple[TaskOutcome, ...]:
    """Return each task, those that succeed least first.

    Args:
        attempts: Rows of `attempt_successes` of one release.
        steps: Rows of `task_steps` of the same.
    """
    of_task = {row["task_id"]: row for row in steps}
    found = [
        TaskOutcome(
            row["task_id"],
            row["task_category"],
            row["valid_attempts"],
            row["correct"],
            of_task[row["task_id"]]["runs"] if row["task_id"] in of_task else 0,
            of_task[row["task_id"]]["steps_per_run"] if row["task_id"] in of_task else None,
        )
        for row in attempts
    ]
    return tuple(
        sorted(found, key=lambda task: (task.success is None, task.success, task.task_id))
    )


def category_rows(found: Sequence[CategorySuccess], label: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows below `CATEGORY_HEADINGS`; nothing if no task has a category."""
    if all(row.task_category is None for row in found):
        return
    for row in found:
        interval = words.interval(row.low, row.high, Scale.SHARE)
        share = words.amount(row.success, Scale.SHARE)
        tasks, attempts = words.count(row.tasks, "task"), words.count(row.attempts, "attempt")
        yield (
            label,
            words.name(row.task_category, "(no category)"),
            f"{share} ({interval})" if interval else share,
            f"{row.correct:,} of {attempts}, {tasks}",
        )


def task_rows(found: Sequence[TaskOutcome], label: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows below `TASK_HEADINGS`."""
    for row in found:
        yield (
            label,
            words.name(row.task_id),
            words.amount(row.success, Scale.SHARE),
            f"{row.correct:,} of {words.count(row.attempts, 'attempt')}",
            words.number(row.steps_per_run),
        )


class ScoreCaveats(NamedTuple):
    """Numbers of runs of a cohort whose scores need a remark."""

    unplanned: int = 0
    """Their planning quality is 0 by definition: they show no plan."""
    disputed: int = 0
    """Verdicts of the source that decides on their success disagree."""
    people_differ: int = 0
    """People decide on their success, and differ."""
    disputed_sub_goals: int = 0
    """Sub-goals of runs on which verdicts disagree."""
    planning: PlanningShare = NOTHING_KNOWN
    calls: ServedShare = NO_AMBIGUOUS_CALLS

    @classmethod
    def of(cls, row: ResultRow) -> "ScoreCaveats":
        """Return what a row of `score_remarks` says."""
        plain = {name: row[name] for name in cls._fields if name in row}
        return cls(**plain, planning=PlanningShare.of(row), calls=ServedShare.of(row))


NO_CAVEATS = ScoreCaveats()


TURN_HEADINGS = ("release", "turn", "correct", "tool selection", "tool correctness")
CONVERSATION_HEADINGS = (
    *("release", "conversation", "task", "turns", "runs correct", "outcome", "tool selection"),
)


class TurnScores(NamedTuple):
    """The runs that begin in the same turn of their conversations."""

    turn: int
    """From 1."""
    conversations: int
    """Conversations with a run that begins in this turn."""
    known: int
    """Runs of known success."""
    correct: int
    success: float | None
    """Share of the known runs that are correct, by sample weight, as the scores below."""
    tsa: float | None
    tool_correctness: float | None


class ConversationScores(NamedTuple):
    """One conversation."""

    conversation_id: str
    task_id: str | None
    trial: int | None
    """The same id in another trial is another conversation."""
    turns: int
    """Turns of its runs; one run may have several."""
    runs: int
    known: int
    """Runs of known success."""
    correct: int
    tsa: float | None
    trajectory_id: str
    """Its first run that failed, else its first run."""

    @property
    def is_correct(self) -> bool | None:
        """Whether each run is correct; None if one is unknown and none failed."""
        if self.correct < self.known:
            return False
        return True if self.known == self.runs else None


class Conversations(NamedTuple):
    """The conversations of one release that have several runs."""

    turns: tuple[TurnScores, ...] = ()
    conversations: tuple[ConversationScores, ...] = ()
    """Those with the smallest share of correct runs first."""
    total: int = 0
    """How many conversations there are; `conversations` holds the first."""


NO_CONVERSATIONS = Conversations()


def conversations(turns: Sequence[ResultRow], found: Sequence[ResultRow]) -> Conversations:
    """Return the conversations of one release, from `turn_scores` and `conversation_scores`."""
    return Conversations(
        tuple(TurnScores(**row) for row in turns),
        tuple(
            ConversationScores(**{name: row[name] for name in ConversationScores._fields})
            for row in found
        ),
        found[0]["total"] if found else 0,
    )


def turn_rows(found: Conversations, label: str) -> Iterator[tuple[str, ...]]:
    """Yield what is below `TURN_HEADINGS`."""
    for row in found.turns:
        share = words.amount(row.success, Scale.SHARE)
        yield (
            label,
            str(row.turn),
            f"{share}, {row.correct:,} of {row.known:,}",
            words.amount(row.tsa, Scale.SHARE),
            words.amount(row.tool_correctness, Scale.SHARE),
        )


_OUTCOMES = {True: "correct", False: "failed", None: "unknown"}


def conversation_rows(found: Conversations, label: str) -> Iterator[tuple[str, ...]]:
    """Yield what is below `CONVERSATION_HEADINGS`."""
    for row in found.conversations:
        yield (
            label,
            words.name(row.conversation_id),
            words.name(row.task_id) + ("" if row.trial is None else f", trial {row.trial}"),
            words.number(row.turns),
            f"{row.correct:,} of {row.runs:,}",
            _OUTCOMES[row.is_correct],
            words.amount(row.tsa, Scale.SHARE),
        )
