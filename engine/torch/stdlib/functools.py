"""functools: reduce, partial, wraps, lru_cache, cached_property, total_ordering, cmp_to_key, singledispatch."""

WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__")
WRAPPER_UPDATES = ("__dict__",)

_absent = object()


def reduce(function, iterable, initial=_absent):
    try:
        iterator = iter(iterable)
    except TypeError:
        raise TypeError("reduce() arg 2 must support iteration") from None
    if initial is _absent:
        try:
            total = next(iterator)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    else:
        total = initial
    for item in iterator:
        total = function(total, item)
    return total


class partial:
    def __init__(self, func, /, *args, **keywords):
        if not callable(func):
            raise TypeError("the first argument must be callable")
        if isinstance(func, partial):
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, /, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})

    def __repr__(self):
        parts = [repr(self.func)]
        parts.extend(repr(a) for a in self.args)
        parts.extend(f"{k}={v!r}" for k, v in self.keywords.items())
        return "functools.partial(" + ", ".join(parts) + ")"


class partialmethod:
    def __init__(self, func, /, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __get__(self, instance, owner=None):
        function = self.func
        if hasattr(function, "__get__"):
            function = function.__get__(instance, owner)
            return partial(function, *self.args, **self.keywords)
        if instance is None:
            return partial(function, *self.args, **self.keywords)
        return partial(function, instance, *self.args, **self.keywords)


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    for name in assigned:
        if hasattr(wrapped, name):
            setattr(wrapper, name, getattr(wrapped, name))
    for name in updated:
        getattr(wrapper, name).update(getattr(wrapped, name, {}))
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    return partial(update_wrapper, wrapped=wrapped, assigned=assigned, updated=updated)


class _CacheInfo:
    def __init__(self, hits, misses, maxsize, currsize):
        self.hits = hits
        self.misses = misses
        self.maxsize = maxsize
        self.currsize = currsize

    def __repr__(self):
        return f"CacheInfo(hits={self.hits}, misses={self.misses}, maxsize={self.maxsize}, currsize={self.currsize})"


class _Cached:
    """A function with its results by arguments, the least recently used ones dropped first."""

    def __init__(self, function, maxsize, typed):
        update_wrapper(self, function)
        self._function = function
        self._maxsize = maxsize
        self._typed = typed
        self._results = {}
        self._hits = 0
        self._misses = 0

    def __call__(self, *args, **keywords):
        key = (args, tuple(keywords.items()))
        if self._typed:
            key += (tuple(type(a) for a in args), tuple(type(v) for v in keywords.values()))
        results = self._results
        if key in results:
            self._hits += 1
            if self._maxsize is not None:
                results[key] = results.pop(key)
            return results[key]
        self._misses += 1
        value = self._function(*args, **keywords)
        if self._maxsize != 0:
            if self._maxsize is not None and len(results) >= self._maxsize:
                del results[next(iter(results))]
            results[key] = value
        return value

    def __get__(self, instance, owner=None):
        return self if instance is None else partial(self, instance)

    def cache_info(self):
        return _CacheInfo(self._hits, self._misses, self._maxsize, len(self._results))

    def cache_clear(self):
        self._results.clear()
        self._hits = self._misses = 0


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return _Cached(maxsize, 128, typed)
    return lambda function: _Cached(function, maxsize, typed)


def cache(function):
    return _Cached(function, None, False)


class cached_property:
    def __init__(self, function):
        self.func = function
        self.attrname = None
        self.__doc__ = function.__doc__

    def __set_name__(self, owner, name):
        self.attrname = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = self.func(instance)
        instance.__dict__[self.attrname] = value
        return value


def total_ordering(cls):
    def lt_from_gt(self, other):
        return not (self > other) and self != other

    def lt_from_le(self, other):
        return self <= other and self != other

    def lt_from_ge(self, other):
        return not self >= other

    has = [name for name in ("__lt__", "__le__", "__gt__", "__ge__") if name in cls.__dict__]
    if not has:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    if "__lt__" not in has:
        cls.__lt__ = lt_from_le if "__le__" in has else lt_from_ge if "__ge__" in has else lt_from_gt
    if "__gt__" not in has:
        cls.__gt__ = lambda self, other: not self.__lt__(other) and self != other
    if "__le__" not in has:
        cls.__le__ = lambda self, other: self.__lt__(other) or self == other
    if "__ge__" not in has:
        cls.__ge__ = lambda self, other: not self.__lt__(other)
    return cls


def cmp_to_key(compare):
    class Key:
        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return compare(self.obj, other.obj) < 0

        def __gt__(self, other):
            return compare(self.obj, other.obj) > 0

        def __eq__(self, other):
            return compare(self.obj, other.obj) == 0

        def __le__(self, other):
            return compare(self.obj, other.obj) <= 0

        def __ge__(self, other):
            return compare(self.obj, other.obj) >= 0

    return Key


class singledispatchmethod:
    def __init__(self, function):
        self.dispatcher = singledispatch(function)
        self.func = function

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, method)

    def __get__(self, instance, owner=None):
        def method(*args, **keywords):
            return self.dispatcher.dispatch(type(args[0]))(instance, *args, **keywords)

        return method


def singledispatch(function):
    registry = {object: function}

    def dispatch(cls):
        for base in cls.__mro__:
            if base in registry:
                return registry[base]
        return function

    def register(cls, implementation=None):
        if not isinstance(cls, type):
            raise TypeError(f"Invalid first argument to `register()`: {cls!r}. Give the class, register(int): type hints of parameters are not kept")
        if implementation is None:
            return lambda f: register(cls, f)
        registry[cls] = implementation
        return implementation

    def wrapper(*args, **keywords):
        if not args:
            raise TypeError(f"{function.__name__} requires at least 1 positional argument")
        return dispatch(type(args[0]))(*args, **keywords)

    wrapper.register = register
    wrapper.dispatch = dispatch
    wrapper.registry = registry
    update_wrapper(wrapper, function)
    return wrapper
