"""What redaction finds and what it leaves alone; pseudonyms, long values, quarantine."""

from __future__ import annotations

import io
import json
import os
import re
import stat
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.collector import otlp_samples
from tests.collector.rows.test_round_trip import items, through_parquet
from tests.collector.running import collecting, landed
from tests.examples import many

from tracegrade.redact.cards import is_card, passes_luhn
from tracegrade.redact.names import is_secret, kind_of
from tracegrade.redact.patterns import KEY_NAMES, SHORT_NAMES, TYPED_NAMES
from tracegrade_collector.config import RULES, CollectorConfig
from tracegrade_collector.encoding.otlp import Encoding, ExportRequest, Signal, groups
from tracegrade_collector.errors import BadConfig, BadSecret
from tracegrade_collector.export import export_json
from tracegrade_collector.importing.importer import import_files
from tracegrade_collector.land.folder_room import BLOCK_BYTES
from tracegrade_collector.land.quarantine import Quarantine
from tracegrade_collector.redact.pseudonyms import SECRET_FILE, Pseudonyms, load_secret
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_collector.rows.otlp_messages import log_request, span_request
from tracegrade_collector.rows.rows import Record, log_rows, span_rows
from tracegrade_lake import RAW_SPANS, Lake, Table

SECRET = b"0123456789abcdef"


def redactor(**options: Any) -> Redactor:
    """Return one with the default limits."""
    limits = {"max_value_bytes": 4 << 20, "max_blob_bytes": 32_000}
    return Redactor(Pseudonyms(options.pop("secret", SECRET)), **(limits | options))


