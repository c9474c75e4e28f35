"""Checks that a value survives JSON unchanged: tapes hold only such results, and no code."""

import math
from typing import Final

from tracegrade.values.native_inspection import class_name

_ATOMS: Final = (str, int, float, bool, type(None))
_MAX_INT_BITS: Final = 14_000  # Python refuses to write an integer of more than 4300 digits


def why_not_plain(value: object) -> str | None:
    """Return the path of a value that JSON cannot restore with its type, or None."""
    try:
        return _fault(value, "$")
    except RecursionError:
        return "it is nested too deeply"


def _fault(value: object, path: str) -> str | None:
    kind = type(value)
    if kind is dict:
        for key, item in value.items():  # type: ignore[attr-defined]
            if type(key) is not str or _text_fault(key):
                return f"{path} has a key that is not a text"
            if fault := _fault(item, f"{path}.{key}"):
                return fault
        return None
    if kind is list:
        faults = (_fault(item, f"{path}[{i}]") for i, item in enumerate(value))  # type: ignore[arg-type, var-annotated]
        return next((fault for fault in faults if fault), None)
    if not any(kind is atom for atom in _ATOMS):
        return f"{path} is a {class_name(kind)}"
    return f"{path} is a value that JSON has not" if _atom_fault(value) else None


def _atom_fault(value: object) -> bool:
    if isinstance(value, str):
        return _text_fault(value)
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, int) and value.bit_length() > _MAX_INT_BITS


def _text_fault(text: str) -> bool:
    """Return whether a text has half characters, which no file can hold."""
    return any("\ud800" <= char <= "\udfff" for char in text) if not text.isascii() else False
