"""A Celery worker with prefork children, over a broker of files, stopped by SIGTERM.

spans: 12
speed: slow
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from celery import Celery
from tg import t

for name in ("in", "out", "results"):
    Path(name).mkdir(exist_ok=True)
folder = Path.cwd()
app = Celery("host", broker="filesystem://", backend=f"file://{folder}/results")
folders = {
    "data_folder_in": f"{folder}/in",
    "data_folder_out": f"{folder}/in",
    "control_folder": f"{folder}/out",
}
app.conf.update(broker_transport_options=folders, worker_max_tasks_per_child=2)
t.init()


@app.task(name="work")
@t.tool
def work(x):
    with t.agent_run("task"):
        return 2 * x


if __name__ == "__main__":
    options = "worker --pool=prefork -c1 -l CRITICAL --without-gossip --without-mingle --without-heartbeat".split()
    command = [sys.executable, "-m", "celery", "-A", Path(__file__).stem, *options]
    path = os.pathsep.join([str(Path(__file__).parent), os.environ["PYTHONPATH"]])
    environment = {**os.environ, "PYTHONPATH": path, "C_FORCE_ROOT": "1"}
    worker = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    results = [app.send_task("work", [n]) for n in range(4)]
    print([result.get(timeout=60) for result in results])
    worker.send_signal(signal.SIGTERM)
    print(worker.wait(60))
