# warnings.warn and logging inside a compiled function.
import logging
import warnings
import torch

log = logging.getLogger("probe")
log.setLevel(logging.ERROR)

@torch.compile
def f(x):
    y = x + 1
    log.info("nothing")
    z = y * 2
    warnings.warn("careful")
    return z - 1

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(f(torch.arange(3).float()).tolist())
