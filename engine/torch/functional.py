"""Functions of torch that are made of rows: torch.softmax, torch.layer_norm, torch.cdist …

Each function here is a leaf: Dynamo records a call of it as one node, and its body is expanded when the joint graph is built. `aten.NAME` is
the op row NAME (op/ops.def). Those named in METHODS are methods of tensors, too. The classes imported here (no_grad, autocast …)
are names of torch, too. To add one: a function; nothing else.
"""
import math
import torch
from torch.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from torch.amp import autocast
from torch.decompositions.shapes import size_of as _size_of
from torch.recurrent import gru, gru_cell, lstm, lstm_cell, rnn_relu, rnn_relu_cell, rnn_tanh, rnn_tanh_cell

aten = torch.ops.aten

METHODS = (
    "softmax", "log_softmax", "true_divide", "divide", "multiply", "subtract", "negative", "absolute", "nanmean", "cross",
    "kron", "float_power", "quantile", "histc", "cov", "corrcoef", "vecdot",
    "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "positive", "matrix_power", "argwhere", "renorm", "addr",
    "unique_consecutive")


# ---- softmax and normalization ----

def softmax(input, dim, dtype=None):
    return aten._softmax(input if dtype is None else input.to(dtype), dim, False)


def log_softmax(input, dim, dtype=None):
    return aten._log_softmax(input if dtype is None else input.to(dtype), dim, False)


def _normalized_shape(input, normalized_shape):
    """The shape as a list, which must be that of the input's last dims."""
    shape, sizes = list(normalized_shape), list(input.shape)
    if len(shape) > len(sizes) or sizes[len(sizes) - len(shape):] != shape:
        expected = ", ".join([str(n) for n in shape])
        raise RuntimeError(f"Given normalized_shape={shape}, expected input with shape [*, {expected}], but got input of size{sizes}")
    return shape


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    # The usual call in one comparison: on a card it is most of what the host does.
    if input.shape[-len(normalized_shape):] != tuple(normalized_shape):
        normalized_shape = _normalized_shape(input, normalized_shape)
    return aten.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


def rms_norm(input, normalized_shape, weight=None, eps=None):
    if not input.is_floating_point():
        raise NotImplementedError(f"rms_norm(): not implemented for {input.dtype}")
    shape = _normalized_shape(input, normalized_shape)
    x = input.to(torch.float32) if input.dtype == torch.float16 or input.dtype == torch.bfloat16 else input
    dims = list(range(input.dim() - len(shape), input.dim()))
    result = x * torch.rsqrt(x.pow(2).mean(dims, True) + (torch.finfo(x.dtype).eps if eps is None else eps))
    if weight is not None:
        result = result * weight
    return result.to(input.dtype)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    shape = list(input.shape)
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if shape[1] % num_groups != 0:
        raise RuntimeError(f"Expected number of channels in input to be divisible by num_groups, but got input of shape {shape} and num_groups={num_groups}")
    inner = _size_of(shape, range(2, len(shape)))
    return aten.native_group_norm(input.contiguous(), weight, bias, shape[0], shape[1], inner, num_groups, eps)[0]


def dropout(input, p, train):
    if not train or p == 0:
        return input
    return aten.native_dropout(input, p, True)[0]


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return aten.embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)


def cosine_similarity(x1, x2, dim=1, eps=1e-08):
    x1, x2 = torch.broadcast_tensors(x1, x2)
    # Each norm is kept from zero by itself.
    length1 = aten.linalg_vector_norm(x1, 2, [dim], True).clamp_min(eps)
    length2 = aten.linalg_vector_norm(x2, 2, [dim], True).clamp_min(eps)
    return (x1 / length1 * (x2 / length2)).sum(dim)


def pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False):
    return aten.linalg_vector_norm(x1 - x2 + eps, p, [-1], keepdim)


# ---- other names of rows ----

def true_divide(input, other):
    return input / other


def divide(input, other, *, rounding_mode=None):
    return torch.div(input, other, rounding_mode=rounding_mode)


def multiply(input, other):
    return torch.mul(input, other)


def subtract(input, other, *, alpha=1):
    return torch.sub(input, other, alpha=alpha)


def negative(input):
    return -input


def positive(input):
    if input.dtype == torch.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def absolute(input):
    return torch.abs(input)


def arcsin(input):
    return torch.asin(input)


def arccos(input):
    return torch.acos(input)


def arctan(input):
    return torch.atan(input)


def arcsinh(input):
    return torch.asinh(input)


def arccosh(input):
    return torch.acosh(input)


def arctanh(input):
    return torch.atanh(input)


# ---- pointwise ----

