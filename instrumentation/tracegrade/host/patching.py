"""gevent and eventlet replace sockets, threads and locks, and must be first to import `ssl`.

A program that uses them patches at its top. Until then, tracegrade imports nothing that they
patch. If one of them is installed, an exporter is made when the first span ends, not at the start.
"""

import sys
from collections.abc import Collection
from importlib.util import find_spec
from typing import Any, Final

MONKEYS: Final = {"gevent": "gevent.monkey", "eventlet": "eventlet.patcher"}
"""Libraries that patch the standard library, each with the module that does so."""


def installed_monkeys() -> list[str]:
    """Return which of these libraries a program may import, or has imported."""
    return [name for name, module in MONKEYS.items() if module in sys.modules or find_spec(name)]


def awaits_patching(installed: Collection[str] | None = None) -> bool:
    """Return whether a program may still patch the standard library.

    Args:
        installed: What `installed_monkeys` returned; None to ask it, which asks all importers.
    """
    if "ssl" in sys.modules:
        return False
    return any(map(_may_patch, installed_monkeys() if installed is None else installed))


def _may_patch(name: str) -> bool:
    module: Any = sys.modules.get(MONKEYS[name])
    return module is None or not _has_patched(module)


def _has_patched(module: Any) -> bool:
    """Return whether a library has patched; not yet while its module is half imported."""
    for name in ("is_module_patched", "is_monkey_patched"):
        is_patched = getattr(module, name, None)
        if is_patched is not None:
            return bool(is_patched("socket"))
    return False
