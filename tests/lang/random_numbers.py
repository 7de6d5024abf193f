# random: the numbers of CPython for a seed, of every distribution.
import random
random.seed(42)
print(random.random(), random.randint(1, 100), random.uniform(1, 5), random.choice("abcdef"), random.choices([1, 2, 3], k=5))
print(random.choices("ab", weights=[1, 9], k=6), random.choices("abc", cum_weights=[1, 2, 10], k=4), random.sample(range(100), 5), random.sample("abcdef", 3))
print(random.gauss(0, 1), random.gauss(0, 1), random.normalvariate(0, 1), random.expovariate(2), random.betavariate(1, 2), random.triangular(0, 1, 0.5))
print(random.getrandbits(16), random.getrandbits(40), random.randrange(10), random.randrange(1, 10, 3), random.lognormvariate(0, 1))
print(random.gammavariate(2, 1), random.gammavariate(0.5, 1), random.gammavariate(1, 3), random.vonmisesvariate(0, 1), random.vonmisesvariate(1, 0), random.paretovariate(2), random.weibullvariate(1, 2))
print([random.binomialvariate(n, p) for n, p in ((10, 0.3), (1, 0.5), (100, 0.4), (1000, 0.7), (5, 0.0), (5, 1.0))])
l = list(range(20)); random.shuffle(l); print(l)
for seed in (0, 1, 3.5, -5, 2**40, True, "a word", ""):
    random.seed(seed)
    print(seed, random.random(), random.randint(0, 10**9))
r = random.Random(7)
print(r.random(), r.sample([1, 2, 3, 4], 2), r.randint(1, 6), r.betavariate(2, 3), r.gauss())
state = r.getstate(); x = r.random(); r.setstate(state); print(x == r.random())
random.seed(1)
print(random.sample([1, 2, 3], k=2, counts=[1, 2, 3]), random.sample(range(10**9), 3))
for make in (lambda: random.choice([]), lambda: random.randint(5, 1), lambda: random.sample([1], 5), lambda: random.randrange(0), lambda: random.sample({1, 2}, 1), lambda: random.choices([1, 2], weights=[1], k=1), lambda: random.choices([1, 2], weights=[0, 0], k=1)):
    try: print(make())
    except Exception as e: print(type(e).__name__, e)
