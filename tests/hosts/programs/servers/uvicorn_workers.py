"""uvicorn with two workers, and with reload: processes by spawn, ended by their parent.

spans: 9
speed: slow
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


@t.tool
def work(path):
    return path


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    with t.agent_run("web"):
        body = work(scope["path"]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def ask(port):
    for _ in range(600):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/hello", timeout=5).read()
        except OSError:
            time.sleep(0.05)
    return None


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    Path("app").mkdir()
    for option in (["--workers", "2"], ["--reload", "--reload-dir", "app"]):
        options = [
            "--port",
            str(port),
            "--log-level",
            "critical",
            "--app-dir",
            str(Path(__file__).parent),
            "--lifespan",
            "off",
        ]
        server = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", f"{Path(__file__).stem}:app", *options, *option]
        )
        print(ask(port))
        if "--reload" in option:
            Path("app/changed.py").write_text("x = 1")
            time.sleep(3)
            print(ask(port))
        server.send_signal(signal.SIGTERM)
        print(server.wait(60))
