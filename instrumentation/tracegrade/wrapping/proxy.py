"""A proxy for a callable that looks exactly like the original and changes only its call.

A function around another would differ. Its attributes are a copy, and its code and file are
tracegrade's. It is bound to instances even if the original (a partial, an object) is not. A proxy
forwards each access to the original, so that both are always in the same state.

Special methods are looked up on an object's type. So each type of original has a type of proxy
with exactly its special methods. A function must not look as though it had a length.
"""

import copy
import copyreg
import functools
import inspect
import sys
import warnings
from collections.abc import Callable
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import Any, Final
from weakref import WeakValueDictionary

from tracegrade.wrapping.frames import leave_traceback, unseen


class ProxyType(type):
    """The metaclass of proxy types; it claims to be the type of their originals."""

    __doc__ = property(lambda cls: _kind(cls).__doc__)

    def __getattribute__(cls, name: str) -> Any:
        kind = _kind(cls)
        if name == "__signature__" and _is_class(kind) and not hasattr(kind, name):
            return inspect.signature(kind)  # not that of this class, which takes anything
        found = getattr(kind, name, None)
        is_ours = name in _COPYING and kind is not FunctionType
        if is_ours or isinstance(found, _IN_C):  # which would refuse a proxy
            return _methods(cls).get(name, found)
        return getattr(kind, name)

    def __setattr__(cls, name: str, value: object) -> None:
        setattr(_kind(cls), name, value)

    def __delattr__(cls, name: str) -> None:
        delattr(_kind(cls), name)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return an instance of the original's type, without a proxy."""
        return _kind(cls)(*args, **kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _kind(cls))

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _kind(cls))

    def __eq__(cls, other: object) -> bool:
        """Return whether this is the type, for tables by type except the one of pickling.

        For some types pickling uses a name, and no proxy would be found under that name.
        """
        return cls is other or (_kind(cls) is other and other not in copyreg.dispatch_table)

    def __hash__(cls) -> int:
        return hash(_kind(cls))

    def __repr__(cls) -> str:
        return repr(_kind(cls))


def _kind(cls: type) -> Any:
    """Return the type of the originals of a type of proxies."""
    return type.__getattribute__(cls, "_kind")


def _methods(cls: type) -> dict[str, Any]:
    """Return a proxy type's own attributes, by name."""
    own = [type.__getattribute__(of, "__dict__") for of in (Proxy, cls)]
    return {**own[0], **own[1]}


_COPYING: Final = frozenset({"__copy__", "__deepcopy__"})
_IN_C: Final = (MethodDescriptorType, WrapperDescriptorType)


