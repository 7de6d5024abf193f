"""torch.utils.checkpoint: a block whose inner values are computed again in backward instead of being kept.

    y = checkpoint(block, x, use_reentrant=False)   ->   the tape keeps places instead of tensors; backward runs block(x) again and reads them

Under torch.compile the block is captured like any code; its nodes are marked as a region, whose values the partition has computed again.
"""
import torch
import torch.autograd.graph


class CheckpointError(RuntimeError):
    pass


class _Region:
    """One call of a checkpointed function: places instead of the tensors that its ops save; the first place that backward asks for has all computed again."""

    def __init__(self, function, args, kwargs, preserve):
        self.function, self.args, self.kwargs = function, args, kwargs
        self.versions = [a._version if isinstance(a, torch.Tensor) else 0 for a in args]
        self.state = torch.get_rng_state() if preserve else None
        self.autocast = [(kind, torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)) for kind in ("cpu", "cuda")]
        self.count = 0
        self.again = {}

    def pack(self, tensor):
        self.count += 1
        return self.count - 1, tensor.shape, tensor.dtype

    def unpack(self, kept):
        place, shape, dtype = kept
        if place not in self.again:
            self.compute_again()
        if place not in self.again:
            raise CheckpointError("torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                                  f"Number of tensors saved during forward: {self.count}\nNumber of tensors saved during recomputation: {len(self.again)}.")
        tensor = self.again.pop(place)
        if tensor.shape != shape or tensor.dtype != dtype:
            raise CheckpointError("torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.")
        return tensor

    def compute_again(self):
        torch._C._check_versions(self.args, self.versions)
        again = {}

        def keep(tensor):
            again[len(again)] = tensor
            return tensor

        now = torch.get_rng_state() if self.state is not None else None
        if now is not None:
            torch.set_rng_state(self.state)
        (_, cpu, cpu_dtype), (_, cuda, cuda_dtype) = self.autocast
        with torch.enable_grad(), torch.autocast("cpu", cpu_dtype, cpu), torch.autocast("cuda", cuda_dtype, cuda):
            with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
                self.function(*self.args, **self.kwargs)
        if now is not None:
            torch.set_rng_state(now)
        self.again = again


def checkpoint(function, *args, use_reentrant=None, context_fn=None, determinism_check="default", debug=False, early_stop=True,
               preserve_rng_state=True, **kwargs):
    if not torch.is_grad_enabled():
        return function(*args, **kwargs)
    if torch.compiler.is_compiling():
        outer = torch._dynamo.enter_checkpoint()
        result = function(*args, **kwargs)
        torch._dynamo.leave_checkpoint(outer)
        return result
    region = _Region(function, args, kwargs, preserve_rng_state)
    with torch.autograd.graph.saved_tensors_hooks(region.pack, region.unpack):
        return function(*args, **kwargs)


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
