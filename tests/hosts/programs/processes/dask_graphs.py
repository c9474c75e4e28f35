"""dask: tools in delayed graphs by threads and by processes; collections are not computed.

spans: 11 or more
speed: slow
needs: pandas
"""

import dask
import dask.bag
import dask.dataframe
import pandas
from tg import t

t.init()


@t.tool
def double(x):
    return 2 * x


@t.tool
def same(x):
    return x


def loud(x):
    print("computed", flush=True)
    return x


if __name__ == "__main__":
    with t.agent_run("a"):
        bag = dask.bag.from_sequence([1, 2], npartitions=1).map(loud)
        frame = dask.dataframe.from_pandas(
            pandas.DataFrame({"a": [1, 2]}), npartitions=1
        ).map_partitions(loud, meta={"a": int})
        for lazy in (bag, frame, dask.delayed(loud)(1)):
            print(type(same(lazy)).__name__)
        print("now")
        print(dask.compute(bag.map(double), scheduler="synchronous"))
        total = dask.delayed(sum)([dask.delayed(double)(n) for n in range(3)])
        print(
            total.compute(scheduler="threads"), total.compute(scheduler="processes", num_workers=1)
        )
        print(dask.base.tokenize(double) == dask.base.tokenize(double))
