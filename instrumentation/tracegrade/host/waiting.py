"""Under `tracegrade run`, instrumentation waits until a program has patched the standard library.

gevent and eventlet must be first to import `ssl`, and OpenTelemetry's start-up hook imports it. If
one of them is installed, the hook does not start with Python. It starts before the program imports
a library with spans, or after the program has patched, or has imported `ssl` without patching.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points
from types import FrameType, ModuleType
from typing import Final

from tracegrade.guard import guarded
from tracegrade.host.patching import MONKEYS, awaits_patching, installed_monkeys
from tracegrade.libraries.instrumentors import GROUP, imported_names
from tracegrade.values.native_inspection import global_of, is_kind

_OURS: Final = frozenset(("opentelemetry", "tracegrade"))
_PACKAGES: Final = ("site-packages", "dist-packages")


def start_in_time(start: Callable[[], object]) -> None:
    """Call `start` now or, if a program may still patch the standard library, as soon as possible.

    A program that does not patch and imports no library with spans is never instrumented.
    """
    waiting = _waiting(start)
    if waiting is None:
        start()
    else:
        sys.meta_path.insert(0, waiting)


@guarded
def _waiting(start: Callable[[], object]) -> "_Waiting | None":
    """Return a finder that waits for the start; None if there is no need to wait."""
    installed = installed_monkeys()
    return _Waiting(start, installed) if awaits_patching(installed) else None


class _Waiting(MetaPathFinder):
    """Runs for each imported module, finds none, and starts tracegrade at the right moment.

    It stays in the list afterwards, because the importing thread may be iterating over the list.
    """

    def __init__(self, start: Callable[[], object], installed: Sequence[str]) -> None:
        found = imported_names(entry_points(group=GROUP))
        self._names = (found | _OURS) - {*MONKEYS, *sys.stdlib_module_names}
        self._installed = installed
        self._starts = [start]

    @guarded
    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Return None, so that others find the module, unless the start has imported it."""
        if not self._starts or not self._is_time(fullname):
            return None
        try:
            start = self._starts.pop()
        except IndexError:  # another thread was faster
            return None
        start()
        module = sys.modules.get(fullname)
        return None if module is None else ModuleSpec(fullname, _Imported(module))

    def _is_time(self, fullname: str) -> bool:
        if fullname.partition(".")[0] in self._names:
            return True
        return not (
            awaits_patching(self._installed) or _is_called_by_a_monkey() or _is_half_imported()
        )


def _is_called_by_a_monkey() -> bool:
    """Return whether gevent or eventlet imports something, maybe while it patches."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        name = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if name != "tracegrade" and name not in sys.stdlib_module_names:
            return name in MONKEYS
        frame = frame.f_back
    return False


def _is_half_imported() -> bool:
    """Return whether a module of others is being imported, which an instrumentor may need."""
    specs = [global_of(module, "__spec__") for module in list(sys.modules.values())]
    return any(
        is_kind(spec, ModuleSpec)
        and getattr(spec, "_initializing", False)
        and _is_no_programs(spec)
        for spec in specs
    )


def _is_no_programs(spec: ModuleSpec) -> bool:
    is_installed = any(folder in str(spec.origin) for folder in _PACKAGES)
    return is_installed or spec.name.partition(".")[0] in sys.stdlib_module_names


class _Imported(Loader):
    """Loads a module that has been imported already, without running it again."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, getattr(module, "__spec__", None)

    def create_module(self, _spec: ModuleSpec) -> ModuleType:
        """Return the module."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back, which the import system has replaced."""
        module.__spec__ = self._spec
