"""dataclasses: @dataclass makes __init__, __repr__, __eq__ and, when asked, order and hash from the annotated fields of a class."""

from _support import shown_once


class _MISSING_TYPE:
    pass


MISSING = _MISSING_TYPE()


class FrozenInstanceError(AttributeError):
    pass


class KW_ONLY:
    pass


class InitVar:
    """InitVar[int]: a parameter of __init__ that goes to __post_init__ and is no field."""

    def __init__(self, type):
        self.type = type

    def __class_getitem__(cls, type):
        return InitVar(type)

    def __repr__(self):
        return f"dataclasses.InitVar[{getattr(self.type, '__name__', self.type)}]"


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
        self.only_init = False

    def __repr__(self):
        return (f"Field(name={self.name!r},type={self.type!r},default={self.default!r},default_factory={self.default_factory!r},init={self.init!r},"
                f"repr={self.repr!r},hash={self.hash!r},compare={self.compare!r},metadata=mappingproxy({self.metadata!r}),kw_only={self.kw_only!r},"
                f"_field_type={'_FIELD_INITVAR' if self.only_init else '_FIELD'})")

    def _has_default(self):
        return self.default is not MISSING or self.default_factory is not MISSING


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=MISSING):
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def _is_class_variable(hint):
    return "ClassVar" in (hint if isinstance(hint, str) else repr(hint))


def _is_init_variable(hint):
    return isinstance(hint, InitVar) or hint is InitVar or (isinstance(hint, str) and "InitVar" in hint)


def _own_fields(cls, kw_only):
    found = []
    hints = cls.__dict__.get("__annotations__", {})
    for name, value in cls.__dict__.items():
        if isinstance(value, Field) and name not in hints:
            raise TypeError(f"{name!r} is a field but has no type annotation")
    for name, hint in hints.items():
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
        made.only_init = _is_init_variable(hint)
        if made.only_init and made.default_factory is not MISSING:
            raise TypeError(f"field {name} cannot have a default factory")
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
        if f._has_default():
            seen_default = f.name
        elif seen_default is not None:
            raise TypeError(f"non-default argument {f.name!r} follows default argument")
    label = cls.__qualname__ + ".__init__()"

    def __init__(self, /, *args, **keywords):
        if len(args) > len(positional):
            required = len([f for f in positional if not f._has_default()]) + 1
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
        for_post = []
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
            if f.only_init:
                for_post.append(value)
            else:
                object.__setattr__(self, f.name, value)
        if absent:
            kind = "positional" if not absent[0].kw_only else "keyword-only"
            names = [f.name for f in absent if f.kw_only == absent[0].kw_only]
            raise TypeError(f"{label} missing {len(names)} required {kind} argument{'s' if len(names) > 1 else ''}: {_missing_text(names)}")
        if hasattr(self, "__post_init__"):
            self.__post_init__(*for_post)

    __init__.__qualname__ = cls.__qualname__ + ".__init__"
    return __init__


def _values(self, names):
    return tuple(getattr(self, n) for n in names)


def _add_repr(cls, names):
    def __repr__(self):
        return shown_once(self, lambda: self.__class__.__qualname__ + "(" + ", ".join([f"{n}={getattr(self, n)!r}" for n in names]) + ")")

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

    operations = {"__lt__": lambda a, b: a < b, "__le__": lambda a, b: a <= b, "__gt__": lambda a, b: a > b, "__ge__": lambda a, b: a >= b}
    for name, operation in operations.items():
        if name in cls.__dict__:
            raise TypeError(f"Cannot overwrite attribute {name} in class {cls.__name__}. Consider using functools.total_ordering")
        setattr(cls, name, compare(operation))


def _freeze(cls, names):
    def __setattr__(self, name, value):
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self, name):
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    for method in (__setattr__, __delattr__):
        if method.__name__ in cls.__dict__:
            raise TypeError(f"Cannot overwrite attribute {method.__name__} in class {cls.__name__}")
        setattr(cls, method.__name__, method)


def _check_bases(cls, frozen):
    for base in cls.__mro__[1:]:
        params = base.__dict__.get("__dataclass_frozen__")
        if params is not None and params != frozen:
            raise TypeError("cannot inherit frozen dataclass from a non-frozen one" if frozen else "cannot inherit non-frozen dataclass from a frozen one")


def _signature_text(by_name):
    parts = []
    star = False
    for f in sorted((f for f in by_name.values() if f.init), key=lambda f: f.kw_only):
        if f.kw_only and not star:
            star = True
            parts.append("*")
        hint = f.type if isinstance(f.type, str) else getattr(f.type, "__name__", None) or repr(f.type)
        text = f"{f.name}: {hint!r}" if isinstance(f.type, str) else f"{f.name}: {hint}"
        if f.default is not MISSING:
            text += f" = {f.default!r}"
        elif f.default_factory is not MISSING:
            text += " = <factory>"
        parts.append(text)
    return ", ".join(parts)


def _process(cls, init, repr, eq, order, unsafe_hash, frozen, kw_only, slots):
    if order and not eq:
        raise ValueError("eq must be true if order is true")
    _check_bases(cls, frozen)
    all_names = _all_fields(cls, kw_only)
    cls.__dataclass_fields__ = all_names
    cls.__dataclass_frozen__ = frozen
    by_name = {name: f for name, f in all_names.items() if not f.only_init}
    compared = [f.name for f in by_name.values() if f.compare]
    hashed = [f.name for f in by_name.values() if (f.compare if f.hash is None else f.hash)]
    own = cls.__dict__
    if init and "__init__" not in own:
        cls.__init__ = _make_init(cls, all_names)
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
    if not getattr(cls, "__doc__", None):
        cls.__doc__ = f"{cls.__name__}({_signature_text(all_names)})"
    cls.__match_args__ = tuple(f.name for f in all_names.values() if f.init and not f.kw_only)
    if slots:
        if "__slots__" in own:
            raise TypeError(f"{cls.__name__} already specifies __slots__")
        inherited = [name for base in cls.__mro__[1:] for name in getattr(base, "__slots__", ())]
        cls.__slots__ = tuple(name for name in by_name if name not in inherited)
    return cls


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False, match_args=True, kw_only=False, slots=False, weakref_slot=False):
    def wrap(c):
        return _process(c, init, repr, eq, order, unsafe_hash, frozen, kw_only, slots)

    return wrap if cls is None else wrap(cls)


def is_dataclass(thing):
    return hasattr(thing if isinstance(thing, type) else type(thing), "__dataclass_fields__")


def fields(thing):
    if not is_dataclass(thing):
        raise TypeError("must be called with a dataclass type or instance")
    return tuple(f for f in thing.__dataclass_fields__.values() if not f.only_init)


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
        if not f.init and f.name in changes:
            raise ValueError(f"field {f.name} is declared with init=False, it cannot be specified with replace()")
        if f.init:
            values[f.name] = changes.pop(f.name) if f.name in changes else getattr(instance, f.name)
    for f in instance.__dataclass_fields__.values():
        if f.only_init and f.name not in changes and f.default is MISSING:
            raise ValueError(f"InitVar {f.name!r} must be specified with replace()")
    return type(instance)(**values, **changes)


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
