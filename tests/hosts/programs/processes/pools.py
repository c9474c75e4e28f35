"""ProcessPoolExecutor, Pool and a manager: values, exceptions and a worker that dies.

spans: 9 or more
speed: slow
"""

import multiprocessing.managers
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from tg import t

t.init()


class Svc:
    def __repr__(self):
        print("repr in the manager", flush=True)
        return "svc"

    def count(self):
        return 3


@t.tool
def double(x):
    return 2 * x


@t.tool
def fails(x):
    raise ValueError(x)


@t.tool
def dies():
    os._exit(3)


@t.tool
def use(shared, service):
    shared["a"] += 1
    return service


class Manager(multiprocessing.managers.SyncManager):
    pass


Manager.register("Svc", Svc)

if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    with t.agent_run("parent"):
        with ProcessPoolExecutor(2) as pool:
            print(list(pool.map(double, range(3))), pool.submit(double, 5).result())
            print(repr(pool.submit(fails, 7).exception()))
        with ProcessPoolExecutor(1) as pool:
            try:
                pool.submit(dies).result()
            except BrokenProcessPool as error:
                print(error)
        with multiprocessing.Pool(2) as pool:
            print(pool.map(double, range(4)), pool.apply_async(double, [1]).get())
            pool.close()
            pool.join()
        with Manager() as manager:
            shared, service = manager.dict(a=1), manager.Svc()
            print(use(shared, service).count(), shared["a"])