def rows_of(*attributes: dict[str, Any], name: str = "a") -> pa.Table:
    """Return rows of `raw_spans`, one per set of attributes."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for number, each in enumerate(attributes, 1):
        span = spans.add(trace_id=b"t" * 16, span_id=number.to_bytes(8), name=name)
        for key, value in each.items():
            field = {str: "string_value", int: "int_value", bytes: "bytes_value"}[type(value)]
            setattr(span.attributes.add(key=key).value, field, value)
    return rows_from(request)


def rows_from(request: ExportRequest) -> pa.Table:
    """Return the rows of a request."""
    is_traces = isinstance(request, ExportTraceServiceRequest)
    signal, to_rows = (Signal.TRACES, span_rows) if is_traces else (Signal.LOGS, log_rows)
    body = request.SerializeToString()
    return to_rows([Record(1, 1, signal, Encoding.PROTOBUF, "", body)], "c1")


def attributes_after(rows: pa.Table, **options: Any) -> list[dict[str, str]]:
    """Return the attributes of each row once it is redacted."""
    return [dict(each) for each in redactor(**options).redact_rows(rows)["attributes"].to_pylist()]


FOUND = [
    ('{"password": "hunter2"}', '{"password": "[redacted:named]"}'),
    ('{"a":{"API-Key":"x\\"y"},"n":1}', '{"a":{"API-Key":"[redacted:named]"},"n":1}'),
    (
        '{\\"secret\\": \\"x\\\\\\"y\\", \\"b\\": 1}',
        '{\\"secret\\": \\"[redacted:named]\\", \\"b\\": 1}',
    ),
    ('{"passwd": "1234", "b": 2}', '{"passwd": "[redacted:named]", "b": 2}'),
    ('{"credentials": {"a": ["b"]}}', '{"credentials": {"a": ["[redacted:named]"]}}'),
    ("{'client_secret': 'it is'}", "{'client_secret': '[redacted:named]'}"),
    ("export OPENAI_API_KEY=abcdef1", "export OPENAI_API_KEY=[redacted:named]"),
    ("x?access_token=abc123&y=1", "x?access_token=[redacted:named]&y=1"),
    ("Authorization: Basic dXNlcjpwYXNz", "Authorization: [redacted:named]"),
    ('["curl","--token","abcdef","-v"]', '["curl","--token","[redacted:named]","-v"]'),
    ("Server=db;Uid=sa;Pwd=abc;", "Server=db;Uid=sa;Pwd=[redacted:named];"),
    ("Set-Cookie: a=b; c=d", "Set-Cookie: [redacted:cookie]"),
    ("Bearer abcdef0123456789", "Bearer [redacted:bearer]"),
    ("postgres://u:p@ss@host/db", "postgres://[redacted:url]@host/db"),
    ("https://0123456789abcdefghij@host/x", "https://[redacted:url]@host/x"),
    ("(sk-ant-api03-abcdefghijkl)", "([redacted:api_key])"),
    ("AKIAIOSFODNN7EXAMPLE", "[redacted:api_key]"),
    ("eyJhbGciOiJ9.eyJzdWIiOiIx.dozjgNry", "[redacted:jwt]"),
    ("at 4111 1111 1111 1111.", "at [redacted:card]."),
    ('{"card":4111111111111111}', '{"card":"[redacted:card]"}'),
    ('{\\"cc\\":4111111111111111}', '{\\"cc\\":\\"[redacted:card]\\"}'),
    ("-----BEGIN PRIVATE KEY-----\\nMIIE\\n", "[redacted:pem]"),
]


@pytest.mark.parametrize(("given_text", "expected"), FOUND, ids=[text for text, _ in FOUND])
def test_secret_is_replaced_and_what_is_around_it_stays(given_text: str, expected: str) -> None:
    """Also when the text comes as one of many, and when it is redacted twice."""
    found = redactor().redact_texts(["clean", given_text, expected])

    assert found == ["clean", expected, expected]


LEFT = [
    '{"usage": {"completion_tokens": 12, "max_tokens": 4000, "token_type": "x"}}',
    '{"token": " the", "logprob": -0.1}',
    "multi-token prediction costs more per-token than others",
    "the secret of a good password is its length",
    '{"password": null, "secret": true, "api_key": ""}',
    "def login(password: str, token: str) -> None:",
    "session_id=abcdef0123456789 session.id: 17",
    "PWD=/home/me",
    "1763676000000000000 1763676000000 2024-07-18 12:30:45.123456",
    "4111111111111112 4111-11111111-1111 1234567812345670",
    "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 a4111111111111111b",
    "0.4111111111111111",
    "git@github.com:a/b.git https://host/a@b mailto:a@b.c",
    "task-management-board-items risk-assessment-of-portfolio",
    "eyJust a word",
    "call_000000000000004111111111",
    "x" * 100_000,
]


@pytest.mark.parametrize("text", LEFT, ids=lambda text: text[:30])
def test_what_is_no_secret_stays(text: str) -> None:
    """Words that only look like one, ids, times and counts of tokens."""
    assert redactor().redact_text(text) == text


_WORDS = "the|agent's|order,|17|of|4|(x)|=|3;|key:|a/b?|\n|\t|\"|'|{|[|ü|漢|\\"
WORDS = st.sampled_from(_WORDS.split("|"))
AROUND = st.lists(WORDS, max_size=6).map(" ".join)
KEY_BODY = st.text("abcdefghijkXYZ0123456789", min_size=24, max_size=40)
PREFIXES = (
    "sk-|sk-ant-api03-|sk-proj-|sk_live_|rk_live_|ghp_|gho_|github_pat_|glpat-|xoxb-|hf_|npm_|pypi-|"
    "gsk_|xai-|lsv2_pt_|hvs."
)
SHAPES = st.one_of(
    st.builds(str.__add__, st.sampled_from(PREFIXES.split("|")), KEY_BODY),
    st.from_regex(r"(AKIA|ASIA)[A-Z0-9]{16}", fullmatch=True),
    st.from_regex(r"AIza[A-Za-z0-9_-]{35}", fullmatch=True),
    st.from_regex(r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}", fullmatch=True),
    st.from_regex(r"eyJ[A-Za-z0-9_-]{10,20}(\.eyJ[A-Za-z0-9_-]{10,20}){1,2}", fullmatch=True),
)


@st.composite
def cards(draw: st.DrawFn) -> str:
    """Return a card number that passes Luhn's check, grouped or not."""
    digits = draw(st.sampled_from(["4", "51", "55", "2221", "6011"]))
    digits += draw(st.text("0123456789", min_size=15 - len(digits), max_size=15 - len(digits)))
    digits += next(each for each in "0123456789" if passes_luhn(digits + each))
    separator = draw(st.sampled_from(["", " ", "-"]))
    number = separator.join(digits[at : at + 4] for at in range(0, 16, 4))
    return number if separator else f"card {number}"


