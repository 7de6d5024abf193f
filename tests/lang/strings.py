s = "Hello, World"
print(s.upper(), s.lower(), s.swapcase(), s.title(), "hello world".title(), "abc".capitalize(), s[0], s[-1], s[1:5], s[::-1], s[::2], len(s))
print(s.find("o"), s.rfind("o"), s.find("z"), s.index("W"), s.count("l"), s.replace("l", "L"), s.replace("l", "L", 2), s.startswith("Hell"), s.endswith(("x", "ld")), s.startswith("World", 7))
print("a,b,,c".split(","), "a b  c ".split(), "a,b,c".split(",", 1), "a,b,c".rsplit(",", 1), " a b c ".rsplit(None, 1), "x\ny\r\nz".splitlines(), "".split(), "".split(","), "abc".partition("b"), "abcbd".rpartition("b"), "abc".partition("z"))
print("-".join(["a", "b"]), "".join(str(i) for i in range(5)), "  pad ".strip() + "|", "xxaxx".strip("x"), "xxaxx".lstrip("x"), "xxaxx".rstrip("x"))
print("7".zfill(3), "-7".zfill(4), "a".ljust(3) + "|", "a".rjust(3), "a".center(4) + "|", "a".center(5, "*"), "ab".center(5, "-"), "abc".center(2))
print("123".isdigit(), "12a".isdigit(), "abc".isalpha(), "ab1".isalnum(), " \t".isspace(), "ABC".isupper(), "abc".islower(), "Ab Cd".istitle(), "a_1".isidentifier(), "1a".isidentifier(), "".isalpha())
print("abc" < "abd", "a" in "abc", "z" not in "abc", "ab" * 3, "a" + "b", "abc" == "abc", "a" != "b", max("hello"), min("hello"), sorted("hello"))
print(repr("it's"), repr('say "hi"'), repr("both ' and \""), repr("tab\t nl\n \\ \x00 \x7f é ü 漢"), ascii("é漢"), str(1.0), repr("\u200b"))
print("é".upper(), "ÀÉ".lower(), "straße".upper(), len("héllo"), "héllo"[1], "héllo"[1:3], "漢字かな"[::-1], "naïve".find("v"), "ñ" * 2, list("añb"))
print("%d %5d %-5d| %05d %+d %x %X %o %e %.2f %8.3f %g %s %r %c %%" % (1, 2, 3, 4, 5, 255, 255, 8, 12345.678, 3.14159, 2.71828, 0.0001, "s", "r", "c"))
print("%(a)s %(b)03d" % {"a": 1, "b": 2}, "%s" % [1, 2], "%s" % None, "%5s|%-5s|" % ("a", "b"), "%.3s" % "abcdef", "%*d" % (5, 3), "%i" % 3.9, "%5.1f%%" % 99.5, "%s %s" % ("a", (1, 2)))
print("{} {}".format(1, 2), "{1} {0}".format(1, 2), "{a} {b}".format(a=1, b=2), "{:>5}|{:<5}|{:^5}|".format("a", "b", "c"), "{:.2f}".format(3.14159), "{0[1]} {1.real}".format([1, 2], 3), "{!r}".format("x"), "{{}}".format(), "{:{w}.{p}f}".format(3.14159, w=8, p=2))
n, f = 1234567, 1234.5678
print(f"{n:,} {n:_} {n:>12,} {n:012,} {f:,.2f} {f:.3e} {f:g} {f:10.2f}| {f:<10.2f}| {f:^10.1f}| {f:+.1f} {-f:.1f} {f: .1f} {n:x} {n:#x} {n:b} {n:o} {n:e} {0.5:%} {0.1234:.1%} {65:c}")
print(f"{'s':>5}|{'s':<5}|{'s':^5}|{'s':*^5}|{'abcdef':.3}|{True} {True:>6} {True:d} {None} {[1, 'a']} {(1,)} {{}} {n!r} {'q'!r} {n=} {f=:.1f} {n + 1 = }")
w, p = 10, 3
print(f"{f:{w}.{p}f}|{'x':{'>'}{w}}|{f'{n:,}'}|{'nested ' + f'{1 + 1}'}")
for v in [0.0, -0.0, 1.0, 0.1, 1e15, 1e16, 123456789012345680.0, 1e-4, 1e-5, 1.5e300, 5e-324, 2.5, 1 / 3, 2 / 3, 1e22, 1e23, float("inf"), float("-inf"), float("nan"), 100.0, 3.0e10, 0.30000000000000004, 9007199254740993.0, 1.7976931348623157e308]:
    print(v, repr(v), str(v), f"{v}", f"{v:.3g}", f"{v:.0f}" if abs(v) < 1e20 else "", f"{v:8.3}", f"{v:.17g}")
for v in [0.5, 1.5, 2.5, -0.5, 2.675, 1.005, 1234.5, 0.05]:
    print(round(v), round(v, 1), round(v, 2), round(v, -1), f"{v:.0f}", f"{v:.1f}", f"{v:.2f}")
print(round(15, -1), round(25, -1), round(-15, -1), round(1234, -2), round(5), round(True), round(2.0), type(round(2.5)).__name__, type(round(2.5, 0)).__name__)
print(int("42"), int(" -7 "), int("ff", 16), int("0b11", 0), int("1_000"), int(3.9), int(-3.9), int(True), float("1.5"), float(" -inf "), float("1e3"), float("1_0.5"), bool(""), bool("0"), bool([]), bool(0.0), str(None), str([1]))
print(hex(255), oct(8), bin(5), hex(-255), chr(65), ord("a"), chr(8364), ord("€"), hash("a") == hash("a"))
print("abc".encode if False else "skip", "a\tb".expandtabs(4), "abc".removeprefix("a"), "abc".removesuffix("c"), "aXbX".replace("X", ""), "abc".replace("", "-"), "a.b.c".rsplit("."), "CamelCase".casefold())
print("""multi
line""", 'con' 'cat', r"raw\n", "\x41\u00e9•", "a\
b")
print(str.upper("abc"), str.join(",", ["x", "y"]), "abc".__len__(), "abc".__contains__("b"), "a".__add__("b"))
print("{:>{}}".format("x", 4), "{0:{1}}".format(3, "05d"), "{:,}".format(1e6), "{:.0%}".format(0.5), "{:b}".format(10), "{:+}".format(3), "{:08.3f}".format(-3.14159), "{:e}".format(0), "{:g}".format(1e-10), "{:G}".format(1e-10), "{:n}".format(5))
print("%s" % 1.0, "%d" % True, "%r" % 1e100, "%.0f" % 0.5, "%.0f" % 1.5, "%g" % 1e5, "%g" % 1e6, "%g" % 123456789, "%#x" % 255, "%-8s|" % "ab", "%08.2f" % -1.5, "% d" % 5)
print("abc" "def".upper(), ("a", "b") < ("a", "c"), "Z" < "a", "" < "a", "10" < "9")
print("a-b_c d".translate({ord("-"): "+"}) if hasattr(str, "translate") else "a+b_c d")
t = "the quick brown fox"
print({c: t.count(c) for c in sorted(set(t)) if c != " "}, " ".join(word[::-1] for word in t.split()), [w.capitalize() for w in t.split()])
