"""The metrics of every trajectory, as the folders of `scorers` declare them in `metric.toml`.

Each such file names the relation with the scores of its metrics. For each metric, it holds its
meaning, how its scores are added up, and how it is shown. A metric's column in `trajectory_scores`
has its name. Definitions: docs/metrics.md, sections 1 to 6 and 9.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

OTHER_GROUP: Final = "Other metrics"
OWN_GROUP: Final = "Own metrics"
"""The heading of metrics that users define."""


class Kind(StrEnum):
    """The way in which the scores of a metric are added up."""

    SHARE = "share"
    """The denominator counts observations that are each 0 or 1."""
    COUNT = "count"
    """The denominator is the number of runs."""
    RATIO = "ratio"
    """Any other quotient."""
    TASK_MEAN = "task_mean"
    """A task has the mean of its runs, and a suite that of its tasks (docs/metrics.md, 7.4)."""


class Scale(StrEnum):
    """The form in which a value is written."""

    SHARE = "share"
    """0..1, written as per cent."""
    NUMBER = "number"
    """Any number, written with few decimals."""


@dataclass(frozen=True)
class Metric:
    """One metric: what it is, and how a reader meets it."""

    name: str
    """As in trajectory_scores."""
    label: str
    """What a report calls it."""
    group: str
    """The heading for the metric in a report."""
    meaning: str
    """One sentence, with the range, for a reader who has never seen the report."""
    scale: Scale = Scale.SHARE
    better: int = 1
    """1 if more is better, -1 if less is, 0 if neither."""
    unit: str = ""
    """What numerator and denominator count, plural."""
    definition: str = ""
    """One sentence for readers of tables: the quotient and its range."""
    kind: Kind = Kind.RATIO
    observations: str = ""
    """Observations that a sample needs in addition to tasks: `decision points`, or nothing."""
    relation: str = ""
    """Which relation has its scores."""
    folder: str = ""
    """The folder of `scorers` that declares it."""


def read_metrics(scorers: Path) -> Iterator[Metric]:
    """Yield the metrics that the folders below `scorers` declare, in the order of columns.

    Raises:
        KeyError: A file lacks a key, or a metric its definition.
        TypeError: A metric has a key that does not exist.
    """
    declared = [
        (tomllib.loads(path.read_text("utf-8")), path.parent.name)
        for path in scorers.glob("*/metric.toml")
    ]
    for file, folder in sorted(declared, key=lambda each: int(each[0]["order"])):
        for name, fields in file["metrics"].items():
            yield _metric(name, {"relation": file["relation"], "folder": folder, **fields})


def _metric(name: str, fields: Mapping[str, Any]) -> Metric:
    """Return a metric with what its file leaves out."""
    kind = Kind(fields.get("kind", Kind.RATIO))
    scale = Scale(fields.get("scale", "share" if kind is Kind.SHARE else "number"))
    shown = {
        "label": name.replace("_", " "),
        "group": OTHER_GROUP,
        "meaning": fields["definition"],
    }
    return Metric(name, **{**shown, **fields, "kind": kind, "scale": scale})


METRICS: Final[Mapping[str, Metric]] = MappingProxyType(
    {metric.name: metric for metric in read_metrics(Path(__file__).parent / "scorers")}
)
"""By name, in the order of their columns."""


def names_of_folder(folder: str) -> tuple[str, ...]:
    """Return the names of the metrics that a folder of `scorers` declares."""
    return tuple(metric.name for metric in METRICS.values() if metric.folder == folder)


FAILURE_MODES: Final = names_of_folder("failure_modes")
"""Failure modes; each is a metric, and its evidence is in `failures`."""

MAIN_METRICS: Final = (
    *("success", "tsa", "tool_correctness", "step_efficiency", "sub_goal_completion"),
    *("recovery_rate", "pq"),
)
"""Metrics that leave for other tools by default."""

TASK_MEANS: Final = frozenset(
    metric.name for metric in METRICS.values() if metric.kind is Kind.TASK_MEAN
)
"""Metrics whose value for a task is the mean of its runs, and for a suite of its tasks."""


def counts_decision_points(metric: str) -> bool:
    """Return whether the denominator of a metric counts decision points."""
    return metric in METRICS and METRICS[metric].observations == "decision points"
