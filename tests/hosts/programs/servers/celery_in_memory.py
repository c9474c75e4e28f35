"""Celery: tools as tasks, run eagerly and by a worker thread; retries, chains and errors.

spans: 20 or more
speed: slow
"""

from celery import Celery, chain, group
from celery.contrib.testing.worker import start_worker
from tg import t

t.init()
app = Celery("host", broker="memory://", backend="cache+memory://")
app.conf.update(
    task_default_queue="host", worker_hijack_root_logger=False, task_ignore_result=False
)


@app.task
@t.tool
def double(x):
    """Return twice the number."""
    return 2 * x


@app.task(bind=True, max_retries=2, default_retry_delay=0)
@t.tool
def flaky(self, x):
    if self.request.retries < 1:
        raise self.retry(exc=ValueError(x))
    return self.request.retries


@app.task
@t.tool
def fails(x):
    raise KeyError(x)


print(
    double.name,
    flaky.name,
    double.__doc__,
    sorted(name for name in app.tasks if "celery" not in name),
)
print(double(2), double.apply([3]).get(), flaky.apply([1]).get())
with start_worker(app, pool="solo", perform_ping_check=False, loglevel="critical"):
    with t.agent_run("caller"):
        print(double.delay(4).get(timeout=20), flaky.delay(5).get(timeout=20))
        print(repr(fails.delay(6).get(timeout=20, propagate=False)))
        print(chain(double.s(1), double.s())().get(timeout=20))
        print(group(double.s(n) for n in range(2))().get(timeout=20))
