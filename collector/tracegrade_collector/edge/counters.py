"""Counts of requests and items by outcome, signal and reason.

Labels are constants of this package, never a client's text, so their number is bounded.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from itertools import accumulate, groupby
from operator import itemgetter

PREFIX = "tracegrade_collector_"
BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets for durations in seconds."""

Labels = tuple[tuple[str, str], ...]
SeriesKey = tuple[str, Labels]


class Counters:
    """Named counts; each name may have labels."""

    def __init__(self) -> None:
        self._counts: Counter[SeriesKey] = Counter()
        self._labels: dict[str, str] = {}
        self._gauges: dict[str, Callable[[], float]] = {}
        self._durations: dict[SeriesKey, _Durations] = {}

    def labeled(self, **labels: str) -> "Counters":
        """Return a view of these counts that adds labels to each count made through it."""
        view = Counters()
        view._counts = self._counts
        view._gauges = self._gauges
        view._durations = self._durations
        view._labels = self._labels | labels
        return view

    def add(self, name: str, count: int = 1, **labels: str) -> None:
        """Add to one count."""
        self._counts[name, tuple(sorted((self._labels | labels).items()))] += count

    def gauge(self, name: str, read: Callable[[], float]) -> None:
        """Show a number that goes up and down, read when the page is requested."""
        self._gauges[name] = read

    def observe(self, name: str, secs: float, **labels: str) -> None:
        """Count how long something took."""
        key = name, tuple(labels.items())
        if key not in self._durations:
            self._durations[key] = _Durations()
        self._durations[key].add(secs)

    def prometheus_text(self) -> str:
        """Return all of them in Prometheus' text format, each name with its type."""
        lines = []
        for name, counts in groupby(sorted(self._counts.items()), _name_of):
            lines.append(f"# TYPE {PREFIX}{name}_total counter")
            lines += [
                f"{PREFIX}{name}_total{_label_text(labels)} {count}"
                for (_, labels), count in counts
            ]
        for name, read in sorted(self._gauges.items()):
            lines += [f"# TYPE {PREFIX}{name} gauge", f"{PREFIX}{name} {read():.12g}"]
        for name, each in groupby(sorted(self._durations.items(), key=itemgetter(0)), _name_of):
            lines.append(f"# TYPE {PREFIX}{name} histogram")
            for (_, labels), durations in each:
                lines += durations.lines(f"{PREFIX}{name}", labels)
        return "".join(f"{line}\n" for line in lines)


def _name_of(item: tuple[SeriesKey, object]) -> str:
    return item[0][0]


class _Durations:
    """Counts of durations, as a Prometheus histogram."""

    def __init__(self) -> None:
        self._counts = [0] * (len(BUCKETS) + 1)
        self._secs = 0.0

    def add(self, secs: float) -> None:
        self._counts[bisect_left(BUCKETS, secs)] += 1
        self._secs += secs

    def lines(self, name: str, labels: Labels) -> list[str]:
        bounds = [*(f"{bound:g}" for bound in BUCKETS), "+Inf"]
        sums = list(accumulate(self._counts))
        return [
            *(
                f"{name}_bucket{_label_text((*labels, ('le', bound)))} {count}"
                for bound, count in zip(bounds, sums, strict=True)
            ),
            f"{name}_sum{_label_text(labels)} {self._secs:.6f}",
            f"{name}_count{_label_text(labels)} {sums[-1]}",
        ]


def _label_text(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}"