def nested(text: str, depth: int) -> str:
    """Return the text as a string in JSON in JSON."""
    for _ in range(depth):
        text = json.dumps({"id": 7, "value": text, "more": [1]}, ensure_ascii=False)
    return text


@settings(max_examples=many(40))
@given(AROUND, SHAPES | cards(), AROUND, st.integers(0, 4))
def test_no_text_keeps_a_secret_that_has_a_shape(
    before: str, secret: str, after: str, depth: int
) -> None:
    """With any text around it, and at any depth of JSON."""
    text = nested(f"{before} {secret} {after}", depth)

    assert secret not in redactor().redact_text(text)


_NAMES = """
    password Passwd db_password DB.PASSWORD secret clientSecret api_key apiKey X-API-Key
    private-key access_token refreshToken session_key aws_secret_access_key
    openai.api.key passphrase
"""
NAMES = st.sampled_from(_NAMES.split())
VALUES = st.text(min_size=6, max_size=30).filter(lambda text: len(set(text)) > 3)


@settings(max_examples=many(60))
@given(NAMES, VALUES, AROUND, st.integers(0, 3), st.booleans())
def test_no_json_keeps_what_stands_under_a_secrets_name(
    name: str, value: str, after: str, depth: int, is_ascii: bool
) -> None:
    """At every depth of JSON in JSON, with every character in the value; the rest is the same."""
    assume(is_secret(kind_of(name), name, value))
    written = {"first": after, name: value, "last": after}
    text = nested(json.dumps(written, ensure_ascii=is_ascii), depth)
    clean = redactor().redact_text(text)
    for _ in range(depth):
        clean = json.loads(clean)["value"]

    assert json.loads(clean)[name] == "[redacted:named]"
    assert {*json.loads(clean).items()} - {(name, "[redacted:named]")} == {
        ("first", redactor().redact_text(after)),
        ("last", redactor().redact_text(after)),
    }


SECRET_NAME = re.compile(f"(?i){TYPED_NAMES}|{KEY_NAMES}|{SHORT_NAMES}|cookie|card")


@settings(max_examples=many(15))
@given(st.one_of(otlp_samples.span_requests, otlp_samples.log_requests))
def test_rows_without_secrets_come_back_as_they_were_sent(sent: ExportRequest) -> None:
    """Every field of every item, with any values; none is marked."""
    assume(not SECRET_NAME.search(str(sent)))  # Hypothesis tries words of our own code, too
    rows = redactor().redact_rows(rows_from(sent))
    is_traces = isinstance(sent, ExportTraceServiceRequest)

    assert rows["redacted"].null_count == rows.num_rows
    assert items((span_request if is_traces else log_request)(through_parquet(rows))) == items(
        sent
    )


@settings(max_examples=many(12))
@given(st.one_of(otlp_samples.span_requests, otlp_samples.log_requests), st.data())
def test_redacted_rows_are_valid_requests_that_differ_only_in_texts(
    sent: ExportRequest, data: st.DataObject
) -> None:
    """Where a value is replaced its type follows, and all that has no secret is the same."""
    clean = rows_from(sent)
    for group in groups(sent):
        for item in group.items:
            place = data.draw(st.sampled_from(["own", "event", "resource"]))
            target: Any = group.resource.resource if place == "resource" else item
            if place == "event" and getattr(item, "events", None):
                target = item.events[0]
            target.attributes.add(key="password").value.bytes_value = b"471147114711471"
    rows = redactor().redact_rows(rows_from(sent))
    is_traces = isinstance(sent, ExportTraceServiceRequest)
    exported = (span_request if is_traces else log_request)(through_parquet(rows))

    assert "471147114711471" not in str(exported)
    assert rows["redacted"].null_count == 0
    for name in ("trace_id", "span_id", "oversize", "wal_seq"):
        assert rows[name] == clean[name]


