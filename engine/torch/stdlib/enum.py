"""enum: Enum, IntEnum, StrEnum, Flag's plain cousin IntFlag, auto, unique. Members are made when the class is."""


class auto:
    pass


def _is_member(name, value):
    if name.startswith("_"):
        return False
    return not (callable(value) and not isinstance(value, type)) and not isinstance(value, (property, staticmethod, classmethod)) and not hasattr(value, "__get__")


class Enum:
    _members = {}

    def __init_subclass__(cls, **keywords):
        members = {}
        last = 0
        for name, value in list(cls.__dict__.items()):
            if not _is_member(name, value):
                continue
            if isinstance(value, auto):
                value = cls._next_value(name, last, members)
            if isinstance(value, int):
                last = value
            for other in members.values():
                if other._value_ == value and type(other._value_) is type(value):
                    member = other
                    break
            else:
                member = cls._make(value)
                member._value_ = value
                member._name_ = name
                member._order = len(members)
                if "__init__" in cls.__dict__:
                    member.__init__(*(value if isinstance(value, tuple) else (value,)))
            members[name] = member
            setattr(cls, name, member)
        cls._members = members

    @classmethod
    def _next_value(cls, name, last, members):
        return last + 1

    @classmethod
    def _make(cls, value):
        return object.__new__(cls)

    def __new__(cls, value):
        return Enum._lookup(cls, value)

    @staticmethod
    def _lookup(cls, value):
        for member in cls._members.values():
            if member._value_ == value:
                return member
        if isinstance(value, cls):
            return value
        hook = getattr(cls, "_missing_", None)
        found = hook(value) if hook is not None else None
        if found is not None:
            return found
        raise ValueError(f"{value!r} is not a valid {cls.__qualname__}")

    def __init__(self, *value):
        pass

    def __class_getitem__(cls, name):
        return cls._members[name]

    def __class_iter__(cls):
        seen = []
        for member in cls._members.values():
            if member not in seen:
                seen.append(member)
        return iter(seen)

    def __class_len__(cls):
        return len(list(cls.__class_iter__(cls)))

    def __class_contains__(cls, value):
        return any(member is value or member._value_ == value for member in cls._members.values())

    @property
    def name(self):
        return self._name_

    @property
    def value(self):
        return self._value_

    def __hash__(self):
        return hash(self._name_)

    def __eq__(self, other):
        return self is other

    def __repr__(self):
        return f"<{type(self).__name__}.{self._name_}: {self._value_!r}>"

    def __str__(self):
        return f"{type(self).__name__}.{self._name_}"

    def __format__(self, spec):
        return format(str(self), spec)


class IntEnum(int, Enum):
    def __new__(cls, value):
        return Enum._lookup(cls, value)

    @classmethod
    def _make(cls, value):
        return int.__new__(cls, value)

    def __eq__(self, other):
        return int(self) == other

    def __hash__(self):
        return hash(int(self))

    def __str__(self):
        return str(self._value_)

    def __repr__(self):
        return f"<{type(self).__name__}.{self._name_}: {self._value_!r}>"

    def __format__(self, spec):
        return format(self._value_, spec)


class StrEnum(str, Enum):
    def __new__(cls, value):
        return Enum._lookup(cls, value)

    @classmethod
    def _make(cls, value):
        return str.__new__(cls, value)

    @classmethod
    def _next_value(cls, name, last, members):
        return name.lower()

    def __eq__(self, other):
        return self._value_ == other

    def __hash__(self):
        return hash(self._value_)

    def __str__(self):
        return self._value_

    def __repr__(self):
        return f"<{type(self).__name__}.{self._name_}: {self._value_!r}>"

    def __format__(self, spec):
        return format(self._value_, spec)


class IntFlag(IntEnum):
    @classmethod
    def _next_value(cls, name, last, members):
        return last * 2 if last else 1


def unique(cls):
    seen = {}
    for name, member in cls._members.items():
        if name != member._name_:
            raise ValueError(f"duplicate values found in {cls!r}: {name} -> {member._name_}")
    return cls
