"""The rows that metrics of users' own read, of the sample's runs: what they are checked on."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.bucket_work import Bucket, opened
from tracegrade_queries.engine.connection import Limits
from tracegrade_scoring.job.bucket_rows import READ, divide, files_of, steps_read, take_bucket
from tracegrade_scoring.job.commit import run_numbers
from tracegrade_scoring.job.discovery import ALL, unscored
from tracegrade_scoring.job.run_scoring import BUCKET_MB, BUCKET_STEPS
from tracegrade_scoring.job.score_bucket import GIVEN, hashes
from tracegrade_scoring.own_metrics import readable
from tracegrade_scoring.sample import TASKS
from tracegrade_scoring.sample.copy_files import copy_files
from tracegrade_scoring.sql import RELATIONS
from tracegrade_scoring.tasks import Specification, load


def sample_rows() -> dict[str, pa.Table]:
    """Return the rows of all that a metric may read, by name: those of the sample's 24 runs."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        copy_files(folder)
        lake = Lake.create(folder / "lake")
        import_files(lake, [folder / "runs.jsonl"], lambda _: None)
        build(lake)
        return _rows(lake, load([TASKS]).specification)


def _rows(lake: Lake, specification: Specification) -> dict[str, pa.Table]:
    limits = Limits(f"{BUCKET_MB}MB")
    with unscored(
        lake, specification, ALL, limits, numbers=run_numbers(lake), full=False
    ) as found:
        (traces,) = divide(found.con, BUCKET_STEPS)
        bucket = Bucket(files_of(found.scope.lake, traces), traces, limits, specification)
    with opened(bucket, READ) as con:
        take_bucket(con, steps_read(specification))
        options = {**hashes(specification), "compat": None}
        targets = {*readable.RELATIONS.values()}
        RELATIONS.run(con, targets, GIVEN, options=options, context=specification)
        return readable.rows_of(con, readable.RELATIONS)
