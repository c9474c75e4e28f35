"""The metrics of users' own that installed distributions bring: group `tracegrade.metrics`.

An entry point names a function that is decorated as a metric, or a module: then its metrics are
all such functions in it, and all files of SQL beside it.
"""

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Final

from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.own_metrics.header import MetricFault, ReadMetric, metric_from, read_metric
from tracegrade_scoring.own_metrics.python_metric import PythonMetric

GROUP: Final = "tracegrade.metrics"


def installed() -> tuple[ReadMetric, ...]:
    """Return the metrics of all installed distributions, or what is wrong with one, by origin."""
    found = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    return tuple(each for entry in found for each in _metrics(entry))


def _metrics(entry: EntryPoint) -> Iterator[ReadMetric]:
    """Yield the metrics of one entry point; whatever is wrong with it is a fault."""
    origin = f"{entry.dist.name if entry.dist else 'unknown distribution'} ({entry.value})"
    try:
        named = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is not our code, harms no other
        why = f"{type(error).__name__}: {error}; remove the distribution or have it corrected"
        yield MetricFault(origin, "not_loaded", " ".join(why.split()))
        return
    if isinstance(named, PythonMetric):
        yield _placed(named, entry.value, origin)
    elif isinstance(named, ModuleType):
        yield from _of_module(named, origin)
    else:
        fact = f"it is {type(named).__name__}; let it name a module or a function with @metric"
        yield MetricFault(origin, "not_loaded", fact)


def _of_module(module: ModuleType, origin: str) -> Iterator[ReadMetric]:
    for name, value in sorted(vars(module).items()):
        if isinstance(value, PythonMetric):
            yield _placed(value, f"{module.__name__}:{name}", origin)
    if module.__file__:
        for path in sorted(Path(module.__file__).parent.glob("*.sql")):
            found = read_metric(path)
            if isinstance(found, OwnMetric):
                yield found.model_copy(update={"origin": f"{origin}, {path.name}"})
            else:
                yield found


def _placed(metric: PythonMetric, entry: str, origin: str) -> ReadMetric:
    return metric_from({**metric.declared, "python": entry}, origin, _EXAMPLE)


_EXAMPLE: Final = "correct what its function is decorated with"
