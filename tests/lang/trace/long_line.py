def f(a, b):
    return a if a else (
        b["x"]
        + 1
    )
f(0, {"y": 1})
