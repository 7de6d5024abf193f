try:
    {}["a"]
except KeyError:
    raise TypeError("clean") from None
