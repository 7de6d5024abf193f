"""ASGD and Rprop."""
import torch
from torch.optim.optimizer import Optimizer, as_number, check_not_negative, counted


class ASGD(Optimizer):
    """SGD with a falling rate, and the average of where it has been."""

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False, differentiable=False, capturable=False):
        check_not_negative("learning rate", lr)
        check_not_negative("weight_decay value", weight_decay)
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))

    def _update(self, parameter, grad, state, group):
        lr = as_number(group["lr"])
        if not state:
            state["step"] = torch.tensor(0.0)
            state["eta"] = torch.tensor(lr)
            state["mu"] = torch.tensor(1.0)
            state["ax"] = torch.zeros_like(parameter)
        step = counted(state)
        if group["weight_decay"] != 0:
            grad = grad.add(parameter, alpha=group["weight_decay"])
        eta, mu = state["eta"].item(), state["mu"].item()
        parameter.mul_(1 - group["lambd"] * eta)
        parameter.add_(grad, alpha=-eta)
        if mu != 1:
            state["ax"].add_((parameter - state["ax"]).mul_(mu))
        else:
            state["ax"].copy_(parameter)
        state["eta"] = torch.tensor(lr / (1 + group["lambd"] * lr * step) ** group["alpha"])
        state["mu"] = torch.tensor(1.0 / max(1.0, step - group["t0"]))


class Rprop(Optimizer):
    """Steps by the signs of the gradients: longer while the sign stays, shorter when it turns."""

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False, differentiable=False):
        check_not_negative("learning rate", lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize, differentiable=differentiable,
                                      capturable=capturable))

    def _update(self, parameter, grad, state, group):
        if not state:
            state["step"] = torch.tensor(0.0)
            state["prev"] = torch.zeros_like(parameter)
            state["step_size"] = torch.full_like(parameter, as_number(group["lr"]), requires_grad=False)
        state["step"] += 1
        less, more = group["etas"]
        sign = grad.mul(state["prev"]).sign()
        factor = torch.where(sign > 0, more, torch.where(sign < 0, less, 1.0)).to(grad.dtype)
        state["step_size"].mul_(factor).clamp_(group["step_sizes"][0], group["step_sizes"][1])
        grad = torch.where(factor == less, 0, grad)
        parameter.addcmul_(grad.sign(), state["step_size"], value=-1)
        state["prev"].copy_(grad)
