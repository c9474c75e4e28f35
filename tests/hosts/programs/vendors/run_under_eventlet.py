"""tracegrade run: eventlet's patching comes first, and its green threads carry the run.

spans: 5
mode: run
speed: slow
command: python -W ignore::DeprecationWarning program
says: tracegrade: .*
"""

import eventlet

eventlet.monkey_patch()

import socket
import ssl
import threading

from eventlet import patcher
from tg import t


@t.tool
def work(x):
    return x


with t.agent_run("a"):
    thread = threading.Thread(target=work, args=[1])
    thread.start()
    thread.join()
    print(eventlet.spawn(work, 2).wait())
print(patcher.is_monkey_patched("socket"), ssl.SSLContext.__module__, socket.socket.__module__)
t.flush()
