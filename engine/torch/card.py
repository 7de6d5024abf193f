"""Rows that have no loop of their own on a card, made of rows that do: scans, sorts of short lines, searches, gathers and scatters.

    nonzero(x)        cumsum of x != 0, then for each k a search for the place where the sum reaches k
    sort(f32[1 << 20])    lines of 8192 sorted, then merged: a place is its own plus a search in the other line

A function has its row's name and parameters, and runs for tensors of a card, eagerly and in the decomposed graph. It returns NotImplemented where
the card's own kernel serves the call, or where the host has to: then the row goes on as it is.
To add one: a function here, and TRAIT_CARD in its row of op/ops.def.
"""
import math
import torch

aten = torch.ops.aten

LINE = 8192  # the longest line that one block sorts


# ---- by masks ----

def _places(mask):
    """Where a flat mask is true, in order."""
    if mask.numel() == 0:
        return torch.zeros([0], dtype=torch.int64, device=mask.device)
    ends = mask.cumsum(0)
    return torch.searchsorted(ends, torch.arange(1, int(ends[-1].item()) + 1, device=mask.device))


def nonzero(input, *, as_tuple=False):
    places = _places((input != 0).reshape([-1]))
    if input.dim() == 0:
        return torch.zeros([places.shape[0], 0], dtype=torch.int64, device=input.device)
    columns = []
    for size in reversed(input.shape):
        columns.insert(0, places % size)
        places = places // size
    return torch.stack(columns, 0).t()


def masked_select(input, mask):
    if mask.dtype != torch.bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = torch.broadcast_shapes(input.shape, mask.shape)
    return input.expand(shape).reshape([-1]).index_select(0, _places(mask.expand(shape).reshape([-1])))


def masked_scatter(input, mask, source):
    shape = torch.broadcast_shapes(input.shape, mask.shape)
    chosen = mask.expand(shape).reshape([-1])
    if source.numel() == 0:
        return NotImplemented
    order = (chosen.cumsum(0) - 1).clamp(0, source.numel() - 1)
    return torch.where(chosen, source.reshape([-1]).index_select(0, order), input.expand(shape).reshape([-1])).view(shape)


# ---- order ----

