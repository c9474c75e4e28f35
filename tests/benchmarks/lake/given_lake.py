"""The lake of a benchmark: one that the command line names, else one made of random runs."""

import argparse
from pathlib import Path

from tests.benchmarks.made_lake import make, task_file

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.specification import usable_specification


def add_lake_options(parser: argparse.ArgumentParser, runs: int) -> None:
    """Add the options that `given_or_made` reads; so many runs unless another number is given."""
    parser.add_argument("--runs", type=int, default=runs, help="runs of the lake")
    parser.add_argument("--lake", type=Path, help="a scored lake; else one is made")


def given_or_made(options: argparse.Namespace, folder: Path) -> Path:
    """Return the lake of the command line, else a scored one that is made in a folder."""
    if options.lake is not None:
        return Path(options.lake)
    root = make(folder / "lake", options.runs).root
    (root / "tasks.yaml").write_text(task_file())
    score(Lake.open(root), usable_specification(root / "tasks.yaml")[0])
    return root
