x = 1
del x
x
