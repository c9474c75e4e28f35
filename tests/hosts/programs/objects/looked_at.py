"""Facts that host tools read off a function: signature, source, defaults, hints, code, pickles.

spans: 2
"""

import copy
import inspect
import pickle
import typing

import pydantic
from tg import t

t.init()


@t.tool(effect="read")
def search(query: str, limit: int = 3, *, deep: "bool" = False, **more: float) -> list[str]:
    """Search for it.

    >>> search("a")
    ['a']
    """
    return [query][:limit]


@t.tool
async def later(x):
    return x


@t.tool
def numbers(to):
    yield from range(to)


@t.tool
async def stream(to):
    yield to


search.tag = "x"
print(inspect.signature(search), inspect.getfullargspec(search))
print(inspect.getsource(search), inspect.getsourcefile(search) == __file__)
print(
    search.__defaults__, search.__kwdefaults__, search.__annotations__, search.__dict__.get("tag")
)
print(
    search.__code__.co_varnames, search.__code__.co_firstlineno, search.__module__, search.__name__
)
print(
    typing.get_type_hints(search),
    search.__qualname__,
    search.__globals__ is globals(),
    search.__closure__,
)
print(pickle.loads(pickle.dumps(search)) is search, copy.deepcopy(search) is search)
for f in (search, later, numbers, stream):
    kinds = (
        inspect.isfunction,
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
    )
    print(f.__name__, [kind(f) for kind in kinds], inspect.isroutine(f), type(f).__name__)
schema = pydantic.TypeAdapter(search).json_schema()
print(schema)
print(pydantic.validate_call(search)("a", limit="1"))
print(inspect.getmodule(search) is inspect.getmodule(print) or inspect.getmodule(search).__name__)
print(
    callable(search),
    bool(search),
    search == search,
    hash(search) == hash(search),
    inspect.getdoc(search),
)
