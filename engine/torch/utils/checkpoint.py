"""torch.utils.checkpoint: a block whose inner values are computed again in backward instead of being kept.

    y = checkpoint(block, x, use_reentrant=False)   ->   forward with the tape off; backward runs block(x) again with it on

Under torch.compile the block is captured like any code; its nodes are marked as a region, whose values the partition has computed again.
"""
import torch


class _Checkpoint(torch.autograd.Function):
    """The block as one node of the tape. What it closes over (parameters) gets its gradients from the second run itself."""

    @staticmethod
    def forward(ctx, function, preserve, dummy, *args):
        ctx.function = function
        ctx.args = args
        ctx.state = torch.get_rng_state() if preserve else None
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        ctx.save_for_backward(*tensors)
        with torch.no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx, *grads):
        tensors = list(ctx.saved_tensors)
        fresh, leaves = [], []
        for arg in ctx.args:
            if isinstance(arg, torch.Tensor):
                saved = tensors.pop(0)
                arg = saved.detach()
                arg.requires_grad_(saved.requires_grad)
                leaves.append(arg)
            else:
                leaves.append(None)
            fresh.append(arg)
        outputs = _replayed(ctx.function, fresh, ctx.state)
        pairs = [(y, g) for y, g in zip(outputs, grads) if isinstance(y, torch.Tensor) and y.requires_grad and g is not None]
        if pairs:
            torch.autograd.backward([y for y, g in pairs], [g for y, g in pairs])
        return (None, None, None) + tuple(leaf.grad if leaf is not None else None for leaf in leaves)


def _replayed(function, args, state):
    """Run again, with the random numbers of the first time when they were kept."""
    now = torch.get_rng_state() if state is not None else None
    if state is not None:
        torch.set_rng_state(state)
    with torch.enable_grad():
        outputs = function(*args)
    if now is not None:
        torch.set_rng_state(now)
    return outputs if isinstance(outputs, tuple) else (outputs,)


def checkpoint(function, *args, use_reentrant=None, context_fn=None, determinism_check="default", debug=False, early_stop=True,
               preserve_rng_state=True, **kwargs):
    if not torch.is_grad_enabled():
        return function(*args, **kwargs)
    if torch.compiler.is_compiling():
        outer = torch._dynamo.enter_checkpoint()
        result = function(*args, **kwargs)
        torch._dynamo.leave_checkpoint(outer)
        return result
    block = (lambda *inputs: function(*inputs, **kwargs)) if kwargs else function
    # Parameters may need gradients when no argument does: this one makes the node.
    dummy = torch.empty(0, requires_grad=True)
    return _Checkpoint.apply(block, preserve_rng_state, dummy, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, preserve_rng_state=True, **kwargs):
    functions = list(functions.children()) if isinstance(functions, torch.nn.Module) else list(functions)
    size = len(functions) // segments

    def run(start, end):
        def forward(x):
            for function in functions[start:end]:
                x = function(x)
            return x
        return forward

    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(run(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state)
    return run(end, len(functions))(input)
