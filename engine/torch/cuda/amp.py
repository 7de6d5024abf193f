"""torch.cuda.amp: the older names of torch.amp for CUDA."""
import functools
import torch
from torch.amp import GradScaler as _GradScaler
from torch.amp import autocast as _autocast
from torch.amp import custom_bwd as _custom_bwd
from torch.amp import custom_fwd as _custom_fwd


class autocast(_autocast):
    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_GradScaler):
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


custom_fwd = functools.partial(_custom_fwd, device_type="cuda")
custom_bwd = functools.partial(_custom_bwd, device_type="cuda")
