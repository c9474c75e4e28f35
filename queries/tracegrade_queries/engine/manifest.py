"""Buckets and outcomes as JSON, for workers that share only the lake with the job.

Their content is never run, imported or unpickled. Work is the name of a function that an installed
package declares (entry points `tracegrade.bucket_work`), values are checked against their types,
and rows are Arrow. A specification has the type of its function's parameter.
"""

import base64
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import entry_points, version
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, NamedTuple, get_args, get_type_hints

import pyarrow as pa
from pydantic import (
    BaseModel,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
    ValidationError,
)

from tracegrade_lake import Lake
from tracegrade_lake.staged_files import StagedFileRef, adopt_staged, publish_staged
from tracegrade_queries.engine.bucket_work import Bucket, BucketFunction, Outcome
from tracegrade_queries.engine.connection import Limits
from tracegrade_queries.engine.layers import table_named
from tracegrade_queries.engine.pinned import PinnedLake, PinnedTable
from tracegrade_queries.errors import ManifestUnfit, VersionsDiffer

WORK: Final = "tracegrade.bucket_work"
"""The entry points that declare which functions a manifest may name."""


_CODE: Final = frozenset({".py", ".sql", ".toml"})
"""Suffixes of the files that determine rows."""


class Versions(NamedTuple):
    """Versions that determine the resulting rows; a job and all its workers have the same."""

    tracegrade: str
    duckdb: str
    polars: str
    pyarrow: str
    code: str
    """Of the packages that do the work: a checkout changes without its version."""


@cache
def versions_here() -> Versions:
    """Return the versions installed here."""
    return Versions(
        tracegrade=version("tracegrade"),
        duckdb=version("duckdb"),
        polars=version("polars"),
        pyarrow=version("pyarrow"),
        code=_code_digest(),
    )


def _code_digest() -> str:
    """Return a digest of the files of all packages whose functions a manifest may name."""
    digest = sha256()
    for name in sorted({point.module.partition(".")[0] for point in entry_points(group=WORK)}):
        spec = find_spec(name)
        for root in (spec and spec.submodule_search_locations) or ():
            paths = (path for path in Path(root).rglob("*") if path.suffix in _CODE)
            for path in sorted(paths):
                content = sha256(path.read_bytes()).hexdigest()
                digest.update(f"{name}/{path.relative_to(root).as_posix()} {content}\n".encode())
    return digest.hexdigest()[:12]


def check_versions(found: Versions, where: str) -> None:
    """Check that another process has the same installed as this one.

    Args:
        found: What it has.
        where: Which one it is: begins the error.

    Raises:
        VersionsDiffer: It has not, so that it might make other rows.
    """
    pairs = zip(Versions._fields, found, versions_here(), strict=True)
    wrong = [f"{name} {there}, here is {here}" for name, there, here in pairs if there != here]
    if wrong:
        msg = f"{where} has {'; '.join(wrong)}; install the same versions on all machines"
        raise VersionsDiffer(msg)


def _read_rows(text: object) -> pa.Table:
    if not isinstance(text, str):
        msg = "rows are a text"
        raise ValueError(msg)
    try:
        with pa.ipc.open_stream(base64.b64decode(text, validate=True)) as reader:
            rows = reader.read_all()
        rows.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(str(error).splitlines()[0]) from error
    return rows


def _write_rows(rows: pa.Table) -> str:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
        writer.write_table(rows)
    return base64.b64encode(sink.getvalue()).decode()


Rows = Annotated[pa.Table, PlainValidator(_read_rows), PlainSerializer(_write_rows)]
"""An Arrow table; as JSON the base64 of its IPC stream."""


class _StrictModel(BaseModel):
    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, arbitrary_types_allowed=True
    )
    versions: Versions


class BucketManifest(_StrictModel):
    """A bucket, and the work on it."""

    work: str
    """`module:function`."""
    tables: dict[str, PinnedTable]
    """The files to read; of the lake that the manifest is in."""
    traces: Rows
    limits: Limits
    specification: str
    """JSON."""


class OutcomeFile(_StrictModel):
    """The result of the work on a bucket."""

    files: dict[str, list[StagedFileRef]]
    tables: dict[str, Rows]


