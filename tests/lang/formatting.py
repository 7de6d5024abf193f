# f-strings, str.format and % with every conversion, on numbers of every kind.
x, y, w, p, name = 3.14159, 42, 10, 3, "bob"
print(f"{x:.2f} {x:10.3f}| {x:<10.2e}| {x:>+10.1f} {y:05d} {y:x} {y:#x} {y:#b} {y:o} {y:,} {1234567.891:,.2f} {y:e} {0.25:%} {name:>8} {name:^9}| {name!r:*<10}")
print(f"{x:{w}.{p}f}|{y:>{w}}|{'nested ' + f'{name}'}|{name=}|{x=:.1f}|{ y = }|{{}}|{y!s}|{(lambda q: q*2)(3)}|{ {1:2}[1] }")
print(f"{name:{'>'}{10}}|{'a' if y else 'b'}|{[i for i in range(3)]}|{name[0]}|{name.upper()}|{y:_}|{1e6:g}|{1e-7}|{1e16}|{123456789.0}|{1.0}|{0.1+0.2}")
print(f'{name + "q"}', f"{name + 'q'}", f"{'\n'.join(['a','b'])}", f"{"same"}", rf"\n{y}", f"{y}" "x" f"{y}")
print("{} {} {}".format(1, "a", None), "{1} {0} {1}".format("x", "y"), "{a[0]} {b.real} {c}".format(a=[1], b=5, c="z"), "{:>{w}}".format("q", w=5), "{0:{1}.{2}f}".format(3.14159, 8, 2), "{!r}".format("a"), "{{}}".format())
print("%d %s %r %5.2f %-5d| %05d %x %X %o %e %g %c %% %+d % d %i %.3s %*d" % (1, "s", "r", 3.14159, 3, 42, 255, 255, 8, 12345.678, 0.0001, "c", 3, 4, 5, "abcdef", 5, 7))
print("%(a)s %(b)03d" % {"a": 1, "b": 2}, "%s" % (1,), "%s" % [1, 2], "%s" % None, "%5s|%-5s|" % ("a", "b"), "%r" % ((1,),), "%c" % 65, "%.0f" % 2.5, "%.0f" % 3.5, "%5.1f%%" % 99.55)
for t in ["{:d}", "{:.2f}", "{:s}", "{:x}", "{:c}", "{:n}", "{:10}", "{:<10}|", "{:^10}|", "{:=+10}", "{:e}", "{:g}", "{:G}", "{:.3}", "{:_x}", "{:#o}", "{:z.1f}", "{:,}", "{:%}", "{:b}", "{:08.3f}", "{:+}", "{: }", "{:*^+12,.2f}"]:
    for v in [0, 1, -1, 255, 1234567, 3.5, -0.0, 1e20, 1.5e-10, float("nan"), float("inf"), -float("inf"), True, "abc", None, [1], 1e15, 123456.789]:
        try: print(t, v, t.format(v))
        except Exception as e: print(t, v, type(e).__name__, e)
for t in ["%d", "%i", "%s", "%r", "%a", "%x", "%X", "%o", "%e", "%E", "%f", "%F", "%g", "%G", "%c", "%5d", "%-5d|", "%05d", "%+d", "% d", "%#x", "%#o", "%.3d", "%.2f", "%10.3e", "%.10g", "%#g", "%.0e", "%5s", "%-8s|", "%.1s", "%08.2f", "%+.1f", "%u", "%ld", "%3c|"]:
    for v in [0, 1, -1, 255, 3.5, -0.0, 1e18, float("nan"), float("inf"), True, "abc", "a", None, [1], 1e17, 123456.789]:
        try: print(t, v, t % (v,))
        except Exception as e: print(t, v, type(e).__name__, e)
for t, a in [("%d %d", (1,)), ("%d", (1, 2)), ("%", ()), ("%z", (1,)), ("%(a)d", 1), ("%(a", {}), ("%(a)d", {"b": 1}), ("%*d", ("a", 1)), ("%d", {}), ("abc", 5), ("abc", {}), ("abc", []), ("%s %s", [1, 2])]:
    try: print(t % a)
    except Exception as e: print(t, a, type(e).__name__, e)
for t, a, k in [("{", (), {}), ("}", (), {}), ("{}", (), {}), ("{0} {}", (1,), {}), ("{} {0}", (1,), {}), ("{a}", (), {}), ("{0[a]}", ({"a": 1},), {}), ("{0.x}", (1,), {}), ("{!z}", (1,), {}), ("{:d}", ("a",), {}), ("{:Q}", (1,), {}), ("{:.2d}", (1,), {}), ("{0[5]}", ([1],), {}), ("{a.b.c[0]}", (), {"a": 1}), ("{!r:>10}|{!s}|{!a}", ("x", "y", "\xe9"), {}), ("{:{}}", ("x", 5), {}), ("{:s}", (1,), {}), ("{:,s}", ("a",), {}), ("{:c}", (300,), {}), ("{:+s}", ("a",), {}), ("{:=5}", ("a",), {}), ("{:05}", ("a",), {}), ("{:5.2}", (True,), {}), ("{0}{1}{2}", (1, 2), {})]:
    try: print(t.format(*a, **k))
    except Exception as e: print(t, a, k, type(e).__name__, e)
print("{a} {b}".format_map({"a": 1, "b": 2}), format(3.5, ".2f"), format("a", ">5"), format(5), format(None), format(10, "b"))
try: format([], "5")
except TypeError as e: print(e)
for v in [1.0, 1e22, 1e21, 1e16, 1e15, 123456789012345678.0, 1.5e300, 5e-324, 0.1, 1/3, 2/3, 100.0, 1e5, 1e-5, 1e-4, 0.0001234, float("nan"), -float("inf"), -0.0, 2.5, 1e17, 12345678901234567.0]:
    print(repr(v), str(v), round(v, 2) if v == v and abs(v) != float("inf") else "", f"{v:.3g}", f"{v:g}", f"{v:.0f}" if abs(v) < 1e30 else "")
