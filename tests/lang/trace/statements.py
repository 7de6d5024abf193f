def loop(x):
    for i in x:
        pass


def check(x):
    assert x == 2, f"got {x}"


def manage(x):
    with x as y:
        pass


for f in (loop, manage, check):
    try:
        f(5)
    except Exception as e:
        error = e
        print(type(e).__name__, e)
raise error
