# A global number, list and tensor changed in the frame.
import torch

count = 0
seen = []
state = torch.zeros(3)

@torch.compile
def f(x):
    global count, state
    count += 1
    seen.append(count)
    state = state + x
    return x * count + state

x = torch.arange(3).float()
print(f(x).tolist(), count, seen, state.tolist())
print(f(x).tolist(), count, seen, state.tolist())
