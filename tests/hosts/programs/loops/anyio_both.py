"""anyio on asyncio and on trio: task groups, cancel scopes, streams, threads.

spans: 22
speed: slow
needs: trio
"""

import anyio
from tg import t

t.init()


@t.tool
async def send(stream, value):
    await stream.send(value)
    return value


@t.tool
def blocking(x):
    return x


@t.tool
async def later(x):
    await anyio.sleep(0)
    return x


async def main(name):
    async with t.agent_run(name):
        sender, receiver = anyio.create_memory_object_stream(5)
        async with anyio.create_task_group() as group, sender, receiver:
            for number in range(2):
                group.start_soon(send, sender, number)
            print(sorted([await receiver.receive() for _ in range(2)]))
        print(await anyio.to_thread.run_sync(blocking, 3))
        sender, receiver = anyio.create_memory_object_stream(0)
        with anyio.move_on_after(0.01) as scope:
            await send(sender, 1)
        print(scope.cancelled_caught)
        sender.close()
        receiver.close()
        with anyio.fail_after(5):
            print(await anyio.to_thread.run_sync(lambda: anyio.from_thread.run(later, 4)))


for backend in ("asyncio", "trio"):
    anyio.run(main, backend, backend=backend)
