"""Results of scored runs, as tests read them: scores, calls, reasons, and the run as text."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, overload

from duckdb import DuckDBPyConnection

from tracegrade.suggestions import did_you_mean
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.rendering import words
from tracegrade_scoring.statistics.reliability import Attempts, Pass, passes
from tracegrade_scoring.timeline.model import RunReason, RunScore, Timeline
from tracegrade_scoring.timeline.read import read_timeline
from tracegrade_scoring.timeline.texts import render_terminal
from tracegrade_testing.errors import NotScored, SeveralRuns
from tracegrade_testing.first_wrong_step import first_wrong_step
from tracegrade_testing.scored_runs import Calls, RunFacts, ScoredRuns

IN_MEMORY: Final = "this test"
"""Name of the lake, for readers."""

_WIDTH: Final = 100


class RunResult:
    """One scored run.

    Each metric is an attribute: `result.tsa` is its value, or raises `NotScored`.
    """

    def __init__(self, scored: ScoredRuns, facts: RunFacts, late: int = 0) -> None:
        self._scored = scored
        self._facts = facts
        self.late = late
        """Spans that had not ended when the block did, and are left out."""

    def __getattr__(self, name: str) -> float:
        """Return the value of a metric.

        Raises:
            NotScored: The run has none.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        found = self.score(name)
        if found.status != "scored" or found.value is None:
            why, remedy = words.reason(found.reason), words.remedy(found.reason)
            raise NotScored(name, why, remedy)
        return found.value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.scores]

    def __repr__(self) -> str:
        return f"<RunResult {self.trajectory_id}: {len(self.calls)} calls>"

    @property
    def engine(self) -> DuckDBPyConnection:
        """The tables of the run, as a scored lake has them, for queries of your own."""
        return self._scored.engine

    @property
    def trajectory_id(self) -> str:
        """The id of the run."""
        return self._facts.trajectory_id

    @property
    def task(self) -> str | None:
        """The task that the run was scored by."""
        return self._scored.task(self._facts)

    @property
    def agent(self) -> str | None:
        """The name of its agent."""
        return self._facts.agent_name

    @property
    def calls(self) -> Calls:
        """The names of the tools that its own agent called, in order."""
        return self._facts.calls

    @property
    def expected(self) -> tuple[str, ...]:
        """The tools that its task expects, one for each decision point."""
        return self._scored.expected[self.trajectory_id]

    @property
    def reasons(self) -> tuple[RunReason, ...]:
        """Everything that went wrong, the most direct reason first."""
        return self._scored.reasons[self.trajectory_id]

    @property
    def issues(self) -> tuple[str, ...]:
        """The keys of its reasons, which are the same in every run with such a reason."""
        return tuple(dict.fromkeys(reason.key for reason in self.reasons))

    @property
    def scores(self) -> dict[str, RunScore]:
        """Every score of the run by metric, also without a value."""
        return dict(self._scored.scores[self.trajectory_id])

    @property
    def runs(self) -> tuple["RunResult", ...]:
        """The run itself, as a `ResultSet` has several."""
        return (self,)

    def score(self, metric: str) -> RunScore:
        """Return a score with its numerator, denominator, status and reason.

        Raises:
            AttributeError: There is no such metric.
        """
        found = self._scored.score(self._facts, metric)
        if found is None:
            known = sorted({*METRICS, *self.scores})
            hint = did_you_mean(metric, known) or "`tracegrade metrics list` names all"
            msg = f"a run has no metric '{metric}'; {hint}"
            raise AttributeError(msg)
        return found

    def read(self) -> Timeline:
        """Return the run with everything that is known of its steps."""
        return read_timeline(self.engine, IN_MEMORY, self.trajectory_id)

    def explain(self) -> str:
        """Return the first wrong step: what was called, what was expected; '' if none is wrong."""
        return first_wrong_step(self.read())

    def timeline(self, *, width: int = _WIDTH, color: bool = False) -> str:
        """Return the run step by step, as `tracegrade report --trajectory` shows it."""
        return render_terminal(self.read(), width=width, color=color)


class ResultSet(Sequence[RunResult]):
    """Several scored runs, in the order in which they began."""

    def __init__(self, runs: Sequence[RunResult]) -> None:
        self.runs = tuple(runs)

    @overload
    def __getitem__(self, index: int) -> RunResult: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[RunResult, ...]: ...

    def __getitem__(self, index: int | slice) -> RunResult | tuple[RunResult, ...]:
        return self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)

    def __getattr__(self, name: str) -> Any:
        """Refuse to answer for several runs at once.

        Raises:
            SeveralRuns: Always, for what a single run has.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        agents = ", ".join(words.name(run.agent, "(no agent name)") for run in self.runs)
        msg = f"'{name}' is of one run, and there are {len(self)} ({agents}); choose one of .runs"
        raise SeveralRuns(msg)

    def pass_hat(self, k: int) -> float:
        """Return the chance that all of k attempts at a task succeed, the mean over tasks.

        Raises:
            NotScored: A task has fewer than k attempts of known success.
        """
        return self._pass(k, "pass_hat").pass_hat_k

    def pass_at(self, k: int) -> float:
        """Return the chance that at least one of k attempts succeeds, the mean over tasks.

        Raises:
            NotScored: A task has fewer than k attempts of known success.
        """
        return self._pass(k, "pass_at").pass_at_k

    def _pass(self, k: int, name: str) -> Pass:
        successes: defaultdict[str, list[float | None]] = defaultdict(list)
        for run in self.runs:
            successes[run.task or ""].append(run.score("success").value)
        tasks = [_attempts(successes[task]) for task in sorted(successes)]
        least = min((task.valid for task in tasks), default=0)
        if not 1 <= k <= least:
            why = f"a task has {words.count(least, 'attempt')} of known success"
            estimate = f"{name}({k})"
            raise NotScored(estimate, why, f"give it at least {max(k, 1)} trials")
        return passes(tasks, largest_k=k)[-1]


def _attempts(successes: Sequence[float | None]) -> Attempts:
    known = [each for each in successes if each is not None]
    return Attempts(len(known), sum(each == 1 for each in known), len(successes) - len(known))
