"""One check of a lake, and the export of a baseline."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tracegrade_ci.baseline import BaselineNotes, read_baseline, write_baseline
from tracegrade_ci.check import CheckOptions, CheckResult, check_runs
from tracegrade_ci.lake import candidate_runs, opened_scores, score_lake, scored_release
from tracegrade_ci.steps import run_steps
from tracegrade_lake import Lake
from tracegrade_queries.costs.pricing import prices_digest
from tracegrade_queries.engine.connection import open_lake
from tracegrade_scoring.compare.attempts import AttemptCounting
from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE, read_release_rule
from tracegrade_scoring.compare.fail_on_rules import IssueRule, parse_rules
from tracegrade_scoring.compare.judge_corrections import measured_judges
from tracegrade_scoring.compare.lake import declared_tasks
from tracegrade_scoring.errors import BadRule
from tracegrade_scoring.own_metrics.stored import stored_metric_names

Note = Callable[[str], object]


class CheckRequest(NamedTuple):
    """The options of `tracegrade ci check` that decide on the verdict."""

    lake: str
    baseline: Path
    candidate: str
    tasks: Path | None = None
    agent: str | None = None
    fail_on: Sequence[str] = ()
    rule_file: Path | None = None
    counting: AttemptCounting = AttemptCounting()
    max_age_days: int = 14


def check_lake(request: CheckRequest, note: Note) -> CheckResult:
    """Score a lake, and compare a release with a baseline.

    Args:
        request: What to check.
        note: Gets a line for each caution of scoring.

    Raises:
        BadRule: A rule is not understood, or needs the issues of several releases.
        CheckRefused: The baseline or the release cannot be used.
    """
    lake = open_lake(request.lake, note)
    score_lake(lake, request.tasks, note)
    options = _options(lake, request, note)
    baseline = read_baseline(request.baseline)
    with opened_scores(lake) as con:
        candidate = candidate_runs(con, request.candidate, baseline, prices_digest(lake))
        now = datetime.datetime.now(datetime.UTC)
        result = check_runs(baseline, candidate, options, now)
        return replace(result, steps=tuple(run_steps(con, result)))


def _options(lake: Lake, request: CheckRequest, note: Note) -> CheckOptions:
    rule_file = request.rule_file
    release_rule = DEFAULT_RULE if rule_file is None else read_release_rule(rule_file)
    rules = parse_rules(request.fail_on, stored_metric_names(request.lake, note), release_rule)
    for rule in rules:
        if isinstance(rule, IssueRule):
            msg = (
                f"the rule '{rule.text}' needs the runs of several releases, which a baseline "
                "does not have; use `tracegrade compare` on a lake that has them"
            )
            raise BadRule(msg)
    counting = request.counting
    if counting.trials:
        counting = counting._replace(declared=tuple(declared_tasks(lake)))
    return CheckOptions(
        request.lake,
        request.agent,
        rules,
        release_rule,
        counting,
        measured_judges(lake),
        datetime.timedelta(days=request.max_age_days),
    )


def export_baseline(
    lake: str, release: str, folder: Path, commit: str | None, note: Note
) -> BaselineNotes:
    """Write the scores of a release, without texts, into a folder.

    Args:
        lake: A scored lake.
        release: The release.
        folder: The folder; a baseline in it is replaced.
        commit: The commit of the release, if it is known.
        note: Gets a line if reading the lake is slow.

    Raises:
        CheckRefused: The release has no scored run, or the folder cannot be written.
    """
    opened = open_lake(lake, note)
    with opened_scores(opened) as con:
        rows, scored = scored_release(con, release, prices_digest(opened))
    return write_baseline(folder, rows, scored, release, commit)
