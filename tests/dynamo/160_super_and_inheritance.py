# super(), class methods, static methods and class attributes while tracing, with a break in the base class.
import torch

class Base:
    k = 2

    def run(self, x):
        y = x * self.k
        print("base")
        return y + 1

    @classmethod
    def of_class(cls, x):
        return x * cls.k

    @staticmethod
    def double(x):
        return x * 2

class Child(Base):
    k = 3

    def run(self, x):
        return super().run(x) + self.double(x) + self.of_class(x)

@torch.compile
def f(x, obj):
    return obj.run(x + 1)

x = torch.arange(3).float()
print(f(x, Child()).tolist(), f(x, Base()).tolist())
