"""logging: loggers by name, levels, basicConfig, stream handlers and %-style formatters. What is logged goes to the standard error."""
import sys
import time
from _support import format_exception, caller, effect

CRITICAL = FATAL = 50
ERROR = 40
WARNING = WARN = 30
INFO = 20
DEBUG = 10
NOTSET = 0

_names = {50: "CRITICAL", 40: "ERROR", 30: "WARNING", 20: "INFO", 10: "DEBUG", 0: "NOTSET"}
BASIC_FORMAT = "%(levelname)s:%(name)s:%(message)s"
_disabled = [0]


def getLevelName(level):
    if isinstance(level, str):
        for number, name in _names.items():
            if name == level:
                return number
        return "Level " + level
    return _names.get(level, f"Level {level}")


def addLevelName(level, name):
    _names[level] = name


def _level(level):
    if isinstance(level, str):
        number = getLevelName(level)
        if not isinstance(number, int):
            raise ValueError(f"Unknown level: {level!r}")
        return number
    if not isinstance(level, int):
        raise TypeError(f"Level not an integer or a valid string: {level!r}")
    return level


class LogRecord:
    def __init__(self, name, level, msg, args, place, exc_info=None):
        self.name = name
        self.msg = msg
        self.args = args
        self.levelno = level
        self.levelname = getLevelName(level)
        self.pathname, self.lineno, _, self.funcName = place
        self.filename = self.pathname.rsplit("/", 1)[-1]
        self.module = self.filename.removesuffix(".py")
        self.created = time.time()
        self.msecs = self.created % 1 * 1000
        self.process = 1
        self.thread = 1
        self.processName = "MainProcess"
        self.threadName = "MainThread"
        self.exc_info = exc_info

    def getMessage(self):
        text = str(self.msg)
        return text % self.args if self.args else text


class Formatter:
    def __init__(self, fmt=None, datefmt=None, style="%"):
        if style != "%" and style != "{":
            raise ValueError("only % and { styles of format are supported")
        self._fmt = fmt or ("%(message)s" if style == "%" else "{message}")
        self._style = style
        self.datefmt = datefmt

    def formatTime(self, record, datefmt=None):
        if datefmt:
            return time.strftime(datefmt)
        return time.strftime("%Y-%m-%d %H:%M:%S") + f",{int(record.msecs):03d}"

    def format(self, record):
        fields = dict(record.__dict__)
        fields["message"] = record.getMessage()
        fields["asctime"] = self.formatTime(record, self.datefmt) if "asctime" in self._fmt else ""
        text = self._fmt % fields if self._style == "%" else self._fmt.format(**fields)
        error = record.exc_info
        if error is not None:
            text = text.rstrip("\n") + "\n" + format_exception(error, True).rstrip("\n")
        return text


_plain = Formatter()


class Handler:
    def __init__(self, level=NOTSET):
        self.level = _level(level)
        self.formatter = None
        self.filters = []

    def setLevel(self, level):
        self.level = _level(level)

    def setFormatter(self, formatter):
        self.formatter = formatter

    def addFilter(self, filter):
        self.filters.append(filter)

    def format(self, record):
        return (self.formatter or _plain).format(record)

    def handle(self, record):
        if record.levelno >= self.level and all(_passes(f, record) for f in self.filters):
            self.emit(record)

    def emit(self, record):
        raise NotImplementedError("emit must be implemented by Handler subclasses")

    def flush(self):
        pass

    def close(self):
        pass


def _passes(filter, record):
    return filter.filter(record) if hasattr(filter, "filter") else filter(record)


class StreamHandler(Handler):
    def __init__(self, stream=None):
        super().__init__()
        self.stream = sys.stderr if stream is None else stream
        self.terminator = "\n"

    def emit(self, record):
        self.stream.write(self.format(record) + self.terminator)


class NullHandler(Handler):
    def emit(self, record):
        pass


class Filter:
    def __init__(self, name=""):
        self.name = name

    def filter(self, record):
        return not self.name or record.name == self.name or record.name.startswith(self.name + ".")


_last_resort = StreamHandler()
_last_resort.setLevel(WARNING)


