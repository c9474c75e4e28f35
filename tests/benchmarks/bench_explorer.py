"""How fast the explorer's pages are over a large lake, and how fast a browser paints long runs.

Run by hand or by `make bench`; `--runs` sets how many runs the lake has (200,000; also 1,000,000),
`--lake` a scored lake that is there already. Requests are made one after another over HTTP, each
with another filter or run, to a server that is a process of its own. Budgets stand beside what was
measured; they are for a quiet machine of two cores.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

import psutil
from playwright.sync_api import sync_playwright
from tests.benchmarks.command_line import while_read
from tests.benchmarks.made_lake import make, task_file
from tests.scoring.report.build import START, Tables, as_lake

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.specification import usable_specification

RUNS: Final = 200_000
REQUESTS: Final = 200
FILTERS: Final = (
    "release=1.2&steps=..{}",
    "task=task-3&tsa=0..0.5&sort=-tsa&steps=..{}",
    "release=1.3&failure=loop_trap&steps=..{}",
    "outcome=failed&steps=10..{}&sort=-steps",
    "request=order%20of%20c-1&steps=..{}",
)
"""Each request has another number in the place of `{}`, so that no count was made before."""
LENGTHS: Final = {200: 0.5, 2_000: 1.0, 10_000: 2.0}
"""Steps of a run, and seconds until a browser paints it."""


class Served(NamedTuple):
    """A server that is ready."""

    url: str
    secs: float
    process: psutil.Process


@contextmanager
def served(lake: Path) -> Iterator[Served]:
    """Serve a lake's pages for as long as this lasts."""
    begun = time.perf_counter()
    command = [Path(sys.executable).with_name("tracegrade"), "ui", "--lake", lake]
    with subprocess.Popen(
        [*map(str, command), "--listen", "127.0.0.1:0", "--no-token"],
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        url = child.stdout.readline().removeprefix("ui: ").strip()
        try:
            yield Served(url, time.perf_counter() - begun, psutil.Process(child.pid))
        finally:
            child.terminate()


def read(url: str) -> bytes:
    """Return the body of a page."""
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own server
        body: bytes = answer.read()
    return body


def p95(urls: Callable[[int], str], times: int = REQUESTS) -> float:
    """Return in how many milliseconds 19 of 20 requests are answered, after one unmeasured."""
    read(urls(0))
    taken = []
    for place in range(times):
        begun = time.perf_counter()
        read(urls(place))
        taken.append(1_000 * (time.perf_counter() - begun))
    return statistics.quantiles(taken, n=20)[18]


def measure_pages(lake: Path, runs: int) -> None:
    """Print how fast pages come, and what the server takes."""
    large = runs > RUNS
    with served(lake) as server:
        base = server.url.rstrip("/")
        memory = server.process.memory_info().rss / 2**30
        show("ready after", server.secs, 20 if large else 5, "s")
        show("memory once ready", memory, 1.5 if large else 0.8, "GiB")
        found = json.loads(read(f"{base}/runs.json?steps=..200&cols=tsa"))
        ids = [row["trajectory_id"] for row in found["rows"]]
        most = 200 if large else 100
        show("list, newest", p95(lambda _: f"{base}/runs"), most, "ms")
        for query in FILTERS:
            address = f"{base}/runs?{query}"
            show(f"list, {query}", p95(lambda n, to=address: to.format(1_000 + n)), most, "ms")  # type: ignore[misc]
        show("run", p95(lambda n: f"{base}/runs/{quote(ids[n % len(ids)])}"), most, "ms")
        for window in ("24h", "30d"):
            address = f"{base}/?window={window}"
            show(f"now, {window}", p95(lambda _, to=address: to, 20), 120, "ms")  # type: ignore[misc]
        begun = time.perf_counter()
        read(f"{base}/money?window=30d")
        show("money, first time", time.perf_counter() - begun, 2, "s")
        for window in ("24h", "30d"):
            address = f"{base}/money?window={window}"
            show(f"money, {window}", p95(lambda _, to=address: to, 20), 150, "ms")  # type: ignore[misc]
        show("tasks", p95(lambda _: f"{base}/tasks", 20), most, "ms")
        show("trend", p95(lambda _: f"{base}/trends?metric=tsa", 20), most, "ms")
        begun = time.perf_counter()
        read(f"{base}/releases?agent=support&base=1.2&candidate=1.3")
        show("a pair of releases, first time", time.perf_counter() - begun, 2, "s")
        show("memory afterwards", server.process.memory_info().rss / 2**30, 2.0, "GiB")


def show(name: str, found: float, budget: float, unit: str) -> None:
    """Print one line."""
    print(f"{name:<48} {found:>8.2f} {unit:<3}  budget {budget:g}", flush=True)


def long_runs(place: Path) -> None:
    """Make a lake of one run of each length."""
    with closing(Tables()) as tables:
        for length in LENGTHS:
            run = tables.run(step_count=length)
            tables.con.execute(
                "INSERT INTO steps (trajectory_id, step_index, kind, tool_name, arguments, "
                "result, status, start_time, duration_ms, flags, date) "
                "SELECT $run, n, if(n % 2 = 0, 'thought', 'tool_call'), 'tool_' || n % 7, "
                "'{\"n\": ' || n || '}', repeat('word ', 80), if(n % 100 = 1, 'error', 'ok'), "
                "$start::TIMESTAMP + to_milliseconds(n), 1, [], $start::DATE "
                "FROM range($length) AS numbers (n)",
                {"run": run, "length": length, "start": START},
            )
            tables.con.execute(
                "INSERT INTO failures (trajectory_id, mode, step_index, date) "
                "SELECT $run, 'loop_trap', n, $start::DATE FROM range(0, $length, 90) AS a (n)",
                {"run": run, "length": length, "start": START},
            )
        as_lake(tables, place)


def measure_browser(place: Path, chromium: str) -> None:
    """Print when a browser first paints long runs, and how soon a key moves the focus."""
    long_runs(place)
    with served(place) as server, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for number, (length, budget) in enumerate(LENGTHS.items(), start=1):
            page = browser.new_page()
            page.goto(f"{server.url}runs/t{number}")
            paint = page.evaluate(
                "new Promise(done => new PerformanceObserver(list => {"
                " for (const entry of list.getEntriesByName('first-contentful-paint'))"
                " done(entry.startTime);"
                "}).observe({type: 'paint', buffered: true}))"
            )
            show(f"first paint of {length:,} steps, 2,000 a page", paint / 1_000, budget, "s")
            took = page.evaluate(
                "() => { const begun = performance.now(); document.body.dispatchEvent("
                "new KeyboardEvent('keydown', {key: 'e', bubbles: true})); "
                "return performance.now() - begun; }"
            )
            show(f"key e among {min(length, 2_000):,} steps", took, 100, "ms")
            page.close()
        browser.close()


def main() -> None:
    """Print a line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of the lake")
    parser.add_argument("--lake", type=Path, help="a scored lake; else one is made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = options.lake
        if lake is None:
            lake = make(Path(folder) / "lake", options.runs).root
            (lake / "tasks.yaml").write_text(task_file())
            score(Lake.open(lake), usable_specification(lake / "tasks.yaml")[0])
        measure_pages(lake, options.runs)
        if chromium := shutil.which("chromium"):
            measure_browser(Path(folder) / "long", chromium)
        else:
            print("no browser was measured: Debian's package chromium is not here")


if __name__ == "__main__":
    with while_read():
        main()
