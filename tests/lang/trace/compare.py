limit = None
if 3 < limit:
    print("no")
