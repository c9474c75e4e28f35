"""asyncio: tools that are cancelled, time out, or run in a group whose other task fails.

spans: 9
"""

import asyncio

from tg import t

t.init()


@t.tool
async def wait(name: str, secs: float) -> str:
    """Wait, and say if that is cut short."""
    try:
        await asyncio.sleep(secs)
    except asyncio.CancelledError:
        print("cancelled", name)
        raise
    return name


@t.tool
async def fails() -> None:
    """Fail."""
    await asyncio.sleep(0.01)
    raise ValueError("no")


async def main() -> None:
    """Cancel in four ways."""
    async with t.agent_run("a"):
        task = asyncio.create_task(wait("one", 10))
        await asyncio.sleep(0.01)
        task.cancel("enough")
        try:
            await task
        except asyncio.CancelledError as error:
            print(repr(error), task.cancelled())
        try:
            await asyncio.wait_for(wait("two", 10), 0.01)
        except TimeoutError as error:
            print(type(error).__name__)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(wait("three", 10))
                group.create_task(fails())
        except* ValueError as errors:
            print(errors.exceptions)


asyncio.run(main())
