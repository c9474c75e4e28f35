"""Benchmarks are read in part, too."""

import subprocess
import sys

PRINTS = (
    "from tests.benchmarks.command_line import while_read\n"
    "with while_read():\n"
    "    while True: print('a line', flush=True)"
)


def test_nobody_reads_on() -> None:
    """`python -m tests.benchmarks.bench_build | head -1` ends without a traceback."""
    program = subprocess.Popen(
        [sys.executable, "-c", PRINTS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "a line\n"
    program.stdout.close()

    _, stderr = program.communicate(timeout=30)
    assert (program.returncode, stderr) == (1, "")
