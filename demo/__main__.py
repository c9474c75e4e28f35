"""The whole main job on this machine: `make demo`, or `python -m demo [--folder DIR]`.

Real agents run. Their spans arrive over OTLP, land as Parquet, become steps, and end as scores and
a report. The harness runs one task, verifies it and kills it on purpose. Exits with 0, or 1 if a
stage failed, or 130 after Ctrl-C.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from demo import kills, scores, stages
from demo.children import CHECKOUT, Children
from demo.errors import StageError

LOG_LINES_SHOWN = 15

Stages: TypeAlias = Callable[[Children, Path, Path], None]


def main() -> int:
    """Run the demo in a new folder and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--folder", type=Path, help="a new folder; default: one below .demo/")
    started = time.monotonic()
    folder: Path = (parser.parse_args().folder or _new_folder()).resolve()
    folder.mkdir(parents=True)
    if code := run_to_the_end(folder, run_stages):
        return code
    print(f"\ndone in {time.monotonic() - started:.0f} s")
    print(f"lake: {folder / 'lake'}")
    print(f"report: {folder / 'report' / 'index.html'}")
    print(f"ui: {stages.TRACEGRADE} ui --lake {folder / 'lake'} --open")
    return 0


def run_to_the_end(folder: Path, stages: Stages) -> int:
    """Run stages, end every process that they started, and return the exit code.

    Args:
        folder: The folder for logs.
        stages: Receives the process runner, the folder, and a folder for temporary files.
    """
    try:
        with (
            tempfile.TemporaryDirectory(prefix="tracegrade-demo-") as files,
            Children(logs=folder) as children,  # ended first, so that all writing has stopped
        ):
            stages(children, folder, Path(files))
    except StageError as error:
        show_failure(error, folder)
        return 1
    except KeyboardInterrupt:
        print(f"\nstopped; nothing is left running, what landed is in {folder}", file=sys.stderr)
        return 130
    return 0


def run_stages(children: Children, folder: Path, files: Path) -> None:
    """Run the agents, land their spans, score them and show what came out.

    Args:
        children: Runs every process.
        folder: Gets the lake, the report and the logs.
        files: Where the file agent works.

    Raises:
        StageError: A stage did not do what the next one needs.
    """
    lake = folder / "lake"
    collector, endpoint = stages.start_collector(children, lake)
    support = stages.start_support_agent(children, endpoint)  # meanwhile: it has its own process
    runs = sum(
        stages.run_file_agent(children, release, endpoint, files) for release in stages.RELEASES
    )
    runs += stages.end_support_agent(*support)
    stages.wait_until_landed(lake, traces=runs)
    collector.stop()
    landed = stages.count_landed(lake)
    stages.say(
        6,
        f"landed: {landed.spans} spans of {landed.traces} traces in {landed.files} Parquet files; "
        "the collector has stopped",
    )
    lake_with_runbook = folder / "lake-with-runbook"
    with_runbook = kills.start_with_runbook(children, lake_with_runbook, folder)
    kills.run_releases(children, lake, folder)
    kills.end_with_runbook(with_runbook)
    scores.score(children, lake)
    scores.write_report(children, lake, folder / "report")
    scores.show(children, lake)
    kills.show(children, lake)
    kills.show_with_runbook(children, lake_with_runbook)
    scores.answer(children, lake)


def _new_folder() -> Path:
    """Return a path named for the current time, so that demos are kept and sort by time."""
    return CHECKOUT / ".demo" / datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S.%f")


def show_failure(error: StageError, folder: Path) -> None:
    """Print one line about the failure, then the ends of the logs that show its cause."""
    print(f"demo: {error}", file=sys.stderr)
    logs = {error.log, folder / "collector.log"} - {None}
    for log in sorted(log for log in logs if log and log.exists()):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        print(f"--- {log}", *lines[-LOG_LINES_SHOWN:], sep="\n", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
