"""Helpers of gradient formulas: what the `grad` column of op/ops.def calls when one expression is not enough.

`g` is the gradient that comes in (a tuple, with None where nothing came in, for an op of several outputs); the result is the gradient of
one input, or a tuple of them. All of them are ordinary code over rows, so a gradient has a gradient in turn:

    sum_backward(g, x.shape, 1, False)   ->   g.unsqueeze(1).expand(x.shape)
"""
import math
import torch
from torch.decompositions.shapes import dims_of, size_of

aten = torch.ops.aten


# ---- reductions ----

def restored(g, dims, keepdim):
    """The reduced dims again, with size 1."""
    if not keepdim:
        for dim in dims:
            g = g.unsqueeze(dim)
    return g


def sum_backward(g, shape, dim, keepdim):
    # After a reduction of everything g has no dims, and expands as it is.
    everything = dim is None or (not isinstance(dim, int) and len(dim) == 0)
    return (g if everything else restored(g, dims_of(dim, len(shape)), keepdim)).expand(shape)


def mean_backward(g, shape, dim, keepdim):
    return sum_backward(g, shape, dim, keepdim) / size_of(shape, dims_of(dim, len(shape)))


def products_of_others(x, dim):
    """For each element the product of all others along a dim; no division, so zeros do no harm."""
    length = x.shape[dim]
    one = torch.ones_like(x.narrow(dim, 0, 1))
    before = torch.cat([one, x.narrow(dim, 0, length - 1)], dim).cumprod(dim)
    after = torch.cat([x.narrow(dim, 1, length - 1), one], dim).flip([dim]).cumprod(dim).flip([dim])
    return before * after


def prod_backward(g, input, y, dim, keepdim):
    if input.dim() == 0:
        return g
    if input.numel() == 0:
        return torch.zeros_like(input)
    if dim is None:
        # With two zeros there is nothing left, even where there is a NaN.
        products = products_of_others(input.reshape([-1]), 0).reshape(input.shape)
        return g * torch.where((input == 0).sum() > 1, 0, products)
    return restored(g, dims_of(dim, input.dim()), keepdim) * products_of_others(input, dim)


def extreme_backward(g, input, y, dim, keepdim):
    """amax, amin: shared evenly among the elements that have the extreme value."""
    dims = dims_of(dim, input.dim())
    mask = input == restored(y, dims, keepdim)
    return restored(g, dims, keepdim) * mask / mask.sum(dims, True)


def max_backward(g, input, dim, keepdim, y):
    """max, min, median: of everything (shared evenly), or along a dim (y is values and indices)."""
    if dim is None:
        mask = (input == y).logical_or(input.isnan().logical_and(y.isnan()))
        return torch.where(mask, g / mask.sum(), 0)
    values = g if isinstance(g, torch.Tensor) else g[0]
    return value_selecting_backward(values, input.shape, dim, keepdim, y[1])


def value_selecting_backward(g, shape, dim, keepdim, indices):
    if not keepdim and len(shape) > 0:
        g, indices = g.unsqueeze(dim), indices.unsqueeze(dim)
    return g.new_zeros(shape).scatter(dim, indices, g)


def var_backward(g, input, dim, unbiased, keepdim, correction):
    dims = dims_of(dim, input.dim())
    lost = correction if correction is not None else (1 if unbiased else 0)
    count = size_of(input.shape, dims)
    centered = input - input.mean(dims, True)
    return 2.0 * restored(g, dims, keepdim) * centered / (count - lost if count > lost else 0)


def var_mean_backward(g_var, g_mean, input, dim, unbiased, keepdim, correction):
    of_var = None if g_var is None else var_backward(g_var, input, dim, unbiased, keepdim, correction)
    of_mean = None if g_mean is None else mean_backward(g_mean, input.shape, dim, keepdim)
    if of_var is None or of_mean is None:
        return of_mean if of_var is None else of_var
    return of_var + of_mean


def logsumexp_backward(g, input, y, dim, keepdim):
    dims = dims_of(dim, input.dim())
    return restored(g, dims, keepdim) * torch.exp(input - restored(y, dims, keepdim))


