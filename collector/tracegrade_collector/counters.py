"""Counts of what happened to requests and items, by signal and reason.

Labels come from our own code, never from a client, so their number is bounded.
"""

from collections import Counter

PREFIX = "tracegrade_collector_"


class Counters:
    """Named counts; each name may have labels."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()

    def add(self, name: str, count: int = 1, **labels: str) -> None:
        """Add to one count."""
        self._counts[name, tuple(sorted(labels.items()))] += count

    def prometheus_text(self) -> str:
        """Return all counts in Prometheus' text format."""
        lines = [
            f"{PREFIX}{name}_total{_label_text(labels)} {count}"
            for (name, labels), count in sorted(self._counts.items())
        ]
        return "".join(f"{line}\n" for line in lines)


def _label_text(labels: tuple[tuple[str, str], ...]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}"
