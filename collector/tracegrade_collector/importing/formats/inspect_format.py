"""The format `inspect`: logs of Inspect, as one JSON document or as an `.eval` archive → spans.

Each sample and epoch is a run: its messages, the times and tokens of its model calls. Its scores
are verdicts on its success. The archive is read a sample at a time.

The form is that of https://github.com/UKGovernmentBEIS/inspect_ai (the module `inspect_ai.log`,
020dd01), compared in December 2026; logs of older versions are read as well.
"""

import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.chat import read_messages
from tracegrade_collector.importing.formats.inspect_sample import LoggedSample, MessageFacts
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import (
    MAX_RECORD_BYTES,
    FileRecord,
    JsonObject,
    read_records,
)
from tracegrade_collector.importing.scores import JUDGE, success_verdict
from tracegrade_collector.importing.source import open_plain, source_of
from tracegrade_collector.importing.spellings import as_list, as_object, as_text
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.trajectory import (
    Message,
    RunOrigin,
    Trajectory,
    counts,
    left_out,
    spans_of,
)
from tracegrade_collector.importing.verdict_rows import VerdictRecord
from tracegrade_collector.importing.whose_calls import with_own_replies

FORMAT: Final = "inspect"
ZIP_MAGIC: Final = b"PK\x03\x04"

_HEADERS: Final = ("header.json", "_journal/start.json")
_SAMPLES: Final = "samples/"
_GRADES: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partly, incorrect, no answer; as Inspect's own metrics count them."""

_GRADER: Final = "model_graded"
"""Prefix of the names of scorers that ask a model."""


def fits(head: bytes, record: Any) -> bool:
    """Return whether a file that begins so is of this format."""
    return head.startswith(ZIP_MAGIC) or (
        isinstance(record, dict)
        and isinstance(record.get("eval"), dict)
        and ("samples" in record or "plan" in record or "status" in record)
    )


