"""Hosts that pages of a browser find: HTTP services of the environment, by their names."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from tracegrade.suggestions import did_you_mean
from tracegrade_harness.parts.browser.model import Browser
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile

SERVICES: Final = "http"
"""The kind of the parts that pages reach."""
_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def host_name(service: str) -> str | None:
    """Return the host name of a service for pages; None if its name cannot be one."""
    found = service.lower()
    return found if _HOST.fullmatch(found) else None


def check_browser(
    source: SourceFile, path: KeyPath, browser: Browser, environment: ReadableEnvironment
) -> Iterator[Problem]:
    """Yield a problem for each address of a browser without a service."""
    addresses: list[tuple[KeyPath, str | None]] = [
        ((*path, "url"), browser.url),
        *(((*path, "cookies", i, "url"), each.url) for i, each in enumerate(browser.cookies)),
        *(((*path, "storage", origin), origin) for origin in browser.storage),
    ]
    if browser.network == "none":
        for at, url in addresses:
            yield from check_address(source, at, url, environment)


def check_address(
    source: SourceFile, path: KeyPath, url: str | None, environment: ReadableEnvironment
) -> Iterator[Problem]:
    """Yield a problem if an address belongs to no service of the environment."""
    if url is None or url == "about:blank":
        return
    known = [name for kind, name in environment.parts if kind == SERVICES]
    hosts = [host for host in map(host_name, known) if host is not None]
    try:
        split = urlsplit(url)
        host, is_plain = split.hostname or "", split.scheme == "http" and split.port is None
    except ValueError:
        host, is_plain = "", False
    if host not in hosts:
        fact = f"{dotted(path)} '{url}': '{host}' is not an http service of the environment"
        way_out = did_you_mean(host, hosts) or "declare it under 'http', or give network: open"
        yield source.problem(path, fact, way_out)
    elif not is_plain:
        fact = f"{dotted(path)} '{url}': services are found by http, without a port"
        yield source.problem(path, fact, f"write http://{host}{split.path}")