class Proxy(metaclass=ProxyType):
    """A proxy of a callable; its maker decides what a call does.

    `__call__` is a slot, so that Python calls its value without a frame of tracegrade between.
    """

    __slots__ = ("__call__", "__weakref__", "_again", "_original", "_tool")

    _kind: type = object

    @unseen
    def __getattribute__(self, name: str) -> Any:
        try:
            if name in _OWN and (own := _own(self, name)) is not None:
                return own
            return getattr(original_of(self), name)
        except BaseException as error:
            leave_traceback(error)
            raise

    @unseen
    def __setattr__(self, name: str, value: object) -> None:
        try:
            setattr(original_of(self), name, value)
        except BaseException as error:
            leave_traceback(error)
            raise

    @unseen
    def __delattr__(self, name: str) -> None:
        try:
            delattr(original_of(self), name)
        except BaseException as error:
            leave_traceback(error)
            raise

    def __copy__(self) -> Any:
        return _anew(self, copy.copy(original_of(self)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return _anew(self, copy.deepcopy(original_of(self), memo))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the original's reduced form.

        An object that is pickled by its name must be found there. If the original is found instead
        of its proxy, a copy of the original is pickled, which is the original itself.
        """
        original = original_of(self)
        reduced = _reduced(original, protocol)
        if isinstance(reduced, str) and _found(original, reduced) is not self:
            return copy.copy, (original,)
        return reduced


_slots: Final = type.__getattribute__(Proxy, "__dict__")
original_of: Final[Callable[[Any], Any]] = _slots["_original"].__get__
tool_of: Final[Callable[[Any], Any]] = _slots["_tool"].__get__
_again: Final[Callable[[Any], Callable[[Any], Any]]] = _slots["_again"].__get__
_run: Final[Callable[[Any], Callable[..., Any]]] = _slots["__call__"].__get__

_OWN: Final = frozenset({"__call__", "__deepcopy__", "__get__", "__reduce_ex__", "__signature__"})
"""Attributes that are not the original's, as programs ask for them."""

_ON_HEAP: Final = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_IMMUTABLE: Final = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE

_COMPARISONS: Final = frozenset({"__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__"})

_NOT_HANDED_ON: Final = frozenset(
    {
        *("__annotate__", "__annotate_func__", "__call__", "__class__", "__class_getitem__"),
        *("__copy__", "__deepcopy__", "__del__", "__delattr__", "__get__", "__getattr__"),
        *("__getattribute__", "__init__", "__init_subclass__", "__new__", "__reduce__"),
        *("__reduce_ex__", "__setattr__", "__subclasshook__"),
    }
)
"""Methods of a type that are not about its instances, or that a proxy defines itself."""

_NOT_SEEN: Final = frozenset(
    {
        *("__annotate__", "__annotations__", "__class__", "__dict__", "__doc__", "__module__"),
        *("__qualname__", "__slots__", "__type_params__", "__weakref__"),
        *("_kind", "_again", "_original", "_tool"),
    }
)
"""Attributes that belong to a type itself."""


def proxy_of(
    original: Any, run: Callable[..., Any], tool: object, again: Callable[[Any], Any]
) -> Any:
    """Return a proxy of a callable.

    Args:
        original: The callable.
        run: The function that a call runs.
        tool: The facts about it; `tool_of` returns them.
        again: Makes a proxy of another callable, when the original is bound or copied.
    """
    proxy: Any = object.__new__(_type_of_proxy(type(original)))
    for slot, value in (
        ("__call__", run),
        ("_again", again),
        ("_original", original),
        ("_tool", tool),
    ):
        _slots[slot].__set__(proxy, value)
    if _has_dict(type(original)):  # one attribute for both, for code that looks into it directly
        object.__setattr__(proxy, "__dict__", original.__dict__)
    return proxy


def is_proxy(value: object) -> bool:
    """Return whether this is a proxy, which says itself that it is its original."""
    return type(type(value)) is ProxyType


_types: Final["WeakValueDictionary[int, ProxyType]"] = WeakValueDictionary()
"""Types of proxies by the `id` of their originals' type, which they keep alive."""


def _type_of_proxy(kind: type) -> type[Any]:
    """Return the type of the proxies of one type's instances."""
    found = _types.get(id(kind))
    if found is None:
        slots = ("__dict__",) if _has_dict(kind) else ()
        own = {"__slots__": slots, "__doc__": _Doc(), "_kind": kind}
        space = {**_seen(kind, in_c=True), **_special_methods(kind), **own}
        found = _types[id(kind)] = ProxyType(kind.__name__, (Proxy,), space)
        for name, value in _seen(kind, in_c=False).items():
            type.__setattr__(found, name, value)  # later, so that no `__set_name__` is called
    return found


def _seen(kind: type, in_c: bool) -> dict[str, Any]:
    """Return a type's attributes as code sees them that does not ask its instances.

    Protocols do so (`isinstance` of a `runtime_checkable` one), and `inspect.getattr_static`.
    """
    names = [name for name in dir(kind) if name not in _NOT_SEEN]
    static = {name: inspect.getattr_static(kind, name) for name in names}
    is_c = (GetSetDescriptorType, MemberDescriptorType)
    return {
        name: value
        for name, value in static.items()
        if isinstance(value, is_c) == in_c and (in_c or not _is_special(name))
    }


def _is_class(kind: type) -> bool:
    """Return whether a type was made by a `class` statement, and not in C."""
    return bool(kind.__flags__ & _ON_HEAP) and not kind.__flags__ & _IMMUTABLE


def _has_dict(kind: type) -> bool:
    return _is_class(kind) and kind.__dictoffset__ != 0


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class _Doc:
    """The documentation of the original, for code that bypasses `__getattribute__`."""

    def __get__(self, proxy: Any, cls: type) -> Any:
        return (_kind(cls) if proxy is None else original_of(proxy)).__doc__


def _special_methods(kind: type) -> dict[str, Any]:
    names = [name for name in dir(kind) if _is_special(name) and name not in _NOT_HANDED_ON]
    methods: dict[str, Any] = {
        name: _handing_on(name) for name in names if callable(getattr(kind, name, None))
    }
    if kind.__hash__ is None:  # as where a class has `__eq__` alone
        methods["__hash__"] = None
    if hasattr(kind, "__get__"):
        methods["__get__"] = _bind_function if kind is FunctionType else _bind
    return methods


def _handing_on(name: str) -> Callable[..., Any]:
    compares = name in _COMPARISONS

    @unseen
    def method(self: Proxy, /, *args: Any, **kwargs: Any) -> Any:
        original = original_of(self)
        if compares and is_proxy(args[0]):
            args = (original_of(args[0]),)
        try:
            result = _special_method(original, name)(*args, **kwargs)
        except BaseException as error:
            leave_traceback(error)
            raise
        return self if result is original else result

    method.__name__ = name
    return method


def _special_method(original: Any, name: str) -> Any:
    """Return a special method, which Python looks for on the type alone, bound to an object."""
    kind = type(original)
    for owner in kind.__mro__:
        if name in (own := vars(owner)):
            bind = getattr(type(own[name]), "__get__", None)
            return own[name] if bind is None else bind(own[name], original, kind)
    return getattr(original, name)  # it raises what is right


def _bind_function(self: Proxy, instance: Any, _: Any = None) -> Any:
    return self if instance is None else MethodType(self, instance)  # type: ignore[arg-type]  # its call is a slot


_PARTIAL_GET: Final = (
    vars(functools.partial).get("__get__", ()) if sys.version_info[:2] == (3, 13) else ()
)
_PARTIAL_SAYS: Final = (
    "functools.partial will be a method descriptor in future Python versions; "
    "wrap it in staticmethod() if you want to preserve the old behavior"
)
"""Warning of 3.13 about the line that reads a partial off an object; here it would blame
tracegrade.
"""


@unseen
def _bind(self: Proxy, instance: Any, owner: Any = None) -> Any:
    """Bind as the original does, which may be not at all."""
    original = original_of(self)
    if instance is not None and _PARTIAL_GET is vars(type(original)).get("__get__"):
        warnings.warn(_PARTIAL_SAYS, FutureWarning, stacklevel=2)
        return self
    try:
        bound = type(original).__get__(original, instance, owner)
    except BaseException as error:
        leave_traceback(error)
        raise
    if type(bound) is MethodType and bound.__func__ is original:
        return MethodType(self, bound.__self__)  # type: ignore[arg-type]
    return _anew(self, bound)


def _anew(self: Proxy, other: Any) -> Any:
    """Return a proxy like this one for the result of its original."""
    return self if other is original_of(self) else _again(self)(other)


def _own(self: Proxy, name: str) -> Any:
    """Return an attribute that a proxy has its own of; None if this one has not."""
    if name == "__call__":
        return proxy_of(original_of(self).__call__, _run(self), tool_of(self), _again(self))
    if name == "__signature__":
        return _signature(original_of(self))
    found = _methods(type(self)).get(name)
    return None if found is None else MethodType(found, self)


def _signature(original: Any) -> inspect.Signature | None:
    """Return the signature that `inspect` would look for on the type of an object, by its call."""
    if inspect.isroutine(original) or isinstance(original, functools.partial):
        return None
    if hasattr(original, "__wrapped__") or hasattr(original, "__signature__"):
        return None
    return inspect.signature(original)


def _reduced(original: Any, protocol: int) -> Any:
    if isinstance(original, FunctionType):
        return original.__qualname__
    reduce = copyreg.dispatch_table.get(type(original))
    return original.__reduce_ex__(protocol) if reduce is None else reduce(original)


def _found(original: Any, name: str) -> Any:
    """Return a module's attribute by name; None if it has none."""
    found: Any = sys.modules.get(getattr(original, "__module__", None) or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
