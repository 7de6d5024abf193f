"""torch.optim: optimizers, one file for a family of them, and the schedulers of learning rates.

    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3);  optimizer.zero_grad();  loss.backward();  optimizer.step()
"""
from torch.optim import lr_scheduler
from torch.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam
from torch.optim.adaptive import Adadelta, Adagrad, RMSprop
from torch.optim.lbfgs import LBFGS
from torch.optim.optimizer import Optimizer
from torch.optim.sgd import SGD
from torch.optim.simple import ASGD, Rprop
