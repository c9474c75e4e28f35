"""Readers of arrays and frames: their shape, their types and their beginning.

Reading computes nothing: no query of a lazy frame, no copy of a whole array, no wait for a device.
If an element's class could be the program's own, the beginning is left out.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from tracegrade.values.native_inspection import (
    ValueReader,
    bases_of,
    is_of_module,
    module_name,
    named,
    short_name,
)

if TYPE_CHECKING:
    from tracegrade.values.copying import Copy


HEAD: Final = 20
"""So many elements of an array, and rows and columns of a frame, are written."""


def array_reader(kind: type) -> ValueReader | None:
    """Return how arrays of a class that is derived from a library's are read; else None."""
    if module_name(kind) == "pyarrow.lib" and is_of_module(kind):
        return _ARROW_ARRAY if "pyarrow.Array" in map(short_name, bases_of(kind)) else None
    for base in bases_of(kind):
        if short_name(base) == "numpy.ndarray" and is_of_module(base):
            return _array_by(vars(base)["shape"].__get__, vars(base)["dtype"].__get__)
    return None


def _array_by(shape: Callable[[Any], Any], dtype: Callable[[Any], Any]) -> ValueReader:
    return _summary(shape=lambda value: [*shape(value)], dtype=lambda value: str(dtype(value)))


def _summary(**parts: Callable[[Any], object]) -> ValueReader:
    """Return a reader that writes an object's class, and the results of functions."""

    def read(copy: "Copy", value: Any, depth: int) -> object:
        parts_read = {name: part(value) for name, part in parts.items()}
        readable = {name: part for name, part in parts_read.items() if part is not None}
        return copy.mapping({"type": short_name(type(value)), **readable}.items(), depth)

    return read


def _shape(value: Any) -> list[int]:
    return [*value.shape]


def _dtype(value: Any) -> str:
    return _type_name(value.dtype)


def _type_name(dtype: object) -> str:
    return str(dtype) if _is_known(dtype) else named(type(dtype))


def _is_known(dtype: object) -> bool:
    """Return whether a data type is a library's own, and its values are read by that."""
    return module_name(type(dtype)).partition(".")[0] in _PACKAGES


_PACKAGES: Final = frozenset({"jax", "ml_dtypes", "numpy", "pandas", "polars", "pyarrow"}) | {
    "tensorflow",
    "torch",
}


def _array_head(value: Any) -> list[Any]:
    return [*value.flat[:HEAD].tolist()]


FrameColumn = tuple[object, object, Callable[[], list[Any]]]
"""Name, data type, and what returns the beginning."""


def _frame(
    shape: Callable[[Any], list[int]], columns: Callable[[Any], Iterable[FrameColumn]]
) -> ValueReader:
    def types(value: Any) -> dict[str, str]:
        return {name: _type_name(dtype) for name, dtype, _ in _first(columns(value))}

    def head(value: Any) -> dict[str, list[Any]]:
        read = _first(columns(value))
        return {name: values() for name, dtype, values in read if _is_known(dtype)}

    return _summary(shape=shape, columns=types, head=head)


def _first(
    columns: Iterable[FrameColumn],
) -> Iterator[tuple[str, object, Callable[[], list[Any]]]]:
    for number, (name, dtype, values) in enumerate(islice(columns, HEAD)):
        yield (name if type(name) is str else f"column {number}"), dtype, values


def _column_head(head: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any] | None]:
    return lambda value: head(value) if _is_known(value.dtype) else None


def _of_pandas(frame: Any) -> Iterator[FrameColumn]:
    for number, name in enumerate(frame.columns[:HEAD]):
        column = frame.iloc[:HEAD, number]
        yield name, column.dtype, column.tolist


def _of_polars(frame: Any) -> Iterator[FrameColumn]:
    for column in frame.get_columns():
        yield column.name, column.dtype, column.head(HEAD).to_list


def _of_pyarrow(table: Any) -> Iterator[FrameColumn]:
    for number, field in enumerate(table.schema):
        yield field.name, field.type, table.column(number).slice(0, HEAD).to_pylist


def _arrow_shape(value: Any) -> list[int]:
    return [value.num_rows, value.num_columns]


def _length(value: Any) -> list[int]:
    return [len(value)]


_ON_DEVICE: Final = _summary(shape=_shape, dtype=_dtype)

_TORCH: Final = _summary(shape=_shape, dtype=_dtype, device=lambda tensor: str(tensor.device))


def _tensor(copy: "Copy", value: Any, depth: int) -> object:
    """Read a tensor past hooks of the program, such as a `TorchFunctionMode`."""
    with sys.modules["torch"]._C.DisableTorchFunction():
        return _TORCH(copy, value, depth)


_ARROW_ARRAY: Final = _summary(
    shape=_length,
    dtype=lambda array: _type_name(array.type),
    head=lambda array: array.slice(0, HEAD).to_pylist() if _is_known(array.type) else None,
)
_PANDAS: Final = _summary(
    shape=_shape, dtype=_dtype, head=_column_head(lambda column: column[:HEAD].tolist())
)

FRAMES: Final[dict[str, ValueReader]] = {
    "jaxlib.ArrayImpl": _ON_DEVICE,
    "numpy.ndarray": _summary(shape=_shape, dtype=_dtype, head=_array_head),
    "pandas.DataFrame": _frame(_shape, _of_pandas),
    "pandas.Series": _summary(
        shape=_shape, dtype=_dtype, head=_column_head(lambda column: column.iloc[:HEAD].tolist())
    ),
    **{f"pandas.{kind}Index": _PANDAS for kind in ("", "Datetime", "Range")},
    "polars.DataFrame": _frame(_shape, _of_polars),
    "polars.Series": _summary(
        shape=_shape, dtype=_dtype, head=_column_head(lambda column: column.head(HEAD).to_list())
    ),
    "pyarrow.ChunkedArray": _ARROW_ARRAY,
    "pyarrow.RecordBatch": _frame(_arrow_shape, _of_pyarrow),
    "pyarrow.Table": _frame(_arrow_shape, _of_pyarrow),
    "tensorflow.EagerTensor": _ON_DEVICE,
    "torch.Parameter": _tensor,
    "torch.Tensor": _tensor,
}
"""By package and name."""
