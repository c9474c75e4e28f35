"""Apache Spark as the executor of buckets: one row of a job for each, and no shuffle.

File statistics locate the rows, and DuckDB reads Parquet faster than the JVM could pass it on. So
Spark moves only the number of a manifest, and restarts tasks whose worker was lost. Manifests and
outcomes go through the lake, whose only writer stays the process of the job.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql.functions import col, lit, udf

from tracegrade_queries.engine.bucket_work import Bucket, BucketFunction, Outcome
from tracegrade_queries.engine.distributed_job import (
    DistributedJob,
    distribute,
    is_small,
    job_files,
)
from tracegrade_queries.engine.engines import EngineOptions
from tracegrade_queries.engine.executor import SLOT_LIMITS, Executor, Threads, with_limits
from tracegrade_queries.engine.manifest import Versions, check_versions
from tracegrade_scale.errors import ClusterFailed
from tracegrade_scale.on_executor import versions_there, work_off_numbered
from tracegrade_scale.session import Session

_RAISED: Final = re.compile(r"^(\w+(?:\.\w+)+: .+|\w+Error: .+)$", re.MULTILINE)
"""Matches the Python exception of an executor in the text of Spark's error."""


@contextmanager
def spark(options: EngineOptions) -> Iterator[Executor]:
    """Yield an executor on the active session, or on one of the master; what it starts, it stops.

    Raises:
        BadEngine: A session is active already, and a master was named; or the number of slots is
            not known.
    """
    with Session(options.master, options.note) as session:
        yield Spark(session, options.slots or session.slots())


class Spark:
    """Spark's executors; each calls the work for one bucket after another."""

    def __init__(self, session: Session, slots: int) -> None:
        """Work on this number of buckets at a time, if the cluster has the cores."""
        self.slots = slots
        self._session = session
        self._is_checked = False

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield what each bucket gave as it comes; few buckets are worked on in this process.

        Raises:
            ClusterFailed: Spark gave a task up, or ended.
            ManifestUnfit, StagedFileUnfit, WorkerLost: As `DistributedJob.outcomes`.
            VersionsDiffer: An executor has other versions than this process.
        """
        if is_small(buckets, self.slots):
            yield from Threads(self.slots).run(work, buckets)
            return
        with _cluster_errors():
            session = self._session.started()
            self._check_executors(session)
        limited = with_limits(buckets, SLOT_LIMITS)
        with (
            job_files(buckets[0].lake.open()) as files,
            distribute(work, limited, files) as distributed,
        ):
            yield from _outcomes(session, distributed)

    def _check_executors(self, session: SparkSession) -> None:
        """Check once what is installed where buckets will go."""
        if not self._is_checked:
            for found in set(_each(session, self.slots, versions_there, col("id"))):
                check_versions(Versions(*json.loads(found)), "an executor of Spark")
            self._is_checked = True


def _outcomes(session: SparkSession, distributed: DistributedJob) -> Iterator[Outcome]:
    tag = f"tracegrade-{distributed.files.run}"
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(_work_off_all, session, distributed, tag)
        try:
            yield from distributed.outcomes(lambda: _is_over(job))
        except BaseException:
            with suppress(Exception):  # Spark itself may be what failed
                session.interruptTag(tag)
            raise
        job.result()


def _work_off_all(session: SparkSession, distributed: DistributedJob, tag: str) -> None:
    """Have every manifest worked off; the tag is what ends that early."""
    with _cluster_errors():
        session.addTag(tag)
        columns = lit(distributed.files.folder), col("id")
        _each(session, len(distributed.manifests), work_off_numbered, *columns)


def _is_over(job: Future[None]) -> bool:
    """Return whether Spark's job has ended well.

    Raises:
        ClusterFailed: It has not.
    """
    if job.done():
        job.result()
    return job.done()


def _each(
    session: SparkSession, tasks: int, function: Callable[..., str], *columns: Column
) -> list[str]:
    """Return what a function says in as many tasks, each of a row with its number as `id`.

    The function has to be a module's own, so that Spark ships its name. Spark may call one that is
    taken for deterministic several times a row.
    """
    task = udf(function, "string", useArrow=False).asNondeterministic()
    rows = session.range(0, tasks, 1, tasks).select(task(*columns).alias("told")).collect()
    return [row.told for row in rows]


@contextmanager
def _cluster_errors() -> Iterator[None]:
    """Turn the errors of Spark, which are pages, into one line.

    Raises:
        ClusterFailed: The block raised one.
    """
    try:
        yield
    except (PySparkException, Py4JError, OSError) as error:
        raised = _RAISED.findall(str(error))
        fact = raised[-1] if raised else str(error).strip().splitlines()[0]
        msg = f"Spark could not do the work: {fact}; nothing was committed, see its logs"
        raise ClusterFailed(msg) from error
