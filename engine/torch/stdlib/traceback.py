"""traceback: an exception as text, in Python's form."""
import sys
from _support import format_exception as _format


def _exception(value, given):
    if isinstance(value, BaseException):
        return value
    return given


def format_exception(exc, /, value=None, tb=None, limit=None, chain=True):
    text = _format(_exception(value, exc), chain)
    return [line + "\n" for line in text.split("\n")[:-1]]


def format_exception_only(exc, /, value=None):
    error = _exception(value, exc)
    name = type(error).__qualname__
    module = type(error).__module__
    if module not in ("builtins", "__main__"):
        name = module + "." + name
    text = str(error)
    return [f"{name}: {text}\n" if text else name + "\n"]


def format_exc(limit=None, chain=True):
    error = sys.exc_info()[1]
    return "NoneType: None\n" if error is None else _format(error, chain)


def print_exception(exc, /, value=None, tb=None, limit=None, file=None, chain=True):
    print(_format(_exception(value, exc), chain), end="", file=sys.stderr if file is None else file)


def print_exc(limit=None, file=None, chain=True):
    print(format_exc(limit, chain), end="", file=sys.stderr if file is None else file)
