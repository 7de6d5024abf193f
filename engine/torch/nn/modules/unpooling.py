"""Pooling by norms, and max pooling undone."""
from torch.nn import functional as F
from torch.nn.modules.module import Module


class _LPPool(Module):
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input):
        return self.function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPool):
    function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    function = staticmethod(F.lp_pool2d)


class _MaxUnpool(Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = self._sizes(kernel_size)
        self.stride = self._sizes(stride if stride is not None else kernel_size)
        self.padding = self._sizes(padding)

    def _sizes(self, value):
        return tuple(value) if isinstance(value, (tuple, list)) else (value,) * self.dims

    def forward(self, input, indices, output_size=None):
        return self.function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    dims = 1
    function = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    dims = 2
    function = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    dims = 3
    function = staticmethod(F.max_unpool3d)
