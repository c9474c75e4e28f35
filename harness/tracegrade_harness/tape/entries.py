"""A tape: JSON Lines with a header and a line per call and reply, without secrets.

Two calls are equal as in scores (`canonical_json`), after both are redacted as in the collector. A
tape holds no secret, so a call with another secret is the same call.
"""

import hashlib
import json
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tracegrade_collector.redact.pseudonyms import Pseudonyms
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.redact.redaction_rules import BLOB
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_queries.build.canonical import canonical_json

_ANY_SIZE: Final = 1 << 40
_redactor: Final = Redactor(
    Pseudonyms(b""), rules_off=[BLOB], max_value_bytes=_ANY_SIZE, max_blob_bytes=_ANY_SIZE
)
_redacting: Final = threading.Lock()


class TapeKey(NamedTuple):
    """The identity of a call on a tape."""

    channel: str
    """The service that was asked: `http:search`, `mcp:shop`, `tool`."""
    name: str
    arguments: str
    """Canonical JSON without secrets."""


class TapeEntry(NamedTuple):
    """A call and its reply."""

    key: TapeKey
    reply: Any
    """JSON, without secrets."""
    path: str | None = None
    """Path, without secrets, of a server that may have several paths; not a part of the key."""


class TapeHeader(BaseModel):
    """The first line of a tape."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    tape: Literal[1] = 1
    suite: str
    case: str
    agent: str
    release: str | None
    recorded: str
    """Time of the recording, UTC, as ISO 8601."""
    version: str
    """Version of tracegrade."""


class Tape(NamedTuple):
    """The recording of one case."""

    header: TapeHeader
    entries: tuple[TapeEntry, ...]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    channel: str
    name: str
    arguments: Any
    occurrence: int = Field(ge=1)
    path: str | None = Field(default=None, pattern="^/[!-~]*$")
    reply: Any


def key_of(channel: str, name: str, arguments: Any) -> TapeKey:
    """Return the key of a call whose arguments are JSON."""
    with _redacting:
        name, text = _redactor.redact_texts([name, _json(arguments)])
    return TapeKey(channel, name, _canonical(text))


def canonical(value: Any) -> str:
    """Return the canonical text of arguments: one text for all that scores treat as equal."""
    return _canonical(_json(value))


def digest(tape: Tape) -> str:
    """Return a digest of a tape's replies, which does not depend on the time of recording."""
    return hashlib.sha256(_json([tape.entries]).encode()).hexdigest()


def redacted(text: str) -> str:
    """Return a text without secrets, redacted as in the collector."""
    with _redacting:
        return _redactor.redact_text(text)


def redacted_json(value: Any) -> Any:
    """Return a JSON value without secrets, redacted as in the collector."""
    return json.loads(redacted(_json(value)))


def write_tape(file: Path, tape: Tape) -> None:
    """Write a tape atomically."""
    counts: Counter[TapeKey] = Counter()
    lines = [tape.header.model_dump_json()]
    for key, reply, path in tape.entries:
        counts[key] += 1
        line = {
            "channel": key.channel,
            "name": key.name,
            "arguments": json.loads(key.arguments),
            "occurrence": counts[key],
            **({} if path is None else {"path": path}),
            "reply": reply,
        }
        lines.append(_json(line))
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.new")
    beside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    beside.rename(file)


def read_tape(file: Path) -> Tape:
    """Return a tape.

    Raises:
        SuiteUnusable: It is missing, or a line of it is wrong.
    """
    try:
        text = file.read_text(encoding="utf-8").removesuffix("\n")
    except (OSError, ValueError) as error:
        msg = f"no tape '{file}': {error}; record it with `tracegrade harness record`"
        raise SuiteUnusable(msg) from error
    first, *rest = text.split("\n")  # `splitlines` would also split inside of JSON
    header = _parsed(TapeHeader, file, 1, first)
    lines = [_parsed(_Line, file, number, text) for number, text in enumerate(rest, 2)]
    return Tape(header, tuple(_entries(lines)))


def _entries(lines: Iterable[_Line]) -> Iterable[TapeEntry]:
    """Yield calls in the order of their lines; equal calls keep their order."""
    keyed = [(TapeKey(each.channel, each.name, canonical(each.arguments)), each) for each in lines]
    equal: dict[TapeKey, deque[_Line]] = defaultdict(deque)
    for key, line in sorted(keyed, key=lambda pair: pair[1].occurrence):
        equal[key].append(line)
    for key, _ in keyed:
        line = equal[key].popleft()
        yield TapeEntry(key, line.reply, line.path)


def _parsed(kind: Any, file: Path, number: int, text: str) -> Any:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"])) or "line"
        msg = f"{file}:{number}: {place}: {fault['msg']}; correct it, or record it again"
        raise SuiteUnusable(msg) from error


def _canonical(text: str) -> str:
    return canonical_json(text) or json.dumps(text)  # nested too deeply: the text itself


def _json(value: Any) -> str:
    """Return a value as JSON, without lone surrogates, which UTF-8 does not allow."""
    return json.dumps(value, ensure_ascii=False).encode(errors="replace").decode()
