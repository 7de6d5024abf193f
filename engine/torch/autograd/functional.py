"""torch.autograd.functional: Jacobians, Hessians and products with them, out of torch.autograd.grad.

    jacobian(lambda x: x ** 2, x)   ->   one call of grad for each element of the output
"""
import torch


def _tuple_of(x):
    return x if isinstance(x, tuple) else (x,)


def _fresh(inputs, create_graph):
    """Inputs that the function is differentiated by: the given ones, or leaves of their own."""
    made = tuple(t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_() for t in _tuple_of(inputs))
    return made


def _like(given, results):
    return results if isinstance(given, tuple) else results[0]


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    with torch.enable_grad():
        leaves = _fresh(inputs, create_graph)
        outputs = func(*leaves)
        grads = torch.autograd.grad(outputs, leaves, v, create_graph=create_graph, materialize_grads=True)
    return outputs if create_graph else _detached(outputs), _like(inputs, grads)


def _detached(outputs):
    return tuple(t.detach() for t in outputs) if isinstance(outputs, tuple) else outputs.detach()


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """Backward twice: the product with the transpose is linear in its vector, and its own gradient is the product asked for."""
    with torch.enable_grad():
        leaves = _fresh(inputs, create_graph)
        outputs = func(*leaves)
        dummies = tuple(torch.zeros_like(t, requires_grad=True) for t in _tuple_of(outputs))
        back = torch.autograd.grad(_tuple_of(outputs), leaves, dummies, create_graph=True, materialize_grads=True)
        vector = tuple(torch.ones_like(t) for t in leaves) if v is None else _tuple_of(v)
        forward = torch.autograd.grad(back, dummies, vector, create_graph=create_graph, materialize_grads=True)
    return outputs if create_graph else _detached(outputs), _like(outputs, forward)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    with torch.enable_grad():
        leaves = _fresh(inputs, create_graph)
        outputs = func(*leaves)
        rows = tuple(_rows_of(output, leaves, create_graph) for output in _tuple_of(outputs))
    rows = tuple(_like(inputs, row) for row in rows)
    return _like(outputs, rows)


def _rows_of(output, leaves, create_graph):
    rows = [[] for _ in leaves]
    for element in output.reshape([-1]).unbind(0):
        grads = torch.autograd.grad(element, leaves, retain_graph=True, create_graph=create_graph, materialize_grads=True)
        for row, g in zip(rows, grads):
            row.append(g)
    return tuple(torch.stack(row).reshape(list(output.shape) + list(leaf.shape)) if row
                 else leaf.new_zeros(list(output.shape) + list(leaf.shape)) for row, leaf in zip(rows, leaves))


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    def gradient(*leaves):
        output = func(*leaves)
        return torch.autograd.grad(output.reshape([]), leaves, create_graph=True, materialize_grads=True)
    result = jacobian(gradient, _tuple_of(inputs), create_graph)
    return result if isinstance(inputs, tuple) else result[0][0]


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    with torch.enable_grad():
        leaves = _fresh(inputs, create_graph)
        output = func(*leaves)
        grads = torch.autograd.grad(output, leaves, create_graph=True, materialize_grads=True)
        vector = tuple(torch.ones_like(t) for t in leaves) if v is None else _tuple_of(v)
        products = torch.autograd.grad(grads, leaves, vector, create_graph=create_graph, materialize_grads=True)
    return output if create_graph else output.detach(), _like(inputs, products)


# The matrix of second derivatives is symmetric.
hvp = vhp
