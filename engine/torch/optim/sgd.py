"""Stochastic gradient descent, with momentum.

    buffer = momentum * buffer + (1 - dampening) * grad;  parameter -= lr * buffer
"""
import torch
from torch.optim.optimizer import Optimizer, as_number, check_not_negative


class SGD(Optimizer):
    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None,
                 differentiable=False, fused=None):
        check_not_negative("learning rate", lr)
        check_not_negative("momentum value", momentum)
        check_not_negative("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov,
                                      maximize=maximize, foreach=foreach, differentiable=differentiable, fused=fused))

    def _remembers(self, group):
        return group["momentum"] != 0

    def _update(self, parameter, grad, state, group):
        if group["weight_decay"] != 0:
            grad = grad.add(parameter, alpha=group["weight_decay"])
        momentum = group["momentum"]
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        parameter.add_(grad, alpha=-as_number(group["lr"]))
