"""statistics: means and spreads of numbers."""
import math


class StatisticsError(ValueError):
    pass


def _items(data, least, name):
    items = list(data)
    if len(items) < least:
        raise StatisticsError(f"{name} requires at least {'one data point' if least == 1 else 'two data points'}")
    return items


def mean(data):
    items = _items(data, 1, "mean")
    total = math.fsum(items)
    value = total / len(items)
    return int(value) if all(isinstance(x, int) for x in items) and value == int(value) else value


def fmean(data):
    items = _items(data, 1, "fmean")
    return math.fsum(items) / len(items)


def median(data):
    items = sorted(_items(data, 1, "median"))
    half = len(items) // 2
    return items[half] if len(items) % 2 else (items[half - 1] + items[half]) / 2


def mode(data):
    counts = {}
    for item in _items(data, 1, "mode"):
        counts[item] = counts.get(item, 0) + 1
    return max(counts, key=counts.get)


def _squares(items):
    center = math.fsum(items) / len(items)
    return math.fsum([(x - center) ** 2 for x in items])


def variance(data, xbar=None):
    items = _items(data, 2, "variance")
    return _squares(items) / (len(items) - 1)


def pvariance(data, mu=None):
    items = _items(data, 1, "pvariance")
    return _squares(items) / len(items)


def stdev(data, xbar=None):
    return math.sqrt(variance(data))


def pstdev(data, mu=None):
    return math.sqrt(pvariance(data))
