"""torch.special: other names of rows, and a few functions made of them."""
import math
import torch


def expit(input):
    return torch.sigmoid(input)


def logit(input, eps=None):
    return torch.logit(input, eps)


def erf(input):
    return torch.erf(input)


def erfc(input):
    return torch.erfc(input)


def erfinv(input):
    return torch.erfinv(input)


def exp2(input):
    return torch.exp2(input)


def expm1(input):
    return torch.expm1(input)


def log1p(input):
    return torch.log1p(input)


def gammaln(input):
    return torch.lgamma(input)


def xlogy(input, other):
    return torch.xlogy(input, other)


def xlog1py(input, other):
    product = input * torch.log1p(other)
    return torch.where(input == 0, torch.where(torch.isnan(other), math.nan, torch.zeros_like(product)), product)


def entr(input):
    """-x log x, zero at zero, -inf below it."""
    product = -input * torch.log(input)
    return torch.where(input > 0, product, torch.where(input == 0, 0.0, torch.where(torch.isnan(input), math.nan, torch.full_like(product, -math.inf))))


def ndtr(input):
    """The normal distribution's cumulative function."""
    return 0.5 * torch.erfc(-input * math.sqrt(0.5))


def sinc(input):
    return torch.sinc(input)


def round(input, *, decimals=0):
    return torch.round(input, decimals=decimals)


def softmax(input, dim, *, dtype=None):
    return torch.softmax(input, dim, dtype)


def log_softmax(input, dim, *, dtype=None):
    return torch.log_softmax(input, dim, dtype)


def logsumexp(input, dim, keepdim=False):
    return torch.logsumexp(input, dim, keepdim)


def digamma(input):
    return torch.digamma(input)


def psi(input):
    return torch.digamma(input)


def polygamma(n, input):
    return torch.polygamma(n, input)


def multigammaln(input, p):
    return torch.mvlgamma(input, p)


def i0(input):
    return torch.i0(input)


def i0e(input):
    return torch.i0(input) * torch.exp(-input.abs())


def log_ndtr(input):
    """Far below zero by the tail's series, where ndtr itself would be zero."""
    low = input < -5
    x = torch.where(low, input, -5)
    r = 1 / (x * x)
    tail = -0.5 * x * x - torch.log(-x) - 0.5 * math.log(2 * math.pi) + torch.log(1 - r * (1 - 3 * r * (1 - 5 * r * (1 - 7 * r))))
    return torch.where(low, tail, torch.log(0.5 * torch.erfc(-torch.where(low, 0, input) / math.sqrt(2))))
