"""dataclasses: @dataclass makes __init__, __repr__, __eq__ and, when asked, order and hash from the annotated fields of a class."""

MISSING = type("_MISSING_TYPE", (), {"__repr__": lambda self: "MISSING"})()
_HAS_DEFAULT_FACTORY = MISSING


class FrozenInstanceError(AttributeError):
    pass


class KW_ONLY:
    pass


class Field:
    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        self.name = None
        self.type = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.metadata = metadata or {}
        self.kw_only = kw_only

    def __repr__(self):
        return f"Field(name={self.name!r},type={self.type!r},default={self.default!r})"


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=MISSING):
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def _is_class_variable(hint):
    return "ClassVar" in (hint if isinstance(hint, str) else repr(hint))


def _own_fields(cls, kw_only):
    found = []
    for name, hint in cls.__dict__.get("__annotations__", {}).items():
        if hint is KW_ONLY or (isinstance(hint, str) and hint.endswith("KW_ONLY")):
            kw_only = True
            continue
        if _is_class_variable(hint):
            continue
        default = cls.__dict__.get(name, MISSING)
        if isinstance(default, Field):
            made = default
            if made.default is not MISSING:
                setattr(cls, name, made.default)
            else:
                delattr(cls, name)
        else:
            if isinstance(default, (list, dict, set)):
                raise ValueError(f"mutable default {type(default)} for field {name} is not allowed: use default_factory")
            made = field(default=default)
        made.name = name
        made.type = hint
        if made.kw_only is MISSING:
            made.kw_only = kw_only
        found.append(made)
    return found


def _all_fields(cls, kw_only):
    by_name = {}
    for base in reversed(cls.__mro__[1:]):
        for f in base.__dict__.get("__dataclass_fields__", {}).values():
            by_name[f.name] = f
    for f in _own_fields(cls, kw_only):
        by_name[f.name] = f
    return by_name


def _missing_text(names):
    quoted = [f"'{n}'" for n in names]
    if len(quoted) > 2:
        return ", ".join(quoted[:-1]) + ", and " + quoted[-1]
    return " and ".join(quoted)


def _make_init(cls, by_name):
    fields_in_order = list(by_name.values())
    positional = [f for f in fields_in_order if f.init and not f.kw_only]
    known = {f.name for f in fields_in_order if f.init}
    seen_default = None
    for f in positional:
        if f.default is not MISSING or f.default_factory is not MISSING:
            seen_default = f.name
        elif seen_default is not None:
            raise TypeError(f"non-default argument {f.name!r} follows default argument {seen_default!r}")
    label = cls.__qualname__ + ".__init__()"

    def __init__(self, /, *args, **keywords):
        if len(args) > len(positional):
            required = len([f for f in positional if f.default is MISSING and f.default_factory is MISSING]) + 1
            most = len(positional) + 1
            takes = f"{most} positional argument{'s' if most != 1 else ''}" if required == most else f"from {required} to {most} positional arguments"
            raise TypeError(f"{label} takes {takes} but {len(args) + 1} were given")
        given = {}
        for f, value in zip(positional, args):
            given[f.name] = value
        for name, value in keywords.items():
            if name in given:
                raise TypeError(f"{label} got multiple values for argument '{name}'")
            if name not in known:
                raise TypeError(f"{label} got an unexpected keyword argument '{name}'")
            given[name] = value
        absent = []
        for f in fields_in_order:
            if f.name in given:
                value = given[f.name]
            elif f.default is not MISSING:
                value = f.default
            elif f.default_factory is not MISSING:
                value = f.default_factory()
            elif f.init:
                absent.append(f)
                continue
            else:
                continue
            object.__setattr__(self, f.name, value)
        if absent:
            kind = "positional" if not absent[0].kw_only else "keyword-only"
            names = [f.name for f in absent if f.kw_only == absent[0].kw_only]
            raise TypeError(f"{label} missing {len(names)} required {kind} argument{'s' if len(names) > 1 else ''}: {_missing_text(names)}")
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    __init__.__qualname__ = cls.__qualname__ + ".__init__"
    return __init__


def _values(self, names):
    return tuple(getattr(self, n) for n in names)


