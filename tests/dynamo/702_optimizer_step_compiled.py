# opt.step compiled alone, for SGD with momentum and Adam.
import torch

def run(make):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    opt = make([w])
    step = torch.compile(lambda: opt.step())
    for _ in range(3):
        opt.zero_grad()
        (w * w).sum().backward()
        step()
    print([round(v, 4) for v in w.tolist()])

run(lambda p: torch.optim.SGD(p, lr=0.125, momentum=0.5))
run(lambda p: torch.optim.Adam(p, lr=0.125))
