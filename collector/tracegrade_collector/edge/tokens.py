"""The token file: hashed bearer tokens and the tenants that they give access to, as TOML.

    [[token]]
    tenant = "acme"                # "" is the lake itself
    sha256 = "2c26b46b68ffc68ff9…"
    expires = 2027-01-31           # optional; the token ends when this day begins, UTC
    name = "ann"                   # optional; whose it is, for `tracegrade ui`
    may_label = true               # optional; this person may label runs there

    [tenant.acme]                  # optional
    max_bytes_per_sec = 5_000_000
    max_wal_bytes = 1_000_000_000
    certificate_names = ["agents.acme.example"]  # common names of client certificates

A token is 32 random bytes, so it cannot be guessed. A slow hash, made for passwords, would add no
protection and make it easy to overload the collector. A token with `metrics = true` in place of a
tenant only reads `/metrics`.
"""

import hashlib
import hmac
import re
import secrets
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from tracegrade_collector.errors import BadCredentials, Unauthenticated
from tracegrade_lake.files import is_open_to_all, private_opener

DEFAULT_TENANT = ""
TENANT_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*)", re.ASCII | re.IGNORECASE)
TOKEN_KEYS = ("tenant", "metrics", "sha256", "expires", "name", "may_label")
PERSON = re.compile(r"[^\W_][\w .@-]{0,59}")
"""Names of people."""
TOKEN_PREFIX = "tg_"  # noqa: S105 - so that scanners of leaked secrets know one
TOKEN_BYTES = 32
MAX_TENANTS = 1000
MAX_TOKENS = 2000  # each is compared with every request; 0.05 µs apiece


@dataclass(frozen=True)
class Token:
    """One entry of the file."""

    digest: bytes

    tenant: str | None
    """None if it only reads metrics."""

    expires: datetime | None = None

    labeler: str | None = None
    """Whose it is, if this person may label runs."""


@dataclass(frozen=True)
class TenantOptions:
    """Options of one tenant in the token file."""

    max_bytes_per_sec: int | None = None
    """Bytes of requests, decompressed; None means no limit."""

    max_wal_bytes: int | None = None
    """Bytes of log; None is an equal share of the collector's."""

    certificate_names: tuple[str, ...] = ()
    """Common names of client certificates that replace a token."""


@dataclass(frozen=True)
class Access:
    """The whole file."""

    tokens: tuple[Token, ...]
    tenants: dict[str, TenantOptions] = field(default_factory=dict)
    """Every tenant that is named anywhere in the file."""

    def tenant_of_token(self, authorization: Sequence[str], now: datetime) -> str:
        """Return the tenant that the values of `Authorization` give access to.

        Raises:
            Unauthenticated: They are not exactly one bearer token that is known and valid.
        """
        token = self._token(authorization, now)
        if token.tenant is None:
            reason, text = "metrics_only", "the bearer token only reads metrics"
            raise Unauthenticated(reason, text)
        return token.tenant

    def labeler_of_token(self, authorization: Sequence[str], now: datetime) -> str | None:
        """Return the name of the person who may label with the values of `Authorization`.

        Raises:
            Unauthenticated: They are not exactly one known, valid bearer token.
        """
        return self._token(authorization, now).labeler

    def check_metrics(self, authorization: Sequence[str], now: datetime) -> None:
        """Return if the values of `Authorization` give access to the counters of all tenants.

        Raises:
            Unauthenticated: They do not.
        """
        if self._token(authorization, now).tenant is not None:
            reason, text = (
                "no_metrics",
                "the bearer token belongs to a tenant and cannot read metrics",
            )
            raise Unauthenticated(reason, text)

    def tenant_of_certificate(self, name: str) -> str:
        """Return the tenant of a client certificate's common name.

        Raises:
            Unauthenticated: It has none.
        """
        for tenant, options in self.tenants.items():
            if name in options.certificate_names:
                return tenant
        reason, text = "unknown", "neither a bearer token nor a known client certificate"
        raise Unauthenticated(reason, text)

    def _token(self, authorization: Sequence[str], now: datetime) -> Token:
        digest = _sha256(_bearer(authorization))
        found = None
        for token in self.tokens:  # all of them, so that timing reveals nothing about the file
            if hmac.compare_digest(token.digest, digest):
                found = token
        if found is None:
            reason, text = "unknown", "the bearer token is not known"
            raise Unauthenticated(reason, text)
        if found.expires and now >= found.expires:
            reason, text = "expired", f"the bearer token expired at {found.expires.isoformat()}"
            raise Unauthenticated(reason, text)
        return found


def _bearer(authorization: Sequence[str]) -> str:
    """Return the token in the values of `Authorization`.

    Raises:
        Unauthenticated: There is none, another scheme, or more than one value.
    """
    if not authorization:
        reason, text = "missing", "send the header 'Authorization: Bearer TOKEN'"
        raise Unauthenticated(reason, text)
    matched = BEARER.fullmatch(authorization[0]) if len(authorization) == 1 else None
    if not matched:
        reason, text = "malformed", "send one header 'Authorization: Bearer TOKEN', and only one"
        raise Unauthenticated(reason, text)
    return matched[1]


