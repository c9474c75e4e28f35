"""Classes, callables with state, caches and partials as tools behave as before.

spans: 12
says: tracegrade: calls of the class
"""

import abc
import copy
import enum
import functools
import pickle
import typing

from tg import t

t.init()


def show(call):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)


@t.tool
class Search:
    """Searches."""

    KIND = "web"
    count: typing.ClassVar[int] = 0

    def __init__(self, q):
        self.q = q

    @classmethod
    def of(cls, q):
        return cls(q)

    def __eq__(self, other):
        return self.q == other.q


@t.tool
class Level(enum.IntEnum):
    LOW = 1


@t.tool
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...


class Square(Shape):
    def area(self):
        return 4


@t.tool
@functools.lru_cache(maxsize=2)
def cached(x):
    return [x]


@t.tool
@functools.singledispatch
def write(x):
    return "any"


@write.register
def _(x: int):
    return "int"


class Counter:
    """Counts."""

    def __init__(self):
        self.n = 0

    def __call__(self, x):
        self.n += x
        return self.n

    @property
    def size(self):
        return self.n

    def __len__(self):
        return self.n


counter = t.tool(Counter())
power = t.tool(functools.partial(pow, 2))
show(lambda: Search("a").q)
show(lambda: isinstance(Search("a"), Search))
show(lambda: isinstance(Search, type))
show(lambda: (Search.KIND, Search.of("b").q, Search.__doc__, Search.__annotations__))
show(lambda: type("Sub", (Search,), {})("c").q)
show(lambda: pickle.loads(pickle.dumps(Search("d"))) == Search("d"))
show(lambda: copy.deepcopy(Search("e")).q)
show(lambda: (Level(1), Level.LOW, Level["LOW"], list(Level)))
show(lambda: Shape())
show(lambda: Square().area())
show(
    lambda: (
        cached(1) is cached(1),
        cached.cache_info(),
        cached.cache_clear(),
        cached.cache_parameters(),
    )
)
show(
    lambda: (
        write("a"),
        write(1),
        write.dispatch(int).__name__ != "",
        list(write.registry) == [object, int],
    )
)
show(lambda: (counter(2), counter.n, counter.size, len(counter), isinstance(counter, Counter)))
show(lambda: setattr(counter, "n", 9) or counter.n)
show(lambda: (power(3), power.func, power.args, power.keywords))
match Search("f"):
    case Search(q=q):
        print("matched", q)
