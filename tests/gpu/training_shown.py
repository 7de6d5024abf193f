# Put behind a training program by training.sh: shows what it trained. A workload of bench (build, run) first gets inputs that need no generator.
import torch


def fill_with_pattern(tensor, seed):
    """Numbers of variance 1 by a hash of their place: the same wherever this runs."""
    hashed = torch.arange(tensor.numel(), device=tensor.device) * 2654435761 + 12345 * (seed + 1)
    if tensor.is_floating_point():
        values = ((hashed >> 7) & 65535).float() * (3.4641 / 65536) - 1.73205
    else:
        values = (hashed >> 7) % 64  # indices: of random ones even the largest would differ
    tensor.data.copy_(values.reshape(tensor.shape))


def show(name, tensor):
    flat = tensor.detach().reshape(-1)
    step = max(1, flat.numel() // 4096)
    print(f"@ {name} | {str(tensor.dtype)[6:]} | " + " ".join([f"{v:.9g}" for v in flat[::step].cpu().double().tolist()]))


def show_all(shown):
    for name, value in shown:
        if isinstance(value, torch.nn.Module):
            for key, p in value.named_parameters():
                show(f"{name}.{key}", p)
                if p.grad is not None:
                    show(f"{name}.{key}.grad", p.grad)
        elif isinstance(value, torch.Tensor) and value.is_floating_point():
            show(name, value)
            if value.is_leaf and value.grad is not None:
                show(f"{name}.grad", value.grad)
        elif isinstance(value, (list, tuple)):
            show_all([(f"{name}[{i}]", part) for i, part in enumerate(value)])


if "build" in globals():
    function, arguments = build()
    for i, argument in enumerate(arguments):
        fill_with_pattern(argument, i)
    compiled = torch.compile(function)
    run(compiled, arguments)
    show("result", compiled(*arguments))
    shown_last = [("f", function), ("args", arguments)]
else:
    shown_last = list(globals().items())
show_all(shown_last)