def _sha256(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def is_tenant_name(name: str) -> bool:
    """Return whether a tenant may have this name, which is also its folder's on any system."""
    return TENANT_NAME.fullmatch(name) is not None


def add_token(file: Path, tenant: str | None, expires: date | None) -> str:
    """Append a new token's hash to the file, which is made if absent, and return the token.

    The token itself is not stored. None for the tenant makes a token that only reads metrics.

    Raises:
        BadCredentials: The tenant cannot have this name, or the file is not a token file.
    """
    if tenant and not is_tenant_name(tenant):
        raise BadCredentials(_bad_tenant(tenant))
    if file.exists():
        read_access(file)
    token = TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
    lines = ["[[token]]", f'tenant = "{tenant}"' if tenant is not None else "metrics = true"]
    lines.append(f'sha256 = "{_sha256(token).hex()}"')
    lines += [f"expires = {expires.isoformat()}"] if expires else []
    try:
        with open(file, "a", opener=private_opener) as out:
            out.write("\n".join([*([""] if out.tell() else []), *lines, ""]))
    except OSError as error:
        msg = f"cannot write the tokens in {file}: {error.strerror}"
        raise BadCredentials(msg) from error
    return token


def read_access(file: Path) -> Access:
    """Return the content of a token file; an empty one gives access to no client.

    Raises:
        BadCredentials: It is missing, readable by every user of the machine, or contains errors;
            the message is one line.
    """
    try:
        open_to_all = is_open_to_all(file)
        content = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        msg = f"cannot read the tokens in {file}: {getattr(error, 'strerror', None) or error}"
        raise BadCredentials(msg) from error
    problems: list[str] = []
    if open_to_all:
        problems.append(f"every user can read it; chmod 600 {file}")
    problems += [f"unknown table '{name}'" for name in content.keys() - {"token", "tenant"}]
    access = _access(content, problems)
    if problems:
        msg = f"cannot use the tokens in {file}: {'; '.join(problems)}"
        raise BadCredentials(msg)
    return access


def _access(content: dict[str, Any], problems: list[str]) -> Access:
    """Return the content of the tables; add their errors to the problems."""
    entries, tables = content.get("token", []), content.get("tenant", {})
    if not isinstance(entries, list) or not isinstance(tables, dict):
        problems.append("tokens belong in [[token]], tenants in [tenant.NAME]")
        return Access(())
    tokens = tuple(_tokens(entries, problems))
    tenants = {token.tenant: TenantOptions() for token in tokens if token.tenant is not None}
    tenants |= {name: _tenant_options(name, table, problems) for name, table in tables.items()}
    if len(tokens) > MAX_TOKENS or len(tenants) > MAX_TENANTS:
        problems.append(f"at most {MAX_TOKENS} tokens and {MAX_TENANTS} tenants")
    if len({token.digest for token in tokens}) < len(tokens):
        problems.append("a sha256 occurs twice")
    names = [name for options in tenants.values() for name in options.certificate_names]
    if len(set(names)) < len(names):
        problems.append("a certificate name occurs twice")
    return Access(tokens, tenants)


def _tokens(entries: list[Any], problems: list[str]) -> Iterator[Token]:
    for number, entry in enumerate(entries, 1):
        wrong = _token_problem(entry)
        if wrong:
            problems.append(f"token {number}: {wrong}")
            continue
        expires = _instant(entry["expires"]) if "expires" in entry else None
        labeler = entry["name"] if entry.get("may_label") else None
        yield Token(bytes.fromhex(entry["sha256"]), entry.get("tenant"), expires, labeler)


def _token_problem(entry: Any) -> str | None:
    """Return the error of one entry, without its values, which could be a token by mistake."""
    if not isinstance(entry, dict) or entry.keys() - {*TOKEN_KEYS}:
        return f"must be a table of {', '.join(TOKEN_KEYS)}, and nothing else"
    digest = entry.get("sha256")
    if not isinstance(digest, str) or not SHA256.fullmatch(digest):
        return "sha256 must be 64 hexadecimal digits, in lower case"
    if ("tenant" in entry) == (entry.get("metrics") is True):
        return "needs either a tenant or metrics = true"
    tenant = entry.get("tenant", DEFAULT_TENANT)
    if tenant != DEFAULT_TENANT and not (isinstance(tenant, str) and is_tenant_name(tenant)):
        return _bad_tenant(tenant)
    if not isinstance(entry.get("expires", date.min), date):
        return "expires must be a date or a time, without quotes"
    return _person_problem(entry)


def _person_problem(entry: dict[str, Any]) -> str | None:
    name, may_label = entry.get("name"), entry.get("may_label", False)
    if name is not None and not (isinstance(name, str) and PERSON.fullmatch(name)):
        return "name must be 1 to 60 letters, digits, spaces and . _ @ -"
    if not isinstance(may_label, bool) or (may_label and name is None):
        return "may_label must be true or false, and needs a name"
    return None


def _bad_tenant(tenant: object) -> str:
    return f"a tenant's name must be {TENANT_NAME.pattern}, got {tenant!r:.100}"


def _instant(given: date | datetime) -> datetime:
    """Return a date's beginning, or a time; both are UTC unless they say otherwise."""
    moment = given if isinstance(given, datetime) else datetime.combine(given, time.min)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _tenant_options(name: str, table: Any, problems: list[str]) -> TenantOptions:
    """Return one tenant's options; add their errors to the problems."""
    before = len(problems)
    if name != DEFAULT_TENANT and not is_tenant_name(name):
        problems.append(_bad_tenant(name))
    if not isinstance(table, dict):
        problems.append(f"tenant {name}: must be a table")
        return TenantOptions()
    options = dict(table)
    names = options.pop("certificate_names", [])
    if not isinstance(names, list) or not all(isinstance(each, str) and each for each in names):
        problems.append(f"tenant {name}: certificate_names must be texts")
    for key, value in options.items():
        if key not in {"max_bytes_per_sec", "max_wal_bytes"}:
            problems.append(f"tenant {name}: unknown key '{key}'")
        elif type(value) is not int or value <= 0:
            problems.append(f"tenant {name}: {key} must be a whole number > 0")
    if len(problems) > before:
        return TenantOptions()
    return TenantOptions(**options, certificate_names=tuple(names))
