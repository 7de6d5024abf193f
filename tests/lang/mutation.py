# Containers that change while their own items run: nothing is lost, nothing crashes.
class A:
    def __eq__(self, o): l.clear(); return False
l = [A() for _ in range(5)]
print(l == [1, 2, 3, 4, 5], l.index(A()) if 0 else "")

class A:
    def __eq__(self, o): l.clear(); return False
l = [A() for _ in range(50)]
print(3 in l, l)

class A:
    def __eq__(self, o): l.clear(); return False
l = [A() for _ in range(50)]
try: l.remove(3)
except ValueError as e: print(e)

class A:
    def __eq__(self, o): l.clear(); return False
l = [A() for _ in range(50)]
print(l.count(3))
l = [A() for _ in range(50)]
try: l.index(3)
except ValueError as e: print(e)

class A:
    def __repr__(self): l.clear(); return "A"
l = [A(), A(), A()]
print(len(repr(l)) > 1)
d = {}
class B:
    def __repr__(self): d.clear(); return "B"
d.update({1: B(), 2: B()})
print(len(repr(d)) > 1)

class A:
    def __str__(self): l.clear(); return "A"
l = [A(), A(), A()]
print(*l)
print("%s %s" % (A(), A()))

class A:
    def __lt__(self, o): l.append(1); return True
l = [A(), A(), A()]
try: l.sort()
except ValueError as e: print(e)
print(len(l))

class A:
    def __index__(self): l.clear(); return 2
l = [1, 2, 3, 4]
try: print(l[A()])
except IndexError as e: print(e)
l = [1, 2, 3, 4]
try: l[A()] = 5
except IndexError as e: print(e)
l = [1, 2, 3, 4]
print(l[A():], l)
l = [1, 2, 3, 4]
l[A():] = [9]; print(l)
l = [1, 2, 3]
try: del l[A()]
except IndexError as e: print(e)
l = [1, 2, 3]
try: l.insert(A(), 4); print(l)
except IndexError as e: print(e)
l = [1, 2, 3]
try: print(l.pop(A()))
except IndexError as e: print(e)
l = [1, 2, 3]
print(l * A())

l = [1, 2, 3]
def g():
    for i in range(3):
        l.clear(); yield i
l[1:2] = g(); print(l)
l = [1, 2, 3]
l.extend(g()); print(l)
l = [1, 2, 3]
l += g(); print(l)
l[:] = l; print(l); l.extend(l); print(l); l[1:1] = l; print(l)
