"""Wrappers for training on several devices. In a world of one they call their module.

    ddp = DistributedDataParallel(model);  ddp(x)   ->   model(x), its parameters under the names module.…
"""
import torch
from torch.nn.modules.module import Module


class DistributedDataParallel(Module):
    """Gradients of the processes are averaged after backward; with one process they are its own."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, init_sync=True, process_group=None,
                 bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False, gradient_as_bucket_view=False, static_graph=False,
                 delay_all_reduce_named_params=None, param_to_hook_all_reduce=None, mixed_precision=None, device_mesh=None,
                 skip_all_reduce_unused_params=False):
        super().__init__()
        if not torch.distributed.is_initialized():
            raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
        if not any([p.requires_grad for p in module.parameters()]):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.")
        self.module = module
        self.device_ids = device_ids
        self.bucket_cap_mb = 25 if bucket_cap_mb is None else bucket_cap_mb
        self.find_unused_parameters = find_unused_parameters
        self.require_backward_grad_sync = True

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)

    def no_sync(self):
        return _NoSync(self)


class _NoSync:
    """Inside, gradients are added up without being exchanged."""

    def __init__(self, ddp):
        self.ddp = ddp

    def __enter__(self):
        self.previous = self.ddp.require_backward_grad_sync
        self.ddp.require_backward_grad_sync = False

    def __exit__(self, kind, value, traceback):
        self.ddp.require_backward_grad_sync = self.previous


class DataParallel(Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.dim = dim

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)
