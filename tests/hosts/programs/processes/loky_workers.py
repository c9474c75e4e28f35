"""joblib with its loky workers and its threads: tools by cloudpickle, an exception from a worker.

spans: 1 or more
speed: slow
"""

import joblib
from tg import t

t.init()


@t.tool
def double(x):
    return 2 * x


@t.tool
def fails(x):
    raise ValueError(x)


if __name__ == "__main__":
    with t.agent_run("parent"):
        for backend in ("loky", "threading", "multiprocessing"):
            with joblib.Parallel(2, backend=backend) as parallel:
                print(backend, parallel(joblib.delayed(double)(n) for n in range(4)))
                try:
                    parallel(joblib.delayed(fails)(n) for n in [7])
                except ValueError as error:
                    print(repr(error))
        memory = joblib.Memory("cache", verbose=0)
        cached = memory.cache(double)
        print(cached(2), cached(2), cached.func is double)
        print(joblib.hash(double) == joblib.hash(double))