def float_power(input, exponent):
    exponent = exponent.to(torch.float64) if isinstance(exponent, torch.Tensor) else float(exponent)
    return torch.pow(input.to(torch.float64) if isinstance(input, torch.Tensor) else float(input), exponent)


# ---- reductions ----

def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    if not input.is_floating_point():
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype}")
    counted = input.isnan().logical_not().sum(dim, keepdim)
    return torch.nansum(input, dim, keepdim, dtype=dtype) / counted


def trapezoid(y, x=None, *, dx=1, dim=-1):
    if y.dtype == torch.bool:
        raise RuntimeError("trapezoid: received a bool input for `y`, but bool is not supported")
    n = y.shape[dim]
    if x is None and n > 1:
        return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, n - 1)) * 0.5) * dx
    sides = y.narrow(dim, 0, max(n - 1, 0)) + y.narrow(dim, 1 if n > 0 else 0, max(n - 1, 0))
    return (sides * _widths(y, x, dx, dim)).sum(dim) / 2.0


def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    n = y.shape[dim]
    sides = y.narrow(dim, 0, max(n - 1, 0)) + y.narrow(dim, 1 if n > 0 else 0, max(n - 1, 0))
    return (sides * _widths(y, x, dx, dim)).cumsum(dim) / 2.0


trapz = trapezoid


def _widths(y, x, dx, dim):
    if x is None:
        return dx
    if x.dim() == 1:
        return (x[1:] - x[:-1]).reshape([-1] + [1] * (y.dim() - 1 - dim % y.dim()))
    return x.diff(dim=dim)


def renorm(input, p, dim, maxnorm):
    """Slices along dim whose norm is over maxnorm are scaled to it."""
    if input.dim() < 2:
        raise RuntimeError("renorm: input needs at least 2 dimensions, got " + str(input.dim()))
    dims = [i for i in range(input.dim()) if i != dim % input.dim()]
    length = aten.linalg_vector_norm(input, p, dims, True)
    return input * torch.where(length > maxnorm, maxnorm / (length + 1e-7), 1.0).to(input.dtype)


def vecdot(x, y, *, dim=-1):
    return (x * y).sum(dim)


def cov(input, *, correction=1):
    if input.dtype == torch.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    input = input if input.is_floating_point() else input.to(torch.get_default_dtype())
    x = input.unsqueeze(0) if input.dim() < 2 else input
    centered = x - x.mean(1, True)
    result = torch.mm(centered, centered.t()) / (x.shape[1] - correction)
    return result.squeeze() if input.dim() < 2 else result


def corrcoef(input):
    covariance = cov(input)
    if covariance.dim() == 0:
        return covariance / covariance
    deviation = covariance.diagonal().sqrt()
    return (covariance / deviation.unsqueeze(1) / deviation.unsqueeze(0)).clamp(-1, 1)


def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    if input.dtype != torch.float32 and input.dtype != torch.float64:
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if dim is None:
        values, dim, rank = input.reshape([-1]), 0, input.dim()
        kept = [1] * rank
    else:
        dim = dim % input.dim()
        values, kept = input, [1 if i == dim else n for i, n in enumerate(input.shape)]
    q = q if isinstance(q, torch.Tensor) else torch.tensor(q, dtype=input.dtype, device=input.device)
    ordered = values.sort(dim)[0].movedim(dim, -1)
    places = q * (ordered.shape[-1] - 1)
    if interpolation == "lower":
        low = high = places.floor()
    elif interpolation == "higher":
        low = high = places.ceil()
    elif interpolation == "nearest":
        low = high = places.round()
    else:
        low, high = places.floor(), places.ceil()
    weight = 0.5 if interpolation == "midpoint" else places - low
    below = ordered.index_select(-1, low.to(torch.int64).reshape([-1]))
    above = ordered.index_select(-1, high.to(torch.int64).reshape([-1]))
    result = torch.lerp(below, above, weight if interpolation == "midpoint" else weight.reshape([-1]).expand(below.shape))
    result = torch.where(values.isnan().any(dim).unsqueeze(-1), math.nan, result)
    if q.dim() == 0:
        result = result.squeeze(-1)
        return result.reshape(kept) if keepdim else result
    result = result.movedim(-1, 0)
    return result.reshape([q.shape[0]] + kept) if keepdim else result


def histc(input, bins=100, min=0, max=0):
    if not input.is_floating_point():
        raise NotImplementedError(f"histc(): not implemented for {input.dtype}")
    low, high = (input.min(), input.max()) if min == 0 and max == 0 else (min, max)
    inside = input[(input >= low).logical_and(input <= high)]
    place = ((inside - low) / (high - low) * bins).to(torch.int64).clamp(0, bins - 1)
    return torch.bincount(place, minlength=bins).to(input.dtype)


# ---- products of vectors and matrices ----

