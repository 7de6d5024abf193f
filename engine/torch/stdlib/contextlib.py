"""contextlib: contextmanager, closing, nullcontext, suppress, redirect_stdout, redirect_stderr, ExitStack, ContextDecorator."""
import sys
from functools import wraps


class AbstractContextManager:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return None


class ContextDecorator:
    def _recreate_cm(self):
        return self

    def __call__(self, function):
        @wraps(function)
        def inner(*args, **keywords):
            with self._recreate_cm():
                return function(*args, **keywords)

        return inner


class _GeneratorContextManager(ContextDecorator, AbstractContextManager):
    def __init__(self, function, args, keywords):
        self.gen = function(*args, **keywords)
        self.func = function
        self.args = args
        self.kwds = keywords

    def _recreate_cm(self):
        return self.__class__(self.func, self.args, self.kwds)

    def __enter__(self):
        try:
            return next(self.gen)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, kind, error, traceback):
        if kind is None:
            try:
                next(self.gen)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        if error is None:
            error = kind()
        try:
            self.gen.throw(error)
        except StopIteration as stop:
            return stop is not error
        except RuntimeError as other:
            if other is error:
                return False
            if isinstance(error, StopIteration) and other.__cause__ is error:
                return False
            raise
        except BaseException as other:
            if other is not error:
                raise
            return False
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(function):
    @wraps(function)
    def helper(*args, **keywords):
        return _GeneratorContextManager(function, args, keywords)

    return helper


class closing(AbstractContextManager):
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *details):
        self.thing.close()


class nullcontext(AbstractContextManager):
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, *details):
        pass


class suppress(AbstractContextManager):
    def __init__(self, *exceptions):
        self._exceptions = exceptions

    def __enter__(self):
        pass

    def __exit__(self, kind, error, traceback):
        return kind is not None and issubclass(kind, self._exceptions)


class _Redirect(AbstractContextManager):
    def __init__(self, new_target):
        self._new_target = new_target
        self._old_targets = []

    def __enter__(self):
        self._old_targets.append(getattr(sys, self._stream))
        setattr(sys, self._stream, self._new_target)
        return self._new_target

    def __exit__(self, kind, error, traceback):
        setattr(sys, self._stream, self._old_targets.pop())


class redirect_stdout(_Redirect):
    _stream = "stdout"


class redirect_stderr(_Redirect):
    _stream = "stderr"


class ExitStack(AbstractContextManager):
    def __init__(self):
        self._callbacks = []

    def enter_context(self, manager):
        value = manager.__enter__()
        self._callbacks.append(manager.__exit__)
        return value

    def push(self, exit_or_manager):
        self._callbacks.append(exit_or_manager.__exit__ if hasattr(exit_or_manager, "__exit__") else exit_or_manager)
        return exit_or_manager

    def callback(self, function, /, *args, **keywords):
        def run(kind, error, traceback):
            function(*args, **keywords)

        self._callbacks.append(run)
        return function

    def pop_all(self):
        other = type(self)()
        other._callbacks = self._callbacks
        self._callbacks = []
        return other

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, kind, error, traceback):
        received = kind is not None
        suppressed = False
        pending = False
        while self._callbacks:
            callback = self._callbacks.pop()
            try:
                if callback(kind, error, traceback):
                    suppressed = True
                    pending = False
                    kind = error = traceback = None
            except BaseException as new:
                kind, error, traceback = type(new), new, None
                pending = True
        if pending:
            raise error
        return received and suppressed
