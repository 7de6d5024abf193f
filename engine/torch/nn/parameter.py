"""Parameters: tensors that a Module counts as its own and an optimizer changes."""
import torch

Parameter = torch._C.Parameter


class UninitializedParameter:
    """Named for isinstance checks; modules whose shapes are found at the first call are not part of vitrine."""


class Buffer:
    """nn.Buffer(t): assigned to a module it registers t, which is then a plain tensor."""

    def __init__(self, data=None, *, persistent=True):
        self.data = torch.empty(0) if data is None else data
        self.persistent = persistent