def test_value_under_a_secrets_name_is_replaced_whatever_its_type() -> None:
    """The type becomes that of a text; numbers, counts of tokens and ids of sessions stay."""
    kept = {"gen_ai.usage.input_tokens": 7, "session.id": "s", "max_tokens": 5, "token": "the"}
    kept["ai.telemetry.metadata.sessionId"] = "s"
    rows = rows_of({"db.password": "1234", "http.request.header.cookie": b"abc=d"} | kept)
    clean = redactor().redact_rows(rows)

    (attributes,) = clean["attributes"].to_pylist()
    assert dict(attributes) == {
        "db.password": "[redacted:named]",
        "http.request.header.cookie": "[redacted:named]",
        **{key: str(value) for key, value in kept.items()},
    }
    assert clean["attribute_types"].to_pylist() == ["ssisiss"]
    assert clean["redacted"].to_pylist() == [
        [
            {"path": "attributes.db.password", "rule": "named"},
            {"path": "attributes.http.request.header.cookie", "rule": "named"},
        ]
    ]


def test_named_keys_of_the_user_are_secrets_too() -> None:
    """However their words are parted, as a key and in JSON."""
    given_attributes = {"customer.tax-number": "77", "x": '{"taxNumber": "77", "a": 1}'}
    (found,) = attributes_after(rows_of(given_attributes), names=["tax_number"])

    mark = "[redacted:named]"
    assert found == {"customer.tax-number": mark, "x": f'{{"taxNumber": "{mark}", "a": 1}}'}


def test_rules_that_are_off_change_nothing() -> None:
    """One by one and all of them."""
    text = "sk-proj-abcdefghijklmnop 4111-1111-1111-1111"

    clean = redactor(rules_off=["card"]).redact_text(text)
    assert clean == "[redacted:api_key] 4111-1111-1111-1111"
    assert redactor(rules_off=RULES).redact_text(text) == text


def test_unknown_rules_are_refused_with_the_known_ones() -> None:
    """A typing error must not leave a rule on that was to be off."""
    with pytest.raises(BadConfig, match=r"no rule 'cards'; known: blob, pem, .*card"):
        CollectorConfig.load(None, {"redact_rules_off": "jwt cards"})


def test_equal_values_have_one_pseudonym_in_all_columns_and_signals() -> None:
    """So joins keep working; without the secret a pseudonym cannot be guessed or tried."""
    options = {"pseudonym_keys": ["user.id"]}
    found = attributes_after(
        rows_of({"user.id": "ada"}, {"user.id": "bob"}, {"user.id": "ada"}), **options
    )
    logs = ExportLogsServiceRequest()
    logs.resource_logs.add().resource.attributes.add(key="user.id").value.string_value = "ada"
    logs.resource_logs[0].scope_logs.add().log_records.add()
    (of_log,) = redactor(**options).redact_rows(rows_from(logs))["resource_attributes"].to_pylist()
    (other,) = attributes_after(rows_of({"user.id": "ada"}), secret=b"another secret..", **options)
    again = attributes_after(rows_of(found[0]), **options)

    assert found[0] == found[2] == dict(of_log) == again[0]
    assert len({each["user.id"] for each in (*found, other)}) == 3
    assert found[0]["user.id"].startswith("pseudonym:")
    assert len(found[0]["user.id"]) == len("pseudonym:") + 32


