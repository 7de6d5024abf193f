"""Methods of tensors that are made of rows. Each function is a leaf with the tensor as its first parameter, and is Tensor.NAME:

    x.to(torch.float64)   ->   aten._to_copy(x, dtype=torch.float64), or x itself when nothing changes

To add one: a function, and its name in METHODS.
"""
import torch

aten = torch.ops.aten

METHODS = (
    "to", "float", "double", "half", "bfloat16", "int", "long", "short", "char", "byte", "bool", "contiguous", "detach_",
    "where", "put_", "put", "renorm_", "addr_")


# ---- dtype and device ----

def to(input, dtype=None, device=None, copy=False, memory_format=None):
    same = (dtype is None or dtype == input.dtype) and (device is None or torch.device(device) == input.device)
    if same and not copy:
        return input if memory_format is None else input.contiguous(memory_format=memory_format)
    return aten._to_copy(input, dtype=dtype, device=device, memory_format=memory_format)


def _cast(input, dtype):
    return input if input.dtype == dtype else aten._to_copy(input, dtype=dtype)


def float(input):
    return _cast(input, torch.float32)


def double(input):
    return _cast(input, torch.float64)


def half(input):
    return _cast(input, torch.float16)


def bfloat16(input):
    return _cast(input, torch.bfloat16)


def int(input):
    return _cast(input, torch.int32)


def long(input):
    return _cast(input, torch.int64)


def short(input):
    return _cast(input, torch.int16)


def char(input):
    return _cast(input, torch.int8)


def byte(input):
    return _cast(input, torch.uint8)


def bool(input):
    return _cast(input, torch.bool)


# ---- memory ----

def contiguous(input, memory_format=torch.contiguous_format):
    if input.is_contiguous(memory_format=memory_format):
        return input
    return aten.clone(input, memory_format=memory_format)


def detach_(input):
    return torch._C._detach_(input)


# ---- other forms of functions ----

def where(input, condition, other):
    return torch.where(condition, input, other)


def put_(input, index, source, accumulate=False):
    """Writes at places counted as if the tensor were one row."""
    place, places = torch.where(index < 0, index + input.numel(), index), []
    for size in reversed(list(input.shape)):
        places.append(place % size)
        place = place // size
    if len(places) == 0:
        return input.copy_(source.reshape([])) if index.numel() > 0 else input
    return input.index_put_(tuple(reversed(places)), source.reshape(index.shape), accumulate)


def put(input, index, source, accumulate=False):
    return put_(input.clone(), index, source, accumulate)


def renorm_(input, p, dim, maxnorm):
    return input.copy_(torch.renorm(input, p, dim, maxnorm))


def addr_(input, vec1, vec2, *, beta=1, alpha=1):
    return input.copy_(torch.addr(input, vec1, vec2, beta=beta, alpha=alpha))
