"""Rules about facts: a limit that a number passes, without a test."""

import datetime
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import duckdb

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.issues.read import Issue
from tracegrade_scoring.metrics import Metric
from tracegrade_scoring.rendering import words
from tracegrade_watch.alert import Evidence
from tracegrade_watch.day_rows import DayRows, day_means, scored_rows, side_of
from tracegrade_watch.reading import EXAMPLES, WatchedSeries, WatchedSums, in_scope, read_rows
from tracegrade_watch.rules.model import WatchRule
from tracegrade_watch.rules.stored import rule_line
from tracegrade_watch.watched import RuleCheck, Watching

DAY_RUNS: Final = 10
"""Runs that a day needs for its mean to count."""
MODE_RUNS: Final = 3
"""Runs that must show a new failure mode."""
TIME: Final = "%Y-%m-%d %H:%M UTC"


def day_checks(rule: WatchRule, sums: WatchedSums, metric: Metric) -> list[RuleCheck]:
    """Return the result of `day_above` or `day_below` for the newest day of each series."""
    return [_day_check(rule, series, sums, metric) for series in sums.of_rule(rule)]


def _day_check(
    rule: WatchRule, series: WatchedSeries, sums: WatchedSums, metric: Metric
) -> RuleCheck:
    about = Watching(
        rule.id,
        series.agent_name,
        series.run_mode,
        series.metric,
        dimension=rule.by,
        dimension_value=series.dimension_value,
    )
    needed = rule.runs or DAY_RUNS
    rows = scored_rows(sums.days(series))
    day = _newest_day(rows, needed)
    if day is None:
        return RuleCheck(about, reason=f"too few runs: no day has {needed}")
    evidence = _day_evidence(rule, metric, [row for row in rows if row["date"] == day], needed)
    sign = _sign(rule)
    fires = sign * (evidence.observed or 0.0) > sign * (evidence.limit or 0.0)
    evidence = replace(
        evidence,
        days=day_means([(None, rows)]),
        run_ids=sums.examples(series, -sign, date=day) if fires else (),
    )
    return RuleCheck(about, fires=fires, is_over=not fires, evidence=evidence)


def _sign(rule: WatchRule) -> int:
    return 1 if rule.day_above is not None else -1


def _newest_day(rows: DayRows, needed: int) -> datetime.date | None:
    """Return the newest date with so many observations."""
    scored: Counter[datetime.date] = Counter()
    for row in rows:
        scored[row["date"]] += row["scored"]
    return max((date for date, count in scored.items() if count >= needed), default=None)


def _day_evidence(rule: WatchRule, metric: Metric, day: DayRows, needed: int) -> Evidence:
    side = side_of(None, day)
    word = "above" if _sign(rule) > 0 else "below"
    limit = rule.day_above if rule.day_above is not None else rule.day_below
    shown = words.amount(limit, metric.scale)
    return Evidence(
        f"{metric.name} is {words.amount(side.mean, metric.scale)} on {day[0]['date']} "
        f"({words.count(side.scored, 'run')}); the limit is {word} {shown}",
        rule_line(rule),
        f"a newer day with {needed} runs that is not {word} {shown}",
        observed=side.mean,
        limit=limit,
        candidate=side,
    )


def mode_checks(rule: WatchRule, con: duckdb.DuckDBPyConnection) -> list[RuleCheck]:
    """Return each failure mode that the newest release shows for the first time."""
    return [
        _mode_check(rule, row)
        for row in read_rows(con, "new_failure_modes")
        if in_scope(rule, row["agent_name"], row["run_mode"])
    ]


def _mode_check(rule: WatchRule, row: ResultRow) -> RuleCheck:
    needed = rule.runs or MODE_RUNS
    about = Watching(
        rule.id, row["agent_name"], row["run_mode"], row["mode"], row["base"], row["release"]
    )
    release = words.name(row["release"], "(no release)")
    evidence = Evidence(
        f"{words.mode(row['mode'])} in {row['hits']:,} of {words.count(row['runs'], 'run')} "
        f"of {release}, and in no run of a release before",
        rule_line(rule),
        "a newer release",
        observed=float(row["hits"]),
        limit=float(needed),
        run_ids=tuple(row["run_ids"]),
    )
    fires = row["hits"] >= needed
    return RuleCheck(about, fires=fires, is_over=not fires, evidence=evidence)


