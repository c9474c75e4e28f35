"""gunicorn: sync and threaded workers, with preload, recycled after two requests, SIGTERM.

spans: 27
speed: slow
needs: gunicorn
"""

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from tg import t

t.init()
KINDS = (
    ["-k", "sync", "--max-requests", "2"],
    ["-k", "gthread", "--threads", "2"],
    ["--preload", "-w", "2"],
)


@t.tool
def work(path):
    return path


def app(environ, start_response):
    with t.agent_run("web"):
        body = work(environ["PATH_INFO"]).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def ask(port):
    for _ in range(600):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/hello", timeout=5).read()
        except OSError:
            time.sleep(0.05)
    return None


if __name__ == "__main__":
    for options in KINDS:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "gunicorn",
            "-b",
            f"127.0.0.1:{port}",
            "--log-level",
            "critical",
        ]
        command += [
            "--no-control-socket",
            "--chdir",
            str(Path(__file__).parent),
            f"{Path(__file__).stem}:app",
        ]
        server = subprocess.Popen([*command, *options])
        print([ask(port) for _ in range(3)])
        server.send_signal(signal.SIGTERM)
        print(server.wait(60))
