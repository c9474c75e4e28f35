"""Every option of the collector, from a TOML file, the environment and flags, in rising order.

In the file they stand in the table `[collector]`; in the environment they are upper case behind
`TRACEGRADE_COLLECTOR_`. A name that is not one of these is an error, so that a typing error never
silently means the default.
"""

import ipaddress
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Self

from tracegrade.errors import BadInput
from tracegrade_collector import log_lines
from tracegrade_collector.errors import CollectorError

ENVIRONMENT_PREFIX = "TRACEGRADE_COLLECTOR_"
TABLE = "collector"
OFF = "off"
OR_NEVER = ("compact_every_secs", "retention_days")  # 0 has a meaning
RULES = ("blob", "pem", "cookie", "named", "url", "bearer", "jwt", "api_key", "card")
"""Names of the rules of redaction, in the order in which they are applied."""

LEAST_VALUE_BYTES = 1024  # a limit must leave room for the note of what was cut


class BadConfig(CollectorError, BadInput):
    """An option is unknown, has the wrong type or a value that makes no sense."""


class Address(NamedTuple):
    """Where a server listens; port 0 means a free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class CollectorConfig:
    """The options of one collector."""

    http: str = "127.0.0.1:4318"
    """Address of OTLP/HTTP, or `off`. The port is the protocol's default."""

    grpc: str = "127.0.0.1:4317"
    """Address of OTLP/gRPC, or `off`. The port is the protocol's default."""

    state: str = ""
    """Folder of what a lake on an object store keeps on this machine: log, quarantine, locks.
    Empty: one in `~/.local/state`. A lake in a folder keeps it there itself."""

    insecure: bool = False
    """Whether to bind an address that others reach without TLS, or without knowing who sends."""

    token_file: str = ""
    """File of hashed bearer tokens, see `tokens.py`; then nobody sends without one. Empty: anybody
    who reaches the address may send."""

    tls_cert_file: str = ""
    """PEM file of the server's certificate and those between it and the root. Empty: no TLS."""

    tls_key_file: str = ""
    """PEM file of the certificate's private key, without a password."""

    tls_client_ca_file: str = ""
    """PEM file of the authorities that sign clients' certificates; then nobody connects without
    one. Empty: clients need none."""

    max_request_bytes: int = 64 << 20
    """Bytes of one request, before and after decompression; the protocol recommends 64 MiB."""

    max_items_per_request: int = 250_000
    """Resources, scopes and spans or log records of one request; counted before it is decoded. Of
    empty ones 500 kB hold as many, and 64 MiB of real ones (760 bytes) a third."""

    max_values_per_request: int = 2_000_000
    """Attributes, events, links and nested values of one request, counted before it is decoded;
    each takes about 50 bytes of memory, however few it took on the wire."""

    max_connections: int = 8192
    """Connections of each protocol, at most half of the files that the process may open. Over HTTP
    one more closes the one that has rested longest."""

    max_concurrent_requests: int = 1024
    """HTTP requests under way at once; more are refused, to be sent again. Bytes are limited by
    `max_in_flight_bytes`; this bounds those of which no byte has come."""

    max_head_secs: float = 10.0
    """Seconds in which the head of a request must arrive. Exporters give up after 10 s."""

    max_body_secs: float = 30.0
    """Seconds in which the body of a request must arrive; after it the place is free again."""

    cors_origins: str = ""
    """Origins, separated by spaces, whose pages in a browser may send; `https://app.example`."""

    max_in_flight_bytes: int = 256 << 20
    """Bytes of requests in memory at once; beyond it new ones are refused. Four of the largest; at
    least two, since one that is compressed is held in both forms."""

    max_wal_bytes: int = 10 << 30
    """Bytes of log that may wait for landing; beyond it requests are refused. 1 h at 3 MB/s."""

    max_segment_bytes: int = 12 << 20
    """Bytes after which a segment is sealed. The lander holds one at a time, as rows: with 16 MB
    it took 30 MB more, with 8 MB a tenth more time."""

    max_segment_age_secs: float = 1.0
    """Seconds after which a segment with records is sealed: how long data waits at least."""

    land_every_secs: float = 4.0
    """Seconds between commits, so that a table's log grows by 21,600 a day and not by more."""

    max_round_bytes: int = 512 << 20
    """Bytes of log landed in one commit; a backlog lands in rounds of this size."""

    resent_rows: int = 1_000_000
    """Rows remembered, so that a request that was sent again is recognised; 20 MB. At 100,000/s
    that is 10 s, after which exporters have given up."""

    max_quarantine_bytes: int = 1 << 30
    """Bytes of undecodable requests that are kept; beyond it they are only counted."""

    quarantine_days: float = 30.0
    """Days that a file stays in quarantine: time enough to see why, not more for what nobody has
    redacted."""

    redact: bool = True
    """Whether secrets are replaced before anything is written to the lake. Pseudonyms and
    `max_value_bytes` do not depend on it."""

    redact_rules_off: str = ""
    """Rules that are not applied, separated by spaces; each of `RULES`."""

    redact_keys: str = ""
    """Further keys of attributes, and names in JSON, under which secrets stand, separated by
    spaces; in any case, words parted by `.`, `_`, `-` or not: `ssn customer.tax_number`."""

    pseudonym_keys: str = ""
    """Keys of attributes whose values become pseudonyms, as they are written, separated by spaces:
    `user.id enduser.id`. Equal values stay equal, so that joins keep working."""

    pseudonym_secret_file: str = ""
    """File with at least 16 random bytes, for several collectors whose pseudonyms are to agree.
    Empty: `redaction.secret` among the lake's private files, made if absent."""

    max_value_bytes: int = 4 << 20
    """Bytes of one text; a longer one is cut, with a note of its length and hash. Four MB are a
    model's context of a million tokens; each reader holds a value whole."""

    max_blob_bytes: int = 32_000
    """Characters of base64 (images, audio) that are kept; of more only type, size and hash. The
    limit that OpenInference sets for images."""

    compact_every_secs: float = 900.0
    """Seconds between maintenance: small files become large ones, old dates expire. 0: never, for
    who runs `tracegrade lake compact` and `expire` on a schedule of their own."""

    compact_after_secs: float = 900.0
    """Age in seconds at which a file may be compacted; the newest are still read by who lands and
    who builds. A date that is over is sorted when all its files are that old."""

    retention_days: float = 0.0
    """Days that traces are kept, by the date they were received (UTC); 0: for ever."""

    retention_keeps_built: bool = False
    """Whether steps, trajectories and scores stay when their traces expire; they repeat what was
    said in them."""

    drain_secs: float = 10.0
    """Seconds that requests under way get to finish when the collector is stopped."""

    log_format: str = "text"
    """How our own log lines on stderr are written: `text` for people, `json` for machines."""

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


