"""Adam and AdamW.

    m = lerp(m, grad, 1 - beta1);  v = beta2 * v + (1 - beta2) * grad²
    parameter -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
"""
import torch
from torch.optim.optimizer import Optimizer, as_number, check_betas, check_not_negative, counted


class Adam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None, maximize=False,
                 capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        check_not_negative("learning rate", lr)
        check_not_negative("epsilon value", eps)
        check_betas(betas)
        check_not_negative("weight_decay value", weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize, foreach=foreach,
                                      capturable=capturable, differentiable=differentiable, fused=fused,
                                      decoupled_weight_decay=decoupled_weight_decay))

    def _prepare(self, parameter, state, group):
        state["step"] = torch.tensor(0.0)
        state["exp_avg"] = torch.zeros_like(parameter)
        state["exp_avg_sq"] = torch.zeros_like(parameter)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = torch.zeros_like(parameter)

    def _update(self, parameter, grad, state, group):
        beta1, beta2 = group["betas"]
        lr, decay = as_number(group["lr"]), group["weight_decay"]
        if torch.compiler.is_compiling():
            step = state["step"].add_(1)
        else:
            step = counted(state)
        if decay != 0:
            if group["decoupled_weight_decay"]:
                parameter.mul_(1 - lr * decay)
            else:
                grad = grad.add(parameter, alpha=decay)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        # Both averages began at zero, and are too small by these factors.
        correction1, correction2 = 1 - beta1 ** step, 1 - beta2 ** step
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            largest.copy_(torch.maximum(largest, square))
            square = largest
        if isinstance(step, torch.Tensor):
            size = -(lr / correction1)
            parameter.addcdiv_(mean, (square.sqrt() / (correction2.sqrt() * size)).add_(group["eps"] / size))
            return
        denominator = (square.sqrt() / correction2 ** 0.5).add_(group["eps"])
        parameter.addcdiv_(mean, denominator, value=-(lr / correction1))


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters themselves, apart from the gradient."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False, foreach=None,
                 capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
                         differentiable=differentiable, fused=fused, decoupled_weight_decay=True)


class Adamax(Optimizer):
    """Adam with the largest gradient, slowly forgotten, in place of the second moment."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False, differentiable=False,
                 capturable=False):
        check_not_negative("learning rate", lr)
        check_not_negative("epsilon value", eps)
        check_betas(betas)
        check_not_negative("weight_decay value", weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))

    def _update(self, parameter, grad, state, group):
        beta1, beta2 = group["betas"]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"] = torch.zeros_like(parameter)
            state["exp_inf"] = torch.zeros_like(parameter)
        step = counted(state)
        if group["weight_decay"] != 0:
            grad = grad.add(parameter, alpha=group["weight_decay"])
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(grad, 1 - beta1)
        largest.copy_(torch.maximum(largest.mul_(beta2), grad.abs().add_(group["eps"])))
        parameter.addcdiv_(mean, largest, value=-(as_number(group["lr"]) / (1 - beta1 ** step)))


class NAdam(Optimizer):
    """Adam with Nesterov's look ahead."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        check_not_negative("learning rate", lr)
        check_not_negative("epsilon value", eps)
        check_betas(betas)
        check_not_negative("weight_decay value", weight_decay)
        check_not_negative("momentum_decay value", momentum_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay,
                                      decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable))

    def _update(self, parameter, grad, state, group):
        beta1, beta2 = group["betas"]
        lr, decay = as_number(group["lr"]), group["weight_decay"]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["mu_product"] = torch.tensor(1.0)
            state["exp_avg"] = torch.zeros_like(parameter)
            state["exp_avg_sq"] = torch.zeros_like(parameter)
        step = counted(state)
        if decay != 0:
            if group["decoupled_weight_decay"]:
                parameter.mul_(1 - lr * decay)
            else:
                grad = grad.add(parameter, alpha=decay)
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
        next_mu = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * group["momentum_decay"]))
        state["mu_product"] *= mu
        product = state["mu_product"].item()
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = square.div(1 - beta2 ** step).sqrt().add_(group["eps"])
        parameter.addcdiv_(grad, denominator, value=-lr * (1.0 - mu) / (1.0 - product))
        parameter.addcdiv_(mean, denominator, value=-lr * next_mu / (1.0 - product * next_mu))


class RAdam(Optimizer):
    """Adam that trusts its second moment only once it has seen enough steps."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False):
        check_not_negative("learning rate", lr)
        check_not_negative("epsilon value", eps)
        check_betas(betas)
        check_not_negative("weight_decay value", weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize, foreach=foreach,
                                      capturable=capturable, decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable))

    def _update(self, parameter, grad, state, group):
        beta1, beta2 = group["betas"]
        lr, decay = as_number(group["lr"]), group["weight_decay"]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"] = torch.zeros_like(parameter)
            state["exp_avg_sq"] = torch.zeros_like(parameter)
        step = counted(state)
        if decay != 0:
            if group["decoupled_weight_decay"]:
                parameter.mul_(1 - lr * decay)
            else:
                grad = grad.add(parameter, alpha=decay)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        corrected = mean / (1 - beta1 ** step)
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2 ** step / (1 - beta2 ** step)
        if length > 5.0:
            rect = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
            adaptive = (1 - beta2 ** step) ** 0.5 / square.sqrt().add_(group["eps"])
            parameter.add_(corrected * lr * adaptive * rect, alpha=-1.0)
        else:
            parameter.add_(corrected * lr, alpha=-1.0)
