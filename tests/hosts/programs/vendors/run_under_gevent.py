"""tracegrade run: gevent's patching comes first, without a warning.

spans: 3 or more
mode: run
speed: slow
says: tracegrade: .*
"""

from gevent import monkey

monkey.patch_all()

import socket
import ssl
import threading

from tg import t


@t.tool
def work(x):
    return x


with t.agent_run("a"):
    thread = threading.Thread(target=work, args=[1])
    thread.start()
    thread.join()
print(monkey.is_module_patched("ssl"), ssl.SSLContext.__module__, socket.socket.__module__)
t.flush()
