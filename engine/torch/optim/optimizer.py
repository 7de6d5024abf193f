"""Optimizer: the base of all optimizers. Parameters come in groups, each with its options; what an optimizer remembers of a parameter is
`state[parameter]`.

    class SGD(Optimizer):
        def _update(self, parameter, grad, state, group): …     changes the parameter in place; gradients are off
"""
from collections import defaultdict
import torch
from torch.utils.hooks import RemovableHandle


class Optimizer:
    def __init__(self, params, defaults):
        if isinstance(params, torch.Tensor):
            raise TypeError(f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {params.type()}")
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        self._step_pre_hooks = []
        self._step_post_hooks = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        params = [params] if isinstance(params, torch.Tensor) else list(params)
        # named_parameters() may be given: pairs of a name and a parameter.
        if params and isinstance(params[0], tuple):
            param_group["param_names"] = [name for name, parameter in params]
            params = [parameter for name, parameter in params]
        known = set([id(p) for group in self.param_groups for p in group["params"]])
        for parameter in params:
            if not isinstance(parameter, torch.Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + type(parameter).__name__)
            if not self.defaults.get("differentiable") and not parameter.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(parameter) in known:
                raise ValueError("some parameters appear in more than one parameter group")
        param_group["params"] = params
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if set_to_none:
                    parameter.grad = None
                elif torch.compiler.is_compiling():
                    parameter.grad = torch.zeros_like(parameter.grad)
                else:
                    if parameter.grad.grad_fn is not None:
                        parameter.grad.detach_()
                    else:
                        parameter.grad.requires_grad_(False)
                    with torch.no_grad():
                        parameter.grad.zero_()

    def step(self, closure=None):
        for hook in self._step_pre_hooks:
            hook(self, (), {})
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        if self._prepare is not None:
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None and not self.state[parameter]:
                        self._prepare(parameter, self.state[parameter], group)
        self._change_all()
        for hook in self._step_post_hooks:
            hook(self, (), {})
        return loss

    _prepare = None  # (parameter, state, group): what a parameter's first step finds in its state; a compiled step does not make it

    def _change_all(self):
        with torch.no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        grad = -parameter.grad if group.get("maximize") else parameter.grad
                        self._update(parameter, grad, self.state[parameter] if self._remembers(group) else None, group)

    def _remembers(self, group):
        """Is there anything to keep of a parameter between steps?"""
        return True

    def _update(self, parameter, grad, state, group):
        raise NotImplementedError(f"{type(self).__name__} has no _update")

    def register_step_pre_hook(self, hook):
        self._step_pre_hooks.append(hook)
        return RemovableHandle(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        self._step_post_hooks.append(hook)
        return RemovableHandle(self._step_post_hooks, hook)

    # ---- state ----

    def state_dict(self):
        """Parameters are named by their place, counted through all groups."""
        places, groups = {}, []
        for group in self.param_groups:
            packed = {name: value for name, value in group.items() if name != "params"}
            for parameter in group["params"]:
                places.setdefault(id(parameter), len(places))
            packed["params"] = [places[id(parameter)] for parameter in group["params"]]
            groups.append(packed)
        state = {places[id(parameter)]: value for parameter, value in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        parameters = {}
        for mine, theirs in zip(self.param_groups, groups):
            if len(mine["params"]) != len(theirs["params"]):
                raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
            for place, parameter in zip(theirs["params"], mine["params"]):
                parameters[place] = parameter
            for name, value in theirs.items():
                if name != "params":
                    mine[name] = value
        self.state = defaultdict(dict)
        for place, values in state_dict["state"].items():
            if place not in parameters:
                self.state[place] = values
                continue
            parameter = parameters[place]
            self.state[parameter] = {name: self._adapted(name, value, parameter) for name, value in values.items()}

    def _adapted(self, name, value, parameter):
        if not isinstance(value, torch.Tensor):
            return value
        value = value.detach().clone()
        return value if name == "step" else value.to(device=parameter.device, dtype=parameter.dtype)

    def __repr__(self):
        lines = [type(self).__name__ + " ("]
        for at, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {at}")
            for name in sorted(group):
                if name != "params":
                    lines.append(f"    {name}: {group[name]}")
            if at + 1 < len(self.param_groups):
                lines.append("")
        return "\n".join(lines) + "\n)"


def check_not_negative(name, value):
    if not 0.0 <= value:
        raise ValueError(f"Invalid {name}: {value}")


def check_betas(betas):
    for at, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {at}: {beta}")


def as_number(value):
    """A learning rate may be a tensor."""
    return value.item() if isinstance(value, torch.Tensor) else value


def counted(state):
    """One more step; the count is a tensor in the state, as it is saved, and a number here."""
    state["step"] += 1
    return state["step"].item()
