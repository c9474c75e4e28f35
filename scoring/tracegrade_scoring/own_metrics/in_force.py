"""Decides which metrics of users' own a scoring run uses.

SQL metrics come from the given folder, else from the lake; Python metrics come from installed
distributions. A fault in a given file ends the run before it begins. A fault in a distribution is
reported, and has no other effect.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from tracegrade_lake import Lake
from tracegrade_scoring.errors import MetricInvalid
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.own_metrics import plugins, readable
from tracegrade_scoring.own_metrics.checks import query_fault, running_faults
from tracegrade_scoring.own_metrics.header import MetricFault, ReadMetric, read_metric
from tracegrade_scoring.own_metrics.row_order_check import order_faults
from tracegrade_scoring.own_metrics.stored import stored_metrics
from tracegrade_scoring.schema import TRAJECTORY_SCORES
from tracegrade_scoring.tasks import Specification


class MetricOptions(NamedTuple):
    """The operator's options for own metrics."""

    folder: Path | None = None
    """Folder of SQL files, or one SQL file; None: the metrics stored in the lake."""
    forget: bool = False
    """There are none in SQL, instead of a folder."""
    trust_kept: bool = False
    """Whether metrics stored in the lake may run."""
    plugins: bool = True
    """Installed distributions may bring some."""


class CheckedMetrics(NamedTuple):
    """The usable metrics, and the faults of others."""

    metrics: tuple[OwnMetric, ...]
    """By name."""
    faults: tuple[MetricFault, ...]


def metrics_in_force(
    lake: Lake, options: MetricOptions, note: Callable[[str], object] = lambda _: None
) -> tuple[OwnMetric, ...]:
    """Return the metrics that a run must use, by name.

    Args:
        lake: Stores the metrics of the last run.
        options: The operator's options.
        note: Gets a line for each distribution whose metric cannot be used.

    Raises:
        MetricInvalid: A given file cannot be used, or its metric has a name that is taken.
    """
    given = _usable(_in_sql(lake, options))
    brought = checked(plugins.installed() if options.plugins else ())
    both = _with_clashes(given, brought.metrics)
    for fault in (*brought.faults, *both.faults):
        note(f"left out: {fault}")
    return both.metrics


def metrics_of_folder(folder: Path) -> tuple[OwnMetric, ...]:
    """Return the metrics of a folder of SQL files, or of one file, by name.

    Raises:
        MetricInvalid: There is none, or a file cannot be used.
    """
    return _usable(read_folder(folder))


def _usable(found: Iterable[ReadMetric]) -> tuple[OwnMetric, ...]:
    """Return all of these metrics, or raise the first fault."""
    given = checked(found)
    if given.faults:
        more = f", and {len(given.faults) - 1} more" if len(given.faults) > 1 else ""
        msg = f"{given.faults[0]}{more}; `tracegrade metrics check` names all"
        raise MetricInvalid(msg)
    return given.metrics


def with_metrics(
    lake: Lake, specification: Specification, options: MetricOptions, note: Callable[[str], object]
) -> Specification:
    """Return a specification with the metrics in force; arguments as of `metrics_in_force`."""
    return specification.model_copy(update={"metrics": metrics_in_force(lake, options, note)})


def _in_sql(lake: Lake, options: MetricOptions) -> Iterable[ReadMetric]:
    if options.folder is not None:
        return read_folder(options.folder)
    if options.forget:
        return ()
    stored = (each for each in stored_metrics(lake) if each.sql is not None)
    return [each.model_copy(update={"runs": options.trust_kept}) for each in stored]


def read_folder(folder: Path) -> list[ReadMetric]:
    """Return the metrics of all files of SQL in a folder, or of one file.

    Raises:
        MetricInvalid: There is none.
    """
    files = sorted(folder.rglob("*.sql")) if folder.is_dir() else [folder]
    if not files or not files[0].exists():
        msg = f"'{folder}' holds no metric; give a folder of files *.sql"
        raise MetricInvalid(msg)
    return [read_metric(file) for file in files]


def checked(
    found: Iterable[ReadMetric], rows: Mapping[str, pa.Table] | None = None
) -> CheckedMetrics:
    """Return the usable metrics, and the faults of the others.

    Untrusted metrics from a lake are not even parsed.

    Args:
        found: Metrics, and the faults of some.
        rows: Rows of all relations, for test runs in several orders. None: no test runs.
    """
    metrics = list(found)
    faults = [each for each in metrics if isinstance(each, MetricFault)]
    usable: list[OwnMetric] = []
    for metric in metrics:
        if isinstance(metric, OwnMetric):
            fault = _fault(metric, usable) if metric.runs else None
            if fault:
                faults.append(fault)
            else:
                usable.append(metric)
    broken = running_faults(usable)
    whole = [each for each in usable if each.name not in broken]
    if rows is not None:
        broken |= order_faults([each for each in whole if each.runs], rows)
        whole = [each for each in usable if each.name not in broken]
    faults += broken.values()
    return CheckedMetrics(tuple(sorted(whole, key=lambda each: each.name)), tuple(faults))


def _fault(metric: OwnMetric, others: Sequence[OwnMetric]) -> MetricFault | None:
    if metric.name in TRAJECTORY_SCORES.arrow().names:
        fact = f"tracegrade has a metric or column '{metric.name}'; choose another name"
        return MetricFault(metric.origin, "name_taken", fact)
    for other in others:
        if other.name == metric.name:
            fact = f"{other.origin} has a metric '{metric.name}' as well; rename one"
            return MetricFault(metric.origin, "name_taken", fact)
    if unlisted := sorted({*metric.reads} - readable.RELATIONS.keys()):
        fact = f"it reads '{unlisted[0]}'; a metric may read {', '.join(readable.RELATIONS)}"
        return MetricFault(metric.origin, "unlisted_relation", fact)
    return query_fault(metric) if metric.sql is not None else None


def _with_clashes(given: Sequence[OwnMetric], brought: Sequence[OwnMetric]) -> CheckedMetrics:
    """Return both; of two with one name the given one."""
    names = {each.name: each for each in given}
    faults = []
    for metric in brought:
        if metric.name in names:
            fact = f"{names[metric.name].origin} has a metric '{metric.name}' as well; rename one"
            faults.append(MetricFault(metric.origin, "name_taken", fact))
    stored = [*given, *(each for each in brought if each.name not in names)]
    return CheckedMetrics(tuple(sorted(stored, key=lambda each: each.name)), tuple(faults))
