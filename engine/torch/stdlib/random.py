"""random: the distributions that are not in C (module_random.c), made from its draws: Python's own numbers, by the published algorithms.

Each is written once, for a source: the module itself (one hidden generator) or a Random.
"""
import random as _shared
from math import acos as _acos, ceil as _ceil, cos as _cos, exp as _exp, fabs as _fabs, floor as _floor, lgamma as _lgamma, log as _log, log2 as _log2, pi as _pi, sqrt as _sqrt

_LOG4 = _log(4.0)
_SG_MAGICCONST = 1.0 + _log(4.5)


def _gamma(source, alpha, beta):
    if alpha <= 0.0 or beta <= 0.0:
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    if alpha > 1.0:  # Cheng 1977
        a = _sqrt(2.0 * alpha - 1.0)
        b = alpha - _LOG4
        c = alpha + a
        while True:
            u1 = source.random()
            if not 1e-7 < u1 < 0.9999999:
                continue
            u2 = 1.0 - source.random()
            v = _log(u1 / (1.0 - u1)) / a
            x = alpha * _exp(v)
            z = u1 * u1 * u2
            r = b + c * v - x
            if r + _SG_MAGICCONST - 4.5 * z >= 0.0 or r >= _log(z):
                return x * beta
    if alpha == 1.0:
        return -_log(1.0 - source.random()) * beta
    while True:  # Kennedy and Gentle 1980, algorithm GS
        b = (2.718281828459045 + alpha) / 2.718281828459045
        p = b * source.random()
        x = p ** (1.0 / alpha) if p <= 1.0 else -_log((b - p) / alpha)
        u = source.random()
        if (u <= x ** (alpha - 1.0)) if p > 1.0 else (u <= _exp(-x)):
            return x * beta


def _beta(source, alpha, beta):
    y = _gamma(source, alpha, 1.0)
    return y / (y + _gamma(source, beta, 1.0)) if y else 0.0


def _vonmises(source, mu, kappa):
    if kappa <= 1e-6:
        return 2.0 * _pi * source.random()
    s = 0.5 / kappa
    r = s + _sqrt(1.0 + s * s)
    while True:  # Best and Fisher 1979
        z = _cos(_pi * source.random())
        d = z / (r + z)
        u = source.random()
        if u < 1.0 - d * d or u <= (1.0 - d) * _exp(d):
            break
    q = 1.0 / r
    f = (q + z) / (1.0 + q * z)
    theta = _acos(f)
    return (mu + theta) % (2.0 * _pi) if source.random() > 0.5 else (mu - theta) % (2.0 * _pi)


def _pareto(source, alpha):
    return (1.0 - source.random()) ** (-1.0 / alpha)


def _weibull(source, alpha, beta):
    return alpha * (-_log(1.0 - source.random())) ** (1.0 / beta)


def _binomial(source, n, p):
    if n < 0:
        raise ValueError("n must be non-negative")
    if p <= 0.0 or p >= 1.0:
        if p == 0.0:
            return 0
        if p == 1.0:
            return n
        raise ValueError("p must be in the range 0.0 <= p <= 1.0")
    if n == 1:
        return int(source.random() < p)
    if p > 0.5:
        return n - _binomial(source, n, 1.0 - p)
    if n * p < 10.0:  # waiting times
        x = y = 0
        c = _log2(1.0 - p)
        if not c:
            return x
        while True:
            y += _floor(_log2(source.random()) / c) + 1
            if y > n:
                return x
            x += 1
    return _binomial_rejection(source, n, p)


def _binomial_rejection(source, n, p):
    """Hörmann 1993, algorithm BTRS."""
    ready = False
    spread = _sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    vr = 0.92 - 4.2 / b
    while True:
        u = source.random()
        u -= 0.5
        us = 0.5 - _fabs(u)
        k = _floor((2.0 * a / us + b) * u + c)
        if k < 0 or k > n:
            continue
        v = source.random()
        if us >= 0.07 and v <= vr:
            return k
        if not ready:
            alpha = (2.83 + 5.1 / b) * spread
            lpq = _log(p / (1.0 - p))
            m = _floor((n + 1) * p)
            h = _lgamma(m + 1) + _lgamma(n - m + 1)
            ready = True
        v *= alpha / (a / (us * us) + b)
        if _log(v) <= h - _lgamma(k + 1) - _lgamma(n - k + 1) + (k - m) * lpq:
            return k


class Random(Random):
    def gammavariate(self, alpha, beta):
        return _gamma(self, alpha, beta)

    def betavariate(self, alpha, beta):
        return _beta(self, alpha, beta)

    def vonmisesvariate(self, mu, kappa):
        return _vonmises(self, mu, kappa)

    def paretovariate(self, alpha):
        return _pareto(self, alpha)

    def weibullvariate(self, alpha, beta):
        return _weibull(self, alpha, beta)

    def binomialvariate(self, n=1, p=0.5):
        return _binomial(self, n, p)


def gammavariate(alpha, beta):
    return _gamma(_shared, alpha, beta)


def betavariate(alpha, beta):
    return _beta(_shared, alpha, beta)


def vonmisesvariate(mu, kappa):
    return _vonmises(_shared, mu, kappa)


def paretovariate(alpha):
    return _pareto(_shared, alpha)


def weibullvariate(alpha, beta):
    return _weibull(_shared, alpha, beta)


def binomialvariate(n=1, p=0.5):
    return _binomial(_shared, n, p)
