"""The process that loads one entry point: `python -m tracegrade_scoring.own_metrics.entry_point`.

It reads from stdin a line of JSON (`path` of modules, `value` of the entry point, `origin` for
messages) and writes a list of JSON. Each item is a `metric` as it is defined, or the `fault` of
one. An entry point names a function that is decorated as a metric, or a module. The metrics of a
module are all such functions in it, and all SQL files in its folder. The output of the import is
dropped.
"""

import json
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Final

from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.own_metrics.child import taken_stdout
from tracegrade_scoring.own_metrics.header import MetricFault, ReadMetric, metric_from, read_metric
from tracegrade_scoring.own_metrics.python_metric import PythonMetric


def main() -> None:
    """Answer the job of stdin."""
    answer = taken_stdout()
    job = json.loads(sys.stdin.buffer.readline())
    sys.path[:] = job["path"]
    found = [_plain(each) for each in _metrics(job["value"], job["origin"])]
    answer.write(json.dumps(found).encode())
    answer.flush()


def _plain(metric: ReadMetric) -> dict[str, object]:
    if isinstance(metric, OwnMetric):
        return {"metric": metric.model_dump(mode="json")}
    return {"fault": metric._asdict()}


def _metrics(value: str, origin: str) -> Iterator[ReadMetric]:
    """Yield the metrics of an entry point; any error in it is a fault."""
    try:
        named = EntryPoint("metrics", value, "tracegrade.metrics").load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is not our code, harms no other
        why = f"{type(error).__name__}: {error}; remove the distribution or have it corrected"
        yield MetricFault(origin, "not_loaded", " ".join(why.split()))
        return
    if isinstance(named, PythonMetric):
        yield _placed(named, value, origin)
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


if __name__ == "__main__":
    main()