def linalg_vector_norm_backward(g, input, ord, y, dim, keepdim):
    dims = dims_of(dim, input.dim())
    g, y = restored(g, dims, keepdim), restored(y, dims, keepdim)
    if ord == 0:
        return None
    if ord == 1:
        return input.sgn() * g
    if ord == 2:
        return g * (input / y).masked_fill(y == 0, 0)
    if ord == math.inf or ord == -math.inf:
        mask = (input.abs() == y).logical_or(input.isnan().logical_and(y.isnan()))
        return input.sgn() * (mask * (g / mask.sum(dims, True)))
    if ord < 1:
        return input.sgn() * input.abs().pow(ord - 1).masked_fill(input == 0, 0) * g * y.pow(1 - ord)
    scale = (g / y.pow(ord - 1)).masked_fill(y == 0, 0)
    if ord < 2:
        return input.sgn() * input.abs().pow(ord - 1) * scale
    return input * input.abs().pow(ord - 2) * scale


# ---- scans ----

def summed_from_the_end(x, dim):
    return x.flip([dim]).cumsum(dim).flip([dim])


def cumprod_backward(g, input, dim, y):
    if input.dim() == 0:
        return g
    if torch.is_grad_enabled() and input.requires_grad:
        return cumprod_backward_of_products(g, input, dim)
    zeros = input == 0
    count = zeros.cumsum(dim)
    before, first = count == 0, zeros.logical_and(count == 1)
    # Up to the first zero y / x is the product of the others; at it, the products are taken with a one in its place; after it all are zero.
    of_before = summed_from_the_end(torch.where(before, g * y, 0), dim) / torch.where(zeros, 1, input)
    others = torch.where(first, 1, input).cumprod(dim)
    of_first = summed_from_the_end(torch.where(count == 1, g * others, 0), dim)
    return torch.where(before, of_before, torch.where(first, of_first, 0))


def cumprod_backward_of_products(g, input, dim):
    """The same by products alone, for a second derivative: a quotient forgets what a zero stands for."""
    length, parts = input.shape[dim], []
    before = torch.ones_like(input.narrow(dim, 0, 1)) if length > 0 else None
    for k in range(length):
        after = input.narrow(dim, k + 1, length - k - 1).cumprod(dim)
        products = torch.cat([before, before * after], dim)
        parts.append((g.narrow(dim, k, length - k) * products).sum(dim, True))
        before = before * input.narrow(dim, k, 1)
    return torch.cat(parts, dim) if parts else torch.zeros_like(input)


def logcumsumexp_weighted(g, input, y, dim):
    """exp(x) * cumsum(g * exp(-y)), kept in logarithms, positive and negative gradients apart."""
    nothing = torch.finfo(g.dtype).min  # not -inf: -inf - -inf is nan in the second derivative
    of_positive = torch.where(g > 0, torch.where(g > 0, g, 1).log(), nothing)
    of_negative = torch.where(g < 0, torch.where(g < 0, -g, 1).log(), nothing)
    positive = ((of_positive - y).logcumsumexp(dim) + input).exp()
    return positive - ((of_negative - y).logcumsumexp(dim) + input).exp()


# ---- pointwise ----

def pow_backward(g, input, exponent):
    if isinstance(exponent, torch.Tensor):
        return torch.where(exponent == 0, 0, g * (exponent * input.pow(exponent - 1)))
    if exponent == 0:
        return torch.zeros_like(g)
    return g * (input.pow(exponent - 1.0) * float(exponent))


def pow_backward_exponent(g, input, exponent, y):
    if isinstance(input, torch.Tensor):
        return g * torch.where((input == 0).logical_and(exponent >= 0), 0, y * input.log())
    if input == 0:
        return torch.where(exponent >= 0, 0, g * y * -math.inf)
    return g * y * (math.log(input) if input > 0 else math.nan)


def clamp_backward(g, input, min, max):
    if min is not None and max is not None:
        return torch.where((input >= min).logical_and(input <= max), g, 0)
    if min is not None:
        return torch.where(input >= min, g, 0)
    return g if max is None else torch.where(input <= max, g, 0)


