"""Dagster: the scores of a lake as an asset, with the run's summary as its metadata.

`dagster dev -f dagster_asset.py` shows it; the schedule brings it up to date.
"""

import json
import os
import subprocess

import dagster

LAKE = os.environ.get("TRACEGRADE_LAKE", "/var/lib/tracegrade/lake")
TASKS = os.environ.get("TRACEGRADE_TASKS", "/etc/tracegrade/tasks")


@dagster.asset(group_name="tracegrade", retry_policy=dagster.RetryPolicy(max_retries=1))
def trajectory_scores() -> dagster.MaterializeResult:
    """The scores of every trajectory, as of this run."""
    command = ["tracegrade", "score", "--lake", LAKE, "--tasks", TASKS, "--summary", "-"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    summary = json.loads(done.stdout)
    return dagster.MaterializeResult(
        metadata={
            "trajectories": summary["trajectories"],
            "traces": summary["traces"],
            "metrics": dagster.MetadataValue.json(summary["metrics"]),
        }
    )


score_job = dagster.define_asset_job("tracegrade_score", selection=[trajectory_scores])

defs = dagster.Definitions(
    assets=[trajectory_scores],
    jobs=[score_job],
    schedules=[dagster.ScheduleDefinition(job=score_job, cron_schedule="*/15 * * * *")],
)
