"""io: StringIO, a text in memory. (A program has no files.)"""


class StringIO:
    def __init__(self, initial_value="", newline="\n"):
        self._text = initial_value
        self._at = 0
        self.closed = False

    def _check(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def write(self, text):
        self._check()
        if not isinstance(text, str):
            raise TypeError(f"string argument expected, got '{type(text).__name__}'")
        if self._at == len(self._text):
            self._text += text
        else:
            self._text = self._text[:self._at].ljust(self._at, "\0") + text + self._text[self._at + len(text):]
        self._at += len(text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def getvalue(self):
        self._check()
        return self._text

    def read(self, size=-1):
        self._check()
        end = len(self._text) if size is None or size < 0 else self._at + size
        piece = self._text[self._at:end]
        self._at += len(piece)
        return piece

    def readline(self, size=-1):
        self._check()
        end = self._text.find("\n", self._at) + 1 or len(self._text)
        if size is not None and 0 <= size < end - self._at:
            end = self._at + size
        return self.read(max(end - self._at, 0))

    def readlines(self, hint=-1):
        return list(self)

    def seek(self, offset, whence=0):
        self._check()
        self._at = offset if whence == 0 else self._at if whence == 1 else len(self._text)
        return self._at

    def tell(self):
        self._check()
        return self._at

    def truncate(self, size=None):
        self._check()
        self._text = self._text[:self._at if size is None else size]
        return self._at if size is None else size

    def flush(self):
        self._check()

    def isatty(self):
        return False

    def readable(self):
        return True

    def writable(self):
        return True

    def seekable(self):
        return True

    def close(self):
        self.closed = True

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, *details):
        self.close()
