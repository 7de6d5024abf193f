"""Makers of tensors by type, from before dtypes: torch.FloatTensor([1, 2]), torch.LongTensor(2, 3)."""
import torch


class _Typed:
    """Called with data it makes a tensor of them, with sizes one that is not filled in."""
    dtype = None

    def __new__(cls, *args):
        if len(args) == 0:
            return torch.empty(0, dtype=cls.dtype)
        if isinstance(args[0], int):
            return torch.empty(args, dtype=cls.dtype)
        if isinstance(args[0], torch.Size):
            return torch.empty(args[0], dtype=cls.dtype)
        return torch.tensor(args[0], dtype=cls.dtype)


class FloatTensor(_Typed):
    dtype = torch.float32


class DoubleTensor(_Typed):
    dtype = torch.float64


class HalfTensor(_Typed):
    dtype = torch.float16


class BFloat16Tensor(_Typed):
    dtype = torch.bfloat16


class LongTensor(_Typed):
    dtype = torch.int64


class IntTensor(_Typed):
    dtype = torch.int32


class ShortTensor(_Typed):
    dtype = torch.int16


class CharTensor(_Typed):
    dtype = torch.int8


class ByteTensor(_Typed):
    dtype = torch.uint8


class BoolTensor(_Typed):
    dtype = torch.bool
