names = {"é": 1}
wert = names["é"] + names["漢字"] + 2
