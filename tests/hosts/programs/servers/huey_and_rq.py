"""huey and rq: tasks in a queue in memory, retried and failing; workers find them by name.

spans: 11
speed: slow
"""

import logging

from huey import MemoryHuey
from huey.exceptions import TaskException
from rq.job import Job
from tg import t

t.init()
logging.getLogger("huey").disabled = True
huey = MemoryHuey("host", immediate=False)


@huey.task(retries=1)
@t.tool
def double(x):
    if x is None:
        raise ValueError("nothing")
    return 2 * x


@t.tool
def plain(x):
    return x


print(double.task_class.__name__)
with t.agent_run("a"):
    results = [double(1), double(None), double(4)]
    while (task := huey.dequeue()) is not None:
        huey.execute(task)
    print(results[0].get(), results[2].get())
    try:
        results[1].get()
    except TaskException as error:
        print(error.metadata["error"])
    print(Job.create(plain, [1], connection=object()).func_name)
    print(double.call_local(5))
