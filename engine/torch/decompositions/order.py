"""Rows about order that are made of sorts: nanmedian, mode. Each returns what the row returns: values, and places where a dim is given.

To add one: a function with the row's name and parameters, and its name in the import of decompositions.py.
"""
import math
import torch


def nanmedian(input, dim, keepdim):
    """The lower middle of what is not NaN; NaN where nothing else is."""
    flat = input.reshape([-1]) if dim is None or input.dim() == 0 else input.movedim(dim, -1)
    if flat.shape[-1] == 0:
        return input.sum() + math.nan if dim is None else torch.median(input, dim, keepdim)
    counted = flat.isnan().logical_not().sum(-1, True)
    place = ((counted - 1) // 2).clamp_min(0)
    ordered, places = flat.sort(-1, stable=True)
    values, indices = ordered.gather(-1, place), places.gather(-1, place)
    if dim is None:
        return values.squeeze(-1)
    if keepdim and input.dim() > 0:
        return (values.movedim(-1, dim), indices.movedim(-1, dim))
    return (values.squeeze(-1), indices.squeeze(-1))


def mode(input, dim, keepdim):
    """The smallest of the values that stand most often, and the last place where it stands."""
    if input.dim() == 0:
        return (input.clone(), torch.zeros([], dtype=torch.int64, device=input.device))
    rows = input.movedim(dim, -1)
    with torch.no_grad():
        ordered, places = rows.sort(-1, stable=True)
        counts = (ordered.unsqueeze(-1) == ordered.unsqueeze(-2)).sum(-1)
        first = counts.argmax(-1, True)
        indices = places.gather(-1, first + counts.gather(-1, first) - 1)
    values = rows.gather(-1, indices)
    if keepdim:
        return (values.movedim(-1, dim), indices.movedim(-1, dim))
    return (values.squeeze(-1), indices.squeeze(-1))


def _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx):
    """Bags of rows, by sum (mode 0), mean (1) or maximum (2): also which bag each index is in, how many each holds, and what the maxima are of."""
    starts = offsets[:-1] if include_last_offset else offsets
    count, bags, width = indices.shape[0], starts.shape[0], weight.shape[1]
    numbers = torch.arange(count, device=indices.device)
    bag = torch.searchsorted(starts, numbers, right=True) - 1
    kept = (indices != padding_idx).unsqueeze(1)
    held = torch.zeros([bags], dtype=torch.int64, device=indices.device).index_add(0, bag, kept.squeeze(1).to(torch.int64))
    rows = torch.ops.aten.embedding(weight, indices, -1, scale_grad_by_freq, sparse)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if mode != 2:
        total = rows.new_zeros([bags, width]).index_add(0, bag, torch.where(kept, rows, 0))
        return total if mode == 0 else total / held.clamp_min(1).unsqueeze(1), bag, held, held
    place = bag.unsqueeze(1).expand([count, width])
    largest = rows.new_full([bags, width], -math.inf).scatter_reduce(0, place, torch.where(kept, rows, -math.inf), "amax")
    with torch.no_grad():
        found = torch.where(kept.logical_and(rows == largest.index_select(0, bag)), numbers.unsqueeze(1), count)
        first = torch.full([bags, width], count, dtype=torch.int64, device=indices.device).scatter_reduce(0, place, found, "amin")
        named = torch.where(first < count, indices.to(torch.int64).index_select(0, first.clamp(max=max(count - 1, 0)).reshape([-1])).reshape([bags, width]), 0)
    return torch.where((held == 0).unsqueeze(1), 0, largest), bag, held, named
