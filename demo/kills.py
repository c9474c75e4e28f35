"""The worked task under the harness: in restored environments, verified, killed on purpose.

Release 1.0 runs once more with a runbook, into a lake of its own. In one lake, only the later of
two runs of a trial would count.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from demo import scores
from demo.children import CHECKOUT, Child, Children, Command
from demo.stages import RELEASES, TASKS, TRACEGRADE, say

SUITE = Path(__file__).with_name("suite.yaml")
RUNBOOK_SUITE = Path(__file__).with_name("suite-with-runbook.yaml")
RUNBOOK_RELEASE = "1.0"
HUMAN_VALUE = 5
HUMAN_REASON = "nothing is lost: the uploads are in archive/"
KILLED_AFTER = re.compile(r", killed \w+: after call (\d+):")
HUMAN = "the demo, in place of a human"


def run_releases(children: Children, lake: Path, folder: Path) -> None:
    """Run the worked task with each release, and kill it early, mid and late.

    Raises:
        StageError: A verifier failed, or the harness did.
    """
    killed = sum(_killed(_start(children, SUITE, release, lake, folder)) for release in RELEASES)
    *first, last = RELEASES
    say(
        7,
        f"harness: file agent {', '.join(first)} and {last} passed {scores.WORKED_TASK} in a "
        f"restored environment; {killed} more runs of it were killed on purpose",
    )


def start_with_runbook(children: Children, lake: Path, folder: Path) -> Child:
    """Start the harness on the first release once more, with a runbook and a lake of its own."""
    return _start(children, RUNBOOK_SUITE, RUNBOOK_RELEASE, lake, folder / "with-runbook")


def end_with_runbook(harness: Child) -> None:
    """Wait until the harness with the runbook is done.

    Raises:
        StageError: A verifier failed, or the harness did.
    """
    killed = _killed(harness)
    say(
        8,
        f"harness: the same of file agent {RUNBOOK_RELEASE} with a runbook, into a lake of its "
        f"own; {killed} runs were killed",
    )


def show(children: Children, lake: Path) -> None:
    """Print the remaining state and the score of each kill, and the resulting T-Score axes."""
    kills = scores.start_query(children, lake, "kills")
    axes = _start_axes(children, lake)
    scores.title(f"Killed on purpose: task {scores.WORKED_TASK}, and what it left")
    _print_kills(scores.rows_of(kills))
    print()
    scores.print_table(scores.rows_of(axes))


def show_with_runbook(children: Children, lake: Path) -> None:
    """Print the same with the runbook: by rule, then with a human's verdict on the late kill."""
    kills = scores.select(children, lake, "kills")
    scores.title(f"The same of {RUNBOOK_RELEASE}, where demo/RUNBOOK.yaml says how to undo mid")
    _print_kills(kills)
    by_rule = sum(kill["after_recovery"] for kill in kills) / len(kills)
    print(f"  rollback-ability by rule: {by_rule:.2f}; a human may see the late kill otherwise:\n")
    _review(children, lake, kills[-1])
    command: Command = [TRACEGRADE, "score", "--lake", lake, "--tasks", TASKS]
    children.run("score with runbook", command)
    scores.print_table(scores.rows_of(_start_axes(children, lake)))


def _review(children: Children, lake: Path, kill: scores.Row) -> None:
    """Give a kill the value that a human would, and print how."""
    where = ["--lake", str(lake), kill["trajectory_id"], kill["killed"]]
    review = ["--value", str(HUMAN_VALUE), "--reason", HUMAN_REASON, "--by", HUMAN]
    children.run("review", [TRACEGRADE, "harness", "review", *where, *review])
    print(f"$ tracegrade harness review {' '.join(where)} \\")
    print(f"    --value {HUMAN_VALUE} --reason '{HUMAN_REASON}' --by '{HUMAN}'\n", flush=True)


def _print_kills(kills: Sequence[scores.Row]) -> None:
    scores.print_table(
        [{key: kill[key] for key in kill if key != "trajectory_id"} for kill in kills]
    )


def _start_axes(children: Children, lake: Path) -> Child:
    return scores.start_query(children, lake, "axes", task_id=scores.WORKED_TASK)


def _start(children: Children, suite: Path, release: str, lake: Path, folder: Path) -> Child:
    """Start the harness on a suite."""
    command: Command = [TRACEGRADE, "harness", "run", suite, "--lake", lake, "--yes-as-root"]
    options: Command = ["--release", release, "--folder", folder / "harness"]
    path = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
    return children.start(
        f"harness {suite.stem} {release}", [*command, *options], PYTHONPATH=path
    )  # agents start in an empty folder, and find the demo by this path


def _killed(harness: Child) -> int:
    """Wait for the harness, and return its number of kills; one moment may be two kill points."""
    harness.wait()
    moments = [KILLED_AFTER.search(line) for line in harness.lines()]
    return len({found[1] for found in moments if found})
