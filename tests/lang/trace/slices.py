x = 5
print(x[1:2])