def _add_repr(cls, names):
    def __repr__(self):
        return self.__class__.__qualname__ + "(" + ", ".join(f"{n}={getattr(self, n)!r}" for n in names) + ")"

    cls.__repr__ = __repr__


def _add_eq(cls, names):
    def __eq__(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _values(self, names) == _values(other, names)

    cls.__eq__ = __eq__


def _add_order(cls, names):
    def compare(operation):
        def method(self, other):
            if other.__class__ is not self.__class__:
                return NotImplemented
            return operation(_values(self, names), _values(other, names))

        return method

    cls.__lt__ = compare(lambda a, b: a < b)
    cls.__le__ = compare(lambda a, b: a <= b)
    cls.__gt__ = compare(lambda a, b: a > b)
    cls.__ge__ = compare(lambda a, b: a >= b)


def _freeze(cls, names):
    def __setattr__(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    cls.__setattr__ = __setattr__
    cls.__delattr__ = __delattr__


def _process(cls, init, repr, eq, order, unsafe_hash, frozen, kw_only):
    by_name = _all_fields(cls, kw_only)
    cls.__dataclass_fields__ = by_name
    compared = [f.name for f in by_name.values() if f.compare]
    hashed = [f.name for f in by_name.values() if (f.compare if f.hash is None else f.hash)]
    own = cls.__dict__
    if init and "__init__" not in own:
        cls.__init__ = _make_init(cls, by_name)
    if repr and "__repr__" not in own:
        _add_repr(cls, [f.name for f in by_name.values() if f.repr])
    own_hash = "__hash__" in own
    if eq and "__eq__" not in own:
        _add_eq(cls, compared)
    if order:
        _add_order(cls, compared)
    if unsafe_hash or (eq and frozen and not own_hash):
        cls.__hash__ = lambda self: hash(_values(self, hashed))
    elif eq and not frozen and not own_hash:
        cls.__hash__ = None
    if frozen:
        _freeze(cls, list(by_name))
    cls.__match_args__ = tuple(f.name for f in by_name.values() if f.init and not f.kw_only)
    return cls


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False, match_args=True, kw_only=False, slots=False, weakref_slot=False):
    def wrap(c):
        return _process(c, init, repr, eq, order, unsafe_hash, frozen, kw_only)

    return wrap if cls is None else wrap(cls)


def is_dataclass(thing):
    return hasattr(thing if isinstance(thing, type) else type(thing), "__dataclass_fields__")


def fields(thing):
    if not is_dataclass(thing):
        raise TypeError("must be called with a dataclass type or instance")
    return tuple(thing.__dataclass_fields__.values())


def _convert(value, factory):
    if is_dataclass(value) and not isinstance(value, type):
        return factory([(f.name, _convert(getattr(value, f.name), factory)) for f in fields(value)])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_convert(v, factory) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)([_convert(v, factory) for v in value])
    if isinstance(value, dict):
        return {_convert(k, factory): _convert(v, factory) for k, v in value.items()}
    return value


def asdict(instance, *, dict_factory=dict):
    if not is_dataclass(instance) or isinstance(instance, type):
        raise TypeError("asdict() should be called on dataclass instances")
    return _convert(instance, dict_factory)


def astuple(instance, *, tuple_factory=tuple):
    return _convert(instance, lambda pairs: tuple_factory([v for _, v in pairs]))


def replace(instance, /, **changes):
    values = {}
    for f in fields(instance):
        if f.init:
            values[f.name] = changes.pop(f.name) if f.name in changes else getattr(instance, f.name)
    if changes:
        raise TypeError(f"{type(instance).__qualname__}.__init__() got an unexpected keyword argument '{next(iter(changes))}'")
    return type(instance)(**values)


def make_dataclass(name, field_list, *, bases=(), namespace=None, **options):
    names = dict(namespace or {})
    hints = {}
    for item in field_list:
        if isinstance(item, str):
            hints[item] = object
        else:
            hints[item[0]] = item[1]
            if len(item) == 3:
                names[item[0]] = item[2]
    names["__annotations__"] = hints
    return dataclass(type(name, bases, names), **options)
