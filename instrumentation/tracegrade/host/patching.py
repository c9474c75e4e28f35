"""gevent and eventlet replace sockets, threads and locks, and want to be first to import `ssl`.

A program that uses them patches at its top. Until then, we import nothing that they patch: where
one of them is installed, an exporter is made with the first span that ends, not at the start.
"""

import sys
from importlib.util import find_spec
from typing import Any, Final

MONKEYS: Final = {"gevent": "gevent.monkey", "eventlet": "eventlet.patcher"}
"""Libraries that patch the standard library, each with the module that does so."""


def awaits_patching() -> bool:
    """Return whether a program may still patch the standard library."""
    return "ssl" not in sys.modules and any(map(_may_patch, MONKEYS))


def _may_patch(name: str) -> bool:
    module: Any = sys.modules.get(MONKEYS[name])
    if module is None:
        return find_spec(name) is not None
    return not _has_patched(module)


def _has_patched(module: Any) -> bool:
    is_patched = getattr(module, "is_module_patched", None) or module.is_monkey_patched
    return bool(is_patched("socket"))
