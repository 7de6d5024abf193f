def g(x): return x[0]
def f(x): return g(x) ** 2 - g(x)
values = list(map(f, [[1], []]))
