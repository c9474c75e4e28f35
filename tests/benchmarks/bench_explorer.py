"""How fast the explorer's pages are over a large lake, and how fast a browser paints long runs.

Run by hand or by `make bench`; `--runs` sets how many runs the lake has (200,000; also 1,000,000),
`--lake` a scored lake that is there already, `--requests` how often each page is asked for.
Requests are made one after another over HTTP, each
with another filter or run, to a server that is a process of its own. Budgets stand beside what was
measured; they are for a quiet machine of two cores. Next to them stands the processor's time for
each request, which other programs on the machine lengthen less.
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
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

import psutil
from playwright.sync_api import sync_playwright
from tests.benchmarks.command_line import while_read
from tests.benchmarks.lake.given_lake import add_lake_options, given_or_made
from tests.scoring.report.build import START, Tables, as_lake

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
OTHER_PAGES: Final = {
    **{f"/?window={window}": 120 for window in ("24h", "7d", "30d")},
    **{f"/money?window=30d&by={group}": 150
       for group in ("agent", "release", "model", "task", "day")},
    **dict.fromkeys(("/kills", "/conversations", "/tasks", "/trends?metric=tsa"), None),
}  # fmt: skip
"""Milliseconds, by address; None: as many as a list."""
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


def first_byte_secs(url: str) -> float:
    """Return in how many seconds the first byte of a page comes."""
    begun = time.perf_counter()
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own server
        answer.read(1)
        return time.perf_counter() - begun


def cpu_secs(process: psutil.Process) -> float:
    """Return the processor's time that a server has taken."""
    taken = process.cpu_times()
    return float(taken.user + taken.system)


def show_p95(server: Served, name: str, urls: Sequence[str], budget: float) -> None:
    """Print in how many milliseconds 19 of 20 requests are answered, after one unmeasured."""
    read(urls[0])
    taken, cpu = [], cpu_secs(server.process)
    for url in urls:
        begun = time.perf_counter()
        read(url)
        taken.append(1_000 * (time.perf_counter() - begun))
    each = 1_000 * (cpu_secs(server.process) - cpu) / len(urls)
    show(name, statistics.quantiles(taken, n=20)[18], budget, "ms", f"  CPU {each:.1f} ms")


def measure_pages(lake: Path, runs: int, requests: int) -> None:
    """Print how fast pages come, and what the server takes."""
    large = runs > RUNS
    with served(lake) as server:
        base = server.url.rstrip("/")
        memory = server.process.memory_info().rss / 2**30
        print(f"load of the machine over a minute: {psutil.getloadavg()[0]:.1f}", flush=True)
        show("ready after", server.secs, 20 if large else 5, "s")
        show("memory once ready", memory, 1.5 if large else 0.8, "GiB")
        found = json.loads(read(f"{base}/runs.json?steps=..200&cols=tsa"))
        ids = [row["trajectory_id"] for row in found["rows"]]
        most = 200 if large else 100
        show_p95(server, "list, newest", [f"{base}/runs"] * requests, most)
        for query in FILTERS:
            lists = [f"{base}/runs?{query.format(1_000 + n)}" for n in range(requests)]
            show_p95(server, f"list, {query}", lists, most)
        of_runs = [f"{base}/runs/{quote(ids[n % len(ids)])}" for n in range(requests)]
        show_p95(server, "run", of_runs, 2 * most)
        begun = time.perf_counter()
        read(f"{base}/money?window=30d")
        show("money, first time", time.perf_counter() - begun, 2, "s")
        for path, budget in OTHER_PAGES.items():
            show_p95(server, path, [base + path] * min(20, requests), budget or most)
        pair = f"{base}/releases?agent=support&base=1.1&candidate=1.3"
        show("a decision, first byte", first_byte_secs(pair), 1, "s")
        show("memory afterwards", server.process.memory_info().rss / 2**30, 2.0, "GiB")


def show(name: str, found: float, budget: float, unit: str, more: str = "") -> None:
    """Print one line."""
    print(f"{name:<56} {found:>8.2f} {unit:<3}  budget {budget:g}{more}", flush=True)


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
        browser.new_page().goto(f"{server.url}runs")  # unmeasured: starts the browser's processes
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
    add_lake_options(parser, RUNS)
    parser.add_argument("--requests", type=int, default=REQUESTS, help="of each page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = given_or_made(options, Path(folder))
        measure_pages(lake, options.runs, options.requests)
        if chromium := shutil.which("chromium"):
            measure_browser(Path(folder) / "long", chromium)
        else:
            print("no browser was measured: Debian's package chromium is not here")


if __name__ == "__main__":
    with while_read():
        main()
