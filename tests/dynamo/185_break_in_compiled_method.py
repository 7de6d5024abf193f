# A method decorated with torch.compile that breaks and changes self.
import torch

class Model:
    def __init__(self):
        self.total = torch.zeros(3)
        self.n = 0

    @torch.compile
    def add(self, x):
        self.total = self.total + x
        self.n += 1
        print("n", self.n)
        self.total = self.total * 2
        return self.total + self.n

m = Model()
x = torch.arange(3).float()
print(m.add(x).tolist(), m.add(x).tolist(), m.total.tolist(), m.n)
