"""Looks at a lake by its rules: what each finds, and the alerts after it."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Final

import duckdb

from tracegrade_lake import Lake
from tracegrade_lake.tables import rows_of
from tracegrade_queries.dimensions.stored import stored_mapping
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.issue_marks import stored_marks
from tracegrade_scoring.issues.read import read_issues
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metric_definition import METRIC_DEFINITIONS
from tracegrade_scoring.metrics import METRICS, Metric
from tracegrade_scoring.noted_files import was_scored
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.own_metrics import own_metrics
from tracegrade_watch import phrases
from tracegrade_watch.drifts import drift_checks
from tracegrade_watch.errors import WatchBusy, WatchRefused
from tracegrade_watch.facts import (
    day_checks,
    issue_checks,
    mode_checks,
    silence_check,
    unscored_check,
)
from tracegrade_watch.reading import WatchedSums, in_scope, prepare, read_rows, watched_sums
from tracegrade_watch.regressions import compared, decided, regression_tests
from tracegrade_watch.rules.load import USAGE_METRICS, KnownNames, check_names
from tracegrade_watch.rules.model import WatchFile, WatchRule
from tracegrade_watch.stored import read_alerts
from tracegrade_watch.watched import RuleCheck, Watched, Watching, updated_alerts

MEMORY_LIMIT: Final = "4GB"
"""Memory of the engine; it spills beyond."""
LOCK: Final = "watch"
"""The lock of the lake under which alerts are read, changed and written."""


@contextmanager
def alone(lake: Lake) -> Iterator[None]:
    """Let no other job change the alerts of the lake meanwhile.

    Raises:
        WatchBusy: One does.
    """
    with closing(lake.lock(LOCK)) as lock:
        if not lock.try_acquire():
            msg = f"another job is watching the lake at {lake.location}; run this again later"
            raise WatchBusy(msg)
        yield


def known_names(lake: Lake) -> KnownNames:
    """Return what rules of the lake may name.

    Raises:
        WatchRefused: The lake has never been scored.
    """
    _check_scored(lake)
    return KnownNames(_metrics(lake), _dimensions(lake))


def watch(lake: Lake, rules: WatchFile, now: datetime.datetime) -> Watched:
    """Return what the rules find in a lake, and its alerts after that; write nothing.

    Everything but the rules about silence and waiting runs is a function of the lake alone.

    Args:
        lake: A scored lake.
        rules: The rules.
        now: UTC without a zone.

    Raises:
        WatchRefused: The lake has never been scored, or a rule names what it does not have.
    """
    known = known_names(lake)
    check_names(rules, known)
    with connect(lake, layers=(SCORES,), memory_limit=MEMORY_LIMIT) as con:
        prepare(con)
        found = _Looking(lake, rules, known.metrics, con, now).checks()
        until = read_rows(con, "watched_until")[0]["received_at"]
    return Watched(found, updated_alerts(read_alerts(lake), found, until), until)


def _check_scored(lake: Lake) -> None:
    if not was_scored(lake):
        msg = (
            f"the lake at {lake.location} has never been scored, so there is nothing to watch; "
            f"run `tracegrade score --lake {lake.location}` first"
        )
        raise WatchRefused(msg)


def _metrics(lake: Lake) -> Mapping[str, Metric]:
    rows = rows_of(lake, METRIC_DEFINITIONS).drop_columns(["position", "metric_hash"])
    return {**METRICS, **own_metrics(rows.to_pylist())}


def _dimensions(lake: Lake) -> Sequence[str]:
    mapping = stored_mapping(lake).mapping
    return tuple(mapping.dimensions) if mapping else ()


class _Looking:
    """One look at a lake."""

    def __init__(
        self,
        lake: Lake,
        rules: WatchFile,
        metrics: Mapping[str, Metric],
        con: duckdb.DuckDBPyConnection,
        now: datetime.datetime,
    ) -> None:
        self._lake, self._con, self._now = lake, con, now
        self._rules = [rules.of(rule) for rule in rules.watch]
        self._defaults = rules.defaults
        self._metrics = {**metrics, **{name: phrases.usage_metric(name) for name in USAGE_METRICS}}

    def checks(self) -> list[RuleCheck]:
        """Return the result of every rule, in the order of the rules.

        Tests share `alpha`: the threshold is their number divided by it.
        """
        found: dict[str, list[RuleCheck]] = {}
        for dimension in sorted({rule.by for rule in self._rules}, key=str):
            found |= self._of_dimension([rule for rule in self._rules if rule.by == dimension])
        tests = sum(len(found[rule.id]) for rule in self._rules if rule.smallest is not None)
        threshold = max(tests, 1) / self._defaults.alpha
        return [
            decided(check, threshold) if rule.smallest is not None else check
            for rule in self._rules
            for check in found[rule.id] or self._without_runs(rule)
        ]

    def _without_runs(self, rule: WatchRule) -> Iterator[RuleCheck]:
        """Yield that a rule has nothing to look at, as where its agent is spelled wrongly."""
        about = Watching(rule.id, rule.agent, rule.run_mode, rule.metric, dimension=rule.by)
        releases = [
            row["releases"]
            for row in read_rows(self._con, "watched_agents")
            if in_scope(rule, row["agent_name"], row["run_mode"])
        ]
        if not releases:
            whose = f" of {words.cohort(rule.agent, rule.run_mode)}" if rule.agent else ""
            yield RuleCheck(about, reason=f"no scored run{whose}")
        elif max(releases) == 1 and (rule.smallest is not None or rule.failure_mode is not None):
            yield RuleCheck(about, reason="there is one release, so none before it")
        elif rule.metric is not None:
            yield RuleCheck(about, reason=f"no run has {rule.metric}")

    def _of_dimension(self, rules: Sequence[WatchRule]) -> dict[str, list[RuleCheck]]:
        """Return the results of rules with the same dimension, by their ids."""
        metrics = {rule.metric for rule in rules if rule.metric is not None}
        with watched_sums(self._con, rules[0].by, metrics) as sums:
            return {rule.id: [*self._checked(rule, sums)] for rule in rules}

    def _checked(self, rule: WatchRule, sums: WatchedSums) -> Sequence[RuleCheck]:
        if rule.metric is not None:
            return self._of_metric(rule, sums, self._metrics[rule.metric])
        if rule.failure_mode is not None:
            return mode_checks(rule, self._con)
        if rule.issue is not None:
            issues = read_issues(self._con, stored_marks(self._lake))
            return issue_checks(rule, issues, self._con)
        if rule.silence_hours is not None:
            return [silence_check(rule, self._con, self._now)]
        return [unscored_check(rule, self._con, self._now)]

    def _of_metric(
        self, rule: WatchRule, sums: WatchedSums, metric: Metric
    ) -> Sequence[RuleCheck]:
        min_days = self._defaults.min_days
        if rule.smallest is not None:
            tests = regression_tests(rule, sums, metric, min_days)
            return [compared(test, sums, min_days, 1 / self._defaults.alpha) for test in tests]
        if rule.drift is not None:
            return drift_checks(rule, sums, metric)
        return day_checks(rule, sums, metric)
