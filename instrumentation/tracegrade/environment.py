"""Variables that OpenTelemetry reads, and checks for values that it cannot use.

For some of these its SDK raises as it is imported, for others as an object is made, and it logs
tracebacks for more. Each such value is reported once, in one line. It is hidden from the SDK while
tracegrade imports or makes its parts, so the SDK uses its default. The program's own use of
OpenTelemetry finds each variable unchanged.
"""

import math
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from tracegrade.guard import say

Usable = Callable[[str], str | None]
"""Returns the usable part of a value: all of it, a part, or nothing (None)."""

_MAX_INT: Final = 2**31 - 1
_MAX_QUOTED: Final = 60


class Allowed(NamedTuple):
    """Allowed values of a variable."""

    must: str
    """In words, behind "must be"."""
    usable: Usable
    is_secret: bool = False
    """Whether the value is not to be shown."""


def _whole(least: int) -> Allowed:
    def usable(value: str) -> str | None:
        text = value.strip()
        is_number = re.fullmatch(r"\+?[0-9]{1,10}", text, re.ASCII)
        return value if is_number and least <= int(text) <= _MAX_INT else None

    return Allowed(f"a whole number from {least} to {_MAX_INT}", usable)


def _number(above: float, most: float) -> Allowed:
    def usable(value: str) -> str | None:
        try:
            number = float(value)
        except ValueError:
            return None
        return value if math.isfinite(number) and above < number <= most else None

    return Allowed(f"a number above {above:g}, at most {most:g}", usable)


def _share(value: str) -> str | None:
    try:
        return value if 0 <= float(value) <= 1 else None
    except ValueError:
        return None


def _one_of(*words: str) -> Allowed:
    def usable(value: str) -> str | None:
        return value if value.strip().lower() in words else None

    return Allowed(f"one of {', '.join(words)}", usable)


def _readable(value: str) -> str | None:
    return value if os.access(value, os.R_OK) else None


_FILE: Final = Allowed("a file that can be read", _readable)


def _installed(group: str, *known: str) -> Allowed:
    def usable(value: str) -> str | None:
        if value in known:
            return value
        from importlib.metadata import entry_points  # noqa: PLC0415 - takes a moment

        return value if entry_points(group=group, name=value) else None

    return Allowed(f"the name of an installed '{group}'", usable)


def _listed(group: str, *known: str) -> Allowed:
    one = _installed(group, *known)

    def usable(value: str) -> str | None:
        names = [name.strip() for name in value.split(",")]
        usable_names = [name for name in names if name and one.usable(name)]
        return value if usable_names == names else ",".join(usable_names) or None

    return Allowed(f"names of installed '{group}', with commas between", usable)


_HEADER: Final = re.compile(r"[ \t]*[!#-'*+\-.0-9A-Z^-z|~]+[ \t]*=[ -!#-+\--:<-\[\]-~]*", re.ASCII)


def _headers(value: str) -> str | None:
    given = [item for item in value.split(",") if item.strip()]
    well_formed = [item for item in given if _HEADER.fullmatch(item)]
    return value if well_formed == given else ",".join(well_formed) or None


def _attributes(value: str) -> str | None:
    given = [_text(item) for item in value.split(",") if item.strip()]
    well_formed = [item for item in given if item.partition("=")[0].strip() and "=" in item]
    whole = ",".join(well_formed)
    return value if whole == ",".join(value.split(",")) else whole or None


