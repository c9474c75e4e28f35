"""Records of OpenHands' benchmarks (`output.jsonl`) and of its resolver, each with a history."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tracegrade_collector.importing.formats.trajectories.openhands_events import read_totals
from tracegrade_collector.importing.formats.trajectories.openhands_runs import (
    AGENT,
    EventRun,
    EventRuns,
)
from tracegrade_collector.importing.formats.trajectories.swe_agent_format import verdict_on_limit
from tracegrade_collector.importing.mapping import as_name
from tracegrade_collector.importing.records import JsonObject
from tracegrade_collector.importing.scores import JUDGE, success_verdict
from tracegrade_collector.importing.spellings import as_list, as_object
from tracegrade_collector.importing.trajectory import RunOrigin, Trajectory, with_totals
from tracegrade_collector.importing.usage import read_cost
from tracegrade_collector.importing.verdict_rows import VerdictRecord

_LIMITS: Final = ("maximum iteration", "maximum budget")
_INFRASTRUCTURE: Final = ("AgentRuntime", "ConnectionError")
"""In the error of a run that OpenHands' benchmarks run again; they do not count it."""


def is_output(record: Any) -> bool:
    """Return whether this is the record of a run with its history."""
    if not isinstance(record, dict) or not {"instance_id", "git_patch"} & record.keys():
        return False
    history = record.get("history")
    if not history:  # of a run that never began
        return "history" in record and {"metrics", "instruction"} <= record.keys()
    events = list(_events(as_list(history)[:1]))
    return any({"action", "observation", "kind"} & each.keys() for each in events)


def _events(history: Any) -> Iterator[dict[str, Any]]:
    """Yield the events; the oldest histories have an action and its observation as a pair."""
    for each in as_list(history):
        pair = each if isinstance(each, list) else [each]
        yield from (event for event in pair if event and isinstance(event, dict))


@dataclass(frozen=True)
class OutputRecord:
    """A record with the history of one run."""

    record: JsonObject

    def runs(self) -> EventRuns:
        """Return the runs of the history: the agent's, and its delegates'."""
        runs = EventRuns()
        for event in _events(self.record.get("history")):
            runs.add(event)
        return runs

    def trajectory(
        self, origin: RunOrigin, name: str, run: EventRun, conversation: str | None
    ) -> Trajectory:
        """Return one of the runs."""
        metadata = as_object(self.record.get("metadata"))
        metrics = {} if run.position else as_object(self.record.get("metrics"))
        usage = run.reader.total_usage or read_totals(metrics.get("accumulated_token_usage"))
        cost = run.reader.total_cost or read_cost(metrics.get("accumulated_cost")) or None
        return Trajectory(
            origin,
            name,
            with_totals(run.reader.finished(), usage, cost),
            task=None if run.position else self._task(),
            outcome=None if run.position else self._outcome(),
            release=as_name(metadata.get("git_commit")),
            agent=run.agent,
            conversation=conversation,
            system="\n".join(run.reader.system) or None,
            tools=run.reader.tools,
        )

    def verdicts(self, trajectory_id: str) -> list[VerdictRecord]:
        """Return what was found of the run: by tests, by a model, or that a limit ended it."""
        if self._is_invalid():
            return []
        if (resolved := self._resolved()) is not None:
            verdict = success_verdict(trajectory_id, f"{AGENT} resolved", resolved)
        elif isinstance(self.record.get("success"), bool):
            source, reason = f"{JUDGE}{AGENT} success", self.record.get("result_explanation")
            verdict = success_verdict(
                trajectory_id, source, self.record["success"], evidence=reason
            )
        elif any(limit in str(self.record.get("error")) for limit in _LIMITS):
            return verdict_on_limit(trajectory_id, f"{AGENT} error")
        else:
            return []
        return [verdict] if verdict else []

    def _outcome(self) -> str | None:
        if self._is_invalid():
            return "invalid"
        resolved = self._resolved()
        return None if resolved is None else "success" if resolved else "failure"

    def _resolved(self) -> bool | None:
        """Return whether the benchmark's tests passed; None if they did not run."""
        result = as_object(self.record.get("test_result"))
        resolved = as_object(result.get("report") or self.record.get("report")).get("resolved")
        return resolved if isinstance(resolved, bool) else None

    def _is_invalid(self) -> bool:
        return any(name in str(self.record.get("error")) for name in _INFRASTRUCTURE)

    def _task(self) -> str | None:
        issue = as_object(self.record.get("issue"))
        if "number" in issue:
            return f"{issue.get('owner')}/{issue.get('repo')}#{issue['number']}"
        return as_name(self.record.get("instance_id"))
