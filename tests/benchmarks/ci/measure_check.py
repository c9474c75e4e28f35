"""How long `tracegrade ci check` takes on a lake with new runs of one release.

    python -m tests.benchmarks.ci.measure_check [RUNS]

Exports a baseline of so many runs (100), and checks as many runs of the next release, which were
never scored and then are. Runs are copies of those of the sample. Prints a table for
docs/internals/measurements.md.
"""

import hashlib
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.ci.lakes import BASE, CANDIDATE, release_of

from tracegrade_scoring.sample.copy_files import copy_files

COMMAND = str(Path(sys.executable).with_name("tracegrade"))
TRACE = re.compile(r'(?<="traceId":")[0-9a-f]{32}(?=")')


def tracegrade(*arguments: object) -> tuple[float, float]:
    """Run a command; return its seconds and those of its processors."""
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begun, busy


def write_runs(file: Path, lines: list[str], runs: int) -> None:
    """Write so many runs, each with a trace of its own."""
    with file.open("w") as copies:
        for number in range(runs):
            (trace,) = set(TRACE.findall(lines[number % len(lines)]))
            other = hashlib.blake2b(f"{trace} {number}".encode(), digest_size=16).hexdigest()
            copies.write(lines[number % len(lines)].replace(trace, other) + "\n")


def measure(folder: Path, runs: int) -> None:
    """Make both releases, check, and print."""
    copy_files(folder)
    tasks = ("--tasks", folder / "tasks.yaml")
    lines = (folder / "runs.jsonl").read_text().splitlines()
    for release in (BASE, CANDIDATE):
        file = folder / f"{release}.jsonl"
        write_runs(file, [line for line in lines if release_of(line) == release], runs)
        tracegrade("import", file, "--lake", folder / release)
    tracegrade("score", "--lake", folder / BASE, *tasks)
    baseline = folder / "baseline"
    rows = {
        "export of the baseline": ("baseline", "--release", BASE, "--out", baseline, "--lake"),
        "check of runs that were never scored": ("check", "--candidate", CANDIDATE, *tasks),
        "the same, scored before": ("check", "--candidate", CANDIDATE, *tasks),
    }
    print(f"| {runs} runs | s | s of processors |\n|---|---|---|")
    for name, (command, *options) in rows.items():
        lake = (folder / BASE,) if command == "baseline" else ("--lake", folder / CANDIDATE)
        of_check = () if command == "baseline" else ("--baseline", baseline)
        secs, busy = tracegrade("ci", command, *options, *lake, *of_check)
        print(f"| {name} | {secs:.1f} | {busy:.1f} |")
    size = sum(path.stat().st_size for path in baseline.iterdir())
    print(f"| size of the baseline | {size / 1000:,.0f} kB | |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        measure(Path(place), int(sys.argv[1]) if sys.argv[1:] else 100)
