"""Arrays and frames as arguments and results; lazy frames stay lazy; subclasses are not called.

spans: 25
speed: slow
"""

import warnings

import numpy as np
import pandas as pd
import polars as pl
from tg import t

t.init()
warnings.simplefilter("error")


class Array(np.ndarray):
    def __array_finalize__(self, other):
        if other is not None:
            print("finalized")

    def __repr__(self):
        print("repr of an array")
        return "array"


class Frame(pd.DataFrame):
    @property
    def _constructor(self):
        print("constructed")
        return Frame


@t.tool
def same(x):
    return x


def never(batch):
    print("computed a batch")
    return batch


big = np.zeros((3000, 3000))
lazy = pl.LazyFrame({"a": [1, 2]}).map_batches(never)
frame = pd.DataFrame(
    {"a": [1, 2], "b": ["x", None]}, index=pd.MultiIndex.from_tuples([(1, "a"), (2, "b")])
)
watched = np.zeros(2).view(Array)
own = Frame({"a": [1]})
structured = np.zeros(2, dtype=[("a", "i4"), ("b", "f8")])
masked = np.ma.masked_array([1, 2], mask=[0, 1])
values = [
    big,
    np.float64(1.5),
    np.array(["a", None], dtype=object),
    np.datetime64("2026-01-02"),
    watched,
]
values += [structured, masked, frame, frame["a"], own, pl.DataFrame({"a": [1]}), pl.Series([1, 2])]
with t.agent_run("a"):
    for value in [lazy, *values[:11]]:
        print(type(same(value)).__name__)
print(lazy.collect().shape, frame.shape, np.shares_memory(same(big), big) if False else "")
