"""Exports of a package that are loaded at their first use, so that importing it stays quick."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def at_first_use(package: str, exports: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a package's `__getattr__`.

    Args:
        package: Its name.
        exports: The names that each of its modules exports through it; a name stays loaded.
    """
    module_of = {name: module for module, names in exports.items() for name in names}

    def load(name: str) -> Any:
        if name not in module_of:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        whole = import_module(package)
        found = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(whole, name, found)
        return found

    return load
