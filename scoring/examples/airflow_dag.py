"""Apache Airflow: scores the lake every quarter of an hour; the run's summary is the task's XCom.

Put it into the DAGs folder of a worker that can reach the lake and has `tracegrade[scoring]`.
"""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import dag, task

LAKE = os.environ.get("TRACEGRADE_LAKE", "/var/lib/tracegrade/lake")
TASKS = os.environ.get("TRACEGRADE_TASKS", "/etc/tracegrade/tasks")


@dag(
    schedule=timedelta(minutes=15),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    tags=["tracegrade"],
)
def tracegrade_score() -> None:
    """Score what is new in the lake."""

    @task(retries=1, retry_delay=timedelta(minutes=1))
    def score() -> dict[str, Any]:
        """Return what the run counted."""
        command = ["tracegrade", "score", "--lake", LAKE, "--tasks", TASKS, "--summary", "-"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        summary: dict[str, Any] = json.loads(done.stdout)
        return summary

    score()


tracegrade_score()
