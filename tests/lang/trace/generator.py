def numbers():
    yield 1
    yield 1 / 0


def total(items):
    return sum(items)


print(total(numbers()))