def clamp_backward_min(g, input, min, max):
    return torch.where(input < min if max is None else (input < min).logical_and(torch.lt(min, max) if isinstance(min, torch.Tensor) else torch.gt(max, min)), g, 0)


def clamp_backward_max(g, input, min, max):
    return torch.where(input > max if min is None else (input > max).logical_or(torch.lt(max, min) if isinstance(max, torch.Tensor) else torch.gt(min, max)), g, 0)


def no_derivative(g, input):
    raise NotImplementedError("the derivative of this op is not implemented")


def trigamma(input):
    return torch.polygamma(1, input)


def atan2_backward(g, side, input, other):
    """g * side / (input^2 + other^2), and nothing at the origin."""
    square = input * input + other * other
    return g * torch.where(square == 0, 0, side / square)


def gelu_double_backward(g, input, approximate):
    if approximate == "tanh":
        k, c = 0.7978845608028654, 0.044715
        t = torch.tanh(k * (input + c * input * input * input))
        slope, bend = k * (1 + 3 * c * input * input), 6 * k * c * input
        return g * ((1 - t * t) * (slope + 0.5 * input * (bend - 2 * t * slope * slope)))
    density = torch.exp(input * input * -0.5) * 0.3989422804014327
    return g * (density * (2 - input * input))


def softmax_double_backward(g, grad_output, output, dim):
    return g * grad_output - (output * grad_output).sum([dim], True) * g - grad_output * (output * g).sum([dim], True)


def binary_cross_entropy_with_logits_target_backward(g, input, target, weight, pos_weight, reduction):
    grad = -input if pos_weight is None else -input - (pos_weight - 1) * aten.logsigmoid(input)
    grad = g * (grad if weight is None else grad * weight)
    return grad / input.numel() if reduction == 1 else grad


def binary_cross_entropy_with_logits_backward(g, input, target, weight, pos_weight, reduction):
    if pos_weight is None:
        grad = (torch.sigmoid(input) - target) * g
    else:
        positive = pos_weight * target
        grad = ((positive + 1 - target) * torch.sigmoid(input) - positive) * g
    if weight is not None:
        grad = grad * weight
    return grad / input.numel() if reduction == 1 else grad


def embedding_dense_double_backward(g, indices, num_weights, padding_idx, scale_grad_by_freq):
    """What a row of the table's gradient was made of: the rows of g at its places, none for the padding, shared where places were counted."""
    kept = torch.arange(num_weights, device=g.device) != padding_idx
    share = torch.where(kept, 1, 0).to(g.dtype)
    if scale_grad_by_freq:
        flat = indices.reshape([-1])
        share = share / g.new_zeros([num_weights]).index_add(0, flat, g.new_ones(flat.shape)).clamp_min(1)
    return aten.embedding(share.unsqueeze(1) * g, indices)


# ---- views ----

def squeeze_backward(g, shape, dim):
    if dim is None:
        return g.reshape(shape)
    for d in dims_of(dim, len(shape)):
        if shape[d] == 1:
            g = g.unsqueeze(d)
    return g


def some_tensor(grads):
    for g in grads:
        if g is not None:
            return g
    return None


def split_backward(g, input, sizes, dim):
    length, count, known = input.shape[dim], len(g), some_tensor(g)
    if isinstance(sizes, int):
        lengths = [sizes] * (count - 1) + [length - sizes * (count - 1)]
    else:
        lengths = list(sizes)
    pieces = []
    for piece, size in zip(g, lengths):
        if piece is None:
            shape = list(input.shape)
            shape[dim] = size
            piece = known.new_zeros(shape)
        pieces.append(piece)
    return torch.cat(pieces, dim)


def unbind_backward(g, input, dim):
    known = some_tensor(g)
    return torch.stack([torch.zeros_like(known) if piece is None else piece for piece in g], dim)


