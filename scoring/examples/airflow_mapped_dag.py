"""Apache Airflow: scores a large lake every hour, with its buckets divided among mapped tasks.

One task distributes the buckets and commits the results. Next to it run as many tasks as there are
shares, on any workers that reach the lake and have `tracegrade[scoring]` in the same version. A
share ends with the run; a failed share is retried and continues.
"""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import dag, task

LAKE = os.environ.get("TRACEGRADE_LAKE", "s3://traces/lake")
TASKS = os.environ.get("TRACEGRADE_TASKS", "/etc/tracegrade/tasks")
SHARES = int(os.environ.get("TRACEGRADE_SHARES", "8"))


@dag(
    schedule=timedelta(hours=1),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    max_active_tasks=SHARES + 1,
    tags=["tracegrade"],
)
def tracegrade_score_shared() -> None:
    """Score what is new in the lake, on several workers."""

    @task(retries=1, retry_delay=timedelta(minutes=1))
    def score() -> dict[str, Any]:
        """Return what the run counted."""
        command = ["tracegrade", "score", "--lake", LAKE, "--tasks", TASKS, "--summary", "-"]
        command += ["--engine", "files", "--slots", str(SHARES)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        summary: dict[str, Any] = json.loads(done.stdout)
        return summary

    @task(retries=3, retry_delay=timedelta(seconds=10))
    def share(index: int) -> None:
        """Work off every bucket of one share."""
        command = ["tracegrade", "task", "share", "--lake", LAKE]
        subprocess.run([*command, "--index", str(index), "--of", str(SHARES)], check=True)

    score()
    share.expand(index=list(range(SHARES)))


tracegrade_score_shared()
