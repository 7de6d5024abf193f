data = {"a": [1, 2, 3]}
index = 7
print("before")
total = data["a"][index] + sum(data["a"])
