"""SQLAlchemy with asyncio: a lazy attribute that may not load outside of its greenlet.

spans: 9
speed: slow
"""

import asyncio

from sqlalchemy import String, event, inspect, select
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from tg import t

t.init()


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String)

    def __str__(self):
        return self.name


@t.tool
async def find(session, name):
    return (await session.scalars(select(Customer).where(Customer.name == name))).one()


@t.tool
async def same(x):
    return x


async def main():
    engine = create_async_engine("sqlite+aiosqlite://")
    event.listen(
        engine.sync_engine,
        "before_cursor_execute",
        lambda c, cursor, sql, *_: print("SQL", " ".join(sql.split())),
    )
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with AsyncSession(engine) as session, t.agent_run("shop"):
        session.add(Customer(name="ada"))
        await session.commit()
        ada = await find(session, "ada")
        await session.commit()
        print((await same(ada)) is ada, (await same([ada, session]))[0] is ada)
        print(sorted(inspect(ada).expired_attributes))
        await session.refresh(ada)
        print((await same(ada)).name)
    await engine.dispose()


asyncio.run(main())
