d = {}
del d["missing"]
