"""collections.abc: the names that isinstance and type hints use, decided by methods."""


class _Interface:
    def __init__(self, name, *methods, exclude=()):
        self._name = name
        self._methods = methods
        self._exclude = exclude

    def __instancecheck__(self, value):
        if isinstance(value, self._exclude):
            return False
        return all(hasattr(value, m) for m in self._methods)

    def __mro_entries__(self, bases):
        return ()

    def __getitem__(self, parameters):
        return self

    def __or__(self, other):
        return self

    def __repr__(self):
        return "<class 'collections.abc." + self._name + "'>"


Callable = _Interface("Callable", "__call__")
Container = _Interface("Container", "__contains__")
Hashable = _Interface("Hashable", "__hash__", exclude=(list, dict, set))
Iterable = _Interface("Iterable", "__iter__")
Iterator = _Interface("Iterator", "__iter__", "__next__")
Generator = _Interface("Generator", "send", "throw")
Sized = _Interface("Sized", "__len__")
Collection = _Interface("Collection", "__len__", "__iter__", "__contains__")
Mapping = _Interface("Mapping", "keys", "__getitem__")
MutableMapping = _Interface("MutableMapping", "keys", "__setitem__")
Sequence = _Interface("Sequence", "__getitem__", "__len__", "index")
MutableSequence = _Interface("MutableSequence", "__getitem__", "append")
Set = _Interface("Set", "isdisjoint")
MutableSet = _Interface("MutableSet", "isdisjoint", "add")
