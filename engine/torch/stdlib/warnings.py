"""warnings: warn() writes to the standard error once for each place; filters by category."""
from _support import caller, effect, stderr

_filters = []
_seen = set()


def _action(message, category):
    for action, text, kind in _filters:
        if issubclass(category, kind) and str(message).startswith(text):
            return action
    return "default" if category is not DeprecationWarning and category is not PendingDeprecationWarning and category is not ImportWarning else "ignore"


def _warn(message, category=None, stacklevel=1, source=None):
    if isinstance(message, Warning):
        category = type(message)
    elif category is None:
        category = UserWarning
    if not (isinstance(category, type) and issubclass(category, Warning)):
        raise TypeError(f"category must be a Warning subclass, not '{type(category).__name__}'")
    action = _action(message, category)
    if action == "error":
        raise message if isinstance(message, Warning) else category(message)
    file, line, text, function = caller(stacklevel)
    if _recorded:
        _recorded[-1].append(WarningMessage(message, category, file, line))
        return
    key = (str(message), category, file, line)
    if action == "ignore" or (action != "always" and key in _seen):
        return
    _seen.add(key)
    stderr(f"{file}:{line}: {category.__name__}: {message}\n  {text}\n")


warn = effect(_warn, "warnings.warn")


def simplefilter(action, category=Warning, lineno=0, append=False):
    filterwarnings(action, "", category, append=append)


def filterwarnings(action, message="", category=Warning, module="", lineno=0, append=False):
    if action not in ("default", "error", "ignore", "always", "module", "once"):
        raise AssertionError(f"invalid action: {action!r}")
    entry = (action, message.rstrip(".*"), category)
    if append:
        _filters.append(entry)
    else:
        _filters.insert(0, entry)


def resetwarnings():
    _filters.clear()


class WarningMessage:
    def __init__(self, message, category, filename, lineno):
        self.message = message if isinstance(message, Warning) else category(message)
        self.category = category
        self.filename = filename
        self.lineno = lineno


_recorded = []


class catch_warnings:
    def __init__(self, *, record=False, action=None, category=Warning):
        self._record = record
        self._first = (action, category)

    def __enter__(self):
        self._saved = list(_filters)
        if self._first[0] is not None:
            simplefilter(*self._first)
        if self._record:
            _recorded.append([])
            return _recorded[-1]

    def __exit__(self, *details):
        _filters[:] = self._saved
        if self._record:
            _recorded.pop()
