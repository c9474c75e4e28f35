"""`judge calibrate`: compares a judge with people's labels, and stores the result in the lake."""

import datetime
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tracegrade_judges.calibration.agreement import (
    Agreement,
    Measure,
    kappa,
    measured,
    share,
    why_uncalibrated,
)
from tracegrade_judges.calibration.correction import YesCounts, corrected_rate
from tracegrade_judges.calibration.label_files import judge_verdicts
from tracegrade_judges.calibration.prediction_powered import prediction_powered_rate
from tracegrade_judges.errors import NothingToCalibrate
from tracegrade_judges.run.open_lake import JudgedLake
from tracegrade_judges.run.verdicts import source_of
from tracegrade_judges.sql import query
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.calibrations import (
    CORRECTED_RATES,
    VERDICT_CALIBRATIONS,
    put_source_rows,
)
from tracegrade_scoring.statistics.intervals import MIN_TASKS

LabelKey = tuple[str, str, str | None, int | None, str | None]
Pairs = list[tuple[bool, bool]]
"""Pairs of answers to the same question: the judge's and people's."""
Group = tuple[str, str | None, str | None]
"""Subject, agent and release."""


class CalibrationResult(NamedTuple):
    """Measurements of one judge, as now stored in the lake."""

    calibration: ResultRow
    rates: Sequence[ResultRow]

    @property
    def calibrated(self) -> bool:
        """Whether the judge is calibrated by the labels."""
        return bool(self.calibration["calibrated"])


class _Labels(NamedTuple):
    pairs: Mapping[str, Pairs]
    """By cluster."""
    of_releases: Mapping[Group, Pairs]
    undecided: int
    people: Pairs
    """Pairs of answers of two people to the same question."""


def calibrate(opened: JudgedLake, judge: str) -> CalibrationResult:
    """Measure a judge by the labels of people on verdicts that were drawn at random.

    Raises:
        NothingToCalibrate: There is no label.
        NothingToJudge: The judge has no verdict.
    """
    verdicts = judge_verdicts(opened, judge)
    labels = _labels(verdicts, _people(opened, judge))
    if not labels.pairs:
        msg = (
            f"no drawn verdict of judge '{judge}' has a label; "
            "draw verdicts and import their labels with `tracegrade judge label`"
        )
        raise NothingToCalibrate(msg)
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    shared = {"source": source_of(judge), "calibrated_at": now}
    counts = Agreement.of([pair for pairs in labels.pairs.values() for pair in pairs])
    calibration = {**shared, **_calibration(labels, counts)}
    rates = [
        {**shared, "calibrated": calibration["calibrated"], **row}
        for row in _rates(verdicts, labels, counts)
    ]
    put_source_rows(opened.lake, VERDICT_CALIBRATIONS, source_of(judge), [calibration])
    put_source_rows(opened.lake, CORRECTED_RATES, source_of(judge), rates)
    return CalibrationResult(calibration, rates)


def _people(opened: JudgedLake, judge: str) -> Mapping[LabelKey, list[bool]]:
    """Return people's labels of each verdict that was drawn, in the order of their names."""
    rows = opened.con.execute(query("human_labels"), {"judge": judge}).fetchall()
    found: dict[LabelKey, list[bool]] = defaultdict(list)
    for *verdict, _, says_yes in rows:
        trajectory_id, subject, sub_goal, step_index, question = verdict
        found[trajectory_id, subject, sub_goal, step_index, question].append(says_yes)
    return found


def _labels(verdicts: Iterable[ResultRow], people: Mapping[LabelKey, Sequence[bool]]) -> _Labels:
    """Return the pairs by task, or by run where there are few tasks; most people decide."""
    labeled = [(row, people[_key(row)]) for row in verdicts if _key(row) in people]
    tasks = {row["task_id"] for row, _ in labeled}
    cluster = "task_id" if len(tasks) >= MIN_TASKS else "trajectory_id"
    pairs: dict[str, Pairs] = defaultdict(list)
    of_releases: dict[Group, Pairs] = defaultdict(list)
    undecided = 0
    for row, labels_of_people in labeled:
        if 2 * sum(labels_of_people) == len(labels_of_people):
            undecided += 1
        else:
            pair = (row["label"] == "yes", 2 * sum(labels_of_people) > len(labels_of_people))
            pairs[row[cluster] or ""].append(pair)
            of_releases[_group(row)].append(pair)
    twice = [
        (labels_of_people[0], labels_of_people[1])
        for _, labels_of_people in labeled
        if len(labels_of_people) > 1
    ]
    return _Labels(pairs, of_releases, undecided, twice)


def _calibration(labels: _Labels, counts: Agreement) -> ResultRow:
    by_cluster = {name: Agreement.of(pairs) for name, pairs in labels.pairs.items()}
    kappas, ac1s = measured(by_cluster, counts)
    reason = why_uncalibrated(counts, kappas)
    return {
        "calibrated": reason is None,
        "reason": reason,
        "labels": counts.labels,
        "undecided": labels.undecided,
        "both_yes": counts.both_yes,
        "only_source_yes": counts.only_judge_yes,
        "only_people_yes": counts.only_people_yes,
        "both_no": counts.both_no,
        **_columns("agreement", share(counts.both_yes + counts.both_no, counts.labels)),
        **_columns("kappa", kappas),
        **_columns("ac1", ac1s),
        **_columns(
            "true_yes_rate", share(counts.both_yes, counts.both_yes + counts.only_people_yes)
        ),
        **_columns("true_no_rate", share(counts.both_no, counts.both_no + counts.only_judge_yes)),
        "labeled_by_two": len(labels.people),
        "people_kappa": kappa(Agreement.of(labels.people)) if labels.people else None,
    }


def _rates(
    verdicts: Iterable[ResultRow], labels: _Labels, counts: Agreement
) -> Iterable[ResultRow]:
    """Yield people's estimated rate of yes for each release, sorted by subject, agent and release.

    Calls have no such rate: how often a yes is right depends on how many sub-goals they may serve.
    """
    counted = (row for row in verdicts if row["subject"] != "served")
    groups = Counter((_group(row), row["label"]) for row in counted)
    for group in sorted({group for group, _ in groups}, key=str):
        yes_counts = YesCounts(groups[group, "yes"], groups[group, "yes"] + groups[group, "no"])
        its_labels = Agreement.of(labels.of_releases.get(group, []))
        subject, agent_name, release = group
        yield {
            "subject": subject,
            "agent_name": agent_name,
            "release": release,
            "judged": yes_counts.of,
            "judged_yes": yes_counts.yes,
            "judged_rate": yes_counts.yes / yes_counts.of,
            **_columns("corrected_rate", corrected_rate(yes_counts, counts)),
            "labels": its_labels.labels,
            **_columns("ppi_rate", prediction_powered_rate(yes_counts, its_labels)),
        }


def _group(row: ResultRow) -> Group:
    return row["subject"], row["agent_name"], row["release"]


def _columns(name: str, found: Measure) -> ResultRow:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _key(row: ResultRow) -> LabelKey:
    names = ("trajectory_id", "subject", "sub_goal", "step_index", "plan_question")
    trajectory_id, subject, sub_goal, step_index, question = (row[name] for name in names)
    return trajectory_id, subject, sub_goal, step_index, question
