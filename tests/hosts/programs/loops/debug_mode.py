"""asyncio in debug mode, on uvloop, and with a loop's own exception handler and executor.

spans: 12
speed: slow
env: PYTHONASYNCIODEBUG=1
command: python -X dev -W error program
"""

import asyncio
import threading

import uvloop
from tg import t

t.init()


@t.tool
async def later(x):
    await asyncio.sleep(0)
    return x


@t.tool
def now(x):
    return x, threading.current_thread() is threading.main_thread()


async def main():
    loop = asyncio.get_running_loop()
    loop.slow_callback_duration = 60  # a loaded machine makes any callback slow
    loop.set_exception_handler(lambda _, context: print("LOOP", context["message"]))
    print(await asyncio.gather(later(1), later(2)), await loop.run_in_executor(None, now, 3))
    future = loop.create_future()
    loop.call_soon(lambda: future.set_result(now(4)))
    print(await future)
    task = loop.create_task(later(5), name="mine")
    print(task.get_name(), task.get_coro().__name__, task.get_coro().__qualname__, await task)
    pending = later("never awaited")
    print(type(pending).__name__, pending.cr_frame is not None)
    pending.close()


with asyncio.Runner(debug=True) as runner:
    runner.run(main())
with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    print(runner.run(later(6)))