class Logger:
    """Its logging methods are effects: a compiled function stops before one and goes on after it."""

    def __init__(self, name, level=NOTSET):
        self.name = name
        self.level = _level(level)
        self.parent = None
        self.propagate = True
        self.handlers = []
        self.filters = []
        self.disabled = False
        for method in ("debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"):
            self.__dict__[method] = effect(getattr(self, "_" + method), "logging.Logger." + method)

    def _debug(self, msg, *args, **keywords):
        self._log(DEBUG, msg, *args, **keywords)

    def _info(self, msg, *args, **keywords):
        self._log(INFO, msg, *args, **keywords)

    def _warning(self, msg, *args, **keywords):
        self._log(WARNING, msg, *args, **keywords)

    def _error(self, msg, *args, **keywords):
        self._log(ERROR, msg, *args, **keywords)

    def _exception(self, msg, *args, exc_info=True, **keywords):
        self._log(ERROR, msg, *args, exc_info=exc_info, **keywords)

    def _critical(self, msg, *args, **keywords):
        self._log(CRITICAL, msg, *args, **keywords)

    _warn = _warning
    _fatal = _critical

    def _log(self, level, msg, *args, exc_info=None, extra=None, stack_info=False, stacklevel=1):
        if not isinstance(level, int):
            raise TypeError("level must be an integer")
        if not self.isEnabledFor(level):
            return
        if exc_info is True:
            exc_info = sys.exc_info()[1]
        if len(args) == 1 and isinstance(args[0], dict) and args[0]:
            args = args[0]
        record = LogRecord(self.name, level, msg, args, caller(stacklevel), exc_info or None)
        for name, value in (extra or {}).items():
            setattr(record, name, value)
        self.handle(record)

    def handle(self, record):
        if self.disabled or not all(_passes(f, record) for f in self.filters):
            return
        logger, found = self, False
        while logger is not None:
            for handler in logger.handlers:
                found = True
                handler.handle(record)
            logger = logger.parent if logger.propagate else None
        if not found:
            _last_resort.handle(record)

    def setLevel(self, level):
        self.level = _level(level)

    def getEffectiveLevel(self):
        logger = self
        while logger is not None:
            if logger.level:
                return logger.level
            logger = logger.parent
        return NOTSET

    def isEnabledFor(self, level):
        return level > _disabled[0] and level >= self.getEffectiveLevel()

    def addHandler(self, handler):
        if handler not in self.handlers:
            self.handlers.append(handler)

    def removeHandler(self, handler):
        if handler in self.handlers:
            self.handlers.remove(handler)

    def hasHandlers(self):
        logger = self
        while logger is not None:
            if logger.handlers:
                return True
            logger = logger.parent if logger.propagate else None
        return False

    def addFilter(self, filter):
        self.filters.append(filter)

    def getChild(self, suffix):
        return getLogger(suffix if self is root else self.name + "." + suffix)

    def __repr__(self):
        return f"<Logger {self.name} ({getLevelName(self.getEffectiveLevel())})>"


class _RootLogger(Logger):
    def __repr__(self):
        return f"<RootLogger {self.name} ({getLevelName(self.getEffectiveLevel())})>"


root = _RootLogger("root", WARNING)
_loggers = {}


def getLogger(name=None):
    if not name or name == "root":
        return root
    if name in _loggers:
        return _loggers[name]
    logger = Logger(name)
    parent = root
    for other in _loggers:
        if name.startswith(other + ".") and len(other) > len(parent.name if parent is not root else ""):
            parent = _loggers[other]
    logger.parent = parent
    for other, child in _loggers.items():
        if other.startswith(name + ".") and (child.parent is parent):
            child.parent = logger
    _loggers[name] = logger
    return logger


def basicConfig(*, level=None, format=None, datefmt=None, style="%", stream=None, handlers=None, force=False, filename=None, filemode=None, encoding=None, errors=None):
    if filename is not None:
        raise NotImplementedError("logging to a file is not supported: a program cannot write files")
    if force:
        root.handlers.clear()
    if not root.handlers:
        if handlers is None:
            handlers = [StreamHandler(stream)]
        formatter = Formatter(format or BASIC_FORMAT, datefmt, style)
        for handler in handlers:
            if handler.formatter is None:
                handler.setFormatter(formatter)
            root.addHandler(handler)
    if level is not None:
        root.setLevel(level)


def disable(level=CRITICAL):
    _disabled[0] = _level(level)


def _by_root(method):
    def log(*args, **keywords):
        if not root.handlers:
            basicConfig()
        getattr(root, "_" + method)(*args, **keywords)

    return effect(log, "logging." + method)


debug = _by_root("debug")
info = _by_root("info")
warning = _by_root("warning")
warn = _by_root("warn")
error = _by_root("error")
exception = _by_root("exception")
critical = _by_root("critical")
fatal = _by_root("fatal")
log = _by_root("log")


def getLoggerClass():
    return Logger


def captureWarnings(capture):
    pass