def cross(input, other, dim=-1):
    input, other = torch.broadcast_tensors(input, other)
    if input.shape[dim] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[dim]} and {other.shape[dim]}")
    a, b = input.unbind(dim), other.unbind(dim)
    return torch.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dim)


def kron(input, other):
    rank = max(input.dim(), other.dim())
    left = [1] * (rank - input.dim()) + list(input.shape)
    right = [1] * (rank - other.dim()) + list(other.shape)
    wide = [n for size in left for n in (size, 1)]
    fine = [n for size in right for n in (1, size)]
    return (input.reshape(wide) * other.reshape(fine)).reshape([a * b for a, b in zip(left, right)])


def cdist(x1, x2, p=2.0, compute_mode=None):
    if x1.dtype == torch.float16 or x1.dtype == torch.bfloat16:
        raise NotImplementedError(f"cdist(): not implemented for {x1.dtype}")
    if not x1.is_floating_point():
        raise RuntimeError(f"cdist only supports floating-point dtypes, X1 got: {x1.dtype}")
    return aten._cdist_forward(x1, x2, p, None)


def addr(input, vec1, vec2, *, beta=1, alpha=1):
    product = torch.outer(vec1, vec2)
    product = product if alpha == 1 else product * alpha
    return product.expand(product.shape) + 0 * product if beta == 0 else (input if beta == 1 else input * beta) + product


def chain_matmul(*matrices):
    result = matrices[0]
    for matrix in matrices[1:]:
        result = result @ matrix
    return result


def matrix_power(input, n):
    if n < 0:
        raise NotImplementedError("matrix_power(): a negative power needs an inverse, which is not supported")
    result = torch.eye(input.shape[-1], dtype=input.dtype, device=input.device).expand(input.shape)
    for _ in range(n):
        result = result @ input
    return result


# ---- shapes ----

def column_stack(tensors):
    return torch.cat([t.reshape([-1, 1]) if t.dim() < 2 else t for t in tensors], 1)


def dstack(tensors):
    return torch.cat([torch.atleast_2d(t).unsqueeze(-1) if t.dim() < 3 else t for t in tensors], 2)


def row_stack(tensors):
    return torch.vstack(tensors)


def atleast_3d(*tensors):
    def deep(t):
        if t.dim() == 0:
            return t.reshape([1, 1, 1])
        if t.dim() == 1:
            return t.unsqueeze(0).unsqueeze(-1)
        return t.unsqueeze(-1) if t.dim() == 2 else t
    if len(tensors) == 1:
        return tuple([deep(t) for t in tensors[0]]) if isinstance(tensors[0], (list, tuple)) else deep(tensors[0])
    return tuple([deep(t) for t in tensors])


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    rows = input.reshape([-1]) if dim is None else input.movedim(dim, 0)
    n = rows.shape[0]
    starts = torch.ones(n, dtype=torch.bool, device=input.device)
    if n > 1:
        starts[1:] = (rows[1:] != rows[:-1]).reshape([n - 1, -1]).any(1)
    places = starts.nonzero().reshape([-1])
    result = rows.index_select(0, places)
    results = [result if dim is None else result.movedim(0, dim)]
    if return_inverse:
        inverse = starts.cumsum(0) - 1
        results.append(inverse.reshape(input.shape) if dim is None else inverse)
    if return_counts:
        results.append(torch.cat([places, torch.tensor([n], device=input.device)]).diff())
    return results[0] if len(results) == 1 else tuple(results)


def block_diag(*tensors):
    matrices = [torch.atleast_2d(t) for t in tensors]
    width, rows, start = sum([m.shape[1] for m in matrices]), [], 0
    for m in matrices:
        rows.append(aten.constant_pad_nd(m, [start, width - start - m.shape[1]]))
        start = start + m.shape[1]
    return torch.cat(rows, 0)


def argwhere(input):
    return torch.nonzero(input)


def vander(x, N=None, increasing=False):
    powers = torch.arange(x.shape[0] if N is None else N, device=x.device)
    result = x.unsqueeze(-1).pow(powers)
    return result if increasing else result.flip([-1])


def unravel_index(indices, shape):
    places = []
    for size in reversed([shape] if isinstance(shape, int) else list(shape)):
        places.append(indices % size)
        indices = indices // size
    return tuple(reversed(places))


def combinations(input, r=2, with_replacement=False):
    count = input.shape[0]
    picks = [[]]
    for _ in range(r):
        picks = [p + [i] for p in picks for i in range((p[-1] + (0 if with_replacement else 1)) if p else 0, count)]
    index = torch.tensor(picks, dtype=torch.int64, device=input.device).reshape([-1, r])
    return input.index_select(0, index.reshape([-1])).reshape([-1, r])
