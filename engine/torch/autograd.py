"""torch.autograd: gradients on request, and operations with a backward of their own.

    torch.autograd.grad(loss, [w, b])                      a tuple of gradients; nothing is stored in .grad
    class Square(torch.autograd.Function): forward, backward    y = Square.apply(x)

The tape itself is C (vm/autograd.h); torch._C has its entries.
"""
import torch
from torch.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
         is_grads_batched=False, materialize_grads=False):
    return torch._C._autograd_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    return torch._C._autograd_backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


class FunctionCtx:
    """What a Function's forward leaves for its backward."""

    def save_for_backward(self, *tensors):
        self._saved = tensors

    @property
    def saved_tensors(self):
        if not hasattr(self, "_saved"):
            return ()
        torch._C._check_versions(self._saved, self._versions)
        return self._saved

    def save_for_forward(self, *tensors):
        self._saved_for_forward = tensors

    def mark_dirty(self, *tensors):
        """These inputs were changed in place."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        self._non_differentiable = tensors

    def set_materialize_grads(self, value):
        """False: a gradient that did not come in is None in backward, instead of zeros."""
        self._materialize = value


class Function:
    """An operation with a forward and a backward written by the program, one node of the tape."""

    @staticmethod
    def forward(ctx, *args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")

    @classmethod
    def apply(cls, *args):
        return torch._C._function_apply(cls, args)


def _with_hooks(tensor, hooks):
    """The tensor as a node of its own, whose gradient goes through the hooks: how capture keeps register_hook in a graph."""

    class ApplyBackwardHook(Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, gradient):
            for hook in hooks:
                changed = hook(gradient)
                gradient = gradient if changed is None else changed
            return gradient

    return ApplyBackwardHook.apply(tensor)


class set_detect_anomaly:
    """Accepted for the sake of scripts: the tape checks nothing more under it."""

    def __init__(self, mode=True, check_nan=True):
        self.mode = mode

    def __enter__(self):
        return None

    def __exit__(self, kind, value, traceback):
        return None


def _as_tuple(values):
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def _differentiable(outputs):
    return tuple(x for x in _as_tuple(outputs) if isinstance(x, torch.Tensor) and x.requires_grad)


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, fast_mode=False, **rest):
    """Compares each gradient with differences of the function's values."""
    inputs = _as_tuple(inputs)
    places = [at for at, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.requires_grad]
    if not places:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True.")
    for place in places:
        for number in range(len(_differentiable(func(*inputs)))):
            found = _gradients_of(_differentiable(func(*inputs))[number], inputs[place])
            expected = _differences_of(func, inputs, place, number, eps)
            if not torch.allclose(found, expected, rtol, atol):
                if raise_exception:
                    raise RuntimeError(f"Jacobian mismatch for output {number} with respect to input {place},\nnumerical:{expected}\nanalytical:{found}\n")
                return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, **rest):
    """gradcheck of the gradients, each weighted by fixed numbers of its own."""
    inputs = _as_tuple(inputs)
    places = [at for at, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.requires_grad]

    def gradients(*leaves):
        leaves = [x.requires_grad_() if at in places and not x.requires_grad else x for at, x in enumerate(leaves)]
        outputs = _differentiable(func(*leaves))
        weights = [torch.linspace(0.5, 1.5, output.numel(), dtype=output.dtype).reshape(output.shape) for output in outputs]
        return grad(outputs, [leaves[at] for at in places], weights, create_graph=True, materialize_grads=True)
    return gradcheck(gradients, inputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)


def _gradients_of(output, leaf):
    """Rows: elements of the input; columns: of the output."""
    columns = [grad(element, leaf, retain_graph=True, materialize_grads=True)[0].reshape([-1]) for element in output.reshape([-1]).unbind(0)]
    return torch.stack(columns, 1) if columns else torch.zeros(leaf.numel(), 0, dtype=leaf.dtype)


def _differences_of(func, inputs, place, number, eps):
    rows, leaf = [], inputs[place]
    values = leaf.detach().reshape([-1])

    def value_at(element, step):
        moved = values.clone()
        moved[element] += step
        moved = torch.empty_like(leaf, requires_grad=False).copy_(moved.reshape(leaf.shape)).requires_grad_()
        return _differentiable(func(*inputs[:place], moved, *inputs[place + 1:]))[number].detach().reshape([-1])

    for element in range(values.numel()):
        rows.append((value_at(element, eps) - value_at(element, -eps)) / (2 * eps))
    outputs = _differentiable(func(*inputs))[number]
    return torch.stack(rows, 0) if rows else torch.zeros(0, outputs.numel(), dtype=leaf.dtype)


detect_anomaly = set_detect_anomaly
Variable = torch.Tensor
