"""The package of torch.nn's layers; torch.nn names them all."""
from torch.nn.modules.module import Module
