"""Every option of the collector, from a TOML file, the environment and flags, in rising order.

In the file, options are in the table `[collector]`. In the environment, they are upper case with
the prefix `TRACEGRADE_COLLECTOR_`. An unknown name is an error, so a typing error never silently
means the default.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self, TypeVar

from tracegrade_collector import log_lines
from tracegrade_collector.edge.address import OFF, Address, is_loopback, parse_address
from tracegrade_collector.errors import BadConfig

ENVIRONMENT_PREFIX = "TRACEGRADE_COLLECTOR_"
TABLE = "collector"
MEANING = "meaning"
OR_NEVER = ("compact_every_secs", "land_every_secs", "retention_days")  # 0 has a meaning
RULES = ("blob", "pem", "cookie", "named", "url", "bearer", "jwt", "api_key", "card")
"""Names of the rules of redaction, in the order in which they are applied."""

LEAST_VALUE_BYTES = 1024  # a limit must leave room for the note about the cut

T = TypeVar("T")


def option(default: T, meaning: str) -> T:
    """Return a field of the options: its default, and its meaning as metadata.

    The meaning is one or two sentences with unit and reason; `--print-options` shows it.
    """
    return field(default=default, metadata={MEANING: meaning})


@dataclass(frozen=True)
class CollectorConfig:
    """The options of one collector."""

    http: str = option(
        "127.0.0.1:4318",
        "Address of OTLP/HTTP, or `off`. The port is the protocol's default.",
    )

    grpc: str = option(
        "127.0.0.1:4317",
        "Address of OTLP/gRPC, or `off`. The port is the protocol's default.",
    )

    state: str = option(
        "",
        "Local folder for the log, quarantine and locks of a lake on an object store. Empty: "
        "a folder in `~/.local/state`. A lake in a folder keeps them there itself.",
    )

    insecure: bool = option(
        False,
        "Whether an address that other machines can reach may be used without TLS and without "
        "tokens or client certificates.",
    )

    token_file: str = option(
        "",
        "File of hashed bearer tokens, see `tokens.py`; requests without a valid token are "
        "refused. Empty: everybody who can reach the address may send.",
    )

    tls_cert_file: str = option(
        "",
        "PEM file with the server's certificate and its intermediate certificates. Empty: no TLS.",
    )

    tls_key_file: str = option(
        "",
        "PEM file with the certificate's private key, without a password.",
    )

    tls_client_ca_file: str = option(
        "",
        "PEM file with the authorities that sign client certificates; connections without one "
        "are refused. Empty: clients need no certificate.",
    )

    max_request_bytes: int = option(
        64 << 20,
        "Bytes of one request, before and after decompression; the protocol recommends 64 MiB.",
    )

    max_items_per_request: int = option(
        250_000,
        "Resources, scopes and spans or log records in one request, counted before it is "
        "decoded; JSON's after it. Empty ones fit into 500 kB; real ones (760 bytes) would take "
        "three times 64 MiB.",
    )

    max_values_per_request: int = option(
        2_000_000,
        "Attributes, events, links and nested values in one request, counted before it is "
        "decoded; each takes about 50 bytes of memory, however few bytes it was sent in.",
    )

    max_connections: int = option(
        8192,
        "Connections per protocol, at most half of the files that the process may open. One "
        "HTTP connection too many closes the one that has been idle longest.",
    )

    max_concurrent_requests: int = option(
        1024,
        "HTTP requests in progress at once; clients are asked to send any more again later. "
        "`max_in_flight_bytes` limits their bytes; this limits requests whose body has not "
        "arrived yet.",
    )

    max_head_secs: float = option(
        10.0,
        "Seconds in which the head of a request must arrive. Exporters give up after 10 s.",
    )

    max_body_secs: float = option(
        30.0,
        "Seconds in which the body of a request must arrive; then its place is freed.",
    )

    cors_origins: str = option(
        "",
        "Origins, separated by spaces, whose pages in a browser may send, such as "
        "`https://app.example`.",
    )

    max_in_flight_bytes: int = option(
        256 << 20,
        "Bytes of requests in memory at once; more are refused. Room for four of the largest; "
        "at least two, since a compressed request is held in both forms.",
    )

    max_wal_bytes: int = option(
        10 << 30,
        "Bytes of the log that may wait to land; beyond it requests are refused. One hour at "
        "3 MB/s.",
    )

    max_segment_bytes: int = option(
        12 << 20,
        "Bytes after which a segment is sealed. The lander holds one segment at a time, as "
        "rows: 16 MB took 30 MB more memory, 8 MB a tenth more time.",
    )

    max_segment_age_secs: float = option(
        1.0,
        "Seconds after which a segment with records is sealed: the shortest time that data waits.",
    )

    land_every_secs: float = option(
        0.0,
        "Seconds between commits. 0: 4 to a folder, at most 21,600 commits a day; 30 to an object "
        "store, where a commit takes 3 requests, 1.40 US$ a month at AWS's prices.",
    )

    max_round_bytes: int = option(
        512 << 20,
        "Bytes of the log that land in one commit; a backlog lands in rounds of this size.",
    )

    resent_rows: int = option(
        1_000_000,
        "Rows remembered to recognize requests that are sent again; 20 MB of memory. At "
        "100,000 rows a second that is 10 s, after which exporters have given up.",
    )

    max_quarantine_bytes: int = option(
        1 << 30,
        "Bytes on the disk of undecodable requests that are kept, each file as a block more than "
        "it takes; beyond it they are only counted.",
    )

    max_dead_letter_bytes: int = option(
        1 << 30,
        "Bytes on the disk of refused items that are kept as dead letters, counted as those in "
        "quarantine; beyond it new ones are only counted. They go with `retention_days`.",
    )

    quarantine_days: float = option(
        30.0,
        "Days that a file stays in quarantine: long enough to find out why, no longer, "
        "because its content is not redacted.",
    )

    redact: bool = option(
        True,
        "Whether secrets are replaced before anything is written to the lake. Pseudonyms and "
        "`max_value_bytes` do not depend on it.",
    )

    redact_rules_off: str = option(
        "",
        "Rules that are not applied, separated by spaces; each of `RULES`.",
    )

    redact_keys: str = option(
        "",
        "More attribute keys, and names in JSON, whose values are secrets, separated by "
        "spaces. Case and the separators `.`, `_` and `-` make no difference: `ssn "
        "customer.tax_number`.",
    )

    pseudonym_keys: str = option(
        "",
        "Attribute keys, exactly as written, whose values become pseudonyms, separated by "
        "spaces: `user.id enduser.id`. Equal values get equal pseudonyms, so that joins keep "
        "working.",
    )

    pseudonym_secret_file: str = option(
        "",
        "File with at least 16 random bytes, for several collectors that must produce the "
        "same pseudonyms. Empty: `redaction.secret` among the lake's private files, made if "
        "absent.",
    )

    max_value_bytes: int = option(
        4 << 20,
        "Bytes of one text; a longer one is cut, with a note of its length and hash. Four MB "
        "are a model's context of a million tokens; every reader holds a value as a whole.",
    )

    max_blob_bytes: int = option(
        32_000,
        "Characters of base64 (images, audio) that are kept; of longer ones only type, size "
        "and hash are. The limit that OpenInference sets for images.",
    )

    compact_every_secs: float = option(
        900.0,
        "Seconds between maintenance runs, which merge small files and expire old dates. 0: "
        "never, for lakes where `tracegrade lake compact` and `expire` run on a schedule of "
        "their own.",
    )

    compact_after_secs: float = option(
        900.0,
        "Least age in seconds of a file to compact; newer files are still being read "
        "by landing and builds. A past date is sorted when all its files are that old.",
    )

    retention_days: float = option(
        0.0,
        "Days that traces are kept, by the date they were received (UTC); 0: for ever.",
    )

    retention_keeps_built: bool = option(
        False,
        "Whether steps, trajectories and scores stay when their traces expire; they repeat "
        "content of the traces.",
    )

    drain_secs: float = option(
        10.0,
        "Seconds that requests in progress get to finish when the collector is stopped.",
    )

    log_format: str = option(
        "text",
        "Format of our own log lines on stderr: `text` for people, `json` for machines.",
    )

    @property
    def is_safe_outside(self) -> bool:
        """Whether an address may be bound that others reach."""
        knows_clients = bool(self.token_file or self.tls_client_ca_file)
        return self.insecure or (bool(self.tls_cert_file) and knows_clients)

    def addresses(self) -> dict[str, Address | None]:
        """Return where each protocol listens, None for one that is off."""
        return {"http": parse_address(self.http), "grpc": parse_address(self.grpc)}

    @classmethod
    def load(cls, file: Path | None, flags: Mapping[str, Any]) -> Self:
        """Return the options of a file, overridden by the environment, overridden by given flags.

        Raises:
            BadConfig: All that is wrong with them, in one text.
        """
        given = _from_file(file) | _from_environment(os.environ)
        given |= {name: value for name, value in flags.items() if value is not None}
        problems = [*_type_problems(given)]
        config = cls(**given) if not problems else cls()
        problems += _value_problems(config)
        if problems:
            raise BadConfig("; ".join(problems))
        return config


TYPES: dict[str, type] = {field.name: type(field.default) for field in fields(CollectorConfig)}


def _from_file(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        msg = f"cannot read the options in {file}: {getattr(error, 'strerror', None) or error}"
        raise BadConfig(msg) from error
    others = sorted(content.keys() - {TABLE})
    if others:
        msg = f"unknown table {', '.join(others)} in {file}; options belong in [{TABLE}]"
        raise BadConfig(msg)
    options = content.get(TABLE, {})
    if not isinstance(options, dict):
        msg = f"options belong in a table [{TABLE}], but {file} has {TABLE} = {options!r}"
        raise BadConfig(msg)
    return options


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    given = {
        name.removeprefix(ENVIRONMENT_PREFIX).lower(): text
        for name, text in environment.items()
        if name.startswith(ENVIRONMENT_PREFIX)
    }
    return {name: _from_text(text, TYPES.get(name, str)) for name, text in given.items()}


def _from_text(text: str, expected_type: type) -> Any:
    if expected_type is bool:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    try:
        return expected_type(text)
    except ValueError:
        return text


def _type_problems(given: dict[str, Any]) -> list[str]:
    """Return errors in names and types; whole numbers become floats in place."""
    problems = []
    for name, value in list(given.items()):
        expected_type = TYPES.get(name)
        if expected_type is float and type(value) is int:
            given[name] = float(value)
        elif expected_type is None:
            problems.append(f"unknown option '{name}'; known: {', '.join(TYPES)}")
        elif type(value) is not expected_type:
            problems.append(f"{name} must be a {expected_type.__name__}, got {value!r}")
    return problems


def _value_problems(config: CollectorConfig) -> list[str]:
    problems = [
        f"{name} must be > 0, got {getattr(config, name)}"
        for name, kind in TYPES.items()
        if kind in (int, float) and not getattr(config, name) > 0 and name not in OR_NEVER
    ]
    problems += [
        f"{name} must be >= 0, got {getattr(config, name)}"
        for name in OR_NEVER
        if not getattr(config, name) >= 0
    ]
    if config.max_in_flight_bytes < 2 * config.max_request_bytes:
        problems.append(
            f"max_in_flight_bytes must be at least twice max_request_bytes "
            f"({config.max_request_bytes}), got {config.max_in_flight_bytes}"
        )
    if config.log_format not in log_lines.FORMATS:
        known = " or ".join(log_lines.FORMATS)
        problems.append(f"log_format must be {known}, got {config.log_format!r}")
    problems += [
        *_security_problems(config),
        *_address_problems(config),
        *_redaction_problems(config),
    ]
    if config.http == config.grpc == OFF:
        problems.append("http and grpc are both off, so nothing can be received; turn one on")
    return problems


def _security_problems(config: CollectorConfig) -> Iterator[str]:
    if bool(config.tls_cert_file) != bool(config.tls_key_file):
        yield "tls_cert_file and tls_key_file must be set together"
    if config.tls_client_ca_file and not config.tls_cert_file:
        yield "tls_client_ca_file needs tls_cert_file"
    if config.token_file and config.max_in_flight_bytes < 4 * config.max_request_bytes:
        yield (
            "max_in_flight_bytes must be at least four times max_request_bytes where there are "
            "tenants: one may use half of it"
        )


def _redaction_problems(config: CollectorConfig) -> Iterator[str]:
    unknown = sorted(set(config.redact_rules_off.split()) - set(RULES))
    if unknown:
        known = ", ".join(RULES)
        yield f"redact_rules_off: no rule '{', '.join(unknown)}'; known: {known}"
    if config.max_value_bytes < LEAST_VALUE_BYTES:
        yield f"max_value_bytes must be at least {LEAST_VALUE_BYTES}, got {config.max_value_bytes}"


def _address_problems(config: CollectorConfig) -> Iterator[str]:
    for name in ("http", "grpc"):
        try:
            address = parse_address(getattr(config, name))
        except BadConfig as error:
            yield f"{name}: {error}"
            continue
        if address and not config.is_safe_outside and not is_loopback(address.host):
            yield (
                f"{name} address {address} can be reached from outside; that needs tls_cert_file "
                "and a token_file or tls_client_ca_file; else bind 127.0.0.1, or use --insecure"
            )
