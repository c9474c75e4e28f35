"""How fast tools of coding agents answer over a large lake, and how long answers are.

Run by hand: `python -m tests.benchmarks.explorer.measure_mcp [--runs 100000] [--lake LAKE]`. The
official SDK's client starts `tracegrade mcp` and calls one tool after another, each time with
another filter or run. Lakes of random runs follow: no answer may be longer than 24,000 characters,
and no explanation than 4,000.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import psutil
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.benchmarks.bench_explorer import FILTERS, show
from tests.benchmarks.command_line import while_read
from tests.benchmarks.lake.given_lake import add_lake_options, given_or_made
from tests.explorer.lakes import explorer
from tests.explorer.mcp_server.test_bounded_answers import RUNS, ask_about_all, random_lake
from tests.explorer.mcp_server.tool_calls import Caller, with_client

LAKE_RUNS: Final = 100_000
CALLS: Final = 60
RANDOM_LAKES: Final = 20


async def measure_tools(lake: Path) -> None:
    """Print how many milliseconds each tool takes."""
    command = str(Path(sys.executable).with_name("tracegrade"))
    server = StdioServerParameters(command=command, args=["mcp", "--lake", str(lake)])
    begun = time.perf_counter()
    async with Client(stdio_client(server)) as client:
        caller = Caller(client)
        (process,) = psutil.Process().children()
        await caller("search_runs")
        show("connected, first answer", time.perf_counter() - begun, 5, "s")
        failed = (await caller("search_runs", filter="outcome=failed", limit=50)).data["rows"]
        ids = [row["trajectory_id"] for row in failed]
        longest = await caller("search_runs", filter="sort=-steps", limit=1)
        long_id = longest.data["rows"][0]["trajectory_id"]
        filters = [query.replace("&", " ").replace("%20", " ") for query in FILTERS]
        measured: dict[str, tuple[float, Callable[[int], tuple[str, dict[str, Any]]]]] = {
            "search_runs": (150, lambda n: (
                "search_runs", {"filter": filters[n % len(filters)].format(1_000 + n)})),
            "explain_failure": (300, lambda n: ("explain_failure", {"id": ids[n % len(ids)]})),
            "get_run": (200, lambda n: ("get_run", {"id": ids[n % len(ids)], "count": 100})),
            "get_run, the longest": (200, lambda _: ("get_run", {"id": long_id, "count": 100})),
        }  # fmt: skip
        for name, (budget, arguments) in measured.items():
            before = sum(process.cpu_times()[:2])
            show(f"{name}, p95", await p95(caller, arguments), budget, "ms")
            spent = 1_000 * (sum(process.cpu_times()[:2]) - before) / (CALLS + 1)
            print(f"{'':<4}{spent:.0f} ms of CPU a call", flush=True)


async def p95(caller: Caller, arguments: Callable[[int], tuple[str, dict[str, Any]]]) -> float:
    """Return in how many milliseconds 19 of 20 calls are answered, after one unmeasured."""
    taken = []
    for number in range(CALLS + 1):
        tool, given = arguments(number)
        begun = time.perf_counter()
        await caller(tool, **given)
        taken.append(1_000 * (time.perf_counter() - begun))
    print(f"{'':<4}median {statistics.median(taken[1:]):.0f} ms", flush=True)
    return statistics.quantiles(taken[1:], n=20)[18]


def measure_lengths(folder: Path) -> None:
    """Print the length of the longest answers about random runs."""
    answered, longest = 0, 0
    for seed in range(RANDOM_LAKES):
        pages = explorer(random_lake(folder / f"random{seed}", seed))
        with closing(pages), closing(pages.latest):
            lengths = with_client(pages, ask_about_all)
        answered, longest = answered + len(lengths), max(longest, *lengths)
    show(f"longest of {answered:,} answers about {RANDOM_LAKES * RUNS} runs", longest, 24_000, "")


def main() -> None:
    """Print a line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_lake_options(parser, LAKE_RUNS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure_tools(given_or_made(options, Path(folder))))
        measure_lengths(Path(folder))


if __name__ == "__main__":
    with while_read():
        main()
