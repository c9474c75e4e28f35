"""tracegrade's part in OpenTelemetry's start-up hook; used if `OTEL_PYTHON_DISTRO=tracegrade`.

The hook takes the first distro and the first configurator it finds. An installed tracegrade must
not become either for a program that another vendor's `opentelemetry-instrument` starts. Unless it
is named, its distro is empty, and its configurator calls the next one.
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
from opentelemetry.instrumentation.environment_variables import (
    OTEL_PYTHON_DISABLED_INSTRUMENTATIONS,
)

from tracegrade.environment import usable_environment
from tracegrade.libraries.frameworks import Frameworks, write_no_own_spans
from tracegrade.libraries.instrumentor_handover import give_way, instrument
from tracegrade.libraries.instrumentors import (
    GROUP,
    Instrumentor,
    Remedy,
    choose,
    clients_of,
    has_own_spans,
    is_present,
    left_out,
    names_any,
    remedies,
    unknown_words,
    watched,
    writes_itself,
)
from tracegrade.libraries.shield import shield
from tracegrade.provider import init_beside
from tracegrade.run import ANNOUNCE, INSTRUMENTORS
from tracegrade.state import state
from tracegrade.terminal.visible import echo

NAME: Final = "tracegrade"
_HOOK: Final = "opentelemetry.instrumentation.auto_instrumentation._load"


def is_named() -> bool:
    """Return whether this process asked for tracegrade's distro."""
    return os.environ.get("OTEL_PYTHON_DISTRO") == NAME


class TracegradeDistro(BaseDistro):  # type: ignore[misc]  # untyped
    """Loads one instrumentor per library, all of them when the hook configures the SDK.

    The hook itself skips instrumentors that require more than the library that they instrument,
    and stops at the first that fails.
    """

    def _configure(self, **_: Any) -> None:
        wish = os.environ.get(INSTRUMENTORS, "")
        logging.getLogger(_HOOK).addFilter(_is_news)
        entries = entry_points(group=GROUP)
        disabled = os.environ.get(OTEL_PYTHON_DISABLED_INSTRUMENTATIONS, "").split(",")
        disabled = [name.strip() for name in disabled]
        enabled = [each for each in entries if not {"*", each.name} & set(disabled)]
        fitting = [entry for entry in enabled if _fits(entry)]
        self._chosen = choose(fitting, wish)
        self._decides = not names_any(wish)
        self._is_loading = False
        # popped: not again in each process it starts
        self._tells = os.environ.pop(ANNOUNCE, None) is not None
        if self._tells:
            _announce(self._chosen, unknown_words(entries, wish))
            _tell(entries, left_out(fitting, wish, self._chosen))
        if wish.strip().lower() != "none":
            self._hear_of(remedies(fitting))

    def _hear_of(self, missing: list[Remedy]) -> None:
        """Warn that nothing is instrumented, and about each library when the program imports it.

        An installed library may be unused, and libraries that an instrumentor imports are not the
        program's.
        """
        if not self._chosen and not writes_itself():
            others = " and from Anthropic's client" if has_own_spans() else ""
            self._warn(
                f"no library is instrumented, so spans come from the program{others} alone; "
                "install an instrumentor of the agent's framework, or use tracegrade in the "
                "program"
            )
        for each in missing:
            wrapt.register_post_import_hook(partial(self._imported, each), each.module)

    def _imported(self, remedy: Remedy, module: Any) -> None:
        """Turn on the spans that a framework writes, if possible; else report the remedy."""
        if remedy.turns_on and self._decides:
            try:
                module.Agent.instrument_all()
            except Exception:  # noqa: BLE001 - a program must not fail where we are mistaken
                self._warn(remedy.line)
        elif not self._is_loading:
            self._warn(remedy.line)

    def load_all(self) -> None:
        """Load the chosen instrumentors; report one that fails, and load the others."""
        self._is_loading = True
        for one in self._chosen:
            self._load(one)
        self._is_loading = False
        self._leave_clients_to_frameworks()

    def _load(self, one: Instrumentor) -> None:
        try:
            instrumentor = one.entry.load()()
            instrument(instrumentor)
            give_way(instrumentor)
            shield(one.entry.module)
        except Exception as error:  # noqa: BLE001 - an instrumentor may raise anything
            reason = " ".join(str(error).split()) or type(error).__name__
            self._warn(f"{one.distribution} failed, and may instrument nothing: {reason}")

    def _leave_clients_to_frameworks(self) -> None:
        clients = clients_of(self._chosen)
        if any(one.library == "anthropic" for one in clients):
            write_no_own_spans()
        if state.provider is not None:
            say = _say if self._tells else _say_nothing
            loaded = clients if self._decides else []
            state.provider.add_span_processor(Frameworks(watched(self._chosen), loaded, say))

    def load_instrumentor(self, entry_point: EntryPoint, **kwargs: Any) -> None:
        """Load nothing more: `load_all` has."""

    def _warn(self, line: str) -> None:
        if self._tells:
            _say(f"warning: {line}")


