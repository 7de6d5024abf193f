"""torch.func: gradients of functions as functions, and modules called with given parameters.

    torch.func.grad(lambda x: (x ** 2).sum())(x)   ->   2 * x
"""
import torch


def _places(argnums):
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def grad_and_value(func, argnums=0, has_aux=False):
    def differentiated(*args, **kwargs):
        args, places = list(args), _places(argnums)
        outer = any([args[at].requires_grad for at in places])
        with torch.enable_grad():
            for at in places:
                args[at] = args[at].view_as(args[at]) if args[at].requires_grad else args[at].detach().requires_grad_()
            result = func(*args, **kwargs)
            value = result[0] if has_aux else result
            if value.dim() != 0:
                raise RuntimeError(f"Expected f(*args) to return a scalar tensor, got tensor with {value.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
            grads = torch.autograd.grad(value, [args[at] for at in places], create_graph=outer, materialize_grads=True)
        grads = grads[0] if isinstance(argnums, int) else grads
        return (grads, (value, result[1])) if has_aux else (grads, value)
    return differentiated


def grad(func, argnums=0, has_aux=False):
    both = grad_and_value(func, argnums, has_aux)

    def differentiated(*args, **kwargs):
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads
    return differentiated


def vjp(func, *primals, has_aux=False):
    with torch.enable_grad():
        leaves = [p.detach().requires_grad_() for p in primals]
        result = func(*leaves)
    output = result[0] if has_aux else result

    def pull_back(cotangents):
        return torch.autograd.grad(output, leaves, cotangents, retain_graph=True, materialize_grads=True)
    return (output.detach(), pull_back, result[1]) if has_aux else (output.detach(), pull_back)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    output, product = torch.autograd.functional.jvp(func, tuple(primals), tuple(tangents))
    return output, product


def jacrev(func, argnums=0, has_aux=False, *, chunk_size=None):
    def jacobian(*args):
        def of_one(x):
            return func(*[x if i == argnums else arg for i, arg in enumerate(args)])
        return torch.autograd.functional.jacobian(of_one, args[argnums], create_graph=args[argnums].requires_grad)
    return jacobian


jacfwd = jacrev


def hessian(func, argnums=0):
    def second(*args):
        def of_one(x):
            return func(*[x if i == argnums else arg for i, arg in enumerate(args)])
        return torch.autograd.functional.hessian(of_one, args[argnums])
    return second


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Calls a module with other tensors in the places of its parameters and buffers, which come back afterwards."""
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        merged = {}
        for one in given:
            merged.update(one)
        given = merged
    former = []
    for name, value in given.items():
        path, _, last = name.rpartition(".")
        owner = module.get_submodule(path)
        former.append((owner, last, getattr(owner, last)))
        # A plain tensor may stand where a parameter stood.
        owner.__dict__[last] = value
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    try:
        return module(*args, **({} if kwargs is None else kwargs))
    finally:
        for owner, last, value in former:
            owner.__dict__[last] = value


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    raise NotImplementedError("torch.func.vmap is not supported: write the batch dimension out")
