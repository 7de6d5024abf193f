"""Pieces and shapes: torch.index_reduce, torch.empty_permuted, torch.permute_copy …"""
import torch

METHODS = ("index_reduce", "index_reduce_", "new_empty_strided", "unsafe_chunk", "unsafe_split")


def unsafe_chunk(input, chunks, dim=0):
    return torch.chunk(input, chunks, dim)


def unsafe_split(input, split_size, dim=0):
    return torch.split(input, split_size, dim)


def slice_copy(input, dim=0, start=None, end=None, step=1):
    return torch.ops.aten.slice(input, dim, start, end, step).clone(memory_format=torch.contiguous_format)


def permute_copy(input, dims):
    return input.permute(dims).clone(memory_format=torch.contiguous_format)


def unfold_copy(input, dimension, size, step):
    return input.unfold(dimension, size, step).clone(memory_format=torch.contiguous_format)


def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """scatter_reduce by whole slices."""
    places = index.reshape([-1 if d == dim % input.dim() else 1 for d in range(input.dim())]).expand(source.shape)
    return torch.scatter_reduce(input, dim, places, source, reduce, include_self=include_self)


def index_reduce_(input, dim, index, source, reduce, *, include_self=True):
    return input.copy_(index_reduce(input, dim, index, source, reduce, include_self=include_self))


def new_empty_strided(input, size, stride, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    return torch.empty_strided(size, stride, dtype=input.dtype if dtype is None else dtype, device=input.device if device is None else device, requires_grad=requires_grad)


def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    strides, step = [0] * len(size), 1
    for dim in reversed(physical_layout):
        strides[dim] = step
        step = step * max(size[dim], 1)
    return torch.empty_strided(size, strides, dtype=dtype, device=device, requires_grad=requires_grad)