def read(path: Path, reading: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each sample of a log, and one for each invalid sample.

    `--map success=SCORER` names the only scorer whose scores are verdicts; without it all are.
    """
    log = _Log(path, reading.paths.get("success"))
    with open_plain(path) as file:
        is_archive = file.peek(4).startswith(ZIP_MAGIC)
        records = None if is_archive else list(read_records(file))
    if records is None:
        with _archive(path) as archive:
            yield from _archived(log, archive)
    else:
        for record in records:
            yield from _document(log, record)


class _Log(NamedTuple):
    """Properties that all samples of a log share."""

    path: Path
    scorer: str | None
    """Whose scores are verdicts; None: everyone's."""

    eval: JsonObject = MappingProxyType({})
    """The log's member of this name: task, solver, ids."""


def _document(log: _Log, record: FileRecord) -> Iterator[ImportPart]:
    found = record.value
    if record.fault or not fits(b"", found):
        yield ImportPart(f"{log.path}:{record.line}", fault=record.fault or "no log of Inspect")
        return
    log = log._replace(eval=found["eval"])
    for number, sample in enumerate(as_list(found.get("samples"))):
        yield _part(log, f"samples[{number}]", number, sample)


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open the archive; report a failure like that of any file that cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise OSError(str(error)) from error


def _archived(log: _Log, archive: zipfile.ZipFile) -> Iterator[ImportPart]:
    names = archive.namelist()
    header = next((name for name in _HEADERS if name in names), None)
    if header is None:
        yield ImportPart(str(log.path), fault=f"no log of Inspect: it has no {_HEADERS[0]}")
        return
    log = log._replace(eval=as_object(as_object(_member(archive, header).value).get("eval")))
    samples = sorted(
        name for name in names if name.startswith(_SAMPLES) and name.endswith(".json")
    )
    for number, name in enumerate(samples):
        record = _member(archive, name)
        if record.fault:
            yield ImportPart(f"{log.path}:{name}", fault=record.fault)
        else:
            yield _part(log, name, number, record.value)


def _member(archive: zipfile.ZipFile, name: str) -> FileRecord:
    """Return the one JSON value of a member."""
    with archive.open(name) as file:
        body = file.read(MAX_RECORD_BYTES + 1)
    if len(body) > MAX_RECORD_BYTES:
        return FileRecord(1, None, f"a sample of more than {MAX_RECORD_BYTES} bytes")
    return next(read_records(BytesIO(body)), FileRecord(1, None, "the sample is empty"))


def _part(log: _Log, position: str, number: int, sample: Any) -> ImportPart:
    location = f"{log.path}:{position}"
    if not isinstance(sample, dict) or not isinstance(sample.get("messages"), list):
        return ImportPart(location, fault="no sample of Inspect: it has no messages")
    ignored: Counter[str] = Counter()
    where = _run_origin(log, number, sample)
    verdicts = list(_verdicts(log, where, sample, ignored))
    run = _trajectory(log, where, sample, _outcome(sample, verdicts), ignored)
    understood = counts(run) + Counter({"scores": len(verdicts)})
    return ImportPart(
        location,
        Signal.TRACES,
        spans_of(run),
        verdicts=verdicts,
        understood=understood,
        ignored=ignored + left_out(run),
    )


def _run_origin(log: _Log, number: int, sample: JsonObject) -> RunOrigin:
    run_name = sample.get("uuid") or f"{sample.get('id')}/{sample.get('epoch')}"
    eval_name = log.eval.get("eval_id") or log.eval.get("run_id")
    source = as_text(eval_name) if eval_name not in (None, "...") else source_of(log.path)
    return RunOrigin(FORMAT, source, as_text(run_name), number)


def _trajectory(
    log: _Log, where: RunOrigin, sample: JsonObject, outcome: str | None, ignored: Counter[str]
) -> Trajectory:
    task, sample_id, epoch = log.eval.get("task"), sample.get("id"), sample.get("epoch")
    read = LoggedSample(sample)
    return Trajectory(
        origin=where,
        location=f"{Path(where.source).name}:{sample_id}/{epoch}",
        messages=_messages(read, ignored),
        task=f"{task}/{sample_id}",
        category=as_text(task) if task else None,
        trial=epoch if type(epoch) is int and 0 <= epoch < 2**31 else None,
        retries=len(as_list(sample.get("error_retries"))),
        outcome=outcome,
        agent=as_text(log.eval["solver"]) if log.eval.get("solver") else None,
        time_ns=nanoseconds(sample.get("started_at") or log.eval.get("created")),
        tools=read.tools(),
    )


def _verdicts(
    log: _Log, where: RunOrigin, sample: JsonObject, ignored: Counter[str]
) -> Iterator[VerdictRecord]:
    """Yield a verdict for each score on the correctness of the sample."""
    for name, score in _scores(sample).items():
        value = score.get("value")
        grade = _GRADES.get(value) if isinstance(value, str) else None
        judge = JUDGE if name.startswith(_GRADER) else ""
        verdict = success_verdict(
            where.trajectory_id(),
            f"{judge}{FORMAT} {name}",
            value if grade is None else grade,
            label=value if isinstance(value, str) else None,
            evidence=score.get("explanation"),
        )
        if log.scorer not in (None, name):
            ignored[f"scores of scorers other than '{log.scorer}'"] += 1
        elif verdict is None:
            ignored["scores that are not a number from 0 to 1"] += 1
        else:
            yield verdict


def _scores(sample: JsonObject) -> dict[str, JsonObject]:
    """Return the scores by scorer; logs of the first version have one without a name."""
    scores = as_object(sample.get("scores"))
    if not scores and sample.get("score"):
        scores = {"score": sample["score"]}
    return {name: as_object(score) for name, score in scores.items()}


def _outcome(sample: JsonObject, verdicts: Sequence[VerdictRecord]) -> str | None:
    """Return what all verdicts say; nothing if they differ or one is between right and wrong."""
    if sample.get("error"):
        return "invalid"
    values = {verdict["value"] for verdict in verdicts}
    return {1.0: "success", 0.0: "failure"}.get(*values) if len(values) == 1 else None


def _messages(sample: LoggedSample, ignored: Counter[str]) -> list[Message]:
    """Return the messages as chats have them, with the time and tokens of their events."""
    found = []
    for each in sample.messages:
        message = _plain(each) if isinstance(each, dict) else each
        facts = sample.facts_of(each) if isinstance(each, dict) else MessageFacts()
        found += [
            Message(
                m.role,
                m.pieces,
                facts.time_ns or m.time_ns,
                m.model or facts.model,
                {**facts.usage},
            )
            for m in read_messages([message], ignored)
        ]
    return with_own_replies(found, ignored)


def _plain(message: JsonObject) -> dict[str, Any]:
    """Return a message with the names that chats have for what Inspect names otherwise."""
    plain = dict(message)
    plain["tool_calls"] = [
        {"id": call.get("id"), "name": call.get("function"), "arguments": call.get("arguments")}
        for call in as_list(plain.get("tool_calls"))
        if isinstance(call, dict)
    ]
    if isinstance(plain.get("content"), list):
        plain["content"] = [_plain_block(block) for block in plain["content"]]
    if plain.get("role") == "tool":
        plain["name"] = plain.get("function")
        plain["error"] = plain.get("error") or plain.get("tool_error")  # a text in old logs
    return plain


def _plain_block(block: Any) -> Any:
    """Return a tool that the provider ran, and a thought, as providers write them."""
    kind = as_object(block).get("type")
    if kind == "tool_use":
        call = {key: block.get(key) for key in ("id", "name", "arguments", "error")}
        return {"type": "server_tool_call", "output": block.get("result"), **call}
    if kind == "reasoning" and block.get("redacted"):  # its text is encrypted
        return {"type": "reasoning", "reasoning": block.get("summary")}
    return block
