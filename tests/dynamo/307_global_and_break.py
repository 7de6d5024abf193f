# A global changed before a break, read by the function called in the break, changed again after it.
import torch

mode = "start"

def show():
    print("mode", mode)

@torch.compile
def f(x):
    global mode
    mode = "middle"
    y = x + 1
    show()
    mode = "end"
    return y * 2

print(f(torch.arange(3).float()).tolist(), mode)
