"""Layers that learn their input's size from the first input, and are then ordinary ones.

    layer = nn.LazyLinear(8);  layer(torch.ones(2, 5))  ->  Linear(in_features=5, out_features=8, bias=True)
"""
import torch
from torch.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from torch.nn.modules.conv import Conv1d, Conv2d, Conv3d
from torch.nn.modules.linear import Linear
from torch.nn.modules.module import Module


class _Lazy(Module):
    """arguments: what the layer is made with, behind its input's size."""

    def __init__(self, *arguments, **options):
        super().__init__()
        self._arguments = (arguments, options)

    def has_uninitialized_params(self):
        return True

    def _size(self, input):
        return input.shape[1]

    def forward(self, input):
        arguments, options = self._arguments
        made = self.becomes(self._size(input), *arguments, **options)
        made.train(self.training)
        hooks = self._hooks
        for name in list(self.__dict__):
            delattr(self, name)
        for name, value in made.__dict__.items():
            self.__dict__[name] = value
        self.__dict__["_hooks"] = hooks
        self.__class__ = self.becomes
        return self.forward(input)

    def extra_repr(self):
        arguments, options = self._arguments
        return ", ".join(["0"] + [str(a) for a in arguments] + [f"{name}={value}" for name, value in options.items()])


class LazyLinear(_Lazy):
    becomes = Linear

    def _size(self, input):
        return input.shape[-1]

    def extra_repr(self):
        arguments, options = self._arguments
        bias = arguments[1] if len(arguments) > 1 else options.get("bias", True)
        return f"in_features=0, out_features={arguments[0] if arguments else options['out_features']}, bias={bias}"


class LazyConv1d(_Lazy):
    becomes = Conv1d


class LazyConv2d(_Lazy):
    becomes = Conv2d


class LazyConv3d(_Lazy):
    becomes = Conv3d


class LazyBatchNorm1d(_Lazy):
    becomes = BatchNorm1d


class LazyBatchNorm2d(_Lazy):
    becomes = BatchNorm2d


class LazyBatchNorm3d(_Lazy):
    becomes = BatchNorm3d
