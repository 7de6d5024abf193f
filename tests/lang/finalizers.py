# __del__ and the finally blocks of generators that were never finished, when the last reference goes and at the end.
class Gone:
    def __init__(self, name): self.name = name
    def __del__(self): print("del", self.name)
a = Gone("a")
del a
b = Gone("b")
b = None
def f():
    c = Gone("c")
    print("in f")
f()
print("after f")
l = [Gone(i) for i in range(3)]
l.clear()
print("cleared")
d = {1: Gone("d")}
d[1] = 2
Gone("temporary")
class Back:
    def __del__(self):
        global kept
        kept = self
x = Back()
del x
print(kept is not None, kept.__class__.__name__)
def g(name):
    try: yield 1
    finally: print("closed", name)
y = g("y")
next(y)
del y
def h():
    yield from g("inner")
z = h()
next(z)
z = None
with_loop = g("loop")
for _ in with_loop: break
print("end")
me = Gone("cycle")
me.me = me
del me
import gc
gc.collect()
rest = Gone("rest")
open_generator = g("at the end")
next(open_generator)
