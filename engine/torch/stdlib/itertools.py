"""itertools: those that are not in C (module_itertools.c), as generators."""


def groupby(iterable, key=None):
    group, group_key, started = [], None, False
    for item in iterable:
        k = item if key is None else key(item)
        if started and k == group_key:
            group.append(item)
            continue
        if started:
            yield group_key, iter(group)
        group, group_key, started = [item], k, True
    if started:
        yield group_key, iter(group)


def _tee_reader(source, waiting, mine):
    while True:
        if not mine:
            try:
                item = next(source)
            except StopIteration:
                return
            for queue in waiting:
                queue.append(item)
        yield mine.pop(0)


def tee(iterable, n=2):
    if n < 0:
        raise ValueError("n must be >= 0")
    source = iter(iterable)
    waiting = [[] for _ in range(n)]
    return tuple(_tee_reader(source, waiting, mine) for mine in waiting)


def compress(data, selectors):
    return (d for d, s in zip(data, selectors) if s)


def filterfalse(function, iterable):
    return (item for item in iterable if not (function(item) if function is not None else item))


def pairwise(iterable):
    iterator = iter(iterable)
    for previous in iterator:
        break
    else:
        return
    for item in iterator:
        yield previous, item
        previous = item


def batched(iterable, n):
    if n < 1:
        raise ValueError("n must be at least one")
    batch = []
    for item in iterable:
        batch.append(item)
        if len(batch) == n:
            yield tuple(batch)
            batch = []
    if batch:
        yield tuple(batch)


def combinations_with_replacement(iterable, r):
    pool = tuple(iterable)
    n = len(pool)
    if not n and r:
        return
    places = [0] * r
    yield tuple(pool[i] for i in places)
    while True:
        for i in reversed(range(r)):
            if places[i] != n - 1:
                break
        else:
            return
        places[i:] = [places[i] + 1] * (r - i)
        yield tuple(pool[i] for i in places)
