"""torch.autograd.function: Function, its context, and what decorates its backward."""
import functools
import torch
from torch.autograd import Function, FunctionCtx


def once_differentiable(fn):
    """The backward runs off the tape: it cannot be differentiated again."""
    @functools.wraps(fn)
    def off_the_tape(ctx, *args):
        with torch.no_grad():
            return fn(ctx, *args)
    return off_the_tape
