"""A function that is stopped between invocations and resumed later, as on Lambda; it flushes.

spans: 16
speed: slow
"""

import os
import signal
import time

from tg import t

t.init()


@t.tool
def double(x):
    return 2 * x


def handler(event):
    with t.agent_run("lambda") as run:
        run.answer(result := double(event))
    t.flush()
    return result


read, write = os.pipe()
back, out = os.pipe()
if (pid := os.fork()) == 0:
    os.close(write)
    while event := os.read(read, 1):
        os.write(out, b"%d" % handler(int(event)))
    os._exit(0)
os.close(read)
for event in (1, 2, 3):
    os.write(write, b"%d" % event)
    print(os.read(back, 10))
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)
    time.sleep(0.7)
    os.kill(pid, signal.SIGCONT)
os.write(write, b"4")
print(os.read(back, 10))
os.kill(pid, signal.SIGKILL)
print(os.waitpid(pid, 0)[1])
