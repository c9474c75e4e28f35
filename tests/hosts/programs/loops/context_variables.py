"""Context variables of the host: set in tools, in tasks, in threads, reset by their tokens.

spans: 21
speed: slow
"""

import asyncio
import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

from tg import t

t.init()
var = contextvars.ContextVar("var", default="none")


@t.tool
def put(value):
    return var.set(value)


@t.tool
def get():
    return var.get()


@t.tool
async def put_later(value):
    await asyncio.sleep(0)
    var.set(value)


@t.tool
def gen():
    var.set("in a generator")
    yield var.get()
    var.set("again")
    yield var.get()


async def main():
    await put_later("task")
    print(get())
    await asyncio.create_task(put_later("child"))
    print(get(), await asyncio.to_thread(get))


with t.agent_run("a"):
    token = put("one")
    print(get())
    var.reset(token)
    print(get(), list(gen()), var.get())
    asyncio.run(main())
    print(var.get(), contextvars.copy_context().run(get))
    seen = []
    thread = threading.Thread(target=lambda: seen.append(var.get()))
    thread.start()
    thread.join()
    with ThreadPoolExecutor(1) as pool:
        seen.append(pool.submit(var.get).result())
    print(seen)
print(var.get())
