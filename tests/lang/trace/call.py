def outer(*args, **kwargs):
    return inner(args[0],
                 scale=kwargs["scale"])


def inner(x, scale):
    return x.upper() * scale


outer(3, scale=2)