def _merge(keys, places):
    """Neighbouring sorted lines [rows, 2 * n, width] as [rows, n, 2 * width]; of equal ones those of the first line stand first."""
    rows, lines, width = keys.shape
    keys, places = keys.view([rows, lines // 2, 2, width]), places.view([rows, lines // 2, 2, width])
    first, second = keys.select(2, 0).contiguous(), keys.select(2, 1).contiguous()
    step = torch.arange(width, device=keys.device)
    at = torch.stack([step + torch.searchsorted(second, first), step + torch.searchsorted(first, second, right=True)], 2).view([rows, lines // 2, 2 * width])
    keys, places = keys.view([rows, lines // 2, 2 * width]), places.view([rows, lines // 2, 2 * width])
    return torch.zeros_like(keys).scatter(-1, at, keys), torch.zeros_like(places).scatter(-1, at, places)


def _sorted_places(input, descending):
    """Where the values of each line of the last dim stand, in order. What descends is the reverse of the reversed input in order, equals kept in place."""
    length, shape = input.shape[-1], list(input.shape)
    keys = input.reshape([-1, length])
    if keys.dtype == torch.bool:
        keys = keys.to(torch.uint8)
    if descending:
        keys = keys.flip([1])
    rows, lines = keys.shape[0], 1
    while lines * LINE < length:
        lines = lines * 2
    # What is behind the end is as large as can be, and stands behind its equals.
    largest = math.nan if keys.is_floating_point() else torch.iinfo(keys.dtype).max
    keys = aten.constant_pad_nd(keys, [0, lines * LINE - length], largest).view([rows * lines, LINE])
    keys, places = keys.sort(-1, stable=True)
    keys, places = keys.view([rows, lines, LINE]), places.view([rows, lines, LINE])
    places = places + torch.arange(lines, device=input.device).unsqueeze(1) * LINE
    while lines > 1:
        keys, places = _merge(keys, places)
        lines = lines // 2
    places = places.reshape([rows, -1]).narrow(1, 0, length).reshape(shape)
    return length - 1 - places.flip([-1]) if descending else places


def _is_short(input, dim):
    return input.dim() == 0 or input.shape[dim] <= LINE


def sort(input, dim=-1, descending=False, *, stable=False):
    if _is_short(input, dim):
        return NotImplemented
    places = _sorted_places(input.movedim(dim, -1), descending).movedim(-1, dim)
    return input.gather(dim, places), places.contiguous()


def topk(input, k, dim=-1, largest=True, sorted=True):
    if _is_short(input, dim):
        return NotImplemented
    places = _sorted_places(input.movedim(dim, -1), largest).narrow(-1, 0, k).movedim(-1, dim)
    return input.gather(dim, places), places.contiguous()


def _picked(input, places, place, dim, keepdim):
    """values and indices of one rank of each line, from the sorted lines' places."""
    indices = places.gather(dim, place)
    values = input.gather(dim, indices)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def kthvalue(input, k, dim=-1, keepdim=False):
    if input.dim() == 0:
        return input.clone(), torch.zeros([], dtype=torch.int64, device=input.device)
    if not 1 <= k <= input.shape[dim]:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    places = input.sort(dim, stable=True)[1]
    shape = list(input.shape)
    shape[dim] = 1
    return _picked(input, places, torch.full(shape, k - 1, dtype=torch.int64, device=input.device), dim, keepdim)


def median(input, dim=None, keepdim=False):
    """The lower middle; the first NaN where there is one."""
    if input.numel() == 0:
        return NotImplemented
    if dim is None:
        return median(input.reshape([-1]), 0, False)[0]
    if input.dim() == 0:
        return input.clone(), torch.zeros([], dtype=torch.int64, device=input.device)
    places = input.sort(dim, stable=True)[1]
    length = input.shape[dim]
    if not input.is_floating_point():
        shape = list(input.shape)
        shape[dim] = 1
        return _picked(input, places, torch.full(shape, (length - 1) // 2, dtype=torch.int64, device=input.device), dim, keepdim)
    numbers = input.isnan().logical_not().sum(dim, True)
    return _picked(input, places, torch.where(numbers < length, numbers, (length - 1) // 2), dim, keepdim)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if dim is not None or input.numel() == 0:
        return NotImplemented
    values, places = input.reshape([-1]).sort(0, stable=True)
    count = values.shape[0]
    begins = torch.cat([torch.ones([1], dtype=torch.bool, device=input.device), values[1:] != values[:-1]])
    starts = _places(begins)
    results = [values.index_select(0, starts)]
    if return_inverse:
        results.append(torch.zeros_like(places).scatter(0, places, begins.cumsum(0) - 1).view(input.shape))
    if return_counts:
        ends = torch.cat([starts[1:], torch.full([1], count, dtype=torch.int64, device=input.device)])
        results.append(ends - starts)
    return results[0] if len(results) == 1 else tuple(results)


def bincount(input, weights=None, minlength=0):
    if input.dim() != 1 or input.is_floating_point() or input.numel() == 0 or minlength < 0:
        return NotImplemented  # refused there, or nothing to count
    least, most = input.min().item(), input.max().item()
    if least < 0:
        return NotImplemented
    if weights is None:
        weights = torch.ones([input.shape[0]], dtype=torch.int64, device=input.device)
    elif weights.shape != input.shape:
        return NotImplemented
    elif weights.dtype != torch.float32:
        weights = weights.to(torch.float64)
    counts = torch.zeros([max(most + 1, minlength)], dtype=weights.dtype, device=input.device)
    return counts.scatter_add(0, input.to(torch.int64), weights)


# ---- scattering ----

def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    if reduce not in ("sum", "mean") or input.dim() == 0:
        return NotImplemented
    if not include_self:
        input = input.scatter(dim, index, 0)
    total = input.scatter_add(dim, index, src)
    if reduce == "sum":
        return total
    counts = torch.ones_like(input) if include_self else torch.ones_like(input).scatter(dim, index, 0)
    counts = counts.scatter_add(dim, index, torch.ones_like(src)).clamp_min(1)
    return total / counts if input.is_floating_point() else total.div(counts, rounding_mode="floor")


# ---- random ----

def randperm(n, *, generator=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    return torch.rand([n], dtype=torch.float64, device=device).sort(0)[1].to(torch.int64 if dtype is None else dtype)


def multinomial(input, num_samples, replacement=False, *, generator=None):
    """Without replacement: the largest of p over exponential draws. With: a draw's place among the running sums."""
    if input.dim() not in (1, 2) or not input.is_floating_point() or num_samples < 1 or (not replacement and num_samples > input.shape[-1]):
        return NotImplemented
    weights = input.to(torch.float64)
    if not replacement or num_samples == 1:
        return (weights / torch.empty_like(weights).exponential_(1.0)).topk(num_samples, -1)[1]
    sums = weights.cumsum(-1)
    shape = list(input.shape[:-1]) + [num_samples]
    draws = torch.rand(shape, dtype=torch.float64, device=input.device) * sums.narrow(-1, -1, 1)
    return torch.searchsorted(sums, draws, right=True).clamp_max(input.shape[-1] - 1)
