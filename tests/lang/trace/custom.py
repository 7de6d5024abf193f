class ShapeError(ValueError):
    def __str__(self):
        return f"bad shape: {self.args[0]}"


def check(shape):
    if len(shape) != 2: raise ShapeError(shape)


for shape in [(1, 2), (3,)]:
    check(shape)
