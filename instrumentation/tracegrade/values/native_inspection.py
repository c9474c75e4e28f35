"""Reads classes and objects from memory, without running any of their own code.

`isinstance`, `getattr` and `vars` ask an object for its `__class__`, `__getattr__` or `__dict__`.
Each of these may be a property, a proxy of a lazy value, or a trap. This module reads with the
interpreter's own descriptors. It compares classes by `is`: a metaclass may have a `__hash__`.
"""

import sys
from collections.abc import Callable, Mapping
from types import (
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tracegrade.values.copying import Copy

ValueReader = Callable[["Copy", Any, int], object]
"""Returns the written form of a value, given the copy and its depth there."""

_TYPE: Final = vars(type)
bases_of: Final = _TYPE["__mro__"].__get__
"""Returns a class and its bases, in the order of its method resolution."""
namespace_of: Final = _TYPE["__dict__"].__get__
"""Returns a class's own attributes."""
_module_of: Final = _TYPE["__module__"].__get__
_qualname_of: Final = _TYPE["__qualname__"].__get__
_module_namespace: Final = vars(ModuleType)["__dict__"].__get__

MISSING: Final[Any] = object()
"""Marks a missing value."""


def is_kind(value: object, kind: type) -> bool:
    """Return whether a value's class, which no proxy can hide, is `kind` or derived from it."""
    return any(base is kind for base in bases_of(type(value)))


def class_name(kind: type) -> str:
    """Return a class's name without its module's."""
    return str.__str__(_qualname_of(kind)).rpartition(".")[2]


def module_name(kind: type) -> str:
    """Return the name of a class's module, "" if it has none."""
    module = _module_of(kind)
    return module if type(module) is str else ""


def qualified_name(kind: type) -> str:
    """Return a class's name with its module's, but for a built-in one's: `shop.orders.Order`."""
    module, name = module_name(kind), str.__str__(_qualname_of(kind))
    return name if module in ("", "builtins") else f"{module}.{name}"


def short_name(kind: type) -> str:
    """Return a class's name with that of its package, wherever in that it stands."""
    return f"{module_name(kind).partition('.')[0]}.{str.__str__(_qualname_of(kind))}"


def named(kind: type) -> str:
    """Return the text for an object that is only named: `<shop.orders.Order>`."""
    return f"<{qualified_name(kind)}>"


def on_class(kind: type, name: str) -> Any:
    """Return a name's unbound value in a class or its bases; else `MISSING`."""
    for base in bases_of(kind):
        found = namespace_of(base).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def global_of(module: object, name: str) -> Any:
    """Return a module's global by name; `MISSING` also if `module` is not a module."""
    if not is_kind(module, ModuleType):
        return MISSING
    return dict.get(_module_namespace(module), name, MISSING)


def instance_dict(value: object) -> dict[str, Any]:
    """Return an object's own attributes, {} if it has none or hides them."""
    getter = on_class(type(value), "__dict__")
    kind = type(getter)
    is_native = kind is GetSetDescriptorType or kind is MemberDescriptorType
    return getter.__get__(value) if is_native else {}


def attribute(value: object, name: str) -> Any:
    """Return an object's attribute as it was set, in its `__dict__` or a slot; else `MISSING`."""
    found = dict.get(instance_dict(value), name, MISSING)
    return slot(value, name) if found is MISSING else found


def slot(value: object, name: str) -> Any:
    """Return the value of an object's slot, `MISSING` if it is empty."""
    descriptor = on_class(type(value), name)
    if type(descriptor) is not MemberDescriptorType:
        return MISSING
    try:
        return descriptor.__get__(value)
    except AttributeError:
        return MISSING


def native_method(kind: type, name: str) -> Any:
    """Return a method written in C; `MISSING` if there is none or another precedes it."""
    found = on_class(kind, name)
    return found if type(found) is MethodDescriptorType else MISSING


def is_native(kind: type, name: str) -> bool:
    """Return whether a special method of a class is written in C."""
    return type(on_class(kind, name)) is WrapperDescriptorType


def is_of_module(kind: type) -> bool:
    """Return whether a class is really the one that its module has under its name.

    A class of the program may claim to be one of a library.
    """
    module = sys.modules.get(module_name(kind))
    if module is None or not is_kind(module, ModuleType):
        return False
    namespace: Mapping[str, object] = _module_namespace(module)
    return namespace.get(str.__str__(_qualname_of(kind))) is kind
