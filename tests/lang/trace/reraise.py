def f():
    try:
        raise ValueError("first")
    except ValueError:
        raise
try:
    f()
except ValueError as e:
    e2 = e
raise e2
