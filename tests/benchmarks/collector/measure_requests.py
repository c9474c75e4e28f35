"""Counts the requests of landings and scorings to an object store, and says what a month costs.

The store is moto's S3 server behind a proxy that counts. Each run is one trace that lands by
itself, and is scored before the next one lands.

    python -m tests.benchmarks.collector.measure_requests [RUNS]
"""

import multiprocessing
import os
import re
import sys
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Final

from tests.benchmarks import histories
from tests.lake.stores import Store, put_environment, s3_server
from tests.queries.traces import land

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.stored import NO_TASKS

RUNS: Final = 12
CALLS: Final = 3
NOW_NS: Final = 2 * 10**18
"""So late that no run waits for its root."""

USD_OF_1000: Final = {"GET": 0.0004, "HEAD": 0.0004, "LIST": 0.005, "PUT": 0.005, "DELETE": 0.0}
"""Amazon S3, standard class, us-east-1."""

OBJECTS: Final = {
    r"_delta_log/\d+\.json": "entries",
    r"_delta_log/\d+\.checkpoint": "checkpoints",
    r"_last_checkpoint": "pointers",
    r"_locks": "locks",
    r"\.parquet": "data files",
}
HOURS: Final = 24 * 30
LANDINGS: Final = {4: HOURS * 900, 30: HOURS * 120}
"""A month's landings by the seconds between two."""


@cache
def lake_of_collector(url: str, state: Path) -> Lake:
    """Return the lake, which a collector opens once."""
    return Lake.create(url, state)


def land_run(url: str, state: Path, number: int) -> None:
    """Land one run as a collector does."""
    request = histories.request("otel_genai", number, CALLS)
    land(lake_of_collector(url, state), request, seq=number + 1)


def score_lake(url: str, state: Path) -> None:
    """Score what is new."""
    score(Lake.open(url, state), NO_TASKS, now_ns=NOW_NS)


def operation(method: str, path: str) -> str:
    """Return a request's operation: a listing is a GET with another price."""
    if "list-type" in path:
        return "LIST"
    return "DELETE" if method == "POST" and "delete" in path else method


def counted(store: Store) -> Counter[tuple[str, str]]:
    """Return the number of requests by operation and kind of object, and forget them."""
    counts: Counter[tuple[str, str]] = Counter()
    for _, method, path in store.requests:
        made = operation(method, path)
        kinds = (kind for form, kind in OBJECTS.items() if re.search(form, path))
        counts[made, "listings" if made == "LIST" else next(kinds, "others")] += 1
    store.requests.clear()
    return counts


def report(title: str, counts: Counter[tuple[str, str]]) -> float:
    """Print the requests of a step; return their price in US$."""
    by_operation = Counter({made: 0 for made in USD_OF_1000})
    for (made, _), number in counts.items():
        by_operation[made] += number
    kinds = ", ".join(f"{made} {kind} {n}" for (made, kind), n in sorted(counts.items()))
    print(f"| {title} | {' | '.join(str(by_operation[made]) for made in USD_OF_1000)} | {kinds} |")
    return sum(by_operation[made] * usd / 1000 for made, usd in USD_OF_1000.items())


def measure(store: Store, states: Path, runs: int) -> None:
    """Print a table of the steps, then the price of a month."""
    usd: dict[str, float] = {}
    url = store.url("lake")
    print(f"| step | {' | '.join(USD_OF_1000)} | by object |\n|{'---|' * (len(USD_OF_1000) + 2)}")
    with multiprocessing.get_context("spawn").Pool(1) as process:
        for number in range(runs):
            process.apply(land_run, (url, states / "one", number))
            usd["landing"] = report(f"landing {number + 1}", counted(store))
            process.apply(score_lake, (url, states / "one"))
            usd["news"] = report(f"scoring of run {number + 1}", counted(store))
        process.apply(score_lake, (url, states / "one"))
        usd["nothing"] = report("scoring, nothing new", counted(store))
        process.apply(score_lake, (url, states / "other"))
        report("the same on a machine without copies", counted(store))
        process.apply(score_lake, (url, states / "other"))
        report("the same there again", counted(store))
    print(f"\nhourly scorings, nothing new: {usd['nothing'] * HOURS:.2f} US$ a month")
    print(f"hourly scorings with news: {usd['news'] * HOURS:.2f} US$ a month")
    for secs, landings in LANDINGS.items():
        print(f"landings each {secs} s: {usd['landing'] * landings:.2f} US$ a month")


def main() -> None:
    """Measure on a server of its own."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with s3_server() as store, tempfile.TemporaryDirectory() as states:
        put_environment(store, os.environ.__setitem__)
        measure(store, Path(states), runs)


if __name__ == "__main__":
    main()
