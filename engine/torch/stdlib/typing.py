"""typing: names that type hints use. Hints are not checked, so each name is an object that can be subscripted and joined with |."""


class _Hint:
    def __init__(self, name):
        self._name = name

    def __getitem__(self, parameters):
        return self

    def __or__(self, other):
        return self

    def __ror__(self, other):
        return self

    def __call__(self, *args, **keywords):
        return self

    def __mro_entries__(self, bases):
        return ()

    def __repr__(self):
        return "typing." + self._name


Any = _Hint("Any")
Union = _Hint("Union")
Optional = _Hint("Optional")
Callable = _Hint("Callable")
Iterable = _Hint("Iterable")
Iterator = _Hint("Iterator")
Generator = _Hint("Generator")
Sequence = _Hint("Sequence")
MutableSequence = _Hint("MutableSequence")
Mapping = _Hint("Mapping")
MutableMapping = _Hint("MutableMapping")
Collection = _Hint("Collection")
Container = _Hint("Container")
Hashable = _Hint("Hashable")
Sized = _Hint("Sized")
Literal = _Hint("Literal")
ClassVar = _Hint("ClassVar")
Final = _Hint("Final")
Annotated = _Hint("Annotated")
Concatenate = _Hint("Concatenate")
NoReturn = _Hint("NoReturn")
Never = _Hint("Never")
Self = _Hint("Self")
Type = _Hint("Type")
TypeAlias = _Hint("TypeAlias")
TypeGuard = _Hint("TypeGuard")
ParamSpec = _Hint("ParamSpec")
Unpack = _Hint("Unpack")
Required = _Hint("Required")
NotRequired = _Hint("NotRequired")
ContextManager = _Hint("ContextManager")
SupportsFloat = _Hint("SupportsFloat")
SupportsInt = _Hint("SupportsInt")
SupportsIndex = _Hint("SupportsIndex")
Awaitable = _Hint("Awaitable")
AnyStr = _Hint("AnyStr")
Text = str
List = list
Dict = dict
Set = set
FrozenSet = frozenset
Tuple = tuple
TYPE_CHECKING = False


class Generic:
    def __class_getitem__(cls, parameters):
        return cls


class Protocol:
    def __class_getitem__(cls, parameters):
        return cls


def TypeVar(name, *constraints, bound=None, covariant=False, contravariant=False, default=None):
    return _Hint(name)


def NewType(name, supertype):
    return lambda value: value


def cast(kind, value):
    return value


def overload(function):
    return function


def final(thing):
    return thing


def override(function):
    return function


def no_type_check(thing):
    return thing


def runtime_checkable(cls):
    return cls


def get_type_hints(thing, *args, **keywords):
    return dict(getattr(thing, "__annotations__", {}))


def get_origin(hint):
    return None


def get_args(hint):
    return ()


class _NamedTupleBase:
    """`class Point(NamedTuple): x: int; y: int = 0` makes a named tuple with those fields."""

    def __call__(self, typename, fields=()):
        from collections import namedtuple
        return namedtuple(typename, [name for name, kind in fields])

    def __build_class__(self, name, bases, namespace):
        from collections import namedtuple
        fields = list(namespace.get("__annotations__", {}))
        defaults = [namespace[f] for f in fields if f in namespace]
        base = namedtuple(name, fields, defaults=defaults)
        rest = {k: v for k, v in namespace.items() if k not in fields}
        return type(name, (base,), rest)


NamedTuple = _NamedTupleBase()


class _TypedDictBase:
    def __call__(self, typename, fields=None, total=True):
        return dict

    def __build_class__(self, name, bases, namespace):
        return dict


TypedDict = _TypedDictBase()
