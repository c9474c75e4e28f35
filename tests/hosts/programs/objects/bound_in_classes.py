"""Objects that bind in a class or do not: functions, partials, builtins, properties, descriptors.

spans: 44
says: tracegrade: calls of the class
"""

import functools

from tg import t

t.init()


def show(call):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)


class Callable:
    def __call__(self, *args):
        return ("called", *args)


class Descriptor:
    def __get__(self, instance, owner):
        return lambda x: (type(instance).__name__, owner.__name__, x)

    def __call__(self, *args):
        return args

    def __set_name__(self, owner, name):
        print("named", name, owner.__name__)


class Api:
    least = t.tool(functools.partial(max, 1))
    number = t.tool(int)
    length = t.tool(len)
    upper = t.tool(str.upper)
    called = t.tool(Callable())
    described = t.tool(Descriptor())
    square = functools.partialmethod(t.tool(lambda self, x: x * x), 3)
    static = staticmethod(t.tool(lambda x: x))
    of_class = classmethod(t.tool(lambda cls, x: (cls.__name__, x)))

    @property
    @t.tool
    def size(self):
        return 5

    @functools.cached_property
    @t.tool
    def once(self):
        print("computed")
        return 6

    @t.tool
    def method(self, x):
        return x

    def __eq__(self, other):
        return isinstance(other, Api)

    def __hash__(self):
        return 1


class Child(Api):
    @t.tool
    def method(self, x):
        return super().method(x) + 1


api = Api()
for name in ("least", "number", "length", "upper", "called", "described"):
    show(lambda: getattr(api, name)("7"))
    show(lambda: getattr(api, name)([1]))
    show(lambda: getattr(Api, name)("8"))
show(
    lambda: (
        api.square(),
        api.static(1),
        api.of_class(2),
        Api.of_class(3),
        api.size,
        api.once,
        api.once,
    )
)
show(
    lambda: (
        Child().method(1),
        Api.method(api, 2),
        api.method == api.method,
        api.method.__self__ is api,
    )
)
show(lambda: (api.method.__func__ is Api.method, {api.method: 1}[api.method]))
