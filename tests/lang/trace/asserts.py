def check(x):
    assert x > 0, "must be positive, not %d" % x


check(1)
check(-1)