def parse_address(text: str) -> Address | None:
    """Return the address that `host:port` means, None for `off`.

    Raises:
        BadConfig: It is neither.
    """
    if text == OFF:
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        msg = f"address must be HOST:PORT or '{OFF}', got {text!r}"
        raise BadConfig(msg)
    return Address(host.strip("[]"), int(port))


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _from_file(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        content = tomllib.loads(file.read_text())
    except (OSError, ValueError) as error:
        msg = f"cannot read the options in {file}: {getattr(error, 'strerror', None) or error}"
        raise BadConfig(msg) from error
    others = sorted(content.keys() - {TABLE})
    if others:
        msg = f"unknown table {', '.join(others)} in {file}; options stand in [{TABLE}]"
        raise BadConfig(msg)
    options = content.get(TABLE, {})
    if not isinstance(options, dict):
        msg = f"options stand in a table [{TABLE}], and {file} has {TABLE} = {options!r}"
        raise BadConfig(msg)
    return options


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    given = {
        name.removeprefix(ENVIRONMENT_PREFIX).lower(): text
        for name, text in environment.items()
        if name.startswith(ENVIRONMENT_PREFIX)
    }
    return {name: _from_text(text, TYPES.get(name, str)) for name, text in given.items()}


def _from_text(text: str, wanted: type) -> Any:
    if wanted is bool:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    try:
        return wanted(text)
    except ValueError:
        return text


def _type_problems(given: dict[str, Any]) -> list[str]:
    """Return what is wrong with names and types; whole numbers become floats in place."""
    problems = []
    for name, value in list(given.items()):
        wanted = TYPES.get(name)
        if wanted is float and type(value) is int:
            given[name] = float(value)
        elif wanted is None:
            problems.append(f"unknown option '{name}'; known: {', '.join(TYPES)}")
        elif type(value) is not wanted:
            problems.append(f"{name} must be a {wanted.__name__}, got {value!r}")
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
        problems.append("http and grpc are both off; nothing could arrive")
    return problems


def _security_problems(config: CollectorConfig) -> Iterator[str]:
    if bool(config.tls_cert_file) != bool(config.tls_key_file):
        yield "tls_cert_file and tls_key_file need each other"
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
                "and a token_file or tls_client_ca_file; else bind 127.0.0.1, or say --insecure"
            )