def cat_backward(g, tensors, dim):
    grads, start = [], 0
    for tensor in tensors:
        # An empty vector may stand in a cat of anything.
        if tensor.dim() == 1 and g.dim() != 1:
            grads.append(g.new_zeros(tensor.shape))
            continue
        length = tensor.shape[dim]
        grads.append(g.narrow(dim, start, length))
        start = start + length
    return tuple(grads)


def repeat_backward(g, shape, repeats):
    if 0 in repeats:
        return g.new_zeros(shape)
    leading = len(repeats) - len(shape)
    if leading > 0:
        g = g.sum(list(range(leading)))
    sizes, summed = [], []
    for count, size in zip(list(repeats)[leading:], shape):
        if count != 1:
            summed.append(len(sizes))
            sizes.append(count)
        sizes.append(size)
    return g.reshape(sizes).sum(summed) if summed else g


# ---- contractions ----

def addmm_backward_mat1(g, mat1, mat2, alpha):
    # A transposed operand gets its gradient transposed, too: then it is contiguous where the parameter is.
    by_columns = mat1.stride() == (1, mat1.shape[0])
    grad = torch.mm(mat2, g.t()).t() if by_columns else torch.mm(g, mat2.t())
    return grad if alpha == 1 else grad * alpha


def addmm_backward_mat2(g, mat1, mat2, alpha):
    by_columns = mat2.stride() == (1, mat2.shape[0])
    grad = torch.mm(g.t(), mat1).t() if by_columns else torch.mm(mat1.t(), g)
    return grad if alpha == 1 else grad * alpha


# ---- indexing ----

def masked_scatter_backward(g, mask, shape):
    """The source's elements were taken in order: as many as the mask has, the rest got nothing."""
    count = size_of(shape, range(len(shape)))
    taken = mask.expand(g.shape).reshape([-1])
    place = torch.where(taken, taken.cumsum(0) - 1, 0)
    return g.new_zeros([count]).index_add(0, place, torch.where(taken, g.reshape([-1]), 0)).reshape(shape)


def scatter_reduce_backward(g, input, dim, index, src, reduce, include_self, y):
    """Gradients of (input, src)."""
    if reduce == "sum":
        of_input, of_src = g, g.gather(dim, index)
    elif reduce == "mean":
        counts = torch.ones_like(g) if include_self else torch.zeros_like(g)
        counts = counts.scatter_add(dim, index, torch.ones_like(src))
        counts = counts.masked_fill(counts == 0, 1)
        of_input, of_src = g / counts, (g / counts).gather(dim, index)
    elif reduce == "amax" or reduce == "amin":
        of_src_value = y.gather(dim, index)
        mask, src_mask = input == y, src == of_src_value
        # PyTorch counts the input in, whether it was included or not.
        count = mask.to(g.dtype).scatter_add(dim, index, src_mask.to(g.dtype))
        share = g / count
        of_input, of_src = mask * share, src_mask * share.gather(dim, index)
    elif reduce == "prod":
        of_input, of_src = scatter_prod_backward(g, input, dim, index, src, include_self, y)
    else:
        raise RuntimeError(f"Expected 'reduce' to be one of 'sum', 'prod', 'mean', 'amax', 'amin' but got {reduce}.")
    if not include_self:
        of_input = of_input.scatter(dim, index, 0)
    return of_input, of_src


def scatter_prod_backward(g, input, dim, index, src, include_self, y):
    """y / x where x is not zero. A single zero among a place's factors gets the product of the others; several leave nothing."""
    src_zero = src == 0
    safe_input, safe_src = torch.where(input == 0, 1, input), torch.where(src_zero, 1, src)
    zeros = torch.zeros_like(g).scatter_add(dim, index, src_zero.to(g.dtype))
    if include_self:
        zeros = zeros + (input == 0).to(g.dtype)
    product = safe_input.scatter_reduce(dim, index, safe_src, "prod", include_self=include_self)
    of_input = torch.where(input == 0, zeros == 1, zeros == 0) * (g * product / safe_input)
    at_src = zeros.gather(dim, index)
    of_src = torch.where(src_zero, at_src == 1, at_src == 0) * ((g * product).gather(dim, index) / safe_src)
    return of_input, of_src
