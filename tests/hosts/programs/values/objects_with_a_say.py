"""Objects whose every method reports its call: reading a value calls none of them.

spans: 21
"""

import enum
import functools

from tg import t

t.init()
HOOKS = """__repr__ __str__ __format__ __len__ __iter__ __bool__ __hash__ __eq__ __getitem__
__contains__ __call__ __float__ __int__ __index__ __dir__ __bytes__ __reduce_ex__ __getstate__
__enter__ __exit__ __next__ __await__ __aiter__ __fspath__ __json__ __html__ __array__
__dataframe__ __arrow_c_stream__ __dlpack__ __rich__ _repr_html_ model_dump model_dump_json dict
json to_dict to_json as_dict asdict keys items values get isoformat""".split()
QUIET = False


def hook(name, self, *args, **kwargs):
    if not QUIET:
        print("called", name)
    raise TypeError(name)


Watched = type(
    "Watched", (), {name: functools.partialmethod(functools.partial(hook, name)) for name in HOOKS}
)


class Attributes:
    """Says which attributes are asked for."""

    def __getattribute__(self, name):
        print("asked for", name)
        raise AttributeError(name)


class Lazy:
    """Has properties."""

    @property
    def name(self):
        print("loaded name")
        return "x"

    __slots__ = ("a",)


class Meta(type):
    """Says what it is asked."""

    def __instancecheck__(cls, other):
        print("instance?", cls)
        return False

    def __subclasscheck__(cls, other):
        print("subclass?", cls)
        return False

    def __getattr__(cls, name):
        print("class asked for", name)
        raise AttributeError(name)


class WithMeta(metaclass=Meta):
    """Its class has a say."""


class Dict(dict):
    """A dict that says what is read."""

    def __iter__(self):
        print("iter")
        return super().__iter__()

    def items(self):
        print("items")
        return super().items()

    def keys(self):
        print("keys")
        return super().keys()

    def __getitem__(self, key):
        print("get", key)
        return super().__getitem__(key)

    def __len__(self):
        print("len")
        return super().__len__()


class Text(str):
    """A text that says when it is written."""

    def __str__(self):
        print("str")
        return "text"

    def __len__(self):
        print("len of text")
        return 3

    def encode(self, *_):
        print("encode")
        return b""


class Number(int):
    """A number that says when it is written."""

    def __repr__(self):
        print("repr of a number")
        return "1"

    __str__ = __repr__

    def __float__(self):
        print("float of a number")
        return 1.0


class Color(enum.Enum):
    """Says when it is written."""

    RED = 1

    def __str__(self):
        print("str of a color")
        return "red"


@t.tool
def same(x, *more, **options):
    return x


with t.agent_run("a"):
    values = [
        Watched(),
        Attributes(),
        Lazy(),
        WithMeta(),
        WithMeta,
        Dict(a=1),
        Text("abc"),
        Number(3),
        Color.RED,
    ]
    for value in values:
        assert same(value) is value
    same([Watched()], {"a": (Lazy(), Dict(b=2))}, key=Watched())
QUIET = True
