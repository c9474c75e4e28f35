"""Dataclasses, pydantic models, attrs, named tuples and typed dicts, with code of the host in them.

spans: 15
"""

import dataclasses
import datetime
import decimal
import pathlib
import typing
import uuid

import attrs
import pydantic
from tg import t

t.init()


@dataclasses.dataclass
class Point:
    x: int
    hidden: list = dataclasses.field(default_factory=list, repr=False)

    def __repr__(self):
        print("repr of a point")
        return "point"


class Order(pydantic.BaseModel):
    id: int
    at: datetime.datetime

    @pydantic.field_serializer("id")
    def write(self, value):
        print("serialized")
        return value

    @pydantic.computed_field
    @property
    def total(self) -> int:
        print("computed")
        return 3

    def model_dump(self, **options):
        print("dumped")
        return super().model_dump(**options)


class Settings(pydantic.BaseModel, extra="allow"):
    token: pydantic.SecretStr = pydantic.SecretStr("x")


@attrs.define
class Box:
    size: int = attrs.field(repr=lambda _: print("repr of a size") or "?")


class Pair(typing.NamedTuple):
    left: int
    right: Point


@t.tool
def same(x):
    return x


now = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
with t.agent_run("a", user_input=Order(id=1, at=now)):
    for value in (
        Point(1),
        Order(id=1, at=now),
        Settings(more={"a": 1}),
        Box(2),
        Pair(1, Point(2)),
        [
            uuid.UUID(int=1),
            decimal.Decimal("1.5"),
            pathlib.PurePath("a"),
            now,
            {1, 2},
            b"\xff",
            1j,
        ],
        {Pair(1, 3): 1, None: 2, 1.5: float("nan")},
    ):
        print(same(value) is value)
