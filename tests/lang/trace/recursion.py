def down(n):
    return down(n + 1)


try:
    down(0)
except RecursionError as error:
    print("deep")
def three(n):
    if n == 0:
        raise KeyError("bottom")
    three(n - 1)
three(6)
