"""Generators and async generators that are not read to the end, get exceptions, or close late.

spans: 21
"""

import asyncio
import gc

from tg import t

t.init()


@t.tool
def numbers(name):
    try:
        for n in range(5):
            got = yield n
            if got:
                print("got", got)
    except GeneratorExit:
        print("closed", name)
        raise
    except ValueError as error:
        print("thrown", error)
        yield "last"
    finally:
        print("finally", name)
    return "result"


@t.tool
async def stream(name):
    try:
        for n in range(5):
            yield n
            await asyncio.sleep(0)
    finally:
        await asyncio.sleep(0)
        print("cleaned", name.rstrip("0123"))


def outer():
    result = yield from numbers("inner")
    print("result", result)


with t.agent_run("a"):
    one = numbers("dropped")
    next(one)
    del one
    gc.collect()
    two = numbers("sent")
    print(next(two), two.send("hello"), two.throw(ValueError("x")))
    print(next(two, "end"))
    three = numbers("closed early")
    print(next(three), three.close(), next(three, "end"))
    print(list(outer()))
    never = numbers("never")
    print(never.gi_frame is not None, never.gi_running, type(never).__name__)
    del never
    loop_order = []

    async def main():
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: print("LOOP", context["message"])
        )
        async for n in stream("broken off"):
            if n == 1:
                break
        full = stream("full")
        print([n async for n in full])
        closing = stream("closed")
        print(await anext(closing), await closing.aclose(), await anext(closing, "end"))
        held.extend(stream(f"held {n}") for n in range(3))
        for each in held:
            await anext(each)
        await asyncio.sleep(0.01)

    held = []
    asyncio.run(main())
# Its call has not ended, so it is not a span yet.
keep = numbers("alive at exit")
next(keep)
