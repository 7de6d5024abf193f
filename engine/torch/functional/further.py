"""Functions of torch that few programs ask for: loaded when one is. Each is a leaf, as those of torch/functional.py.

    torch.frexp, torch.nanquantile, torch.gradient, torch.hann_window, torch.conv2d, torch.inverse …

They stand in the files that are gathered here. To add one: a function in one of those (and its name in METHODS, when it is a method too).
"""
import torch
import torch.functional.layers
import torch.functional.matrices
import torch.functional.numbers
import torch.functional.shapes
from torch.functional.layers import *
from torch.functional.matrices import *
from torch.functional.numbers import *
from torch.functional.shapes import *
from torch.functional.typed import *

METHODS = torch.functional.matrices.METHODS + torch.functional.numbers.METHODS + torch.functional.shapes.METHODS


def range(start=0, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """As arange, with its end: PyTorch has it still, and warns."""
    start, end = (0, start) if end is None else (start, end)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    return torch.arange(start, end + step / 2, step, dtype=dtype, device=device, requires_grad=requires_grad)
