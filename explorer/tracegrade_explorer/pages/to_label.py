"""The card of the start page with the runs that wait for a person's verdict."""

from dataclasses import replace
from typing import Any, Final

from tracegrade_explorer import links
from tracegrade_explorer.filters.grammar import Filter, to_pairs
from tracegrade_explorer.pages.label import SAMPLED, waiting
from tracegrade_explorer.responses import PageRequest

FAILED: Final = Filter({"outcome": ("failed",)})


def to_label(request: PageRequest) -> dict[str, Any]:
    """Return how many runs have no person's verdict; nothing for a caller who may not label."""
    if not request.labeler or request.labels is None:
        return {}
    counts: dict[str, int] = request.snapshot.cached(_key(request), lambda: _counts(request))
    queues = [
        {"text": f"{counts[name]:,} {words}", "href": href}
        for name, words, href in (
            ("sampled", "drawn to measure a judge", _queue(Filter(), SAMPLED)),
            ("disagreeing", "where a judge and the score disagree", _queue(Filter(), "disagree")),
            ("failed", "that failed", _queue(FAILED, "random")),
        )
        if counts[name]
    ]
    start = queues[0]["href"] if queues else _queue(Filter(), "random")
    return {"waiting": counts["waiting"], "queues": queues, "start": start}


def unlabeled_count(request: PageRequest) -> int | None:
    """Return how many runs have no person's verdict.

    None for a caller who may not label, and until it is counted, which begins now.
    """
    if not request.labeler or request.labels is None:
        return None
    key, labeler, labels = _key(request), request.labeler, request.labels
    if (counts := request.snapshot.made_before(key)) is not None:
        return int(counts["waiting"])
    request.ahead(key, lambda later: to_label(replace(later, labeler=labeler, labels=labels)))
    return None


def _key(request: PageRequest) -> tuple[str, int]:
    """Return the key of the counts, which another label changes."""
    return "to_label", len(request.labels.labeled()) if request.labels else 0


def _counts(request: PageRequest) -> dict[str, int]:
    everything = waiting(request, Filter(), "newest", rows=1)
    sampled = waiting(request, Filter(), SAMPLED, rows=1)
    failed = waiting(request, FAILED, "newest", rows=1)
    return {
        "waiting": everything[0]["waiting"] if everything else 0,
        "disagreeing": everything[0]["disagreeing"] if everything else 0,
        "sampled": sampled[0]["waiting"] if sampled else 0,
        "failed": failed[0]["waiting"] if failed else 0,
    }


def _queue(run_filter: Filter, order: str) -> str:
    return links.with_query("/queue", [*to_pairs(run_filter), ("order", order)])
