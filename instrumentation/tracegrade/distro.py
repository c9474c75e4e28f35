"""Our part in OpenTelemetry's start-up hook, played only when `OTEL_PYTHON_DISTRO=tracegrade`.

The hook takes the first distro and the first configurator it finds. Being installed must not make
us either of them for a program that another vendor's `opentelemetry-instrument` starts: unnamed,
our distro is none, and our configurator hands over to the next.
"""

import logging
import os
from collections.abc import Iterable
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

import wrapt
from opentelemetry.instrumentation.dependencies import get_dist_dependency_conflicts
from opentelemetry.instrumentation.distro import BaseDistro  # type: ignore[attr-defined]  # untyped

from tracegrade.instrumentors import (
    GROUP,
    Instrumentor,
    Remedy,
    choose,
    left_out,
    remedies,
    unknown_words,
    writes_itself,
)
from tracegrade.provider import init
from tracegrade.run import ANNOUNCE, INSTRUMENTORS
from tracegrade.shield import shield
from tracegrade.terminal.visible import echo

NAME: Final = "tracegrade"
_HOOK: Final = "opentelemetry.instrumentation.auto_instrumentation._load"


def is_named() -> bool:
    """Return whether this process asked for tracegrade's distro."""
    return os.environ.get("OTEL_PYTHON_DISTRO") == NAME


class TracegradeDistro(BaseDistro):  # type: ignore[misc]  # untyped
    """Loads one instrumentor per library."""

    def _configure(self, **_: Any) -> None:
        wish = os.environ.get(INSTRUMENTORS, "")
        logging.getLogger(_HOOK).addFilter(_is_news)
        entries = entry_points(group=GROUP)
        fitting = [entry for entry in entries if _fits(entry)]
        self._chosen = choose(fitting, wish)
        self._is_loading = False
        if os.environ.pop(ANNOUNCE, None):  # popped: not again in each process it starts
            _announce(self._chosen, unknown_words(entries, wish))
            _tell(entries, left_out(fitting, wish, self._chosen))
            if wish.strip().lower() != "none":
                self._warn_of(remedies(fitting))

    def _warn_of(self, missing: list[Remedy]) -> None:
        """Say that nothing is instrumented, and of each library so when the program imports it.

        What is installed need not be used, and what an instrumentor imports is not the program's.
        """
        if not self._chosen and not writes_itself():
            _warn(
                "no library is instrumented, so spans come from the program alone; install an "
                "instrumentor of the agent's framework, or use tracegrade in the program"
            )

        def imported(line: str, _module: object) -> None:
            if not self._is_loading:
                _warn(line)

        for module, line in missing:
            wrapt.register_post_import_hook(partial(imported, line), module)

    def load_instrumentor(self, entry_point: EntryPoint, **kwargs: Any) -> None:
        """Load an instrumentor if it is its library's chosen one."""
        if any(_is_same(entry_point, one.entry) for one in self._chosen):
            self._is_loading = True
            try:
                super().load_instrumentor(entry_point, **kwargs)
                shield(entry_point.module)
            finally:
                self._is_loading = False


def Distro() -> object:  # noqa: N802 - the hook calls the entry point as it would a class
    """Return our distro if it was named; anything else is skipped by the hook."""
    return TracegradeDistro() if is_named() else object()


class Configurator:
    """Starts tracegrade if it was named, else the configurator that would come without us."""

    def configure(self, **kwargs: Any) -> None:
        """Configure the SDK."""
        if os.environ.get("OTEL_PYTHON_CONFIGURATOR", "") == NAME or is_named():
            init()
            return
        others = (entry for entry in entry_points(group="opentelemetry_configurator"))
        other = next((entry for entry in others if entry.name != NAME), None)
        if other is not None:
            other.load()().configure(**kwargs)


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether a message of the hook is news.

    That others' configurators stood back is none, and conflicts of versions are told by us.
    """
    said = str(record.msg)
    is_conflict = said.endswith("so nothing can be instrumented.")
    return not (said.startswith("Configuration of %s not loaded") or is_conflict)


def _fits(entry: EntryPoint) -> bool:
    """Return whether the library that an instrumentor is for is installed."""
    return entry.dist is None or get_dist_dependency_conflicts(entry.dist) is None


def _is_same(one: EntryPoint, other: EntryPoint) -> bool:
    return (one.name, one.value) == (other.name, other.value)


def _warn(line: str) -> None:
    """Say what is not instrumented, and what to do about it."""
    _say(f"warning: {line}")


def _tell(entries: Iterable[EntryPoint], covered: list[str]) -> None:
    """Say what is installed and not loaded: for its versions, or since it would write twice."""
    for entry in entries:
        conflict = entry.dist and get_dist_dependency_conflicts(entry.dist)
        if conflict and (conflict.found or getattr(conflict, "found_any", None)):
            name = entry.dist.name if entry.dist else entry.name
            _warn(f"{name} is not loaded: {conflict}")
    if covered:
        names = ", ".join(covered)
        _say(
            f"left out, since the framework's spans hold its calls: {names}; "
            "--instrumentors names what to load instead"
        )


def _announce(chosen: list[Instrumentor], unknown: list[str]) -> None:
    listed = ", ".join(one.distribution for one in chosen) or "none"
    endpoint = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    _say(f"spans to {endpoint}; instrumentors: {listed}")
    if unknown:
        _say(f"no such instrumentor installed: {', '.join(unknown)}")


def _say(line: str) -> None:
    echo(f"tracegrade: {line}", err=True)
