# A print in the middle of a function: capture stops there. What was captured is compiled, the print runs by itself, and the rest of the function becomes a
# function of its own, torch_dynamo_resume_in_f_at_9, which is captured when it is called. The rewritten bytecode says so; stepping walks through it.
import torch


@torch.compile
def f(x, w):
    y = torch.relu(x @ w)
    print('mid')
    return y.sum(0) * 2


x, w = torch.ones(4, 3), torch.ones(3, 2)
print(f(x, w))
#:breaks
#:bytecode [0/0]
#:step f(x, w)
#:next 6
#:until break
#:next
#:until fuse
#:back
#:until run
#:next
#:next 6
#:continue
#:done
