"""torch.distributed.fsdp for a world of one: every parameter is whole, so nothing is gathered and nothing freed."""
from torch.nn.modules.module import Module


class FullyShardedDataParallel(Module):
    def __init__(self, module, *args, **kwargs):
        super().__init__()
        self.module = module

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)


def fully_shard(module, **options):
    return module
