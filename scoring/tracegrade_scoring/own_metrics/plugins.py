"""The metrics of users' own that installed distributions bring: group `tracegrade.metrics`.

Each entry point is loaded in a process of its own. A failure at the import of a distribution, even
the end of the process, is a fault of only that distribution.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.own_metrics.header import MetricFault, ReadMetric

GROUP: Final = "tracegrade.metrics"

_SECS: Final = 60.0
"""For the import of one entry point."""
_CHILD: Final = "tracegrade_scoring.own_metrics.entry_point"


def installed() -> tuple[ReadMetric, ...]:
    """Return the metrics of all installed distributions, or the fault of one, by origin."""
    found = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    return tuple(each for entry in found for each in _metrics(entry))


def _metrics(entry: EntryPoint) -> Iterator[ReadMetric]:
    """Yield the metrics of one entry point; any error in it is a fault."""
    origin = f"{entry.dist.name if entry.dist else 'unknown distribution'} ({entry.value})"
    job = {"path": sys.path, "value": entry.value, "origin": origin}
    try:
        ended = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", _CHILD],
            input=json.dumps(job).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECS,
            check=True,
        )
        found = json.loads(ended.stdout)
    except subprocess.TimeoutExpired:
        yield MetricFault(origin, "not_loaded", f"its import takes longer than {_SECS:g} s")
    except subprocess.CalledProcessError as error:
        yield MetricFault(origin, "not_loaded", _why_ended(error.returncode))
    except ValueError:
        yield MetricFault(origin, "not_loaded", _why_ended(0))
    else:
        yield from map(_metric, found)


def _why_ended(code: int) -> str:
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"its import ended its process ({how}); remove the distribution or have it corrected"


def _metric(found: dict[str, dict[str, object]]) -> ReadMetric:
    fault = found.get("fault")
    return MetricFault(**fault) if fault else OwnMetric.model_validate(found["metric"])  # type: ignore[arg-type]