_distro: TracegradeDistro | None = None


def Distro() -> object:  # noqa: N802 - the hook calls the entry point as it would a class
    """Return tracegrade's distro if it was named; the hook skips any other object."""
    global _distro  # noqa: PLW0603 - the hook does not pass it on
    _distro = TracegradeDistro() if is_named() else None
    return _distro or object()


class Configurator:
    """Starts tracegrade if it was named, else the configurator that would run without it."""

    def configure(self, **kwargs: Any) -> None:
        """Configure the SDK."""
        if os.environ.get("OTEL_PYTHON_CONFIGURATOR", "") == NAME or is_named():
            with usable_environment():
                init_beside()
                if _distro is not None:
                    _distro.load_all()
            return
        others = (entry for entry in entry_points(group="opentelemetry_configurator"))
        other = next((entry for entry in others if entry.name != NAME), None)
        if other is not None:
            other.load()().configure(**kwargs)


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether a message of the hook is news.

    It is not news that other vendors' configurators were skipped, and tracegrade itself reports
    conflicts of versions.
    """
    text = str(record.msg)
    is_conflict = text.endswith("so nothing can be instrumented.")
    return not (text.startswith("Configuration of %s not loaded") or is_conflict)


def _fits(entry: EntryPoint) -> bool:
    """Return whether the library of an instrumentor is installed, in a fitting version."""
    conflict = entry.dist and get_dist_dependency_conflicts(entry.dist)
    if conflict:
        return not _is_of_versions(conflict) and is_present(entry) is True
    return is_present(entry) is not False


def _is_of_versions(conflict: Any) -> bool:
    """Return whether something is installed in the wrong version, and not just missing."""
    return bool(conflict.found or getattr(conflict, "found_any", None))


def _tell(entries: Iterable[EntryPoint], covered: list[str]) -> None:
    """Report installed instrumentors that are not loaded: wrong version, or double spans."""
    for entry in entries:
        conflict = entry.dist and get_dist_dependency_conflicts(entry.dist)
        if conflict and _is_of_versions(conflict):
            name = entry.dist.name if entry.dist else entry.name
            _say(f"warning: {name} is not loaded: {conflict}")
    if covered:
        _say(
            f"left out, since the framework writes these spans itself: {', '.join(covered)}; "
            "--instrumentors names what to load instead"
        )


def _announce(chosen: list[Instrumentor], unknown: list[str]) -> None:
    listed = ", ".join(one.distribution for one in chosen) or "none"
    endpoint = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    _say(f"spans to {endpoint}; instrumentors: {listed}")
    if unknown:
        _say(f"no such instrumentor installed: {', '.join(unknown)}")


def _say_nothing(_line: str) -> None:
    """Repeat the messages of the process that started this one."""


def _say(line: str) -> None:
    echo(f"tracegrade: {line}", err=True)