def issue_checks(
    rule: WatchRule, issues: Sequence[Issue], con: duckdb.DuckDBPyConnection
) -> list[RuleCheck]:
    """Return each issue in the state of the rule; `con` holds `issue_attempts`."""
    return [
        _issue_check(rule, issue, con)
        for issue in issues
        if issue.state.name == rule.issue and in_scope(rule, issue.agent_name, issue.run_mode)
    ]


def _issue_check(rule: WatchRule, issue: Issue, con: duckdb.DuckDBPyConnection) -> RuleCheck:
    needed = rule.runs or 1
    newest = issue.releases[-1]
    fires = newest.hits >= needed
    about = Watching(
        rule.id, issue.agent_name, issue.run_mode, issue.issue, None, issue.state.release
    )
    evidence = Evidence(
        f"issue {issue.issue} is {issue.state.name}: {newest.hits:,} of "
        f"{words.count(newest.runs, 'run')} of {words.name(newest.release, '(no release)')} "
        "show it",
        rule_line(rule),
        f"the issue is no longer {issue.state.name}: fixed, muted or marked as known",
        observed=float(newest.hits),
        limit=float(needed),
        run_ids=_issue_runs(con, issue) if fires else (),
        content=words.line(issue.title),
    )
    return RuleCheck(about, fires=fires, is_over=not fires, evidence=evidence)


def _issue_runs(con: duckdb.DuckDBPyConnection, issue: Issue) -> tuple[str, ...]:
    rows = read_rows(
        con,
        "issue_examples",
        issue=issue.issue,
        agent_name=issue.agent_name,
        run_mode=issue.run_mode,
        rows=EXAMPLES,
    )
    return tuple(row["trajectory_id"] for row in rows)


def silence_check(
    rule: WatchRule, con: duckdb.DuckDBPyConnection, now: datetime.datetime
) -> RuleCheck:
    """Return whether no run was received for too long."""
    limit = rule.silence_hours or 0.0
    received = [
        row["received_at"]
        for row in read_rows(con, "receipts")
        if row["received_at"] is not None and in_scope(rule, row["agent_name"], row["run_mode"])
    ]
    about = Watching(rule.id, rule.agent, rule.run_mode)
    whose = f" of {words.cohort(rule.agent, rule.run_mode)}" if rule.agent else ""
    if not received:
        return RuleCheck(about, reason=f"no run{whose} was ever received")
    newest = max(received)
    fires = now - newest > datetime.timedelta(hours=limit)
    evidence = Evidence(
        f"the newest run{whose} was received at {newest:{TIME}}; the limit is {limit:g} hours",
        rule_line(rule),
        "a run that is received",
        limit=limit,
    )
    return RuleCheck(about, fires=fires, is_over=not fires, evidence=evidence)


def unscored_check(
    rule: WatchRule, con: duckdb.DuckDBPyConnection, now: datetime.datetime
) -> RuleCheck:
    """Return whether received runs wait too long for their scores."""
    limit = rule.unscored_minutes or 0.0
    ((traces, oldest),) = [tuple(row.values()) for row in read_rows(con, "traces_without_scores")]
    fires = oldest is not None and now - oldest > datetime.timedelta(minutes=limit)
    since = f"the oldest since {oldest:{TIME}}; " if oldest is not None else ""
    evidence = Evidence(
        f"{words.count(traces, 'trace')} without scores; {since}the limit is {limit:g} minutes",
        rule_line(rule),
        "`tracegrade score`",
        observed=float(traces),
        limit=limit,
    )
    return RuleCheck(Watching(rule.id), fires=fires, is_over=not fires, evidence=evidence)