def test_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    """Several processes that start at once agree on it; tenants have their own."""
    with ThreadPoolExecutor(8) as pool:
        found = {*pool.map(lambda _: load_secret(tmp_path, None), range(32))}
    given_file = tmp_path / SECRET_FILE
    tenants = {load_secret(tmp_path / "tenants" / name, given_file) for name in ("a", "b")}

    assert len(found) == 1
    assert len(tenants | found) == 3
    assert stat.S_IMODE(given_file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [SECRET_FILE]


def test_short_secret_is_refused(tmp_path: Path) -> None:
    """Pseudonyms under it could be tried out."""
    (tmp_path / "file").write_text("short")

    with pytest.raises(BadSecret, match="at least 16 bytes, got 5"):
        load_secret(tmp_path, tmp_path / "file")


def test_hash_of_a_redacted_row_cannot_be_tried_out() -> None:
    """It depends on the lake's secret; that of a row in which nothing was found does not."""
    rows = rows_of({"pin": "password=4711!"}, {"pin": "none"})
    one, other = (redactor(secret=secret * 16).redact_rows(rows) for secret in (b"a", b"b"))
    plain, first, second = (each["content_hash"].to_pylist() for each in (rows, one, other))

    assert len({plain[0], first[0], second[0]}) == 3
    assert plain[1] == first[1] == second[1]


def test_import_knows_redacted_spans_again(tmp_path: Path) -> None:
    """A second time a file adds nothing, although its hashes are not those of the lake."""
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.name = b"t" * 16, b"s" * 8, "password=hunter22"
    (tmp_path / "file.pb").write_bytes(request.SerializeToString())
    lake = Lake.create(tmp_path / "lake")
    added = [
        import_files(lake, [tmp_path / "file.pb"], print).added[Signal.TRACES] for _ in range(2)
    ]

    assert added == [1, 0]
    assert landed(lake.state)["name"].to_pylist() == ["password=[redacted:named]"]


def test_long_value_is_cut_between_characters_with_length_and_hash() -> None:
    """What is kept and the note are together no longer than the limit."""
    value = "ü" * 2000
    clean = redactor(max_value_bytes=1024).redact_rows(rows_of({"a": value, "b": "short"}))
    ((_, found), (_, short)) = clean["attributes"].to_pylist()[0]

    kept, _, note = found.partition("…")
    assert note == f"[capped: 4000 bytes, sha256:{sha256(value.encode()).hexdigest()}]"
    assert value.startswith(kept)
    assert 1020 <= len(found.encode()) <= 1024
    assert short == "short"
    assert clean["redacted"].to_pylist() == [[{"path": "attributes.a", "rule": "capped"}]]


def test_secret_across_the_cut_is_not_half_kept() -> None:
    """Nor does a hash of the whole value tell who tries whether a guess was right."""
    value = "x" * 960 + " sk-proj-" + "a" * 60 + " " + "y" * 900
    (found,) = attributes_after(rows_of({"a": value}), max_value_bytes=1024)

    assert found["a"].endswith(f"…[capped: {len(value)} bytes]")
    assert "sk-proj" not in found["a"]
    assert "sha256" not in found["a"]


@pytest.mark.slow
def test_value_of_60_megabytes_is_stored_or_cut(tmp_path: Path) -> None:
    """Whole if the limit allows it; else cut, and said so."""
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id = b"t" * 16, b"s" * 8
    span.attributes.add(key="a").value.string_value = "word " * 12_000_000
    for name, limit, expected in (("whole", 64 << 20, 60_000_000), ("cut", 4 << 20, 4 << 20)):
        with collecting(tmp_path / name, max_value_bytes=limit) as collector:
            answer = collector.post("/v1/traces", request.SerializeToString())
            collector.stop()
        (row,) = landed(tmp_path / name).to_pylist()

        assert answer.status == 200
        assert len(dict(row["attributes"])["a"].encode()) == expected
        assert (row["redacted"] is None) == (name == "whole")


def test_pictures_become_notes_in_uris_and_in_bytes_alone() -> None:
    """Media type, size and hash stay, so that the file can be recognized elsewhere."""
    content = b"\x89PNG\r\n\x1a\n" + os.urandom(30_000)
    value = json.dumps(
        {"url": f"data:image/jpeg;base64,{b64encode(content).decode()}", "detail": "low"}
    )
    (found,) = attributes_after(rows_of({"a": value, "b": content, "c": content[:900]}))

    note = f"30008 bytes sha256:{sha256(content).hexdigest()}]"
    assert json.loads(found["a"]) == {"url": f"[redacted:blob image/jpeg {note}", "detail": "low"}
    assert found["b"] == f"[redacted:blob image/png {note}"
    assert found["c"] == b64encode(content[:900]).decode()


def test_keys_that_become_equal_stay_apart() -> None:
    """A map must not have a key twice, even if two keys held secrets."""
    rows = rows_of({f"k sk-proj-{'a' * 20}": "1", f"k sk-proj-{'b' * 20}": "2", "c": "3"})
    (found,) = attributes_after(rows)

    assert found == {"k [redacted:api_key]#0": "1", "k [redacted:api_key]#1": "2", "c": "3"}


def test_rows_that_are_not_understood_are_not_passed_on() -> None:
    """The caller must not get them back unchanged."""
    rows = rows_of({"password": "hunter2", "b": "c"})
    at = rows.schema.get_field_index("attribute_types")
    broken = rows.set_column(at, rows.schema.field(at), pa.array(["s"]))

    with pytest.raises(ValueError, match="differ in number"):
        redactor().redact_rows(broken)


def test_table_of_an_earlier_version_gets_the_column(tmp_path: Path) -> None:
    """Its rows have NULL there; both kinds are exported."""
    old = Table(RAW_SPANS.name, RAW_SPANS.grain, RAW_SPANS.columns[:-1])
    lake = Lake.create(tmp_path)
    lake.append(old, rows_of({"a": "b"}).drop_columns(["redacted"]))
    lake.append(RAW_SPANS, redactor().redact_rows(rows_of({"password": "hunter2"})))
    out = io.StringIO()
    exported = export_json(lake, Signal.TRACES, None, out)

    assert RAW_SPANS.columns[-1].name == "redacted"
    assert (exported.items, exported.redacted) == (2, 1)
    assert '"tracegrade.collector.redacted"' in out.getvalue()
    assert '"attributes.password named"' in out.getvalue()
    assert "hunter2" not in out.getvalue()


def test_limit_of_the_quarantine_holds_for_all_processes_together(tmp_path: Path) -> None:
    """Receiver and lander keep files in one folder; each sees what the other kept."""
    first, second = (Quarantine(tmp_path, "c1", 10 * BLOCK_BYTES) for _ in range(2))
    assert first.keep_logged(1, b"x" * 5 * BLOCK_BYTES, Encoding.PROTOBUF)

    assert not second.keep_logged(2, b"x" * 4 * BLOCK_BYTES, Encoding.PROTOBUF)
    assert second.keep_logged(3, b"x" * 3 * BLOCK_BYTES, Encoding.PROTOBUF)


def test_many_small_files_fill_the_quarantine(tmp_path: Path) -> None:
    """Each takes a block, and a name: what was sent in two bytes is not kept as two bytes."""
    quarantine = Quarantine(tmp_path, "c1", 10 * BLOCK_BYTES)
    kept = [quarantine.keep_logged(seq, b"\xff\xff", Encoding.PROTOBUF) for seq in range(8)]
    later = Quarantine(tmp_path, "c2", 10 * BLOCK_BYTES)

    assert kept == [True] * 5 + [False] * 3
    assert not later.keep_logged(1, b"", Encoding.PROTOBUF)


def test_quarantine_is_emptied_when_its_time_is_over(tmp_path: Path) -> None:
    """Unredacted content does not stay forever."""
    quarantine = Quarantine(tmp_path, "c1", 10 * BLOCK_BYTES)
    quarantine.keep_logged(1, b"old", Encoding.PROTOBUF)
    quarantine.keep_logged(2, b"new", Encoding.PROTOBUF)
    os.utime(tmp_path / "quarantine" / "c1-1.pb", (0, 0))
    quarantine.remove_older(days=30)

    assert [path.name for path in (tmp_path / "quarantine").iterdir()] == ["c1-2.pb"]


def test_ids_of_cards_need_issuer_length_and_check_digit() -> None:
    """All four conditions; numbers of the issuers' own test cards."""
    good = ["378282246310005", "30569309025904", "6011111111111117", "3530111333300000"]

    assert all(map(is_card, good))
    assert not any(map(is_card, ["378282246310006", "3782822463100053", "1111111111111117"]))
