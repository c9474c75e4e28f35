"""Run one release of the file agent: `python -m demo.file_agent --release 1.0 --folder DIR`.

Each release is a process of its own, as in a deployment. Every trial of every task gets a new
folder below DIR; with `--task`, that task is done once, directly in DIR. Prints one line per run.
"""

import argparse
import contextlib
from pathlib import Path

import tracegrade
from demo.file_agent.agent import AGENT, FileAgent
from demo.file_agent.release_1_0 import Release10
from demo.file_agent.release_1_1 import Release11
from demo.file_agent.release_1_2 import Release12
from demo.file_agent.tools import TOOLS
from demo.file_agent.uploads import REQUEST, TASKS, Task, lay_out

RELEASES: dict[str, type[FileAgent]] = {"1.0": Release10, "1.1": Release11, "1.2": Release12}


def main() -> None:
    """Run every task for its number of trials."""
    parser = argparse.ArgumentParser(prog="demo.file_agent", description=__doc__)
    parser.add_argument("--release", choices=sorted(RELEASES), required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where the runs get folders")
    parser.add_argument("--task", choices=[task.id for task in TASKS], help="only this one")
    given = parser.parse_args()
    release = RELEASES[given.release]
    tracegrade.init(service=AGENT, release=given.release)
    if given.task:
        print(f"{given.task}: {work(release, given.task, None, given.folder)}")
        return
    for task in TASKS:
        for trial in range(1, task.trials + 1):
            answer = try_task(release, task, trial, given.folder)
            print(f"{task.id} trial {trial}: {answer}")


def try_task(release: type[FileAgent], task: Task, trial: int, folder: Path) -> str:
    """Run the agent once in a new folder below `folder` and return its answer."""
    place = folder / f"{task.id}-{trial}"
    lay_out(place, task, trial)
    return work(release, task.id, trial, place)


def work(release: type[FileAgent], task_id: str, trial: int | None, place: Path) -> str:
    """Run the agent once in a folder and return its answer."""
    with (
        contextlib.chdir(place),
        tracegrade.agent_run(
            AGENT, task=task_id, trial=trial, user_input=REQUEST, tools=TOOLS
        ) as run,
    ):
        answer = release(run).work()
        run.answer(answer)
    return answer


if __name__ == "__main__":
    main()
