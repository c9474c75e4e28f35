"""Secrets that are easy to find again, of each kind, and requests that hold them everywhere."""

from __future__ import annotations

import base64
import json
import random
from typing import Any, NamedTuple, TypeAlias

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

Message: TypeAlias = ExportTraceServiceRequest | ExportLogsServiceRequest
WORD = "Kanarie7Vogel9"


class Canary(NamedTuple):
    """A text with a secret in it."""

    rule: str
    text: str
    secret: str
    """What of the text must not be found again."""


def _picture() -> str:
    content = b"\x89PNG\r\n\x1a\n" + random.Random(7).randbytes(30_000)  # noqa: S311
    return base64.b64encode(content).decode()


PICTURE = _picture()
_KEY = f"MIIE{WORD}ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ{WORD}In0.{WORD}-signature_0"

CANARIES = [
    Canary("blob", f"data:image/png;base64,{PICTURE}", PICTURE[10_000:10_060]),
    Canary("pem", f"-----BEGIN RSA PRIVATE KEY-----\n{_KEY}\n-----END RSA PRIVATE KEY-----", _KEY),
    Canary("cookie", f"Cookie: theme=dark; sid={WORD}", WORD),
    Canary("named", json.dumps({"user": "bob", "password": f"{WORD}!"}), WORD),
    Canary("named", json.dumps({"body": json.dumps({"api_key": f'"{WORD}'})}), WORD),
    Canary("named", f"login --password {WORD} --verbose", WORD),
    Canary("url", f"see postgres://admin:{WORD}@db.example/orders", WORD),
    Canary("bearer", f"curl -H 'X: Bearer {WORD}abcdef' https://api.example", WORD),
    Canary("jwt", f"got {_JWT}.", WORD),
    Canary("api_key", f"use sk-proj-{WORD}abcdefgh now", WORD),
    Canary("api_key", "AKIAKANARIEVOGEL9999", "AKIAKANARIEVOGEL9999"),
    Canary("card", "pay with 4539 5787 6362 1486 please", "4539 5787 6362 1486"),
    Canary("card", "card 4539578763621486", "4539578763621486"),
]
NAMED_KEYS = ["password", "HTTP.request.header.Authorization", "openai-api-key", "db.passwd"]
SECRETS = sorted({canary.secret for canary in CANARIES})


def everything(text: str) -> AnyValue:
    """Return the text in a string, a list and a map, in one value."""
    value = AnyValue()
    member = value.kvlist_value.values.add(key="inner")
    member.value.array_value.values.add().string_value = text
    return value


def attributes(text: str) -> list[KeyValue]:
    """Return entries that hold a text in each way there is."""
    found = [
        KeyValue(key="plain", value=AnyValue(string_value=text)),
        KeyValue(key=f"key {text}", value=AnyValue(string_value="harmless")),
        KeyValue(key="nested", value=everything(text)),
        KeyValue(key="escaped", value=AnyValue(string_value=json.dumps({"arguments": text}))),
        KeyValue(key="plain", value=AnyValue(string_value=f"again {text}")),
    ]
    found += [KeyValue(key=key, value=AnyValue(string_value=WORD)) for key in NAMED_KEYS]
    return found


def spans(first_id: int, *, bad_ids: bool = False) -> ExportTraceServiceRequest:
    """Return one span per canary, which has it at every place; ids are good or refused."""
    request = ExportTraceServiceRequest()
    for number, (_, text, _) in enumerate(CANARIES, first_id):
        group = request.resource_spans.add(schema_url=text)
        group.resource.attributes.extend(attributes(text))
        group.resource.attributes.add(key="process.command_args", value=everything(text))
        group.resource.attributes.add(key="service.name").value.string_value = text
        group.resource.entity_refs.add(type=text, id_keys=[text])
        scoped = group.scope_spans.add(schema_url=text)
        scoped.scope.name = scoped.scope.version = text
        scoped.scope.attributes.extend(attributes(text))
        span = scoped.spans.add(
            trace_id=b"short" if bad_ids else number.to_bytes(16),
            span_id=number.to_bytes(8),
            name=text,
            trace_state=text,
            attributes=attributes(text),
        )
        span.status.message = text
        event = span.events.add(name=text, attributes=attributes(text))
        event.attributes.add(key="exception.stacktrace").value.string_value = f"at x\n{text}\nat y"
        link_ids = {"trace_id": bytes(range(16)), "span_id": bytes(range(8))}
        span.links.add(trace_state=text, attributes=attributes(text), **link_ids)
    return request


def logs(*, bad_ids: bool = False) -> ExportLogsServiceRequest:
    """Return log records with each canary at every place, as `spans` does."""
    request = ExportLogsServiceRequest()
    for _, text, _ in CANARIES:
        group = request.resource_logs.add()
        group.resource.attributes.extend(attributes(text))
        for body in (AnyValue(string_value=text), everything(text)):
            group.scope_logs.add().log_records.add(
                body=body,
                severity_text=text,
                event_name=text,
                attributes=attributes(text),
                trace_id=b"short" if bad_ids else b"",
            )
    return request


def found_in(content: Any) -> list[str]:
    """Return which of the secrets stand in some bytes or a text."""
    given = content if isinstance(content, bytes) else str(content).encode()
    return [secret for secret in SECRETS if secret.encode() in given]
