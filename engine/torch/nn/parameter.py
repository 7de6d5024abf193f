"""Parameters: tensors that a Module counts as its own and an optimizer changes."""
import torch

Parameter = torch._C.Parameter


class UninitializedParameter:
    """Named for isinstance checks; modules whose shapes are found at the first call are not part of vitrine."""


class Buffer:
    """nn.Buffer(t): assigned to a module it would register t; use register_buffer."""

    def __new__(cls, data=None, *, persistent=True):
        raise NotImplementedError("nn.Buffer is not supported: call self.register_buffer(name, tensor)")
