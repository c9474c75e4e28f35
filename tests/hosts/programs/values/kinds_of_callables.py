"""Functions, coroutines, generators and methods as tools.

spans: 20
"""

import asyncio

from tg import t

t.init()


@t.tool(effect="read", cost=1)
def plain(x: int, *, twice: bool = False) -> int:
    """Return the number."""
    return 2 * x if twice else x


@t.tool
async def waits(x: int) -> int:
    """Return the number later."""
    await asyncio.sleep(0)
    return x


@t.tool
def counts(to: int):
    """Yield numbers."""
    yield from range(to)
    return "done"


@t.tool
async def counts_later(to: int):
    """Yield numbers later."""
    for number in range(to):
        yield number


class Shop:
    """Has tools."""

    @t.tool
    def method(self, x: int) -> int:
        """Return the number."""
        return x

    @t.tool
    @classmethod
    def of_class(cls, x: int) -> tuple[str, int]:
        """Return the number."""
        return cls.__name__, x

    @t.tool
    @staticmethod
    def static(x: int) -> int:
        """Return the number."""
        return x


async def later() -> None:
    """Use what waits."""
    print(await waits(1), [each async for each in counts_later(3)])


with t.agent_run("kinds", user_input="go") as run:
    run.thought("hm")
    run.plan(["one", "two"])
    with run.sub_goal("one"), run.decision("first"):
        print(plain(1), plain(2, twice=True), list(counts(3)))
    asyncio.run(later())
    print(Shop().method(1), Shop.of_class(2), Shop.static(3))
    run.answer("done")
for tool in (plain, waits, counts, counts_later, Shop.method):
    print(tool.__name__, tool.__qualname__, tool.__doc__, tool.__module__)
