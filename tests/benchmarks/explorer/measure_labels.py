"""How long a label takes: until the next run opens, and until the run is scored by it.

Run by hand: `python -m tests.benchmarks.explorer.measure_labels [--runs 100000] [--labels 5]`. The
explorer serves a lake to ann, who labels the newest runs of the queue one after another. `--lake`
names a scored lake that is there already; a copy of it is used.
"""

import argparse
import re
import shutil
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import psutil
from httpx2 import Client, Response
from tests.benchmarks.explorer.measure_live import served
from tests.benchmarks.made_lake import make, task_file
from tests.waiting import wait_until

from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.specification import usable_specification

FIELD: Final = r'name="{}" value="([^"]*)"'
QUEUE: Final = "queue?order=newest"
POLL_SECS: Final = 0.25
"""Time between two questions, so that they take little from what is measured."""


class LabelTimes(NamedTuple):
    """Seconds from saving a label."""

    to_next: float
    to_scores: float


def label_newest(client: Client) -> LabelTimes:
    """Label the first run of the queue as failed; return how long it took."""
    page = client.get(QUEUE)
    fields = {name: _field(page, name) for name in ("page_token", "run", "next")}
    saved = time.perf_counter()
    following = client.post("label", data={**fields, "verdict": "bad"})
    assert _field(following, "run") != fields["run"]
    to_next = time.perf_counter() - saved
    wait_until(partial(_is_scored, client, fields["run"]))
    return LabelTimes(to_next, time.perf_counter() - saved)


def _field(page: Response, name: str) -> str:
    found = re.search(FIELD.format(name), page.raise_for_status().text)
    assert found, f"{page.url} has no field {name}"
    return found[1].replace("&amp;", "&")


def _is_scored(client: Client, run: str) -> bool:
    """Return, after a pause, whether the success of a run is that of a person's label."""
    time.sleep(POLL_SECS)
    scores = client.get(f"runs/{run}.json").raise_for_status().json()["scores"]
    return str(scores.get("success", {}).get("source", "")).startswith("human")


def show(name: str, secs: list[float]) -> None:
    """Print the middle and the longest of some times."""
    print(f"label to {name}: median {statistics.median(secs):.2f} s, longest {max(secs):.2f} s")


def measure(lake: Path, labels: int) -> None:
    """Print how long labels of a lake take."""
    with (
        served(lake, "--label-as", "ann") as (url, _),
        Client(
            base_url=url, follow_redirects=True, timeout=60, headers={"Origin": url.rstrip("/")}
        ) as client,
    ):
        print(f"load of the machine over a minute: {psutil.getloadavg()[0]:.1f}")
        taken = [label_newest(client) for _ in range(labels)]
    show("next run", [each.to_next for each in taken])
    show("scores", [each.to_scores for each in taken])


def main() -> None:
    """Measure labels of a lake that is there, or of one that is made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lake", type=Path)
    parser.add_argument("--labels", type=int, default=5)
    parser.add_argument("--runs", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder) / "lake"
        if given.lake:
            shutil.copytree(given.lake, lake)
        else:
            tasks = Path(folder) / "tasks.yaml"
            tasks.write_text(task_file())
            score(make(lake, given.runs), usable_specification(tasks)[0])
        measure(lake, given.labels)


if __name__ == "__main__":
    main()
