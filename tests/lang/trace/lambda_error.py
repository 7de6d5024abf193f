f = lambda v: v["k"].real
print((lambda: f({}))())
