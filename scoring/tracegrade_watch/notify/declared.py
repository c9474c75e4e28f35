"""Destinations as `watch.yaml` declares them, below `notify`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from tracegrade.suggestions import did_you_mean
from tracegrade_collector.edge.json_http import UrlFault, url_fault
from tracegrade_watch.errors import WatchRefused
from tracegrade_watch.notify.secrets import is_source, read_secret

SLACK: Final = "slack"
WEBHOOK: Final = "webhook"
ALERTMANAGER: Final = "alertmanager"
GITHUB: Final = "github_dispatch"
KEYS: Final[Mapping[str, frozenset[str]]] = {
    SLACK: frozenset({"with_content"}),
    WEBHOOK: frozenset({"token", "with_content"}),
    ALERTMANAGER: frozenset({"token", "every_hours", "with_content"}),
    GITHUB: frozenset({"token", "endpoint", "with_content"}),
}
"""Keys that an entry may have in addition to its kind."""
SECRET_URLS: Final = frozenset({SLACK, WEBHOOK})
"""Kinds whose URL is a secret: who has it can post."""
GITHUB_API: Final = "https://api.github.com"
EVERY_HOURS: Final = 24.0
SECRET_PARTS: Final = re.compile("[/?&=]")
"""Between the parts of a URL that may be a secret each."""
URL_FAULTS: Final = {
    UrlFault.NO_URL: "is no URL; it must be like https://example.com",
    UrlFault.CREDENTIALS: "has credentials in it; give them as token: env:NAME",
    UrlFault.NOT_ENCRYPTED: "is not encrypted and not on this machine; use https",
}


class DeclaredDestination(NamedTuple):
    """One entry below `notify`."""

    kind: str
    address: str
    """As the file has it: a source of a secret, a URL, or a repository."""
    token: str | None = None
    """Source of the token; None if it needs none."""
    endpoint: str = GITHUB_API
    """Base URL of GitHub's API."""
    every_hours: float = EVERY_HOURS
    """Hours between two runs of `watch`."""
    with_content: bool = False
    """Whether words out of traces may leave."""

    @property
    def name(self) -> str:
        """The name under which the lake notes what the destination received."""
        return f"{self.kind} {self.address}"


class OpenedDestination(NamedTuple):
    """A destination with its secrets, which are only in memory."""

    declared: DeclaredDestination
    url: str
    token: str | None

    def without_secrets(self, text: str) -> str:
        """Return a text in which each secret is replaced."""
        secrets = [self.token] if self.token else []
        if is_source(self.declared.address):
            rest = self.url.partition("://")[2].partition("/")[2]
            secrets += [self.url, *(part for part in SECRET_PARTS.split(rest) if len(part) > 3)]
        for secret in secrets:
            text = text.replace(secret, "(secret)")
        return text


def declared_destinations(entries: Iterable[Any]) -> list[DeclaredDestination]:
    """Return the destinations of all entries.

    Raises:
        WatchRefused: One has another form, or two are the same.
    """
    found = [_declared(entry) for entry in entries]
    names = [each.name for each in found]
    if twice := [name for name in names if names.count(name) > 1]:
        msg = f"notify: {twice[0]} is there twice"
        raise WatchRefused(msg)
    return found


def _declared(entry: Any) -> DeclaredDestination:
    kinds = [key for key in entry if key in KEYS] if isinstance(entry, dict) else []
    if len(kinds) != 1:
        given = next((str(key) for key in entry), "") if isinstance(entry, dict) else str(entry)
        hint = did_you_mean(given, [*KEYS]) or f"there are: {', '.join(KEYS)}"
        msg = f"notify: an entry names one destination, got '{given}'; {hint}"
        raise WatchRefused(msg)
    (kind,) = kinds
    if others := [str(key) for key in entry if key != kind and key not in KEYS[kind]]:
        msg = f"notify: {kind} has no key '{others[0]}'; {_keys_of(kind)}"
        raise WatchRefused(msg)
    found = DeclaredDestination(**{
        "kind": kind, "address": _text(entry, kind),
        **({"token": _text(entry, "token")} if "token" in entry else {}),
        **({"endpoint": _text(entry, "endpoint").rstrip("/")} if "endpoint" in entry else {}),
        **({"every_hours": _hours(entry)} if "every_hours" in entry else {}),
        **({"with_content": _flag(entry)} if "with_content" in entry else {}),
    })  # fmt: skip
    _check(found)
    return found


def opened(declared: DeclaredDestination, variables: Mapping[str, str]) -> OpenedDestination:
    """Return a destination with its secrets.

    Raises:
        WatchRefused: A secret is missing, or the URL in it may not be used.
    """
    address = declared.address
    url = read_secret(address, variables) if is_source(address) else address
    if declared.kind == GITHUB:
        url = f"{declared.endpoint}/repos/{address}/dispatches"
    elif declared.kind == ALERTMANAGER:
        url = f"{url.rstrip('/')}/api/v2/alerts"
    if fault := url_fault(url):
        what = "notify: the URL" if is_source(address) else f"notify: {declared.kind}"
        msg = f"{what} of {address} {URL_FAULTS[fault]}"
        raise WatchRefused(msg)
    token = read_secret(declared.token, variables) if declared.token else None
    return OpenedDestination(declared, url, token)


def _check(found: DeclaredDestination) -> None:
    if found.kind in SECRET_URLS and not is_source(found.address):
        msg = f"notify: {found.kind} must be env:NAME or file:PATH, because its URL is a secret"
        raise WatchRefused(msg)
    if found.token is not None and not is_source(found.token):
        msg = f"notify: the token of {found.kind} must be env:NAME or file:PATH"
        raise WatchRefused(msg)
    if found.kind == GITHUB:
        owner, _, repository = found.address.partition("/")
        if not (_is_name(owner) and _is_name(repository)) or found.token is None:
            msg = (
                "notify: github_dispatch must be OWNER/REPOSITORY, with token: env:NAME or "
                f"file:PATH, got '{found.address}'"
            )
            raise WatchRefused(msg)


def _is_name(text: str) -> bool:
    plain = text.translate(dict.fromkeys(map(ord, "-_.")))
    return plain.isascii() and plain.isalnum()


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry[key]
    if not isinstance(value, str) or not value:
        msg = f"notify: {key} must be a text, got {value!r}"
        raise WatchRefused(msg)
    return value


def _flag(entry: Mapping[str, Any]) -> bool:
    value = entry["with_content"]
    if not isinstance(value, bool):
        msg = f"notify: with_content must be true or false, got {value!r}"
        raise WatchRefused(msg)
    return value


def _hours(entry: Mapping[str, Any]) -> float:
    value = entry["every_hours"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 8760:
        msg = f"notify: every_hours must be a number of hours, at most 8760, got {value!r}"
        raise WatchRefused(msg)
    return float(value)


def _keys_of(kind: str) -> str:
    return f"it has: {', '.join(sorted(KEYS[kind]))}"