def _text(value: str) -> str:
    """Return a text that can be encoded; a variable may hold any bytes."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


_CODES: Final = (
    *("cancelled", "unknown", "invalid_argument", "deadline_exceeded", "not_found"),
    *("already_exists", "permission_denied", "resource_exhausted", "failed_precondition"),
    *("aborted", "out_of_range", "unimplemented", "internal", "unavailable", "data_loss"),
    *("unauthenticated", "ok"),
)


def _codes(value: str) -> str | None:
    codes = [code.strip() for code in value.split(",") if code.strip()]
    known = [code for code in codes if code.lower() in _CODES]
    return value if known == codes else ",".join(known) or None


_LIMIT: Final = _whole(0)
_COUNT: Final = _whole(1)
_BOOLEAN: Final = _one_of("true", "false")
_CREDENTIALS: Final = _installed("opentelemetry_otlp_credential_provider")
_OF_EXPORTERS: Final[Mapping[str, Allowed]] = {
    "CERTIFICATE": _FILE,
    "CLIENT_CERTIFICATE": _FILE,
    "CLIENT_KEY": _FILE,
    "COMPRESSION": _one_of("none", "gzip", "deflate"),
    "HEADERS": Allowed("name=value, with commas between", _headers, is_secret=True),
    "INSECURE": _BOOLEAN,
    "PROTOCOL": _installed("opentelemetry_traces_exporter", "grpc", "http/protobuf"),
    "TIMEOUT": _number(0, 1e6),
}

RULES: Final[Mapping[str, Allowed]] = {
    **{
        f"OTEL_{of}_LIMIT": _LIMIT
        for of in (
            *("ATTRIBUTE_COUNT", "ATTRIBUTE_VALUE_LENGTH", "EVENT_ATTRIBUTE_COUNT"),
            *("LINK_ATTRIBUTE_COUNT", "SPAN_ATTRIBUTE_COUNT", "SPAN_ATTRIBUTE_VALUE_LENGTH"),
            *("SPAN_EVENT_COUNT", "SPAN_LINK_COUNT"),
        )
    },
    **{
        f"OTEL_BSP_{name}": _COUNT
        for name in (
            *("EXPORT_TIMEOUT", "MAX_EXPORT_BATCH_SIZE", "MAX_QUEUE_SIZE", "SCHEDULE_DELAY"),
        )
    },
    **{f"OTEL_EXPORTER_OTLP_{name}": rule for name, rule in _OF_EXPORTERS.items()},
    **{f"OTEL_EXPORTER_OTLP_TRACES_{name}": rule for name, rule in _OF_EXPORTERS.items()},
    **{
        f"OTEL_PYTHON_EXPORTER_OTLP_{of}CREDENTIAL_PROVIDER": _CREDENTIALS
        for of in ("GRPC_", "GRPC_TRACES_", "HTTP_", "HTTP_TRACES_")
    },
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_RETRYABLE_ERROR_CODES": Allowed("codes of gRPC", _codes),
    "OTEL_EXPERIMENTAL_RESOURCE_DETECTORS": _listed(
        "opentelemetry_resource_detector", "*", "otel", "service_instance"
    ),
    "OTEL_PROPAGATORS": _listed("opentelemetry_propagator", "none", "tracecontext", "baggage"),
    "OTEL_PYTHON_CONTEXT": _installed("opentelemetry_context", "contextvars_context"),
    "OTEL_PYTHON_ID_GENERATOR": _installed("opentelemetry_id_generator", "random"),
    "OTEL_PYTHON_LOGGER_PROVIDER": _installed("opentelemetry_logger_provider"),
    "OTEL_PYTHON_METER_PROVIDER": _installed("opentelemetry_meter_provider"),
    "OTEL_PYTHON_TRACER_PROVIDER": _installed("opentelemetry_tracer_provider"),
    "OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED": _BOOLEAN,
    "OTEL_PYTHON_AUTO_INSTRUMENTATION_EXPERIMENTAL_GEVENT_PATCH": _one_of("patch_all"),
    "OTEL_RESOURCE_ATTRIBUTES": Allowed("key=value, with commas between", _attributes),
    "OTEL_SDK_DISABLED": _BOOLEAN,
    "OTEL_SERVICE_NAME": Allowed("text", _text),
    "OTEL_TRACES_SAMPLER": _one_of(
        *("always_on", "always_off", "parentbased_always_on", "parentbased_always_off"),
        *("traceidratio", "parentbased_traceidratio"),
    ),
    "OTEL_TRACES_SAMPLER_ARG": Allowed("a number from 0 to 1", _share),
}
"""Variables that are read when spans are made or sent; the others have no effect."""

_MEANS_NO_LIMIT: Final = frozenset(name for name, rule in RULES.items() if rule is _LIMIT)

_hiding = threading.RLock()
_has_hidden = False
_reported: Final[set[tuple[str, str]]] = set()


def _start_over() -> None:
    """Forget in a forked child what another thread of its parent was doing."""
    global _hiding  # noqa: PLW0603 - one for a process
    _hiding = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_over)


@contextmanager
def usable_environment() -> Iterator[None]:
    """Hide, in a block, variables that OpenTelemetry cannot use, and report each once."""
    global _has_hidden  # noqa: PLW0603 - no second check if all was well
    if not any(name in os.environ for name in RULES) or not list(_replacements()):
        yield
        return
    _has_hidden = True
    with _hiding:
        hidden: dict[str, str] = {}
        try:
            for name, value in list(_replacements()):
                hidden[name] = os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value
            yield
        finally:
            os.environ.update(hidden)


@contextmanager
def usable_environment_again() -> Iterator[None]:
    """Do the same where much is made: if something had to be hidden before."""
    if not _has_hidden:
        yield
        return
    with usable_environment():
        yield


def _replacements() -> Iterator[tuple[str, str | None]]:
    """Yield each variable to hide, and its replacement."""
    for name, rule in RULES.items():
        value = os.environ.get(name)
        if value is None or (not value.strip() and name in _MEANS_NO_LIMIT):
            continue
        usable = rule.usable(value) if value.strip() else None
        if usable != value:
            if value.strip():
                _say(name, value, rule, usable)
            yield name, usable


def _say(name: str, value: str, rule: Allowed, usable: str | None) -> None:
    if (name, value) in _reported:
        return
    _reported.add((name, value))
    quoted = "(a value that is not shown)" if rule.is_secret else shortened(value)
    used = "is not used" if usable is None else "is used in part"
    say(f"settings: {name}", f"{name}={quoted} {used}: it must be {rule.must}")


def shortened(value: str) -> str:
    """Return a value for display: in one line, quoted, without the password of a URL."""
    text = ascii(re.sub(r"//[^/@]*@", "//***@", value[: 10 * _MAX_QUOTED]))
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}...'"


_ENDPOINT: Final = re.compile(
    r"https?://([^/\s@]*@)?(\[[0-9A-Fa-f:.]+\]|[^\s:/?#@\[\]]+)(:[0-9]{1,5})?([/?#]\S*)?", re.ASCII
)
_TARGET: Final = re.compile(r"(unix(-abstract)?:|dns:|ipv[46]:)?[^\s]+", re.ASCII)


def endpoint_is_usable(*, grpc: bool) -> bool:
    """Return whether the address for spans is valid; report it if not.

    It is not replaced by another address: spans go to the configured address, or nowhere.
    """
    for name in ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"):
        value = os.environ.get(name, "").strip()
        if not value:
            continue
        match = _ENDPOINT.fullmatch(value)
        is_usable = match and int((match[3] or ":1")[1:]) <= 65535
        if is_usable or (grpc and "//" not in value and _TARGET.fullmatch(value)):
            return True
        must = "an address as in http://localhost:4318"
        not_used = f"{name}={shortened(value)} is not used, and spans are not sent"
        say(f"settings: {name}", f"{not_used}: it must be {must}")
        return False
    return True
