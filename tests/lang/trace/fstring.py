v = 3
print(f"value {v:.2f} and {v.nothing} end")
