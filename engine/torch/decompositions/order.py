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