def write_manifest(work: BucketFunction, bucket: Bucket[Any]) -> bytes:
    """Return a bucket as JSON.

    Raises:
        ManifestUnfit: Its specification would be read back with other values.
    """
    adapter = _specification_of(work)
    specification = adapter.dump_json(bucket.specification, exclude_unset=True).decode()
    if adapter.validate_json(specification) != bucket.specification:
        msg = f"the specification of {name_of(work)} cannot be written as JSON; use --engine local"
        raise ManifestUnfit(msg)
    manifest = BucketManifest(
        versions=versions_here(),
        work=name_of(work),
        tables=dict(bucket.lake.tables),
        traces=_write_rows(bucket.traces),
        limits=bucket.limits,
        specification=specification,
    )
    return manifest.model_dump_json().encode()


def read_manifest(content: bytes, lake: Lake, location: str) -> tuple[BucketFunction, Bucket[Any]]:
    """Return the work and its bucket.

    Args:
        content: The JSON.
        lake: The lake that it is in: its files are read, by no other path.
        location: Where it is: begins errors.

    Raises:
        ManifestUnfit: It is not as a job writes it.
        VersionsDiffer: The job has other versions than this process.
    """
    try:
        manifest = BucketManifest.model_validate_json(content)
        check_versions(manifest.versions, f"the job of {location}")
        work = _work_named(manifest.work)
        specification = _specification_of(work).validate_json(manifest.specification)
        _check_paths(manifest.tables)
    except ValueError as error:
        raise _unfit(location, error) from error
    pinned = PinnedLake(lake.location, str(lake.state), manifest.tables)
    return work, Bucket(pinned, manifest.traces, manifest.limits, specification)


def write_outcome(outcome: Outcome, lake: Lake) -> bytes:
    """Return an outcome as JSON, after its files were brought to where the job reaches them."""
    files = {name: publish_staged(lake, name, staged) for name, staged in outcome.files.items()}
    tables = {name: _write_rows(rows) for name, rows in outcome.tables.items()}
    outcome_file = OutcomeFile(versions=versions_here(), files=files, tables=tables)
    return outcome_file.model_dump_json().encode()


def read_outcome(content: bytes, lake: Lake, location: str) -> Outcome:
    """Return an outcome, after its files were checked against its description of them.

    Args:
        content: The JSON.
        lake: Where its files are.
        location: Where it is: begins errors.

    Raises:
        ManifestUnfit: It is not as a worker writes it.
        StagedFileUnfit: A file is not there, or is another one.
        VersionsDiffer: The worker has other versions than this process.
    """
    try:
        outcome_file = OutcomeFile.model_validate_json(content)
        check_versions(outcome_file.versions, f"the worker of {location}")
        tables = {name: table_named(name) for name in outcome_file.files}
    except ValueError as error:
        raise _unfit(location, error) from error
    files = {
        name: adopt_staged(lake, tables[name], each) for name, each in outcome_file.files.items()
    }
    return Outcome(files, outcome_file.tables)


def name_of(work: BucketFunction) -> str:
    """Return the name of a function as manifests have it."""
    return f"{work.__module__}:{work.__qualname__}"


def _work_named(name: str) -> BucketFunction:
    for entry in entry_points(group=WORK):
        if entry.value == name:
            work: BucketFunction = entry.load()
            return work
    msg = f"no package declares the work '{name}'"
    raise ValueError(msg)


@cache
def _specification_of(work: BucketFunction) -> TypeAdapter[Any]:
    (kind,) = get_args(get_type_hints(work)["bucket"])
    return TypeAdapter(kind)


def _check_paths(tables: Mapping[str, PinnedTable]) -> None:
    """Check that each file is below its table's folder."""
    for name, table in tables.items():
        for path in (PurePosixPath(file.path) for file in table.files):
            if not re.fullmatch(r"\w+", name) or path.is_absolute() or ".." in path.parts:
                msg = f"'{name}/{path}' is not a file of a table"
                raise ValueError(msg)


def _unfit(location: str, error: ValueError) -> ManifestUnfit:
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False, include_url=False)[0]
        fact = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    else:
        fact = str(error)
    return ManifestUnfit(
        f"{location} cannot be used: {fact}; only a job of this version writes it"
    )
