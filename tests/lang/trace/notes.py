e = ValueError("first", 2)
e.add_note("a note")
e.add_note("two\nlines")
try:
    raise e
except ValueError:
    raise KeyError("k") from e
