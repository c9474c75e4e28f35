"""trio: tools in a nursery, cancelled by a scope, in threads, and failing together.

spans: 17
speed: slow
"""

import trio
from tg import t

t.init()


@t.tool
async def wait(name, secs):
    try:
        await trio.sleep(secs)
    except trio.Cancelled:
        print("cancelled", name)
        raise
    return name


@t.tool
def blocking(x):
    return x


@t.tool
async def fails():
    raise ValueError("no")


async def main():
    async with t.agent_run("a"):
        with trio.move_on_after(0.01) as scope:
            await wait("one", 10)
        print(scope.cancelled_caught)
        print(await trio.to_thread.run_sync(blocking, 3))
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(wait, "two", 10)
                nursery.start_soon(fails)
        except* ValueError as errors:
            print(errors.exceptions)
        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(wait, f"{number}", 0.01 * number)
        with trio.CancelScope() as outer:
            outer.cancel()
            await wait("three", 1)


trio.run(main)
