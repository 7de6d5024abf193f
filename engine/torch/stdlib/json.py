"""json: dumps and loads (files are out of reach)."""

_escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_unescapes = {'"': '"', "\\": "\\", "/": "/", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


class JSONDecodeError(ValueError):
    pass


def _string(s, ascii_only):
    out = []
    for c in s:
        if c in _escapes:
            out.append(_escapes[c])
        elif ord(c) < 32 or (ascii_only and ord(c) > 126):
            n = ord(c)
            if n > 0xffff:
                n -= 0x10000
                out.append(f"\\u{0xd800 + (n >> 10):04x}\\u{0xdc00 + (n & 0x3ff):04x}")
            else:
                out.append(f"\\u{n:04x}")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def _number(x):
    if isinstance(x, int):
        return str(int(x))
    if x != x:
        return "NaN"
    if x in (float("inf"), float("-inf")):
        return "Infinity" if x > 0 else "-Infinity"
    return repr(float(x))


def _key(k):
    if isinstance(k, str):
        return k
    if k is None or isinstance(k, bool):
        return {None: "null", True: "true", False: "false"}[k]
    if isinstance(k, (int, float)):
        return _number(k)
    raise TypeError(f"keys must be str, int, float, bool or None, not {type(k).__name__}")


class _Writer:
    def __init__(self, indent, separators, sort_keys, default, ensure_ascii):
        self.indent = " " * indent if isinstance(indent, int) else indent
        self.comma, self.colon = separators or ("," if indent is not None else ", ", ": ")
        self.sort_keys = sort_keys
        self.default = default
        self.ascii = ensure_ascii

    def lines(self, open, parts, close, depth):
        if not parts:
            return open + close
        if self.indent is None:
            return open + self.comma.join(parts) + close
        inner = "\n" + self.indent * (depth + 1)
        return open + inner + (self.comma + inner).join(parts) + "\n" + self.indent * depth + close

    def write(self, v, depth):
        if v is None:
            return "null"
        if isinstance(v, bool):
            return "true" if v else "false"
        if isinstance(v, str):
            return _string(v, self.ascii)
        if isinstance(v, (int, float)):
            return _number(v)
        if isinstance(v, (list, tuple)):
            return self.lines("[", [self.write(item, depth + 1) for item in v], "]", depth)
        if isinstance(v, dict):
            items = sorted(v.items()) if self.sort_keys else v.items()
            return self.lines("{", [_string(_key(k), self.ascii) + self.colon + self.write(item, depth + 1) for k, item in items], "}", depth)
        if self.default is not None:
            return self.write(self.default(v), depth)
        raise TypeError(f"Object of type {type(v).__name__} is not JSON serializable")


def dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, indent=None, separators=None, default=None, sort_keys=False):
    return _Writer(indent, separators, sort_keys, default, ensure_ascii).write(obj, 0)


class _Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def fail(self, what):
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - self.text.rfind("\n", 0, self.at)
        raise JSONDecodeError(f"{what}: line {line} column {column} (char {self.at})")

    def space(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\n\r":
            self.at += 1
        return self.text[self.at] if self.at < len(self.text) else ""

    def value(self):
        c = self.space()
        if c == "{":
            return self.object()
        if c == "[":
            return self.array()
        if c == '"':
            return self.string()
        for word, v in (("null", None), ("true", True), ("false", False), ("NaN", float("nan")), ("Infinity", float("inf")), ("-Infinity", float("-inf"))):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return v
        return self.number()

    def number(self):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "+-.eE0123456789":
            self.at += 1
        text = self.text[start:self.at]
        try:
            return float(text) if any(c in text for c in ".eE") else int(text)
        except ValueError:
            self.at = start
            self.fail("Expecting value")

    def string(self):
        self.at += 1
        out = []
        while True:
            if self.at >= len(self.text):
                self.fail("Unterminated string starting at")
            c = self.text[self.at]
            self.at += 1
            if c == '"':
                return "".join(out)
            if c != "\\":
                out.append(c)
                continue
            e = self.text[self.at]
            self.at += 1
            if e == "u":
                out.append(self.unicode())
            elif e in _unescapes:
                out.append(_unescapes[e])
            else:
                self.fail("Invalid \\escape")

    def unicode(self):
        n = int(self.text[self.at:self.at + 4], 16)
        self.at += 4
        if 0xd800 <= n < 0xdc00 and self.text.startswith("\\u", self.at):
            low = int(self.text[self.at + 2:self.at + 6], 16)
            self.at += 6
            n = 0x10000 + ((n - 0xd800) << 10) + (low - 0xdc00)
        return chr(n)

    def array(self):
        self.at += 1
        items = []
        if self.space() == "]":
            self.at += 1
            return items
        while True:
            items.append(self.value())
            c = self.space()
            self.at += 1
            if c == "]":
                return items
            if c != ",":
                self.at -= 1
                self.fail("Expecting ',' delimiter")

    def object(self):
        self.at += 1
        items = {}
        if self.space() == "}":
            self.at += 1
            return items
        while True:
            if self.space() != '"':
                self.fail("Expecting property name enclosed in double quotes")
            key = self.string()
            if self.space() != ":":
                self.fail("Expecting ':' delimiter")
            self.at += 1
            items[key] = self.value()
            c = self.space()
            self.at += 1
            if c == "}":
                return items
            if c != ",":
                self.at -= 1
                self.fail("Expecting ',' delimiter")


def loads(text):
    reader = _Reader(text)
    value = reader.value()
    if reader.space():
        reader.fail("Extra data")
    return value
