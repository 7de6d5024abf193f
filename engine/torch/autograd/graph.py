"""torch.autograd.graph: what is kept on the tape, and how.

    with saved_tensors_hooks(pack, unpack):     each tensor that an op saves for its backward goes through pack; its backward reads unpack(pack(x))
        y = model(x)
"""
import torch


class saved_tensors_hooks:
    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        self._former = torch._C._set_saved_hooks((self.pack_hook, self.unpack_hook))

    def __exit__(self, kind, value, traceback):
        torch._C._set_saved_hooks(self._former)


class save_on_cpu(saved_tensors_hooks):
    """What is saved waits in the CPU's memory."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda x: (x.device, x.cpu()), lambda kept: kept[1].to(kept[0]))
