#!/usr/bin/env python3
"""What scripts/bench-dynamo measures of vitrine, of PyTorch: the check of a frame's guards, and the capture of a frame of n ops (backend "eager").

usage: torch_guards.py          (where torch is installed; CPU is enough)

A check is guard_manager.check(f_locals) of the newest cache entry: the very call that Dynamo makes before it runs compiled code, with the cost of one
call from Python on top. The best of many rounds counts, as in bench_dynamo.c.
"""
import time
import torch
import torch._dynamo
from torch._dynamo.eval_frame import _debug_get_cache_entry_list


def check_ns(compiled, local_values):
    code = compiled._torchdynamo_orig_callable.__code__
    manager = next(entry.guard_manager for entry in _debug_get_cache_entry_list(code) if entry.guard_manager.check(local_values))
    best = float("inf")
    for _ in range(100):
        start = time.perf_counter()
        for _ in range(2000):
            manager.check(local_values)
        best = min(best, (time.perf_counter() - start) / 2000)
    return best * 1e9


def frame_of_tensors(dynamic):
    names = [f"x{i}" for i in range(50)]
    text = f"def f({', '.join(names)}):\n    return {' + '.join(n + '.sum()' for n in names)}\n"
    space = {}
    exec(compile(text, "<bench>", "exec"), space)
    compiled = torch.compile(space["f"], backend="eager")
    for call in range(2 if dynamic else 1):
        values = [torch.ones(4 + call, 3 + i % 5) for i in range(50)]
        compiled(*values)
    return compiled, dict(zip(names, values))


def module_of_parameters():
    class Many(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.ps = torch.nn.ParameterList([torch.ones(3, 4) for i in range(50)])

    def use(m, x):
        for p in m.ps:
            x = x + p
        return x
    compiled, many, x = torch.compile(use, backend="eager"), Many(), torch.ones(3, 4)
    compiled(many, x)
    return compiled, {"m": many, "x": x}


def capture_ms(loop, ops):
    lines = "".join(f"    x = x + {i}\n" if i % 2 else "    x = x * y\n" for i in range(ops))
    if loop:
        lines = f"    for i in range({ops // 2}):\n        x = x * y\n        x = x + i\n"
    space = {}
    exec(compile("def f(x, y):\n" + lines + "    return x\n", "<bench>", "exec"), space)
    start = time.perf_counter()
    torch.compile(space["f"], backend="eager")(torch.ones(4), torch.ones(4))
    return (time.perf_counter() - start) * 1000


print(f"PyTorch {torch.__version__}")
torch._dynamo.config.recompile_limit = 64
for title, (compiled, values) in (("50 tensor arguments", frame_of_tensors(False)), ("50 tensor arguments, one size dynamic in each", frame_of_tensors(True)),
                                  ("a module with 50 parameters", module_of_parameters())):
    print(f"{title:<46} {'':>12} {check_ns(compiled, values):8.0f} ns a check")
for loop in (False, True):
    for ops in (100, 1000, 10000):
        ms = capture_ms(loop, ops)
        print(f"{ops:5d} ops {'in an unrolled loop' if loop else 'written out':<24} {ms:8.1f} ms to capture and run  {ms * 1000 / ops:8.1f} us an op")
