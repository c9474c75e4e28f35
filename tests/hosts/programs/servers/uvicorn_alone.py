"""uvicorn in one process, ended by SIGTERM and by Ctrl-C: graceful, then the signal again.

spans: 13
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


@t.tool
async def work(path):
    return path


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        t.init()
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await work("at the end")
        await send({"type": "lifespan.shutdown.complete"})
        return
    async with t.agent_run("web"):
        body = (await work(scope["path"])).encode()
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
    for number in (signal.SIGTERM, signal.SIGINT):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = [
            "--port",
            str(port),
            "--log-level",
            "error",
            "--app-dir",
            str(Path(__file__).parent),
        ]
        server = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", f"{Path(__file__).stem}:app", *options]
        )
        print(ask(port), ask(port) if number == signal.SIGINT else "")
        server.send_signal(number)
        print(server.wait(60))
